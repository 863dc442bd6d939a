"""Records in a project: entities by the thousand, and what a threshold for matches changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.data import Items, Role, cell_text
from samekind.project.golden import parse_rules
from samekind.project.records import ChangedPair, ClusterRef, FieldComparison, StopAdvice, Threshold
from samekind.project.status import SAFE
from samekind.project.words import ProjectError, plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Entities", "EntityRefs", "RecordNames"]

THRESHOLD = "threshold"  # in `settings`: the probability from which on records are one entity
GOLDEN = "golden"  # and by which rules golden records are made
EVEN = 0.5
TELLING = 0.5  # a bound below this says nothing yet
EXAMPLES = 6  # pairs that a threshold changes, to look at
TITLE_FIELDS = 3  # of a record, by which its entity may be called
MOST_PROPOSED = 40  # letters of each


class RecordNames:
    """Proposes to call an entity by the first few values of one of its records."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def name(self, number: int, members: list[int]) -> str:
        """Return the name for the entity with a number, of which these records are known."""
        row = members[0]
        return " ".join(text for column in self._columns if (text := column[row])).strip()

    @cached_property
    def _columns(self) -> list[list[str]]:
        frame = self._items.shown_frame(with_labels=False)
        assert frame is not None
        uses = [use.name for use in self._items.columns if use.role is Role.FIELD][:TITLE_FIELDS]
        return [[plain(cell_text(value))[:MOST_PROPOSED] for value in frame[name]] for name in uses]


class EntityRefs(Sequence[ClusterRef]):
    """The entities as clusters, each made when it is looked at: there may be a million.

    Those that answers speak of have their numbers for life, the others follow them for now.
    """

    def __init__(self, project: Project, names: RecordNames, found: Clusters) -> None:
        self._project, self._names, self._found = project, names, found
        self._after = max(project.ledger.log.found, default=0) + 1

    def __len__(self) -> int:
        return len(self._found.members_)

    @overload
    def __getitem__(self, place: int) -> ClusterRef: ...

    @overload
    def __getitem__(self, place: slice) -> list[ClusterRef]: ...

    def __getitem__(self, place: int | slice) -> ClusterRef | list[ClusterRef]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        members = self._found.members_[place].tolist()
        known = self._project.session.members_of(members[0]) if members else []
        if known:
            return self._project.kinds.ref(known)
        row = members[0] if members else 0
        return ClusterRef(row, self._after + place, None, self._names.name(0, [row]), "")


