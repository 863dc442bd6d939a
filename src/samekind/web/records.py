"""What the server sends. `/api/openapi.json` is made from this."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

__all__ = [
    "Afterwards",
    "Answers",
    "Certificate",
    "ClusterState",
    "Contradiction",
    "Contradictions",
    "Failure",
    "Finding",
    "History",
    "Imported",
    "KindBrief",
    "KindMembers",
    "KindOption",
    "Left",
    "LineUpQuestion",
    "Map",
    "Member",
    "Outdated",
    "PairQuestion",
    "Questions",
    "Saved",
    "Settings",
    "SettledPair",
    "Skipped",
    "StandingAnswer",
    "State",
    "Thing",
    "Undone",
    "plain",
]


def plain(text: str) -> str:
    """Make what cannot be sent as UTF-8 (half a pair of surrogates, from a file's name) a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def _sequence(of: str, length: int) -> dict[str, Any]:
    return {"type": "array", "items": {"type": of}, "minItems": length, "maxItems": length}


Text = Annotated[str, BeforeValidator(plain)]
Cell = Annotated[tuple[Text, Text], WithJsonSchema(_sequence("string", 2))]
Point = Annotated[tuple[float, float, int, int, int], WithJsonSchema(_sequence("number", 5))]


class Failure(BaseModel):
    """What went wrong, in plain words."""

    error: Text


class Thing(BaseModel):
    """What is shown of a row. All of it is data, never markup."""

    row: int
    title: Text
    text: Text | None
    fields: list[Cell]
    picture: str | None


class Member(Thing):
    """A thing of a kind: known to be, or predicted."""

    known: bool


class KindBrief(BaseModel):
    """A kind by its number and name."""

    kind: int
    name: Text | None


class PairQuestion(BaseModel):
    """Are these two of the same kind?"""

    id: str
    type: Literal["pair"] = "pair"
    a: Thing
    b: Thing
    b_kind: KindBrief | None
    more: list[Thing]
    skipped: bool = False


class KindOption(KindBrief):
    """A kind in a line-up."""

    members: list[Thing]


class LineUpQuestion(BaseModel):
    """Of which of these kinds is the thing?"""

    id: str
    type: Literal["lineup"] = "lineup"
    thing: Thing
    options: list[KindOption]


Question = Annotated[PairQuestion | LineUpQuestion, Field(discriminator="type")]


class Left(BaseModel):
    """An estimate of what is left to do."""

    next_kind: int | None
    text: str


class Settings(BaseModel):
    """How the page begins."""

    lineup: bool


class State(BaseModel):
    """Where the work stands."""

    title: Text
    medium: str
    n_rows: int
    questions: int
    clicks: int
    budget: int | None
    kinds: int
    settled_rows: int
    done: bool
    stop_reason: str | None
    stop_text: str
    left: Left
    can_undo: bool
    skipped: int
    contradictions: int
    version: str
    settings: Settings
    revision: int


class Afterwards(BaseModel):
    """Where the work stands after a change."""

    state: State


class Questions(Afterwards):
    """What to ask next; nothing when all is done."""

    questions: list[Question]


class Saved(Questions):
    """The answer is on disk."""

    saved: Literal[True] = True


class Undone(Questions):
    """What was taken back, in words."""

    undone: list[Text]


class Outdated(Questions):
    """The question is not open any more; these are."""

    error: Text


class Skipped(BaseModel):
    """Pairs that were skipped."""

    questions: list[Question]


class Imported(Afterwards):
    """So many answers were taken in."""

    imported: int


class Certificate(BaseModel):
    """What the clusters promise."""

    text: str
    undiscovered: float
    wrong: float


class Finding(KindBrief):
    """A kind found so far."""

    known: int
    estimated: int
    recovered: bool
    members: list[Thing]
    doubtful: list[Thing]


class ClusterState(BaseModel):
    """All kinds found so far."""

    kinds: list[Finding]
    unplaced: int
    certificate: Certificate | None
    notes: list[Text]
    revision: int


class KindMembers(KindBrief):
    """Some members of a kind."""

    total: int
    members: list[Member]


class Map(BaseModel):
    """Rows in the plane: x, y, the place of its kind in `kinds` or -1, whether it is known, and the row."""

    points: list[Point]
    kinds: list[int]


class History(BaseModel):
    """ClusterState found after so many questions."""

    questions: list[int]
    kinds: list[int]


class StandingAnswer(BaseModel):
    """An answer that was not taken back."""

    a: int
    b: int
    answer: str
    who: Text
    at: float
    asked: bool


class Answers(BaseModel):
    """Answers, newest first."""

    answers: list[StandingAnswer]
    total: int


class SettledPair(BaseModel):
    """What was said of two things."""

    a: Thing
    b: Thing
    answer: str
    who: Text


class Contradiction(BaseModel):
    """Answers that cannot all be true."""

    text: Text
    pairs: list[SettledPair]


class Contradictions(BaseModel):
    """All of them."""

    contradictions: list[Contradiction]
