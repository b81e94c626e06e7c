"""The lines that ``metalda --version`` prints: metalda, Python, the machine, and the packages that decide a result."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import metalda

_REQUIRED = ("numba", "llvmlite", "numpy", "scipy", "scikit-learn", "pandas")
_OPTIONAL = ("pyarrow", "matplotlib", "arviz", "jinja2", "distributed")  # a package of each extra


def version_lines() -> list[str]:
    """Return the version of metalda in the first line, and all other versions after it."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return [
        f"metalda {metalda.__version__}",
        f"{python}, {platform.system()} {platform.release()}, {platform.machine()}",
        ", ".join(map(_with_version, _REQUIRED)),
        f"optional: {', '.join(map(_with_version, _OPTIONAL))}",
    ]


def _with_version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
