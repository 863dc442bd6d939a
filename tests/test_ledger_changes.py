"""Changes of the past in the ledger: where they happened, what is known after them, and as it was before."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE
from samekind.ledger import Change, Ledger, SqlLedger, ledger_at, pairs_of
from samekind.ledger.knowledge import Knowledge

ROWS = 12
PAIRS = np.array([(a, b) for a in range(ROWS) for b in range(a + 1, ROWS)])


class TestWhatChangesThePast:
    def test_answers_that_only_add_do_not(self):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        ledger.record([[0, 2]], [DIFFERENT], who="bob")  # follows, and is said
        ledger.record([[3, 4]], [UNSURE])
        assert ledger.changes == []

    @pytest.mark.parametrize(
        "write",
        [
            lambda ledger: ledger.retract(),
            lambda ledger: ledger.retract_pair(0, 1),
            lambda ledger: ledger.correct(0, 1, DIFFERENT, who="ann"),
            lambda ledger: ledger.record([[0, 1]], [SAME], who="bob"),  # again, by another one
            lambda ledger: ledger.record([[0, 2]], [SAME], who="ann"),  # contradicts
            lambda ledger: ledger.record([[0, 2]], [UNSURE], who="ann"),  # seemed to be known
        ],
    )
    def test_all_else_does(self, write):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        write(ledger)
        [change] = ledger.changes
        now = ledger.revision
        assert change == Change(2, now.answers, 0, now.retracted)

    def test_what_is_said_to(self):
        ledger = Ledger()
        with ledger.transaction():
            ledger.change_past()
            ledger.record([[0, 1]], [SAME])
        with ledger.transaction():
            ledger.change_past()  # but nothing is written
        assert ledger.changes == [Change(0, 1, 0, 0)]

    def test_a_transaction_is_one(self, tmp_path):
        with SqlLedger(tmp_path / "mine.db") as ledger:
            ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
            with ledger.transaction():
                ledger.retract(2)
                ledger.correct(4, 5, SAME)
                ledger.correct(4, 5, DIFFERENT)
            assert ledger.changes == [Change(2, 4, 0, 2)]
            with SqlLedger(tmp_path / "mine.db") as other:
                assert other.changes == ledger.changes


acts = st.lists(
    st.tuples(
        st.sampled_from(["record", "record", "record", "retract", "correct"]),
        st.integers(0, len(PAIRS) - 1),
        st.sampled_from([SAME, DIFFERENT, UNSURE]),
        st.sampled_from(["ann", "bob"]),
        st.booleans(),
    ),
    max_size=40,
)


def perform(ledger, act):
    what, pair, answer, who, asked = act
    a, b = PAIRS[pair].tolist()
    if what == "record":
        ledger.record([[a, b]], [answer], who=who, asked=asked)
    elif what == "retract":
        ledger.retract(1 + pair % 3, who=who if asked else None)
    else:
        ledger.correct(a, b, answer, who=who)


def knowledge(ledger):
    known = ledger._known
    answers = [known.answers(PAIRS, infer=infer).tolist() for infer in (True, False)]
    asked = sorted(ledger.asked_pairs())
    return (
        answers,
        sorted(known.conflicts),
        len(ledger),
        known.latest.annotators(PAIRS).tolist(),
        asked,
    )


@given(acts)
@settings(deadline=None, max_examples=60)
def test_what_is_known_is_what_the_lines_say_that_stand(some):
    ledger = Ledger()
    for act in some:
        perform(ledger, act)
    numbers = ledger._log.standing
    lines = ledger._log.lines[numbers]
    fresh = Knowledge()
    fresh.add(pairs_of(lines), lines["answer"], lines["who"], numbers)
    kept, ledger._known = ledger._known, fresh
    expected = knowledge(ledger)
    ledger._known = kept
    assert knowledge(ledger) == expected
    said = [str(found) for found in kept.contradictions(ledger._log.lines, ledger._statement)]
    assert said == [
        str(found) for found in fresh.contradictions(ledger._log.lines, ledger._statement)
    ]


@given(acts)
@settings(deadline=None, max_examples=40)
def test_as_it_was(some):
    """A ledger of the past knows what the ledger knew then."""
    ledger, then = Ledger(), []
    for act in some:
        then.append((ledger.revision[:2], knowledge(ledger)))
        perform(ledger, act)
    past = None
    for (answers, retracted), expected in then:
        past = ledger_at(ledger, answers, retracted, past)
        assert knowledge(past) == expected


def test_reading_at_once_or_step_by_step_comes_to_the_same(tmp_path):
    """Also what is paid for: an answer taken back before another one does not pay for that."""
    path = tmp_path / "mine.db"
    rng = np.random.default_rng(0)
    with closing(SqlLedger(path)) as writer, closing(SqlLedger(path)) as follower:
        for _ in range(60):
            what = ["record", "record", "retract", "correct"][rng.integers(4)]
            pair, answer = int(rng.integers(6)), int(rng.integers(-1, 2))
            perform(writer, (what, pair, answer, "ab"[rng.integers(2)], bool(rng.integers(2))))
            follower.refresh()
            with closing(SqlLedger(path)) as fresh:
                assert knowledge(writer) == knowledge(follower) == knowledge(fresh)
