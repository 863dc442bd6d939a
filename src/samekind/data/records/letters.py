"""Letter groups: every three characters in a row, counted with the weight of their rarity.

Two records are alike by letters as the cosine of these counts, over all fields: a slip of the pen changes
three groups of fifty, and a value that moved to another column changes none. Codes and dates have groups of
their own, so that a house number is not taken for a part of a postcode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from samekind.data.records.fields import Field
from samekind.data.records.kinds import FieldKind

__all__ = ["letter_groups", "rarity"]

_LENGTH = 3
_APART = {FieldKind.CODE, FieldKind.DATE, FieldKind.NUMBER}
_WORDS = 0  # the space of letter groups that all fields of words share
_LONGEST = 400  # characters of a value that count


def letter_groups(fields: Sequence[Field]) -> sparse.csr_array:
    """Return the letter groups of all records, (n, groups) float32, each row of length 1 (or empty)."""
    n = fields[0].codes.size
    spaces = [1 + i if field.kind in _APART else _WORDS for i, field in enumerate(fields)]
    found = [_groups(field, space) for field, space in zip(fields, spaces, strict=True)]
    vocabulary = np.unique(np.concatenate([group for _, group in found]))
    total = sparse.csr_array((n, vocabulary.size), dtype=np.float32)
    for field, (owner, group) in zip(fields, found, strict=True):
        total = total + _by_record(
            field, owner, np.searchsorted(vocabulary, group), vocabulary.size
        )
    np.sqrt(total.data, out=total.data)  # a group that stands thrice says less than three
    total.data *= rarity(total)[total.indices]
    return normalize(total, copy=False)


def rarity(counts: sparse.csr_array) -> NDArray[np.float32]:
    """Return the inverse document frequency of each column."""
    n, columns = counts.shape
    held = np.bincount(counts.indices, minlength=columns)
    weights: NDArray[np.float32] = (np.log((1 + n) / (1 + held)) + 1).astype(np.float32)
    return weights


def _groups(field: Field, space: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the letter groups of all values of a field, and which value each is from."""
    padded = pa.array([f" {value[:_LONGEST]} " for value in field.values], pa.large_binary())
    _, offsets, data = padded.buffers()
    starts = np.frombuffer(offsets, np.int64)[: len(padded) + 1]
    letters = np.frombuffer(data, np.uint8)[: starts[-1]].astype(np.int64)
    per_value = np.maximum(np.diff(starts) - _LENGTH + 1, 0)
    owner = np.repeat(np.arange(len(padded), dtype=np.int32), per_value)
    first = np.arange(owner.size) - np.repeat(np.cumsum(per_value) - per_value, per_value)
    at = first + np.repeat(starts[:-1], per_value)
    group = letters[at] << 16 | letters[at + 1] << 8 | letters[at + 2]
    return owner, group | space << 24


def _by_record(
    field: Field, owner: NDArray[np.int32], columns: NDArray[np.intp], width: int
) -> sparse.csr_array:
    """Return the groups of each record's value of a field."""
    shape = (len(field.values) + 1, width)  # the last row, of no value, is empty
    ones = np.ones(owner.size, np.float32)
    by_value = sparse.csr_array((ones, (owner, columns.astype(np.int32))), shape)
    return by_value[field.codes]  # -1 is the last one
