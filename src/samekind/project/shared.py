"""What all parts of a project share: its items, its session, and what is found so far."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from samekind.clusters import Clusters
from samekind.data import Items, ItemView
from samekind.engine import Session
from samekind.ledger import Revision
from samekind.project.words import ProjectError, check_name, name_of, plain, plain_item

__all__ = ["ProjectPart", "exclusive"]

FINISHED = "finished"  # in `meta`: whether somebody wants no more questions
CRITERION = "criterion"  # in `meta`: when two rows are of one cluster, in a sentence

P = ParamSpec("P")
T = TypeVar("T")
Part = TypeVar("Part", bound="ProjectPart")


def exclusive(method: Callable[Concatenate[Part, P], T]) -> Callable[Concatenate[Part, P], T]:
    """Let one thread at a time into a method of the project."""

    @wraps(method)
    def locked(self: Part, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class ProjectPart:
    """A part of a project; `Project` puts them together."""

    def __init__(self, items: Items, session: Session) -> None:
        self.items = items
        self.session = session
        self.waits_for_map = False  # or whoever answers would have to wait, too
        self.map_file: Path | None = None  # where the map is kept
        self.notices: list[str] = []  # what somebody who opens it should know
        self._lock = threading.RLock()
        self._found: tuple[tuple[Revision, str | None], Clusters] | None = None

        self._stopped = False  # as somebody has finished
        self._heed_finish()

    def catch_up(self) -> None:
        """Take in what others wrote, also that somebody finished, or went on."""
        self.session.catch_up()
        self._heed_finish()

    @property
    def criterion(self) -> str:
        """When two rows are of one cluster, in a sentence, for those who answer; "" if nobody said."""
        return plain(self.session.ledger.meta.get(CRITERION, ""))

    @exclusive
    def set_criterion(self, text: str) -> None:
        """Say in a sentence when two rows are of one cluster, and keep it; "" takes it away."""
        sentence = check_name(text, "A criterion")
        with self.session.act():
            self.session.ledger.set_meta(CRITERION, sentence)

    def _set_finished(self, finished: bool) -> None:
        """Keep whether somebody has finished, and heed it."""
        self.session.catch_up()
        if finished != self._is_finished:
            with self.session.act():
                self.session.ledger.set_meta(FINISHED, "1" if finished else "")
        self._heed_finish()

    @property
    def _is_finished(self) -> bool:
        return bool(self.session.ledger.meta.get(FINISHED))

    def _heed_finish(self) -> None:
        """Ask nothing, or go on, as the project says."""
        if self._is_finished and not self._stopped:
            self.session.stop()
        elif self._stopped and not self._is_finished:
            self.session.resume()
        self._stopped = self._is_finished

    def item(self, row: int) -> ItemView:
        """Return what to show of a row."""
        return plain_item(self.items.show(row))

    def name_of(self, members: list[int]) -> str | None:
        """Return what a cluster with these members is called."""
        return name_of(members, self.session.ledger)

    @exclusive
    def clusters(self) -> Clusters:
        """Return what is found so far."""
        state = self.session.ledger.revision, self.session.stop_reason
        if self._found is None or self._found[0] != state:
            self._found = state, self.session.clusters()
        return self._found[1]

    def _check_rows(self, rows: list[int]) -> None:
        n = self.session.points.n
        if not rows:
            raise ProjectError("Say which rows are meant.")
        wrong = [row for row in rows if not 0 <= row < n]
        if wrong:
            raise ProjectError(f"There is no row {wrong[0]}: rows go from 0 to {n - 1}.")

    def _members(self, cluster: int) -> list[int]:
        members = self.session.members_of(cluster) if 0 <= cluster < self.session.points.n else []
        if not members:
            raise ProjectError(
                f"There is no kind {cluster}. It may have been merged into another one."
            )
        return members

    def _label_of(self, cluster: int) -> int:
        """Return the label of a cluster in ``clusters()``."""
        first = self._members(cluster)[0]
        return next(k for k, rows in enumerate(self.clusters().members_) if rows[0] == first)
