"""Words and letter groups of texts, counted with the weight of their rarity.

Two texts are alike by words or letters as the cosine of these counts: a slip of the pen changes three letter
groups of fifty, and a value that moved to another column changes none. A word with digits is also joined to
its neighbour, so that "kdl 46xbr6" and "kdl-46xbr6" share a word with "kdl46xbr6".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from samekind.data.records.fields import PARTS

__all__ = ["Terms", "letters_of", "words_of"]

_LENGTH = 3  # letters of a group
_LONGEST = 400  # characters of a value that count
_DIGIT = re.compile(r"\d")


class Terms:
    """Which terms each text has.

    Parameters
    ----------
    counts : sparse array of shape (texts, terms)
        How often each term stands in each text.
    names : sequence of str
        The terms.
    """

    def __init__(self, counts: sparse.csr_array, names: Sequence[str]) -> None:
        n = counts.shape[0]
        held = np.bincount(counts.indices, minlength=counts.shape[1])
        # SciPy's logarithm: NumPy's last bit depends on the processor.
        self.rarity: NDArray[np.float32] = special.log1p((n - held) / (1 + held)).astype(np.float32)
        """(terms,) how much a term tells: the inverse document frequency."""
        self.names = names
        self._counts = counts

    @property
    def unit(self) -> sparse.csr_array:
        """(texts, terms) rows of length 1, or empty: their products are cosines."""
        weighted = self._counts.copy()
        np.sqrt(weighted.data, out=weighted.data)  # a term that stands thrice says less than three
        weighted.data *= self.rarity[weighted.indices] + np.float32(1)
        return normalize(weighted, copy=False)

    @property
    def telling(self) -> sparse.csr_array:
        """(texts, terms) as `unit`, but one rare term counts for more than many common ones."""
        weighted = self.present()
        weighted.data **= 2
        return normalize(weighted, copy=False)

    def present(self, wanted: NDArray[np.bool_] | None = None) -> sparse.csr_array:
        """Return the rarity of each wanted term where it is present."""
        weighted = self._counts.copy()
        weighted.data = self.rarity[weighted.indices]
        return weighted if wanted is None else weighted[:, np.flatnonzero(wanted)]


def words_of(texts: Sequence[str]) -> Terms:
    """Return the words of texts."""
    return _counted(texts, _words)


def letters_of(texts: Sequence[str]) -> Terms:
    """Return the groups of three letters of texts."""
    return _counted(texts, _letters)


def _counted(texts: Sequence[str], analyzer: object) -> Terms:
    vectorizer = CountVectorizer(analyzer=analyzer, dtype=np.float32)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # no term at all
        return Terms(sparse.csr_array((len(texts), 1), dtype=np.float32), [""])
    return Terms(sparse.csr_array(counts), vectorizer.get_feature_names_out().tolist())


def _words(text: str) -> list[str]:
    words = text.replace(PARTS, " ").split()
    joined = [a + b for a, b in pairwise(words) if _DIGIT.search(a) or _DIGIT.search(b)]
    return words + joined


def _letters(text: str) -> list[str]:
    padded = f" {text[:_LONGEST]} "
    return [padded[i : i + _LENGTH] for i in range(len(padded) - _LENGTH + 1)]
