"""In how many sliding windows words occur, alone and in pairs."""

from numba import int64, uintp

from metalda.kernels.border import helper, kernel


@helper
def _close(word, now, active, n_active, place_of, since, together):
    """A word is gone from the window: count how long it was there, alone and with each of those that still are."""
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
    """Add the windows of documents that have two words (or one, on the diagonal); equals reference.count_windows.

    Words that are not asked for are -1; of `together` the upper triangle is filled. The window moves on by one word; a
    document that is not longer than it is one window, and so is every document where `window` is 0. A pair is counted
    when one of its words leaves, for all the windows since the other came: the work does not grow with the number of
    windows that both are in.

    With `forgets` a word is gone as soon as one of its occurrences leaves the window, as in gensim. `totals` are
    windows, and documents shorter than the window. The last four arrays, as long as there are words, are scratch;
    `inside` is all zero, and is so again in the end.
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
