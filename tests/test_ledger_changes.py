"""Changes of the past in the ledger: how they are noticed, and what is known after them."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE
from samekind.ledger import Ledger, SqlLedger, pairs_of
from samekind.ledger.knowledge import Knowledge

ROWS = 12
PAIRS = np.array([(a, b) for a in range(ROWS) for b in range(a + 1, ROWS)])


class TestThePast:
    """Whoever follows a ledger looks at `past`: if it is as it was, new lines only add to the others."""

    @pytest.mark.parametrize(
        "write",
        [
            lambda ledger: ledger.record([[0, 2]], [DIFFERENT], who="bob"),
            lambda ledger: ledger.record([[0, 1]], [DIFFERENT], who="bob"),  # another one's word
            lambda ledger: ledger.record([[0, 2]], [SAME], who="ann"),  # contradicts
        ],
    )
    def test_stays_where_lines_are_added(self, write):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        before = ledger.past
        write(ledger)
        assert ledger.past == before

    @pytest.mark.parametrize(
        "write",
        [
            lambda ledger: ledger.retract(),
            lambda ledger: ledger.retract_pair(0, 1),
            lambda ledger: ledger.correct(0, 1, DIFFERENT, who="bob"),
            lambda ledger: ledger.record(
                [[0, 1]], [UNSURE], who="ann"
            ),  # instead of the earlier one
        ],
    )
    def test_changes_with_what_stands(self, write):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        before = ledger.past
        write(ledger)
        assert ledger.past != before

    def test_a_transaction_that_fails_changes_nothing(self):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        before = ledger.past
        with pytest.raises(ZeroDivisionError), ledger.transaction():  # noqa: PT012
            ledger.retract()
            1 / 0  # noqa: B018
        assert ledger.past == before


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
