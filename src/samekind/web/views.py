"""From what a desk says to what goes over the wire."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

import samekind
from samekind.desk import Desk, LineUp, Pair, Standing
from samekind.desk import Question as Asked
from samekind.web import records as r

__all__ = ["View"]


class View:
    """A desk as the page sees it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.edition = secrets.token_hex(8)  # so that no other run's answers are taken from a cache

    def tag(self, *what: object) -> str:
        """Return an entity tag."""
        return '"' + "-".join([self.edition, *map(str, what)]) + '"'

    def thing(self, row: int) -> r.Thing:
        """Return what is shown of a row."""
        return r.Thing(**self._fields(row))

    def things(self, rows: Iterable[int]) -> list[r.Thing]:
        """Return what is shown of some rows."""
        return [self.thing(row) for row in rows]

    def state(self) -> r.State:
        """Return where the work stands."""
        now: Standing = self.desk.standing()
        return r.State(
            title=self.desk.title,
            medium=self.desk.things.medium,
            n_rows=now.n_rows,
            questions=now.questions,
            clicks=now.clicks,
            budget=now.budget,
            kinds=now.kinds,
            settled_rows=now.known_rows,
            done=now.done,
            stop_reason=now.stop_reason,
            stop_text=now.stop_text,
            left=r.Left(next_kind=now.next_kind, text=now.left_text),
            can_undo=now.can_undo,
            skipped=now.skipped,
            contradictions=now.contradictions,
            version=samekind.__version__,
            settings=r.Settings(lineup=self.desk.lineups),
            revision=now.revision,
        )

    def questions(self, asked: Sequence[Asked]) -> list[r.PairQuestion | r.LineUpQuestion]:
        """Return the questions with the things that they are about."""
        return [
            self._lineup(question) if isinstance(question, LineUp) else self._pair(question)
            for question in asked
        ]

    def kinds(self, members: int) -> r.ClusterState:
        """Return all kinds found so far."""
        outline = self.desk.outline(members)
        promise = outline.promise
        return r.ClusterState(
            kinds=[
                r.Finding(
                    kind=found.kind,
                    name=found.name,
                    known=found.known,
                    estimated=found.estimated,
                    recovered=found.recovered,
                    members=self.things(found.members),
                    doubtful=self.things(found.doubtful),
                )
                for found in outline.kinds
            ],
            unplaced=outline.unplaced,
            certificate=None
            if promise is None
            else r.Certificate(
                text=promise.text, undiscovered=promise.undiscovered, wrong=promise.wrong
            ),
            notes=outline.notes,
            revision=outline.revision,
        )

    def kind(self, kind: int, offset: int, limit: int) -> r.KindMembers:
        """Return some members of a kind."""
        page = self.desk.kind(kind, offset=offset, limit=limit)
        return r.KindMembers(
            kind=page.kind,
            name=page.name,
            total=page.total,
            members=[
                r.Member(**self._fields(row), known=known)
                for row, known in zip(page.rows, page.known, strict=True)
            ],
        )

    def answers(self, offset: int, limit: int) -> r.Answers:
        """Return answers that stand, newest first."""
        found = self.desk.answers(offset, limit)
        return r.Answers(
            answers=[
                r.StandingAnswer(
                    a=said.a,
                    b=said.b,
                    answer=said.answer,
                    who=said.who,
                    at=said.at,
                    asked=said.asked,
                )
                for said in found.answers
            ],
            total=found.total,
        )

    def contradictions(self) -> r.Contradictions:
        """Return answers that cannot all be true."""
        return r.Contradictions(
            contradictions=[
                r.Contradiction(
                    text=found.text,
                    pairs=[
                        r.SettledPair(
                            a=self.thing(said.a),
                            b=self.thing(said.b),
                            answer=said.answer,
                            who=said.who,
                        )
                        for said in found.pairs
                    ],
                )
                for found in self.desk.contradictions()
            ]
        )

    def _fields(self, row: int) -> dict[str, Any]:
        shown = self.desk.things.show(row)
        return {
            "row": shown.row,
            "title": shown.title,
            "text": shown.text,
            "fields": shown.fields,
            "picture": f"/api/things/{shown.row}/picture" if shown.has_picture else None,
        }

    def _pair(self, pair: Pair) -> r.PairQuestion:
        kind = None if pair.kind is None else r.KindBrief(kind=pair.kind, name=pair.name)
        return r.PairQuestion(
            id=pair.id,
            a=self.thing(pair.a),
            b=self.thing(pair.b),
            b_kind=kind,
            more=self.things(pair.more),
            skipped=pair.skipped,
        )

    def _lineup(self, lineup: LineUp) -> r.LineUpQuestion:
        return r.LineUpQuestion(
            id=lineup.id,
            thing=self.thing(lineup.row),
            options=[
                r.KindOption(
                    kind=option.kind, name=option.name, members=self.things(option.members)
                )
                for option in lineup.options
            ],
        )
