"""The log in memory: all events, and what follows from those that stand.

- An answer belongs to the unordered pair of its rows, so it stays true whatever asks for it.
- Nothing is deleted: an act is retracted. A later answer of the same annotator to the same pair replaces the
  earlier one, and an edit outranks everybody's; what they replaced stands again when they are retracted.
- An answer to the pair itself comes before what follows from other answers. A run that is repeated from the
  log therefore sees what it saw the first time.
- A contradicting answer is kept and shown in `contradictions`; nothing is inferred from it.
- New answers are added to what is known. Where a line stops or begins to stand again, `epoch` rises, and all
  is made anew.

Rows have the numbers of the data, from 0 to n - 1. Items that are not in the data have numbers from n on:
they stay members of what is known, so nothing is lost with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.flow import DIFFERENT, SAME, UNANSWERED, UNSURE, Answers, Pairs
from samekind.ledger import events as ev
from samekind.ledger._components import write_keys
from samekind.ledger._latest import LatestAnswers
from samekind.ledger.events import Event
from samekind.ledger.inference import Contradiction, Explainer, Implications, Statement
from samekind.ledger.opinions import Opinion, Opinions

__all__ = [
    "MOST_EXPECTED",
    "Asked",
    "ClusterName",
    "Expected",
    "LedgerLine",
    "Lines",
    "Log",
    "Mark",
    "Revision",
    "keys_of",
    "pairs_of",
]

MOST_EXPECTED = 8  # numbers that are kept with an answer

LINE = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("answer", np.int8),
        ("who", np.int32),  # the annotator's number
        ("when", np.float64),
        ("id", np.int64),
        ("act", np.int64),
        ("edit", np.bool_),
        ("paid", np.bool_),  # paid for by this line
        ("asked", np.bool_),  # paid for, by this line or one that it replaced
        ("struck", np.bool_),  # taken back
        ("retracted", np.bool_),  # taken back, or replaced by a later line
        ("expected", np.float32, (MOST_EXPECTED,)),  # when it was asked; NaN where nothing was
    ]
)
Lines = NDArray[np.void]
"""Answers and edits, as a structured array."""

Expected = NDArray[np.float32] | None
"""What was expected of each pair when it was asked, a row each; NaN, or None for all, where nobody asked."""

Asked = bool | NDArray[np.bool_]
"""Whether answers cost a question: all of them, or each."""


class LedgerLine(NamedTuple):
    """One answer in the ledger."""

    a: int
    b: int
    answer: int
    who: str
    when: float
    asked: bool
    retracted: bool


class ClusterName(NamedTuple):
    """What somebody called a row's cluster; the greatest `id` is the newest."""

    id: int
    row: int
    text: str
    who: str
    at: float
    definition: str = ""
    """What belongs to it, in a sentence."""


class Revision(NamedTuple):
    """How much was written so far: it changes with every change of what counts."""

    last: int
    """The id of the newest event."""
    answers: int
    retracted: int
    names: int


