"""How alike two records are, field by field: 1 is equal, 0 has nothing in common, NaN is not known.

Each pair of distinct values is compared once, however many pairs of records have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, JaroWinkler
from scipy import sparse

from samekind.data.records.blocking import Pairs
from samekind.data.records.fields import PARTS, Field
from samekind.data.records.kinds import FieldKind
from samekind.data.records.letters import letter_groups
from samekind.data.records.meanings import cosines
from samekind.data.records.pipelines import results_in_order
from samekind.data.tables import Tick
from samekind.points.threads import check_threads

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["compare_pairs", "row_products"]

_CHUNK = 500_000  # pairs that are compared at once
_PIECES_AHEAD = 4  # for each worker, so that none waits for the next
_LONG_CODE = 5  # characters, from which on one that stands in the other is hardly there by chance
_PREFIXED = np.float32(0.96)  # how alike two codes are of which one has a prefix more
_NEAR_YEARS = 2.0  # two dates so far apart have nothing in common but their digits

Values = NDArray[np.intp]
Alike = NDArray[np.float32]


def compare_pairs(
    fields: Sequence[Field], pairs: Pairs, tick: Tick, client: Client | None = None
) -> Alike:
    """Return how alike the records of each pair are by each field, (m, fields).

    With a `client` of Dask the workers of its cluster compare: they are sent the distinct values of the
    fields once, and pairs of row numbers piece by piece. What two values have in common does not depend on
    other pairs, so the result is the same, bit for bit.
    """
    found = np.empty((len(pairs), len(fields)), np.float32)
    starts = range(0, len(pairs), _CHUNK)
    pieces = (pairs[start : start + _CHUNK] for start in starts)
    compared = _here(fields, pieces) if client is None else _on_workers(client, fields, pieces)
    for start, alike in zip(starts, compared, strict=True):
        found[start : start + len(alike)] = alike
        tick("comparing", start + len(alike), len(pairs))
    return found


class FieldComparer:
    """Compares pairs of records by all fields; on its way to another process it is its fields alone."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._comparers = [_COMPARERS[field.kind](field) for field in fields]

    def __call__(self, rows: Pairs) -> Alike:
        """Return how alike the records of each pair are, (m, fields)."""
        found = np.empty((len(rows), len(self._fields)), np.float32)
        for column, (field, compare) in enumerate(zip(self._fields, self._comparers, strict=True)):
            found[:, column] = _compared(field, rows, compare)
        return found

    def __reduce__(self) -> tuple[type[FieldComparer], tuple[Sequence[Field]]]:
        return FieldComparer, (self._fields,)


def _here(fields: Sequence[Field], pieces: Iterable[Pairs]) -> Iterator[Alike]:
    """Yield what is found of each piece, in order."""
    comparer, threads = FieldComparer(fields), check_threads(None)
    with ThreadPoolExecutor(threads) as pool:
        submitted = (pool.submit(comparer, rows) for rows in pieces)
        yield from results_in_order(submitted, ahead=threads)


def _on_workers(
    client: Client, fields: Sequence[Field], pieces: Iterable[Pairs]
) -> Iterator[Alike]:
    """Yield what workers find of each piece, in order."""
    comparer = client.scatter(FieldComparer(fields), broadcast=True)
    submitted = (client.submit(_compare_piece, comparer, rows, pure=False) for rows in pieces)
    workers = max(1, len(client.nthreads()))
    yield from results_in_order(submitted, ahead=_PIECES_AHEAD * workers)


def _compare_piece(comparer: FieldComparer, rows: Pairs) -> Alike:
    return comparer(rows)


