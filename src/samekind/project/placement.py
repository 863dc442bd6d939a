"""What a row is, said at once: a cluster that there is, or a new one.

Both are written as answers about pairs, in one act:

- *It is in cluster k*: SAME with one member of it, which settles the row. Nothing is said of other clusters,
  as two of them may prove to be one.
- *It is a new cluster*: DIFFERENT from one row of every cluster that there is. That is what it means, and
  less would leave the row to be asked about again. So the ledger grows by as many lines as there are
  clusters; for 77 clusters, all found so, by 2,926 lines.
- *A row that was elsewhere* is taken out there first, as `Edits.remove` does.
"""

from __future__ import annotations

import numpy as np

from samekind.engine import Session
from samekind.flow import DIFFERENT, SAME
from samekind.ledger import UNANSWERED, Lines, OpinionRole
from samekind.project.pair_answers import PairAnswers, pairs_between, split_answers
from samekind.project.shared import ProjectPart, exclusive
from samekind.project.words import QuestionClosed, check_name

__all__ = ["Placements"]


class Placements(ProjectPart):
    """Rows that are said to be in some cluster."""

    @exclusive
    def place(self, rows: list[int], cluster: int, *, who: str = "") -> None:
        """Say that rows are in a cluster; of rows that are known to be in it, nothing new is said."""
        self._check_rows(rows)
        with self.act(), self.numbers.kept():
            members = self._members(cluster)
            answers = self._placing(rows, members)
            if answers:
                self._write(answers, who)

    @exclusive
    def place_in_new(self, rows: list[int], name: str = "", *, who: str = "") -> None:
        """Say that rows are in a cluster of their own, and what it is called.

        If there is a cluster of this name, they are in that one.
        """
        self._check_rows(rows)
        text = check_name(name)
        with self.act(), self.numbers.kept():
            there = self._named(text)
            if there:
                self.place(rows, there[0], who=who)
                return
            answers = self._founding(rows, [])
            if answers:
                self._write(answers, who)
            self._name(rows[0], text, who)

    # What is asked

    def _say_cluster(self, row: int, others: list[int], cluster: int, who: str) -> None:
        """Take the cluster of a row as the answer to a question that compares it with other rows."""
        if 0 <= cluster < self.session.points.n and not self.session.members_of(cluster):
            # it may have been there when the question was shown: somebody took an answer back since
            raise QuestionClosed(f"There is no kind {cluster} any more. Have another look.")
        members, own = self._members(cluster), self.session.members_of(row)
        if own and own[0] == members[0]:  # clusters are compared, and it is in none of the others
            self._tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
            return
        offered = [other for other in others if other in members]
        if offered:
            self._tell([[row, offered[0]]], [SAME], who)
            return
        pair = np.array([[row, members[0]]])
        if own and self.session.ledger.lookup(pair)[0] != DIFFERENT:
            answers: PairAnswers = [
                (row, members[0], SAME)
            ]  # clusters are compared, and two are one
        else:
            answers = self._placing([row], members)
        asked = [{a, b} <= {row, *members} for a, b, _ in answers]
        asked = [paid and not any(asked[:place]) for place, paid in enumerate(asked)]
        if not self.session.folds:  # then the run has to hear something of what it asked
            answers += [(row, other, DIFFERENT) for other in others]
            asked += [True] * len(others)
        self._write(answers, who, asked)

    def _say_new(self, row: int, others: list[int], name: str, who: str) -> None:
        """Take "a new cluster" as the answer to a question that compares a row with others."""
        text, own = check_name(name), self.session.members_of(row)
        if there := self._named(text):
            self._say_cluster(row, others, there[0], who)
            return
        if own == [row] or (own and self.name_of(own) is None):
            # clusters are compared: it is none of the others
            self._tell([[row, o] for o in others], [DIFFERENT] * len(others), who)
        else:
            answers = self._founding([row], others)
            self._write(answers, who, [b in others for _, b, _ in answers])
        self._name(row, text, who)

    # Within

    def _tell(
        self, pairs: list[list[int]], said: list[int], who: str, *, free: bool = False
    ) -> None:
        """Take answers, be they to pending pairs, others, or such as somebody has answered meanwhile.

        Where answers are trusted, what others have answered is an opinion, to be reviewed; else it is
        evidence, as any answer.
        """
        session, ledger = self.session, self.session.ledger
        given, answers = np.array(pairs), np.array(said, dtype=np.int8)
        trusts = session.params.trusts_answers
        new = ledger.lookup(given, infer=trusts) == UNANSWERED
        if not trusts and not free:
            new[:] = True
        session.write(given[new], answers[new], who, np.full(int(new.sum()), not free))
        if not free:
            late = [
                (a, b, answer) for a, b, answer in np.column_stack([given, answers])[~new].tolist()
            ]
            ledger.opine(late, who=who, role=OpinionRole.LATE)

    def _name(self, row: int, text: str, who: str) -> None:
        """Name the cluster of a row."""
        if text:
            self.session.ledger.name(row, text, who=who)

    def _named(self, text: str) -> list[int]:
        """Return the members of the cluster of this name, in capitals or not; none if there is none."""
        wanted = text.casefold()
        if not wanted:
            return []
        for name in self.session.ledger.log.names.values():
            members = self.session.members_of(name.row) if name.text.casefold() == wanted else []
            if members and (self.name_of(members) or "").casefold() == wanted:
                return members
        return []

    def _placing(self, rows: list[int], members: list[int]) -> PairAnswers:
        """Return what puts rows into a cluster."""
        session, inside = self.session, set(members)
        new = [row for row in dict.fromkeys(rows) if row not in inside]
        lines = session.ledger.active()
        answers = _taking_out(session, new, lines)
        for row in new:
            turned = pairs_between([row], members, DIFFERENT, lines)
            answers += [(a, b, SAME) for a, b in turned]
            if not turned:
                answers.append((row, _nearest(session, row, members), SAME))
        return answers

    def _founding(self, rows: list[int], others: list[int]) -> PairAnswers:
        """Return what makes rows a cluster of their own; compared with these of other clusters' rows."""
        session, rows = self.session, list(dict.fromkeys(rows))
        first, apart = rows[0], set(rows)
        if set(session.members_of(first)) == apart:
            return []  # it is one already
        lines = session.ledger.active()
        answers = _taking_out(session, rows, lines)
        told = {frozenset((a, b)) for a, b, _ in answers}
        for row in rows[1:]:
            turned = pairs_between([row], rows, DIFFERENT, lines)
            answers += [(a, b, SAME) for a, b in turned] or [(first, row, SAME)]
        known = {other: session.members_of(other) for other in others}
        of_others = {members[0]: other for other, members in known.items() if members}
        answers += [(first, other, DIFFERENT) for other, members in known.items() if not members]
        for cluster in session.rank_clusters(first):
            left = [row for row in session.members_of(cluster) if row not in apart]
            if left and not any(frozenset((first, row)) in told for row in left):
                other = of_others.get(cluster, left[0])
                answers.append((first, other if other in left else left[0], DIFFERENT))
        return answers

    def _write(self, answers: PairAnswers, who: str, asked: list[bool] | bool = False) -> None:
        """Record answers, at once, whatever anybody said of these pairs before."""
        pairs, said = np.array([line[:2] for line in answers]), [line[2] for line in answers]
        charged = np.broadcast_to(np.asarray(asked, dtype=bool), len(answers))
        self.session.ledger.edit(pairs, said, who=who, asked=charged)


def _taking_out(session: Session, rows: list[int], lines: Lines) -> PairAnswers:
    """Return what takes rows out of the clusters that they are known to be in."""
    moved = set(rows)
    answers: PairAnswers = []
    for members in {own[0]: own for own in map(session.members_of, rows) if own}.values():
        if not set(members) <= moved:
            answers += split_answers(members, moved & set(members), lines)
    return answers


def _nearest(session: Session, row: int, members: list[int]) -> int:
    """Return the member of a cluster that is nearest to a row."""
    points = session.points
    X = points.rows(np.array(members))
    return members[int(((X - points.rows(np.array([row]))) ** 2).sum(axis=1).argmin())]
