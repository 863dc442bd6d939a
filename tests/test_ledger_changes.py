"""Changes of the past in the ledger: how they are noticed, and what is known after them (P2)."""

from __future__ import annotations

import json
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE
from samekind.ledger import KeptItems, Ledger, keys_of, pairs_of

ROWS = 12
PAIRS = np.array([(a, b) for a in range(ROWS) for b in range(a + 1, ROWS)])


class TestEpoch:
    """Whoever follows a ledger looks at the epoch: if it is as it was, new lines only add to the others."""

    @pytest.fixture
    def ledger(self):
        ledger = Ledger()
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        return ledger

    @pytest.mark.parametrize(
        "write",
        [
            lambda ledger: ledger.record([[0, 2]], [DIFFERENT], who="bob"),
            lambda ledger: ledger.record([[0, 1]], [DIFFERENT], who="bob"),  # another one's word
            lambda ledger: ledger.record([[0, 2]], [SAME], who="ann"),  # contradicts
            lambda ledger: ledger.correct(5, 6, SAME, who="ann"),  # outranks nothing
            lambda ledger: ledger.name(0, "noughts"),
        ],
    )
    def test_stays_where_lines_are_added(self, ledger, write):
        before = ledger.log.epoch
        write(ledger)
        assert ledger.log.epoch == before

    @pytest.mark.parametrize(
        "write",
        [
            lambda ledger: ledger.retract(),
            lambda ledger: ledger.undo(),
            lambda ledger: ledger.correct(0, 1, DIFFERENT, who="bob"),
            lambda ledger: ledger.record(
                [[0, 1]], [UNSURE], who="ann"
            ),  # in the earlier one's place
        ],
    )
    def test_rises_with_what_stands(self, ledger, write):
        before = ledger.log.epoch
        write(ledger)
        assert ledger.log.epoch > before

    def test_a_transaction_that_fails_changes_nothing(self, ledger):
        before = ledger.log.epoch
        with pytest.raises(ZeroDivisionError), ledger.transaction():  # noqa: PT012
            ledger.retract()
            1 / 0  # noqa: B018
        assert ledger.log.epoch == before


