"""The network of topics and words opens with networkx, whatever the words are."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from contracts import QUICK, quietly
from hostile import HOSTILE
from metalda import LDA, Corpus, write_network
from metalda.errors import InputError
from metalda.models.base import TopicModel


@pytest.fixture(scope="module")
def documents() -> Corpus:
    rng = np.random.default_rng(0)
    groups = [["cat", "dog", "cow"], ["rain", "sun", "fog"], ["tax", "bank", "loan"]]
    pairs = [(0, 1), (0, 1), (2, 2)]  # topics 0 and 1 occur together
    return Corpus.from_tokens([[str(rng.choice(groups[k])) for k in pairs[d % 3] * 12] for d in range(60)])


@pytest.fixture(scope="module")
def model(documents: Corpus) -> TopicModel:
    return LDA(3, doc_prior=0.5, **{**QUICK, "n_iter": 60, "n_draws": 12, "thin": 1}).fit(documents)


def test_the_network_opens_with_networkx(model: TopicModel, documents: Corpus, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    write_network(model, tmp_path / "n.gexf", documents, top_n=2)
    graph = networkx.read_gexf(tmp_path / "n.gexf")
    kinds, labels = dict(graph.nodes(data="kind")), dict(graph.nodes(data="label"))
    assert list(kinds.values()).count("topic") == 3
    words = {(row["topic"], row["word"]): row["probability"] for row in model.words_frame(2).to_dict("records")}
    assert list(kinds.values()).count("word") == len({word for _, word in words})
    found = {
        (int(min(a, b).removeprefix("topic ")), labels[max(a, b)]): weight
        for a, b, weight in graph.edges(data="weight")
        if kinds[a] != kinds[b]
    }
    assert found == pytest.approx(words, rel=1e-4)
    pairs = model.topic_correlations(documents).to_dict("records")
    strong = [row for row in pairs if row["correlation"] >= 0.05]
    for row in pairs:
        ends = f"topic {row['topic']}", f"topic {row['other_topic']}"
        assert graph.has_edge(*ends) == (row in strong)
        if row in strong:
            edge = graph.edges[ends]
            assert edge["weight"] == pytest.approx(row["correlation"], rel=1e-4)
            assert (edge["low"], edge["high"]) == pytest.approx((row["low"], row["high"]), rel=1e-4)


@pytest.mark.parametrize("has_corpus", [True, False])
def test_hostile_words_make_valid_xml(has_corpus: bool, tmp_path: Path) -> None:
    words = [*HOSTILE, "nul\x00", "\x1b[31m", "a&b", "<b>", '"', "\ufffe", "🙂"]
    documents = Corpus.from_tokens([[word, *words[:3]] for word in words])
    model = LDA(2, **QUICK).fit(documents)
    quietly(write_network, model, tmp_path / "n.gexf", documents if has_corpus else None, top_n=99)
    root = ElementTree.parse(tmp_path / "n.gexf").getroot()
    labels = {node.get("label") for node in root.iter("{http://www.gexf.net/1.2draft}node")}
    assert {"a&b", "<b>", '"', "🙂", "nul\ufffd"} <= labels


def test_words_that_xml_cannot_tell_apart_have_their_own_nodes(tmp_path: Path) -> None:
    model = LDA(2, **QUICK).fit(Corpus.from_tokens([["a\x01", "a\x02", "b"]] * 4))
    quietly(write_network, model, tmp_path / "n.gexf")
    root = ElementTree.parse(tmp_path / "n.gexf").getroot()
    nodes = list(root.iter("{http://www.gexf.net/1.2draft}node"))
    assert len({node.get("id") for node in nodes}) == len(nodes) == 5
    assert sorted(str(node.get("label")) for node in nodes)[:3] == ["a\ufffd", "a\ufffd", "b"]


def test_other_suffixes_are_refused(model: TopicModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"n\.csv: the name must end in \.gexf"):
        write_network(model, tmp_path / "n.csv")
    assert not list(tmp_path.iterdir())


def test_wrong_limits_are_one_line(model: TopicModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="min_correlation must lie between 0 and 1, not 2"):
        write_network(model, tmp_path / "n.gexf", min_correlation=2)
    assert not list(tmp_path.iterdir())
