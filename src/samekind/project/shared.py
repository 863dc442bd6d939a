"""What all parts of a project share: its items, its session, and what is found so far."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import numpy as np

from samekind._validation import check_int
from samekind.clusters import Clusters
from samekind.data import Items, ItemView
from samekind.engine import Session
from samekind.ledger import KeptReply, Revision
from samekind.project.annotators import models_in
from samekind.project.numbers import ClusterNumbers
from samekind.project.proposals import ProposedNames
from samekind.project.records import ClusterOption, ClusterRef
from samekind.project.sharing import Sharing
from samekind.project.words import (
    KeyReused,
    ProjectError,
    check_name,
    name_of,
    plain,
    plain_item,
)

if TYPE_CHECKING:
    from samekind.project.assistant import Assistant

__all__ = ["SHOWN", "ProjectPart", "exclusive"]

FINISHED = "finished"  # in `meta`: whether somebody wants no more questions
SHOWN = 3  # members of a cluster beside a question
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

    def __init__(self, items: Items, session: Session, budget: int | None = None) -> None:
        self.items = items
        self.budget = check_int("budget", budget, none="ask without limit")
        self.waits_for_map = False  # or whoever answers would have to wait, too
        self.map_file: Path | None = None  # where the map is kept
        self.notices: list[str] = []  # what somebody who opens it should know
        self.assistant: Assistant | None = None  # a model that answers in the background
        self._lock = threading.RLock()
        self._at_one_moment = (
            False  # whether others' writing is looked at once for all that is done,
        )
        self._is_current = False  # and was
        self._proposals = ProposedNames(items)
        # by which questions belong to who sees them, for all who serve the project
        self.clock: Callable[[], float] = time
        self._attach(session)

    def _attach(self, session: Session) -> None:
        """Go on with a session."""
        self.session = session
        self._found: tuple[tuple[Revision, str | None], Clusters] | None = None
        self._counted: tuple[Revision, int] | None = None  # presses
        self.numbers = ClusterNumbers(session)
        self._sharing = Sharing(session, lambda: self.clock())
        self._stopped = ""  # why nothing is asked: somebody finished, or the budget is spent
        self._heed_end()

    def catch_up(self) -> None:
        """Take in what others wrote, also that somebody finished, or went on."""
        if not self._is_current:
            self.session.catch_up()
            self._is_current = self._at_one_moment
        self._heed_end()

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Within it, look once at what others wrote, so that all that is told fits together.

        An act looks, too. Other threads wait meanwhile.
        """
        with self._lock:
            if self._at_one_moment:
                yield
                return
            self._at_one_moment = True
            try:
                yield
            finally:
                self._at_one_moment = self._is_current = False

    @contextmanager
    def act(self) -> Iterator[None]:
        """Within it, do all that belongs to one act of a user: it is kept as a whole, or not at all."""
        with self._sharing.acting(), self.session.act():
            self.numbers.keep()
            yield
        self._is_current = self._at_one_moment

    def once(self, key: str, request: str, do: Callable[[], object], *, who: str = "") -> object:
        """Do something once, however often it is asked for with one key; return what it returned, as JSON.

        That is kept in one transaction with what it did, so it holds after a crash, and for other programs.
        `request` is a digest of what is asked for: a key belongs to one request alone.
        """
        with self._lock, self.act():
            ledger = self.session.ledger
            kept = ledger.reply_to(who, key)
            if kept is None:
                reply = json.dumps(do())
                ledger.keep_reply(who, key, KeptReply(request, reply))
                return json.loads(reply)
            if kept.request != request:
                raise KeyReused(
                    "This Idempotency-Key was used for another request before. Take a new one for each."
                )
            return json.loads(kept.reply)

    @property
    def criterion(self) -> str:
        """When two rows are of one cluster, in a sentence, for those who answer; "" if nobody said."""
        return plain(self.session.ledger.settings.get(CRITERION, ""))

    @exclusive
    def set_criterion(self, text: str) -> None:
        """Say in a sentence when two rows are of one cluster, and keep it; "" takes it away."""
        sentence = check_name(text, "A criterion")
        with self.act():
            self.session.ledger.set(CRITERION, sentence)

    def _set_finished(self, finished: bool) -> None:
        """Keep whether somebody has finished, and heed it."""
        self.session.catch_up()
        if finished != self._is_finished:
            with self.act():
                self.session.ledger.set(FINISHED, "1" if finished else "")
        self._heed_end()

    @property
    def _is_finished(self) -> bool:
        return bool(self.session.ledger.settings.get(FINISHED))

    @property
    def n_presses(self) -> int:
        """How many times somebody answered, or changed clusters by hand; at once counts as once."""
        now = self.session.ledger.revision
        if self._counted is None or self._counted[0] != now:
            self._counted = now, self._count_presses()
        return self._counted[1]

    def _count_presses(self) -> int:
        ledger = self.session.ledger
        numbers = [ledger.log.number_of(name) for name in models_in(ledger)]
        lines = ledger.log.acts()
        acts = np.unique(lines["act"][~np.isin(lines["who"], numbers)])
        return len({one.act for one in ledger.log.opinions.standing()} | set(acts.tolist()))

    def locked(self) -> threading.RLock:
        """Return what lets one thread at a time do several things with the project."""
        return self._lock

    @property
    def is_records(self) -> bool:
        """Whether items are records that may be duplicates."""
        return self.items.is_records and self.session.points.n > 0

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is asked, or None. To find that out a question may have to be chosen."""
        with self._lock:
            return self.session.stop_reason

    @property
    def is_blank(self) -> bool:
        """Whether nothing is answered, so that nothing can be told of any row."""
        return len(self.session.ledger) == 0

    @property
    def presses_left(self) -> int | None:
        """How many more times somebody may answer; None is no limit."""
        return self._presses_left

    @property
    def _presses_left(self) -> int | None:
        return None if self.budget is None else max(0, self.budget - self.n_presses)

    def _heed_end(self) -> None:
        """Ask nothing, or go on, as the project and the budget say."""
        why = "user" if self._is_finished else "budget" if self._presses_left == 0 else ""
        if why != self._stopped:
            if why:
                self.session.stop(why)
            else:
                self.session.resume()
        self._stopped = why

    def item(self, row: int) -> ItemView:
        """Return what to show of a row."""
        return plain_item(self.items.show(row))

    def name_of(self, members: list[int]) -> str | None:
        """Return what somebody called the cluster with these members; None if nobody did."""
        return name_of(members, self.session.ledger)

    def ref(self, members: list[int]) -> ClusterRef:
        """Return the cluster with these members: its number for life and what it is called.

        The name that is proposed is the one of when all clusters were last looked at, if there is one.
        """
        number = self.numbers.of(members[0])
        return ClusterRef(
            cluster=self.numbers.anchor_of(members[0]),
            number=number,
            name=self.name_of(members),
            proposed_name=self._proposals.name(number, members),
        )

    def option(self, members: list[int], examples: list[int] | None = None) -> ClusterOption:
        """Return the cluster with these members, with a few examples, its first ones if you name none."""
        shown = (members if examples is None else examples)[:SHOWN]
        return ClusterOption(**vars(self.ref(members)), members=list(map(self.item, shown)))

    @exclusive
    def refs(self) -> Sequence[ClusterRef]:
        """Return all clusters, in the order of ``clusters()``, with the names that fit them now."""
        found = self.clusters()
        members = [rows.tolist() for rows in found.members_]
        numbers = [self.numbers.of(rows[0]) for rows in members]
        self._proposals.update(found, numbers)
        return list(map(self.ref, members))

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
        own = set(self._members(cluster))
        return next(k for k, rows in enumerate(self.clusters().members_) if int(rows[0]) in own)
