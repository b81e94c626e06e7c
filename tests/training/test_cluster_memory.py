"""Workers get their memory back as soon as it is not needed, without waiting for Python's collector."""

import asyncio
import logging
import signal

import pytest

from metalda.training.distributed import cluster as clusters
from training.faults import disturb, hosts, larger, make, send_signal, wait_until
from training.test_checkpoint import assert_same_model

pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]


def test_a_worker_that_is_told_to_leave_can_go(local, undisturbed, monkeypatch, caplog, without_collector):
    """Hosts cannot be moved: Dask waits until we take ours away."""

    def retire(workers):
        request = local.retire_workers([workers[-1]], asynchronous=True)
        asyncio.run_coroutine_threadsafe(request, local.loop.asyncio_loop)
        wait_until(lambda: "closing_gracefully" in _statuses(local))

    disturb(monkeypatch, 7, retire)
    with caplog.at_level(logging.WARNING, logger="metalda"):
        assert_same_model(undisturbed, make().fit(larger(), client=local))
    assert "Lost workers" in caplog.text
    wait_until(lambda: "closing_gracefully" not in _statuses(local))


def _statuses(client):
    return [worker["status"] for worker in client.sync(client.scheduler.identity)["workers"].values()]


def test_workers_get_their_memory_back_at_once(shared, monkeypatch, undisturbed, without_collector):
    monkeypatch.setattr(clusters, "LOOK_EVERY", 0.001)  # so that nearly every wait runs out of time
    assert_same_model(undisturbed, make().fit(larger(), client=shared))
    wait_until(lambda: not hosts(shared))


def test_hosts_that_were_dealt_in_vain_go_at_once(local, impatient, monkeypatch, without_collector):
    held = []
    disturb(monkeypatch, 1, send_signal(local, signal.SIGKILL), work="ready")
    disturb(monkeypatch, 1, lambda workers: held.extend(hosts(local)))
    make().fit(larger(), client=local)
    assert len(held) in (1, 2)  # the worker that was killed may be back
    wait_until(lambda: not hosts(local))


def test_workers_that_remain_get_their_memory_back_after_a_loss(shared, monkeypatch, without_collector):
    kept, held = [], []

    def lose(workers):
        try:
            raise clusters.WorkersLost("tcp://1.2.3.4:5")
        except clusters.WorkersLost as loss:
            kept.append(loss)  # and with it the futures of those who wait
            raise

    disturb(monkeypatch, 12, lose)
    disturb(monkeypatch, 15, lambda workers: held.extend(hosts(shared)))
    make().fit(larger(), client=shared)
    assert kept
    assert len(held) == 2
    wait_until(lambda: not hosts(shared))
