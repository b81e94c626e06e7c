"""Training on a Dask cluster: the same bits as in one place."""

import numpy as np
import pytest

from contracts import CASES, EMBEDDINGS, FEATURES, OFTEN, corpus
from marks import slow_after_first
from metalda import DMM, DMR, GPUDMM, LDA, LFLDA, PTM, Corpus, LabeledLDA, MetaLDA, coherence
from metalda.errors import ClusterError, InputError
from metalda.training.distributed import assignment
from metalda.training.distributed import cluster as clusters
from training.test_checkpoint import assert_same_model

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("swept_up"),
]

SHARDED = {"n_shards": 4, "random_state": 0, "verbose": False}


MODELS = {
    "MetaLDA": lambda **how: MetaLDA(3, word_features=FEATURES, **how),
    "MetaLDA with stripes": lambda **how: MetaLDA(300, word_features=FEATURES, nu=0.1, **how),
    "MetaLDA-dl-0.01": lambda **how: MetaLDA(3, word_prior=0.01, **how),
    "MetaLDA with chains": lambda **how: MetaLDA(3, word_features=FEATURES, n_chains=2, **how),
    "MetaLDA with seeds": lambda **how: MetaLDA(3, seeds={"sky": ["sun", "clou*"], "pets": ["dog"]}, **how),
    "LDA": lambda **how: LDA(3, **how),
    "DMR": lambda **how: DMR(3, **OFTEN, **how),
    "LabeledLDA": lambda **how: LabeledLDA(**how),
}


@pytest.mark.slow
@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_cluster_gives_the_wording_of_one_thread(shared, n_shards):
    documents = corpus().with_labels(["left", "right"] * 5)
    settings = {**SHARDED, "n_shards": n_shards, "n_iter": 8, "thin": 2, "n_draws": 2, "wording": "label"}
    here = MetaLDA(3, word_features=FEATURES, **settings).fit(documents)
    there = MetaLDA(3, word_features=FEATURES, **settings).fit(documents, client=shared)
    assert_same_model(here, there)
    for one, other in zip(here.draws_, there.draws_, strict=True):
        np.testing.assert_array_equal(one.extra["concentrations"], other.extra["concentrations"])
        np.testing.assert_array_equal(one.group_counts.toarray(), other.group_counts.toarray())
    np.testing.assert_array_equal(here.transform(documents), here.transform(documents, client=shared))


@pytest.mark.parametrize(("n_shards", "name"), slow_after_first([(n, name) for n in (3, 1, 5) for name in MODELS]))
def test_a_cluster_gives_the_model_of_one_thread(shared, name, n_shards):
    make = MODELS[name]
    settings = {**SHARDED, "n_shards": n_shards, "n_iter": 6, "thin": 2, "n_draws": 2}
    assert_same_model(make(**settings).fit(corpus()), make(**settings).fit(corpus(), client=shared))


@pytest.mark.slow
@pytest.mark.parametrize("seen", [True, False], ids=["seen by all", "not seen"])
def test_workers_read_a_corpus_that_they_see_for_themselves(shared, tmp_path, monkeypatch, seen):
    corpus().save(tmp_path / "corpus")
    mapped = Corpus.load(tmp_path / "corpus")
    if not seen:
        lying = _lying(clusters.Cluster.collect, "ask-file", [True, False])
        monkeypatch.setattr(clusters.Cluster, "collect", lying)
    sent, send = [], clusters.Cluster.send
    monkeypatch.setattr(clusters.Cluster, "send", lambda self, part, to: (sent.append(part), send(self, part, to))[1])
    settings = {**SHARDED, "n_iter": 5}
    assert_same_model(LDA(3, **settings).fit(corpus()), LDA(3, **settings).fit(mapped, client=shared))
    assert [isinstance(part.words, np.ndarray) for part in sent] == [not seen] * 2


def _lying(collect, name, answer):
    return lambda self, futures, workers: (
        answer if futures and futures[0].key.startswith(name) else collect(self, futures, workers)
    )


def test_many_hosts_add_their_changes_in_a_tree(monkeypatch):
    monkeypatch.setattr(assignment, "FAN_IN", 2)
    added, submit = [], clusters.Cluster.submit

    def spy(self, function, *arguments, **how):
        if function is assignment.worker.add_turns:
            added.append(len(arguments[0]))
        return submit(self, function, *arguments, **how)

    monkeypatch.setattr(clusters.Cluster, "submit", spy)
    settings = {**SHARDED, "n_iter": 3}
    how = {"n_workers": 3, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        assert_same_model(LDA(3, **settings).fit(corpus()), LDA(3, **settings).fit(corpus(), client=client))
    assert added == [2, 1] * 3 * 3  # of three hosts, in all but the first of the turns of three sweeps


@pytest.mark.slow
def test_what_a_sweep_sends_is_counted(shared):
    assignments = []
    original = assignment.DistributedAssignment.sweep

    def spy(self, *arguments):
        result = original(self, *arguments)
        assignments.append(dict(self.traffic))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment.DistributedAssignment, "sweep", spy)
        MetaLDA(3, word_prior=0.01, n_iter=3, **SHARDED).fit(corpus(), client=shared)
    assert assignments[1]["counts handed over"] > 0
    assert assignments[1]["weights"] == 2 * 8 * 3 * 4  # two hosts, three labels and the default, three topics


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        PTM(3, n_pseudo_documents=4, n_iter=2),
        DMM(3, n_iter=2),
        GPUDMM(3, embeddings=EMBEDDINGS, n_iter=2),
        LFLDA(3, embeddings=EMBEDDINGS, n_iter=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_that_cannot_be_spread_say_so(shared, model):
    with pytest.raises(InputError, match=r"runs on one machine only.*--cluster"):
        model.fit(corpus(), client=shared)


def test_a_client_must_be_a_client():
    with pytest.raises(ClusterError, match=r"must be a \(synchronous\) dask\.distributed\.Client, not 'tcp://x'"):
        LDA(2).fit(corpus(), client="tcp://x")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_transform_on_a_cluster_gives_the_same_rows(shared, case, monkeypatch):
    monkeypatch.setattr("metalda.models.transform.TOKENS_PER_TASK", 10)
    model = case.make().fit(corpus())
    np.testing.assert_array_equal(model.transform(corpus()), model.transform(corpus(), client=shared))


@pytest.mark.slow
@pytest.mark.parametrize("reference", [["a cat and a dog", "rain rain sun"] * 40, corpus()], ids=["texts", "corpus"])
def test_coherence_on_a_cluster_is_the_same(shared, reference, monkeypatch):
    monkeypatch.setattr("metalda.corpus.source._BLOCK", 3)
    topics = [["cat", "dog", "rain"], ["sun", "rain", "cloud"]]
    here = coherence(topics, reference, top_n=3)
    there = coherence(topics, reference, top_n=3, client=shared)
    np.testing.assert_array_equal(here.counts.together, there.counts.together)
    assert here.scores.tolist() == there.scores.tolist()
    assert (here.counts.n_documents, here.counts.n_windows) == (there.counts.n_documents, there.counts.n_windows)
