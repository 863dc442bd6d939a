"""What a person may want to look at, ranked; each can be accepted, refused or left for later.

A refusal is remembered as an answer where it is one: kinds that are not one differ, a row that looks wrong
and is not belongs where it is.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from samekind.flow import DIFFERENT, SAME, UNANSWERED, UNSURE
from samekind.ledger import pairs_of
from samekind.project.edits import Edits
from samekind.project.novelties import novel_groups
from samekind.project.pair_answers import PairAnswers, merge_answers, split_answers
from samekind.project.records import SuggestionRecord
from samekind.project.shared import SHOWN, exclusive
from samekind.project.words import ProjectError

__all__ = ["Suggestions"]

MOST = 30
MOST_NOVEL = 3  # groups of rows
NAMESAKES = 0.95  # probability that clusters of one name are one


class Suggestions(Edits):
    """Clusters that may be one, rows that look wrong, may be a cluster, or nobody could tell."""

    @exclusive
    def suggestions(self, most: int = MOST) -> list[SuggestionRecord]:
        """Return what to look at, most important first."""
        self.catch_up()
        if self.is_blank:
            return []
        found = self.clusters()
        members = [rows.tolist() for rows in found.members_]
        settled = self._settled_rows()
        records = [
            self._merger(one, "They have the same name.", NAMESAKES) for one in self._namesakes()
        ]
        for one in found.suggestions_:
            a, b = (members[cluster] for cluster in one.clusters)
            if one.what == "merge":
                records.append(self._merger((a, b), "", one.probability))
            elif one.row is not None and one.row not in settled:
                records.append(
                    SuggestionRecord(
                        id=f"wrong-{one.row}",
                        what="wrong",
                        text=f"Rows like it are of another kind: {one.probability:.0%} likely.",
                        probability=one.probability,
                        clusters=[self.option(a), self.option(b)],
                        items=[self.item(one.row)],
                    )
                )
        records += self._novelties()
        if len(found.given_up_):
            rows = found.given_up_.tolist()
            records.append(
                SuggestionRecord(
                    id="unsure-" + ".".join(map(str, rows[:SHOWN])),
                    what="unsure",
                    text=f"Nobody could tell of what kind {len(rows):,} of the rows are."
                    if len(rows) > 1
                    else "Nobody could tell of what kind this row is.",
                    probability=1.0,
                    clusters=[],
                    items=list(map(self.item, rows[:SHOWN])),
                )
            )
        return list({record.id: record for record in records}.values())[:most]

    @exclusive
    def decide(self, decisions: dict[str, str], *, who: str = "") -> int:
        """Accept ("yes") or refuse ("no") suggestions, all at once; return how many answers that makes.

        All of it is undone at once, too. Clusters that are accepted to be one in pairs become one.
        """
        self.session.catch_up()
        with self.act(), self.numbers.kept():
            active = self.session.ledger.active()
            answers: PairAnswers = []
            pairs: list[tuple[int, int]] = []
            for name, said in decisions.items():
                what, rows = _parsed(name)
                self._check_rows(rows)
                if said not in ("yes", "no"):
                    raise ProjectError('A suggestion is answered "yes" or "no".')
                if what == "merge":
                    a, b = (self._members(row) for row in rows)
                    if said == "yes":
                        pairs.append((a[0], b[0]))
                    elif a[0] != b[0]:
                        answers.append((a[0], b[0], DIFFERENT))
                elif what == "wrong":
                    answers += self._row_answers(rows[0], said == "yes")
                elif said == "no":
                    continue  # of rows that may be a kind, or nobody can tell, nothing is known then
                elif what == "own":
                    answers += self._founding(rows, [])
                else:
                    self._ask_again()
            for group in _groups(pairs):
                answers += merge_answers([self._members(row) for row in group], active)
            unique = {(min(a, b), max(a, b)): (a, b, said) for a, b, said in answers}
            if unique:
                self._write(list(unique.values()), who)
        return len(unique)

    def _novelties(self) -> list[SuggestionRecord]:
        """Return rows that may be clusters nobody has seen yet."""
        found = self.clusters()
        labels, members = np.asarray(found.labels_), list(found.members_)
        groups = novel_groups(self.session, labels, members, found.given_up_, MOST_NOVEL)
        return [
            SuggestionRecord(
                id="own-" + ".".join(map(str, rows)),
                what="own",
                text="They are closer to one another than to anything that is known.",
                probability=float(1.0 - self.session.confidence(rows).max()),
                clusters=[],
                items=list(map(self.item, rows)),
            )
            for rows in groups
        ]

    def _row_answers(self, row: int, is_wrong: bool) -> PairAnswers:
        members = self._members(row)
        others = [other for other in members if other != row]
        if not others:
            raise ProjectError("This row is a kind of its own already.")
        if not is_wrong:
            said = self.session.ledger.lookup(np.array([[row, o] for o in others]), infer=False)
            unasked = np.flatnonzero(said == UNANSWERED)  # so that it counts as said by hand
            return [(row, others[unasked[0] if unasked.size else 0], SAME)]
        anchor = self.numbers.anchor_of(row)
        if anchor == row:
            self.numbers.move(self.numbers.of(row), others[0])
        return split_answers(members, [row], self.session.ledger.active())

    def _ask_again(self) -> None:
        """Forget that nobody could tell of some rows: they are asked about again."""
        lines = self.session.ledger.active()
        given_up = self.clusters().given_up_
        unsure = pairs_of(lines[lines["answer"] == UNSURE])
        for a, b in unsure[np.isin(unsure, given_up).any(axis=1)].tolist():
            self.session.ledger.retract_pair(a, b)

    def _settled_rows(self) -> set[int]:
        """Return the rows of which somebody said by hand where they belong."""
        lines = self.session.ledger.volunteered()
        return set(pairs_of(lines[lines["answer"] == SAME]).ravel().tolist())

    def _namesakes(self) -> list[tuple[list[int], list[int]]]:
        """Return pairs of clusters of one name that nobody has told apart."""
        by_name: dict[str, list[list[int]]] = {}
        for rows in self.clusters().members_:
            members = rows.tolist()
            if name := self.name_of(members):
                by_name.setdefault(name.casefold(), []).append(members)
        pairs = [pair for group in by_name.values() for pair in combinations(group, 2)]
        firsts = np.array([[a[0], b[0]] for a, b in pairs], dtype=np.intp).reshape(-1, 2)
        said = self.session.ledger.lookup(firsts)
        return [
            pair for pair, known in zip(pairs, said.tolist(), strict=True) if known != DIFFERENT
        ]

    def _merger(
        self, pair: tuple[list[int], list[int]], text: str, probability: float
    ) -> SuggestionRecord:
        options = sorted(map(self.option, pair), key=lambda option: option.number)
        return SuggestionRecord(
            id="merge-" + ".".join(str(option.cluster) for option in options),
            what="merge",
            text=text or f"They are alike: {probability:.0%} likely.",
            probability=probability,
            clusters=options,
            items=[],
        )


def _parsed(name: str) -> tuple[str, list[int]]:
    """Return what a suggestion is about, by its id."""
    what, _, rest = name.partition("-")
    parts = rest.split(".")
    sizes = {"merge": 2, "wrong": 1, "own": len(parts), "unsure": len(parts)}
    right = all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts)
    if what not in sizes or len(parts) != sizes[what] or not right:
        raise ProjectError("There is no such suggestion.")
    return what, list(map(int, parts))


def _groups(pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Return the rows that such pairs join, group by group."""
    rows, places = np.unique(np.array(pairs, dtype=np.intp).reshape(-1, 2), return_inverse=True)
    edges = places.reshape(-1, 2).T
    graph = coo_array((np.ones(edges.shape[1]), edges), shape=(rows.size, rows.size))
    _, group = connected_components(graph, directed=False)
    return [found for k in np.unique(group) if len(found := rows[group == k].tolist()) > 1]
