"""What the library says by itself, and what it says if it is asked."""

import logging
import subprocess
import sys

import pytest

from contracts import FEATURES, PETS
from metalda import LDA, MetaLDA

SCRIPT = """
import signal, sys
from metalda import LDA, MetaLDA
from metalda.training import loop
texts = ["cat dog cat", "dog cat", "rain sun rain", "sun rain"]
MetaLDA(2, n_iter=5).fit(texts).transform(texts)
print("quiet", file=sys.stderr, flush=True)
advance = loop._advance
loop._advance = lambda *arguments: (signal.raise_signal(signal.SIGINT), advance(*arguments))[1]
MetaLDA(2, n_iter=5_000_000).fit(texts)
"""


def test_without_set_up_only_warnings_are_seen() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    first, second = result.stderr.splitlines()
    assert first == "quiet"
    assert second.startswith("Stopped after 1 of 5000000 ")
    assert result.stdout == ""


def test_at_level_info_there_is_more(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="metalda"):
        MetaLDA(2, word_features=FEATURES, n_iter=2, verbose=False).fit(PETS)
    messages = [record.getMessage() for record in caplog.records if record.name.split(".")[0] == "metalda"]
    for beginning in ("Word features for 100.0 %", "No labels", "Training needs"):
        assert sum(message.startswith(beginning) for message in messages) == 1, beginning


def test_a_warning_names_the_line_of_the_user() -> None:
    model = LDA(2, n_iter=4, verbose=False).fit(["cat dog", "sun rain"])
    with pytest.warns(UserWarning, match="no word that the model knows") as caught:
        model.transform(["zebra"])
    assert caught[0].filename == __file__
