"""Every command line: the commands and options of the program, with values that are right, wrong or hostile."""

from __future__ import annotations

import atexit
import csv
import json
import random
import re
import shutil
import tempfile
from contextlib import suppress
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import datasets, inputs, mutations
from tests.fuzz.cases import Case, Kind, Violation
from tests.fuzz.oracle import Damaged, decompress

from metalda.cli.app import COMMANDS, app, load_command
from metalda.cli.model_options import parameters
from metalda.corpus.formats import FORMATS
from metalda.models import registry

# Options whose large values are legitimate, and take as long as they say.
COSTLY = {"--iterations", "--initial-iterations", "--seeds", "--jobs", "--n-shards", "--folds", "--repeats"}
LARGEST = 8
LEFT_OUT = {"--download", "--cluster", "--debug"}  # network, processes, tracebacks
GROUPS = {"validate": ("make", "score")}
SLOW = {"demo": 200, "reproduce": 5, "compare": 3, "search": 3, "report": 2}

DATA = ("data.jsonl", "data.jsonl", "data.csv", "data.txt", "prepared", "-", "texts")
MODELS = ("model", "model", "chain", "other", "labeled")
FILES = ("vectors.txt", "features.txt", "stop.txt", "state.txt", "data.txt")
OUTPUTS = ("out", "out.html", "out.csv", "out.jsonl", "out.svg", "out.png", "no/out", "data.jsonl", "model", "a b", "é")
MISSING = ("missing", "missing/file.csv", "data.jsonl/x", "nosuch://x", "memory://x", "file:///missing", "~", "\udcff")
VALUES: dict[str, tuple[str, ...]] = {
    "DATA": DATA,
    "MODEL": MODELS,
    "MODEL…": MODELS,
    "STATE": ("state.txt",),
    "TABLE": ("variants", "perplexity", "unseen", "coherence", "speed", "findings"),
    "COLUMN": ("text", "section", "year", "id", "tags", "text,section"),
    "COLUMN=BINS": ("year=2", "year=1992,1995", "year=", "=", "year=99999999999999999999", "year=nan,", "section=2"),
    "COLUMN=VALUE": ("year=1992", "year=1992,1995", "section=pets", "section=pets,sky", "year=nan", "year", "=", "x=1"),
    "COLUMN=DF": ("year=3", "year", "year=4,id=3", "section=3", "year=", "=", "year=99999999999999999999"),
    "COLUMN:COLUMN": ("section:year", "section:tags", "year:year", ":", "year"),
    "FILE.csv": ("out.csv", "out.txt", "no/out.csv", "model"),
    "N": ("1", "2", "3", "5"),
    "NUMBER": ("0.5", "1", "0.1", "10"),
    "N|SHARE": ("1", "2", "0.5", "1.0"),
    "N,…": ("2", "2,3", "1,2,2"),
    "NAME,…": ("lda,metalda", "LDA", "ws", "metalda:mu=2", "lda:x=1", "lda:"),
    "NAME": ("lda", "metalda", "model", "ws"),
    "REGEX": inputs.PATTERNS,
    "LANGUAGE": ("de", "english", "fr", "klingon"),
    "MODULE:FUNCTION": ("shlex:split", "no_such_module:x"),
    "characters:N": ("characters:2",),
    "CORPUS": ("prepared", "data.txt", "data.jsonl"),
    "TEXT": ("|", ",", ""),
    "FILE": FILES,
    "KEY": ("tasks.key.json",),
    "ANSWERS…": ("answers-a.json", "answers-b.json"),
    "DIR": ("out", "checkpoint", "model"),
    "FOLDER": ("out", "out2", "model"),
    "LABEL": ("pets", "sky"),
    "FIRST SECOND": ("pets", "sky"),
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "report --output": ("out.html", "out.html", "no/out.html", "model/x.html"),
    "validate make model": ("themed", "themed", "model"),
    "validate make --output": ("out.html", "out.html", "tasks.html", "no/out.html"),
    "validate make --words": ("2", "2", "3"),
    "transform --output": ("out.csv", "out.jsonl", "out.npy", "-", "data.csv"),
    "export --output": ("out.csv", "out.parquet", "out.jsonl", "out.gexf", "data.csv", "out"),
    "datasets --output": ("out.jsonl",),
    "datasets name": ("ws", "20ng", "reuters", "arxiv"),
    "datasets --folder": ("sets",),
    "--output": OUTPUTS,
    "--save": OUTPUTS,
    "--report": ("out.html",),
    "--plot": ("out.svg", "out.png", "out.pdf"),
    "--corpus": DATA,
    "--reference": DATA,
    "--test": DATA,
    "--embeddings": ("vectors.txt",),
    "--word-features": ("features.txt",),
    "--model": ("lda", "metalda", "llda", "pllda", "dmr", "wflda", "lflda", "dmm", "gpudmm", "ptm"),
    "--encoding": ("utf-8", "latin-1", "utf-16", "ascii"),
    "--compare": MODELS,
    "--chain": ("chain",),
    "--jobs": ("1", "1", "1", "2"),
    "--id": ("id",),
    "--label": ("pets", "sky", "section=pets"),
    "--rename": ("0=pets", "1=sky", "pets=animals", "0=", "=x", "0", "9=x", "0=topic1", "1=7"),
    "--merge": ("0,1", "both=0,1", "0", "0,0", "0,9", "pets,sky", "=0,1"),
    "--hide": ("0", "1", "0,1", "9", "pets", ","),
    "--interval": ("0.9", "0", "1", "0.5"),
    "compare --models": ("lda,metalda", "lda", "llda,dmr", "metalda:mu=2", "dmm,ptm:n_pseudo_documents=3", "lda:x=1"),
    "--text": ("text",),
    "--labels": ("section", "section", "tags", "year"),
    "--numbers": ("year",),
    "--prevalence": (
        "section",
        "s(year)",
        "section*s(year, df=3)",
        "levels(section) + year",
        "section:",
        "(((",
        "x**9",
    ),
    "--wording": ("section", "section", "tags", "year", "no"),
    "--groups": ("pets,sky", "pets", "pets,pets", "a,b,c"),
    "--input-format": ("jsonl", "jsonl", "csv", "text", "java", "wikipedia", "folder", "parquet", "tsv"),
}
DERIVED = parameters(registry.MODELS)
NOT_FINITE = re.compile(r"(?<![\w.])-?(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
NUMBERS = tuple(number for number in mutations.NUMBERS if len(number) < 100)
NAMES = tuple(name for name in mutations.NAMES if "\0" not in name)  # no command line can hold a zero byte


def kinds() -> list[Kind]:
    names = [" ".join((entry.name, part)).strip() for entry in COMMANDS for part in GROUPS.get(entry.name, ("",))]
    return [Kind(_kind(name), partial(make, name), check, prepare, SLOW.get(name, 1)) for name in names]


def _kind(command: str) -> str:
    return f"command-{command.replace(' ', '-')}"


@cache
def _parameters(command: str) -> list[Any]:
    name, *part = command.split()
    (entry,) = (entry for entry in COMMANDS if entry.name == name)
    found: Any = load_command(entry)
    for each in part:
        found = found.commands[each]
    return [each for each in found.params if LEFT_OUT.isdisjoint(each.opts)]


def make(command: str, rng: random.Random) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Build a command line: its arguments, some options, and some mistakes."""
    wrong = rng.choice((0, 0, 0, 0.1, 0.3, 0.6))
    all_parameters = _parameters(command)
    options = [each for each in all_parameters if each.param_type_name == "option"]
    words: list[str] = []
    if any("--iterations" in each.opts for each in options):
        words += ["--iterations", "4"]
    if command in ("demo", "search"):
        words += ["-k", "2"]
    if command == "fit":
        model = rng.choice(OPTIONS["--model"])
        words += ["--model", model, *(["--embeddings", "vectors.txt"] if model in ("lflda", "gpudmm") else [])]
        if not wrong:
            options = [each for each in options if each.name not in DERIVED or model in DERIVED[each.name].defaults]
    chosen = [each for each in options if each.required and rng.random() > wrong / 5]
    chosen += rng.sample(options, min(len(options), rng.choice((0, 1, 2, 3, 6))))
    if rng.random() < wrong / 3:
        chosen += rng.sample(others := _parameters(rng.choice(COMMANDS).name), min(len(others), 1))
    for option in chosen:
        words += _option(option, command, rng, wrong)
    arguments: list[str] = []
    for argument in (each for each in all_parameters if each.param_type_name == "argument"):
        if rng.random() > wrong / 5:
            arguments += [_value(argument, command, rng, wrong) for _ in range(2 if argument.nargs != 1 else 1)]
    files: dict[str, bytes] = {}
    extra: dict[str, Any] = {}
    if arguments and "DATA" in [each.metavar for each in all_parameters] and rng.random() < 0.4:
        files, made = inputs.make(rng.choice(list(FORMATS)), rng)
        arguments[-1] = made["path"]  # DATA is the last argument
        extra = {name: made[name] for name in ("pipes", "links") if name in made}
        for option, value in (
            ("--input-format", made["format"]),
            ("--text", made["text"]),
            ("--labels", made["labels"]),
        ):
            words += [option, value] if value and any(option in each.opts for each in options) else []
    if command == "validate score" and rng.random() < 0.6:
        name = rng.choice(("tasks.key.json", "answers-a.json"))
        files[name] = mutations.mutate((_fixtures() / name).read_bytes(), rng)
    line = [*arguments, *words] if rng.random() < 0.8 else [*words, *arguments]
    if rng.random() < wrong / 3:
        line.insert(rng.randrange(len(line) + 1), rng.choice((*NAMES, "--", "-x", "--help", "--version", "-")))
    names = command.split() if rng.random() > 0.01 else [rng.choice(NAMES)]
    return files, {"line": [*names, *line], **extra}


def _option(option: Any, command: str, rng: random.Random, wrong: float) -> list[str]:
    spelling = rng.choice([*option.opts, *option.secondary_opts])
    if getattr(option, "is_flag", False) or rng.random() < wrong / 20:
        return [spelling]
    values = [_value(option, command, rng, wrong) for _ in range(option.nargs)]
    joined = spelling.startswith("--") and len(values) == 1 and rng.random() < 0.2
    return [f"{spelling}={values[0]}"] if joined else [spelling, *values]


def _value(parameter: Any, command: str, rng: random.Random, wrong: float) -> str:
    """A value that the parameter may have, or one that it should not have."""
    if rng.random() < wrong:
        value = rng.choice((*NUMBERS, *NAMES, *MISSING, *DATA, *MODELS, *OUTPUTS))
    else:
        value = rng.choice(_right_values(parameter, command))
    return "2" if COSTLY.intersection(parameter.opts) and _is_large(value) else value


def _right_values(parameter: Any, command: str) -> tuple[str, ...]:
    for name in (f"{command} {parameter.opts[0]}", parameter.opts[0]):
        if name in OPTIONS:
            return OPTIONS[name]
    metavar = (getattr(parameter, "metavar", None) or "").strip("[]")
    choices = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)  # of recent versions of Typer
    if isinstance(choices, type) and issubclass(choices, Enum):
        return tuple(each.value for each in choices)
    if hasattr(getattr(parameter, "type", None), "choices"):
        return tuple(map(str, parameter.type.choices))
    if metavar in VALUES:
        return VALUES[metavar]
    return tuple(value for part in metavar.split("|") for value in VALUES.get(part, (part,)))


def _is_large(text: str) -> bool:
    """Return whether Python would take the text for a large number, or for the number of all cores."""
    try:
        return not -2 < float(text) <= LARGEST
    except ValueError:
        return False


@cache
def _fixtures() -> Path:
    """Files and saves for the commands, made once in a process."""
    from tests.cli.helpers import news
    from tests.fuzz.words import _state

    from metalda import LDA, Corpus, LabeledLDA, MetaLDA, write_intrusion_tasks
    from metalda.evaluation import IntrusionKey
    from metalda.storage import write_document

    folder = Path(tempfile.mkdtemp(prefix="commands-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rows = [{"text": "", "tags": [record["section"]], **record} for record in news()]
    for i, row in enumerate(rows):  # long enough to be cut in half
        row["text"] = " ".join(each["body"] for each in rows[i:] + rows[:i] if each["section"] == row["section"])
    for row in rows:
        del row["body"]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (folder / "data.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text", "section", "year"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    texts = [row["text"] for row in rows]
    (folder / "data.txt").write_text("\n".join(texts))
    for row in rows:
        path = folder / "texts" / row["section"] / f"{row['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row["text"])
    (folder / "vectors.txt").write_text("cat 1 0.5\ndog 1 0.4\nrain -1 0.3\nsun -1 0.2\n")
    (folder / "features.txt").write_text("cat\t0\ndog\t0\nrain\t1\nsun\t1 2\n")
    (folder / "stop.txt").write_text("the\nand\n")
    (folder / "state.txt").write_text(_state([[("cat", 0), ("dog", 0)], [("rain", 1)]], [0.1, 0.1], 0.01))
    settings: dict[str, Any] = {"n_iter": 8, "thin": 1, "n_draws": 4, "random_state": 0, "verbose": False}
    for files in datasets.FILES.values():
        for name, data in files.items():
            (folder / "sets" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "sets" / name).write_bytes(data)
    corpus = Corpus.read(folder / "data.jsonl", text="text", labels="section")
    MetaLDA(2, **settings).fit(corpus).save(folder / "model")
    MetaLDA(2, **{**settings, "random_state": 1}).fit(corpus).save(folder / "chain")
    LDA(3, **settings).fit(corpus).save(folder / "other")
    LabeledLDA(**settings).fit(corpus).save(folder / "labeled")
    Corpus.prepare(folder / "data.jsonl", folder / "prepared", text="text", labels="section")
    themed = LDA(6, **settings).fit(corpus)
    themed.save(folder / "themed")
    key = IntrusionKey.load(write_intrusion_tasks(themed, folder / "tasks.html", corpus, n_words=2, n_documents=3))
    for coder, choices in (("a", [task.intruder for task in key.tasks]), ("b", [0, None, *[1] * (len(key.tasks) - 2)])):
        answers = {"tasks": key.id, "coder": coder, "answers": choices}
        write_document(folder / f"answers-{coder}.json", "intrusion-answers", answers)
    return folder


def prepare() -> None:
    """Make the files, and run what compiles."""
    import metalda

    metalda.load(_fixtures() / "model").transform(["cat"])


def check(case: Case) -> str:
    """Run the command in this process, then look at its exit code, its output and the files that it wrote."""
    for path in (path for path in _fixtures().iterdir() if not Path(path.name).exists()):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, path.name)
    before = _files()
    line = case.options["line"]
    result = _run(line)
    output = result.output
    if "unexpected error" in output:
        failed = _run(["--debug", *line]).exception
        raise Violation("unexpected error", _last_line(output)) from failed
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if "Traceback (most recent call last)" in output:
        raise Violation("traceback", output[-1000:])
    if result.exit_code not in (0, 2):
        raise Violation("exit code", f"{result.exit_code}: {_last_line(output)}")
    control = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output.replace("\r", ""))
    if control is not None and "--raw" not in line:  # which writes texts as they are
        around = output.replace("\r", "")[max(0, control.start() - 60) : control.end() + 20]
        raise Violation("control character", repr(around))
    new = _files() - before
    if result.exit_code == 2:
        if not _last_line(output).startswith("metalda: "):
            raise Violation("message", f"the last line is no error: {_last_line(output)!r}")
        # runs and counts of a reference are kept for the next call
        if half := sorted(path for path in new if not ({"runs", ".parts"} & {*path.parts} or _is_kept(path.parent))):
            raise Violation("left over", f"{', '.join(map(str, half))} after {_last_line(output)}")
        return "refused"
    given = [*line, *(_content(path, data) for path, data in case.files.items())]
    if not any(NOT_FINITE.search(text) for text in given) and (found := NOT_FINITE.search(result.stdout)):
        raise Violation("not finite", f"{result.stdout[max(0, found.start() - 100) : found.end() + 20]!r} is printed")
    _check_outputs(new, may_be_infinite=any(NOT_FINITE.search(text) for text in given))
    return "accepted"


def _content(path: str, data: bytes) -> str:
    """Return the text of a file, decompressed if it can be."""
    with suppress(Damaged):
        data = decompress(data, Path(path).suffix)
    return data.decode("latin-1")


def _run(line: list[str]) -> Any:
    from typer.testing import CliRunner

    return CliRunner().invoke(app, line, input=Path("data.jsonl").read_bytes(), prog_name="metalda")


def _last_line(output: str) -> str:
    return (output.strip("\n").rsplit("\n", 1)[-1])[:500]


def _files() -> set[Path]:
    return {path for path in Path().rglob("*") if path.is_file()}


def _is_kept(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("counts.json", "runs.jsonl"))


def _check_outputs(new: set[Path], *, may_be_infinite: bool) -> None:
    """Raise `Violation` for a file that is not whole, or holds numbers that are not finite."""
    import metalda

    for path in sorted(new):
        if path.name == "model.json":
            if not np.isfinite(metalda.load(path.parent).components_).all():
                raise Violation("not finite", f"{path}")
        elif path.name == "corpus.json":
            metalda.Corpus.load(path.parent)
        elif path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
            raise Violation("half-written", f"{path}")
        elif path.suffix in (".json", ".jsonl"):
            lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
            for text in lines:
                json.loads(text, parse_constant=lambda name: _not_finite(path, name))  # noqa: B023
        elif path.suffix == ".csv" and not may_be_infinite and NOT_FINITE.search(path.read_text()):
            raise Violation("not finite", f"{path}")
        elif path.name.startswith(".") or path.suffix in (".tmp", ".part"):
            raise Violation("left over", f"{path}")


def _not_finite(path: Path, name: str) -> None:
    raise Violation("not finite", f"{path}: {name}")
