"""The ledger: what was answered, by whom and when.

Its rules:

- An answer belongs to the unordered pair, so it stays true whatever asks for it.
- Nothing is deleted: an answer is retracted, and a later answer of the same annotator to the same pair
  replaces the earlier one, which stands again when the later one is retracted.
- An answer to the pair itself comes before what follows from other answers. A run that is repeated
  from the ledger therefore sees just what it saw the first time.
- A contradicting answer is kept and shown in `contradictions`; nothing is inferred from it.
- What is written within one `transaction` is kept together, or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.flow import DIFFERENT, UNANSWERED, Answers, Pairs, check_answers, check_pairs
from samekind.ledger.checks import RowLimits, check_text
from samekind.ledger.earlier import EarlierAnswers
from samekind.ledger.inference import Contradiction, Implications, Statement
from samekind.ledger.knowledge import Knowledge
from samekind.ledger.log import Asked, Expected, LedgerLine, Lines, Wave, keys_of, pairs_of
from samekind.ledger.transactions import Transactions

__all__ = ["UNANSWERED", "Ledger"]


class Ledger(RowLimits, Transactions):
    """Answers in memory; gone with the process. `SqlLedger` keeps them on disk.

    Parameters
    ----------
    infer : bool
        Whether to answer what follows from other answers: for an oracle that does not err.

    Examples
    --------
    >>> from samekind import DIFFERENT, SAME
    >>> ledger = Ledger()
    >>> ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
    >>> ledger.lookup(np.array([[1, 0], [2, 0], [0, 3]])).tolist()
    [1, 0, -2]
    >>> ledger.retract()
    [LedgerLine(a=1, b=2, answer=0, who='ann', ...)]
    """

    def __init__(self, *, infer: bool = True) -> None:
        super().__init__()
        self.infer = infer
        self._last_time = 0.0
        self._known = Knowledge()

    def __len__(self) -> int:
        """Return the number of answers that are not retracted."""
        return self._known.n_answers

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} answers)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def lookup(self, pairs: Pairs, *, infer: bool = True) -> Answers:
        """Return what is known of each pair; UNANSWERED (-2) where nothing is.

        Without `infer`, only answers to the pair itself.
        """
        return self._known.answers(pairs, infer=infer and self.infer)

    def answer_by(self, a: int, b: int, who: str) -> int | None:
        """Return somebody's answer to a pair, if they gave one that stands."""
        lines = self._log.lines[self._log.about(a, b)]
        own = lines[~lines["retracted"] & (lines["who"] == self._numbers.get(who, -1))]
        return int(own["answer"][-1]) if own.size else None

    def annotators_of(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the number in `annotators` of who last answered each pair, or -1."""
        return self._known.latest.annotators(pairs)

    @property
    def annotators(self) -> list[str]:
        """Everyone who answered, in the order of their first answers."""
        return list(self._numbers)

    def lines(self) -> Iterator[LedgerLine]:
        """Yield all lines in the order in which they were written, retracted ones too."""
        return map(self._line, range(self._log.size))

    def active(self, first: int = 0, *, consistent: bool = False) -> Lines:
        """Return the lines that are not retracted, as a structured array.

        Only those from the `first` one ever written on; `consistent`: none that contradicts earlier ones.
        """
        lines = self._log.lines[first:]
        stands = ~lines["retracted"]
        if consistent:
            stands[[line - first for line in self._known.conflicts if line >= first]] = False
        standing: Lines = lines[stands]
        return standing

    def different_pairs(self) -> Pairs:
        """Return the pairs that were answered DIFFERENT, by lines that stand and contradict none."""
        lines = self._log.lines
        stands = ~lines["retracted"] & (lines["answer"] == DIFFERENT)
        stands[list(self._known.conflicts)] = False
        return pairs_of(lines, stands)

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, each with the fewest earlier answers it contradicts."""
        if not self._known.conflicts:
            return []
        return self._known.contradictions(self._log.lines, self._statement)

    @property
    def n_contradictions(self) -> int:
        """How many answers contradict earlier ones."""
        return len(self._known.conflicts)

    @property
    def implications(self) -> Implications:
        """What follows from the answers that stand; to be read."""
        return self._known.implied

    def volunteered(self) -> Lines:
        """Return the lines that are not retracted and cost no question."""
        return self._log.volunteered()

    def skipped(self) -> Pairs:
        """Return the pairs of which somebody was not sure, free of charge: they were skipped."""
        return pairs_of(self._log.skipped())

    def asked_pairs(self) -> NDArray[np.int64]:
        """Return the keys of the pairs whose answers were paid for."""
        lines = self._log.lines
        paid = lines["asked"] & ~lines["retracted"]
        keys = np.sort(keys_of(pairs_of(lines, paid)))
        found: NDArray[np.int64] = keys[np.diff(keys, prepend=-1) > 0]
        return found

    # Writing

    def record(
        self,
        pairs: ArrayLike,
        answers: ArrayLike,
        *,
        who: str = "",
        asked: Asked = True,
        expected: Expected = None,
    ) -> None:
        """Write answers down; when this returns they are kept.

        `asked` says of all, or of each, that it cost a question; volunteered or imported ones do not.
        `expected` are up to eight numbers for each: what was known of the pair when it was asked.
        """
        check_text("who", who)
        checked = self._check_rows(check_pairs(pairs))
        self.record_checked(checked, check_answers(answers, len(checked)), who, asked, expected)

    def record_checked(
        self, pairs: Pairs, answers: Answers, who: str, asked: Asked, expected: Expected = None
    ) -> None:
        """Do what `record` does, for callers that have checked what they pass."""
        if len(pairs):
            with self._writing():
                self._append(pairs, answers, who, asked, expected)

    def record_next(
        self, seen: int, pairs: Pairs, answers: Answers, who: str, expected: Expected = None
    ) -> bool:
        """Write answers that were asked for, unless others wrote meanwhile; return whether they are kept.

        `seen` is the number of lines, and of those taken back, that the caller knows.
        """
        with self._writing():
            if sum(self.revision[:2]) != seen:
                return False
            self._append(pairs, answers, who, True, expected)
        return True

    def correct(self, a: int, b: int, answer: int, *, who: str = "") -> None:
        """Answer a pair anew; see `correct_all`."""
        self.correct_all([[a, b]], [answer], who=who)

    def correct_all(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: Asked = False
    ) -> None:
        """Answer pairs, whatever was answered before, until that is taken back; what was paid stays paid."""
        checked = self._check_rows(check_pairs(pairs))
        with self.transaction():
            earlier = EarlierAnswers(self._log, checked)
            for place in earlier.of_others(self._numbers.get(who, -1)):
                self.retract_pair(*checked[place].tolist())
            first = self._log.size
            self.record(checked, answers, who=who, asked=earlier.paid | asked)
            for place, lines in earlier.lines.items():
                self._append_correction(first + place, lines)

    def retract(
        self,
        count: int = 1,
        *,
        who: str | None = None,
        asked_only: bool = False,
        together: bool = False,
    ) -> list[LedgerLine]:
        """Take back the last `count` answers that still stand; return them, latest first.

        With `who`, only that annotator's; with `asked_only`, none that were volunteered; with `together`,
        what was recorded at once counts as one. What a correction replaced is recorded again.
        """
        count = check_positive_int("count", count)
        with self.transaction():
            lines = self._log.lines
            chosen = ~lines["retracted"]
            if who is not None:
                chosen &= lines["who"] == self._numbers.get(who, -1)
            if asked_only:
                chosen &= lines["asked"]
            numbers = np.flatnonzero(chosen)
            if together:
                times = lines["when"][numbers]
                numbers = numbers[times >= np.unique(times)[-count:].min(initial=np.inf)]
            else:
                numbers = numbers[numbers.size - min(count, numbers.size) :]
            taken = self._retract(numbers)
            for number in reversed(numbers.tolist()):
                for replaced in self._notes.replaced.get(number, ()):
                    a, b, answer, name, at, asked, _ = self._line(replaced)
                    if self.answer_by(a, b, name) is None:  # or else they answered again
                        with self._writing():
                            expected = self._log.lines["expected"][[replaced]]
                            said = np.array([[a, b]]), np.array([answer], dtype=np.int8)
                            self._append(*said, name, asked, expected, at)  # as part of its act
        return taken

    def retract_pair(self, a: int, b: int) -> list[LedgerLine]:
        """Take back every answer to one pair."""
        with self.transaction():
            about = self._log.about(a, b)
            return self._retract(about[~self._log.lines["struck"][about]])

    def name(self, row: int, text: str, *, who: str = "", at: float | None = None) -> None:
        """Name a row's cluster, whatever becomes of it; "" takes it away. `at`: when, if with an answer."""
        self._check_name(row, text, who)
        self._notes.add_name(row, text, who, self._now() if at is None else at)

    def anchor(self, number: int, row: int) -> None:
        """Let a row hold a number: whichever cluster the row is in has it, for life."""
        self._check_anchor(number, row)
        self._notes.add_anchor(number, row)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a fact about the project beside its answers."""
        self.meta[key] = value

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        return False

    def close(self) -> None:
        """Let go of what the ledger holds open."""

    # Within: a ledger that keeps its lines elsewhere too overrides the first three.

    def _append(
        self,
        pairs: Pairs,
        answers: Answers,
        who: str,
        asked: Asked,
        expected: Expected,
        at: float | None = None,
    ) -> None:
        when = self._now() if at is None else at
        self._learn_new(Wave(pairs, answers, self._number(who), when, asked, expected))

    def _retract(self, numbers: NDArray[np.intp]) -> list[LedgerLine]:
        """Take back lines by their numbers; return them, latest first."""
        self._strike(numbers)
        return [self._line(number) for number in reversed(numbers.tolist())]

    def _append_correction(self, line: int, replaced: list[int]) -> None:
        for other in replaced:
            self._notes.add_correction(line, other)

    def _number(self, who: str) -> int:
        return self._numbers.setdefault(who, len(self._numbers))

    def _line(self, number: int) -> LedgerLine:
        a, b, answer, who, when, asked, _, retracted, *_ = self._log.lines[number].item()
        return LedgerLine(a, b, answer, list(self._numbers)[who], when, asked, retracted)

    def _learn_new(self, wave: Wave) -> None:
        """Add lines to the log and to what is known."""
        start = self._log.size
        all_new = (self._known.answers(wave.pairs, infer=False) == UNANSWERED).all()
        self._log.append(wave)
        if all_new and self._known.add(wave.pairs, wave.answers, wave.who, start):
            return
        replaced = self._log.replace_earlier(keys_of(wave.pairs))
        changed = np.append(replaced, np.arange(start, self._log.size))
        if all_new or not (replaced.size and self._known.revise(self._log.lines, changed)):
            self._relearn()

    def _strike(self, numbers: NDArray[np.intp]) -> None:
        """Mark lines as taken back, and learn all others anew."""
        if numbers.size:
            changed = self._log.strike(numbers)
            if not self._known.revise(self._log.lines, changed):
                self._relearn()

    def _statement(self, number: int) -> Statement:
        return Statement(*self._line(number)[:4])

    def _relearn(self) -> None:
        before, self._known = self._known, Knowledge()
        numbers = self._log.standing
        lines = self._log.lines[numbers]
        self._known.add(pairs_of(lines), lines["answer"], lines["who"], numbers)
        self._known.keep_explanations(before, self._statement)

    def _now(self) -> float:
        """Return the time, a little later than that of anything before."""
        self._last_time = max(time.time(), self._last_time + 1e-6)
        return self._last_time
