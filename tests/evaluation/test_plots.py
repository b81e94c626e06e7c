"""Effects and prevalence as pictures."""

import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from contracts import FEATURES, PETS, QUICK, SKIES
from metalda import DMR, LDA, Corpus, MetaLDA, plot_effects, plot_prevalence
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


def _points(ax):
    """The factors of a forest plot by row of the axis: effect, low, high, and color."""
    found = {}
    for container in ax.containers:
        line, segments = container.lines[0], container.lines[2][0].get_segments()
        for x, y, segment in zip(line.get_xdata(), line.get_ydata(), segments, strict=True):
            found[round(float(y), 6)] = (x, *np.array(segment)[:, 0], line.get_color())
    return [found[y] for y in sorted(found)]


def test_a_forest_has_the_intervals_of_the_table_as_factors(model):
    ax = plot_effects(model, "sky", [0, 2], interval=0.5)
    table = model.label_effects(interval=0.5)
    expected = table[(table["label"] == "sky") & table["topic"].isin([0, 2])].sort_values("effect", ascending=False)
    drawn = _points(ax)
    np.testing.assert_allclose([row[:3] for row in drawn], np.exp(expected[["effect", "low", "high"]]))
    for row, low, high in zip(drawn, expected["low"], expected["high"], strict=True):
        assert (row[3] == "0.7") is bool(low <= 0 <= high)
    assert ax.get_xscale() == "log"
    assert "1×" in [text.get_text() for text in ax.get_xticklabels()]
    topic = expected["topic"].iloc[1]
    words = ", ".join(model.topic_words(topic, 3)["word"])
    assert [text.get_text() for text in ax.get_yticklabels()][1] == f"topic{topic}: {words}"
    assert "6 draws" in ax.get_xlabel()
    assert _drawn(ax)


def test_uncertain_effects_are_gray(model, monkeypatch):
    table = model.label_effects()
    table[["effect", "low", "high"]] = [[0.5, 0.1, 0.9], [0.2, -0.1, 0.5], [-0.7, -0.9, -0.2]] * 2
    monkeypatch.setattr(type(model), "label_effects", lambda self, interval: table)
    drawn = _points(plot_effects(model, "pets"))
    assert [row[3] for row in drawn] == ["C0", "0.7", "C0"]
    assert [row[0] for row in drawn] == pytest.approx(np.exp([0.5, 0.2, -0.7]))


def test_many_effects_are_a_heat_map(model, monkeypatch):
    assert not plot_effects(model).images
    monkeypatch.setattr("metalda.evaluation.plots.MAX_INTERVALS", 5)
    ax = plot_effects(model)
    table = model.label_effects()
    np.testing.assert_allclose(ax.images[0].get_array(), table["effect"].to_numpy().reshape(2, 3).T)
    bar = ax.images[0].colorbar.ax
    assert "1×" in [text.get_text() for text in bar.get_yticklabels()]
    assert _drawn(ax)
    assert _drawn(plot_effects(model, features=True, style="heatmap"))


def test_a_contrast_names_both_sides(model):
    ax = plot_effects(model, contrast=("sky", "pets"), interval=0.5)
    assert ax.get_title() == "sky vs. pets"
    expected = np.exp(model.label_contrasts("sky", "pets", interval=0.5)["effect"].sort_values(ascending=False))
    np.testing.assert_allclose([row[0] for row in _points(ax)], expected)
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


@pytest.fixture(scope="module")
def films():
    frame = pd.DataFrame(
        {"text": (PETS + SKIES) * 4, "year": range(1980, 2020), "genre": ["Drama", "War", "$x^2$", "Drama", "War"] * 8}
    )
    return Corpus.from_frame(frame, labels="genre", numbers="year")


@pytest.fixture(scope="module")
def curved(films):
    return MetaLDA(3, prevalence="genre * s(year, df=3)", **{**QUICK, "n_iter": 40}).fit(films)


