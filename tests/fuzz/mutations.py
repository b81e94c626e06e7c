"""Changes of bytes, lines, numbers and values, from which the cases of all formats are made."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

NUMBERS = (
    *("0", "-1", "1", "-0", "1.5", "1e308", "1e309", "-1e309", "5e-324", "nan", "inf", "-inf", "0x10", "1_000", "١٢"),
    *(str(2**n + d) for n in (7, 8, 15, 16, 31, 32, 53, 63, 64) for d in (-1, 0, 1)),
    *("9" * 30, "-" + "9" * 30, "9" * 5000, "", " ", "+", "1e", "1,5", "½"),
)
NAMES = (
    *("", " ", ".", "..", "-", "--", "\t", "\n", "\r\n", "\0", "\x1b[31mred", "\x9b2J", "\u202eevil", "\ufeffbom"),
    *("=cmd|' /C calc'!A0", "<script>alert(1)</script>", "&amp;&lt;", "{{x}}", "[[x]]", "%s%n", "${x}", "'; DROP --"),
    *("a,b", "a;b", "a|b", "a\tb", '"', '""', '"a', "a=b", "(default)", "text", "id", "None", "nan", "null", "true"),
    *(
        "\u2028",
        "\x85",
        "\x1c",
        "e\u0301",
        "é",
        "ß",
        "İ",
        "ﬁ",
        "\u200b",
        "😀",
        "𝒳",
        "中文字",
        "نص",
        "x" * 300,
        "x" * 70_000,
    ),
)
SURROGATES = ("\ud800", "a\udfffb")  # half of a pair, which JSON can hold
BYTES = (
    *(b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b'"', b"'", b",", b";"),
    *(b"{", b"}", b"[", b"]", b"<", b">", b"&", b"\\", b"\\u0000", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"PK\x03\x04", b"\x1f\x8b\x08", b"PAR1", b"%PDF-", b"<?xml", b"#", b"--", b"//", b" ", b"\x1a", b"\x1b[2J"),
)
DEEP = 5000


def value(rng: random.Random) -> Any:
    """A value that JSON can hold, where a text, a label or a number was expected."""
    plain: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf"), [], {}, [[]], {"a": 1})
    pick = rng.randrange(6)
    if pick == 0:
        return rng.choice(plain)
    if pick == 1:
        return [rng.choice(plain) for _ in range(rng.randrange(4))]
    if pick == 2:
        return [rng.choice(NAMES) for _ in range(rng.randrange(4))]
    if pick == 3:
        return rng.choice(NUMBERS)
    return rng.choice(NAMES) if pick == 4 else rng.choice(SURROGATES)


def mutate(data: bytes, rng: random.Random, times: int | None = None) -> bytes:
    """Change bytes, lines or numbers, once or a few times."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6)) if times is None else times):
        data = rng.choice(_MUTATIONS)(data, rng)
    return data[:200_000]


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 2, 5, 20, 100, 1000)))


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    i = rng.randrange(len(data))
    return data[:i] + bytes([data[i] ^ 1 << rng.randrange(8)]) + data[i + 1 :]


def _delete(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:start] + data[stop:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    return data[:stop] + data[start:stop] * rng.choice((1, 2, 50)) + data[stop:]


def _move(data: bytes, rng: random.Random) -> bytes:
    start, stop = _span(data, rng)
    rest, i = data[:start] + data[stop:], rng.randrange(len(data) + 1)
    return rest[:i] + data[start:stop] + rest[i:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: random.Random) -> bytes:
    new = rng.choice((*BYTES, rng.choice(NAMES).encode(), rng.randbytes(rng.randrange(1, 9))))
    i = rng.choice((0, len(data), rng.randrange(len(data) + 1)))
    return data[:i] + new * rng.choice((1, 1, 1, 3)) + data[i:]


def _change_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(6)
    if change == 0:
        del lines[i]
    elif change == 1:
        lines.insert(j, lines[i])
    elif change == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif change == 3:
        lines.insert(i, b"")
    elif change == 4:
        lines[i] = rng.choice((b"", b" ", b"\t", lines[i][: len(lines[i]) // 2], lines[i] + b"\r", b" " + lines[i]))
    else:
        lines[min(i, j) : min(i, j) + 2] = [b"".join(lines[min(i, j) : min(i, j) + 2])]
    return b"\n".join(lines)


def _change_number(data: bytes, rng: random.Random) -> bytes:
    """Replace a run of digits by an extreme number."""
    digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    if not digits:
        return data
    start = stop = rng.choice(digits)
    while stop < len(data) and 48 <= data[stop] < 58:
        stop += 1
    return data[:start] + rng.choice(NUMBERS).encode() + data[stop:]


def _nest(data: bytes, rng: random.Random) -> bytes:
    """Open many brackets."""
    i = rng.randrange(len(data) + 1)
    return data[:i] + rng.choice((b"[", b'{"a":', b"{{", b"[[", b"<a>", b"(", b'"')) * DEEP + data[i:]


_MUTATIONS: Sequence[Callable[[bytes, random.Random], bytes]] = (
    *(_flip, _delete, _repeat, _move, _cut, _insert, _insert, _change_line, _change_line, _change_number, _nest),
)
