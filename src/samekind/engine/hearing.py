"""Answers that come one by one and are paid: each is kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.algorithms.folding import Expected
from samekind.engine.base_session import BaseSession
from samekind.flow import UNSURE, Answers, Heard, Pairs, StreamingOracle
from samekind.ledger import UNANSWERED, pairs_of
from samekind.oracles import SpentError

__all__ = [
    "SPENT",
    "answer_streaming",
    "count_earlier",
    "examples_for",
    "hear",
    "keep_heard",
    "spending_key",
]

SPENT = "spent"  # why a run stopped: the money for the model is spent
MOST_EXAMPLES = 200  # latest answers of others that examples are chosen from


def spending_key(name: str) -> str:
    """Return where in `meta` it is kept what an annotator has cost."""
    return f"spent by {name}"


def answer_streaming(
    session: BaseSession, oracle: StreamingOracle, after_wave: Callable[[], object] | None = None
) -> None:
    """Let an oracle that is paid by the call answer all questions of a session."""
    count_earlier(session, oracle)
    try:
        while not session.done:
            if not hear(session, oracle, session.pending()):
                session.stop(SPENT)
            if after_wave is not None:
                after_wave()
    finally:
        oracle.close()


def count_earlier(session: BaseSession, oracle: StreamingOracle) -> None:
    """Let an oracle know what earlier runs of the project spent."""
    earlier = session.ledger.settings.get(spending_key(oracle.name))
    if earlier:
        oracle.resume_spending(earlier)


def hear(session: BaseSession, oracle: StreamingOracle, pairs: Pairs) -> bool:
    """Ask about pairs, and keep each answer as it comes; return False if the money is spent."""
    oracle.use_examples(*examples_for(session, oracle.name))
    try:
        for heard in oracle.stream(pairs):
            keep_heard(session, heard, oracle, session.expect(heard.pairs))
    except SpentError:
        return False
    return True


def keep_heard(
    session: BaseSession, heard: Heard, oracle: StreamingOracle, expected: Expected
) -> None:
    """Write answers down with what was expected and what they cost, all in one transaction.

    What could not be read is skipped, as a person skips a question: it is no answer, and can be come back to.
    """
    with session.act():
        ledger = session.ledger
        new = np.ones(len(heard.pairs), dtype=bool)
        if heard.skipped:
            new = ledger.lookup(heard.pairs, infer=False) == UNANSWERED
        asked = np.full(int(new.sum()), not heard.skipped)
        session.write(heard.pairs[new], heard.answers[new], oracle.name, asked, expected[new])
        if spent := oracle.spending_text():
            ledger.set(spending_key(oracle.name), spent)


def examples_for(session: BaseSession, name: str) -> tuple[Pairs, Answers]:
    """Return what others than this annotator answered last: examples for it."""
    ledger = session.ledger
    lines = ledger.active()
    if name in ledger.annotators:
        lines = lines[lines["who"] != ledger.annotators.index(name)]
    lines = lines[lines["answer"] != UNSURE][-MOST_EXAMPLES:]
    return pairs_of(lines), lines["answer"]