def test_curves_have_the_bands_of_the_table(curved):
    axes = plot_prevalence(curved, "year", "genre", [0, 2], at={"genre": ["War", "Drama"]}, interval=0.8, n_points=5)
    table = curved.prevalence_at({"year": [1980, 1989.8, 1999.5, 2009.2, 2019], "genre": ["War", "Drama"]}, 0.8)
    own = table[(table["topic"] == 2) & (table["genre"] == "Drama")]
    assert len(axes) == 2
    line, band = axes[1].lines[1], axes[1].collections[1]
    np.testing.assert_allclose(line.get_xydata(), own[["year", "mean"]])
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(own["low"].min())
    assert corners[:, 1].max() == pytest.approx(own["high"].max())
    assert line.get_color() == "C1"
    words = ", ".join(curved.topic_words(2, 3)["word"])
    assert (axes[1].get_title(), axes[1].get_xlabel()) == (f"topic2: {words}", "year")
    assert [text.get_text().strip("\u200b") for text in axes[0].figure.legends[0].get_texts()] == ["War", "Drama"]
    assert "80% interval" in axes[0].figure.get_suptitle()
    assert _drawn(axes[0])


def test_labels_are_points_with_intervals(curved):
    axes = plot_prevalence(curved, "genre", interval=0.5)
    table = curved.prevalence_at({"genre": ["$x^2$", "Drama", "War"]}, 0.5)
    own = table[table["topic"] == 1]
    (container,) = axes[1].containers
    np.testing.assert_allclose(container.lines[0].get_ydata(), own["mean"])
    np.testing.assert_allclose(np.array(container.lines[2][0].get_segments())[:, :, 1], own[["low", "high"]])
    assert [text.get_text() for text in axes[1].get_xticklabels()] == ["$x^2$", "Drama", "War"]
    assert not axes[0].figure.legends
    assert _drawn(axes[0])


def test_a_contrast_is_drawn_from_the_first_value(curved):
    axes = plot_prevalence(curved, "year", "genre", 1, at={"genre": ["War", "Drama"]}, contrast=True, n_points=3)
    table = curved.prevalence_at({"year": [1980, 2000, 2019], "genre": ["War", "Drama"]}, contrast="genre")
    np.testing.assert_allclose(axes[0].lines[0].get_ydata(), table[table["topic"] == 1]["mean"])
    assert "difference from War" in axes[0].figure.get_suptitle()


def test_few_topics_and_few_labels_are_drawn_by_default(curved, monkeypatch):
    monkeypatch.setattr("metalda.evaluation.plots.MAX_PANELS", 2)
    monkeypatch.setattr("metalda.models.prevalence.MAX_LINES", 2)
    axes = plot_prevalence(curved, "year", "genre", n_points=3)
    assert [len(ax.lines) for ax in axes] == [2, 2]
    assert {text.get_text().strip("\u200b") for text in axes[0].figure.legends[0].get_texts()} == {"Drama", "War"}


def test_dmr_has_curves_without_bands(films):
    model = DMR(
        2, prevalence="genre + year", n_iter=8, optimize_burn_in=4, optimize_interval=2, random_state=0, verbose=False
    ).fit(films)
    axes = plot_prevalence(model, "year", "genre")
    assert [(len(ax.lines), len(ax.collections)) for ax in axes] == [(3, 0)] * 2
    assert np.ptp(axes[0].lines[0].get_xdata()) == pytest.approx(39)
    assert "interval" not in axes[0].figure.get_suptitle()
    assert _drawn(plot_prevalence(model, "genre", "year")[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "decade"}, "no column 'decade'; it has 'genre', 'year'"),
        ({"by": "studio"}, "no column 'studio'"),
        ({"by": "year"}, "give two columns"),
        ({"topics": [3]}, "no topic 3"),
        ({"interval": 2}, "interval"),
        ({"n_points": 1}, "n_points"),
        ({"at": {"genre": ["War", "Drama"]}}, "give one, or draw a line for each"),
        ({"at": {"genre": ["Wra"]}}, "did you mean"),
        ({"at": {"year": ["old"]}}, "is a number, and 'old' is not"),
    ],
)
def test_prevalence_that_cannot_be_drawn_is_one_line(curved, options, message):
    with pytest.raises(InputError, match=message):
        plot_prevalence(curved, **{"over": "year", **options})


def test_prevalence_needs_columns(model):
    with pytest.raises(InputError, match="no column 'year'; it has 'label'"):
        plot_prevalence(model, "year")
    assert len(plot_prevalence(model, "label")) > 0
    with pytest.raises(InputError, match="does not learn from labels"):
        plot_prevalence(LDA(2, **QUICK).fit(PETS), "year")
