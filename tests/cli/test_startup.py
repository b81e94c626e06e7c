"""Commands load no package that they do not need: which modules a process has imported, without a clock."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from cli.helpers import Write, news
from metalda import LDA, Corpus, MetaLDA

PROGRAM = """
import os, sys
import tqdm
from metalda.cli import main

def end(*arguments, **options):
    print("LOADED", *sys.modules, flush=True)
    os._exit(0)

if sys.argv[1] == "fit":
    bar = tqdm.tqdm
    tqdm.tqdm = lambda *given, **options: (end if options.get("desc") == "iterations" else bar)(*given, **options)
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
end()
"""
# pandas loads pyarrow where it is installed, and scikit-learn loads scipy.stats and pandas.
ESTIMATORS = {"sklearn", "scipy.stats"}
FRAMES = {"pandas", "pyarrow"}
KERNELS = {"numba", "llvmlite"}
OPTIMIZERS = {"scipy.optimize", "scipy.interpolate"}


def loaded(*arguments: object) -> set[str]:
    """The modules that a command loads; for a fit, until its first iteration."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two models with labels and a number, and an LDA with two chains."""
    folder = tmp_path_factory.mktemp("startup")
    rows = news() * 2
    corpus = Corpus.from_frame(pd.DataFrame(rows), text="body", labels="section", numbers="year")
    for seed in range(2):
        model = MetaLDA(2, n_iter=200, random_state=seed, seeds={"pets": ["cat"]}, verbose=False)
        model.fit(corpus).save(folder / f"m{seed}")
    LDA(3, n_iter=20, n_chains=2, random_state=0, verbose=False).fit(corpus).rename({0: "most"}).save(folder / "lda")
    return folder


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--topic", "pets", "--words-by", "frex", "--format", "json"),
    ],
)
def test_topics_are_printed_without_estimators_kernels_and_frames(models: Path, options: tuple[str, ...]) -> None:
    assert not loaded("topics", models / "m0", *options) & {*ESTIMATORS, *KERNELS, *FRAMES, *OPTIMIZERS}


def test_topics_are_named_and_hidden_without_estimators_kernels_and_frames(models: Path, tmp_path: Path) -> None:
    arguments = ("curate", models / "m1", "--rename", "0=animals", "--hide", "1", "-o", tmp_path / "named")
    assert not loaded(*arguments) & {*ESTIMATORS, *KERNELS, *FRAMES, *OPTIMIZERS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", "m0", "--seeds"),
        ("topics", "lda"),
        ("effects", "m0"),
        ("effects", "m0", "--pooling"),
        ("correlations", "m0"),
        ("prevalence", "m0", "--over", "year"),
        ("chains", "m0", "m1"),
        ("stability", "m0", "m1"),
        ("export", "m0", "-o", "words.csv", "--what", "words"),
        ("export", "m0", "-o", "network.gexf"),
        ("report", "m0", "-o", "report.html"),
    ],
    ids=" ".join,
)
def test_commands_that_look_at_a_model_do_without_estimators_and_kernels(
    models: Path, arguments: tuple[str, ...]
) -> None:
    names = {"m0", "m1", "lda", "words.csv", "network.gexf", "report.html"}
    given = [str(models / argument) if argument in names else argument for argument in arguments]
    found = loaded(*given)
    assert not found & {*ESTIMATORS, *KERNELS}, found & {*ESTIMATORS, *KERNELS}


def test_the_first_iteration_of_a_fit_needs_no_estimators_and_frames(write: Write, tmp_path: Path) -> None:
    data = write("news.jsonl", news())
    features = write("features.txt", "cat\t0\ndog\t0\nrain\t1\nsun\t1\n")
    columns = ("--text", "body", "--labels", "section", "--numbers", "year", "--word-features", features)
    found = loaded("fit", data, "-o", tmp_path / "model", *columns, "-k", 2, "--iterations", 3)
    assert not found & {*ESTIMATORS, *FRAMES, *OPTIMIZERS}
