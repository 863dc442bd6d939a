"""Names, corrections and what was expected in the ledger; transactions; two processes."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import DIFFERENT, SAME, UNSURE, Ledger, LedgerError
from samekind.ledger import ProjectURL, back_up_project, move_project
from test_ledger_faults import Disk, chain, fork


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


POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))


def place_for(request, backend):
    """Return where there is no project yet."""
    if backend == "postgres":
        return request.getfixturevalue("postgres").url()
    return request.getfixturevalue("tmp_path") / "mine.db"


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


class TestNotes:
    def test_the_newest_name_of_a_row_counts(self, ledger):
        ledger.name(4, "first", who="ann")
        ledger.name(7, "other")
        ledger.name(4, "größe 🙂", who="bob")
        for one in reopened(ledger):
            assert {row: name.text for row, name in one.log.names.items()} == {
                4: "größe 🙂",
                7: "other",
            }
            assert (one.log.names[4].who, one.log.names[4].id, one.log.names[7].id) == ("bob", 3, 2)
            assert one.revision.names == 3
            one.close()


EXPECTED = np.array([[0.25, 0.5, 0.75], [1.0, np.nan, 0.0]], dtype=np.float32)


def expected_of(ledger):
    """Return what was expected of each line, without the places that nobody filled."""
    return ledger.log.lines["expected"][:, : EXPECTED.shape[1]]


class TestExpected:
    @pytest.fixture
    def full(self, ledger):
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann", expected=EXPECTED)
        ledger.record([[3, 4]], [SAME], who="ann", asked=False)
        return ledger

    def test_is_kept(self, full):
        for one in reopened(full):
            assert np.array_equal(expected_of(one)[:2], EXPECTED, equal_nan=True)
            assert np.isnan(one.log.lines["expected"][:, 3:]).all()
            assert np.isnan(expected_of(one)[2]).all()
            one.close()

    def test_comes_back_with_what_a_correction_had_replaced(self, full):
        full.correct(0, 1, DIFFERENT, who="bob")
        full.retract(who="bob")
        for one in reopened(full):
            back = one.active()
            [line] = back[(back["a"] == 0) & (back["b"] == 1)]
            assert line["expected"][:3].tolist() == EXPECTED[0].tolist()
            one.close()

    def test_others_follow(self, place):
        with Ledger(place) as one, Ledger(place) as other:
            one.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann", expected=EXPECTED)
            other.refresh()
            assert np.array_equal(expected_of(other), EXPECTED, equal_nan=True)

    def test_goes_along_to_another_place(self, place, tmp_path):
        with Ledger(place) as ledger:
            ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann", expected=EXPECTED)
        source = ProjectURL(place) if isinstance(place, str) else place
        back_up_project(source, tmp_path / "copy.db")
        move_project(source, tmp_path / "moved.db")
        for name in ("copy.db", "moved.db"):
            with Ledger(tmp_path / name) as ledger:
                assert np.array_equal(expected_of(ledger), EXPECTED, equal_nan=True)


class TestVolunteered:
    def test_lines_that_stand_and_cost_no_question(self, ledger):
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT], who="ann")
        assert ledger.log.volunteered().size == 0
        ledger.record_checked(
            np.array([[2, 3], [3, 4]]), np.array([1, 0], np.int8), "ann", np.array([True, False])
        )
        ledger.record([[5, 6]], [UNSURE], who="bob", asked=False)
        for one in reopened(ledger):
            assert one.log.volunteered()[["a", "b"]].tolist() == [(3, 4), (5, 6)]
            assert one.log.skipped().tolist() == [[5, 6]]
        ledger.record([[6, 5]], [SAME], who="bob")
        ledger.retract(who="ann")
        for one in reopened(ledger):
            assert one.log.volunteered().size == 0

    def test_what_failed_to_be_written_was_not_volunteered(self, ledger):
        with pytest.raises(ValueError), ledger.transaction():
            [ledger.record(pair, [SAME], asked=False) for pair in ([[0, 1]], [[2, 2]])]
        assert ledger.log.volunteered().size == 0

    def test_nobody_volunteered_costs_no_look_at_the_log(self, ledger, monkeypatch):
        ledger.record([[0, 1], [1, 2]], [SAME, DIFFERENT])
        monkeypatch.setattr(type(ledger.log), "active", lambda *_: pytest.fail("looks at all"))
        assert ledger.log.volunteered().size == 0
        assert ledger.contradictions == []


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

    def test_of_ones_own_answer(self, ledger):
        ledger.record([[0, 1]], [SAME], who="ann")
        ledger.correct(0, 1, DIFFERENT, who="ann")
        ledger.correct(0, 1, UNSURE, who="ann")
        assert ledger.answer_by(0, 1, "ann") == UNSURE
        ledger.retract()
        assert ledger.answer_by(0, 1, "ann") == DIFFERENT
        ledger.retract()
        assert ledger.answer_by(0, 1, "ann") == SAME
        assert len(ledger) == 1

    def test_who_answered_again_meanwhile_keeps_that_answer(self, ledger):
        ledger.record([[0, 1]], [SAME], who="ann")
        ledger.correct(0, 1, DIFFERENT, who="bob")
        ledger.record([[0, 1]], [UNSURE], who="ann")
        ledger.retract(who="bob")
        assert ledger.answer_by(0, 1, "ann") == UNSURE


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

    def write_more_than_fits(self, ledger):
        with ledger.transaction():
            self.write_all(ledger)
            ledger.record(chain(10, 2000), np.ones(2000, dtype=int))

    @pytest.fixture
    def begun(self, ledger):
        ledger.record([[0, 1], [1, 2], [2, 3]], [SAME, SAME, DIFFERENT], who="ann")
        ledger.name(1, "ones")
        ledger.set("colour", "green")
        return ledger

    def test_keeps_all(self, begun):
        with begun.transaction():
            self.write_all(begun)
        for one in reopened(begun):
            assert written(one) == written(begun)
            assert {row: name.text for row, name in one.log.names.items()} == {
                0: "noughts",
                1: "ones",
            }
            assert one.answer_by(0, 1, "ann") is None
            assert one.settings["colour"] == "blue"
            one.close()

    def test_or_nothing(self, begun):
        before = written(begun)
        with pytest.raises(ZeroDivisionError):
            self.fail_after_writing(begun)
        for one in reopened(begun):
            assert written(one) == before
        self.write_all(begun)
        for one in reopened(begun):
            assert written(one) == written(begun)
            one.close()

    def test_within_another_one_is_part_of_it(self, begun):
        before = written(begun)
        with pytest.raises(ZeroDivisionError), begun.transaction():
            self.fail_after_writing(begun)
        assert written(begun) == before

    def test_that_could_not_be_kept_did_not_happen(self, tmp_path):
        with Ledger(tmp_path / "mine.db") as ledger:
            disk = Disk(ledger)
            ledger.record([[0, 1], [1, 2], [2, 3]], [SAME, SAME, DIFFERENT], who="ann")
            before = written(ledger)
            disk.fill()
            with pytest.raises(LedgerError, match="disk is full"):
                self.write_more_than_fits(ledger)
            assert written(ledger) == before
            disk.make_room()
            with ledger.transaction():
                self.write_all(ledger)
            with Ledger(tmp_path / "mine.db") as other:
                assert written(other) == written(ledger)

    def test_begins_with_what_others_wrote(self, place):
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

    def test_reading_waits_for_nobody(self, tmp_path):
        path = tmp_path / "mine.db"
        with Ledger(path, wait=0.1) as ledger:
            ledger.record([[0, 1]], [SAME])
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            assert ledger.refresh() is False
            other.execute("COMMIT")
            other.close()


acts = st.lists(
    st.tuples(
        st.sampled_from(["record", "correct", "retract", "name"]),
        st.integers(0, 1),  # which of the two writes
        st.integers(0, 3),
        st.integers(4, 6),
        st.sampled_from([SAME, DIFFERENT, UNSURE]),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(acts)
def test_two_writers_in_turns_know_the_same(tmp_path_factory, history):
    path = tmp_path_factory.mktemp("two") / "mine.db"
    with Ledger(path) as one, Ledger(path) as two:
        for act, writer, a, b, answer in history:
            ledger, who = ((one, "ann"), (two, "bob"))[writer]
            if act == "record":
                expected = np.array([[a, b / 7]], dtype=np.float32) if a else None
                ledger.record([[a, b]], [answer], who=who, expected=expected)
            elif act == "correct":
                ledger.correct(a, b, answer, who=who)
            elif act == "retract":
                ledger.retract(who=who)
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
