"""What answers say of pairs of records, and what follows from them: a function of the answers alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.records._kernels import join_components
from samekind.algorithms.records.clustering import LOW_BITS, file_bits, pair_keys
from samekind.flow import DIFFERENT, SAME, UNANSWERED, UNSURE, Answers, BoolArray, IntArray
from samekind.points import RecordPoints

__all__ = ["KnownPairs", "PairIndex"]

EQUAL = 1 - 1e-5  # but for rounding


class PairIndex:
    """The candidate pairs, found by their rows."""

    def __init__(self, points: RecordPoints) -> None:
        self.n = points.n
        self.pairs = points.candidates.pairs
        self._keys = pair_keys(self.pairs)
        self.files = points.files
        self.in_one_file: BoolArray = np.zeros(len(self.pairs), dtype=bool)
        if self.files is not None:
            one, other = self.files[self.pairs].T
            self.in_one_file = one == other
        compared, similarity = points.candidates.comparisons, points.candidates.similarity
        equal = (similarity > EQUAL) & ~(compared < EQUAL).any(axis=1)
        self.copies = self.pairs[equal & (self.files is None)]
        """The pairs whose records are equal in every field, in one file."""

    def numbers_of(self, keys: NDArray[np.int64]) -> IntArray:
        """Return the numbers of the candidate pairs with these keys, -1 for others."""
        return _find(self._keys, keys)

    def with_row(self, row: int) -> tuple[IntArray, IntArray]:
        """Return the candidate pairs that a row is in, and the other row of each."""
        numbers = np.flatnonzero((self.pairs[:, 0] == row) | (self.pairs[:, 1] == row))
        return numbers, self.pairs[numbers].sum(axis=1) - row


class KnownPairs:
    """Answers about pairs of records, and what follows from them.

    Parameters
    ----------
    index : PairIndex
        The candidate pairs.
    pairs : ndarray of shape (k, 2)
        What was answered, in any order; a pair stands there once for everybody who answered it.
    answers : ndarray of shape (k,)
        SAME, DIFFERENT or UNSURE.
    infers : bool
        Whether other answers follow: same and same is same, same and different is different. Not where
        answers may be wrong.
    """

    def __init__(
        self, index: PairIndex, pairs: NDArray[np.integer], answers: Answers, *, infers: bool
    ) -> None:
        self.infers = infers
        said = (answers == SAME).astype(np.float64) - (answers == DIFFERENT)
        self.keys, place = np.unique(pair_keys(pairs), return_inverse=True)
        self.pairs: IntArray = np.column_stack([self.keys >> 32, self.keys & LOW_BITS])
        """(k, 2) each once and sorted, the smaller row first."""
        votes = np.bincount(place, said, len(self.keys))
        self.votes = np.sign(votes) if infers else votes
        """(k,) how many more said SAME than DIFFERENT; where answers are true, one is as good as many."""
        self.numbers = index.numbers_of(self.keys)
        """(k,) which candidate pair each is, -1 if none."""
        self.root: IntArray = np.arange(index.n)
        """(n,) the first record known to be the same as each."""
        if infers:
            join_components(self.pairs, self.votes, self.root)
        apart = self.pairs[self.votes < 0] if infers else self.pairs[:0]
        self.apart: NDArray[np.int64] = np.unique(pair_keys(self.root[apart]))
        """The keys of the pairs of roots known to be different."""
        self.files = index.files
        """(n,) the file of each record; -1 where answers put two records of one file together."""
        self._bits: IntArray | None = None
        if index.files is not None:
            self.files, self._bits = self._look_at_files(index.files)
        self.merged = self._with_copies(index)
        """(n,) the first record known to be the same as each, or equal to it in every field."""
        self.decided, self.evidence = self._look_at_candidates(index)

    def __len__(self) -> int:
        return len(self.keys)

    def relation(self, pairs: NDArray[np.integer]) -> Answers:
        """Return what is known of each pair: SAME, DIFFERENT, UNSURE, or UNANSWERED where nothing is."""
        found = np.full(len(pairs), UNANSWERED, dtype=np.int8)
        place = _find(self.keys, pair_keys(pairs))
        votes = self.votes[place[place >= 0]]
        found[place >= 0] = np.select([votes > 0, votes < 0], [SAME, DIFFERENT], UNSURE)
        roots = self.root[pairs]
        one, other = roots.T
        apart = _find(self.apart, pair_keys(roots)) >= 0
        if self._bits is not None:
            apart |= (self._bits[one] & self._bits[other]) != 0
        found[apart] = DIFFERENT
        found[one == other] = SAME
        return found

    def _with_copies(self, index: PairIndex) -> IntArray:
        """Return the root of each record and its copies, but of copies that answers say are different."""
        copies = index.copies[~np.isin(pair_keys(index.copies), self.keys[self.votes < 0])]
        merged = self.root.copy()
        join_components(copies, np.ones(len(copies)), merged)
        one, other = merged[np.column_stack([self.apart >> 32, self.apart & LOW_BITS])].T
        torn = np.unique(one[one == other])
        if torn.size:
            copies = copies[~np.isin(merged[copies[:, 0]], torn)]
            merged = self.root.copy()
            join_components(copies, np.ones(len(copies)), merged)
        return merged

    def _look_at_files(self, files: NDArray[np.int8]) -> tuple[NDArray[np.int8], IntArray]:
        """Return the file of each record that still matters, and a bit for every file of its group."""
        rows = np.unique(self.pairs)
        root = self.root[rows]
        own, count = np.unique(root << 8 | files[rows], return_counts=True)
        left = files.copy()
        left[rows[np.isin(root, own[count > 1] >> 8)]] = -1
        bits = file_bits(left)
        np.bitwise_or.at(bits, root, bits[rows])
        return left, bits[self.root]

    def _look_at_candidates(self, index: PairIndex) -> tuple[BoolArray, NDArray[np.float32]]:
        """Return which candidate pairs nobody need be asked about, and what is said for each (or against)."""
        touched = np.zeros(index.n, dtype=bool)
        touched[self.pairs] = True
        some = np.flatnonzero(touched[index.pairs[:, 0]] | touched[index.pairs[:, 1]])
        known = self.relation(index.pairs[some])
        decided = index.in_one_file.copy()
        decided[some] |= known != UNANSWERED
        evidence: NDArray[np.float32] = np.zeros(len(index.pairs), dtype=np.float32)
        if self.infers:
            evidence[some] = (known == SAME).astype(np.float32) - (known == DIFFERENT)
        else:
            asked = self.numbers >= 0
            evidence[self.numbers[asked]] = self.votes[asked]
        return decided, evidence


def _find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> IntArray:
    """Return where each wanted key stands among sorted keys, -1 if it does not."""
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
