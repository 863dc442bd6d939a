"""Blocking keys: short forms of a value that survive most slips, alone and two fields at a time.

One key alone (all Smiths) holds too many records where there are a million; two together (Smiths born in
May 1980) hold few, and of two duplicates with any two fields intact some pair of keys is the same. What is
left of a code or date with a slip, half of its digits, is a key in a pair, too: with one other field it still
holds few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations, product

import jellyfish
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from samekind.data.records.fields import PARTS, Field
from samekind.data.records.kinds import FieldKind

__all__ = ["key_matrix"]

_MOST_FIELDS = 12  # whose keys are paired: 66 pairs
_MOST_PARTIAL = 4  # of which parts of a value are paired, too
_MOST_NAMES = 6  # columns of names that are taken together
_CACHED = 2**17  # records whose buckets are counted within the processor's cache
_PREFIX = 4  # letters of a word that stand for it
_SUFFIX = 5  # characters of a long code that do

_AHEAD = 2  # sorts of keys that wait to be counted: memory is bounded

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Codes = NDArray[np.int64]
Counted = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]
"""Records, the numbers of their keys, and the weights of these."""


def key_matrix(fields: Sequence[Field], most: int) -> sparse.csr_array:
    """Return which record has which key, (n, keys) float32 weights of rarity.

    Keys of one record alone, and of more than `most`, bring no two together or too many: they are left out.
    """
    n = fields[0].codes.size
    found: list[Counted] = []
    # Keys are counted while the next ones are made.
    with ThreadPoolExecutor(1) as counting:
        under_way = deque[Future[Counted]]()
        for several in _all_keys(fields):
            under_way.append(counting.submit(_useful, several, n, most))
            if len(under_way) > _AHEAD:
                found.append(under_way.popleft().result())
        found += [future.result() for future in under_way]
    columns, width = [], 0
    for rows, at, weights in found:
        columns.append((rows, at + np.int32(width), weights))
        width += int(at.max(initial=-1)) + 1
    if not width:
        return sparse.csr_array((n, 1), dtype=np.float32)
    rows, at, weights = (np.concatenate(part) for part in zip(*columns, strict=True))
    return sparse.csr_array((weights, (rows, at)), shape=(n, width))


def _useful(several: Sequence[Codes], n: int, most: int) -> Counted:
    """Return which record has which useful key of one sort, numbered from 0, and the key's weight."""
    there = [np.flatnonzero(codes >= 0).astype(np.int32) for codes in several]
    rows = np.concatenate(there)
    own = zip(several, there, strict=True)
    buckets = _bucket(np.concatenate([codes[at] for codes, at in own]), n)
    counts = np.bincount(buckets, minlength=1)
    useful = (counts >= 2) & (counts <= most)
    kept = useful[buckets]
    rows, buckets = rows[kept], buckets[kept]
    place = np.cumsum(useful, dtype=np.int32) - np.int32(1)
    weights = np.log((1 + n) / (1 + counts[buckets])).astype(np.float32)
    return rows, place[buckets], weights


def _bucket(codes: Codes, n: int) -> NDArray[np.int32]:
    """Return codes as numbers below about 4 n (16 n for few), by multiplicative hashing.

    Two keys that fall into one bucket bring some strangers together, which costs next to nothing; counting so
    many that they are not in the processor's cache costs more.
    """
    bits = max(4, int((16 if n <= _CACHED else 4) * n).bit_length())
    with np.errstate(over="ignore"):
        hashed = codes.astype(np.uint64) * _GOLDEN
    return (hashed >> np.uint64(64 - bits)).astype(np.int32)


def _all_keys(fields: Sequence[Field]) -> Iterator[list[Codes]]:
    """Yield the keys of all records, -1 where one has none: alone first, then two by two.

    Keys of one list are of one sort. So are those of all names: a surname that stands in the column of first
    names is found all the same.
    """
    paired: list[tuple[list[Codes], list[list[Codes]]]] = []
    for group in _groups(fields):
        kind = group[0].kind
        found = {make: _coded(group, make) for make in _MAKERS[kind]}
        yield from found.values()
        paired.append((found[_MAKERS[kind][0]], [found[make] for make in _PARTIAL.get(kind, ())]))
    paired.sort(key=lambda keys: -max(map(_information, keys[0])))
    paired = [
        (whole, parts if place < _MOST_PARTIAL else [])
        for place, (whole, parts) in enumerate(paired[:_MOST_FIELDS])
    ]
    for whole, _ in paired:
        if len(whole) > 1:
            yield [_both(one, other, ordered=False) for one, other in combinations(whole, 2)]
    for (whole, parts), (other_whole, other_parts) in combinations(paired, 2):
        yield _crossed(whole, other_whole)
        for part in parts:
            yield _crossed(part, other_whole)
        for part in other_parts:
            yield _crossed(whole, part)


