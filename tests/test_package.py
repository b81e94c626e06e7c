"""The package as such: its names, its version, and how quickly it starts."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import metalda

HEAVY = ("numba", "pandas", "sklearn", "scipy", "pyarrow")


def python(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout


def seconds(code: str) -> float:
    """Of processor time, the best of several fresh processes: what the machine does besides is not our business."""
    end = "import sys; sys.stderr.write(str(time.process_time() - start))"
    timed = f"import time; start = time.process_time()\n{code}\n{end}"
    runs = (subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True) for _ in range(5))
    return min(float(run.stderr) for run in runs)


def loaded(code: str) -> set[str]:
    """The heavy packages that the code loads."""
    return set(python(f"{code}\nimport sys; print('LOADED', *sys.modules)").rpartition("LOADED")[2].split()) & {*HEAVY}


HELP = """
import sys
sys.argv = ["metalda", "--help"]
from metalda.cli import main
try:
    main()
except SystemExit:
    pass
"""


def test_import_loads_nothing_heavy() -> None:
    assert loaded("import metalda") == set()


def test_help_loads_nothing_heavy() -> None:
    assert loaded(HELP) == set()


@pytest.mark.slow
def test_import_and_help_are_quicker_than_the_import_of_a_heavy_package() -> None:
    assert seconds("import metalda") < seconds("import numpy")
    assert seconds(HELP) < seconds("import pandas")


def test_corpora_are_read_without_numba() -> None:
    assert "numba" not in loaded("import metalda.corpus")


def test_the_version_is_that_of_the_package() -> None:
    assert metalda.__version__ == version("metalda")


def test_public_names_can_be_imported() -> None:
    assert {"Corpus", "Embeddings", "LDA", "MetaLDA", "WordFeatures", "load"} <= set(metalda.__all__)
    assert set(dir(metalda)) == {*metalda.__all__, "datasets"}
    for name in metalda.__all__:
        assert getattr(metalda, name) is not None


def test_datasets_need_no_import_of_their_own() -> None:
    assert "python-docs" in python("import metalda; print(metalda.datasets.available())")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = metalda.nonsense
