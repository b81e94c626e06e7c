"""``metalda report`` and ``metalda demo --report``."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

import metalda
from cli.helpers import Run, error_line
from metalda.datasets import load_python_docs


def data_of(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="summary">(.*?)</script>', text, re.DOTALL)
    return json.loads(data)


def test_a_report_without_documents_has_the_topics(run: Run, model: Path, tmp_path: Path) -> None:
    result = run("report", model, "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"Report: .*r\.html \(\d+\.\d MB\); open it in a browser\.\n", result.stdout)
    assert run("report", model, "-o", tmp_path / "r.html", "--quiet").output == ""
    found = data_of(tmp_path / "r.html")
    assert len(found["topics"]) == 2
    assert found["documents"] is None
    assert found["labels"]["names"] == ["pets", "sky"]


def test_documents_are_read_as_those_of_training(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    options = ("--corpus", data, "--title", "News", "--max-documents", 10, "--interval", 0.5)
    result = run("report", model, "-o", tmp_path / "r.html", *options)
    assert result.exit_code == 0, result.output
    found = data_of(tmp_path / "r.html")
    assert found["overview"]["title"] == "News"
    assert found["overview"]["interval"] == 0.5
    assert (len(found["documents"]["ids"]), found["documents"]["n_all"]) == (10, 16)
    assert set(found["documents"]["label_names"]) == {"pets", "sky"}


def test_an_order_of_labels_may_be_given(run: Run, model: Path, tmp_path: Path) -> None:
    for text, ranks in (("section", [0, 1]), ("section=sky,pets", [1, 0]), ('section="sky",pets', [1, 0])):
        result = run("report", model, "-o", tmp_path / "r.html", "--order", text)
        assert result.exit_code == 0, result.output
        assert data_of(tmp_path / "r.html")["labels"]["ranks"] == ranks
    assert "no kind of labels 'size'" in error_line(run("report", model, "-o", tmp_path / "r.html", "--order", "size"))
    twice = ("--order", "section", "--order", "section=sky,pets")
    assert "'section' is given twice" in error_line(run("report", model, "-o", tmp_path / "r.html", *twice))


def test_names_of_a_file_are_shown(run: Run, model: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.json"
    names.write_text('{"1": "rain & sun"}', encoding="utf-8")
    result = run("report", model, "-o", tmp_path / "r.html", "--names", names)
    assert result.exit_code == 0, result.output
    assert data_of(tmp_path / "r.html")["topics"][1]["title"] == "rain & sun"
    assert metalda.load(model).fitted_.all_names[1] is None  # the model is not changed
    result = run("curate", model, "--names", names, "-o", tmp_path / "named")
    assert result.exit_code == 0, result.output
    assert metalda.load(tmp_path / "named").fitted_.all_names[1] == "rain & sun"
    names.write_text('{"2": "x"}', encoding="utf-8")
    for command in ("report", "curate"):
        line = error_line(run(command, model, "-o", tmp_path / "r2.html", "--names", names))
        assert f"{names}: no topic 2; topics are numbered 0 to 1" in line


def test_a_saved_corpus_will_do_and_models_and_chains_stand_beside(
    run: Run, model: Path, data: Path, tmp_path: Path
) -> None:
    corpus = metalda.Corpus.read(data, text="body", labels="section")
    corpus.save(tmp_path / "corpus")
    metalda.LDA(3, n_iter=20, random_state=1, verbose=False).fit(corpus).save(tmp_path / "plain")
    same = metalda.Corpus.read(data, text="body", labels="section", stop_words="english")
    clone(metalda.load(model)).set_params(random_state=99).fit(same).save(tmp_path / "again")
    options = ("--corpus", tmp_path / "corpus", "--compare", tmp_path / "plain", "--chain", tmp_path / "again")
    result = run("report", model, "-o", tmp_path / "r.html", *options)
    assert result.exit_code == 0, result.output
    found = data_of(tmp_path / "r.html")
    assert [each["name"] for each in found["comparison"]] == ["MetaLDA", "plain"]
    assert len(found["diagnostics"]["chains"]) == 2
    assert found["documents"]["n_all"] == 16
    assert len(found["labels"]["prevalence"]) == 2
    refused = run("report", model, "-o", tmp_path / "s.html", "--chain", tmp_path / "plain")
    assert "chains are fits of one model on one corpus" in error_line(refused)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "r.txt"), "ends in .html"),
        (("-o", "none/r.html"), "there is no folder"),
        (("-o", "r.html", "--corpus", "none.jsonl"), "none.jsonl"),
        (("-o", "r.html", "--compare", "none"), "no such folder"),
        (("-o", "r.html", "--interval", "2"), "interval"),
    ],
)
def test_bad_input_is_one_line(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in error_line(run("report", model, *options))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_one_line(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "pip install 'metalda[report]'" in error_line(run("report", model, "-o", tmp_path / "r.html"))
    assert "pip install 'metalda[report]'" in error_line(run("demo", "--report", tmp_path / "r.html"))


def test_the_demo_writes_a_report_with_lda_beside_it(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    corpus = load_python_docs(min_df=1, limit=400)
    monkeypatch.setattr("metalda.datasets.load_python_docs", lambda **options: corpus)
    path = tmp_path / "demo.html"
    result = run("demo", "--topics", 4, "--iterations", 20, "--jobs", 1, "--report", path)
    assert result.exit_code == 0, result.output
    assert f"Report: {path}" in result.stdout
    assert path.stat().st_size < 2_000_000
    found = data_of(path)
    assert [each["name"] for each in found["comparison"]] == ["MetaLDA", "LDA"]
    assert found["overview"]["documents"] == 320
    assert "ends in .html" in error_line(run("demo", "--report", tmp_path / "demo"))
