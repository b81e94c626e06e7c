"""The benchmark of Java programs follows the log of a program, and names what is missing. These tests need no Java."""

import signal
import sys

import pytest
from benchmarks.java import Java, check, main

PROGRAM = """
import sys
print("INFO: Mallet LDA: 50 topics", file=sys.stderr)
for i in range(10, 40, 10):
    print(f"INFO: <{i}> in 0.1 seconds" if i < 30 else f"<{i}> LL/token: -8.5", file=sys.stderr)
print("out of memory")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped for a while")
def test_sweeps_end_at_their_line_of_the_log() -> None:
    with Java([sys.executable, "-c", PROGRAM]) as chain:
        assert chain.sweep(20) > 0
        assert chain.sweep(10) > 0
        with pytest.raises(SystemExit, match="ended before iteration 40: out of memory"):
            chain.sweep(10)


def test_a_missing_jar_or_java_is_named_in_one_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["java.py"])
    with pytest.raises(SystemExit, match=r"^no jar: give --mallet JAR, --metalda JAR or both$"):
        main()
    with pytest.raises(SystemExit, match=r"^--metalda: no jar 'none\.jar'$"):
        check({"mallet": None, "metalda": "none.jar"})
    jar = tmp_path / "some.jar"
    jar.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"^no program 'java': "):
        check({"mallet": str(jar), "metalda": None})
