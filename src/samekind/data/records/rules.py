"""Blocks: records that may be one only if they agree in what the user named; and copies of one record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from samekind.data.records.blocking import Pairs, nearest_pairs, sorted_pairs
from samekind.data.records.fields import Field
from samekind.data.tables import Tick, silent
from samekind.errors import DataError, Parameter, no_such_column

__all__ = ["Block", "copies", "pairs_in_blocks", "parse_block"]

Block: TypeAlias = "str | Sequence[str] | None"
"""Columns in which records must agree to be compared: "postcode", or "postcode,surname+birth" for
either."""

_ALL_PAIRS = 24  # records of a block up to which each is compared with each
_MOST_COPIES = 5  # rows that are the same in every field, up to which each is compared with each

Codes = NDArray[np.int64]


def parse_block(given: Block, columns: Sequence[str], source: str) -> list[tuple[str, ...]]:
    """Return the rules: records are compared if they agree in all columns of one of them."""
    if given is None:
        return []
    texts = given.split(",") if isinstance(given, str) else list(given)
    rules = []
    for text in filter(None, (str(text).strip() for text in texts)):
        names = (text,) if text in columns else tuple(name.strip() for name in text.split("+"))
        for name in names:
            if name not in columns:
                raise no_such_column(source, "block", name, columns)
        rules.append(names)
    if not rules:
        raise DataError(Parameter("block"), ' must name columns, such as "postcode", got none.')
    return rules


def combined(fields: Sequence[Field], *, missing_agree: bool = False) -> Codes:
    """Return one number for the values of several fields; -1 where one is missing."""
    codes = np.zeros(fields[0].codes.size, np.int64)
    for field in fields:
        own = field.codes.astype(np.int64)
        both = pd.factorize(codes * (len(field.values) + 1) + own + 1)[0].astype(np.int64)
        codes = both if missing_agree else np.where((own >= 0) & (codes >= 0), both, -1)
    return codes


def copies(
    fields: Sequence[Field], files: NDArray[np.int8] | None
) -> tuple[NDArray[np.intp], Pairs]:
    """Return the records to look at, and pairs that tie those left out to them.

    Of records that are the same in every field a few are looked at like others. Of more only the first (of
    each file) is, and each other one is tied to the one before: all rows of a file may be alike.
    """
    codes = combined(fields, missing_agree=True)
    n = codes.size
    if files is not None:
        n_files = int(files.max()) + 1
        codes = codes * n_files + files
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=codes[order][0] - 1))
    sizes = np.diff(starts, append=n)
    many = np.repeat(sizes > _MOST_COPIES, sizes)
    first = np.zeros(n, bool)
    first[starts] = True
    later = many & ~first
    kept = np.sort(order[~later])
    if files is None:
        tied = np.flatnonzero(later)
        return kept, sorted_pairs(np.stack([order[tied - 1], order[tied]], axis=1), n)
    # Pairs go across files: each copy is tied to the first equal record of another one, if any.
    there = {int(codes[order[s]]): int(order[s]) for s in starts}

    def mate(row: int) -> int:
        alike = int(codes[row]) // n_files * n_files
        others = (alike + file for file in range(n_files) if file != files[row])
        return next((there[code] for code in others if code in there), -1)

    tied = order[later]
    mates = np.array([mate(row) for row in tied.tolist()], dtype=np.intp)
    return kept, sorted_pairs(np.stack([tied, mates], axis=1)[mates >= 0], n)


def pairs_in_blocks(
    rules: Sequence[Sequence[Field]],
    terms: sparse.csr_array,
    top: int,
    files: NDArray[np.int8] | None,
    tick: Tick,
) -> Pairs:
    """Return pairs of records that agree by one of the rules: all of a small block, else the most alike."""
    n = terms.shape[0]
    found: list[Pairs] = []
    for number, fields in enumerate(rules):
        codes = combined(fields)
        order = np.argsort(codes, kind="stable")
        order = order[codes[order] >= 0]
        if not order.size:
            continue
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        sizes = np.diff(starts, append=order.size)
        for size in np.unique(sizes[(sizes > 1) & (sizes <= _ALL_PAIRS)]):
            rows = order[starts[sizes == size][:, None] + np.arange(size)]
            one, other = np.triu_indices(size, 1)
            found.append(
                np.stack([rows[:, one].ravel(), rows[:, other].ravel()], 1).astype(np.int32)
            )
        for start, size in zip(starts, sizes, strict=True):
            if size > _ALL_PAIRS:
                rows = np.sort(order[start : start + size])
                own = None if files is None else files[rows]
                if own is None or own.min() < own.max():
                    found.append(
                        rows[nearest_pairs(terms[rows], top, own, silent)].astype(np.int32)
                    )
        tick("candidates", number + 1, len(rules))
    pairs = sorted_pairs(np.concatenate(found), n) if found else np.empty((0, 2), np.int32)
    return pairs if files is None else pairs[files[pairs[:, 0]] != files[pairs[:, 1]]]
