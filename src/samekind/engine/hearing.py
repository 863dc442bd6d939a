"""Answers that come one by one and are paid: each is kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.engine.flow_session import FlowSession
from samekind.flow import UNSURE, Answers, Heard, Pairs, StreamingOracle
from samekind.ledger import UNANSWERED, keys_of, pairs_of
from samekind.oracles import SpentError

__all__ = ["SPENT", "answer_streaming", "examples_for", "hear_wave", "keep_heard", "spending_key"]

SPENT = "spent"  # why a run stopped: the money for the model is spent
MOST_EXAMPLES = 200  # latest answers of others that examples are chosen from


def spending_key(name: str) -> str:
    """Return where in `meta` it is kept what an annotator has cost."""
    return f"spent by {name}"


def answer_streaming(
    session: FlowSession, oracle: StreamingOracle, after_wave: Callable[[], object] | None = None
) -> None:
    """Let an oracle that is paid by the call answer all questions of a session."""
    count_earlier(session, oracle)
    try:
        while not session.done:
            if not hear_wave(session, oracle, session.pending()):
                session.stop(SPENT)
            if after_wave is not None:
                after_wave()
    finally:
        oracle.close()


def count_earlier(session: FlowSession, oracle: StreamingOracle) -> None:
    """Let an oracle know what earlier runs of the project spent."""
    earlier = session.ledger.meta.get(spending_key(oracle.name))
    if earlier:
        oracle.resume_spending(earlier)


def hear_wave(
    session: FlowSession,
    oracle: StreamingOracle,
    pairs: Pairs,
    on_heard: Callable[[Heard], object] | None = None,
) -> bool:
    """Ask about pending pairs, and keep each answer as it comes; return False if the money is spent.

    `on_heard` is called before answers are kept.
    """
    oracle.use_examples(*examples_for(session, oracle.name))
    try:
        for heard in oracle.stream(pairs, lineups=session.params.most_in_lineup > 1):
            if on_heard is not None:
                on_heard(heard)
            keep_heard(session, heard, oracle)
    except SpentError:
        return False
    return True


def keep_heard(session: FlowSession, heard: Heard, oracle: StreamingOracle) -> None:
    """Write answers down with what they cost, all in one transaction.

    What somebody else answered meanwhile stays as it is. What could not be read is skipped, as a person
    skips a question: it is no answer, and can be come back to.
    """
    with session.act():
        ledger = session.ledger
        direct = ledger.lookup(heard.pairs, infer=False) != UNANSWERED
        direct &= ledger.annotators_of(heard.pairs) >= 0
        open_still = np.isin(keys_of(heard.pairs), keys_of(session.pending()))
        new = open_still if heard.skipped else open_still | ~direct
        ledger.record_checked(heard.pairs[new], heard.answers[new], oracle.name, not heard.skipped)
        if spent := oracle.spending_text():
            ledger.set_meta(spending_key(oracle.name), spent)


def examples_for(session: FlowSession, name: str) -> tuple[Pairs, Answers]:
    """Return what others than this annotator answered last: examples for it."""
    ledger = session.ledger
    lines = ledger.active()
    if name in ledger.annotators:
        lines = lines[lines["who"] != ledger.annotators.index(name)]
    lines = lines[lines["answer"] != UNSURE][-MOST_EXAMPLES:]
    return pairs_of(lines), lines["answer"]
