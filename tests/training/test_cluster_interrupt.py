"""Ctrl-C while a cluster trains: the result so far is kept, as on one machine."""

import os
import signal

import pytest

from metalda.training.distributed import recovery
from metalda.training.distributed.cluster import WorkersLost
from training.faults import disturb, hosts, larger, make, send_signal, wait_until
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]


def fit(client, folder, resume=False):
    return make().fit(larger(), client=client, checkpoint=folder, checkpoint_every=100, resume=resume)


def press_ctrl_c(*ignored):
    signal.raise_signal(signal.SIGINT)


def press_ctrl_c_and_lose_workers(*ignored):
    press_ctrl_c()
    raise WorkersLost("gone")


def assert_kept(stopped, folder, undisturbed):
    """The model is that of fewer iterations, and the checkpoint gives the model of all of them."""
    assert stopped.transform(larger()).shape == (800, 10)
    assert len(stopped.history_) == stopped.n_iter_
    assert_same_model(undisturbed, fit(None, folder, resume=True))


def test_ctrl_c_ends_training_after_the_iteration(shared, undisturbed, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        disturb(patch, 7, press_ctrl_c)
        stopped = fit(shared, tmp_path / "c")
    assert stopped.n_iter_ == 7
    assert_kept(stopped, tmp_path / "c", undisturbed)


@pytest.mark.parametrize(("at", "n_iter"), [(1, 1), (15, 11)])
def test_workers_lost_after_ctrl_c_cost_the_iterations_since_the_snapshot(
    shared, undisturbed, monkeypatch, tmp_path, at, n_iter
):
    with monkeypatch.context() as patch:
        disturb(patch, at, press_ctrl_c_and_lose_workers)
        stopped = fit(shared, tmp_path / "c")
    assert stopped.n_iter_ == n_iter
    assert_kept(stopped, tmp_path / "c", undisturbed)


def test_a_draw_that_no_snapshot_follows_is_not_drawn_again(shared, undisturbed, monkeypatch, tmp_path):
    take, calls = recovery.Recovery.take_snapshot, []

    def take_or_fail(self):
        calls.append(1)
        if len(calls) == 2:  # the first is after iteration 10, the second after the draw of iteration 19
            press_ctrl_c_and_lose_workers()
        take(self)

    with monkeypatch.context() as patch:
        patch.setattr(recovery.Recovery, "take_snapshot", take_or_fail)
        stopped = fit(shared, tmp_path / "c")
    assert (stopped.n_iter_, len(stopped.draws_)) == (20, 2)  # one more iteration, on this machine
    assert_kept(stopped, tmp_path / "c", undisturbed)


def test_ctrl_c_that_reaches_the_workers_too_loses_nothing(local, impatient, undisturbed, monkeypatch, tmp_path):
    """As in a terminal, if a program has started the workers. They may or may not finish the iteration."""
    with monkeypatch.context() as patch:
        disturb(patch, 12, lambda workers: (send_signal(local, signal.SIGINT, 2)(workers), press_ctrl_c()))
        stopped = fit(local, tmp_path / "c")
    assert stopped.n_iter_ in (11, 12)
    assert_kept(stopped, tmp_path / "c", undisturbed)


def test_ctrl_c_while_no_worker_is_left_ends_the_wait(shared, monkeypatch, tmp_path, undisturbed):
    from metalda.training.distributed.cluster import Cluster

    asked = []

    def none(self):
        asked.append(1)
        if len(asked) == 3:
            press_ctrl_c()
        return {}

    def lose(workers):
        patch.setattr(Cluster, "workers", none)
        raise WorkersLost("gone")

    with monkeypatch.context() as patch:
        disturb(patch, 12, lose)
        stopped = fit(shared, tmp_path / "c")
    assert (stopped.n_iter_, len(asked)) == (11, 3)
    assert_kept(stopped, tmp_path / "c", undisturbed)


def test_a_second_ctrl_c_raises_and_leaves_nothing_on_the_workers(shared, undisturbed, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        disturb(patch, 12, lambda workers: (press_ctrl_c(), press_ctrl_c()))
        with pytest.raises(KeyboardInterrupt):
            make().fit(larger(), client=shared, checkpoint=tmp_path / "c", checkpoint_every=5)
    assert os.listdir(tmp_path / "c").count(".lock") == 0
    wait_until(lambda: not hosts(shared))
    resumed = make().fit(larger(), client=shared, checkpoint=tmp_path / "c", resume=True)
    assert_same_model(undisturbed, resumed)
