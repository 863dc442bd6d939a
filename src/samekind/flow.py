"""Questions, answers, and flows: the vocabulary that all packages share.

A *flow* is a generator that yields questions (an array of pairs of row numbers), is sent a `Reply` with
as many answers, and returns what it found. It does no input or output, so the same flow serves a label
array, a person at a prompt, or a crowd; see :mod:`samekind.engine`. A flow yields at least one pair at a
time, never a row with itself, and never the same pair again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import to_numpy

__all__ = [
    "DIFFERENT",
    "SAME",
    "UNANSWERED",
    "UNSURE",
    "Answers",
    "BoolArray",
    "FloatArray",
    "Flow",
    "Heard",
    "IntArray",
    "Oracle",
    "Pairs",
    "Reply",
    "StreamingOracle",
    "answer_by_stream",
    "check_answer",
    "check_answers",
    "check_pairs",
    "drive",
]

SAME = 1
DIFFERENT = 0
UNSURE = -1
UNANSWERED = -2  # where nothing is known

FEW = 16  # numbers that a list compares faster than an array

IntArray: TypeAlias = NDArray[np.intp]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

Pairs: TypeAlias = IntArray
"""(m, 2) row numbers: is row ``pairs[i, 0]`` in the same cluster as row ``pairs[i, 1]``?"""

Answers: TypeAlias = NDArray[np.int8]
"""(m,) one of SAME, DIFFERENT and UNSURE for each pair."""


class Reply(NamedTuple):
    """What a flow is sent for the questions it yielded: all that it learns from outside."""

    answers: Answers
    who: NDArray[np.int64] | None = None
    """(m,) the number of who gave each answer, -1 for nobody; None where no answer can be wrong."""
    skipped: BoolArray | None = None
    """(m,) where UNSURE means that the question was put aside; None where none was."""


T = TypeVar("T")
Flow: TypeAlias = Generator[Pairs, Reply, T]


class Oracle(Protocol):
    """Whoever answers at once: called with pairs, returns as many answers."""

    def __call__(self, pairs: Pairs, /) -> Answers:
        """Answer each pair with SAME, DIFFERENT or UNSURE."""
        ...


class Heard(NamedTuple):
    """Answers that came at once to some of many questions."""

    pairs: Pairs
    answers: Answers
    skipped: bool = False
    """Whether nobody answered these: what came could not be read, and they are put aside."""


@runtime_checkable
class StreamingOracle(Protocol):
    """Whoever answers question by question, at a cost: each answer is to be kept as soon as it is there."""

    name: str

    def stream(self, pairs: Pairs) -> Iterator[Heard]:
        """Yield answers as they come."""
        ...

    def use_examples(self, pairs: Pairs, answers: Answers) -> None:
        """Take in what others answered, as examples."""
        ...

    def spending_text(self) -> str:
        """Return what was spent, to be kept with the answers."""
        ...

    def resume_spending(self, text: str) -> None:
        """Count what was spent in earlier runs."""
        ...

    def close(self) -> None:
        """Let go of what is held open."""
        ...


def answer_by_stream(oracle: StreamingOracle, pairs: Pairs) -> Answers:
    """Return a streaming oracle's answers to all pairs; one that is given twice is asked once."""
    answers = dict.fromkeys(map(tuple, pairs.tolist()), UNANSWERED)
    for heard in oracle.stream(np.array(list(answers), dtype=np.intp).reshape(-1, 2)):
        answers.update(zip(map(tuple, heard.pairs.tolist()), heard.answers.tolist(), strict=True))
    return np.array([answers[a, b] for a, b in pairs.tolist()], dtype=np.int8)


def drive(flow: Flow[T], oracle: Oracle) -> T:
    """Run a flow to its end with an oracle that answers at once; no ledger and no budget.

    Examples
    --------
    >>> import numpy as np
    >>> def two_questions():
    ...     reply = yield np.array([[0, 1], [1, 2]])
    ...     return int(reply.answers.sum())
    >>> drive(two_questions(), lambda pairs: np.ones(len(pairs), dtype=np.int8))
    2
    """
    try:
        pairs = next(flow)
        while True:
            pairs = flow.send(Reply(oracle(pairs)))
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        flow.close()


def check_pairs(pairs: ArrayLike) -> Pairs:
    """Return pairs as an (m, 2) array of row numbers."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"pairs must be an (m, 2) array of row numbers, got {array.dtype} {array.shape}."
        )
    if array.min() < 0 or array.max() >= 2**31:
        raise ValueError(f"row numbers must be in [0, 2^31), got {array.min()} to {array.max()}.")
    if (array[:, 0] == array[:, 1]).any():
        row = int(array[array[:, 0] == array[:, 1]][0, 0])
        raise ValueError(f"a row cannot be compared with itself, got the pair ({row}, {row}).")
    return array.astype(np.intp, copy=False)


def check_answer(said: object, about: str = "") -> int:
    """Return one answer as SAME, DIFFERENT or UNSURE: from True, False or None, or 1, 0 or -1."""
    if said is None:
        return UNSURE
    if isinstance(said, np.ndarray) and said.ndim == 0:
        said = said.item()
    if isinstance(said, bool | np.bool_ | int | np.integer) and -1 <= said <= 1:
        return int(said)
    raise _no_answer(said, about)


def _no_answer(said: object, about: str = "") -> ValueError:
    return ValueError(
        "an answer is SAME (1 or True), DIFFERENT (0 or False) or UNSURE (-1 or None), "
        f"got {said!r}{about}."
    )


def check_answers(answers: ArrayLike, size: int) -> Answers:
    """Return answers as an array of SAME, DIFFERENT and UNSURE, one for each pair."""
    array = to_numpy("answers", answers)
    if array.size == 0 and size == 0:
        return np.empty(0, dtype=np.int8)
    if array.dtype == object and array.ndim == 1:
        array = np.array([check_answer(said) for said in array], dtype=np.int8)
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
    if array.shape != (size,):
        raise ValueError(f"{size} pairs need as many answers, got an array of shape {array.shape}.")
    if array.dtype.kind in "iu":
        numbers = array.tolist() if array.size <= FEW else [array.min(), array.max()]
        if min(numbers) >= -1 and max(numbers) <= 1:
            return array.astype(np.int8, copy=False)
    wrong = next((x for x in array.tolist() if x not in (SAME, DIFFERENT, UNSURE)), array.dtype)
    raise _no_answer(wrong)
