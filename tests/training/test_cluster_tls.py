"""The example of docs/scaling.md for TLS, with a certificate that is made here."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import metalda
from metalda import LDA, Corpus
from repository import repository_text
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]


def settings_of_the_example(folder: Path) -> dict[str, str]:
    """Run the commands up to the first Dask command; return the settings that they export."""
    for program in ("bash", "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    page = repository_text("docs/scaling.md")
    example = re.search(r"```sh\n(openssl .*?)\ndask scheduler --protocol tls ", page, re.S)
    made = subprocess.run(
        ["bash", "-ec", f"{example[1]}\nenv"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert made.returncode == 0, made.stderr
    found = dict(re.findall(r"^(DASK_DISTRIBUTED__COMM__\w+)=(.*)$", made.stdout, re.M))
    assert len(found) == 8
    return {name: str(folder / value) if value.startswith("cluster.") else value for name, value in found.items()}


def assert_same_as_here(model, texts):
    assert_same_model(make().fit(Corpus.read(texts)), model)


def make():
    return LDA(2, n_iter=4, n_shards=2, random_state=0, verbose=False)


def test_a_cluster_with_tls_accepts_only_peers_with_the_certificate(processes, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        for name, value in settings_of_the_example(tmp_path).items():
            patch.setenv(name, value)
        _, address = processes.scheduler("--protocol", "tls")
        processes.worker(address)
        trusted = dict(os.environ)
    assert address.startswith("tls://127.0.0.1:")
    texts = tmp_path / "texts.txt"
    texts.write_text("cat dog cat\ndog cat kitten\nrain sun rain\nsun wind rain\n")

    certificate = str(tmp_path / "cluster.pem")
    files = {
        "tls_ca_file": certificate,
        "tls_client_cert": certificate,
        "tls_client_key": str(tmp_path / "cluster.key"),
    }
    security = distributed.Security(require_encryption=True, **files)
    with distributed.Client(address, security=security, timeout=300) as client:
        client.wait_for_workers(1, timeout=300)
        assert_same_as_here(make().fit(Corpus.read(texts), client=client), texts)

    def fit(where, environment):
        options = ["--model", "lda", "-k", "2", "--iterations", "4", "--n-shards", "2", "--quiet", "--cluster", where]
        command = [sys.executable, "-m", "metalda", "fit", texts, "-o", tmp_path / "model", *options]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)

    unencrypted = address.replace("tls://", "tcp://")
    for where, environment in ((address, None), (unencrypted, trusted)):
        done = fit(where, environment)
        assert done.returncode == 2, done.stderr
        assert re.fullmatch(rf"metalda: {where}: .*\n", done.stderr), done.stderr
        assert not (tmp_path / "model").exists()
    done = fit(address, trusted)
    assert done.returncode == 0, done.stderr
    assert_same_as_here(metalda.load(tmp_path / "model"), texts)
