"""Whatever happens to workers, the model is the same, or one line says how to go on."""

import logging
import os
import signal
import threading

import numpy as np
import pytest

from metalda.errors import ClusterError
from metalda.training.distributed import assignment, recovery
from metalda.training.distributed import cluster as clusters
from training.faults import FAULTY, disturb, larger, make, send_signal
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]


@pytest.mark.parametrize(("at", "when"), [(1, "collect"), (13, "collect"), (13, "_fetch")])
def test_a_worker_that_is_killed_changes_nothing(local, impatient, undisturbed, monkeypatch, caplog, at, when):
    """In the midst of a sweep, or when it is done, but not yet fetched."""
    calls = disturb(monkeypatch, at, send_signal(local, signal.SIGKILL), when=when)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, make().fit(larger(), client=local))
    assert "Lost workers" in caplog.text
    assert len(calls) > FAULTY["n_iter"]  # sweeps were done again


@pytest.mark.parametrize("n_killed", [1, 2], ids=["one of two", "all"])
def test_workers_that_are_killed_in_transform_change_nothing(local, undisturbed, monkeypatch, n_killed):
    """With the last of them goes what was sent to all."""
    monkeypatch.setattr("metalda.models.transform.TOKENS_PER_TASK", 1000)
    calls = disturb(monkeypatch, 3, send_signal(local, signal.SIGKILL, n_killed), work="transform")
    expected = undisturbed.transform(larger())
    np.testing.assert_array_equal(undisturbed.transform(larger(), client=local), expected)
    assert len(calls) > 3  # they were killed in the midst of them; Dask itself may give work to the one that remains


def test_a_worker_that_is_gone_when_data_is_sent_changes_nothing(shared, undisturbed, monkeypatch):
    """It was there when the shards were dealt."""
    original, wanted = clusters.Cluster.wait_for_workers, []

    def with_one_more(self):
        workers = original(self)
        return {**workers, "tcp://127.0.0.1:1": 1} if not wanted.append(1) and len(wanted) == 2 else workers

    monkeypatch.setattr(clusters.Cluster, "wait_for_workers", with_one_more)
    np.testing.assert_array_equal(undisturbed.transform(larger(), client=shared), undisturbed.transform(larger()))
    assert len(wanted) == 3
    wanted.clear()
    assert_same_model(undisturbed, make().fit(larger(), client=shared))
    assert len(wanted) == 3


def _pid(client, address):
    return client.run(os.getpid, workers=[address])[address]


def test_a_worker_that_hangs_changes_nothing(local, impatient, undisturbed, monkeypatch, caplog, stopped):
    disturb(monkeypatch, 7, lambda workers: stopped(_pid(local, workers[-1])))
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, make().fit(larger(), client=local))
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
    np.testing.assert_array_equal(undisturbed.transform(larger(), client=local), undisturbed.transform(larger()))
    assert len(sends) > 3
    assert [len(to) for to in sends[-3:]] == [1, 1, 1]  # sent again, to the worker that is left


def test_a_break_in_the_network_changes_nothing(shared, undisturbed, monkeypatch, caplog):
    def interrupt(workers):
        shared.status = "connecting"  # as Dask says while it tries again
        threading.Timer(1.5, lambda: setattr(shared, "status", "running")).start()
        raise distributed.comm.CommClosedError("no route")

    disturb(monkeypatch, 7, interrupt, when="_fetch")
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, make().fit(larger(), client=shared))
    assert "Lost workers (no route)" in caplog.text


def test_a_client_that_dask_has_closed_is_told_from_lost_workers(shared, monkeypatch):
    original = recovery.Recovery.take_snapshot
    monkeypatch.setattr(recovery.Recovery, "take_snapshot", lambda self: (shared.close(), original(self)))
    with pytest.raises(ClusterError, match=r"the scheduler of the cluster is gone"):
        make().fit(larger(), client=shared)


def test_a_client_need_not_be_the_default_one(unharmed, undisturbed):
    with distributed.Client(unharmed, set_as_default=False) as client:
        assert_same_model(undisturbed, make().fit(larger(), client=client))


def _pause(dask_worker):
    dask_worker.status = distributed.core.Status.paused


def test_a_worker_that_dask_pauses_for_want_of_memory_counts_as_lost(impatient, undisturbed, monkeypatch, caplog):
    how = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "memory_limit": 0,
    }  # else it goes on
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        disturb(monkeypatch, 7, lambda workers: client.run(_pause, workers=[workers[-1]]))
        with caplog.at_level(logging.WARNING, logger="metalda"):
            assert_same_model(undisturbed, make().fit(larger(), client=client))
    assert "Lost workers" in caplog.text


def test_a_worker_that_joins_gets_shards(local, undisturbed, monkeypatch):
    def join(workers):
        local.cluster.scale(3)
        local.wait_for_workers(3, timeout=300)

    disturb(monkeypatch, 3, join)
    dealt = []
    original = assignment.DistributedAssignment.deal_shards
    monkeypatch.setattr(
        assignment.DistributedAssignment,
        "deal_shards",
        lambda self: (original(self), dealt.append(len(self.seats)))[0],
    )
    assert_same_model(undisturbed, make().fit(larger(), client=local))
    assert dealt == [2, 3]


def test_workers_that_are_lost_again_and_again_end_it(shared, impatient, monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "MOST_LOSSES", 2)
    monkeypatch.setattr(recovery, "MOST_LOSSES", 2)

    def lose(self, futures, workers):
        raise clusters.WorkersLost("tcp://1.2.3.4:5")

    calls = disturb(monkeypatch, 12, lambda workers: monkeypatch.setattr(clusters.Cluster, "collect", lose))
    with pytest.raises(ClusterError, match=r"lost 2 times in a row, the last time tcp://1.2.3.4:5.*memory.*--resume"):
        make().fit(larger(), client=shared, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert len(calls) == 12


def test_a_worker_out_of_memory_is_named_and_the_checkpoint_kept(shared, monkeypatch, tmp_path, undisturbed):
    def starve(workers):
        raise MemoryError("no room")

    original = assignment.worker.sweep_turn
    submit = clusters.Cluster.submit

    def submit_starving(self, function, *arguments, **how):
        if function is original and arguments[1] >= 4 * 12:  # turns
            return submit(self, starve, arguments[0], **how)
        return submit(self, function, *arguments, **how)

    with monkeypatch.context() as patch:
        patch.setattr(clusters.Cluster, "submit", submit_starving)
        with pytest.raises(ClusterError, match=r"too little memory for its shards.*more or larger workers.*--resume"):
            make().fit(larger(), client=shared, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert_same_model(undisturbed, make().fit(larger(), checkpoint=tmp_path / "c", resume=True))
