"""Read lines and bytes of files, plain or compressed; error messages are one line that names the file."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import queue
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from metalda.corpus.stream import Location, Stream, is_special
from metalda.errors import InputError

_OPENERS: dict[str, Callable[..., object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MAGIC = {b"\x1f\x8b\x08": ".gz", b"\xfd7zXZ\0": ".xz", **{b"BZh%d1AY&SY" % level: ".bz2" for level in range(1, 10)}}
_CHUNK = 1 << 20
_START = 8192

MAX_DOCUMENT_BYTES = 100_000_000
"""The default limit. The longest novels have 10 MB, and a page of Wikipedia at most 2 MB, while a few megabytes of a
compressed file can unpack to a line of gigabytes. To tokenize 100 MB takes about 2 GB of memory."""


def uncompressed_suffix(path: Location) -> str:
    """Return the suffix that determines the format: ``.jsonl`` of ``news.jsonl.gz``."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in _OPENERS else suffix


@contextmanager
def open_binary(path: Location) -> Iterator[BinaryIO]:
    """Open a file as bytes, decompressed; use within `reading`."""
    with _open(path) as (_, binary):
        yield binary


@contextmanager
def _open(path: Location) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a file or a `Stream`: its bytes on disk, and the same decompressed."""
    if is_special(path):  # opening a pipe waits for its writer
        raise InputError(f"{path}: not a regular file; a pipe can be read as DATA only")
    with path.open("rb") as raw, _opener(path, raw)(raw, "rb") as binary:
        yield raw, binary


def _opener(path: Location, raw: object) -> Callable[..., Any]:
    """Find the compression by the suffix, or by the first bytes if the name has no such suffix."""
    suffix = path.suffix.lower()
    if suffix not in _OPENERS and hasattr(raw, "peek"):
        start = raw.peek(10)
        suffix = next((each for magic, each in _MAGIC.items() if start.startswith(magic)), "")
    return _OPENERS.get(suffix, _uncompressed)


def read_ahead(path: Location, advance: Callable[[int], object] = lambda n_bytes: None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in pieces; a thread reads ahead while the caller works.

    `advance` is called with the number of bytes on disk that each piece took, for a progress bar.
    """
    pieces: queue.Queue[tuple[bytes, int] | BaseException] = queue.Queue(maxsize=8)
    stopped = threading.Event()

    def fill() -> None:
        try:
            with _open(path) as (raw, binary):
                piece = b" "
                while piece and not stopped.is_set():
                    piece = binary.read(_CHUNK)
                    pieces.put((piece, raw.tell()))
        except BaseException as error:  # raised in the caller below
            pieces.put(error)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        before = 0
        while True:
            found = pieces.get()
            if isinstance(found, BaseException):
                raise found
            piece, position = found
            advance(position - before)
            before = position
            if not piece:
                return
            yield piece
    finally:
        stopped.set()
        # When Python exits, it closes what is still open, and its daemon threads never end (from Python 3.13 on).
        while thread.is_alive() and not sys.is_finalizing():
            with suppress(queue.Empty):
                pieces.get(timeout=0.01)


def _uncompressed(raw: BinaryIO, mode: str) -> BinaryIO:
    return raw


@contextmanager
def reading(path: Location, encoding: str = "utf-8") -> Iterator[None]:
    """Convert errors of reading a file to an InputError that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a folder, but a file is needed") from error
    except UnicodeDecodeError as error:
        raise InputError(_describe_undecodable(path, encoding)) from error
    except UnicodeError as error:  # e.g. UTF-16 without its mark
        raise InputError(f"{path}: not {encoding}: {error}; give the encoding with encoding= (--encoding)") from error
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{path}: {_describe_damage(error)}") from error


def _describe_damage(error: Exception) -> str:
    if not isinstance(error, OSError):
        return f"damaged or incomplete: {one_line(error)}"
    if error.errno is None:  # gzip and bz2 raise this for damaged data
        return f"damaged, or not compressed as its name says: {one_line(error)}"
    return f"cannot be read: {error.strerror}"


@contextmanager
def open_text(path: Location, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Open a file as text, decompressed; lines end at ``\\n`` only."""
    codec = text_codec(encoding)
    with (
        reading(path, encoding),
        open_binary(path) as binary,
        io.TextIOWrapper(binary, encoding=codec, newline="\n") as text,
    ):
        yield text


