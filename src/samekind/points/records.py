"""Records, and the pairs of them that may be one entity: all that is ever compared of n² pairs."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.points.array import ArrayPoints, hash_of
from samekind.points.space import WorkingSpace

__all__ = ["CandidatePairs", "RecordPoints"]

MOST_ROWS = 2**31 - 1  # row numbers are int32


class CandidatePairs(NamedTuple):
    """Pairs of records that may be one entity, and how alike they are, field by field."""

    pairs: NDArray[np.int32]
    """(m, 2) row numbers, the smaller one first, sorted, each pair once."""
    comparisons: NDArray[np.float32]
    """(m, f) similarity by field, from 0 to 1 (equal); NaN where a value is missing on either side."""
    fields: tuple[str, ...]
    """What each column of the comparisons is about, for people."""
    similarity: NDArray[np.float32]
    """(m,) over all fields, from 0 to 1: what blocking found the pair by."""
    views: NDArray[np.float32]
    """(m, v) how alike the two records are as a whole, seen in several ways."""
    features: NDArray[np.float32]
    """(m, g) all that a model of pairs learns from; NaN where it is not known."""

    @classmethod
    def of(
        cls,
        pairs: ArrayLike,
        comparisons: ArrayLike,
        fields: tuple[str, ...] | None = None,
        similarity: ArrayLike | None = None,
    ) -> CandidatePairs:
        """Return pairs in any order as candidate pairs: sorted, each once, the smaller row first.

        Without a `similarity` it is the mean of the comparisons that are not missing. A model of these pairs
        learns from the comparisons.

        Examples
        --------
        >>> found = CandidatePairs.of([[2, 1], [0, 1]], [[0.5], [1.0]])
        >>> found.pairs.tolist(), found.similarity.tolist(), found.fields
        ([[0, 1], [1, 2]], [1.0, 0.5], ('field 1',))
        """
        given = np.asarray(pairs)
        rows = given.astype(np.int32, copy=False).reshape(-1, 2)
        levels = np.asarray(comparisons, dtype=np.float32)
        if levels.ndim != 2 or len(levels) != len(rows):
            raise ValueError(
                f"comparisons must have a line for each of {len(rows)} pairs, got shape {levels.shape}."
            )
        with np.errstate(invalid="ignore"):
            if (levels < 0).any() or (levels > 1).any():
                raise ValueError(
                    "comparisons must be between 0 and 1 (equal), or NaN where a value is missing."
                )
        names = tuple(fields or (f"field {j + 1}" for j in range(levels.shape[1])))
        if len(names) != levels.shape[1]:
            raise ValueError(
                f"fields must name {levels.shape[1]} columns of comparisons, got {names}."
            )
        if (rows[:, 0] == rows[:, 1]).any():
            row = int(rows[rows[:, 0] == rows[:, 1]][0, 0])
            raise ValueError(
                f"a record cannot be compared with itself, got the pair ({row}, {row})."
            )
        if similarity is None:
            present = ~np.isnan(levels)
            total = np.where(present, levels, 0).sum(axis=1)
            alike = total / np.maximum(present.sum(axis=1), 1)
        else:
            alike = np.asarray(similarity)
        alike = alike.astype(np.float32, copy=False)
        low, high = rows.min(axis=1, initial=MOST_ROWS), rows.max(axis=1, initial=-1)
        keys = (low.astype(np.int64) << 32) | high
        if (np.diff(keys) > 0).all() and (low == rows[:, 0]).all():
            return cls(rows, levels, names, alike, alike[:, None], levels)
        first = np.unique(keys, return_index=True)[1]
        rows, levels, alike = np.column_stack([low, high])[first], levels[first], alike[first]
        return cls(rows, levels, names, alike, alike[:, None], levels)


class RecordPoints(ArrayPoints):
    """n records and their candidate pairs.

    Parameters
    ----------
    candidates : CandidatePairs
        What may be one entity; all other pairs are taken to be different.
    n : int
        How many records there are.
    files : (n,) array of int or None
        The number of the file of each record, where files without duplicates of their own are linked: then an
        entity has at most one record of each. None where one file is deduplicated.
    X : array-like of shape (n, d) or None
        Coordinates for maps and nearest centres, such as a few components of the letters; the algorithms for
        records do without.
    content : str
        What changes when the records change: the fingerprint. By default of the candidate pairs.

    Examples
    --------
    >>> candidates = CandidatePairs.of([[0, 1]], [[1.0, 0.8]], ("name", "birth"))
    >>> RecordPoints(candidates, 3)
    RecordPoints(3 records, 1 candidate pairs, 2 fields)
    """

    def __init__(
        self,
        candidates: CandidatePairs,
        n: int,
        *,
        files: ArrayLike | None = None,
        X: ArrayLike | None = None,
        content: str = "",
        threads: int | None = None,
    ) -> None:
        size = check_positive_int("n", n)
        if len(candidates.pairs) and int(candidates.pairs.max()) >= size:
            raise ValueError(
                f"candidates mention row {int(candidates.pairs.max())}, but there are {size} records."
            )
        super().__init__(np.zeros((size, 1), dtype=np.float32) if X is None else X, threads=threads)
        if self.n != size:
            raise ValueError(f"X must have a row for each of {size} records, got {self.n}.")
        self.candidates = candidates
        self.files: NDArray[np.int8] | None = None
        if files is not None:
            self.files = np.asarray(files).astype(np.int8)
            if self.files.shape != (size,):
                raise ValueError(
                    f"files must have a number for each of {size} records, got shape {self.files.shape}."
                )
        self._content = content

    def __repr__(self) -> str:
        m, f = self.candidates.comparisons.shape
        linked = "" if self.files is None else f", {len(np.unique(self.files))} files"
        return f"RecordPoints({self.n:,} records, {m:,} candidate pairs, {f} fields{linked})"

    def fingerprint(self) -> str:
        """Return `content`, or a hash of the candidate pairs."""
        if self._content:
            return self._content
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.n} records".encode())
        digest.update(np.ascontiguousarray(self.candidates.pairs).data)
        digest.update(hash_of(np.ascontiguousarray(self.candidates.comparisons)).encode())
        if self.files is not None:
            digest.update(self.files.data)
        return digest.hexdigest()

    def _in_space(self, space: WorkingSpace) -> RecordPoints:
        """Return the same records: their coordinates in a space change nothing of what is compared."""
        reduced = super()._in_space(space)
        return RecordPoints(
            self.candidates, self.n, files=self.files, X=reduced.X, content=self._content
        )
