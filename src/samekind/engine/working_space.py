"""The space in which a session's algorithm works: found once, and kept with the answers."""

from __future__ import annotations

from dataclasses import dataclass

from samekind.ledger import Ledger
from samekind.points import Points, Reduce, WorkingSpace, check_space, find_space

__all__ = ["SpaceChoice"]

KEY = "space"  # in `meta`: the space as a text, "" for the rows as they are


@dataclass(frozen=True)
class SpaceChoice:
    """The metric and the number of dimensions that a user asked for."""

    metric: str = "auto"
    reduce: Reduce = "auto"
    suggested: object = None
    """The metric that suits the rows, where something is known of them: what "auto" is then."""

    def __post_init__(self) -> None:
        check_space(self.metric, self.reduce)

    def open(
        self, points: Points, ledger: Ledger, seed: int, *, reduces: bool
    ) -> tuple[WorkingSpace | None, Points]:
        """Return the space to work in, None for that of the rows as they are, and the points in it.

        A space that the ledger keeps is taken unless another one is asked for; a new one is kept
        there. "auto" reduces nothing unless the algorithm `reduces`, nor in a project that was begun
        with rows as they are: its answers are about what was asked then.
        """
        if not reduces and self.reduce == "auto":
            return find_space(points, metric=self.metric, reduce=None, seed=seed)
        kept = ledger.settings.get(KEY)
        if kept is not None:
            space = WorkingSpace.from_text(kept) if kept else None
            if self._accepts(space):
                return space, points if space is None else points.in_space(space)
        metric, reduce = self.metric, self.reduce
        if kept is None and len(ledger):
            reduce = None if reduce == "auto" else reduce
        elif metric == "auto" and self.suggested == "cosine":
            metric = "cosine"
        found, reduced = find_space(points, metric=metric, reduce=reduce, seed=seed)
        if found is not None or kept is not None:
            with ledger.transaction():
                ledger.set(KEY, "" if found is None else found.to_text())
        return found, reduced

    def _accepts(self, space: WorkingSpace | None) -> bool:
        """Return whether a space, None for the rows as they are, is what was asked for."""
        unit, wanted = (False, None) if space is None else (space.unit, space.wanted)
        as_compared = self.metric == "auto" or (self.metric == "cosine") == unit
        return as_compared and self.reduce in ("auto", wanted)
