"""A training that takes a moment, and ways to disturb it."""

import os
import time

import numpy as np

from metalda import Corpus, MetaLDA
from metalda.training.distributed import cluster as clusters

FAULTY = {"n_shards": 4, "random_state": 0, "verbose": False, "n_iter": 24, "thin": 5, "n_draws": 2}


def larger():
    """Enough documents that a sweep takes a moment."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 300, 40_000)
    documents = [[f"w{w}" for w in part] for part in np.split(words, 800)]
    return Corpus.from_tokens(documents, [[f"label{i % 5}"] for i in range(800)])


def make():
    return MetaLDA(10, word_prior="default", **FAULTY)


def disturb(monkeypatch, at, act, work="sweep-tokens", when="collect"):
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


def send_signal(client, which, n_workers=1):
    def send(workers):
        for pid in client.run(os.getpid, workers=workers[-n_workers:]).values():
            os.kill(pid, which)

    return send


def hosts(client):
    return [key for keys in client.has_what().values() for key in keys if str(key).startswith("host")]


def wait_until(is_true, seconds=300):
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
