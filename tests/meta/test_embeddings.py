"""Embeddings: reading every format, the paper's binarization, and one line for each kind of bad file."""

import bz2
import copy
import gzip
import lzma
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metalda.errors import InputError, StorageError
from metalda.meta import Embeddings, WordFeatures

WORDS = ("cat", "dog", "naïve")
VECTORS = np.array([[1.5, -2.0, 0.25], [0.5, 0.125, -1.0], [-3.0, 4.0, 8.0]], dtype=np.float32)
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def glove_bytes():
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, VECTORS, strict=True)).encode()


def word2vec_bytes():
    return b"3 3\n" + glove_bytes().replace(b"\n", b" \n")  # the C tool ends every line with a space


def binary_bytes(newline=b"\n"):
    rows = zip(WORDS, VECTORS.astype("<f4"), strict=True)
    return b"3 3\n" + b"".join(word.encode() + b" " + row.tobytes() + newline for word, row in rows)


CONTENTS = {"v.txt": glove_bytes(), "v.vec": word2vec_bytes(), "v.bin": binary_bytes(), "unnamed": binary_bytes(b"")}


def write(folder, content, name="v.txt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def error_of(path, **options):
    with pytest.raises(InputError) as caught:
        Embeddings.read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_in_every_compression_gives_the_same_vectors(tmp_path, name, compression):
    path = write(tmp_path, COMPRESS[compression](CONTENTS[name]), name + compression)
    embeddings = Embeddings.read(path)
    assert embeddings.words == WORDS
    np.testing.assert_array_equal(embeddings.vectors, VECTORS)


@pytest.mark.parametrize("name", CONTENTS)
def test_a_vocabulary_keeps_its_words_in_the_order_of_the_file(tmp_path, name):
    embeddings = Embeddings.read(write(tmp_path, CONTENTS[name], name), vocabulary=["naïve", "unknown", "cat"])
    assert embeddings.words == ("cat", "naïve")
    np.testing.assert_array_equal(embeddings.vectors, VECTORS[[0, 2]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f8"])
def test_npy_with_a_words_file_is_read_by_row(tmp_path, dtype):
    np.save(tmp_path / "v.npy", VECTORS.astype(dtype))
    words = write(tmp_path, "\n".join(WORDS), "words.txt")
    assert Embeddings.read(tmp_path / "v.npy", words=words).words == WORDS
    embeddings = Embeddings.read(str(tmp_path / "v.npy"), words=str(words), vocabulary={"dog"})
    assert embeddings.words == ("dog",)
    np.testing.assert_array_equal(embeddings.vectors, VECTORS[[1]])


def test_vectors_are_read_only_float32(tmp_path):
    for embeddings in (Embeddings.read(write(tmp_path, glove_bytes())), Embeddings(WORDS, VECTORS.astype(float))):
        assert embeddings.vectors.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            embeddings.vectors[0, 0] = 1


def test_the_callers_array_is_neither_frozen_nor_shared():
    mine = VECTORS.copy()
    embeddings = Embeddings(WORDS, mine)
    mine[0, 0] = 99
    assert embeddings.vectors[0, 0] == 1.5


def test_words_with_spaces_take_the_last_numbers_of_their_line(tmp_path):
    path = write(tmp_path, "a 1 2\n. . . 3 4\nat name@domain.com 5 6\n")
    embeddings = Embeddings.read(path)
    assert embeddings.words == ("a", ". . .", "at name@domain.com")
    np.testing.assert_array_equal(embeddings.vectors, [[1, 2], [3, 4], [5, 6]])
    assert Embeddings.read(path, vocabulary=["at name@domain.com", "at", "."]).words == ("at name@domain.com",)


def test_a_phrase_that_ends_in_a_number_is_read_if_the_vocabulary_asks_for_it(tmp_path):
    path = write(tmp_path, "a 1 2\nroute 66 3 4\n")
    assert Embeddings.read(path, vocabulary=["route 66"]).words == ("route 66",)


def test_the_first_of_duplicates_wins(tmp_path):
    embeddings = Embeddings.read(write(tmp_path, "a 1 2\nb 3 4\na 5 6\n"))
    assert embeddings.words == ("a", "b")
    np.testing.assert_array_equal(embeddings.vectors, [[1, 2], [3, 4]])


def test_byte_order_mark_blank_lines_and_windows_line_ends_do_not_matter(tmp_path):
    embeddings = Embeddings.read(write(tmp_path, b"\xef\xbb\xbfa 1 2\r\n\r\nb 3 4\r\n"))
    assert embeddings.words == ("a", "b")
    np.testing.assert_array_equal(embeddings.vectors, [[1, 2], [3, 4]])


def test_the_format_can_be_forced(tmp_path):
    path = write(tmp_path, "1999 7\n2000 8\n")  # one-dimensional vectors of numbers: looks like a header
    assert Embeddings.read(path, format="glove").words == ("1999", "2000")
    assert "choose from" in error_of(path, format="fasttext")


def test_word2vec_text_in_another_encoding_is_not_taken_for_binary(tmp_path):
    path = write(tmp_path, "2 2\nnaïve 1 2\nb 3 4\n".encode("latin-1"))
    assert "line 2: the word is not UTF-8" in error_of(path)
    assert Embeddings.read(path, vocabulary=["b"]).words == ("b",)


def test_a_bad_row_is_an_error_only_if_it_is_wanted_but_a_short_one_always(tmp_path):
    assert Embeddings.read(write(tmp_path, "a 1 2\nb x y\n"), vocabulary=["a"]).words == ("a",)
    assert "line 2" in error_of(write(tmp_path, "a 1 2\nb 1\n"), vocabulary=["a"])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a 1 2\nb 1\n", "line 2: 1 numbers, but line 1 says 2"),
        ("a 1 2\nb 1 2 3\n", "line 2: 3 numbers, but line 1 says 2"),
        ("2 3\na 1 2 3\nb 1 2\n", "line 3: 2 numbers, but the header says 3"),
        ("2 3\na 1 2\n", "line 2: 2 numbers, but the header says 3"),
        ("a 1 2\nb 1 nan\n", "line 2: the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb -inf 1\n", "line 2: the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb 1e39 1\n", "line 2: the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb 1 two\n", "line 2: 'two' is not a number"),
        ("a 1  2\n", "line 1: '' is not a number"),
        ("just words\nand more\n", "line 1: 'words' is not a number"),
        ("a\t1\t2\n", "line 1: no numbers"),
        ("", "the file holds no word vectors"),
        ("\n\n", "the file holds no word vectors"),
        ("0 5\n", "the file holds no word vectors"),
        ("caf\xe9 1 2\n".encode("latin-1"), "line 1: the word is not UTF-8"),
        ("a 1 2\n".encode("utf-16"), "line 1: not a UTF-8 text file"),
        (b"PK\x03\x04\x14\x08 zip", "zip archive"),
    ],
)
def test_a_bad_text_file_is_one_line_with_its_place(tmp_path, content, expected):
    path = write(tmp_path, content)
    message = error_of(path)
    assert message.startswith(str(path))
    assert expected in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (binary_bytes()[:-6], "word 3: the file ends here but its header says 3 words"),
        (b"3 3\n", "word 1: the file ends here"),
        (b"hello world\n\0\0", "not a word2vec binary file"),
        (b"1 99999999999\n\0", "not a word2vec binary file"),
        (b"9 3\n" + b"x" * 70_000, "word 1: no end of the word"),
        (b"1 1\na " + np.float32(np.nan).tobytes(), "word 1: the vector of 'a' holds NaN"),
        (b"1 1\n\xff " + np.float32(1).tobytes(), "word 1: the word is not UTF-8"),
    ],
)
def test_a_bad_binary_file_is_one_line(tmp_path, content, expected):
    assert expected in error_of(write(tmp_path, content, "v.bin"))


