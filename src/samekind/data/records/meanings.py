"""What free texts mean: the mean of the vectors of their words, less what all texts of the column share.

Two shops that describe one product in words of their own share few letters, but mean the same. Codes and
numbers mean nothing, so letters are compared beside it, and answers show which of the two tells more. Vectors
are made piece by piece and kept with half precision: half a gigabyte for a million texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.data.word_features import word_vectors

__all__ = ["Vectors", "cosines", "meanings_of"]

_PIECE = 20_000  # texts whose vectors are made at once, and pairs that are compared at once
_SAMPLE = 20_000  # texts that show what all of them share
_FEW = 50  # texts whose mean is rather what they say than what all texts share

Vectors: TypeAlias = NDArray[np.float16]


def meanings_of(texts: Sequence[str]) -> Vectors:
    """Return a vector of length 1 for each text, of half precision; 0 where it has no words."""
    words = word_vectors()
    some = words.mean(texts[:: max(1, len(texts) // _SAMPLE)])
    common = some.sum(axis=0) / np.float32(len(some) + _FEW)
    found = np.empty((len(texts), common.size), np.float16)
    for start in range(0, len(texts), _PIECE):
        own = words.mean(texts[start : start + _PIECE])
        empty = ~own.any(axis=1)
        own -= common
        own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), np.float32(1e-6))
        own[empty] = 0
        found[start : start + len(own)] = own
    return found


def cosines(
    vectors: Vectors, one: NDArray[np.intp], other: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the products of pairs of vectors."""
    found = np.empty(one.size, np.float32)
    for start in range(0, one.size, _PIECE):
        at = slice(start, start + _PIECE)
        left, right = vectors[one[at]].astype(np.float32), vectors[other[at]].astype(np.float32)
        found[at] = np.einsum("ij,ij->i", left, right)
    return found
