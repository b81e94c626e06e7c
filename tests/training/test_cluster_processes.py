"""Clients, schedulers and workers that are programs of their own, and end."""

import subprocess
import sys

import pytest

from contracts import corpus
from metalda import LDA
from metalda.errors import ClusterError
from metalda.training.distributed import cluster as clusters
from training.faults import disturb, hosts, larger, make, wait_until
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]


FIT = """
import sys
sys.path[:0] = {path!r}
from distributed import Client
from training.faults import larger, make
if __name__ == "__main__":
    with Client({address!r}) as client:
        make().fit(larger(), client=client, checkpoint={folder!r}, checkpoint_every=3)
"""


def test_a_client_that_is_killed_can_be_resumed(local, impatient, undisturbed, tmp_path):
    folder, program = tmp_path / "c", tmp_path / "program.py"
    path = [entry for entry in sys.path if entry]
    program.write_text(FIT.format(path=path, address=local.scheduler.address, folder=str(folder)))
    process = subprocess.Popen([sys.executable, str(program)])
    try:
        wait_until(lambda: (folder / "checkpoint.json").exists() or process.poll() is not None)
    finally:
        process.kill()
        process.wait(timeout=120)
    assert (folder / "checkpoint.json").exists()
    resumed = make().fit(larger(), client=local, checkpoint=folder, checkpoint_every=3, resume=True)
    assert_same_model(undisturbed, resumed)
    wait_until(lambda: not hosts(local))


def test_a_scheduler_that_is_gone_ends_it_and_another_goes_on(processes, impatient, undisturbed, monkeypatch, tmp_path):
    scheduler, address = processes.scheduler()
    processes.worker(address)
    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=300)
        disturb(monkeypatch, 12, lambda workers: (scheduler.kill(), scheduler.wait()))
        with pytest.raises(ClusterError, match=r"the scheduler of the cluster is gone.*--resume"):
            make().fit(larger(), client=client, checkpoint=tmp_path / "c", checkpoint_every=5)
    _, address = processes.scheduler()
    processes.worker(address)
    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=300)
        resumed = make().fit(larger(), client=client, checkpoint=tmp_path / "c", checkpoint_every=5, resume=True)
    assert_same_model(undisturbed, resumed)


OTHER_VERSION = """
import importlib.metadata as metadata
original = metadata.version
def version(name):
    if name == "metalda":
        {answer}
    return original(name)
metadata.version = version
"""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("return '0.0.1'", r"worker tcp://127.* has metalda 0\.0\.1, but this is .*: install the same on both"),
        ("raise metadata.PackageNotFoundError(name)", r"worker tcp://127.* has no metalda: pip install"),
    ],
    ids=["other version", "none"],
)
def test_a_worker_without_this_metalda_is_named(processes, impatient, answer, message):
    _, address = processes.scheduler()
    processes.worker(address, OTHER_VERSION.format(answer=answer))
    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=300)
        with pytest.raises(ClusterError, match=message):
            LDA(2, n_iter=2).fit(corpus(), client=client)


def test_a_cluster_without_workers_is_not_waited_for_for_ever(processes, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 5.0)
    _, address = processes.scheduler()
    with (
        distributed.Client(address) as client,
        pytest.raises(ClusterError, match=r"no usable worker for 5 s"),
    ):
        LDA(2, n_iter=2).fit(corpus(), client=client)
