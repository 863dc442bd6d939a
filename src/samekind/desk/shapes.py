"""What a desk says: plain records, which a page or a terminal shows."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "Answered",
    "Disagreement",
    "Kind",
    "KindPage",
    "LineUp",
    "Option",
    "Outline",
    "Pair",
    "Promise",
    "Question",
    "Saying",
    "Standing",
]


@dataclass(frozen=True)
class Option:
    """A kind in a line-up, with a few of its members; the first is the one it is compared with."""

    kind: int
    name: str | None
    members: list[int]


@dataclass(frozen=True)
class Pair:
    """Are these two of the same kind?"""

    id: str
    a: int
    b: int
    kind: int | None  # that of b, if it is known
    name: str | None
    more: list[int]  # further members of it
    skipped: bool = False


@dataclass(frozen=True)
class LineUp:
    """Of which of these kinds is the row?"""

    id: str
    row: int
    options: list[Option]


Question = Pair | LineUp


@dataclass(frozen=True)
class Standing:
    """Where the work stands."""

    questions: int
    clicks: int  # by which they were answered, and kinds changed by hand
    budget: int | None
    kinds: int
    known_rows: int
    n_rows: int
    done: bool
    stop_reason: str | None
    stop_text: str
    next_kind: int | None  # about so many questions until the next new kind
    left_text: str
    can_undo: bool
    skipped: int
    contradictions: int
    revision: int  # changes whenever anything was answered, named or taken back


@dataclass(frozen=True)
class Kind:
    """A kind found so far. It goes by the number of the row that stands for it."""

    kind: int
    name: str | None
    known: int
    estimated: int  # rows in all, known or predicted
    recovered: bool
    members: list[int]  # known ones, the most typical first
    doubtful: list[int]  # predicted ones, the least certain first


@dataclass(frozen=True)
class Promise:
    """The certificate."""

    text: str
    undiscovered: float
    wrong: float


@dataclass(frozen=True)
class Outline:
    """All kinds found so far."""

    kinds: list[Kind]
    unplaced: int
    promise: Promise | None
    notes: list[str]
    revision: int


@dataclass(frozen=True)
class KindPage:
    """Some rows of a kind: the known ones first, then the predicted ones, surest first."""

    kind: int
    name: str | None
    total: int
    rows: list[int]
    known: list[bool]


@dataclass(frozen=True)
class Saying:
    """An answer that stands."""

    a: int
    b: int
    answer: str
    who: str
    at: float
    asked: bool


@dataclass(frozen=True)
class Answered:
    """Answers, newest first."""

    answers: list[Saying]
    total: int


@dataclass(frozen=True)
class Disagreement:
    """Answers that cannot all be true."""

    text: str
    pairs: list[Saying] = field(default_factory=list)
