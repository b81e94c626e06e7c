"""The live demo of the site: a report on the documentation of Python, made when the site is built."""

import hashlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ADDRESS = "demo/report.html"
N_MODULES = 28
TITLE = "Docstrings of Python's standard library"


def write_demo(path: Path) -> Any:
    """Fit MetaLDA and LDA to docstrings, write the report, and return the MetaLDA."""
    import metalda
    from metalda import LDA, MetaLDA

    docs = metalda.datasets.load_python_docs()
    sizes = docs.labels.matrix.sum(axis=0)
    largest = [docs.label_names[i] for i in (-sizes).argsort(kind="stable")]
    modules = [name for name in largest if not name.startswith("_")][:N_MODULES]
    of_modules = (docs.labels.select(modules).matrix.sum(axis=1) > 0).nonzero()[0]
    corpus = docs[of_modules[::2]]  # every second docstring of the largest modules
    settings: dict[str, Any] = {"random_state": 0, "n_jobs": -1, "verbose": False}
    model = MetaLDA(20, n_iter=1500, **settings).fit(corpus)
    plain = LDA(20, n_iter=500, **settings).fit(corpus)
    metalda.write_report(model, path, corpus, models=[plain], title=TITLE, max_documents=700)
    return model


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """Add the report to the files of the site. mkdocs calls this for each build, and `mkdocs serve` builds often."""
    from mkdocs.structure.files import File

    digest = hashlib.sha256()
    for source in sorted((ROOT / "src").rglob("*.*")):
        if source.suffix != ".pyc" and source.is_file():
            digest.update(source.read_bytes())
    path = ROOT / ".cache" / f"report-{digest.hexdigest()[:16]}.html"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        write_demo(path)
    files.append(File.generated(config, ADDRESS, content=path.read_text(encoding="utf-8")))
    return files