class Entities:
    """Which records are one entity, at a threshold for matches; of other items, all of it is an error."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @property
    def threshold(self) -> float:
        """The probability from which on records are one entity in exports."""
        return float(self._project.ledger.settings.get(THRESHOLD, EVEN))

    def set_threshold(self, threshold: float) -> None:
        """Keep a threshold, by which entities are exported from now on."""
        self._check(threshold)
        with self._project.act():
            self._project.ledger.set(THRESHOLD, repr(float(threshold)))

    @property
    def golden_rules(self) -> dict[str, str]:
        """By which rule the value of each column of a golden record is chosen; see `set_golden_rules`."""
        return parse_rules(self._project.ledger.settings.get(GOLDEN, ""), self._columns)

    def set_golden_rules(self, rules: str) -> None:
        """Keep rules for golden records, such as "phone:newest:updated,*:longest".

        A rule is frequent, longest, newest:COLUMN or source:COLUMN=VALUE; ``*`` is all other columns, which
        have the most frequent value by default.
        """
        self._check(EVEN)
        parse_rules(rules, self._columns)
        with self._project.act():
            self._project.ledger.set(GOLDEN, rules)

    def compared(self, a: int, b: int) -> list[FieldComparison]:
        """Return how alike two records are field by field; nothing of other items."""
        return [FieldComparison(*one) for one in self._project.session.explain(a, b)]

    def labels(self, threshold: float | None = None) -> NDArray[np.intp]:
        """Return the entity of each record at a threshold, by default the one that is kept."""
        wanted = self.threshold if threshold is None else threshold
        self._check(wanted)
        found = self._project.moment().session.record_pairs.at_threshold(wanted)
        return np.asarray(found.labels, dtype=np.intp)

    def ids(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return a lasting id for each entity: the number of the first of its records that the project saw.

        New records come after those known, so an entity that they join keeps its id; of two entities that
        turn out to be one, the older id stays. `labels` number the entities from 0.
        """
        order = np.arange(labels.size)
        kept = self._project.ledger.items
        if kept is not None:
            there = np.flatnonzero(kept.rows >= 0)
            order[kept.rows[there]] = there
        found = np.full(labels.max(initial=-1) + 1, np.iinfo(np.intp).max)
        np.minimum.at(found, labels, order)
        return found

    def at(self, threshold: float | None = None) -> Threshold:
        """Return what is found at a threshold, by default the one that is kept, and what it changes."""
        project = self._project.moment()
        with project.state():
            kept = self.threshold
            wanted = kept if threshold is None else threshold
            self._check(wanted)
            view, item = project.session.record_pairs, project.item
            now = view.at_threshold(wanted)
            before = now.labels if wanted == kept else view.at_threshold(kept).labels
            pairs = self.candidates
            is_one = now.labels[pairs[:, 0]] == now.labels[pairs[:, 1]]
            was_one = before[pairs[:, 0]] == before[pairs[:, 1]]
            changed = np.flatnonzero(is_one != was_one)
            some = np.linspace(0, changed.size - 1, min(EXAMPLES, changed.size)).astype(int)
            shown = changed[some]
            chances = view.match_probabilities(pairs[shown].astype(np.intp))
            n_entities = int(np.unique(now.labels).size)
            audit = now.certificate
            return Threshold(
                threshold=wanted,
                kept=kept,
                precision_bound=audit.precision if audit.precision >= TELLING else None,
                recall_bound=audit.recall if audit.recall >= TELLING else None,
                audited=audit.n_audited,
                entities=n_entities,
                duplicates=now.labels.size - n_entities,
                joined=int((is_one & ~was_one).sum()),
                parted=int((was_one & ~is_one).sum()),
                changed=[
                    ChangedPair(item(int(a)), item(int(b)), float(chance), bool(together))
                    for (a, b), chance, together in zip(
                        pairs[shown], chances, is_one[shown], strict=True
                    )
                ],
            )

    def advice(self) -> StopAdvice:
        """Say whether it is safe to stop, by the audited bounds on precision and recall."""
        project = self._project.moment()
        audit = project.session.record_pairs.at_threshold(self.threshold).certificate
        is_safe = max(audit.wrong, audit.undiscovered) <= SAFE
        right, found = (floor(100 * x) for x in (audit.precision, audit.recall))
        text = "Not safe to stop yet: nothing is checked."
        if audit.n_audited or is_safe:
            text = "Safe to stop: " if is_safe else "Not safe to stop yet: "
            text += f"at least {right} % of the pairs found are right, "
            text += f"and {found} % of the matches among the pairs compared are found."
        return StopAdvice(is_safe, text, audit.wrong, project.standing.n_presses)

    @property
    def candidates(self) -> NDArray[np.int32]:
        """The pairs of records that may match."""
        found: NDArray[np.int32] = self._project.items.points.candidates.pairs  # type: ignore[attr-defined]
        return found

    @property
    def _columns(self) -> list[str]:
        frame = self._project.items.frame
        return [] if frame is None else [str(name) for name in frame.columns]

    def _check(self, threshold: float) -> None:
        if not self._project.is_records:
            raise ProjectError("Only records have a threshold for matches.")
        if not 0 < threshold < 1:
            raise ProjectError(
                f"A threshold is a probability between 0 and 1, such as 0.9, and not {threshold:g}."
            )