class Mark(NamedTuple):
    """A moment of a log, to go back to."""

    last: int
    annotators: int
    epoch: int


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each unordered pair; row numbers are below 2^31."""
    keys = np.empty(len(pairs), dtype=np.int64)
    write_keys(np.ascontiguousarray(pairs), keys)  # one layout is compiled once
    return keys


def pairs_of(lines: Lines, chosen: NDArray[np.bool_] | None = None) -> Pairs:
    """Return the pairs on lines of the log, on all or on some; what else is on them is not copied."""
    a, b = (lines[name] if chosen is None else lines[name][chosen] for name in ("a", "b"))
    return np.column_stack([a, b]).astype(np.intp, copy=False)


class Log:
    """Events, and what follows from them.

    Parameters
    ----------
    infer : bool
        Whether to answer what follows from other answers: for an oracle that does not err.
    n_rows : int or None
        How many rows the data have, where some items are not in them.

    Attributes
    ----------
    last : int
        The id of the newest event.
    epoch : int
        Rises whenever lines that stood do not any more, or stand again.
    settings : dict
        Facts about the project.
    opinions : Opinions
        What several people say of one pair.
    """

    def __init__(self, *, infer: bool = True, n_rows: int | None = None, epoch: int = 0) -> None:
        self.infer = infer
        self.epoch = epoch
        self.last = 0
        self.n_rows = n_rows
        self.has_stand_ins = (
            True  # whether another row of its cluster may speak for an item that is gone
        )
        self._room = np.empty(64, dtype=LINE)
        self._size = 0
        self._notes: list[Event] = []  # events that are no answers
        self._numbers: dict[str, int] = {}  # of the annotators
        self._n_free = 0  # lines that cost nothing
        self._known_stand_ins: dict[int, int] = {}
        self._stand_ins_at = -1  # the epoch for which these were found
        self._refold()

    def __len__(self) -> int:
        """Return the number of answers that stand, about rows of the data."""
        if self._is_complete:
            return self._n_standing
        return len(self.active())

    # What is known

    @property
    def revision(self) -> Revision:
        """What was written so far, in numbers."""
        return Revision(self.last, self._size, len(self._strikes), self._n_names)

    def lookup(self, pairs: Pairs, *, infer: bool = True) -> Answers:
        """Return what is known of each pair; UNANSWERED (-2) where nothing is.

        Without `infer`, only answers to the pair itself.
        """
        known = self._latest.answers(pairs)
        if infer and self.infer:
            self.implications.fill_in(pairs, UNANSWERED, known)
        return known

    def answer_by(self, a: int, b: int, who: str) -> int | None:
        """Return somebody's answer to a pair, if they gave one that stands."""
        number = self._numbers.get(who)
        if number is None:
            return None
        lines = self.lines
        own = ~lines["retracted"] & (lines["who"] == number)
        own &= ((lines["a"] == a) & (lines["b"] == b)) | ((lines["a"] == b) & (lines["b"] == a))
        return int(lines["answer"][own][-1]) if own.any() else None

    def annotators_of(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the number in `annotators` of who last answered each pair, or -1."""
        return self._latest.annotators(pairs)

    @property
    def annotators(self) -> list[str]:
        """Everyone who answered, in the order of their first answers."""
        return list(self._numbers)

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, each with the fewest earlier answers it contradicts."""
        if missing := sorted(self._conflicts - self._explained.keys()):
            self._explain(missing)
        return [self._explained[number] for number in sorted(self._conflicts)]

    @property
    def n_contradictions(self) -> int:
        """How many answers contradict earlier ones."""
        return len(self._conflicts)

    @property
    def names(self) -> dict[int, ClusterName]:
        """The newest name of each row that was given one."""
        if self._is_complete:
            return self._names
        there: dict[int, ClusterName] = {}
        for name in sorted(self._names.values()):
            row = self.present(name.row)
            if row is not None:
                there[row] = name._replace(row=row)
        return there

    @property
    def found(self) -> dict[int, int]:
        """For every number that a cluster was given for life the row that holds it."""
        if self._is_complete:
            return self._found
        rows = {number: self.present(row) for number, row in self._found.items()}
        return {number: row for number, row in rows.items() if row is not None}

    # Lines

    @property
    def lines(self) -> Lines:
        """All answers and edits, in the order in which they were written."""
        return self._room[: self._size]

    def line(self, number: int) -> LedgerLine:
        """Return one of them."""
        a, b, answer, who, when, _, _, _, _, asked, _, retracted, _ = self._room[number].item()
        return LedgerLine(a, b, answer, list(self._numbers)[who], when, asked, retracted)

    def records(self) -> Iterator[LedgerLine]:
        """Yield all lines about rows of the data, retracted ones too."""
        names = list(self._numbers)
        lines = self.lines
        for line in (lines if self._is_complete else lines[self._is_there(lines)]).tolist():
            a, b, answer, who, when, _, _, _, _, asked, _, retracted, _ = line
            yield LedgerLine(a, b, answer, names[who], when, asked, retracted)

    def active(self, first: int = 0, *, consistent: bool = False, stand_ins: bool = False) -> Lines:
        """Return the lines that stand and are about rows of the data.

        Only those from the `first` one ever written on; `consistent`: none that contradicts earlier ones;
        `stand_ins`: also lines about items that are gone, with another row of the same cluster in its place.
        """
        lines = self._room[first : self._size]
        stands = ~lines["retracted"]
        if consistent:
            stands[[number - first for number in self._conflicts if number >= first]] = False
        standing: Lines = lines[stands]
        if self._is_complete:
            return standing
        if stand_ins:
            for side in ("a", "b"):
                standing[side] = self._present(standing[side])
            standing = standing[standing["a"] != standing["b"]]
        found: Lines = standing[self._is_there(standing)]
        return found

    def acts(self) -> Lines:
        """Return the lines that were not taken back, but for those by which a question was skipped."""
        lines = self.lines
        skips = ~lines["asked"] & (lines["answer"] == UNSURE)
        found: Lines = lines[~lines["struck"] & ~skips]
        return found

    def different_pairs(self) -> Pairs:
        """Return the pairs that were answered DIFFERENT, by lines that stand and contradict none."""
        lines = self.active(consistent=True)
        return pairs_of(lines, lines["answer"] == DIFFERENT)

    def volunteered(self) -> Lines:
        """Return the lines that stand and cost no question."""
        if not self._n_free:
            return self._room[:0]
        lines = self.active()
        found: Lines = lines[~lines["asked"]]
        return found

    def skipped(self) -> Pairs:
        """Return the pairs of which somebody was not sure, free of charge: they were skipped."""
        free = self.volunteered()
        return pairs_of(free, free["answer"] == UNSURE)

    def asked_pairs(self) -> NDArray[np.int64]:
        """Return the keys of the pairs whose answers were paid for."""
        lines = self.lines
        keys = np.sort(keys_of(pairs_of(lines, lines["asked"] & ~lines["retracted"])))
        found: NDArray[np.int64] = keys[np.diff(keys, prepend=-1) > 0]
        return found

    def taken_back(self, first: int) -> Lines:
        """Return the lines that were taken back since the `first` ones were, in their order."""
        found: Lines = self.lines[sorted(self._strikes[first:])]
        return found

    def last_acts(self, count: int, who: str | None = None) -> list[int]:
        """Return the last acts, somebody's or all, of which something stands; the latest first."""
        lines = self.lines
        stands = ~lines["retracted"]
        if who is not None:
            stands &= lines["who"] == self._numbers.get(who, -1)
        acts = set(np.unique(lines["act"][stands]).tolist())
        acts |= {note.act for note in self._undoable if who in (None, note.who)}
        return sorted(acts, reverse=True)[:count]

    def of_acts(self, acts: Iterable[int]) -> list[Event]:
        """Return the answers, opinions and names given in some acts, as events, latest first."""
        wanted = set(acts)
        names = list(self._numbers)
        lines = self.lines[np.isin(self.lines["act"], list(wanted)) & ~self.lines["struck"]]
        found = [note for note in self._undoable if note.act in wanted]
        for line in lines:
            kind = ev.EDIT if line["edit"] else ev.ANSWER
            who, at = names[line["who"]], float(line["when"])
            pair = int(line["a"]), int(line["b"]), int(line["answer"])
            ids = int(line["id"]), int(line["act"])
            found.append(Event(*ids, kind, who, at, *pair, charged=bool(line["asked"])))
        return sorted(found, key=lambda event: -event.id)

    def since(self, last: int) -> list[Event]:
        """Return all events after one, in their order."""
        names = list(self._numbers)
        lines = self.lines[int(np.searchsorted(self.lines["id"], last, side="right")) :]
        packed = _packed(lines["expected"])
        found = [note for note in self._notes if note.id > last]
        for line, expected in zip(lines.tolist(), packed, strict=True):
            a, b, answer, who, when, number, act, edit, paid, *_ = line
            kind = ev.EDIT if edit else ev.ANSWER
            event = Event(
                number, act, kind, names[who], when, a, b, answer, paid, expected=expected
            )
            found.append(event)
        return sorted(found)

    @property
    def largest_row(self) -> int:
        """The largest row that anything is about, -1 if there is none."""
        lines = self.lines
        notes = [row for note in self._notes for row in (note.a, note.b) if row is not None]
        return int(max(lines["a"].max(initial=-1), lines["b"].max(initial=-1), *notes, -1))

    def number_of(self, who: str) -> int:
        """Return the number of an annotator; -1 if they answered nothing."""
        return self._numbers.get(who, -1)

    # Writing

    def append_wave(
        self,
        pairs: Pairs,
        answers: Answers,
        who: NDArray[np.int32] | int,
        *,
        ids: NDArray[np.int64],
        act: NDArray[np.int64] | int,
        at: NDArray[np.float64] | float,
        asked: Asked,
        edit: Asked = False,
        expected: Expected = None,
    ) -> None:
        """Take in answers, or edits; `who` are the numbers of annotators (`number`)."""
        start, self._size = self._size, self._size + len(pairs)
        if self._size > len(self._room):
            room = np.empty(max(self._size, 2 * len(self._room)), dtype=LINE)
            room[:start] = self._room[:start]
            self._room = room
        new = self._room[start : self._size]
        new["a"], new["b"] = pairs[:, 0], pairs[:, 1]
        new["answer"], new["who"], new["when"] = answers, who, at
        new["id"], new["act"], new["edit"] = ids, act, edit
        new["paid"] = new["asked"] = asked
        new["struck"] = new["retracted"] = False
        new["expected"] = np.nan
        if expected is not None:
            new["expected"][:, : expected.shape[1]] = expected
        self._n_free += len(pairs) - int(np.count_nonzero(new["paid"]))
        self.last = int(ids[-1])
        n_new = self._latest.put(pairs, answers, new["who"])
        if n_new == len(pairs):
            self._infer(start, pairs, answers)
            self._n_standing += n_new
            return
        keys = keys_of(pairs)
        changed = self._settle(np.flatnonzero(np.isin(keys_of(pairs_of(self.lines)), keys)))
        if (changed < start).any() or new["retracted"].any():
            self.epoch += bool((changed < start).any())
            self._learn()
        else:
            self._infer(start, pairs, answers)
            self._n_standing += len(pairs)

    def append(self, events: Iterable[Event]) -> None:
        """Take in events that are no answers."""
        strikes = False
        for event in events:
            self._notes.append(event)
            self.last = event.id
            if event.kind == ev.RETRACT:
                strikes = True
            else:
                self._fold(event)
        if strikes:
            self._refold()

    def number(self, who: str) -> int:
        """Return the number of an annotator, who may be new."""
        return self._numbers.setdefault(who, len(self._numbers))

    def copy(self) -> Log:
        """Return a log of the same events."""
        other = Log(infer=self.infer, n_rows=self.n_rows)
        other.has_stand_ins, other.last = self.has_stand_ins, self.last
        other._room, other._size = self.lines.copy(), self._size
        other._notes, other._numbers = self._notes.copy(), self._numbers.copy()
        other._n_free = self._n_free
        other._refold()
        other.epoch = self.epoch
        return other

    def mark(self) -> Mark:
        """Return where the log is, to go back to."""
        return Mark(self.last, len(self._numbers), self.epoch)

    def rewind(self, mark: Mark) -> None:
        """Forget all that came after a mark."""
        if self.last == mark.last:
            return
        self._size = int(np.searchsorted(self.lines["id"], mark.last, side="right"))
        self._notes = [note for note in self._notes if note.id <= mark.last]
        self._numbers = dict(list(self._numbers.items())[: mark.annotators])
        self._n_free = self._size - int(np.count_nonzero(self.lines["paid"]))
        self.last = mark.last
        self._refold()
        self.epoch = mark.epoch

    # The fold

    def _refold(self) -> None:
        """Make all that follows from the events anew."""
        lines = self.lines
        before = lines["retracted"].copy()
        lines["struck"] = False
        self._names: dict[int, ClusterName] = {}
        self._found: dict[int, int] = {}
        self.settings: dict[str, str] = {}
        self.opinions = Opinions()
        self._strikes: list[int] = []
        self._undoable: list[Event] = []
        self._n_names = 0
        dropped = self._strike()
        for note in self._notes:
            is_undone = note.act in dropped and note.kind in (ev.NAME, ev.OPINION)
            if not is_undone and note.kind != ev.RETRACT:
                self._fold(note)
            self._n_names += is_undone and note.kind == ev.NAME
        self._settle(np.arange(self._size))
        self._learn()
        self.epoch += bool((before != lines["retracted"]).any())

    def _strike(self) -> set[int]:
        """Mark the lines that were taken back, in that order; return the acts that were, as a whole."""
        acts: set[int] = set()
        lines = self.lines
        for note in self._notes:
            if note.kind != ev.RETRACT:
                continue
            if note.payload is None:
                acts.add(note.ref or 0)
                numbers = np.flatnonzero(lines["act"] == note.ref)
            else:
                numbers = np.flatnonzero(np.isin(lines["id"], json.loads(note.payload)))
            numbers = numbers[~lines["struck"][numbers]]
            lines["struck"][numbers] = True
            self._strikes += numbers.tolist()
        return acts

    def _fold(self, event: Event) -> None:
        """Fold one event that is neither an answer nor a retraction."""
        if event.kind == ev.SETTINGS:
            self.settings.update(json.loads(event.payload or "{}"))
            self.settings = {key: said for key, said in self.settings.items() if said is not None}
        elif event.kind == ev.FOUND:
            self._found[event.ref or 0] = event.a or 0
        else:
            self._undoable.append(event)
            if event.kind == ev.NAME:
                row, (text, _, definition) = event.a or 0, (event.payload or "").partition("\n")
                name = ClusterName(event.id, row, text, event.who, event.at, definition)
                self._names[row] = name
                self._n_names += 1
            else:
                a, b = sorted((event.a or 0, event.b or 0))
                role, said = event.ref or 0, event.answer or 0
                if self._is_complete or b < (self.n_rows or 0):
                    self.opinions.add(Opinion(a, b, said, event.who, event.at, role, event.act))

    def _settle(self, about: NDArray[np.intp]) -> NDArray[np.intp]:
        """Find which of some lines stand: all lines about some pairs. Return those for which that changed."""
        lines = self.lines
        before = lines["retracted"][about]
        lines["retracted"][about] = lines["struck"][about]
        lines["asked"][about] = lines["paid"][about]
        live = about[~lines["struck"][about]]
        keys = keys_of(pairs_of(lines[live]))
        _, by, counts = np.unique(keys, return_inverse=True, return_counts=True)
        several = counts[by] > 1
        standing: dict[int, dict[int, int]] = {}  # of each pair, the line of each annotator
        for number, key in zip(live[several].tolist(), keys[several].tolist(), strict=True):
            there = standing.setdefault(key, {})
            who, is_edit = int(lines["who"][number]), lines["edit"][number]
            replaced = list(there.values()) if is_edit else [there[who]] if who in there else []
            lines["retracted"][replaced] = True
            lines["asked"][number] |= lines["asked"][replaced].any()  # what is paid stays paid
            lines["asked"][replaced] = lines["paid"][replaced]
            if is_edit:
                there.clear()
            there[who] = number
        changed: NDArray[np.intp] = about[before != lines["retracted"][about]]
        return changed

    def _learn(self) -> None:
        """Learn all lines that stand anew."""
        self._latest, self.implications = LatestAnswers(), Implications()
        self._conflicts: set[int] = set()
        self._explained: dict[int, Contradiction] = {}
        lines = self.lines
        numbers = np.flatnonzero(~lines["retracted"])
        pairs, answers = pairs_of(lines[numbers]), lines["answer"][numbers]
        self._n_standing = numbers.size
        self._latest.put(pairs, answers, lines["who"][numbers])
        self._conflicts.update(numbers[self.implications.add(pairs, answers)].tolist())

    def _infer(self, start: int, pairs: Pairs, answers: Answers) -> None:
        """Learn what follows from new lines."""
        conflicts = self.implications.add(pairs, answers)
        if conflicts.size:
            self._conflicts.update((conflicts + start).tolist())

    def _explain(self, missing: list[int]) -> None:
        """Find for each of these lines the fewest earlier ones that it contradicts."""
        lines = self.lines
        component = self.implications.components(pairs_of(lines).ravel()).reshape(-1, 2)
        near = np.isin(component, component[missing]).all(axis=1)
        held = near & ~lines["retracted"] & (lines["answer"] != UNSURE)
        held[list(self._conflicts)] = False
        numbers, explainer, at = np.flatnonzero(held), Explainer(), 0
        for number in missing:
            upto = int(np.searchsorted(numbers, number))
            for earlier in numbers[at:upto].tolist():
                explainer.hold(Statement(*self.line(earlier)[:4]))
            at = upto
            self._explained[number] = explainer.explain(Statement(*self.line(number)[:4]))

    # Items that are not in the data

    @property
    def _is_complete(self) -> bool:
        """Whether all items are in the data."""
        return self.n_rows is None

    def _is_there(self, lines: Lines) -> NDArray[np.bool_]:
        n = self.n_rows
        found: NDArray[np.bool_] = (lines["a"] < n) & (lines["b"] < n)
        return found

    def present(self, row: int) -> int | None:
        """Return a row of the data that stands for a row; None if there is none."""
        if self.n_rows is None or row < self.n_rows:
            return row
        return self._stand_ins().get(row)

    def _present(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows, with one of the same cluster for each that is gone; gone ones where there is none."""
        stands_for = self._stand_ins()
        return np.array([stands_for.get(row, row) for row in rows.tolist()], dtype=np.int64)

    def _stand_ins(self) -> dict[int, int]:
        """Return for items that are gone a row of the same cluster: the first that was known to be in it.

        So answers that are added change nothing, and every process finds the same one.
        """
        if not self.has_stand_ins or self.n_rows is None:
            return {}
        if self._stand_ins_at != self.epoch:
            lines = self.lines
            same = ~lines["retracted"] & (lines["answer"] == SAME)
            same[list(self._conflicts)] = False
            self._known_stand_ins = _first_of_cluster(pairs_of(lines, same), self.n_rows)
            self._stand_ins_at = self.epoch
        return self._known_stand_ins


def _first_of_cluster(same: Pairs, n: int) -> dict[int, int]:
    """Return for rows from n on the first row below n that these pairs, one after another, join them to."""
    found: dict[int, int] = {}
    groups: dict[int, list[int]] = {}  # the group of each row, its first row below n at the front
    for a, b in same.tolist():
        one, other = groups.setdefault(a, [a]), groups.setdefault(b, [b])
        if one is other:
            continue
        if one[0] >= n or (other[0] < n and len(one) < len(other)):
            one, other = other, one
        if one[0] < n:
            found.update((row, one[0]) for row in other if row >= n and row not in found)
        one += other
        groups.update((row, one) for row in other)
    return found


def _packed(expected: NDArray[np.float32]) -> list[bytes | None]:
    """Return what was expected of each answer as little-endian float32, without empty places at the end."""
    given = ~np.isnan(expected)
    widths = np.where(given.any(axis=1), expected.shape[1] - given[:, ::-1].argmax(axis=1), 0)
    rows = expected.astype("<f4")
    return [
        row[:width].tobytes() if width else None
        for row, width in zip(rows, widths.tolist(), strict=True)
    ]
