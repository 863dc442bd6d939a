"""Changes of the past in the ledger, transactions, and two writers: what is known after them (P2, P6)."""

from __future__ import annotations

import json
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import POSTGRES, place_for
from samekind import DIFFERENT, SAME, UNSURE
from samekind.ledger import (
    KeptItems,
    Ledger,
    ProjectURL,
    back_up_project,
    keys_of,
    move_project,
    pairs_of,
)
from test_ledger_faults import fork

ROWS = 12
PAIRS = np.array([(a, b) for a in range(ROWS) for b in range(a + 1, ROWS)])


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
    """P2: the ledger against the rules, written plainly."""
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


class TestActs:
    """P2: one act is one transaction and one number; undo takes back whole acts."""

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
    """P9: rows go, come and change places; no event is touched."""
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


def written(ledger):
    """Return all that a ledger knows, to be compared."""
    names = {row: (name.text, name.who, name.id) for row, name in ledger.log.names.items()}
    return (
        [line._replace(when=0) for line in ledger.lines()],
        names,
        np.nan_to_num(ledger.log.lines["expected"], nan=-1.0).tolist(),
        dict(ledger.settings),
        ledger.revision,
        len(ledger),
    )


@pytest.fixture(params=["sql", POSTGRES])
def place(request):
    return place_for(request, request.param)


@pytest.fixture(params=["memory", "sql", POSTGRES])
def ledger(request):
    if request.param == "memory":
        yield Ledger()
        return
    with Ledger(place_for(request, request.param)) as ledger:
        yield ledger
    while READERS:
        READERS.pop().close()


READERS = []  # to be closed


def reopened(ledger):
    """Return the ledger, and, if it is on disk, what another reader sees there."""
    if ledger.store is None:
        return [ledger]
    READERS.append(Ledger(ledger.store.place))
    return [ledger, READERS[-1]]


EXPECTED = np.array([[0.25, 0.5, 0.75], [1.0, np.nan, 0.0]], dtype=np.float32)


def expected_of(ledger):
    """Return what was expected of each line, without the places that nobody filled."""
    return ledger.log.lines["expected"][:, : EXPECTED.shape[1]]


class TestExpected:
    def test_goes_along_to_another_place(self, place, tmp_path):
        with Ledger(place) as ledger:
            ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann", expected=EXPECTED)
        source = ProjectURL(place) if isinstance(place, str) else place
        back_up_project(source, tmp_path / "copy.db")
        move_project(source, tmp_path / "moved.db")
        for name in ("copy.db", "moved.db"):
            with Ledger(tmp_path / name) as ledger:
                assert np.array_equal(expected_of(ledger), EXPECTED, equal_nan=True)


class TestCorrections:
    def test_replace_what_everybody_answered_and_can_be_taken_back(self, ledger):
        ledger.record([[0, 1]], [SAME], who="ann")
        ledger.record([[1, 0]], [UNSURE], who="cy", asked=False)
        before = len(ledger)
        ledger.correct(1, 0, DIFFERENT, who="bob")
        for one in reopened(ledger):
            assert one.lookup(np.array([[0, 1]])).tolist() == [DIFFERENT]
            assert len(one) == 1
            assert len(one.log.asked_pairs()) == 1  # paid once, and not again
        (taken,) = ledger.retract(who="bob")
        assert taken[:4] == (1, 0, DIFFERENT, "bob")
        for one in reopened(ledger):
            assert one.answer_by(0, 1, "ann") == SAME
            assert one.answer_by(0, 1, "cy") == UNSURE
            assert one.answer_by(0, 1, "bob") is None
            assert len(one) == before
            assert len(one.log.asked_pairs()) == 1


