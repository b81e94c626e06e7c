"""Saved folders: arrays and one JSON manifest, written atomically, validated when read, without pickle."""

from metalda.storage.arrays import Streamed, Unread
from metalda.storage.folder import SCRATCH, check_writable, read_folder, read_parts, remove_unfinished, write_folder
from metalda.storage.locations import PathLike, Remote, locate
from metalda.storage.lock import locked
from metalda.storage.manifest import read_document, replacing, write_document

__all__ = [
    "SCRATCH",
    "PathLike",
    "Remote",
    "Streamed",
    "Unread",
    "check_writable",
    "locate",
    "locked",
    "read_document",
    "read_folder",
    "read_parts",
    "remove_unfinished",
    "replacing",
    "write_document",
    "write_folder",
]
