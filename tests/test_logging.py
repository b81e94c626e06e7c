"""What the library says by itself, and what it says if it is asked."""

import logging
import os
import subprocess
import sys

import pytest

from contracts import FEATURES, PETS
from metalda import MetaLDA

SCRIPT = """
import os, signal, sys, threading
from metalda import MetaLDA
texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
MetaLDA(2, n_iter=5).fit(texts).transform(texts)
print("quiet", file=sys.stderr, flush=True)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
MetaLDA(2, n_iter=5_000_000).fit(texts)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_without_set_up_only_warnings_are_seen() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    first, second = result.stderr.splitlines()
    assert first == "quiet"
    assert second.startswith("Stopped after ")
    assert result.stdout == ""


def test_at_level_info_there_is_more(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="metalda"):
        MetaLDA(2, word_features=FEATURES, n_iter=2, verbose=False).fit(PETS)
    messages = [record.getMessage() for record in caplog.records]
    assert all(record.name.split(".")[0] == "metalda" for record in caplog.records)
    for beginning in ("Word features for 100.0 %", "No labels", "Training needs"):
        assert sum(message.startswith(beginning) for message in messages) == 1, beginning
