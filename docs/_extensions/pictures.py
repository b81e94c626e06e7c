"""Make the pictures and printed outputs of the docs: python docs/_extensions/pictures.py [report] [terminal] [pages] …

Without arguments all are made. It needs the extras `test` and a Chromium, and takes some minutes. The corpora are
Python's own documentation and what the pages make themselves.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
IMAGES = DOCS / "images"
sys.path.insert(0, str(Path(__file__).parent))

import outputs  # noqa: E402
from demo_report import write_demo  # noqa: E402

COLORS = 96  # of a PNG
WIDTH, HEIGHT = 1200, 760
VIEWS = {  # of the report, by the name of the picture: the address, and the heading at the top of the picture
    "report": ("", "Map of topics"),
    "report-labels": ("labels", "Effects"),
    "report-topic": ("topic/{asyncio}", None),
    "report-documents": ("documents", None),
}
COMMANDS = {  # by the name of the picture: the width and the command
    "terminal-topics": (100, "metalda topics model --top-n 8"),
    "terminal-effects": (100, "metalda effects model --label asyncio --top 12"),
    "terminal-search": (100, "metalda search docs.jsonl --labels module -k 10,20,40 --seeds 2 --iterations 200"),
    "terminal-narrow": (48, "metalda effects model --label asyncio --top 2"),
}
SCROLL = """heading => {
    const found = [...document.querySelectorAll("h2")].find(h => h.textContent === heading);
    window.scrollTo({ top: found.getBoundingClientRect().top + window.scrollY - 30, behavior: "instant" });
}"""
PAGES = [
    "security.md",
    "choosing-k.md",
    "coherence.md",
    "effects.md",
    "guides/coming-from.md",
    "guides/curation.md",
    "guides/languages.md",
    "guides/many-labels.md",
    "guides/out-of-vocabulary.md",
    "guides/reading.md",
    "guides/seed-words.md",
    "guides/short-texts.md",
    "guides/topics-over-time.md",
    "guides/validation.md",
    "guides/word-features.md",
    "guides/wording.md",
    "integrations.md",
    "start.md",
]


def shrink(file: io.BytesIO | bytes, path: Path) -> None:
    """Write a picture with a palette, which takes a third of the bytes."""
    from PIL import Image

    image = Image.open(io.BytesIO(file) if isinstance(file, bytes) else file).convert("RGB")
    image.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(DOCS)}: {path.stat().st_size / 1000:.0f} kB")


@contextmanager
def browser() -> Iterator[Any]:
    """Yield a Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


def picture_report(folder: Path) -> None:
    """Take pictures of the views of the demo report, light and dark."""
    page_file = folder / "report.html"
    proportions = write_demo(page_file).label_proportions()
    of_asyncio = proportions[proportions["label"] == "asyncio"]
    topics = {"asyncio": of_asyncio.loc[of_asyncio["proportion"].idxmax(), "topic"]}
    with browser() as opened:
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            context = opened.new_context(color_scheme=scheme, viewport={"width": WIDTH, "height": HEIGHT})
            page = context.new_page()
            for name, (view, heading) in VIEWS.items():
                page.goto(f"{page_file.as_uri()}#/{view.format(**topics)}")
                page.wait_for_function("() => document.getElementById('main').dataset.shown === location.hash")
                page.wait_for_function(
                    "() => [...document.querySelectorAll('.chart')].every(c => c.querySelector('svg.picture > *'))"
                )
                if heading is not None:
                    page.evaluate(SCROLL, heading)
                page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                shrink(page.screenshot(), IMAGES / f"{name}{suffix}.png")
            context.close()