class TestTransaction:
    def write_all(self, ledger):
        ledger.retract(2)
        ledger.record([[5, 6]], [SAME], who="zoe")
        ledger.correct(0, 1, DIFFERENT, who="bob")
        ledger.name(0, "noughts", who="bob")
        ledger.set("colour", "blue")

    def fail_after_writing(self, ledger):
        with ledger.transaction():
            with ledger.transaction():
                self.write_all(ledger)
            1 / 0  # noqa: B018

    @pytest.fixture
    def begun(self, ledger):
        ledger.record([[0, 1], [1, 2], [2, 3]], [SAME, SAME, DIFFERENT], who="ann")
        ledger.name(1, "ones")
        ledger.set("colour", "green")
        return ledger

    def test_or_nothing(self, begun):
        """P2: what fails in the middle changes nothing."""
        before = written(begun)
        with pytest.raises(ZeroDivisionError):
            self.fail_after_writing(begun)
        for one in reopened(begun):
            assert written(one) == before
        self.write_all(begun)
        for one in reopened(begun):
            assert written(one) == written(begun)
            one.close()

    def test_begins_with_what_others_wrote(self, place):
        """P6: nothing is decided by what another has changed meanwhile."""
        with Ledger(place) as one, Ledger(place) as two:
            one.record([[0, 1]], [SAME], who="ann")
            one.name(0, "noughts")
            one.set("seed", "5")
            with two.transaction():
                assert two.answer_by(0, 1, "ann") == SAME
                assert two.log.names[0].text == "noughts"
                assert two.settings["seed"] == "5"
                two.name(0, "zeros")
            one.refresh()
            assert written(one) == written(two)


turns = st.lists(
    st.tuples(
        st.sampled_from(["record", "correct", "retract", "undo", "name"]),
        st.integers(0, 1),  # which of the two writes
        st.integers(0, 3),
        st.integers(4, 6),
        st.sampled_from([SAME, DIFFERENT, UNSURE]),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(turns)
def test_two_writers_in_turns_know_the_same(tmp_path_factory, history):
    """P6: both, and one that reads all at once."""
    path = tmp_path_factory.mktemp("two") / "mine.db"
    with Ledger(path) as one, Ledger(path) as two:
        for act, writer, a, b, answer in history:
            ledger, who = ((one, "ann"), (two, "bob"))[writer]
            if act == "record":
                expected = np.array([[a, b / 7]], dtype=np.float32) if a else None
                ledger.record([[a, b]], [answer], who=who, expected=expected)
            elif act == "correct":
                ledger.correct(a, b, answer, who=who)
            elif act in ("retract", "undo"):
                getattr(ledger, act)(1 + a % 2, who=who)
            else:
                ledger.name(a, f"{a} {b}", who=who)
        for ledger in (one, two):
            ledger.refresh()
        with Ledger(path) as third:
            assert written(one) == written(two) == written(third)


class TestTwoProcesses:
    @staticmethod
    def work(path, who, start):
        with Ledger(path, wait=60) as ledger:
            for number in range(start, start + 40):
                ledger.record([[number, 10_000]], [SAME], who=who)
                ledger.name(number, f"{who} {number}", who=who)
                ledger.correct(number, 10_000, DIFFERENT, who=f"{who}'s friend")

    def test_lose_no_names_or_corrections(self, place):
        """P1, P6: two processes that write at once."""
        Ledger(place).close()
        writers = [fork(self.work, place, "ann", 0), fork(self.work, place, "bob", 500)]
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0, 0]
        with Ledger(place) as ledger:
            assert ledger.revision.names == 80
            for who, start in (("ann", 0), ("bob", 500)):
                for number in range(start, start + 40):
                    assert ledger.log.names[number].text == f"{who} {number}"
            assert len(ledger.retract(80)) == 80  # the corrections, which bring back what was there
            assert (
                ledger.answer_by(3, 10_000, "ann") == SAME == ledger.answer_by(503, 10_000, "bob")
            )
            assert sorted(ledger.lookup(np.array([[3, 10_000], [503, 10_000]]))) == [SAME, SAME]
