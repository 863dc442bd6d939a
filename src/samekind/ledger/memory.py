"""The ledger: what was answered, by whom and when.

Its rules:

- An answer belongs to the unordered pair, so it stays true whatever asks for it.
- Nothing is deleted: an answer is retracted, and a later answer of the same person to the same pair
  replaces the earlier one, which stands again when the later one is retracted.
- What was said of a pair itself comes before what follows from other answers. A run that is repeated
  from the ledger therefore sees just what it saw the first time.
- A contradicting answer is kept and shown in `contradictions`; nothing is inferred from it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_positive_int
from samekind.flow import UNANSWERED, UNSURE, Answers, Pairs
from samekind.ledger._said import Said
from samekind.ledger.inference import Contradiction, Implications, Statement, explain
from samekind.ledger.pairs import check_answers, check_pairs, keys_of, pairs_of

__all__ = ["UNANSWERED", "Entry", "Ledger"]

ENTRY = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("answer", np.int8),
        ("who", np.int32),
        ("when", np.float64),
        ("asked", np.bool_),
        ("struck", np.bool_),  # taken back
        ("retracted", np.bool_),  # taken back, or replaced by a later answer
    ]
)


class Entry(NamedTuple):
    """One line of the ledger."""

    a: int
    b: int
    answer: int
    who: str
    when: float
    asked: bool
    retracted: bool


class Ledger:
    """Answers in memory; gone with the process. `SqlLedger` keeps them on disk.

    Parameters
    ----------
    infer : bool
        Whether to answer what follows from other answers. Right for an oracle that does not err.

    Examples
    --------
    >>> from samekind import DIFFERENT, SAME
    >>> ledger = Ledger()
    >>> ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
    >>> ledger.lookup(np.array([[1, 0], [2, 0], [0, 3]])).tolist()
    [1, 0, -2]
    >>> ledger.retract()
    [Entry(a=1, b=2, answer=0, who='ann', ...)]
    """

    _explained: list[Contradiction] | None  # what `contradictions` returns, until answers change

    def __init__(self, *, infer: bool = True) -> None:
        self.infer = infer
        self.meta: dict[str, str] = {}
        self._lines = np.empty(0, dtype=ENTRY)
        self._waves: list[tuple[Any, ...]] = []  # not yet in _lines: see _log
        self._size = 0
        self._n_struck = 0
        self._last_time = 0.0
        self._names: dict[str, int] = {}
        self._forget()

    def __len__(self) -> int:
        """Return the number of answers that are not retracted."""
        return self._n_active

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} answers)"

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # Reading

    def lookup(self, pairs: Pairs, *, infer: bool = True) -> Answers:
        """Return what is known of each pair; UNANSWERED (-2) where nothing is.

        Without `infer`, only what was said of the pair itself.
        """
        known = self._said.answers(pairs)
        if infer and self.infer:
            self._implied.fill_in(pairs, UNANSWERED, known)
        return known

    def said_by(self, a: int, b: int, who: str) -> int | None:
        """Return what somebody says of a pair, if they said anything that stands."""
        log = self.active()
        own = (keys_of(pairs_of(log)) == keys_of(np.array([[a, b]]))) & (
            log["who"] == self._names.get(who, -1)
        )
        return int(log["answer"][own][-1]) if own.any() else None

    def speakers(self, pairs: Pairs) -> NDArray[np.int64]:
        """Return the number of who spoke last of each pair, or -1; `names` has them by number."""
        return self._said.speakers(pairs)

    @property
    def names(self) -> list[str]:
        """Everyone who answered, in the order of their first answers."""
        return list(self._names)

    @property
    def revision(self) -> tuple[int, int]:
        """Lines written and lines taken back: changes with every change."""
        return self._size, self._n_struck

    @property
    def n_deeds(self) -> int:
        """How many times something was recorded that was not taken back; at once counts as once."""
        return int(np.unique(self._log["when"][~self._log["struck"]]).size)

    def entries(self) -> Iterator[Entry]:
        """Yield all lines in the order in which they were written, retracted ones too."""
        for line in range(self._size):
            yield self._entry(line)

    def active(self, upto: int | None = None, *, consistent: bool = False) -> NDArray[Any]:
        """Return the lines that are not retracted, as a structured array.

        With `upto`, only of the first so many lines ever written; with `consistent`, none that contradicts
        earlier ones.
        """
        stands = ~self._log["retracted"]
        if consistent and self._conflicts:
            stands[list(self._conflicts)] = False
        lines: NDArray[Any] = self._log[:upto][stands[:upto]]
        return lines

    def stands(self, line: int) -> bool:
        """Return whether a line, by its number from 0, was not taken back."""
        return not self._log["struck"][line]

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, each with the fewest earlier answers it contradicts."""
        if self._explained is None:
            self._explained = self._explain() if self._conflicts else []
        return list(self._explained)

    def _explain(self) -> list[Contradiction]:
        log = self._log
        definite = np.flatnonzero(~log["retracted"] & (log["answer"] != UNSURE)).tolist()
        said = {line: Statement(*self._entry(line)[:4]) for line in definite}
        held = [said[line] for line in definite if line not in self._conflicts]
        return explain(held, [said[line] for line in sorted(self._conflicts)])

    def skipped(self) -> Pairs:
        """Return the pairs of which somebody was not sure, free of charge: they were skipped."""
        active = self.active()
        return pairs_of(active[(active["answer"] == UNSURE) & ~active["asked"]])

    def asked_pairs(self, upto: int | None = None) -> set[int]:
        """Return the keys of the pairs whose answers were paid for, by the first so many lines or by all."""
        if self._size == 0:
            return set()
        active = self.active(upto)
        return set(keys_of(pairs_of(active[active["asked"]])).tolist())

    # Writing

    def record(
        self, pairs: ArrayLike, answers: ArrayLike, *, who: str = "", asked: bool = True
    ) -> None:
        """Write answers down; when this returns they are kept.

        `asked` says that they cost a question; volunteered or imported ones do not.
        """
        if not isinstance(who, str):
            raise TypeError(f"who must be a text, got {who!r}.")
        checked = check_pairs(pairs)
        self.record_checked(checked, check_answers(answers, len(checked)), who, asked)

    def record_checked(
        self, pairs: Pairs, answers: Answers, who: str, asked: bool | NDArray[np.bool_]
    ) -> None:
        """Do what `record` does, for callers that have checked what they pass."""
        if len(pairs):
            self._append(pairs, answers, who, self._now(), asked)

    def retract(
        self,
        count: int = 1,
        *,
        who: str | None = None,
        asked_only: bool = False,
        together: bool = False,
    ) -> list[Entry]:
        """Take back the last `count` answers that still stand; return them, latest first.

        With `who`, only that person's; with `asked_only`, none that were volunteered; with `together`,
        what was recorded at once counts as one.
        """
        count = check_positive_int("count", count)
        chosen = ~self._log["retracted"]
        if who is not None:
            chosen &= self._log["who"] == self._names.get(who, -1)
        if asked_only:
            chosen &= self._log["asked"]
        lines = np.flatnonzero(chosen)
        if together:
            times = self._log["when"][lines]
            count = int((times >= np.unique(times)[-count:].min(initial=np.inf)).sum())
        return self._retract(lines[lines.size - min(count, lines.size) :])

    def retract_pair(self, a: int, b: int) -> list[Entry]:
        """Take back every answer to one pair."""
        own = keys_of(pairs_of(self._log)) == keys_of(np.array([[a, b]]))
        return self._retract(np.flatnonzero(own & ~self._log["struck"]))

    def set_meta(self, key: str, value: str) -> None:
        """Keep a fact about the project beside its answers."""
        self.meta[key] = value

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        return False

    def close(self) -> None:
        """Let go of what the ledger holds open."""

    # Within: a ledger that keeps its lines elsewhere too overrides the first two.

    def _append(
        self,
        pairs: Pairs,
        answers: Answers,
        who: str,
        when: float,
        asked: bool | NDArray[np.bool_],
    ) -> None:
        self._take(pairs, answers, self._number(who), when, asked)

    def _retract(self, lines: NDArray[np.intp]) -> list[Entry]:
        self._strike(lines)
        return [self._entry(line) for line in reversed(lines.tolist())]

    @property
    def _log(self) -> NDArray[Any]:
        """All lines, as a structured array. Waves wait until someone wants to read them."""
        if self._waves:
            pairs, answers, *columns = zip(*self._waves, strict=True)
            sizes = [len(part) for part in pairs]
            new = np.zeros(sum(sizes), dtype=ENTRY)
            new["a"], new["b"] = np.concatenate(pairs).T
            new["answer"] = np.concatenate(answers)
            for name, parts in zip(("who", "when", "asked"), columns, strict=True):
                new[name] = _spread(parts, sizes)
            self._lines = np.concatenate([self._lines, new])
            self._waves = []
        return self._lines

    def _number(self, who: str) -> int:
        return self._names.setdefault(who, len(self._names))

    def _entry(self, line: int) -> Entry:
        a, b, answer, who, when, asked, _, retracted = self._log[line].item()
        return Entry(a, b, answer, list(self._names)[who], when, asked, retracted)

    def _take(self, pairs: Pairs, answers: Answers, who: Any, when: Any, asked: Any) -> None:
        """Add lines to the log and to what is known."""
        self._waves.append((pairs.copy(), answers.copy(), who, when, asked))
        start = self._size
        self._size += len(pairs)
        if not self._learn(pairs, answers, who, start):
            self._supersede(keys_of(pairs))

    def _strike(self, lines: NDArray[np.intp]) -> None:
        """Mark lines as taken back, and learn all others anew."""
        if lines.size:
            self._log["struck"][lines] = True
            self._n_struck = int(self._log["struck"].sum())
            self._log["retracted"] = self._log["struck"]
            self._supersede(None)

    def _forget(self) -> None:
        self._said = Said()
        self._implied = Implications()
        self._conflicts: set[int] = set()  # lines
        self._explained = None
        self._n_active = 0

    def _learn(
        self, pairs: Pairs, answers: Answers, who: Any, lines: NDArray[np.intp] | int
    ) -> bool:
        """Take in answers; return whether all their pairs are new.

        `lines` are their places in the log, or the first one if they stand together.
        """
        n_new = self._said.put(pairs, answers, who)
        contradicting = self._implied.add(pairs, answers)
        if contradicting.size:
            where = lines + contradicting if isinstance(lines, int) else lines[contradicting]
            self._conflicts.update(where.tolist())
        self._n_active += len(pairs)
        self._explained = None
        return n_new == len(pairs)

    def _supersede(self, keys: NDArray[np.int64] | None) -> None:
        """Retract what somebody said of these pairs, or of any, and said anew; learn the rest again."""
        log = self._log
        standing = np.flatnonzero(~log["retracted"])
        said = keys_of(pairs_of(log[standing]))
        if keys is not None:
            again = np.isin(said, keys)
            standing, said = standing[again], said[again]
        _, first, by = np.unique(
            np.column_stack([said, log["who"][standing]]),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        if first.size < standing.size:
            latest = np.zeros(first.size, dtype=np.intp)
            np.maximum.at(latest, by, standing)
            np.logical_or.at(
                log["asked"], latest[by], log["asked"][standing]
            )  # what is paid stays paid
            log["retracted"][np.setdiff1d(standing, latest)] = True
        elif keys is not None:
            return  # others said the same pairs
        self._forget()
        standing = np.flatnonzero(~log["retracted"])
        self._learn(
            pairs_of(log[standing]), log["answer"][standing], log["who"][standing], standing
        )

    def _now(self) -> float:
        """Return the time, a little later than that of any line before."""
        self._last_time = max(time.time(), self._last_time + 1e-6)
        return self._last_time


def _spread(parts: Sequence[Any], sizes: list[int]) -> NDArray[Any]:
    """Return a column of the log: each part, one value or as many, over so many lines."""
    if all(map(np.isscalar, parts)):
        return np.repeat(parts, sizes)
    return np.concatenate(
        [np.broadcast_to(part, size) for part, size in zip(parts, sizes, strict=True)]
    )
