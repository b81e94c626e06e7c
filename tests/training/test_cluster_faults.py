"""Whatever happens to a cluster, the model is the same, or one line says how to go on."""

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from contracts import corpus
from metalda import LDA, Corpus, MetaLDA
from metalda.errors import ClusterError
from metalda.training import cluster as clusters
from metalda.training import spreading, surviving
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]

SHARDED = {"n_shards": 4, "random_state": 0, "verbose": False}
OFTEN = {"optimize_burn_in": 2, "optimize_interval": 3}


@pytest.fixture
def local(tmp_path):
    """Two processes; their scratch folders must be gone afterwards."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    left = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("lock", ".purge"))]
    assert left == []


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 8.0)
    monkeypatch.setattr(clusters, "LOOK_EVERY", 0.2)


@pytest.fixture
def without_collector():
    gc.disable()
    yield
    gc.enable()


def _larger():
    """Enough documents that a sweep takes a moment."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 300, 40_000)
    documents = [[f"w{w}" for w in part] for part in np.split(words, 800)]
    return Corpus.from_tokens(documents, [[f"label{i % 5}"] for i in range(800)])


FAULTY = {**SHARDED, "n_iter": 24, "thin": 5, "n_draws": 2}


def _make():
    return MetaLDA(10, word_prior="default", **FAULTY)


@pytest.fixture(scope="module")
def undisturbed():
    return _make().fit(_larger())


def _disturb(monkeypatch, at, act, work="sweep-tokens", when="collect"):
    """Do something in the midst of a sweep: after its turns were handed to the cluster, before they are done."""
    original, calls = getattr(clusters.Cluster, when), []

    def collect(self, futures, workers):
        if futures and futures[0].key.startswith(work):
            calls.append(1)
            if len(calls) == at:
                act(workers)
        return original(self, futures, workers)

    monkeypatch.setattr(clusters.Cluster, when, collect)
    return calls


def _signal(client, which, n_workers=1):
    def send(workers):
        for pid in client.run(os.getpid, workers=workers[-n_workers:]).values():
            os.kill(pid, which)

    return send


@pytest.mark.parametrize(("at", "when"), [(1, "collect"), (13, "collect"), (13, "_fetch")])
def test_a_worker_that_is_killed_changes_nothing(local, impatient, undisturbed, monkeypatch, caplog, at, when):
    """In the midst of a sweep, or when it is done, but not yet fetched."""
    calls = _disturb(monkeypatch, at, _signal(local, signal.SIGKILL), when=when)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert "Lost workers" in caplog.text
    assert len(calls) > FAULTY["n_iter"]  # sweeps were done again


@pytest.mark.parametrize("n_killed", [1, 2], ids=["one of two", "all"])
def test_workers_that_are_killed_in_transform_change_nothing(local, undisturbed, monkeypatch, n_killed):
    """With the last of them goes what was sent to all."""
    monkeypatch.setattr("metalda.models.spreading.TOKENS", 1000)
    calls = _disturb(monkeypatch, 3, _signal(local, signal.SIGKILL, n_killed), work="transform")
    expected = undisturbed.transform(_larger())
    np.testing.assert_array_equal(undisturbed.transform(_larger(), client=local), expected)
    assert len(calls) > 3  # they were killed in the midst of them; Dask itself may give work to the one that remains


def test_a_worker_that_is_gone_when_data_is_sent_changes_nothing(local, undisturbed, monkeypatch):
    """It was there when the shards were dealt."""
    original, wanted = clusters.Cluster.wait_for_workers, []

    def with_one_more(self):
        workers = original(self)
        return {**workers, "tcp://127.0.0.1:1": 1} if not wanted.append(1) and len(wanted) == 2 else workers

    monkeypatch.setattr(clusters.Cluster, "wait_for_workers", with_one_more)
    np.testing.assert_array_equal(undisturbed.transform(_larger(), client=local), undisturbed.transform(_larger()))
    assert len(wanted) == 3
    wanted.clear()
    assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert len(wanted) == 3


@pytest.fixture
def stopped():
    """Processes that hang until the test is over."""
    pids = []
    yield lambda pid: (pids.append(pid), os.kill(pid, signal.SIGSTOP))
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _pid(client, address):
    return client.run(os.getpid, workers=[address])[address]


def test_a_worker_that_hangs_changes_nothing(local, impatient, undisturbed, monkeypatch, caplog, stopped):
    _disturb(monkeypatch, 7, lambda workers: stopped(_pid(local, workers[-1])))
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert "Lost workers" in caplog.text


