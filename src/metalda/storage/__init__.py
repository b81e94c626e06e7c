"""Saved things on disk: a folder of arrays and one JSON file, written atomically, read without trust, never pickled."""

from metalda.storage.folder import check_writable, read_folder, write_folder

__all__ = ["check_writable", "read_folder", "write_folder"]
