"""Token patterns give the tokens of `re`, and none of them can hang."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli.helpers import error_line
from metalda import LDA, Corpus, count_windows, load
from metalda.cli.app import app
from metalda.corpus import token_pattern
from metalda.corpus.schema import TOKEN_PATTERN
from metalda.corpus.token_pattern import LONGEST_PATTERN, SlowPatternError, TokenFinder
from metalda.corpus.unicode import find_words
from metalda.errors import InputError, StorageError
from metalda.storage import read_folder, write_folder

# Patterns that take exponential or polynomial time, and a text on which they do.
SLOW = {
    r"(a+)+$": "a" * 40 + "!",
    r"(a|a)*b": "a" * 40,
    r"(\w+\s?)+$": "some words " * 10 + "!",
    r"(?=(a+)+$)a": "a" * 40 + "!",
    r"\w*\w*\w*\w*$": "a" * 3000 + "!",
    r"[a-z]+@": "a" * 200_000,
    r"(?:.*.*)*=": "x" * 5000,
}
USUAL = [
    TOKEN_PATTERN,
    r"\w+",
    r"(\w)\w*",
    r"(?<!-)\b[a-z]+(?!\w)",
    r"\b[^\W\d_]+(?:['’-][^\W\d_]+)*\b",
    r"#?\w+|[^\w\s]",
    r"(?i)[A-Z]{3,}",
    r"[a-z]*",
]


@pytest.fixture
def brief(monkeypatch):
    """The limit is a fraction of a second, so that the tests are fast."""
    monkeypatch.setattr(token_pattern, "SECONDS", 0.2)
    monkeypatch.setattr(token_pattern, "CHARACTERS_PER_SECOND", 10**6)


@pytest.fixture(params=["main thread", "other thread"])
def call(request):
    """Calls a function, in the main thread or another one, where no timer can interrupt it."""
    if request.param == "main thread":
        return lambda function: function()

    def call_in_thread(function):
        found = []

        def work():
            try:
                found.append((function(), None))
            except Exception as error:
                found.append((None, error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        result, error = found[0]
        if error is not None:
            raise error
        return result

    return call_in_thread


@pytest.mark.parametrize("pattern", SLOW)
def test_a_slow_pattern_is_one_error_that_names_pattern_and_document(brief, call, pattern):
    texts = ["first", SLOW[pattern]]
    with pytest.raises(InputError) as found:
        call(lambda: Corpus.from_texts(texts, token_pattern=pattern, stop_words=None))
    message = str(found.value)
    assert message.startswith(f"corpus: document 1: token_pattern={pattern!r} takes too long on the text that begins")
    assert SLOW[pattern][:30] in message
    assert "\n" not in message


@pytest.mark.parametrize("pattern", USUAL)
def test_tokens_are_those_of_re(call, pattern):
    texts = ["It's a well-known #tag, isn’t it?", "Über 3 Wolken_x\n\tABC abc", "", "x" * 1000, "\ud83d ok ok"]
    find = call(lambda: TokenFinder(pattern))
    assert call(lambda: [find(text) for text in texts]) == [re.findall(pattern, text) for text in texts]


@pytest.mark.parametrize("pattern", [*USUAL, r"#(\w+)|\w"])
def test_places_are_those_of_the_tokens(pattern, call):
    texts = ["Don't STOP-me now, naïve #tag 42 e_f", "", "\ud83d ok ok"]
    find = call(lambda: TokenFinder(pattern))
    places = call(lambda: [find.spans(text) for text in texts])
    group = re.compile(pattern).groups
    matches = [re.finditer(pattern, text) for text in texts]
    assert places == [[found.span(group) for found in own if found.group(group)] for own in matches]
    assert call(lambda: find("a few words")) == re.findall(pattern, "a few words")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"\w*\w*\w*\w*$"])
def test_slow_patterns_end_the_search_for_places(pattern, call, brief):
    with pytest.raises(SlowPatternError):
        call(lambda: TokenFinder(pattern).spans(SLOW[pattern]))


@given(st.text(), st.sampled_from(USUAL))
def test_tokens_of_any_text_are_those_of_re(text, pattern):
    assert TokenFinder(pattern)(text) == re.findall(pattern, text)


@given(st.text(st.characters(exclude_categories=("Mn", "Mc", "Cs"))))
def test_the_default_words_are_those_of_the_default_pattern(text):
    assert find_words(text) == re.findall(TOKEN_PATTERN, text)


def test_many_texts_share_the_limit(brief):
    find = TokenFinder(r"(a+)+$")
    text = "a" * 18 + "!"  # some hundredths of a second
    with pytest.raises(SlowPatternError):
        list(map(find, [text] * 10**5))


def test_many_texts_of_a_usual_pattern_do_not_use_up_the_limit(brief):
    find = TokenFinder(r"\w+")
    for _ in range(20_000):
        find("a few words")
    assert find._seconds > 0.1


def test_the_timer_and_its_handler_are_restored(brief):
    import signal

    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers")
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(SlowPatternError):
        TokenFinder(r"(a+)+$")("a" * 40 + "!")
    TokenFinder(r"\w+")("a b")
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a" * (LONGEST_PATTERN + 1), "token_pattern has 100,001 characters, but 100,000 is the maximum"),
        ("(?:" * 5000 + "a" + ")" * 5000, "is not a regular expression: maximum recursion depth exceeded"),
        ("a{99999999999999999999}", "is not a regular expression: the repetition number is too large"),
        ("(a)(b)", "has 2 capturing groups"),
        ("[" + "b" * 50_000, "is not a regular expression: unterminated character set"),
    ],
)
def test_impossible_patterns_are_refused_in_one_short_line(pattern, message):
    with pytest.raises(InputError, match=re.escape(message)) as found:
        Corpus.from_texts(["some words"], token_pattern=pattern)
    assert len(str(found.value)) < 250


def test_large_patterns_are_possible():
    words = "|".join(f"word{i:04}" for i in range(9_000))
    assert Corpus.from_texts(["word0001 word0077 none"], token_pattern=words).vocabulary == ("word0001", "word0077")


@pytest.fixture
def tampered(tmp_path):
    """Puts another token pattern into the schema of a saved model."""
    model = LDA(2, n_iter=5).fit(Corpus.from_texts(["cat dog", "rain sun"]))
    model.save(tmp_path / "model")

    def change(pattern):
        document, arrays = read_folder(tmp_path / "model", "model")
        document["schema"]["token_pattern"] = pattern
        write_folder(tmp_path / "model", "model", document, arrays)
        return tmp_path / "model"

    return change


def test_a_slow_pattern_in_a_model_is_one_line(brief, tampered, tmp_path):
    folder = tampered(r"(a+)+$")
    with pytest.raises(InputError, match=r"document 0: token_pattern='.*' takes too long"):
        load(folder).transform(["a" * 40 + "!"])
    (tmp_path / "new.txt").write_text("cat\n" + "a" * 40 + "!\n")
    arguments = ["transform", str(folder), str(tmp_path / "new.txt"), "-o", "-"]
    line = error_line(CliRunner().invoke(app, arguments, prog_name="metalda"))
    assert "new.txt: document 1: token_pattern='(a+)+$' takes too long on the text that begins with 'aaa" in line


@pytest.mark.parametrize("pattern", ["a" * 200_000, "(?:" * 5000 + ")" * 5000, "a{9" + "9" * 20 + "}", "["])
def test_an_impossible_pattern_in_a_model_is_refused_when_it_is_loaded(tampered, pattern):
    with pytest.raises(StorageError, match="the model is damaged") as found:
        load(tampered(pattern))
    assert len(str(found.value)) < 300


def test_a_slow_pattern_ends_preparing_and_counting(brief, tmp_path):
    (tmp_path / "n.txt").write_text("cat\n" + "a" * 40 + "!\n")
    with pytest.raises(InputError, match="takes too long"):
        Corpus.prepare(tmp_path / "n.txt", tmp_path / "corpus", token_pattern=r"(a+)+$")
    for n_jobs in (1, 2):
        with pytest.raises(InputError, match="takes too long"):
            count_windows(["cat"], tmp_path / "n.txt", token_pattern=r"(a+)+$", n_jobs=n_jobs)
