"""Names for clusters that nobody has named: from their own words, or else by their numbers.

Words are weighed by class-based TF-IDF (Grootendorst 2022): how often a cluster uses a word, times
log(1 + A / f), where f is how often all clusters use it and A how many words a cluster has on average. A name
has no stop words, no two forms of one word, and words that mostly follow each other as a phrase. Of the rows
of a table the values of few-valued columns count as words. Pictures have no words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz.distance import Prefix
from scipy.sparse import csr_array

from samekind.clusters import Clusters
from samekind.data import Items
from samekind.project.words import numbered

__all__ = ["ProposedNames"]

SAMPLE = 20_000  # rows whose words are counted
WORDS = 3  # of a name, at most
LETTERS = 40  # of a name, about
FEW_VALUES = 50  # of a column that may name clusters, at most
TELLING = 0.6  # share of a cluster's rows that have the value by which it may be called,
LIFT = 1.5  # and how much more often than all rows
FEW = 10  # clusters, of which the average says little
KNOWN = 3.0  # a known row counts as so many predicted ones
MANY = 50  # rows from which on a word must be in two of them
TOKEN = r"(?u)\b[^\W\d_][\w-]*[^\W_]\b"  # begins with a letter, and has two signs at least
PHRASES = 200  # rows of a cluster in which phrases are sought
STEM, SHARED = 4, 0.7  # letters, and share of the shorter word, in which forms of one word agree
# Words that say nothing about a kind, and what is left of "don't" and the like.
FILLERS = """
able ain aren come comes coming couldn did didn does doesn doing don getting gets going got hadn hasn haven
having help isn just know let like ll make makes making mean need needs really say says shouldn tell thing
things think try trying use used uses using ve want wants wasn way weren won work working works wouldn
"""

Rows = NDArray[np.intp]


class ProposedNames:
    """Proposes a name for each cluster.

    Names are made when all clusters are looked at, and stay until that is done again; a cluster that is newer
    is named by the rows that are known of it.
    """

    def __init__(self, items: Items) -> None:
        self._items = items
        self._names: dict[int, str] = {}
        self._made_of: Clusters | None = None

    def name(self, number: int, members: list[int]) -> str:
        """Return the name for the cluster with a number, of which these rows are known."""
        if number not in self._names and self._words is not None:
            self._names |= self._words.names([number], [np.array(members, dtype=np.intp)])
        return self._names.get(number) or numbered(number)

    def update(self, found: Clusters, numbers: list[int]) -> None:
        """Name all clusters, which have these numbers, by their known and predicted rows."""
        if found is self._made_of or self._words is None:
            return
        self._made_of = found
        labels = np.asarray(found.labels_)[self._words.rows]
        predicted = [self._words.rows[labels == cluster] for cluster in range(found.n_discovered_)]
        self._names = self._words.names(numbers, found.members_, predicted)

    @cached_property
    def _words(self) -> _Namer | None:
        """The words of the rows, counted when first needed; None where there are none."""
        n = self._items.n
        rows = np.arange(n, dtype=np.intp)
        if n > SAMPLE:
            rows = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        if self._items.medium == "text":
            texts = _TextWords(self._items, rows)
            return _Namer(rows, texts) if len(texts.words) else None
        frame = self._items.shown_frame(with_labels=False) if self._items.medium == "row" else None
        shown = [] if frame is None else [c for c in frame if str(c) in self._items.shown_columns]
        values = None if frame is None else _ValueWords(frame[shown], rows)
        if values is None or not values.words:
            return None
        return _Namer(rows, values, share=TELLING, lift=LIFT)


class _Namer:
    """Finds the words by which clusters differ.

    A word may name a cluster that has it in at least a `share` of its rows, `lift` times as often as others.
    """

    def __init__(
        self, rows: Rows, source: _TextWords | _ValueWords, *, share: float = 0.0, lift: float = 0.0
    ) -> None:
        self.rows = rows
        self._source = source
        self._counts = source.counts(rows)
        self._totals = np.maximum(_total(self._counts), 1.0)
        self._least = np.maximum(share, lift * self._totals / max(1, rows.size))

    def names(
        self,
        numbers: Sequence[int],
        members: Sequence[Rows],
        predicted: Sequence[Rows] | None = None,
    ) -> dict[int, str]:
        """Return names by number; clusters that have no words of their own are left out."""
        average = float(self._totals.sum()) / max(len(members), FEW)
        rarity = np.log1p(average / self._totals)
        taken: set[str] = set()
        names: dict[int, str] = {}
        for place, (number, known) in enumerate(zip(numbers, members, strict=True)):
            others = self.rows[:0] if predicted is None else np.setdiff1d(predicted[place], known)
            used = KNOWN * _total(self._counts_of(known)) + _total(self._counts_of(others))
            share = used / (KNOWN * known.size + others.size)
            rows = np.concatenate([known, others])[:PHRASES]
            name = self._best(np.where(share >= self._least, used * rarity, 0.0), rows, taken)
            if name:
                taken.add(name)
                names[number] = name
        return names

    def _counts_of(self, rows: Rows) -> csr_array:
        places = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        if np.array_equal(self.rows[places], rows):
            return self._counts[places]
        return self._source.counts(rows)

    def _best(self, score: NDArray[np.float64], rows: Rows, taken: set[str]) -> str:
        """Return the words with the highest scores as a name that no other cluster has; or nothing."""
        order = np.argsort(-score, kind="stable")[: 8 * WORDS]
        best: list[str] = []
        for word in (str(self._source.words[k]) for k in order.tolist() if score[k] > 0):
            if not any(_are_forms(word, other) for other in best):
                best.append(word)
        best = best[: 2 * WORDS]
        shortest = next((k for k in range(1, WORDS) if len(", ".join(best[:k])) > LETTERS), WORDS)
        for size in range(min(shortest, len(best)), len(best) + 1):
            name = ", ".join(self._source.phrases(best[:size], rows))
            if name not in taken:
                return name
        return ""


class _TextWords:
    """The words of texts, each counted once in a text."""

    def __init__(self, items: Items, rows: Rows) -> None:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

        self._items = items
        self._counter = CountVectorizer(
            token_pattern=TOKEN,
            stop_words=[*ENGLISH_STOP_WORDS, *FILLERS.split()],
            min_df=2 if rows.size > MANY else 1,
            max_features=SAMPLE,
            binary=True,
        )
        self.words: Sequence[str] = []
        with suppress(ValueError):  # there is no word in them
            self._counter.fit(items.texts(rows))
            self.words = self._counter.get_feature_names_out()

    def counts(self, rows: Rows) -> csr_array:
        """Return which words are in the texts of some rows."""
        return csr_array(self._counter.transform(self._items.texts(rows)), dtype=np.float64)

    def phrases(self, words: list[str], rows: Rows) -> list[str]:
        """Return words, two of them as one where most texts with either have one after the other."""
        texts = [text.lower() for text in self._items.texts(rows)]
        for one, other in permutations(words, 2):
            phrase = f"{one} {other}"
            often = max(sum(word in text for text in texts) for word in (one, other))
            if sum(phrase in text for text in texts) > often / 2:
                left = [word for word in words if word not in (one, other)]
                left.insert(min(words.index(one), words.index(other)), phrase)
                return left
        return words


class _ValueWords:
    """The values of columns that have few of them, as words."""

    def __init__(self, frame: pd.DataFrame, rows: Rows) -> None:
        few: list[pd.Categorical[str]] = []
        self.words: list[str] = []
        for name in frame.columns:
            column = frame[name]
            if (
                pd.api.types.is_float_dtype(column)
                or column.iloc[rows].map(str).nunique() > FEW_VALUES
            ):
                continue
            few.append(pd.Categorical(column.map(str)))
            self.words += [f"{name}: {value}" for value in few[-1].categories]
        first = np.cumsum([0, *(len(column.categories) for column in few)])[:-1]
        self._places = np.column_stack(
            [column.codes + start for column, start in zip(few, first, strict=True)]
            or [np.empty((len(frame), 0), dtype=np.intp)]
        )

    def counts(self, rows: Rows) -> csr_array:
        """Return which values some rows have."""
        places = self._places[rows]
        lines = np.repeat(np.arange(rows.size), places.shape[1])
        ones = np.ones(places.size)
        return csr_array((ones, (lines, places.ravel())), shape=(rows.size, len(self.words)))

    def phrases(self, words: list[str], rows: Rows) -> list[str]:
        """Return the words: a value is a phrase already."""
        return words


def _are_forms(one: str, other: str) -> bool:
    """Return whether two words look like forms of one word: verify, verified, verification."""
    return Prefix.similarity(one, other) >= max(STEM, SHARED * min(len(one), len(other)))


def _total(counts: csr_array) -> NDArray[np.float64]:
    return np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
