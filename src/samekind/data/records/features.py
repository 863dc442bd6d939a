"""How alike two records are, field by field and as a whole: what a model of pairs learns from.

Each pair of distinct values is compared once, however many pairs of records have it. 1 is equal, 0 has
nothing in common, NaN is not known: then a value is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, JaroWinkler
from scipy import sparse

from samekind.data.records.blocking import Pairs
from samekind.data.records.fields import PARTS, Field
from samekind.data.records.kinds import FieldKind
from samekind.data.records.terms import Terms, letters_of, words_of
from samekind.data.tables import Tick
from samekind.points.threads import check_threads

__all__ = ["Compared", "RecordTerms", "compare_pairs", "row_products"]

_CHUNK = 50_000  # pairs whose terms are multiplied at once
_LONGEST = 200  # characters that are compared one by one; words and letter groups see the rest
_SOME = 0.1  # share of the values that must hold a code, or a number, for the field to be compared by it
_NUMBER = re.compile(r"\d+(?:[ .]\d+)?")
_SCORERS: dict[str, tuple[Any, float]] = {
    "sort": (fuzz.token_sort_ratio, 0.01),
    "set": (fuzz.token_set_ratio, 0.01),
    "jaro": (JaroWinkler.normalized_similarity, 1.0),
    "edits": (OSA.normalized_similarity, 1.0),
}
_LIKENESS = {
    FieldKind.CODE: ("edits",),
    FieldKind.DATE: ("edits",),
    FieldKind.NUMBER: ("number",),
}
"""The features whose mean says how alike two values are, where a slip of the pen is most of what differs."""
_OF_WORDS = ("sort", "words", "letters")

Values: TypeAlias = NDArray[np.intp]
Alike: TypeAlias = NDArray[np.float32]


class Compared(NamedTuple):
    """What was found of candidate pairs."""

    comparisons: NDArray[np.float32]
    """(m, fields) one likeness by field."""
    views: NDArray[np.float32]
    """(m, v) of the records as a whole, seen in several ways."""
    features: NDArray[np.float32]
    """(m, g) all of it, and several likenesses by field."""


class RecordTerms(NamedTuple):
    """The words and letter groups of whole records."""

    words: Terms
    letters: Terms

    @classmethod
    def of(cls, fields: Sequence[Field]) -> RecordTerms:
        """Count those of all fields together."""
        parts = [np.array([*field.values, ""], dtype=object)[field.codes] for field in fields]
        texts = [" ".join(filter(None, record)) for record in zip(*parts, strict=True)]
        return cls(words_of(texts), letters_of(texts))


def compare_pairs(
    fields: Sequence[Field], pairs: Pairs, terms: RecordTerms | None, tick: Tick
) -> Compared:
    """Compare the records of each pair.

    Without `terms`, which take long to count where there are very many records, they are compared by
    characters alone.
    """
    found: list[Alike] = []
    likeness: list[Alike] = []
    for place, field in enumerate(fields):
        own = _compare_field(field, pairs, by_terms=terms is not None)
        wanted = _LIKENESS.get(field.kind, _OF_WORDS)
        alike = [own[name] for name in wanted if name in own] or [own["sort"]]
        likeness.append(np.mean(alike, axis=0, dtype=np.float32))
        found += own.values()
        tick("comparing", place + 1, len(fields))
    comparisons = np.column_stack(likeness)
    views = _main_fields(fields, comparisons)
    if terms is not None:
        views += _compare_whole(terms, pairs)
    return Compared(
        comparisons, np.column_stack(views), np.column_stack([*views, *found]).astype(np.float32)
    )


def row_products(rows: sparse.csr_array, pairs: NDArray[np.integer]) -> Alike:
    """Return the product of the two rows of each pair: their cosine, where rows have length 1."""
    return _both(rows, pairs, lambda both: both.sum(axis=1))


def _both(rows: sparse.csr_array, pairs: NDArray[np.integer], reduce: Any) -> Alike:
    """Return what a reduction makes of the products of the two rows of each pair."""
    found = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _CHUNK):
        at = pairs[start : start + _CHUNK]
        both = reduce(rows[at[:, 0]].multiply(rows[at[:, 1]]))
        both = both.toarray() if sparse.issparse(both) else np.asarray(both)
        found[start : start + len(at)] = both.ravel()
    return found


def _compare_field(field: Field, pairs: Pairs, *, by_terms: bool) -> dict[str, Alike]:
    """Return several likenesses of the values of each pair of records."""
    one, other = field.codes[pairs[:, 0]], field.codes[pairs[:, 1]]
    there = np.flatnonzero((one >= 0) & (other >= 0))
    low, high = np.minimum(one, other)[there], np.maximum(one, other)[there]
    numbers, keys = pd.factorize(low.astype(np.int64) * len(field.values) + high)
    found = {}
    own = _compare_values(
        field.values, keys // len(field.values), keys % len(field.values), by_terms
    )
    for name, alike in own.items():
        column = np.full(len(pairs), np.nan, np.float32)
        column[there] = alike[numbers]
        found[name] = column
    return found


def _compare_values(
    values: Sequence[str], one: Values, other: Values, by_terms: bool
) -> dict[str, Alike]:
    texts = np.array([value[:_LONGEST].replace(PARTS, " ") for value in values], dtype=object)
    found: dict[str, Alike] = {}
    for name, (scorer, scale) in _SCORERS.items():
        scores: Alike = process.cpdist(
            texts[one], texts[other], scorer=scorer, workers=check_threads(None), dtype=np.float32
        )
        found[name] = scores * np.float32(scale)
    if by_terms:
        pairs = np.column_stack([one, other])
        words = words_of(values)
        found["words"] = row_products(words.unit, pairs)
        found["letters"] = row_products(letters_of(values).unit, pairs)
        codes = words.present(_with_digits(words))
        if (np.diff(codes.indptr) > 0).mean() > _SOME:
            found["codes"] = _contained(codes, pairs)
    quantities = _quantities(values)
    if np.isfinite(quantities).mean() > _SOME:
        x, y = quantities[one], quantities[other]
        found["number"] = (1 - np.abs(x - y) / np.maximum(np.maximum(x, y), 1e-9)).astype(
            np.float32
        )
    return found


def _quantities(values: Sequence[str]) -> NDArray[np.float64]:
    """Return the number in each value that holds one and little else; NaN for others."""
    found = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        numbers = _NUMBER.findall(value)
        if len(numbers) == 1 and 2 * len(numbers[0]) >= len(value):
            found[place] = float(numbers[0].replace(" ", "."))
    return found


def _main_fields(fields: Sequence[Field], comparisons: NDArray[np.float32]) -> list[Alike]:
    """Return the likeness of the field with most distinct values, and the mean with such fields first."""
    n = fields[0].codes.size
    distinct = np.array([len(field.values) / n for field in fields], np.float32)
    known = ~np.isnan(comparisons)
    alike = np.where(known, comparisons, np.float32(0))
    main = int(distinct.argmax())
    weights = known * distinct**2
    total = np.maximum(weights.sum(axis=1), np.float32(1e-6))
    return [alike[:, main], ((weights * alike).sum(axis=1) / total).astype(np.float32)]


def _compare_whole(terms: RecordTerms, pairs: Pairs) -> list[Alike]:
    words = terms.words
    return [
        row_products(words.telling, pairs),
        row_products(terms.letters.telling, pairs),
        _contained(words.present(), pairs),
        _rarest(words, pairs),
        _rarest(terms.letters, pairs),
        np.nan_to_num(_contained(words.present(_with_digits(words)), pairs), nan=0.5),
    ]


def _rarest(terms: Terms, pairs: NDArray[np.integer]) -> Alike:
    """Return the rarity of the rarest term that both have, as a share of the greatest."""
    shared = _both(_root(terms.present()), pairs, lambda both: both.max(axis=1))
    return shared / np.float32(max(terms.rarity.max(initial=0), 1e-6))


def _contained(present: sparse.csr_array, pairs: NDArray[np.integer]) -> Alike:
    """Return how much of the terms of the shorter text stands in the other, by rarity; NaN if it has none."""
    total = np.asarray(present.sum(axis=1), np.float32).ravel()
    least = np.minimum(total[pairs[:, 0]], total[pairs[:, 1]])
    shared = row_products(_root(present), pairs)
    return np.where(least > 0, shared / np.maximum(least, np.float32(1e-6)), np.float32(np.nan))


def _root(weights: sparse.csr_array) -> sparse.csr_array:
    """Return weights whose products are the weights again."""
    root = weights.copy()
    np.sqrt(root.data, out=root.data)
    return root


def _with_digits(words: Terms) -> NDArray[np.bool_]:
    return np.array([any(map(str.isdigit, name)) for name in words.names])
