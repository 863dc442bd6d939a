"""What walks and answers say of any two groups.

Most groups have nothing to do with each other, so only what is there is kept: there may be as many groups as
rows.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from samekind.flow import FloatArray, IntArray

__all__ = ["Between", "laid_out"]

Table = list[dict[int, float]]
"""For each group, an amount for each other one of which there is something to say."""


class Between:
    """A table of walks and one of answers.

    Attributes
    ----------
    flow : list of dict
        Walks from the known nodes of each group that end in others, as seen after one step.
    net : list of dict
        What answers say of each group and others, as log odds.
    """

    def __init__(self) -> None:
        self.flow: Table = []
        self.net: Table = []

    def found(self) -> None:
        """Make room for one more group."""
        self.flow.append({})
        self.net.append({})

    def walk(self, group: int, to: IntArray, amounts: FloatArray) -> None:
        """Add to the walks that end in other groups."""
        row = self.flow[group]
        for other, amount in zip(to.tolist(), amounts.tolist(), strict=True):
            row[other] = max(row.get(other, 0.0) + amount, 0.0)

    def tell(self, one: int, other: int, weight: float) -> None:
        """Add what an answer says of two groups."""
        self.net[one][other] = self.net[other][one] = self.net[one].get(other, 0.0) + weight

    def told(self, group: int, net: dict[int, float]) -> None:
        """Let this be all that answers say of a group."""
        for other in self.net[group]:
            del self.net[other][group]
        self.net[group] = net
        for other, amount in net.items():
            self.net[other][group] = amount

    def merge(self, kept: int, gone: int) -> list[int]:
        """Make one group part of another; return the groups with walks that end there."""
        own = self.flow[kept]
        for other, amount in self.flow[gone].items():
            own[other] = own.get(other, 0.0) + amount
        self.flow[gone] = {}
        found = []
        for group, row in enumerate(self.flow):
            if gone in row:
                row[kept] = row.get(kept, 0.0) + row.pop(gone)
            if row.get(kept):
                found.append(group)
        self.told(gone, {})
        return found

    def said(self, group: int, others: IntArray) -> FloatArray:
        """Return what answers say of a group and others."""
        row = self.net[group]
        return np.array([row.get(other, 0.0) for other in others.tolist()])

    def n_told(self) -> int:
        """Return of how many pairs of groups answers say something."""
        return sum(sum(map(bool, row.values())) for row in self.net) // 2


def laid_out(table: Table, groups: list[int]) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the rows of some groups one after the other: where each ends, the other groups, the amounts."""
    rows = [table[group] for group in groups]
    ends = np.cumsum([0, *map(len, rows)])
    to = np.fromiter(chain.from_iterable(rows), np.intp, ends[-1])
    amounts = np.fromiter(chain.from_iterable(row.values() for row in rows), float, ends[-1])
    return ends, to, amounts
