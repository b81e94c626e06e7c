"""Words of texts, by the rule that a word is two or more word characters in a row."""

from numba import int64, uint64, uintp

from metalda.kernels.border import helper, kernel

_START, _STEP = uint64(0xCBF29CE484222325), uint64(0x100000001B3)  # FNV-1a


@helper
def _look_up(characters, start, end, digest, table, word_characters, word_offsets):
    """The word of the table that is characters[start:end], or -1."""
    mask = uint64(table.shape[0] - 1)
    at = (digest ^ (digest >> uint64(29))) & mask
    while table[uintp(at)] >= 0:
        word = table[uintp(at)]
        first = word_offsets[word]
        if word_offsets[word + 1] - first == end - start:
            i = int64(0)
            while i < end - start and word_characters[uintp(first + i)] == characters[uintp(start + i)]:
                i += 1
            if i == end - start:
                return word
        at = (at + uint64(1)) & mask
    return int64(-1)


@kernel
def build_table(word_characters, word_offsets, table):
    """Fill a hash table, all -1 and a power of two long, with the numbers of words; open addressing."""
    mask = uint64(table.shape[0] - 1)
    for word in range(word_offsets.shape[0] - 1):
        digest = _START
        for i in range(word_offsets[word], word_offsets[word + 1]):
            digest = (digest ^ uint64(word_characters[i])) * _STEP
        at = (digest ^ (digest >> uint64(29))) & mask
        while table[uintp(at)] >= 0:
            at = (at + uint64(1)) & mask
        table[uintp(at)] = word


@kernel
def find_words(characters, ends, is_word, table, word_characters, word_offsets, words, offsets):
    """The words of texts as numbers from a table, -1 for others; equals reference.find_words.

    Text d ends before character ends[d], where the next one begins. Fills `words`, and `offsets` from 1 on.
    """
    n_words, start = int64(0), int64(0)
    for d in range(ends.shape[0]):
        end = ends[d]
        i = start
        while i < end:
            if not is_word[characters[uintp(i)]]:
                i += 1
                continue
            begin = i
            digest = _START
            while i < end and is_word[characters[uintp(i)]]:
                digest = (digest ^ uint64(characters[uintp(i)])) * _STEP
                i += 1
            if i - begin > 1:
                words[n_words] = _look_up(characters, begin, i, digest, table, word_characters, word_offsets)
                n_words += 1
        offsets[d + 1] = n_words
        start = end
