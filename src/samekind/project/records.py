"""What a project tells: plain records that the page, the terminal and exports share.

`/api/openapi.json` is made from them. `number` is what people call a cluster, for life; `cluster` is the row
that stands for it, by which programs refer to it, and so may any other of its known rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from samekind.data import ItemView

__all__ = [
    "AgreementRecord",
    "AnnotatorPage",
    "AnnotatorRecord",
    "AnswerPage",
    "AnswerRecord",
    "AnsweredPair",
    "AssistantRecord",
    "CertificateRecord",
    "ChangedPair",
    "ClusterMatch",
    "ClusterMember",
    "ClusterOption",
    "ClusterPage",
    "ClusterRef",
    "ClusterSummary",
    "ContradictionRecord",
    "FieldComparison",
    "FoundItem",
    "History",
    "ItemView",
    "LineupQuestion",
    "NewCluster",
    "OpinionRecord",
    "Overview",
    "PairAgreement",
    "PairQuestion",
    "PressPage",
    "PressRecord",
    "Question",
    "ReviewPage",
    "ReviewRecord",
    "RowMap",
    "Said",
    "SearchPage",
    "SheetAnswer",
    "SheetQuestion",
    "Status",
    "StopAdvice",
    "Suggestion",
    "Threshold",
    "UndoneAct",
]


@dataclass(frozen=True)
class ClusterRef:
    """A cluster, its number for life, and what it is called."""

    cluster: int  # the row that holds its number
    number: int
    name: str | None  # that somebody gave it
    proposed_name: str  # from its own words, or "kind 7"
    definition: str  # what belongs to it, in a sentence; "" if nobody said


@dataclass(frozen=True)
class Suggestion:
    """What a model would call a cluster, and what it says belongs to it."""

    name: str
    definition: str


@dataclass(frozen=True)
class FieldComparison:
    """How alike two records are in one field, and what that tells: positive for one entity."""

    name: str
    alike: float | None  # from 0 to 1, equal; None where one has no value
    weight: float  # log-odds


@dataclass(frozen=True)
class PairQuestion:
    """Are these two in the same cluster?

    `subject` is the row that "it is in that cluster" is about: the one that is not placed yet.
    """

    id: str
    a: ItemView
    b: ItemView
    b_cluster: ClusterRef | None  # None: nothing is known of b
    more: list[ItemView]  # further members of it
    a_cluster: ClusterRef | None = None  # None: nothing is known of a; else clusters are compared
    refused: int = 0  # clusters that a is known not to be in
    skipped: bool = False
    subject: int = -1
    compared: Sequence[FieldComparison] = ()  # of records
    type: Literal["pair"] = "pair"


@dataclass(frozen=True)
class ClusterOption(ClusterRef):
    """A cluster in a line-up; its first member is the one that the answer is about."""

    members: list[ItemView]


@dataclass(frozen=True)
class LineupQuestion:
    """In which of these clusters is the item?"""

    id: str
    item: ItemView
    options: list[ClusterOption]
    item_cluster: ClusterRef | None = None  # if something is known of it: clusters are compared
    refused: int = 0  # clusters that it is known not to be in
    type: Literal["lineup"] = "lineup"


@dataclass(frozen=True)
class SheetQuestion:
    """Are these all in one cluster?"""

    id: str
    items: list[ItemView]
    cluster: ClusterOption
    type: Literal["sheet"] = "sheet"


Question = PairQuestion | LineupQuestion | SheetQuestion


@dataclass(frozen=True)
class NewCluster:
    """The answer that a row is in none of the clusters found so far, and what its own is called."""

    name: str = ""


@dataclass(frozen=True)
class SheetAnswer:
    """The answer to a sheet: which of its rows do not belong to the others, and of which nobody can tell."""

    different: Sequence[int] = ()
    unsure: Sequence[int] = ()


Said = str | int | NewCluster | SheetAnswer
"""An answer: "same", "different", "unsure", "skip", "none", the number of a cluster, or one of these."""


@dataclass(frozen=True)
class ClusterMatch(ClusterOption):
    """A cluster that fits what somebody typed, or where a row likely is; its best examples first."""

    known: int
    by: Literal["name", "example", "likelihood"]


@dataclass(frozen=True)
class StopAdvice:
    """Whether it is safe to stop, in a sentence and in numbers."""

    safe: bool
    text: str
    wrong: float | None  # at most this share of the labels
    at_presses: int  # when this was found out


@dataclass(frozen=True)
class Status:
    """Where the work stands."""

    title: str
    medium: str
    n_rows: int
    presses: int  # by which questions were answered, and clusters changed by hand
    questions: int
    budget: int | None  # of presses
    clusters: int
    known_rows: int
    done: bool
    stop_reason: str | None
    stop_text: str
    stopping: StopAdvice | None  # as it was found out last
    can_undo: bool
    skipped: int
    contradictions: int
    lineups: bool  # whether line-ups may be shown
    sheets: bool  # and sheets
    criterion: str  # when two are of one cluster, in a sentence; "" if nobody said
    revision: int  # changes whenever anything was answered, named or taken back
    version: str
    records: bool = False  # that may be duplicates
    project: str = ""  # which project this is, wherever it is served
    uncompared: Sequence[str] = ()  # columns that are shown, and no features
    model: str = ""  # that answers, and suggests names; "" if there is none


@dataclass(frozen=True)
class ClusterSummary(ClusterRef):
    """A cluster found so far."""

    known: int
    estimated: int  # rows in all, known or predicted
    recovered: bool
    copies: int  # rows that hold the same as one of its items
    is_split: bool  # whether it has a part, in which its items are sorted further
    members: list[ItemView]  # known ones, the most typical first
    doubtful: list[ItemView]  # predicted ones, the least certain first


@dataclass(frozen=True)
class CertificateRecord:
    """What the clusters promise: bounds on the shares of rows not found, and in a wrong cluster."""

    text: str
    undiscovered: float
    wrong: float
    wrong_at_any_time: float  # for who stops because of it
    undecided: int  # rows that nobody could tell


@dataclass(frozen=True)
class Overview:
    """All clusters found so far, the largest first."""

    clusters: list[ClusterSummary]
    unplaced: int
    certificate: CertificateRecord | None
    notes: list[str]
    stopping: StopAdvice
    revision: int


@dataclass(frozen=True)
class ClusterMember(ItemView):
    """An item that is known or predicted to be in a cluster."""

    known: bool


@dataclass(frozen=True)
class ClusterPage(ClusterRef):
    """Some items of a cluster: the known ones first, then the predicted ones, surest first."""

    total: int
    members: list[ClusterMember]


@dataclass(frozen=True)
class FoundItem(ClusterMember):
    """An item that says what was searched for, and the cluster that it is in."""

    kind: ClusterRef | None


@dataclass(frozen=True)
class SearchPage:
    """Some of the items that say what was searched for; `rows` are all of them, 1,000 at most."""

    items: list[FoundItem]
    rows: list[int]
    total: int
    columns: list[str]


@dataclass(frozen=True)
class RowMap:
    """Rows in the plane, x and y from 0 to 1; `place` is that of its cluster in `clusters`, or -1."""

    rows: list[int]
    x: list[float]
    y: list[float]
    place: list[int]
    known: list[bool]
    clusters: list[int]
    numbers: list[int]
    method: str  # how places were found: "t-SNE", "principal components", "the columns"
    pending: bool  # whether a better map is being made


@dataclass(frozen=True)
class History:
    """Clusters found after so many presses, which answered so many questions."""

    presses: list[int]
    questions: list[int]
    clusters: list[int]


@dataclass(frozen=True)
class AnswerRecord:
    """An answer that stands."""

    a: int
    b: int
    answer: str
    who: str
    at: float
    asked: bool


@dataclass(frozen=True)
class AnswerPage:
    """Answers, newest first."""

    answers: list[AnswerRecord]
    total: int


@dataclass(frozen=True)
class AnsweredPair:
    """What somebody answered about two items."""

    a: ItemView
    b: ItemView
    answer: str
    who: str


@dataclass(frozen=True)
class PressRecord:
    """All that somebody answered at once; if it is about one item, that is `a` in all pairs."""

    at: float
    who: str
    asked: bool  # or else done by hand
    pairs: list[AnsweredPair]
    total: int  # of its pairs, not all of which may be listed


@dataclass(frozen=True)
class PressPage:
    """Presses, newest first."""

    presses: list[PressRecord]
    total: int


@dataclass(frozen=True)
class ContradictionRecord:
    """Answers that cannot all be true."""

    text: str
    pairs: list[AnsweredPair]


@dataclass(frozen=True)
class UndoneAct:
    """An act that was taken back: what was said of how many pairs, and the name that was given."""

    text: str
    said: Literal["same", "different", "unsure", "skip", "none", "several", "name"]
    pairs: int
    rows: list[int]  # the one that all pairs share first; a few at most
    name: str


@dataclass(frozen=True)
class OpinionRecord:
    """What somebody said of a pair; without a name, it follows from other answers."""

    who: str
    answer: str
    at: float | None


@dataclass(frozen=True)
class ReviewRecord:
    """Two items of which people do not say the same."""

    a: ItemView
    b: ItemView
    a_cluster: ClusterRef | None
    b_cluster: ClusterRef | None
    opinions: list[OpinionRecord]


@dataclass(frozen=True)
class ReviewPage:
    """Some of all that is to be settled."""

    reviews: list[ReviewRecord]
    total: int


@dataclass(frozen=True)
class PairAgreement:
    """Cohen's κ of two people; None where there is no telling."""

    one: str
    two: str
    shared: int
    agreed: int
    kappa: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AgreementRecord:
    """How much all agree: Krippendorff's α with a 95 % interval, and Fleiss' κ of as many for each pair."""

    pairs_of_rows: int
    alpha: float | None
    low: float | None
    high: float | None
    fleiss: float | None
    fleiss_raters: int
    people: list[PairAgreement]


