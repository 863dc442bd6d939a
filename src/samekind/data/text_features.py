"""Features of texts: their words and parts of words, reduced to at most 100 numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.data.cache import State
from samekind.errors import DataError, Parameter

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["CHARACTERS", "Done", "TfidfFeatures", "sample_rows", "told_chunks", "unit_rows"]

Done: TypeAlias = Callable[[float], object]
"""Is told the share of the work that is done."""

SEED = 0
SAMPLE = 20_000  # texts, or pictures, that the principal axes are learnt from
COMPONENTS = 100
CHARACTERS = 20_000  # of a text that are looked at
_MOST_TERMS = 30_000  # words, and as many parts of words
_RARE_FROM = 200  # texts from which on a term that only one of them has is left out
_CHUNK = 1_000
_NOTHING = 1e-6  # length of a text's point below which it is rounding only
# Words and pairs of words; and parts of words, which find what differs in ending or spelling. Of 2,000
# Banking77 texts the nearest neighbour has the right intent for 72 %, with words alone for 57 %.
_WORDS, _PARTS = ("word", (1, 2), 1.0), ("char_wb", (2, 4), 1.5)
# Long texts share most parts of words, whatever they are about: then parts take three quarters of the time
# and hide what words say. Adjusted Rand index of `words` after 300 answers, with parts and without, of texts
# that are partly about something else (Banking77): 88 words 0.98 and 0.99, 145 words 0.82 and 0.86,
# 223 words 0.63 and 0.74; of `plain` 0.93 and 0.92, 0.56 and 0.63, 0.38 and 0.47.
_LONG = 100  # words of a middling text; Chinese, which has no blanks, is never that long


class TfidfFeatures:
    """Weighted words and parts of words (TF-IDF), reduced to at most 100 numbers (truncated SVD).

    Parameters
    ----------
    terms : list of (TfidfVectorizer, float)
        Which terms are counted, each with the weight of its columns.
    axes : ndarray of shape (k, number of terms)
        The directions that the terms are reduced to.
    """

    def __init__(
        self, terms: list[tuple[TfidfVectorizer, float]], axes: NDArray[np.float32]
    ) -> None:
        self.terms = terms
        self.axes = axes

    @property
    def described(self) -> str:
        """What texts are compared by."""
        return " and ".join(
            "their words" if vectorizer.analyzer == "word" else "parts of words"
            for vectorizer, _ in self.terms
        )

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [f"text {i + 1}" for i in range(len(self.axes))]

    @classmethod
    def fit(cls, texts: Sequence[str], done: Done) -> tuple[TfidfFeatures, NDArray[np.float32]]:
        """Learn which terms there are, how much each weighs, and what they have in common."""
        from scipy import sparse
        from sklearn.decomposition import TruncatedSVD

        terms, columns = [], []
        middle = sorted(len(text[:CHARACTERS].split()) for text in texts)[len(texts) // 2]
        kinds = (_WORDS,) if middle > _LONG else (_WORDS, _PARTS)
        for number, (analyzer, sizes, weight) in enumerate(kinds):
            for min_df in (2, 1) if len(texts) >= _RARE_FROM else (1,):
                vectorizer = _vectorizer(analyzer, sizes, min_df=min_df, max_features=_MOST_TERMS)
                try:
                    counted = vectorizer.fit_transform(_told(texts, done, number / 3, 1 / 3))
                except ValueError:  # no term at all, or none that two texts have
                    continue
                terms.append((vectorizer, weight))
                columns.append(weight * counted)
                break
        if not terms:
            raise DataError(
                "the texts hold no words. Name another column with ", Parameter("text"), "."
            )
        weighed = sparse.hstack(columns, format="csr", dtype=np.float32)
        rows = sample_rows(len(texts))
        size = min(COMPONENTS, len(rows), weighed.shape[1])
        svd = TruncatedSVD(size, n_iter=3, random_state=SEED).fit(weighed[rows])
        made = cls(terms, svd.components_)
        chunks = told_chunks(len(texts), done, 2 / 3, 1 / 3)
        return made, np.concatenate([made._points(weighed[rows]) for rows in chunks])

    def transform(self, texts: Sequence[str], done: Done) -> NDArray[np.float32]:
        """Return the points of texts."""
        from scipy import sparse

        X = np.empty((len(texts), len(self.axes)), dtype=np.float32)
        for rows in told_chunks(len(texts), done, 0.0, 1.0):
            some = [text[:CHARACTERS] for text in texts[rows]]
            counted = [weight * vectorizer.transform(some) for vectorizer, weight in self.terms]
            X[rows] = self._points(sparse.hstack(counted, format="csr", dtype=np.float32))
        return X

    def _points(self, weighed: csr_array) -> NDArray[np.float32]:
        """Return points of length 1, or 0 for texts without any known term."""
        Z = np.asarray(weighed @ self.axes.T, dtype=np.float32)
        Z[np.linalg.norm(Z, axis=1) < _NOTHING] = 0
        return unit_rows(Z)

    def state(self) -> State:
        """Return what `from_state` makes it from; terms as bytes, as an array of texts is wasteful."""
        state = State({"terms": []}, {"axes": self.axes})
        for number, (vectorizer, weight) in enumerate(self.terms):
            state.about["terms"].append([vectorizer.analyzer, vectorizer.ngram_range, weight])
            known = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
            state.arrays[f"terms {number}"] = np.frombuffer(json.dumps(known).encode(), np.uint8)
            state.arrays[f"idf {number}"] = vectorizer.idf_
        return state

    @classmethod
    def from_state(cls, state: State) -> TfidfFeatures:
        """Make it again."""
        terms = []
        for number, (analyzer, sizes, weight) in enumerate(state.about["terms"]):
            known = json.loads(state.arrays[f"terms {number}"].tobytes())
            vectorizer = _vectorizer(analyzer, tuple(sizes), vocabulary=known)
            vectorizer.idf_ = state.arrays[f"idf {number}"]
            terms.append((vectorizer, weight))
        return cls(terms, state.arrays["axes"])


def _vectorizer(analyzer: str, sizes: tuple[int, int], **more: object) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        analyzer=analyzer, ngram_range=sizes, sublinear_tf=True, dtype=np.float32, **more
    )


def unit_rows(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give every row length 1, in place; rows of zeros stay."""
    from sklearn.preprocessing import normalize

    unit: NDArray[np.float32] = normalize(X, copy=False)
    return unit


def sample_rows(n: int) -> NDArray[np.intp]:
    """Return the rows that principal axes are learnt from: all, or a sample that is always the same."""
    if n <= SAMPLE:
        return np.arange(n)
    return np.sort(np.random.default_rng(SEED).choice(n, SAMPLE, replace=False))


def _told(texts: Sequence[str], done: Done, start: float, share: float) -> Iterator[str]:
    """Yield the beginnings of texts, and tell how many of them were taken."""
    for number, text in enumerate(texts):
        if number % _CHUNK == 0:
            done(start + share * number / len(texts))
        yield text[:CHARACTERS]


def told_chunks(n: int, done: Done, start: float, share: float) -> Iterator[slice]:
    """Yield some rows after another, and tell when they are done."""
    for first in range(0, n, _CHUNK):
        rows = slice(first, min(first + _CHUNK, n))
        yield rows
        done(start + share * rows.stop / n)
