"""The clusters, which people call kinds: names and numbers, finding one, and changing them by hand.

A cluster goes by any of its known rows. What is done to it is written as answers about pairs, which outrank
all earlier ones, so that any session understands it; see `pair_answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, utils

from samekind.algorithms.folding import Expected
from samekind.clusters import Clusters
from samekind.project.entities import EntityRefs, RecordNames
from samekind.project.names import ProposedNames
from samekind.project.numbers import ClusterNumbers
from samekind.project.pair_answers import (
    PairAnswers,
    founding,
    merge_answers,
    placing,
    split_answers,
)
from samekind.project.records import ClusterMatch, ClusterOption, ClusterRef, Suggestion
from samekind.project.words import ProjectError, check_name, name_in_table, text_of

if TYPE_CHECKING:
    from samekind.ledger import ClusterName
    from samekind.project.project import Project

__all__ = ["Kinds"]

By = Literal["name", "example", "likelihood"]

SHOWN = 3  # members of a cluster beside its name
EXAMPLES = 200  # members of a cluster that are looked through,
MOST_EXAMPLES = 20_000  # and of all clusters together, about
LONGEST = 1000  # characters of an example that are
KEPT = 50_000  # examples that are remembered
FITS = 70.0  # of 100: how well a name or an example has to fit
NAME_FIRST = 15.0  # how much better an example has to fit than a name
EXACT = 100.0  # a whole name comes before names that contain it


class Kinds:
    """All clusters found so far.

    Attributes
    ----------
    numbers : ClusterNumbers
        The number that each cluster has for life.
    notes : list of str
        What is to be said beside what was found.
    """

    def __init__(self, project: Project, before: Kinds | None = None) -> None:
        self._project = project
        self._session = project.session
        self.numbers = ClusterNumbers(project.session)
        self._names: ProposedNames | RecordNames
        self._names = (RecordNames if project.is_records else ProposedNames)(project.items)
        self._found: Clusters | None = None
        self._texts: dict[int, str] = {}
        self.notes: list[str] = []
        if before is not None:
            self._names, self.notes = before._names, before.notes
        elif copies := project.items.whole.n - project.items.n:
            are = "row is a copy" if copies == 1 else "rows are copies"
            self.notes.append(
                f"{copies:,} {are} of others. Here each item counts once; exports have all rows."
            )

    # What there is

    def clusters(self) -> Clusters:
        """Return what is found so far."""
        now = self._project.moment()
        if now is not self._project:
            return now.kinds.clusters()
        with now.state():
            if self._found is None:
                found = self._session.clusters().with_computed_labels()
                self._found = found.with_annotators(found.annotators_, self.notes)
            return self._found

    def refs(self) -> Sequence[ClusterRef]:
        """Return all clusters, in the order of ``clusters()``, with the names that fit them now."""
        now = self._project.moment()
        if now is not self._project:
            return now.kinds.refs()
        with now.state():
            found = self.clusters()
            if isinstance(self._names, RecordNames):
                return EntityRefs(self._project, self._names, found)
            members = [rows.tolist() for rows in found.members_]
            numbers = self.numbers.of_clusters(members)
            self._names.update(found, numbers)
            return list(map(self._ref, members, numbers))

    def ref(self, members: list[int]) -> ClusterRef:
        """Return the cluster with these members: its number for life and what it is called.

        The name that is proposed is the one of when all clusters were last looked at, if there is one.
        """
        with self._project.state():
            return self._ref(members, self.numbers.of(members[0]))

    def _ref(self, members: list[int], number: int) -> ClusterRef:
        named = self._named(members)
        return ClusterRef(
            cluster=self.numbers.anchor_of(members[0]),
            number=number,
            name=named.text or None if named else None,
            proposed_name=self._names.name(number, members),
            definition=named.definition if named else "",
        )

    def copies(self) -> NDArray[np.intp]:
        """Return how many rows of each of ``clusters()`` hold the same as another one of its rows."""
        found, copies = self.clusters(), self._project.items.copies
        if copies is None:
            return np.zeros(found.n_discovered_, dtype=np.intp)
        there = found.labels_ >= 0
        counts = np.bincount(found.labels_[there], copies.counts[there], found.n_discovered_)
        return counts.astype(np.intp)

    def option(self, members: list[int], examples: list[int]) -> ClusterOption:
        """Return the cluster with these members, with some examples of them."""
        items = list(map(self._project.item, examples))
        return ClusterOption(**vars(self.ref(members)), members=items)

    def name_of(self, members: list[int]) -> str | None:
        """Return what somebody called the cluster with these members; None if nobody did."""
        named = self._named(members)
        return named.text or None if named else None

    def _named(self, members: list[int]) -> ClusterName | None:
        """Return the name of the cluster with these members, and its definition.

        It is what was last said of the row that holds its number. If nothing was, as it has been merged with
        named ones, it is the name of the oldest of those. Names are given to rows, so they outlive clusters
        that merge, split or change.
        """
        log = self._session.ledger.log
        named = log.names.keys() & members if log.names else ()
        if not named:
            return None
        own = set(members)
        holding = [row for _, row in sorted(log.found.items()) if row in own]
        if holding and holding[0] in named:
            return log.names[holding[0]]
        first = next((row for row in holding if row in named and log.names[row].text), None)
        if first is not None:
            return log.names[first]
        return max(log.names[row] for row in named)

    def named(self, text: str) -> list[int]:
        """Return the members of the cluster of this name, in capitals or not; none if there is none."""
        wanted = text.casefold()
        if not wanted:
            return []
        for name in self._session.ledger.log.names.values():
            is_like = name.text.casefold() == wanted
            members = self._session.members_of(name.row) if is_like else []
            if members and (self.name_of(members) or "").casefold() == wanted:
                return members
        return []

    def members(self, cluster: int) -> list[int]:
        """Return the known rows of a cluster; an error says that there is none."""
        n = self._session.points.n
        members = self._session.members_of(cluster) if 0 <= cluster < n else []
        if not members:
            raise ProjectError(
                f"There is no kind {cluster}. It may have been merged into another one."
            )
        return members

    def label_of(self, cluster: int) -> int:
        """Return the label of a cluster in ``clusters()``; of a moment."""
        own = set(self.members(cluster))
        return next(k for k, rows in enumerate(self.clusters().members_) if int(rows[0]) in own)

    # Finding one

    def find(self, text: str = "", *, row: int | None = None, most: int = 20) -> list[ClusterMatch]:
        """Return clusters whose names or examples are like a text, best first.

        Without a text all of them: those first that a row is likeliest in, or the largest.
        """
        if row is not None:
            self._project.check_rows([row])
        order = [] if row is None else self._session.rank_clusters(row)
        with self._project.state():
            if row is None:
                groups = sorted(filter(None, self._session.known_clusters()), key=len, reverse=True)
            else:
                groups = [rows for rows in map(self._session.members_of, order) if rows]
            wanted = utils.default_process(text)
            if not wanted:
                return [self._match(members, members, "likelihood") for members in groups[:most]]
            each = max(SHOWN, min(EXAMPLES, MOST_EXAMPLES // max(1, len(groups))))
            found: list[tuple[float, ClusterMatch]] = []
            for members in groups:
                name = utils.default_process(name_in_table(self.ref(members)))
                by_name = _likeness(wanted, name) + EXACT * (name == wanted)
                likeness = {m: _likeness(wanted, self._text(m)) for m in members[:each]}
                best = sorted(likeness, key=lambda m: -likeness[m])
                by_example = likeness[best[0]]
                if max(by_name, by_example) < FITS:
                    continue
                is_named = by_name >= FITS and by_name + NAME_FIRST >= by_example
                score = by_name + NAME_FIRST if is_named else by_example
                match = self._match(members, best, "name" if is_named else "example")
                found.append((score, match))
        found.sort(key=lambda one: -one[0])
        return [match for _, match in found[:most]]

    def _match(self, members: list[int], examples: list[int], by: By) -> ClusterMatch:
        option = self.option(members, examples[:SHOWN])
        return ClusterMatch(**vars(option), known=len(members), by=by)

    def _text(self, row: int) -> str:
        """Return the words of an item, to be compared."""
        if row not in self._texts:
            if len(self._texts) >= KEPT:
                self._texts.clear()
            words = text_of(self._project.items.show(row))
            self._texts[row] = utils.default_process(words[:LONGEST])
        return self._texts[row]

    # Changing them

    def rename(
        self, cluster: int, name: str, *, definition: str | None = None, who: str = ""
    ) -> None:
        """Call a cluster something, and say in a sentence what belongs to it; "" takes either away.

        Without a `definition`, the one that it has stays.
        """
        text = check_name(name)
        sentence = None if definition is None else check_name(definition, "A definition")
        with self._project.act():
            members = self.members(cluster)
            anchor = self.numbers.anchor_of(members[0])
            if sentence is None:
                named = self._named(members)
                sentence = named.definition if named else ""
            self._session.ledger.name(anchor, text, definition=sentence, who=who)

    def suggest(self, cluster: int) -> Suggestion:
        """Return a name and a definition for a cluster, from the model that answers; nothing is changed."""
        if self._project.assistant is None:
            raise ProjectError(
                "No model is at work here that could suggest a name: samekind label PROJECT --model NAME@URL"
            )
        return self._project.assistant.suggest(cluster)

    def defined(self) -> list[ClusterRef]:
        """Return the clusters that have a definition, the newest first."""
        with self._project.state():
            rows = [
                name.row for name in sorted(self._session.ledger.log.names.values(), reverse=True)
            ]
            groups = {
                members[0]: members for row in rows if (members := self._session.members_of(row))
            }
            return [ref for ref in map(self.ref, groups.values()) if ref.definition]

    def merge(self, clusters: list[int], *, who: str = "") -> None:
        """Make several clusters one."""
        if len(set(clusters)) < 2:
            raise ProjectError("Choose at least two kinds to make one of.")
        with self._project.act():
            members = {rows[0]: rows for rows in map(self.members, clusters)}
            if len(members) < 2:
                raise ProjectError("These are one kind already.")
            lines = self._session.ledger.active()
            self.write(merge_answers(list(members.values()), lines), who)

    def remove(self, cluster: int, rows: list[int], *, who: str = "") -> None:
        """Take some rows out of a cluster."""
        self._project.check_rows(rows)
        found = self._project.moment()
        label = found.kinds.label_of(cluster)
        is_stranger = found.kinds.clusters().labels_of(np.array(rows, dtype=np.intp)) != label
        strangers = np.array(rows)[is_stranger]
        if strangers.size:
            raise ProjectError(f"Row {strangers.min()} is not in this kind.")
        with self._project.act():
            members = self.members(cluster)
            if set(members) <= set(rows):
                raise ProjectError(
                    "That would leave nothing of the kind. Keep at least one row in it."
                )
            anchor = self.numbers.anchor_of(members[0])
            if anchor in rows:  # the number and the name stay with the rest
                rest = next(row for row in members if row not in rows)
                self.numbers.move(self.numbers.of(anchor), rest, who)
            self.write(split_answers(members, rows, self._session.ledger.active()), who)

    def place(self, rows: list[int], cluster: int, *, who: str = "") -> None:
        """Say that rows are in a cluster; of rows that are known to be in it, nothing new is said."""
        self._project.check_rows(rows)
        with self._project.act(), self.numbers.kept():
            self.write(placing(self._session, rows, self.members(cluster)), who)

    def place_in_new(self, rows: list[int], name: str = "", *, who: str = "") -> None:
        """Say that rows are in a cluster of their own, and what it is called.

        If there is a cluster of this name, they are in that one.
        """
        self._project.check_rows(rows)
        text = check_name(name)
        with self._project.act(), self.numbers.kept():
            if there := self.named(text):
                self.write(placing(self._session, rows, there), who)
                return
            self.write(founding(self._session, rows, []), who)
            if text:
                self._session.ledger.name(rows[0], text, who=who)

    def write(
        self,
        answers: PairAnswers,
        who: str,
        asked: list[bool] | bool = False,
        expected: Expected | None = None,
    ) -> None:
        """Record answers, in an act, whatever anybody said of these pairs before; see `Ledger.record`."""
        if not answers:
            return
        pairs, said = np.array([line[:2] for line in answers]), [line[2] for line in answers]
        charged = np.broadcast_to(np.asarray(asked, dtype=bool), len(answers))
        if expected is not None:
            expected = np.where(charged[:, None], expected, np.float32(np.nan))
        self._session.ledger.edit(pairs, said, who=who, asked=charged, expected=expected)


def _likeness(wanted: str, text: str) -> float:
    """Return how like a text is to what is wanted, of 100: as a whole, by its words, or with a part of it."""
    if not text:
        return 0.0
    if len(wanted) > len(text):  # a part of what is wanted says little
        return fuzz.token_sort_ratio(wanted, text)
    return max(fuzz.partial_ratio(wanted, text), fuzz.token_set_ratio(wanted, text))
