"""Saved things on disk: a folder of arrays and one JSON file, written atomically, read without trust, never pickled."""

from metalda.storage.folder import check_writable, read_folder, write_folder
from metalda.storage.single import read_document, replacing, write_document

__all__ = ["check_writable", "read_document", "read_folder", "replacing", "write_document", "write_folder"]
