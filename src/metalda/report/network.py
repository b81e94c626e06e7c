"""The network of topics and words as a GEXF file, for Gephi and networkx."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from metalda.errors import InputError
from metalda.models.estimator import require_fitted
from metalda.storage import replacing
from metalda.utils.arguments import as_number

if TYPE_CHECKING:
    from metalda.models.base import TopicModel

_NAMESPACE = "http://www.gexf.net/1.2draft"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_ATTRIBUTES = (("kind", "string"), ("share", "double"), ("words", "string"))
_EDGE_ATTRIBUTES = (("kind", "string"), ("low", "double"), ("high", "double"))


def write_network(
    model: TopicModel,
    path: str | os.PathLike[str],
    corpus: Any = None,
    *,
    top_n: int = 10,
    min_correlation: float = 0.05,
    interval: float = 0.8,
) -> None:
    """Write the topics of a model and their words as a network in the format GEXF, which Gephi opens.

    Topics are connected with their most probable words, weighted by the probability, and with the topics that occur in
    the same documents, weighted by the correlation of their proportions. Nodes and edges have the attribute `kind`.
    Negative correlations are left out, because a layout cannot use them.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    path : path-like
        The file, with the suffix .gexf, written atomically.
    corpus : Corpus, or any other input of `transform`, optional
        Documents for `topic_correlations`, as intervals need them.
    top_n : int
        Words per topic.
    min_correlation : float
        The smallest correlation of topics that are connected.
    interval : float
        Probability of the intervals of correlations.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from metalda import LDA, write_network
    >>> model = LDA(2, n_iter=20, random_state=0, verbose=False).fit(["cat dog cat", "dog cat", "rain sun", "sun rain"])
    >>> with TemporaryDirectory() as folder:
    ...     write_network(model, Path(folder, "topics.gexf"))
    """
    require_fitted(model)
    if not 0 < as_number(min_correlation) <= 1:
        raise InputError(f"min_correlation must lie between 0 and 1, not {min_correlation!r}")
    if Path(path).suffix.lower() != ".gexf":
        raise InputError(f"{path}: the name must end in .gexf")
    root = ElementTree.Element("gexf", {"xmlns": _NAMESPACE, "version": "1.2"})
    graph = ElementTree.SubElement(root, "graph", {"defaultedgetype": "undirected", "mode": "static"})
    _declare(graph, "node", _NODE_ATTRIBUTES)
    _declare(graph, "edge", _EDGE_ATTRIBUTES)
    nodes, edges = ElementTree.SubElement(graph, "nodes"), ElementTree.SubElement(graph, "edges")
    topics = model.topics(top_n).to_dict("records")
    names = [str(name) for name in model.get_feature_names_out()]
    for row, name in zip(topics, names, strict=True):
        values = ("topic", float(row["share"]), " ".join(row["words"]))
        _add(nodes, "node", {"id": f"topic {row['topic']}", "label": name}, values)
    words = model.words_frame(top_n).to_dict("records")
    ids = {word: f"word {i}" for i, word in enumerate(dict.fromkeys(row["word"] for row in words))}
    for word, own in ids.items():
        _add(nodes, "node", {"id": own, "label": word}, ("word", None, None))
    for row in words:
        ends = {"source": f"topic {row['topic']}", "target": ids[row["word"]]}
        _add(edges, "edge", {**ends, "weight": f"{row['probability']:.6g}"}, ("word", None, None))
    for row in model.topic_correlations(corpus, interval=interval).to_dict("records"):
        if row["correlation"] >= min_correlation:
            ends = {"source": f"topic {row['topic']}", "target": f"topic {row['other_topic']}"}
            limits = ("correlation", float(row["low"]), float(row["high"]))
            _add(edges, "edge", {**ends, "weight": f"{row['correlation']:.6g}"}, limits)
    for number, edge in enumerate(edges):
        edge.set("id", str(number))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    with replacing(Path(path), "xb") as file:
        file.write(text)


def _declare(graph: ElementTree.Element, kind: str, attributes: tuple[tuple[str, str], ...]) -> None:
    declared = ElementTree.SubElement(graph, "attributes", {"class": kind})
    for number, (title, type_) in enumerate(attributes):
        ElementTree.SubElement(declared, "attribute", {"id": str(number), "title": title, "type": type_})


def _add(parent: ElementTree.Element, tag: str, fields: dict[str, str], values: tuple[str | float | None, ...]) -> None:
    """Add a node or an edge with the values of its attributes; None and NaN are left out."""
    element = ElementTree.SubElement(parent, tag, {name: _xml(value) for name, value in fields.items()})
    given = [(number, value) for number, value in enumerate(values) if value is not None and value == value]
    own = ElementTree.SubElement(element, "attvalues")
    for number, value in given:
        text = f"{value:.6g}" if isinstance(value, float) else _xml(value)
        ElementTree.SubElement(own, "attvalue", {"for": str(number), "value": text})


def _xml(text: str) -> str:
    """Replace the characters that XML cannot contain."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
