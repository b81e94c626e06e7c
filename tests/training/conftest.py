"""Clusters to be disturbed."""

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metalda.training.distributed import cluster as clusters
from training.faults import hosts, larger, make, wait_until


@pytest.fixture(scope="module")
def undisturbed():
    return make().fit(larger())


@pytest.fixture(scope="module")
def unharmed():
    """Two processes for tests that leave them unharmed."""
    distributed = pytest.importorskip("distributed", reason="no dask.distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture
def shared(unharmed):
    """A client for one test. The processes hold nothing of the tests before."""
    with unharmed.get_client() as client:
        wait_until(lambda: not hosts(client))
        yield client


@pytest.fixture
def local(tmp_path):
    """Two processes to be disturbed; their scratch folders must be gone afterwards."""
    distributed = pytest.importorskip("distributed", reason="no dask.distributed")
    folder = tmp_path / "scratch"
    folder.mkdir()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", local_directory=folder
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    left = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("lock", ".purge"))]
    assert left == []


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 20.0)  # on a busy machine a worker may be silent for seconds
    monkeypatch.setattr(clusters, "LOOK_EVERY", 0.2)


@pytest.fixture
def without_collector():
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def stopped():
    """Processes that hang until the test is over."""
    pids = []
    yield lambda pid: (pids.append(pid), os.kill(pid, signal.SIGSTOP))
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


class Processes:
    """A scheduler and workers that are commands of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.running, self.n = folder, [], 0

    def start(self, module: str, *arguments: str, program: str = "") -> subprocess.Popen:
        code = f"{program}\nfrom distributed.cli.{module} import main\nif __name__ == '__main__': main()"
        self.n += 1
        path = self.folder / f"{module}{self.n}.py"
        path.write_text(code)
        with (self.folder / f"{module}{self.n}.log").open("w") as log:
            process = subprocess.Popen([sys.executable, str(path), *arguments], stdout=log, stderr=log)
        self.running.append(process)
        return process

    def scheduler(self, *options: str) -> tuple[subprocess.Popen, str]:
        self.n += 1
        file = self.folder / f"scheduler{self.n}.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file), *options]
        process = self.start("dask_scheduler", *arguments)
        wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
        return process, json.loads(file.read_text())["address"]

    def worker(self, address: str, program: str = "") -> subprocess.Popen:
        arguments = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(self.folder)]
        return self.start("dask_worker", address, *arguments, program=program)


@pytest.fixture
def processes(tmp_path):
    started = Processes(tmp_path)
    yield started
    for process in started.running:
        process.kill()
        process.wait(timeout=120)