def read_lines(path: Location, encoding: str = "utf-8", max_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[str]:
    """Yield the lines of a text file, split at ``\\n`` only and without their ends (``\\n`` or ``\\r\\n``)."""
    with open_text(path, encoding) as text:
        number = 1
        while line := text.readline(max_bytes + 2):  # at most so many characters, so that memory is bounded
            yield check_line(line, path, number, max_bytes, encoding)
            number += 1


def check_line(line: str, path: Location, number: int, max_bytes: int, encoding: str) -> str:
    """Return a line without its end; an error if it exceeds the limit."""
    line = line.removesuffix("\n").removesuffix("\r")
    if 4 * len(line) > max_bytes and exceeds(line, max_bytes, encoding):
        raise too_large(f"{path} line {number}", max_bytes)
    return line


def pieces_of(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield what is left of a file from `open_text`, in pieces of about a million characters."""
    return iter(lambda: text.read(_CHUNK), "")


def read_text(path: Location, encoding: str = "utf-8", max_bytes: int = MAX_DOCUMENT_BYTES) -> str:
    """Return the content of a text file."""
    codec = text_codec(encoding)
    with reading(path, encoding), open_binary(path) as binary:
        content = bytearray()
        while piece := binary.read(_CHUNK):
            content += piece
            if len(content) > max_bytes:
                raise too_large(str(path), max_bytes)
        return str(content, codec)


def read_object(path: Location, example: str) -> dict[str, Any]:
    """Read a JSON object by topic, each of which is there once; some errors do not name the path."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise InputError(f"the topic {name!r} is named twice; give it once")
            found[name] = value
        return found

    try:
        found = json.loads(read_text(path), object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON (line {error.lineno}: {error.msg})") from None
    except RecursionError:
        raise InputError("is nested too deeply") from None
    if not isinstance(found, dict):
        raise InputError(f"expected an object, {example}")
    return found


def exceeds(text: str, max_bytes: int, encoding: str = "utf-8") -> bool:
    """Return whether a text has more bytes in an encoding."""
    return len(text) > max_bytes or len(text.encode(encoding, "surrogatepass")) > max_bytes


def too_large(place: str, max_bytes: int) -> InputError:
    """Return the error for a document above the limit."""
    return InputError(
        f"{place}: a document of more than {max_bytes:,} bytes; split it into several documents, or raise the limit "
        "max_document_bytes (--max-document-bytes)"
    )


def read_start(path: Location) -> bytes:
    """Return the first 8 KiB of a file, decompressed."""
    with reading(path), open_binary(path) as binary:
        return binary.read(_START)


def can_seek(binary: BinaryIO) -> bool:
    """Return whether a file from `open_binary` can be read in any order: a compressed file or a stream cannot."""
    return not isinstance(binary, gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) and binary.seekable()


def may_have_zeros(encoding: str) -> bool:
    """Return whether text in this encoding may contain zero bytes."""
    return codecs.lookup(text_codec(encoding)).name.startswith(("utf-16", "utf-32"))


def text_codec(encoding: str) -> str:
    """Return the codec for an encoding; UTF-8 may begin with a byte-order mark."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # raises LookupError for codecs that are not for text
        name = codecs.lookup(encoding).name
        b"".decode(name, "ignore"), b"a".decode(name, "ignore")  # codecs such as idna are for names of hosts only
    except (LookupError, UnicodeError):
        raise InputError(
            f"encoding={encoding!r} is not known: use e.g. utf-8, latin-1 or utf-16 (--encoding)"
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _describe_undecodable(path: Location, encoding: str) -> str:
    if isinstance(path, Stream):
        return f'{path}: not {encoding}; give the encoding, e.g. encoding="latin-1" (--encoding latin-1)'
    try:
        return _locate_undecodable(path, encoding)
    except (
        UnicodeError
    ) as error:  # an incremental decoder may raise another error than the one that decodes all at once
        return f"{path}: not {encoding}: {one_line(error)}; give the encoding with encoding= (--encoding)"
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        return f"{path}: {_describe_damage(error)}"


def _locate_undecodable(path: Location, encoding: str) -> str:
    """Read again to find the line and byte: the decoder only knows the position within its own buffer."""
    codec = text_codec(encoding)
    decoder = codecs.getincrementaldecoder(codec)()
    n_bytes, line, chunk = 0, 1, b" "
    with open_binary(path) as binary:
        try:
            while chunk:
                pending = len(decoder.getstate()[0])
                chunk = binary.read(_CHUNK)
                line += decoder.decode(chunk, final=not chunk).count("\n")
                n_bytes += len(chunk)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].decode(codec, "ignore").count("\n")
            n_bytes += error.start - pending
    likely = "utf-16" if begins_as_utf16(read_start(path)) else "latin-1"
    return (
        f"{path} line {line}: not {encoding} (byte {n_bytes:,}); "
        f'give the encoding, e.g. encoding="{likely}" (--encoding {likely})'
    )


def begins_as_utf16(start: bytes) -> bool:
    """Return whether a file begins with the byte-order mark of UTF-16."""
    return start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def one_line(error: BaseException) -> str:
    """Return the message of an exception without line breaks."""
    return " ".join(str(getattr(error, "msg", error)).split())