@pytest.mark.parametrize("at", [1, 2])  # Dask begins with another worker each time
def test_a_worker_that_hangs_while_data_is_sent_changes_nothing(
    local, impatient, undisturbed, monkeypatch, stopped, at
):
    original, sends = clusters.Cluster.send, []

    def send(self, data, to):
        sends.append(to)
        if len(sends) == at:
            stopped(_pid(local, to[-1]))
        return original(self, data, to)

    monkeypatch.setattr(clusters.Cluster, "send", send)
    np.testing.assert_array_equal(undisturbed.transform(_larger(), client=local), undisturbed.transform(_larger()))
    assert [len(to) for to in sends] == at * [2] + 3 * [1]


def test_a_worker_that_is_told_to_leave_can_go(local, undisturbed, monkeypatch, caplog, without_collector):
    """Hosts cannot be moved: Dask waits until we take ours away."""

    def retire(workers):
        request = local.retire_workers([workers[-1]], asynchronous=True)
        asyncio.run_coroutine_threadsafe(request, local.loop.asyncio_loop)
        _wait_until(lambda: "closing_gracefully" in _statuses(local))

    _disturb(monkeypatch, 7, retire)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert "Lost workers" in caplog.text
    _wait_until(lambda: "closing_gracefully" not in _statuses(local))


def _statuses(client):
    return [worker["status"] for worker in client.sync(client.scheduler.identity)["workers"].values()]


def test_a_break_in_the_network_changes_nothing(local, undisturbed, monkeypatch, caplog):
    def interrupt(workers):
        local.status = "connecting"  # as Dask says while it tries again
        threading.Timer(1.5, lambda: setattr(local, "status", "running")).start()
        raise distributed.comm.CommClosedError("no route")

    _disturb(monkeypatch, 7, interrupt, when="_fetch")
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert "Lost workers (no route)" in caplog.text


def test_a_client_that_dask_has_closed_is_told_from_lost_workers(local, monkeypatch):
    original = surviving.Survivor.take_snapshot
    monkeypatch.setattr(surviving.Survivor, "take_snapshot", lambda self: (local.close(), original(self)))
    with pytest.raises(ClusterError, match=r"the scheduler of the cluster is gone"):
        _make().fit(_larger(), client=local)


def test_a_client_need_not_be_the_default_one(undisturbed):
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        assert_same_model(undisturbed, _make().fit(_larger(), client=client))


def _pause(dask_worker):
    dask_worker.status = distributed.core.Status.paused


def test_a_worker_that_dask_pauses_for_want_of_memory_counts_as_lost(impatient, undisturbed, monkeypatch, caplog):
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}  # else it goes on
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        _disturb(monkeypatch, 7, lambda workers: client.run(_pause, workers=[workers[-1]]))
        with caplog.at_level(logging.WARNING, logger="metalda"):
            assert_same_model(undisturbed, _make().fit(_larger(), client=client))
    assert "Lost workers" in caplog.text


def test_a_worker_that_joins_gets_shards(local, undisturbed, monkeypatch):
    def join(workers):
        local.cluster.scale(3)
        local.wait_for_workers(3, timeout=60)

    _disturb(monkeypatch, 3, join)
    spreads = []
    original = spreading.SpreadAssignment.spread
    monkeypatch.setattr(
        spreading.SpreadAssignment, "spread", lambda self: (original(self), spreads.append(len(self.seats)))[0]
    )
    assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    assert spreads == [2, 3]


