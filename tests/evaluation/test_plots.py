"""Effects as a picture."""

import io
import sys
import warnings

import numpy as np
import pytest

from contracts import FEATURES, PETS, QUICK, SKIES
from metalda import LDA, MetaLDA, plot_effects
from metalda.errors import InputError, MissingExtraError

HOSTILE = [
    "$x^2$",
    "$\\frac{$",
    "_hidden",
    "a" * 500,
    "שלום עולם",
    "line\nbreak\x1b[31m\u202e",
    "a$b$c$",
    'tab\tquote"',
]


@pytest.fixture(scope="module")
def model():
    return MetaLDA(3, word_features=FEATURES, **QUICK).fit(PETS + SKIES, ["pets"] * 5 + ["sky"] * 5)


def _drawn(ax):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        ax.figure.savefig(file, format="png", dpi=40)
    return file.getvalue()


def test_a_forest_has_the_intervals_of_the_table(model):
    ax = plot_effects(model, "sky", [0, 2], interval=0.5)
    table = model.label_effects(interval=0.5)
    expected = table[(table["label"] == "sky") & table["topic"].isin([0, 2])]
    (container,) = ax.containers
    np.testing.assert_allclose(container.lines[0].get_xdata(), expected["effect"])
    segments = np.array(container.lines[2][0].get_segments())
    np.testing.assert_allclose(segments[:, :, 0], expected[["low", "high"]])
    words = ", ".join(model.topic_words(2, 3)["word"])
    assert [text.get_text() for text in ax.get_yticklabels()][1] == f"topic2: {words}"
    assert "6 draws" in ax.get_xlabel()
    assert _drawn(ax)


def test_many_effects_are_a_heat_map(model, monkeypatch):
    assert not plot_effects(model).images
    monkeypatch.setattr("metalda.evaluation.plots.MAX_INTERVALS", 5)
    ax = plot_effects(model)
    table = model.label_effects()
    np.testing.assert_allclose(ax.images[0].get_array(), table["effect"].to_numpy().reshape(2, 3).T)
    assert _drawn(ax)
    assert _drawn(plot_effects(model, features=True, style="heatmap"))


def test_a_contrast_names_both_sides(model):
    ax = plot_effects(model, contrast=("sky", "pets"))
    assert ax.get_title() == "sky vs. pets"
    np.testing.assert_allclose(ax.containers[0].lines[0].get_xdata(), model.label_contrasts("sky", "pets")["effect"])
    with pytest.raises(InputError, match="forest"):
        plot_effects(model, contrast=("sky", "pets"), style="heatmap")
    with pytest.raises(InputError, match="not both"):
        plot_effects(model, "sky", contrast=("sky", "pets"))


def test_axes_that_are_given_are_used(model):
    from matplotlib.figure import Figure

    own = Figure().add_subplot()
    assert plot_effects(model, ax=own) is own


@pytest.mark.parametrize("style", ["forest", "heatmap"])
def test_hostile_labels_are_drawn_as_they_are(style):
    labels = HOSTILE + HOSTILE[:2]
    texts = [f"{text} $w_1$" for text in PETS + SKIES]
    model = MetaLDA(2, **QUICK).fit([text.split() for text in texts], labels)
    ax = plot_effects(model, HOSTILE, style=style)
    shown = [t.get_text() for t in (ax.get_legend().get_texts() if style == "forest" else ax.get_xticklabels())]
    assert len(shown) == len(HOSTILE)
    assert shown[0].strip("\u200b") == "$x^2$"
    assert shown[2].strip("\u200b") == "_hidden"
    assert max(map(len, shown)) <= 41
    assert not any("\n" in text or "\x1b" in text for text in shown)
    assert _drawn(ax)
    assert _drawn(plot_effects(model, contrast=(HOSTILE[0], HOSTILE[3])))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "pet"}, "did you mean 'pets'"),
        ({"topics": [3]}, "no topic 3"),
        ({"style": "pie"}, "style must be"),
        ({"interval": 2}, "interval"),
    ],
)
def test_what_is_not_there_is_one_line(model, options, message):
    with pytest.raises(InputError, match=message):
        plot_effects(model, **options)


def test_models_without_effects_and_machines_without_matplotlib_say_so(model, monkeypatch):
    with pytest.raises(InputError, match="does not learn from labels"):
        plot_effects(LDA(2, **QUICK).fit(PETS))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'metalda\[plot\]'"):
        plot_effects(model)