def picture_notebook(folder: Path) -> None:
    """Take a picture of tables of results as a notebook shows them, light and dark."""
    import metalda

    corpus = metalda.datasets.load_python_docs(limit=2500)
    model = metalda.MetaLDA(15, n_iter=300, random_state=0, verbose=False).fit(corpus)
    effects = model.label_effects()
    of_asyncio = effects[effects["label"] == "asyncio"].sort_values("difference", ascending=False)
    cells = {
        'model.topics(top_n=8).sort_values("share", ascending=False).head(6)': model.topics(top_n=8)
        .sort_values("share", ascending=False)
        .head(6),
        'effects[effects["label"] == "asyncio"].head(6)': of_asyncio.head(6),
    }
    body = "".join(f"<pre>{code}</pre>{table._repr_html_()}" for code, table in cells.items())
    style = (
        "body { font: 13px system-ui, sans-serif; margin: 16px; width: 900px } td, th { padding: 3px 10px }"
        "pre { background: #8882; padding: 8px; font-size: 13px } table { border-collapse: collapse }"
        "tr:nth-child(even) td { background: #8881 } :root { color-scheme: light dark }"
    )
    file = folder / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{body}", encoding="utf-8")
    with browser() as opened:
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            context = opened.new_context(color_scheme=scheme, viewport={"width": 932, "height": 100})
            page = context.new_page()
            page.goto(file.as_uri())
            shrink(page.screenshot(full_page=True), IMAGES / f"notebook{suffix}.png")
            context.close()


def picture_terminal(folder: Path) -> None:
    """Draw what commands print on a terminal."""
    import json

    import metalda

    corpus = metalda.datasets.load_python_docs(limit=2500)
    model = metalda.MetaLDA(15, n_iter=400, random_state=0, verbose=False).fit(corpus)
    names = model.name_topics(lambda words, documents: " ".join(words[:2]), corpus)
    names.save(folder / "model")
    with open(folder / "docs.jsonl", "w", encoding="utf-8") as file:
        modules = corpus.labels.select(corpus.label_names).matrix
        for i, text in enumerate(corpus.texts):
            record = {"text": text, "module": [corpus.label_names[j] for j in modules[[i]].indices]}
            file.write(json.dumps(record) + "\n")
    for name, (columns, command) in COMMANDS.items():
        shown = on_terminal(command, columns, folder)
        svg = as_svg(shown, command, columns)
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
        print(f"images/{name}.svg: {len(svg) / 1000:.0f} kB")


def on_terminal(command: str, columns: int, folder: Path) -> str:
    """Return what a command writes to a terminal of this width."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    program = [sys.executable, "-m", *command.split()]
    with subprocess.Popen(program, stdout=theirs, stderr=subprocess.DEVNULL, cwd=folder, env=environment) as process:
        os.close(theirs)
        shown = b""
        with open(ours, "rb", buffering=0) as file:
            try:
                while part := file.read(65536):
                    shown += part
            except OSError:  # the end, on Linux
                pass
    assert process.returncode == 0, (command, shown.decode())
    return shown.decode().replace("\r\n", "\n").rstrip()


def as_svg(shown: str, command: str, columns: int) -> str:
    """Return a terminal as SVG, which loads no fonts from elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=columns, file=io.StringIO())
    console.print(Text.assemble(("$ ", "dim"), (command, "bold")), soft_wrap=True)
    console.print(Text.from_ansi(shown))
    svg = console.export_svg(title="metalda", unique_id="terminal")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"\n\s*\n+", "\n", svg.replace("Fira Code,", "ui-monospace, Menlo, Consolas,"))


def picture_effects(folder: Path) -> None:
    """Draw the effects of modules, the first picture of the README."""
    file = folder / "effects.png"
    subprocess.run([sys.executable, DOCS.parent / "examples" / "effects_plot.py", file], check=True)
    shrink(file.read_bytes(), IMAGES / "effects.png")


def main(asked: list[str]) -> None:
    """Make the pictures that are asked for, or all."""
    kinds = {
        "report": picture_report,
        "terminal": picture_terminal,
        "notebook": picture_notebook,
        "effects": picture_effects,
    }
    with tempfile.TemporaryDirectory() as folder:
        for kind, make in kinds.items():
            if not asked or kind in asked:
                make(Path(folder))
    for page in PAGES:
        if not asked or "pages" in asked or page in asked:
            print(page)
            outputs.update_page(DOCS / page)


if __name__ == "__main__":
    main(sys.argv[1:])