def test_a_header_that_promises_too_much_costs_nothing(tmp_path):
    path = write(tmp_path, b"999999999999999 3\n" + binary_bytes()[4:], "v.bin")
    assert "word 4: the file ends here" in error_of(path)


@pytest.mark.parametrize(
    ("array", "words", "expected"),
    [
        (VECTORS, "cat\ndog\n", "2 words for 3 rows"),
        (VECTORS, "cat\ndog\nbird\nfish\n", "4 words for 3 rows"),
        (VECTORS[0], "cat\ndog\nbird\n", "expected one numeric array"),
        (np.array([["a"]]), "cat\n", "expected one numeric array"),
        (np.array([[None]], dtype=object), "cat\n", "not a readable .npy file"),
        (np.array([[1.0], [np.nan]]), "cat\ndog\n", "row 1: the vector of 'dog' holds NaN"),
    ],
)
def test_bad_npy_files_are_one_line(tmp_path, array, words, expected):
    np.save(tmp_path / "v.npy", array, allow_pickle=True)
    assert expected in error_of(tmp_path / "v.npy", words=write(tmp_path, words, "words.txt"))


def test_npy_and_words_belong_together(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    assert "words=PATH" in error_of(tmp_path / "v.npy")
    assert "no such file" in error_of(tmp_path / "v.npy", words=tmp_path / "absent")
    assert ".npy files only" in error_of(write(tmp_path, glove_bytes()), words=tmp_path / "words.txt")


@pytest.mark.parametrize("name", ["absent.txt", "absent.txt.gz", "absent.bin", "absent.npy"])
def test_a_missing_file_and_a_directory_are_one_line(tmp_path, name):
    path = tmp_path / name
    assert error_of(path, words=path if name.endswith("npy") else None) == f"{path}: no such file"
    path.mkdir()
    assert "is a folder, but a file is needed" in error_of(path, words=path if name.endswith("npy") else None)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_damaged_archive_is_one_line(tmp_path, suffix):
    whole = COMPRESS[suffix](glove_bytes() * 50)
    assert "damaged" in error_of(write(tmp_path, whole[: len(whole) // 2], f"cut.txt{suffix}"))
    assert "damaged" in error_of(write(tmp_path, glove_bytes(), f"plain.txt{suffix}"))


@pytest.mark.parametrize("name", CONTENTS)
def test_no_word_of_the_vocabulary_is_an_error_with_examples_of_both_sides(tmp_path, name):
    message = error_of(write(tmp_path, CONTENTS[name], name), vocabulary=["Cat", "Dog"])
    assert "'cat', 'dog'" in message
    assert "'Cat', 'Dog'" in message
    assert "lower-case" in message


@pytest.mark.parametrize(
    ("words", "vectors", "expected"),
    [
        (("a",), [[1.0], [2.0]], "1 words for 2 vectors"),
        (("a", "a"), [[1.0], [2.0]], "'a' has two vectors"),
        (("", ""), [[1.0], [2.0]], "'' has two vectors"),
        (("a", "b"), [[1.0], [np.inf]], r"'b' \(row 1\) holds NaN or infinity"),
        (("a", "b"), [1.0, 2.0], "words × dimensions"),
        (("a", "b"), [[1.0], [2.0, 3.0]], "must be numbers"),
        (("a", 3), [[1.0], [2.0]], "must be strings"),
        ("ab", [[1.0], [2.0]], "not the string"),
    ],
)
def test_the_constructor_checks_words_and_vectors(words, vectors, expected):
    with pytest.raises(InputError, match=expected):
        Embeddings(words, vectors)


def test_a_string_as_vocabulary_is_an_error(tmp_path):
    assert "list of words" in error_of(write(tmp_path, glove_bytes()), vocabulary="cat")


def test_gensim_vectors_are_taken_as_they_are_without_importing_gensim():
    keyed = SimpleNamespace(index_to_key=list(WORDS), vectors=VECTORS)
    for source in (keyed, SimpleNamespace(wv=keyed)):
        embeddings = Embeddings.from_gensim(source)
        assert embeddings.words == WORDS
        np.testing.assert_array_equal(embeddings.vectors, VECTORS)
    assert Embeddings.from_gensim(keyed, vocabulary=["naïve", "x"]).words == ("naïve",)
    with pytest.raises(InputError, match="lower-case"):
        Embeddings.from_gensim(keyed, vocabulary=["Cat"])
    with pytest.raises(InputError, match="not dict"):
        Embeddings.from_gensim({})


def test_coverage_is_the_share_of_the_vocabulary_with_a_vector():
    embeddings = Embeddings(WORDS, VECTORS)
    assert embeddings.coverage(["cat", "bird", "dog", "fish"]) == 0.5
    assert embeddings.coverage([]) == 0


def test_embeddings_are_shared_by_deep_copies_and_shown_briefly():
    embeddings = Embeddings(WORDS, VECTORS)
    assert copy.deepcopy({"a": embeddings})["a"] is embeddings
    assert repr(embeddings) == "Embeddings(3 words × 3 dimensions)"
    assert len(embeddings) == 3


def obvious_binarize(vector):
    """The rule as the paper states it, with exact means (the inputs are small multiples of 1/64)."""
    positive, negative = [x for x in vector if x > 0], [x for x in vector if x < 0]
    active = []
    for j, x in enumerate(vector):
        if positive and x > sum(positive) / len(positive):
            active.append(2 * j)
        if negative and x < sum(negative) / len(negative):
            active.append(2 * j + 1)
    return active


@given(
    st.integers(1, 8).flatmap(
        lambda d: st.lists(st.lists(st.integers(-320, 320), min_size=d, max_size=d), min_size=1, max_size=6)
    )
)
@settings(deadline=None)
def test_binarize_equals_the_obvious_loop(rows):
    vectors = np.array(rows, dtype=np.float32) / 64
    features = Embeddings(tuple(f"w{i}" for i in range(len(rows))), vectors).binarize().features
    assert features.names[:2] == ("dim0+", "dim0-")
    assert features.shape == (len(rows), 2 * vectors.shape[1])
    for row, vector in enumerate(vectors.tolist()):
        bounds = features.matrix.indptr[row : row + 2]
        assert features.matrix.indices[slice(*bounds)].tolist() == obvious_binarize(vector)


def test_binarize_does_not_depend_on_its_blocks(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(50, 7))
    embeddings = Embeddings(tuple(map(str, range(50))), vectors)
    whole = embeddings.binarize().features.matrix.toarray()
    monkeypatch.setattr("metalda.meta.embeddings._BLOCK", 3)
    np.testing.assert_array_equal(embeddings.binarize().features.matrix.toarray(), whole)


@pytest.mark.data
def test_binarised_glove_is_the_papers_own_word_features(data_folder):
    papers = WordFeatures.read(data_folder / "WS" / "binary_embeddings.txt")
    ours = Embeddings.read(data_folder / "glove.6B.50d.subset.txt", vocabulary=papers.words).binarize()
    assert len(ours) == 1821
    assert papers.features.names == tuple(map(str, range(100)))
    np.testing.assert_array_equal(ours.features.matrix.toarray(), papers.rows(ours.words).matrix.toarray())


@pytest.mark.data
def test_fifty_thousand_vectors_are_read(data_folder):
    embeddings = Embeddings.read(data_folder / "glove.6B.100d.subset.txt.gz")
    assert embeddings.vectors.shape == (50_053, 100)


@pytest.mark.data
def test_gensim_reads_and_writes_what_we_do(data_folder, tmp_path):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    ours = Embeddings.read(data_folder / "glove.6B.50d.subset.txt")
    keyed = models.KeyedVectors(ours.vectors.shape[1])
    keyed.add_vectors(list(ours.words), ours.vectors)
    np.testing.assert_array_equal(Embeddings.from_gensim(keyed).vectors, ours.vectors)
    for name, binary in (("v.bin", True), ("v.vec", False)):
        keyed.save_word2vec_format(str(tmp_path / name), binary=binary)
        again = Embeddings.read(tmp_path / name)
        assert again.words == ours.words
        np.testing.assert_allclose(again.vectors, ours.vectors, rtol=1e-6)


def test_arrays_make_the_same_embeddings():
    vectors = Embeddings(("cat", "", "\ud800"), [[0.1, 0.2], [0.3, -1.0], [2.0, 0.0]])
    again = Embeddings.from_arrays(*vectors.to_arrays())
    assert again.words == vectors.words
    np.testing.assert_array_equal(again.vectors, vectors.vectors)


def test_damaged_arrays_are_a_storage_error():
    document, arrays = Embeddings(("cat", "dog"), [[0.1, 0.2], [0.3, -1.0]]).to_arrays()
    for name, array in {
        "word_offsets": np.array([0, 3, 9]),
        "vectors": arrays["vectors"][:1],
        "words": arrays["words"][:2],
    }.items():
        with pytest.raises(StorageError, match="the saved embeddings are damaged"):
            Embeddings.from_arrays(document, {**arrays, name: array})
    with pytest.raises(StorageError, match="sizes differ"):
        Embeddings.from_arrays({**document, "n_dimensions": 3}, arrays)
    with pytest.raises(StorageError, match="damaged"):
        Embeddings.from_arrays(document, {})


def test_standardized_dimensions_have_mean_0_and_deviation_1_over_the_vocabulary():
    vectors = np.random.default_rng(0).normal(3, 2, (40, 4)).astype(np.float32)
    vectors[:, 2] = 0.1  # tells nothing of words
    embeddings = Embeddings(tuple(f"w{i}" for i in range(40)), vectors)
    chosen = [f"w{i}" for i in range(0, 40, 2)]
    for vocabulary, rows in ((None, slice(None)), ([*chosen, "unknown"], slice(0, 40, 2))):
        features = embeddings.standardize(vocabulary)
        assert features.features.names == ("dim0", "dim1", "dim3")
        expected = (vectors - vectors[rows].mean(axis=0)) / np.maximum(vectors[rows].std(axis=0), 1e-9)
        found = features.rows(embeddings.words).matrix.toarray()
        np.testing.assert_allclose(found, expected[:, [0, 1, 3]], atol=1e-5)
    assert not features.rows(["unknown"]).matrix.nnz  # an average word
    assert repr(features) == "WordFeatures(40 words × 3 features with numbers)"


def test_vectors_that_cannot_be_standardized_are_refused():
    with pytest.raises(InputError, match="all of these word vectors are equal"):
        Embeddings(("cat", "dog"), [[1.0, 2.0], [1.0, 2.0]]).standardize()
    with pytest.raises(InputError, match="no word of the vocabulary has a vector"):
        Embeddings(WORDS, VECTORS).standardize(["unknown"])
