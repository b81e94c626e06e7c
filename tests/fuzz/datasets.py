"""Files of the built-in datasets, as their owners distribute them, whole or mutated."""

from __future__ import annotations

import gzip
import lzma
import random
from typing import Any

from tests.archives import tar
from tests.fuzz import mutations
from tests.fuzz.cases import Case, Kind, Violation, refusing

JAVA = b"1\tpets\tcat dog\n2\tsky home\train sun\n"
STORY = b"""<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="%d">
<TOPICS><D>cocoa</D></TOPICS>
<TEXT>&#2;
<TITLE>COCOA</TITLE><BODY>Showers at AT&amp;T caf\xe9
</BODY></TEXT>
</REUTERS>
"""
ARTICLE = b"""<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE nitf SYSTEM "http://www.nitf.example/nitf-3-3.dtd">
<nitf><head><docdata><identified-content>
<classifier class="online_producer" type="taxonomic_classifier">Top/News/Health</classifier>
</identified-content></docdata></head><body><body.head><hedline><hl1>Headline</hl1></hedline></body.head>
<body.content><block class="full_text"><p>Full text</p><p>caf\xc3\xa9 &amp; more</p></block></body.content></body>
</nitf>
"""
FILES: dict[str, dict[str, bytes]] = {
    "ws": {"WS/train_doc.txt": JAVA, "WS/test_doc.txt": JAVA},
    "an": {"AN/train_doc.txt": JAVA, "AN/test_doc.txt": JAVA},
    "tmn": {f"TMN/TMN_{part}.txt": b"sport\tcat dog\nworld\train \xff sun\n" for part in ("train", "val", "test")},
    "arxiv": {"arxiv.tsv": b"id\tcategories\ttitle\tabstract\n1\tmath.CO,cs.CG\tSparse Graphs\tPebble games\n"},
    "wikipedia": {"wikipedia-sample.tsv": b"12\tAnarchism\tIs a political theory\n39\tAlbedo\tLight\n"},
    "reuters": {"reut2-000.sgm": STORY % 1 + STORY % 2, "reut2-001.sgm": STORY % 3},
    "20ng": {
        "20news-bydate-train/sci.space/99": b"From: x\nSubject: y\n\nearlier caf\xe9 orbit\n",
        "20news-bydate-test/sci.med/7": b"From: y\n\n> quoted\nsome talk\n--\nsignature\n",
    },
    "nyt": {"nyt_corpus/data/1987/01/01/0000001.xml": ARTICLE, "nyt_corpus/data/1987/01/02/0000002.xml": ARTICLE},
}
ARCHIVES = {"reuters": "reuters21578.tar.gz", "20ng": "20news-bydate.tar.gz", "nyt": "nyt_corpus/data/1987/01.tgz"}


def kinds() -> list[Kind]:
    return [Kind("datasets", make, check)]


def make(rng: random.Random) -> tuple[dict[str, bytes], dict[str, Any]]:
    name = rng.choice(sorted(FILES))
    files, whole = dict(FILES[name]), True
    if rng.random() < 0.6:
        changed = rng.choice(sorted(files))
        files[changed], whole = mutations.mutate(files[changed], rng), False
    if name in ARCHIVES and rng.random() < 0.5:
        prefix = "nyt_corpus/data/1987/"
        archive = tar({each.removeprefix(prefix): data for each, data in files.items()})
        if rng.random() < 0.3:
            archive, whole = mutations.mutate(archive, rng), False
        files = {ARCHIVES[name]: gzip.compress(archive)}
    elif name in ("arxiv", "wikipedia") and rng.random() < 0.5:
        files = {f"{each}.xz": lzma.compress(data) for each, data in files.items()}
    if rng.random() < 0.2:
        changed = rng.choice(sorted(files))
        files[changed], whole = mutations.mutate(files[changed], rng), False
    return {f"data/{each}": data for each, data in files.items()}, {"name": name, "expected": whole}


def check(case: Case) -> str:
    from metalda import datasets

    settings = {} if case.options["name"] in ("ws", "an", "tmn") else {"min_df": 1, "max_df": 1.0}
    outcome, found = refusing(lambda: datasets.load(case.options["name"], "data", **settings))
    if outcome == "refused" and case.options["expected"] and case.seed is not None:
        raise Violation("refused valid", found)
    return outcome
