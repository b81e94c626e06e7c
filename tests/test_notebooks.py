"""A notebook shows figures, tables of results and progress bars, and the notebooks of examples/ run."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT

NOTEBOOKS = ROOT / "examples" / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("ipywidgets")

Outputs = list[dict[str, Any]]
WIDGET = "application/vnd.jupyter.widget-view+json"

FITTED = """
import warnings
warnings.simplefilter("ignore")  # of tiny corpora
import metalda
labels = ["<b>pets", "sky"] * 10
corpus = metalda.Corpus.from_texts(["cat dog cat", "rain sun rain"] * 10, labels)
model = metalda.MetaLDA(2, n_iter=80, random_state=0)
_ = model.fit(corpus)
"""


def execute(notebook: Any, folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter and of its event loop
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def run(cells: Sequence[str], folder: Path) -> list[Outputs]:
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return [cell["outputs"] for cell in execute(notebook, folder)["cells"]]


def pictures(outputs: Outputs) -> int:
    return sum("image/png" in each.get("data", {}) for each in outputs)


def texts(outputs: Outputs) -> str:
    return "".join(each.get("text", "") + each.get("data", {}).get("text/plain", "") for each in outputs)


@pytest.mark.slow
def test_a_notebook_shows_figures_tables_and_bars(tmp_path: Path) -> None:
    cells = {
        "fit": FITTED,
        "plot": "metalda.plot_effects(model)",
        "titled": "axes = metalda.plot_effects(model)\naxes.set_title('Pets');",
        "later": "axes",
        "both": "metalda.plot_effects(model)\nmetalda.plot_effects(model, 'sky')",
        "own axes": "from matplotlib import pyplot\nmetalda.plot_effects(model, ax=pyplot.subplots()[1]);",
        "panels": "metalda.plot_search(metalda.search_k(corpus, [2, 3], 'lda', seeds=1, n_iter=5, verbose=False))",
        "topics": "model.topics()",
        "effects": "model.label_effects().sort_values('effect').head(3)",
    }
    shown = dict(zip(cells, run(list(cells.values()), tmp_path), strict=True))
    assert any(WIDGET in each.get("data", {}) for each in shown["fit"])
    for cell, n in {"plot": 1, "titled": 1, "later": 1, "both": 2, "own axes": 1, "panels": 1}.items():
        assert pictures(shown[cell]) == n, cell
        assert "<Axes" not in texts(shown[cell]), cell
    for cell, part in {"topics": "background: #", "effects": "R-hat"}.items():
        (output,) = shown[cell]
        assert part in output["data"]["text/html"]
        assert "topic" in output["data"]["text/plain"]  # of pandas
    assert "&lt;b&gt;pets" in shown["effects"][0]["data"]["text/html"]


@pytest.mark.slow
def test_without_widgets_a_bar_is_text_and_no_warning(tmp_path: Path) -> None:
    block = "import sys\nsys.modules['ipywidgets'] = None\n"
    (outputs,) = run([block + FITTED.replace("simplefilter", "filterwarnings")], tmp_path)
    shown = texts(outputs)
    assert "80/80" in shown
    assert "IProgress" not in shown


def cells_of(notebook: Any) -> list[tuple[str, str]]:
    return [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]


def test_every_notebook_has_a_script() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.py")) == NAMES
    assert len(NAMES) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_equals_its_script_and_has_no_outputs(name: str) -> None:
    jupytext = pytest.importorskip("jupytext")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of jupytext, about ids of cells
        script = jupytext.read(NOTEBOOKS / f"{name}.py")
    assert cells_of(notebook) == cells_of(script), f"jupytext --to ipynb examples/notebooks/{name}.py"
    assert not [cell for cell in notebook["cells"] if cell.get("outputs") or cell.get("execution_count")]
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"  # as in Colab


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_results(name: str, tmp_path: Path) -> None:
    notebook = execute(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4), tmp_path)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert any("of a pandas DataFrame" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error"]
