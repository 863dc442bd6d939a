"""Which clusters are proven different, and which may still be one."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused import _kernels
from samekind.algorithms.focused import constants as const
from samekind.flow import FloatArray, IntArray

__all__ = ["ClusterPairs"]

NOTED = 1e-3  # similarity from which on it is noted what became of a pair


class ClusterPairs:
    """Of every two clusters: whether they are proven different, undecidable or open, and their similarity.

    The similarity of two clusters is the probability of the one that the model gave to rows of the other, on
    average, before anybody was asked about them; the larger one of both ways.
    """

    def __init__(self) -> None:
        self.n_clusters = 0
        self._similarity = np.zeros((16, 16))  # of the second, for rows of the first
        self._open = np.zeros((16, 16), dtype=bool)  # nothing is known, and somebody may be asked
        self._undecidable = np.zeros((16, 16), dtype=bool)  # nobody can tell
        self._n_rows = np.zeros(16)
        self._merged = np.zeros(16, dtype=bool)
        self._ahead: list[tuple[int, int]] = []  # the next pairs to ask about, most similar last
        self.outcomes: list[tuple[float, bool]] = []
        """Similarities of pairs when they were decided, if not very small, and whether they were one."""

    def add_cluster(self) -> None:
        """Make room for a new cluster, of which nothing is known."""
        k = self.n_clusters
        if k == self._n_rows.size:
            self._similarity, self._open, self._undecidable = (
                np.pad(table, ((0, k), (0, k)))
                for table in (self._similarity, self._open, self._undecidable)
            )
            self._n_rows = np.pad(self._n_rows, (0, k))
            self._merged = np.pad(self._merged, (0, k))
        alive = self._alive
        self._ahead = []
        self.n_clusters += 1
        self._open[k, alive] = self._open[alive, k] = True

    @property
    def _alive(self) -> IntArray:
        found: IntArray = (~self._merged[: self.n_clusters]).nonzero()[0]
        return found

    def add_member(self, cluster: int, probabilities: FloatArray, refused: list[int]) -> None:
        """Learn from a row of a cluster: its probabilities of all clusters, and those that refused it."""
        self._n_rows[cluster] += 1
        share = max(const.SIMILARITY_STEP, 1 / self._n_rows[cluster])
        similarity = self._similarity[cluster, : probabilities.size]
        similarity += (probabilities - similarity) * share
        for other in refused:
            self.separate(cluster, other)

    def set_similarities(self, similarities: FloatArray) -> None:
        """Replace those of all clusters that there were when they were found."""
        k = len(similarities)
        self._similarity[:k, :k] = similarities
        self._ahead = []

    def separate(self, a: int, b: int) -> None:
        """Note that two clusters are different."""
        if self._open[a, b]:
            self._note(a, b, is_one=False)
        self._open[a, b] = self._open[b, a] = False
        self._undecidable[a, b] = self._undecidable[b, a] = False

    def _note(self, a: int, b: int, *, is_one: bool) -> None:
        similarity = self.similarity(a, b)
        if similarity >= NOTED:
            self.outcomes.append((similarity, is_one))

    def open_similarities(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the pairs that may be one: their similarities, the ones and the others."""
        k = self.n_clusters
        a, b = np.nonzero(np.triu(self._open[:k, :k], 1))
        return np.maximum(self._similarity[a, b], self._similarity[b, a]), a, b

    def open_matrix(self) -> FloatArray:
        """Return the similarities of all pairs that may be one, (clusters, clusters); 0 for the others."""
        k = self.n_clusters
        similarity = np.maximum(self._similarity[:k, :k], self._similarity[:k, :k].T)
        found: FloatArray = np.where(
            self._open[:k, :k] | self._undecidable[:k, :k], similarity, 0.0
        )
        return found

    def separated(self, least: float) -> list[tuple[float, int, int]]:
        """Return the pairs held to be different with at least this similarity: (similarity, a, b)."""
        k = self.n_clusters
        similarity = np.maximum(self._similarity[:k, :k], self._similarity[:k, :k].T)
        alive = ~self._merged[:k]
        a, b = np.nonzero(
            np.triu((similarity >= least) & ~self._open[:k, :k] & alive & alive[:, None], 1)
        )
        return list(zip(similarity[a, b].tolist(), a.tolist(), b.tolist(), strict=True))

    def similarity(self, a: int, b: int) -> float:
        """Return the similarity of two clusters."""
        return float(max(self._similarity[a, b], self._similarity[b, a]))

    def reopen(self, a: int, b: int, similarity: float = 0.0) -> None:
        """Take back that two clusters are different or undecidable; they are at least so similar."""
        if not self._merged[a] and not self._merged[b]:
            self._open[a, b] = self._open[b, a] = True
            self._undecidable[a, b] = self._undecidable[b, a] = False
            self._similarity[a, b] = max(self._similarity[a, b], similarity)
            self._ahead = []

    def mark_undecidable(self, a: int, b: int) -> None:
        """Note that nobody can tell whether two clusters are one."""
        self._open[a, b] = self._open[b, a] = False
        self._undecidable[a, b] = self._undecidable[b, a] = True

    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another: what was different from either is different from both."""
        k = self.n_clusters
        self._ahead = []
        self._note(keep, gone, is_one=True)
        different = ~(self._open | self._undecidable)
        for other in self._alive:
            if other not in (keep, gone) and (different[keep, other] or different[gone, other]):
                self.separate(keep, int(other))
        similarity = self._similarity
        similarity[keep, :k] = np.maximum(similarity[keep, :k], similarity[gone, :k])
        similarity[:k, keep] = np.maximum(similarity[:k, keep], similarity[:k, gone])
        self._open[gone] = self._open[:, gone] = False
        self._undecidable[gone] = self._undecidable[:, gone] = False
        self._n_rows[keep] += self._n_rows[gone]
        self._n_rows[gone] = 0
        self._merged[gone] = True

    def retire(self, cluster: int) -> None:
        """Note that a cluster has no members any more."""
        self._ahead = []
        self._open[cluster] = self._open[:, cluster] = False
        self._undecidable[cluster] = self._undecidable[:, cluster] = False
        self._n_rows[cluster] = 0
        self._merged[cluster] = True

    def set_different(self, cluster: int, others: list[int]) -> None:
        """Note which clusters alone are different from this one; what is undecidable stays so."""
        self._ahead = []
        alive = self._alive
        self._open[cluster, alive] = self._open[alive, cluster] = ~self._undecidable[cluster, alive]
        self._open[cluster, cluster] = False
        apart = np.array(list(dict.fromkeys(others)), dtype=np.intp)
        if not apart.size:
            return
        opened = apart[self._open[cluster, apart]]
        found = np.maximum(self._similarity[cluster, opened], self._similarity[opened, cluster])
        self.outcomes += [(one, False) for one in found[found >= NOTED].tolist()]
        self._open[cluster, apart] = self._open[apart, cluster] = False
        self._undecidable[cluster, apart] = self._undecidable[apart, cluster] = False

    def open_with(self, cluster: int) -> list[int]:
        """Return the clusters that may be one with this one, most similar first."""
        k = self.n_clusters
        similarity = np.maximum(self._similarity[cluster, :k], self._similarity[:k, cluster])
        order = np.argsort(-similarity, kind="stable")
        found: list[int] = order[self._open[cluster, order]].tolist()
        return found

    def is_open(self, a: int, b: int) -> bool:
        """Return whether two clusters may be one, and somebody may be asked."""
        return bool(self._open[a, b])

    def most_similar(
        self, cluster: int | None = None, size: int = 1
    ) -> list[tuple[float, int, int]]:
        """Return the most similar open pair of one cluster, or `size` of all: (similarity, a, b).

        Pairs of all clusters are taken from a list that is made anew now and then, not each time.
        """
        if self.n_clusters < 2:
            return []
        if cluster is None:
            return [(self.similarity(a, b), a, b) for a, b in self._next(size)]
        k = self.n_clusters
        similarity = np.maximum(self._similarity[cluster, :k], self._similarity[:k, cluster])
        other = int(np.where(self._open[cluster, :k], similarity, -1.0).argmax())
        return [(float(similarity[other]), cluster, other)] if self._open[cluster, other] else []

    def _next(self, size: int) -> list[tuple[int, int]]:
        """Return the pairs to ask about next, at least one if there is one."""
        for anew in (False, True):
            if anew or not self._ahead:
                unproven = self.unproven(const.PAIRS_AHEAD)
                self._ahead = [pair for pair in unproven if self._open[pair]][::-1]
            while self._ahead and not self._open[self._ahead[-1]]:
                self._ahead.pop()
            if self._ahead:
                return [pair for pair in self._ahead[: -size - 1 : -1] if self._open[pair]]
        return []

    def unproven(self, most: int | None = None) -> list[tuple[int, int]]:
        """Return the pairs of clusters that are not proven different, most similar first."""
        k = self.n_clusters
        size = k * (k - 1) // 2
        pairs, similarity = np.empty((size, 2), dtype=np.intp), np.empty(size)
        size = _kernels.unproven_pairs(
            self._similarity, self._open, self._undecidable, k, pairs, similarity
        )
        pairs, similarity = pairs[:size], similarity[:size]
        if most is not None and most < size:  # sort no more than it takes
            top = similarity >= np.partition(similarity, size - most)[size - most]
            pairs, similarity = pairs[top], similarity[top]
        order = np.argsort(-similarity, kind="stable")[:most]
        return [(a, b) for a, b in pairs[order].tolist()]
