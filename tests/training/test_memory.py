"""Memory is estimated before it is needed."""

import logging

import pytest

from contracts import CASES, corpus
from metalda import LDA, Corpus
from metalda.errors import InputError
from metalda.samplers import Tokens
from metalda.storage import arrays
from metalda.training import memory


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fit_says_how_much_memory_it_needs(case, caplog):
    with caplog.at_level(logging.INFO, logger="metalda"):
        case.make().fit(corpus())
    assert "Training needs up to 1 MB of memory." in caplog.text


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fit_stops_before_it_starts_where_the_machine_has_too_little(case, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1_500_000_000)
    many = {} if case.topics_from_labels else {"n_components": 60_000}
    texts = [*["word" + str(i) for i in range(9_000)], "cat", "rain", "sun"]  # with word features and seeds
    model, labels = case.make(**many, n_draws=1000), [str(i) for i in range(len(texts))]
    with pytest.raises(InputError, match=r"needs up to about .* GB of memory, but this machine has about 1.5 GB free"):
        model.fit(texts, labels)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_copies_for_threads_count_only_where_there_are_some(case):
    one, two = (
        [memory.estimate_memory(case.make(n_shards=n)._build_problem(corpus()), 1, n_jobs) for n_jobs in (1, 2, 99)]
        for n in (1, 2)
    )
    assert one[0] == one[1] == one[2]
    assert two[1] == two[2] >= two[0]
    assert (two[1] > two[0]) == (not isinstance(case.make()._build_problem(corpus()).sampler, Tokens))


def test_the_memory_of_this_machine_is_known():
    available = memory.available_memory()
    assert available is None or available > 10**7


@pytest.mark.parametrize(("n_shards", "bytes_per_token"), [(1, 4), (3, 8)])
def test_words_on_the_disk_need_no_memory(n_shards, bytes_per_token, tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "LARGE", 1)
    model, documents = LDA(3, n_shards=n_shards), corpus()
    documents.save(tmp_path / "corpus")
    here, on_disk = (model._build_problem(each) for each in (documents, Corpus.load(tmp_path / "corpus")))
    assert arrays.is_mapped(on_disk.words)
    saved = memory.estimate_memory(here, 1, 1) - memory.estimate_memory(on_disk, 1, 1)
    assert saved == bytes_per_token * documents.n_tokens


def test_draws_count(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 16 * 10**9)
    monkeypatch.setattr("metalda.models.base.train", lambda *arguments, **others: pytest.fail("training began"))
    with pytest.raises(InputError, match=r"needs up to about 24\.\d GB of memory, but this machine has about 16\.0 GB"):
        LDA(60_000, n_draws=5_000, verbose=False).fit(["cat dog", "rain sun"])


def test_fit_prints_the_memory_only_where_it_is_large(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from metalda.cli.app import app

    (tmp_path / "n.txt").write_text("cat dog\nrain sun\n")
    arguments = ["fit", str(tmp_path / "n.txt"), "-o", str(tmp_path / "m"), "-k", "2", "--iterations", "2"]
    assert "of memory" not in CliRunner().invoke(app, arguments).output
    monkeypatch.setattr(memory, "LARGE", 1)
    assert "metalda: Training needs up to 1 MB of memory." in CliRunner().invoke(app, arguments).output
    refused = CliRunner().invoke(app, [*arguments, "-k", "60000", "--n-draws", "5000000"])
    assert refused.exit_code == 2
    assert "metalda: training needs up to about" in refused.output