def _crossed(some: Sequence[Codes], others: Sequence[Codes]) -> list[Codes]:
    return [_both(one, other) for one, other in product(some, others)]


def _groups(fields: Sequence[Field]) -> list[list[Field]]:
    """Return the fields, those of names together."""
    names = [field for field in fields if field.kind is FieldKind.NAME][:_MOST_NAMES]
    others = [[field] for field in fields if field not in names]
    return [names, *others] if names else others


def _both(one: Codes, other: Codes, *, ordered: bool = True) -> Codes:
    """Return one number for two keys; -1 where one of them is missing."""
    left, right = (one, other) if ordered else (np.minimum(one, other), np.maximum(one, other))
    size = max(int(one.max(initial=0)), int(other.max(initial=0))) + 1
    return np.where((one >= 0) & (other >= 0), left * size + right, -1)


def _information(codes: Codes) -> float:
    """Return how many bits a key tells about a record, on average."""
    counts = np.bincount(codes[codes >= 0])
    share = counts[counts > 0] / max(1, codes.size)
    return float(-(share * np.log2(share)).sum())


def _coded(group: Sequence[Field], make: Callable[[Field], list[str]]) -> list[Codes]:
    """Return the keys of each record as numbers, the same in all fields of a group; -1 where it has none."""
    keys = [make(field) for field in group]
    every = np.array([key or None for some in keys for key in some], dtype=object)
    numbers = pd.factorize(every)[0].astype(np.int64)
    found = []
    for field, some in zip(group, keys, strict=True):
        own, numbers = numbers[: len(some)], numbers[len(some) :]
        found.append(np.append(own, -1)[field.codes])  # -1, a missing value, is the last one
    return found


def _whole(field: Field) -> list[str]:
    return field.values


def _sound(field: Field) -> list[str]:
    """How the longest word of a name sounds."""
    return [_sound_of(max(value.split(), key=len, default="")) for value in field.values]


def _sound_of(word: str) -> str:
    sound: str = jellyfish.metaphone(word) if word.isascii() else ""
    return sound or word[:_PREFIX]


def _first_letters(field: Field) -> list[str]:
    """The beginning of the longest word."""
    return [max(value.split(), key=len, default="")[:_PREFIX] for value in field.values]


def _two_words(field: Field) -> list[str]:
    """The beginnings of the two longest words, in the order of letters."""
    return [
        " ".join(sorted(w[:_PREFIX] for w in sorted(value.split(), key=len)[-2:]))
        for value in field.values
    ]


def _month_and_year(field: Field) -> list[str]:
    """Year with day and month in either order: a date whose day and month were swapped keeps it."""
    dates = field.dates
    parts = zip(dates.year.tolist(), dates.month.tolist(), dates.day.tolist(), strict=True)
    return [f"{y} {min(m, d)} {max(m, d)}" if y else "" for y, m, d in parts]


def _month_and_day(field: Field) -> list[str]:
    dates = field.dates
    return [
        f"{m} {d}" if y else "" for y, m, d in zip(dates.year, dates.month, dates.day, strict=True)
    ]


def _sorted_characters(field: Field) -> list[str]:
    """The characters in order, which swapped digits leave as they are."""
    return ["".join(sorted(value)) for value in field.values]


def _halves(last: bool) -> Callable[[Field], list[str]]:
    def make(field: Field) -> list[str]:
        if last:  # as many characters of longer ones, which may have a prefix or not
            return [
                value[-min(len(value) - len(value) // 2, _SUFFIX) :] if len(value) > 5 else ""
                for value in field.values
            ]
        return [value[: len(value) // 2] if len(value) > 5 else "" for value in field.values]

    return make


def _magnitude(field: Field) -> list[str]:
    """A number with two digits."""
    return ["" if np.isnan(number) else f"{number:.1e}" for number in field.numbers]


def _part(field: Field) -> list[str]:
    """The longest part of a set."""
    return [max(value.split(PARTS), key=len) for value in field.values]


_FIRST_HALF, _LAST_HALF = _halves(False), _halves(True)
_MAKERS: dict[FieldKind, list[Callable[[Field], list[str]]]] = {
    FieldKind.NAME: [_sound, _first_letters, _whole],
    FieldKind.ADDRESS: [_first_letters, _two_words, _whole],
    FieldKind.CODE: [_whole, _sorted_characters, _FIRST_HALF, _LAST_HALF],
    FieldKind.DATE: [_month_and_year, _month_and_day],
    FieldKind.NUMBER: [_magnitude],
    FieldKind.SET: [_part, _whole],
    FieldKind.TEXT: [_two_words],
    FieldKind.CATEGORY: [_whole],
}
_PARTIAL: dict[FieldKind, list[Callable[[Field], list[str]]]] = {
    FieldKind.CODE: [_FIRST_HALF, _LAST_HALF],
    FieldKind.DATE: [_month_and_day],
}
"""What survives a slip elsewhere in a value, and is telling enough beside the first key of another field."""
