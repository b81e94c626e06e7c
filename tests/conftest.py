"""What all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The real corpora: the folder that METALDA_DATA names, or shared/data beside the repository."""
    folder = Path(os.environ.get("METALDA_DATA") or Path(__file__).parents[1].parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no real data: set METALDA_DATA to the folder that holds WS, TMN, …")
    return folder
