"""What a flow says about its kinds, in the numbers of the result's clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.findings import Findings
from samekind.algorithms.kinds import Kinds
from samekind.points import LabelMap, Points

__all__ = ["Said"]


def known_names(
    of: NDArray[np.intp], members: list[NDArray[np.intp]], given_up: NDArray[np.intp]
) -> LabelMap:
    """Return names by predictions, but for rows that are known to be in clusters, or given up."""
    sizes = [len(rows) for rows in members]
    return LabelMap(
        of,
        np.concatenate([*members, given_up]).astype(np.intp),
        np.repeat([*range(len(members)), -1], [*sizes, len(given_up)]),
    )


class Said:
    """Findings, with kinds renumbered: `order` has the kind of each cluster."""

    def __init__(self, findings: Findings, order: list[int]) -> None:
        self._findings = findings
        self._order = order
        self._cluster_of = np.full(
            len(findings.centers) + 1, -1, dtype=np.intp
        )  # the last one: none
        self._cluster_of[order] = np.arange(len(order))
        self.centers: NDArray[np.float64] = findings.centers[order]
        self.standard_errors: NDArray[np.float64] = findings.standard_errors[order]
        self.certificate = findings.certificate
        self.unproven = [self._pair(a, b) for a, b in findings.unproven]

    @property
    def notes(self) -> list[str]:
        """Say which clusters could not be told apart."""
        return self._findings.notes + [
            f"Cluster {a} could not be told apart from cluster {b}: "
            f"many rows predicted to be in {a} are in {b}."
            for a, b in sorted(
                (int(self._cluster_of[a]), int(self._cluster_of[b]))
                for a, b in self._findings.muddled
            )
        ]

    def labels(self, members: list[NDArray[np.intp]], given_up: NDArray[np.intp]) -> Any:
        """Return the cluster of every row: the known one where there is one, else the predicted one."""
        return self._findings.call(known_names(self._cluster_of, members, given_up))

    def prototypes(
        self, kinds: Kinds, points: Points
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the labelled rows and their clusters: a new row is predicted to be of the nearest one's."""
        rows = [np.array(kinds.members[kind], dtype=np.intp) for kind in self._order]
        clusters = np.repeat(np.arange(len(rows)), [len(members) for members in rows])
        return points.rows(np.concatenate([*rows, np.empty(0, dtype=np.intp)])), clusters

    def _pair(self, a: int, b: int) -> tuple[int, int]:
        first, second = sorted((int(self._cluster_of[a]), int(self._cluster_of[b])))
        return first, second