def _compared(field: Field, rows: Pairs, compare: Callable[[Values, Values], Any]) -> Alike:
    """Return how alike the values of each pair of records are."""
    one, other = field.codes[rows[:, 0]], field.codes[rows[:, 1]]
    alike = np.full(len(rows), np.nan, np.float32)
    alike[(one == other) & (one >= 0)] = 1.0
    open_ = np.flatnonzero((one != other) & (one >= 0) & (other >= 0))
    if not open_.size:
        return alike
    low, high = np.minimum(one, other)[open_], np.maximum(one, other)[open_]
    numbers, keys = pd.factorize(low.astype(np.int64) * len(field.values) + high)
    by_values = compare(keys // len(field.values), keys % len(field.values))
    alike[open_] = np.asarray(by_values, np.float32)[numbers]
    return alike


def row_products(one: sparse.csr_array, pairs: Pairs, tick: Tick | None = None) -> Alike:
    """Return the product of the two rows of each pair: their cosine, where rows have length 1."""
    found = np.empty(len(pairs), np.float32)
    starts = range(0, len(pairs), _CHUNK // 4)

    def products(start: int) -> Alike:
        rows = pairs[start : start + _CHUNK // 4]
        both = one[rows[:, 0]].multiply(one[rows[:, 1]])
        return np.asarray(both.sum(axis=1), np.float32).ravel()

    threads = check_threads(None)
    with ThreadPoolExecutor(threads) as pool:
        submitted = (pool.submit(products, start) for start in starts)
        for start, some in zip(starts, results_in_order(submitted, ahead=threads), strict=True):
            found[start : start + some.size] = some
            if tick is not None:
                tick("similarities", start + some.size, len(pairs))
    return np.clip(found, 0, 1)


def _scored(field: Field, one: Values, other: Values, scorer: Any, scale: float = 1.0) -> Alike:
    texts = np.array(field.values, dtype=object)
    scores: Alike = process.cpdist(
        texts[one], texts[other], scorer=scorer, workers=check_threads(None), dtype=np.float32
    )
    return scores * np.float32(scale)


def _names(field: Field) -> Callable[[Values, Values], Alike]:
    """Jaro–Winkler, or of words in the order of letters where there are several."""
    several = np.array([" " in value for value in field.values])

    def compare(one: Values, other: Values) -> Alike:
        alike = _scored(field, one, other, JaroWinkler.normalized_similarity)
        many = np.flatnonzero(several[one] | several[other])
        if many.size:
            in_order = _scored(field, one[many], other[many], fuzz.token_sort_ratio, 0.01)
            alike[many] = np.maximum(alike[many], in_order)
        return alike

    return compare


def _addresses(field: Field) -> Callable[[Values, Values], Alike]:
    """The mean of all words in order and of those that both have: a missing flat number costs half."""

    def compare(one: Values, other: Values) -> Alike:
        in_order = _scored(field, one, other, fuzz.token_sort_ratio, 0.01)
        shared = _scored(field, one, other, fuzz.token_set_ratio, 0.01)
        return (in_order + shared) / np.float32(2)

    return compare


def _codes(field: Field) -> Callable[[Values, Values], Alike]:
    """Edits, of which swapping two neighbours is one; a prefix that only one has counts little.

    Zeros at the beginning get lost in spreadsheets, and telephones are written with the country or without.
    """
    lengths = np.array([len(value) for value in field.values])

    def compare(one: Values, other: Values) -> Alike:
        alike = _scored(field, one, other, OSA.normalized_similarity)
        long = np.minimum(lengths[one], lengths[other]) >= _LONG_CODE
        several = np.flatnonzero((lengths[one] != lengths[other]) & long)
        if several.size:
            within = _scored(field, one[several], other[several], fuzz.partial_ratio, 0.01)
            alike[several] = np.maximum(alike[several], _PREFIXED * within)
        return alike

    return compare


def _dates(field: Field) -> Callable[[Values, Values], Alike]:
    """The best of: edits of the digits, day and month swapped, and days between the two."""
    year, month, day = (part.astype(np.int32) for part in field.dates)
    days = 365.25 * year + 30.44 * month + day

    def compare(one: Values, other: Values) -> Alike:
        # A slip of one digit of eight is 0.8; four digits alike by chance are nothing.
        edits = 1.6 * _scored(field, one, other, OSA.normalized_similarity) - 0.6
        known = (year[one] > 0) & (year[other] > 0)
        same_year = known & (year[one] == year[other])
        swapped = same_year & (month[one] == day[other]) & (day[one] == month[other])
        apart = np.abs(days[one] - days[other])
        near = np.where(known, 0.5 * (1 - apart / (365.25 * _NEAR_YEARS)), 0.0)
        best = np.maximum(np.maximum(edits, near), np.where(swapped, 0.9, 0.0))
        alike: Alike = np.clip(best, 0, 1).astype(np.float32)
        return alike

    return compare


def _numbers(field: Field) -> Callable[[Values, Values], Alike]:
    """One less the difference relative to the larger; a tenth apart is a half."""
    numbers = field.numbers

    def compare(one: Values, other: Values) -> Alike:
        x, y = numbers[one], numbers[other]
        largest = np.maximum(np.abs(x), np.abs(y))
        relative = np.abs(x - y) / np.where(largest > 0, largest, 1.0)
        return np.where(np.isnan(relative), 0.0, np.exp2(-10 * relative)).astype(np.float32)

    return compare


def _sets(field: Field) -> Callable[[Values, Values], Alike]:
    """Jaccard: the parts that both have, of all."""
    parts = [value.split(PARTS) for value in field.values]
    owner = np.repeat(np.arange(len(parts)), [len(own) for own in parts])
    numbers, distinct = pd.factorize(np.array([part for own in parts for part in own], object))
    shape = (len(parts), max(1, len(distinct)))
    table = sparse.csr_array((np.ones(owner.size, np.float32), (owner, numbers)), shape)
    sizes = np.asarray(table.sum(axis=1)).ravel()

    def compare(one: Values, other: Values) -> Alike:
        shared = np.empty(one.size, np.float32)
        for start in range(0, one.size, _CHUNK):
            at = slice(start, start + _CHUNK)
            shared[at] = np.asarray(table[one[at]].multiply(table[other[at]]).sum(axis=1)).ravel()
        jaccard: Alike = shared / (sizes[one] + sizes[other] - shared)
        return jaccard

    return compare


def _texts(field: Field) -> Callable[[Values, Values], Alike]:
    """The cosine of letter groups, by rarity."""
    own = Field(field.name, field.kind, np.arange(len(field.values), dtype=np.int32), field.values)
    groups = letter_groups([own])
    return lambda one, other: row_products(groups, np.stack([one, other], axis=1).astype(np.int32))


def _meanings(field: Field) -> Callable[[Values, Values], Alike]:
    """The cosine of what texts mean; its root, as strangers have none and the same in other words a third."""
    vectors = field.meanings
    return lambda one, other: np.sqrt(np.maximum(cosines(vectors, one, other), 0))


def _categories(field: Field) -> Callable[[Values, Values], Alike]:
    """Equal or not; a slip of the pen in a longer word is in between."""

    def compare(one: Values, other: Values) -> Alike:
        alike = _scored(field, one, other, OSA.normalized_similarity)
        return np.where(alike >= 0.75, alike, 0.0).astype(np.float32)

    return compare


_COMPARERS: dict[FieldKind, Callable[[Field], Callable[[Values, Values], Alike]]] = {
    FieldKind.NAME: _names,
    FieldKind.ADDRESS: _addresses,
    FieldKind.CODE: _codes,
    FieldKind.DATE: _dates,
    FieldKind.NUMBER: _numbers,
    FieldKind.SET: _sets,
    FieldKind.TEXT: _texts,
    FieldKind.MEANING: _meanings,
    FieldKind.CATEGORY: _categories,
}
