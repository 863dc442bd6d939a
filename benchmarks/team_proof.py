"""What the ledger says of all that was acknowledged to a simulated team."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.team_site import place_of

if TYPE_CHECKING:
    from samekind.ledger import Event

Pair = frozenset[int | None]


@dataclass
class Record:
    """What happened to the people."""

    kept: list[tuple[str, str, object]] = field(default_factory=list)  # who, question, answer
    names: list[str] = field(default_factory=list)  # that were acknowledged, all different
    n_merged: int = 0
    n_undone: int = 0  # presses that were taken back
    seconds: list[float] = field(default_factory=list)  # from an answer to the next question
    edit_seconds: list[float] = field(default_factory=list)  # of names, merges and undo
    statuses: Counter[int] = field(default_factory=Counter)  # of answers
    edit_statuses: Counter[int] = field(default_factory=Counter)
    waited: int = 0  # times that somebody got no question
    cut_off: int = 0  # connections
    started: float = 0.0
    ended: float = 0.0


def prove(where: str, record: Record) -> dict[str, Any]:
    """Return how much of what was acknowledged is lost, doubled, or was given to two people unasked."""
    from samekind.ledger import Ledger, check_project

    place = place_of(where)
    with Ledger(place, read_only=True) as ledger:
        lines = list(ledger.lines())
    events = events_in(where)
    opinions = [(frozenset((e.a, e.b)), e.who) for e in events if e.kind == "opinion"]
    ever = {(frozenset((line.a, line.b)), line.who) for line in lines} | {*opinions}
    standing = [line for line in lines if not line.retracted]
    said = [(frozenset((line.a, line.b)), line.who) for line in standing]
    asked = [(frozenset((line.a, line.b)), line.who) for line in standing if line.asked]
    people_of: dict[Pair, set[str]] = {}
    for pair, who in [*asked, *opinions]:
        people_of.setdefault(pair, set()).add(who)
    n_taken_back = len({event.ref for event in events if event.kind == "retract"})
    there = Counter(event.payload for event in events if event.kind == "name")
    return {
        "lost": sum(not _is_there(*one, ever) for one in record.kept)
        + sum(there[name] == 0 for name in record.names),
        "doubled": len(said)
        - len({*said})
        + len(opinions)
        - len({*opinions})
        + sum(there[name] > 1 for name in record.names)
        + max(0, n_taken_back - record.n_undone),
        "given to two": sum(len(people) > 1 for people in people_of.values()),
        "late": len(opinions),
        "lines": len(lines),
        "taken back": n_taken_back,
        "sound": check_project(place).is_fine,
    }


def _is_there(who: str, question: str, answer: object, ever: set[tuple[Pair, str]]) -> bool:
    """Return whether what somebody said is in the ledger: of a line-up in which they picked one, that."""
    form, row, others = question.split("-")
    said = [(frozenset((int(row), int(other))), who) in ever for other in others.split(".")]
    return any(said) if form == "l" and isinstance(answer, int) else all(said)


def events_in(where: str) -> list[Event]:
    """Return all events of a project."""
    from samekind.ledger import Ledger

    with Ledger(place_of(where), read_only=True) as ledger:
        return ledger.log.since(0)