acts = st.lists(
    st.tuples(
        st.sampled_from(["record", "record", "record", "retract", "undo", "correct", "name"]),
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
    elif what == "correct":
        ledger.correct(a, b, answer, who=who)
    elif what == "name":
        ledger.name(a, f"{b}", who=who)
    else:
        getattr(ledger, what)(1 + pair % 3, who=who if asked else None)


def knowledge(ledger):
    """Return all that is known of any pair, and the names."""
    log = ledger.log
    return (
        [ledger.lookup(PAIRS, infer=infer).tolist() for infer in (True, False)],
        [str(found) for found in ledger.contradictions],
        len(ledger),
        log.annotators_of(PAIRS).tolist(),
        log.asked_pairs().tolist(),
        {row: name.text for row, name in ledger.log.names.items()},
        list(ledger.lines()),
    )


def standing(events):
    """Return the answers that count, by pair and annotator, and names: the rules, written plainly."""
    whole = {event.ref for event in events if event.kind == "retract" and event.payload is None}
    single = {
        number
        for event in events
        if event.kind == "retract" and event.payload is not None
        for number in json.loads(event.payload)
    }
    said, names = {}, {}
    for event in events:
        if event.act in whole or event.id in single:
            continue
        if event.kind == "name":
            names[event.a] = event.payload
        if event.kind in ("answer", "edit"):
            pair = frozenset((event.a, event.b))
            if event.kind == "edit":
                said[pair] = {}
            said.setdefault(pair, {}).pop(event.who, None)
            said[pair][event.who] = event.answer
    return said, names


@given(acts)
@settings(deadline=None, max_examples=60)
def test_what_is_known_is_what_the_events_say_that_stand(some):
    ledger = Ledger()
    for act in some:
        perform(ledger, act)
    said, names = standing(ledger.log.since(0))
    assert {row: name.text for row, name in ledger.log.names.items()} == names
    lines = ledger.active()
    found = {}
    for line in lines:
        who = ledger.annotators[line["who"]]
        found.setdefault(frozenset((int(line["a"]), int(line["b"]))), {})[who] = int(line["answer"])
    assert found == {pair: by for pair, by in said.items() if by}
    fresh = Ledger()
    for line in lines:  # the same lines, and nothing else
        who = ledger.annotators[line["who"]]
        pair, answer = [[int(line["a"]), int(line["b"])]], [int(line["answer"])]
        fresh.record(pair, answer, who=who, asked=bool(line["asked"]))
    assert knowledge(ledger)[:3] == knowledge(fresh)[:3]
    paid = keys_of(pairs_of(lines, lines["asked"]))
    assert ledger.log.asked_pairs().tolist() == sorted(set(paid.tolist()))


def test_reading_at_once_or_step_by_step_comes_to_the_same(tmp_path):
    """Also what is paid for: an answer taken back before another one does not pay for that."""
    path = tmp_path / "mine.db"
    rng = np.random.default_rng(0)
    with closing(Ledger(path)) as writer, closing(Ledger(path)) as follower:
        for _ in range(60):
            what = ["record", "record", "retract", "undo", "correct", "name"][rng.integers(6)]
            pair, answer = int(rng.integers(6)), int(rng.integers(-1, 2))
            perform(writer, (what, pair, answer, "ab"[rng.integers(2)], bool(rng.integers(2))))
            follower.refresh()
            with closing(Ledger(path)) as fresh:
                assert knowledge(writer) == knowledge(follower) == knowledge(fresh)


class TestActs:
    """One act is one transaction and one number; undo takes back whole acts."""

    def test_have_numbers_whatever_the_clocks_say(self, tmp_path, monkeypatch):
        path = tmp_path / "mine.db"
        with closing(Ledger(path)) as ahead, closing(Ledger(path)) as behind:
            clocks = {ahead: 2_000_000_000.0, behind: 1_000_000_000.0}

            def record(ledger, pair):
                monkeypatch.setattr("time.time", lambda: clocks[ledger])
                ledger.record([pair], [SAME], who="ann")

            for number in range(4):  # all acts of a server have the same time
                record(ahead, [number, 10])
                record(behind, [number, 20])
            for number in reversed(range(4)):
                for other in (20, 10):
                    [[event]] = ahead.undo(who="ann")
                    assert (event.a, event.b) == (number, other)
            behind.refresh()
            assert len(behind) == 0

    def test_are_taken_back_as_a_whole_with_names_and_opinions(self, tmp_path):
        with closing(Ledger(tmp_path / "mine.db")) as ledger:
            ledger.name(0, "before", who="bob")
            with ledger.transaction():
                ledger.record([[0, 1], [0, 2]], [SAME, DIFFERENT], who="ann")
                ledger.opine([(0, 3, SAME)], who="ann")
                ledger.name(0, "noughts", who="ann")
            [act] = ledger.undo(who="ann")
            assert sorted(event.kind for event in act) == ["answer", "answer", "name", "opinion"]
            assert (len(ledger), ledger.log.opinions.standing()) == (0, [])
            assert ledger.log.names[0].text == "before"
            assert [event.payload for event in ledger.undo()[0]] == ["before"]
            assert ledger.log.names == {}
            assert ledger.undo() == []

    def test_of_others_stay(self):
        ledger = Ledger()
        for number, who in enumerate(["ann", "bob", "ann", "bob"]):
            ledger.record([[number, 10]], [SAME], who=who)
        assert [[event.a for event in act] for act in ledger.undo(9, who="bob")] == [[3], [1]]
        assert len(ledger) == 2

    def test_an_edit_outranks_what_anybody_said_until_it_is_taken_back(self):
        ledger = Ledger()
        ledger.record([[0, 1]], [SAME], who="ann")
        ledger.record([[0, 1]], [SAME], who="bob")
        ledger.correct(0, 1, DIFFERENT, who="cy")
        assert [line.who for line in ledger.lines() if not line.retracted] == ["cy"]
        assert ledger.undo(who="ann") == []  # nothing of hers counts
        ledger.undo(who="cy")
        assert [line.who for line in ledger.lines() if not line.retracted] == ["ann", "bob"]


def test_items_keep_their_answers_while_they_are_away(tmp_path):
    """Rows go, come and change places; no event is touched."""
    digests = {name: bytes([number]) * 24 for number, name in enumerate("abcde")}

    def place(ledger, items, rows):
        with ledger.transaction():
            ledger.keep_items(KeptItems(b"".join(digests[one] for one in items), np.array(rows)))
        ledger.refresh()

    with closing(Ledger(tmp_path / "mine.db")) as ledger:
        place(ledger, "abcd", [0, 1, 2, 3])
        ledger.record([[0, 1], [0, 2], [2, 3]], [SAME, SAME, DIFFERENT], who="ann")
        ledger.name(0, "mine", who="ann")
        before = list(ledger.lines())
        place(ledger, "abcde", [-1, 2, 1, 0, 3])  # a is gone, e is new
        assert [line[:3] for line in ledger.lines()] == [(1, 0, DIFFERENT)]
        assert ledger.lookup(np.array([[2, 1], [2, 0], [2, 3]])).tolist() == [SAME, DIFFERENT, -2]
        assert ledger.log.names[2].text == "mine"  # b speaks for a
        held = ledger.log.active(stand_ins=True)
        assert pairs_of(held).tolist() == [[2, 1], [1, 0]]
        ledger.record([[3, 2]], [DIFFERENT], who="bob")
        with closing(Ledger(tmp_path / "mine.db")) as other:
            assert list(other.lines()) == list(ledger.lines())
            assert other.log.names == ledger.log.names
        place(ledger, "abcde", [0, 1, 2, 3, 4])
        assert list(ledger.lines())[:3] == before
        assert next(reversed(list(ledger.lines())))[:3] == (4, 1, DIFFERENT)
        assert ledger.log.names[0].text == "mine"
