"""Records in a project: entities by the thousand, and what a threshold for matches changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.data import ItemView, Role, cell_text
from samekind.project.records import ClusterRef, StopAdvice
from samekind.project.shared import exclusive
from samekind.project.standing import SAFE, Standing
from samekind.project.words import ProjectError, plain

if TYPE_CHECKING:
    from samekind.algorithms import PairCertificate

__all__ = ["THRESHOLD", "ChangedPair", "Entities", "EntityRefs", "Threshold"]

THRESHOLD = "threshold"  # in `meta`: the probability from which on records are one entity
EVEN = 0.5
EXAMPLES = 6  # pairs that a threshold changes, to look at
TITLE_FIELDS = 3  # of a record, by which its entity may be called
MOST_PROPOSED = 40  # letters of each


class EntityRefs(Sequence[ClusterRef]):
    """The entities as clusters, each made when it is looked at: there may be a million.

    Those that answers speak of have their numbers for life, the others follow them for now.
    """

    def __init__(self, project: Entities, found: Clusters) -> None:
        self._project, self._found = project, found
        self._after = max(project.session.ledger.log.found, default=0) + 1

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
            return self._project.ref(known)
        row = members[0] if members else 0
        return ClusterRef(row, self._after + place, None, self._project.title_of_record(row))


@dataclass(frozen=True)
class ChangedPair:
    """Two records that a threshold puts together, or apart."""

    a: ItemView
    b: ItemView
    probability: float
    together: bool


@dataclass(frozen=True)
class Threshold:
    """What is found if records are one entity from a probability on."""

    threshold: float
    kept: float  # the one that exports go by
    precision: float  # as the model and the answers expect
    recall: float
    precision_bound: float | None  # at least, with 95 % confidence, by the audit; None: not known
    recall_bound: float | None
    audited: int
    entities: int
    duplicates: int  # records that are in one entity with an earlier one
    joined: int  # pairs that are together, and are not at the threshold that is kept
    parted: int
    changed: list[ChangedPair]  # some of them


class Entities(Standing):
    """What is found of records."""

    def title_of_record(self, row: int) -> str:
        """Return what an entity may be called: the first few values of one of its records."""
        return " ".join(text for column in self._title_columns if (text := column[row])).strip()

    @cached_property
    def _title_columns(self) -> list[list[str]]:
        frame = self.items.shown_frame(with_labels=False)
        assert frame is not None
        names = [use.name for use in self.items.columns if use.role is Role.FIELD][:TITLE_FIELDS]
        return [
            [plain(cell_text(value))[:MOST_PROPOSED] for value in frame[name]] for name in names
        ]

    def ref(self, members: list[int]) -> ClusterRef:
        """Return the cluster with these members: its number for life and what it is called."""
        if not self.is_records:
            return super().ref(members)
        number, row = self.numbers.of(members[0]), self.numbers.anchor_of(members[0])
        return ClusterRef(row, number, self.name_of(members), self.title_of_record(members[0]))

    @exclusive
    def refs(self) -> Sequence[ClusterRef]:
        """Return all clusters, in the order of ``clusters()``."""
        if not self.is_records:
            return super().refs()
        return EntityRefs(self, self.clusters())

    @exclusive
    def stopping(self) -> StopAdvice:
        """Say whether it is safe to stop: of records, by the bounds on precision and recall."""
        if not self.is_records:
            return super().stopping()
        self.catch_up()
        certificate = self.session.record_pairs.at_threshold(self.threshold).certificate
        is_safe = max(certificate.wrong, certificate.undiscovered) <= SAFE
        right, found = (floor(100 * x) for x in (certificate.precision, certificate.recall))
        text = f"Safe to stop: at least {right} % of the pairs found are right, and {found} % are found."
        if not is_safe:
            text = "Not yet: nothing is checked."
            if certificate.n_audited:
                text = f"Not yet: {right} % of the pairs found are surely right, and {found} % are found."
        self._advice = StopAdvice(is_safe, text, certificate.wrong, self.n_presses)
        return self._advice

    @property
    def threshold(self) -> float:
        """The probability from which on records are one entity in exports."""
        return float(self.session.ledger.settings.get(THRESHOLD, EVEN))

    @exclusive
    def set_threshold(self, threshold: float) -> None:
        """Keep a threshold, by which entities are exported from now on."""
        self._check_threshold(threshold)
        with self.session.act():
            self.session.ledger.set(THRESHOLD, repr(float(threshold)))

    @exclusive
    def entities(self, threshold: float | None = None) -> NDArray[np.intp]:
        """Return the entity of each record at a threshold, by default the one that is kept."""
        wanted = self.threshold if threshold is None else threshold
        self._check_threshold(wanted)
        labels = self.session.record_pairs.at_threshold(wanted).labels
        return np.asarray(labels, dtype=np.intp)

    @exclusive
    def at_threshold(self, threshold: float) -> Threshold:
        """Return what is found at a threshold, and what that changes."""
        self._check_threshold(threshold)
        kept = self.threshold
        view = self.session.record_pairs
        now = view.at_threshold(threshold)
        before = now.labels if threshold == kept else view.at_threshold(kept).labels
        pairs = self._candidates()
        is_one = now.labels[pairs[:, 0]] == now.labels[pairs[:, 1]]
        was_one = before[pairs[:, 0]] == before[pairs[:, 1]]
        changed = np.flatnonzero(is_one != was_one)
        shown = changed[np.linspace(0, changed.size - 1, min(EXAMPLES, changed.size)).astype(int)]
        chances = view.match_probabilities(pairs[shown].astype(np.intp))
        n_entities = int(np.unique(now.labels).size)
        certificate: PairCertificate = now.certificate
        is_known = certificate.n_audited > 0 or certificate.confidence == 1.0
        return Threshold(
            threshold=threshold,
            kept=kept,
            precision=now.precision,
            recall=now.recall,
            precision_bound=certificate.precision if is_known else None,
            recall_bound=certificate.recall if is_known else None,
            audited=certificate.n_audited,
            entities=n_entities,
            duplicates=now.labels.size - n_entities,
            joined=int((is_one & ~was_one).sum()),
            parted=int((was_one & ~is_one).sum()),
            changed=[
                ChangedPair(self.item(int(a)), self.item(int(b)), float(chance), bool(together))
                for (a, b), chance, together in zip(
                    pairs[shown], chances, is_one[shown], strict=True
                )
            ],
        )

    def _candidates(self) -> NDArray[np.int32]:
        candidates: NDArray[np.int32] = self.items.points.candidates.pairs  # type: ignore[attr-defined]
        return candidates

    def _check_threshold(self, threshold: float) -> None:
        if not self.is_records:
            raise ProjectError("Only records have a threshold for matches.")
        if not 0 < threshold < 1:
            raise ProjectError(
                f"A threshold is a probability between 0 and 1, such as 0.9, and not {threshold:g}."
            )