def test_workers_that_are_lost_again_and_again_end_it(local, impatient, monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "MOST_LOSSES", 2)
    monkeypatch.setattr(surviving, "MOST_LOSSES", 2)

    def lose(self, futures, workers):
        raise clusters.WorkersLost("tcp://1.2.3.4:5")

    calls = _disturb(monkeypatch, 12, lambda workers: monkeypatch.setattr(clusters.Cluster, "collect", lose))
    with pytest.raises(ClusterError, match=r"lost 2 times in a row, the last time tcp://1.2.3.4:5.*memory.*--resume"):
        _make().fit(_larger(), client=local, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert len(calls) == 12


def test_a_worker_out_of_memory_is_named_and_the_checkpoint_kept(local, monkeypatch, tmp_path, undisturbed):
    def starve(workers):
        raise MemoryError("no room")

    original = spreading.hosting.sweep_turn
    submit = clusters.Cluster.submit

    def submit_starving(self, function, *arguments, **how):
        if function is original and arguments[1] >= 4 * 12:  # turns
            return submit(self, starve, arguments[0], **how)
        return submit(self, function, *arguments, **how)

    with monkeypatch.context() as patch:
        patch.setattr(clusters.Cluster, "submit", submit_starving)
        with pytest.raises(ClusterError, match=r"not enough memory for its share.*more workers.*--resume"):
            _make().fit(_larger(), client=local, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert_same_model(undisturbed, _make().fit(_larger(), checkpoint=tmp_path / "c", resume=True))


FIT = """
import sys
sys.path[:0] = {path!r}
from distributed import Client
from training.test_cluster_faults import _larger, _make
if __name__ == "__main__":
    with Client({address!r}) as client:
        _make().fit(_larger(), client=client, checkpoint={folder!r}, checkpoint_every=3)
"""


def test_a_client_that_is_killed_can_be_resumed(local, impatient, undisturbed, tmp_path):
    folder, program = tmp_path / "c", tmp_path / "program.py"
    path = [entry for entry in sys.path if entry]
    program.write_text(FIT.format(path=path, address=local.scheduler.address, folder=str(folder)))
    process = subprocess.Popen([sys.executable, str(program)])
    try:
        _wait_until(lambda: (folder / "checkpoint.json").exists() or process.poll() is not None)
    finally:
        process.kill()
        process.wait(timeout=30)
    assert (folder / "checkpoint.json").exists()
    resumed = _make().fit(_larger(), client=local, checkpoint=folder, checkpoint_every=3, resume=True)
    assert_same_model(undisturbed, resumed)
    _wait_until(lambda: not _hosts(local))


def _hosts(client):
    return [key for keys in client.has_what().values() for key in keys if str(key).startswith("host")]


def test_workers_get_their_memory_back_at_once(local, monkeypatch, undisturbed, without_collector):
    monkeypatch.setattr(clusters, "LOOK_EVERY", 0.001)  # so that nearly every wait runs out of time
    assert_same_model(undisturbed, _make().fit(_larger(), client=local))
    _wait_until(lambda: not _hosts(local))


def test_hosts_that_were_dealt_in_vain_go_at_once(local, impatient, monkeypatch, without_collector):
    held = []
    _disturb(monkeypatch, 1, _signal(local, signal.SIGKILL), work="ready")
    _disturb(monkeypatch, 1, lambda workers: held.extend(_hosts(local)))
    _make().fit(_larger(), client=local)
    assert len(held) in (1, 2)  # the worker that was killed may be back
    _wait_until(lambda: not _hosts(local))


def test_workers_that_remain_get_their_memory_back_after_a_loss(local, monkeypatch, without_collector):
    kept, held = [], []

    def lose(workers):
        try:
            raise clusters.WorkersLost("tcp://1.2.3.4:5")
        except clusters.WorkersLost as loss:
            kept.append(loss)  # and with it the futures of those who wait
            raise

    _disturb(monkeypatch, 12, lose)
    _disturb(monkeypatch, 15, lambda workers: held.extend(_hosts(local)))
    _make().fit(_larger(), client=local)
    assert kept
    assert len(held) == 2
    _wait_until(lambda: not _hosts(local))


def _wait_until(is_true, seconds=90):
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


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

    def scheduler(self) -> tuple[subprocess.Popen, str]:
        self.n += 1
        file = self.folder / f"scheduler{self.n}.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        process = self.start("dask_scheduler", *arguments)
        _wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
        import json

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
        process.wait(timeout=30)


def test_a_scheduler_that_is_gone_ends_it_and_another_goes_on(processes, impatient, undisturbed, monkeypatch, tmp_path):
    scheduler, address = processes.scheduler()
    processes.worker(address)
    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=60)
        _disturb(monkeypatch, 12, lambda workers: (scheduler.kill(), scheduler.wait()))
        with pytest.raises(ClusterError, match=r"the scheduler of the cluster is gone.*--resume"):
            _make().fit(_larger(), client=client, checkpoint=tmp_path / "c", checkpoint_every=5)
    _, address = processes.scheduler()
    processes.worker(address)
    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=60)
        resumed = _make().fit(_larger(), client=client, checkpoint=tmp_path / "c", checkpoint_every=5, resume=True)
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
        client.wait_for_workers(1, timeout=60)
        with pytest.raises(ClusterError, match=message):
            LDA(2, n_iter=2).fit(corpus(), client=client)


def test_a_cluster_without_workers_is_not_waited_for_for_ever(processes, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 5.0)
    _, address = processes.scheduler()
    with (
        distributed.Client(address) as client,
        pytest.raises(ClusterError, match=r"no worker that can be used for 5 s"),
    ):
        LDA(2, n_iter=2).fit(corpus(), client=client)
