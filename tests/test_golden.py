"""For every model and seed the results are those of the golden file, bit for bit."""

import json

import pytest

import golden
from metalda.kernels.border import COMPILED

EXPECTED = json.loads(golden.PATH.read_text())


@pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set: plain Python rounds differently")
@pytest.mark.skipif(EXPECTED["made on"] != golden.machine(), reason="golden.json was made on another machine")
@pytest.mark.parametrize(("name", "model"), list(golden.runs()), ids=[name for name, _ in golden.runs()])
def test_results_are_those_of_the_golden_file(name, model):
    assert golden.hashes(model) == EXPECTED["hashes"][name]
