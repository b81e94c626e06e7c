"""Kernels of coherence: find the words of texts, and count the sliding windows that contain words and pairs.

A word is two or more word characters in a row, as in scikit-learn's default token pattern. Words are numbers, looked up
in a hash table with open addressing; words outside the table are -1.
"""

from numpy import int64, uint64, uintp

from metalda.kernels.border import helper, kernel

_START, _STEP = uint64(0xCBF29CE484222325), uint64(0x100000001B3)  # FNV-1a


@helper
def _look_up(characters, start, end, digest, table, word_characters, word_offsets):
    """Return the number of the word characters[start:end] in the table, or -1."""
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
    """Insert the numbers of words into a hash table that is all -1 and whose length is a power of two."""
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
    """Find the words of texts, as numbers from the table or -1; equals reference.find_words.

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


@helper
def _close(word, now, active, n_active, place_of, since, together):
    """Remove a word from the window: add the windows that it was in, alone and with each remaining word."""
    together[word, word] += now - since[word]
    last = n_active - 1
    at = place_of[word]
    active[at] = active[last]
    place_of[active[at]] = at
    for i in range(last):
        other = active[uintp(i)]
        low, high = uintp(min(word, other)), uintp(max(word, other))
        together[low, high] += now - max(since[word], since[other])
    return last


@kernel
def count_windows(words, offsets, window, forgets, together, totals, active, place_of, since, inside):
    """Count the windows that contain two words (or one, on the diagonal); equals reference.count_windows.

    Adds to the upper triangle of `together`, and to `totals`: all windows, and documents shorter than the window. The
    window moves by one word. A document that is not longer than the window is one window; so is every document if
    `window` is 0. A pair is counted when one of its words leaves the window, for all windows since both are in it, so
    the work does not grow with the number of windows that contain both.

    With `forgets` a word leaves as soon as one of its occurrences does, as in gensim. The last four arrays are scratch
    space, with an entry for each word; `inside` must be all zero, and is all zero again on return.
    """
    for d in range(offsets.shape[0] - 1):
        start, length = offsets[d], offsets[d + 1] - offsets[d]
        size = length if window == 0 or length < window else window
        n_windows = length - size + 1
        totals[0] += n_windows
        totals[1] += length < window
        n_active = int64(0)
        for i in range(length):
            now = max(i - size + 1, 0)
            if now > 0:
                leaving = int64(words[uintp(start + now - 1)])
                if leaving >= 0 and inside[leaving] > 0:
                    inside[leaving] = 0 if forgets else inside[leaving] - 1
                    if inside[leaving] == 0:
                        n_active = _close(leaving, now, active, n_active, place_of, since, together)
            word = int64(words[uintp(start + i)])
            if word >= 0:
                inside[word] += 1
                if inside[word] == 1:
                    active[n_active] = word
                    place_of[word] = n_active
                    since[word] = now
                    n_active += 1
        while n_active > 0:
            word = active[n_active - 1]
            inside[word] = 0
            n_active = _close(word, n_windows, active, n_active, place_of, since, together)