@dataclass(frozen=True)
class AssistantRecord:
    """What a model does at the moment, and what it has cost."""

    name: str
    state: str
    answers: int
    budget: int | None
    checked: int
    waiting: int
    calls: int
    tokens: int
    cost: float
    cap: float | None


@dataclass(frozen=True)
class AnnotatorRecord:
    """One who answered.

    `shared` are the pairs that somebody else answered, too, `agreed` those with the same answer. The error
    is estimated from the clusters; None where nothing tells.
    """

    name: str
    is_model: bool
    answers: int
    unsure: int
    shared: int
    agreed: int
    error: float | None
    low: float | None
    high: float | None
    cost: float | None
    seconds: float | None = None  # for an answer, as a median


@dataclass(frozen=True)
class AnnotatorPage:
    """All who answered, how much they agree, and the model that answers now, if there is one."""

    annotators: list[AnnotatorRecord]
    assistant: AssistantRecord | None
    agreement: AgreementRecord


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
    precision_bound: float | None  # at least, with 95 % confidence, by the audit; None: not known
    recall_bound: float | None
    audited: int
    entities: int
    duplicates: int  # records that are in one entity with an earlier one
    joined: int  # pairs that are together, and are not at the threshold that is kept
    parted: int
    changed: list[ChangedPair]  # some of them
