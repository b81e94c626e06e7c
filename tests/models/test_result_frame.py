"""Tables of topics and effects in notebooks: compact, escaped, and otherwise those of pandas."""

import pickle
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from contracts import PETS, QUICK, SKIES
from metalda import MetaLDA
from metalda.models.result_frame import ResultFrame

HOSTILE = '<script>alert("1")</script>&amp;'


class Table(HTMLParser):
    """The cells of a table, and the styles of its rows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.styles: list[str] = []
        self.tags: set[str] = set()
        self.is_over = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
            self.styles.append(dict(attrs).get("style") or "")
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_over |= tag == "table"

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and not self.is_over:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def model() -> MetaLDA:
    fitted = MetaLDA(3, **{**QUICK, "n_iter": 60}).fit(PETS + SKIES, ["pets"] * 5 + [HOSTILE] * 5)
    assert isinstance(fitted, MetaLDA)
    return fitted.rename({0: HOSTILE})


def table_of(frame: pd.DataFrame) -> Table:
    assert isinstance(frame, ResultFrame)
    return Table(frame._repr_html_() or "")


def test_topics_have_bold_names_words_and_bars(model: MetaLDA) -> None:
    frame = model.topics(3)
    shown = table_of(frame)
    assert shown.rows[0] == ["topic", "share", "words"]
    assert shown.rows[1][0] == f"0 {HOSTILE}"
    assert shown.rows[2][2] == ", ".join(frame["words"][1])
    assert shown.rows[1][1].strip() == f"{frame['share'][0]:.1%}"
    widths = [float(each) for each in re.findall(r"width: ([\d.]+)em", frame._repr_html_() or "")]
    assert widths == pytest.approx((4 * frame["share"] / frame["share"].max()).tolist(), abs=0.01)
    assert shown.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "b", "bdi", "span", "p"}


def test_effects_have_their_intervals_and_uncertain_rows_are_faint(model: MetaLDA) -> None:
    frame = model.label_effects()
    frame.loc[0, ["low", "high"]] = -0.1, 0.2
    frame.loc[1, ["low", "high"]] = 0.1, 0.2
    shown = table_of(frame)
    assert shown.rows[0] == ["label", "topic", "difference (%)", "effect (log)", "proportion"]
    words = ", ".join(model.top_words(3)[1])
    for row, style, own in zip(shown.rows[1:], shown.styles[1:], frame.to_dict("records"), strict=True):
        assert row[3] == f"{own['effect']:+.2f} ({own['low']:+.2f} to {own['high']:+.2f})"
        assert ("opacity" in style) == (own["low"] <= 0 <= own["high"])
        assert row[0] == own["label"]
        if own["topic"] == 1:
            assert row[1] == f"1 {words}"


def test_contrasts_and_proportions_have_the_display_too(model: MetaLDA) -> None:
    assert table_of(model.label_contrasts("pets", HOSTILE)).rows[0] == ["first", "second", "topic", "effect (log)"]
    proportions = model.label_proportions()
    own = proportions.iloc[0]
    assert table_of(proportions).rows[1][2] == f"{own['proportion']:.1%} ({own['low']:.1%} to {own['high']:.1%})"


def test_sorted_filtered_extended_and_pickled_tables_keep_the_display(model: MetaLDA) -> None:
    effects = model.label_effects()
    assert table_of(effects.sort_values("effect").head(2)).rows[0] == table_of(effects).rows[0]
    assert "x <y>" in table_of(effects.assign(**{"x <y>": 1.5})).rows[0]
    again = pickle.loads(pickle.dumps(effects))
    assert again._repr_html_() == effects._repr_html_()
    assert again.attrs == effects.attrs == {"n_draws": effects.attrs["n_draws"]}


def test_everything_else_is_a_data_frame_of_pandas(model: MetaLDA) -> None:
    effects = model.label_effects()
    plain = pd.DataFrame(effects)
    assert type(plain) is pd.DataFrame
    assert repr(effects) == repr(plain)
    pd.testing.assert_frame_equal(effects, plain)
    for other in (effects[["label", "low"]], effects.T, effects.set_index("topic"), pd.concat([effects] * 2, axis=1)):
        assert other._repr_html_() == pd.DataFrame(other)._repr_html_()
    assert type(model.topics(format="wide")) is pd.DataFrame


def test_the_options_of_pandas_hold(model: MetaLDA) -> None:
    effects = model.label_effects()
    with pd.option_context("display.max_rows", 5, "display.min_rows", 3):
        shown = table_of(effects)
        assert len(shown.rows) == 1 + 3 + 1
        assert shown.rows[3] == ["…"]
        assert shown.rows[4] == table_of(effects.tail(1)).rows[1]
    with pd.option_context("display.notebook_repr_html", False):
        assert effects._repr_html_() is None


def test_missing_effects_and_intervals_are_dashes_or_absent(model: MetaLDA) -> None:
    effects = model.label_effects().head(2)
    effects.loc[0, ["effect", "low", "high"]] = float("nan")
    effects.loc[1, ["low", "high"]] = float("nan")
    shown = table_of(effects)
    assert [row[3] for row in shown.rows[1:]] == ["–", f"{effects['effect'][1]:+.2f}"]
    assert not any(shown.styles)
    assert table_of(effects.head(0)).rows == [shown.rows[0]]
