"""Print the lower bounds of the dependencies and extras as exact versions: a constraints file for pip."""

import re
import tomllib
from pathlib import Path

ELSEWHERE = ("docs", "bench")  # extras that users of the library do not need

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
groups = [bounds for name, bounds in project["optional-dependencies"].items() if name not in ELSEWHERE]
for requirement in sorted({*project["dependencies"], *(bound for bounds in groups for bound in bounds)}):
    bound = re.fullmatch(r"([\w.-]+)>=([\d.]+)(; python_version < '[\d.]+')?", requirement)
    if bound:
        print(f"{bound[1]}=={bound[2]}")
    elif not requirement.startswith("metalda["):
        raise SystemExit(f"pyproject.toml: {requirement!r} must be a name and a lower bound, name>=version")
