"""What `benchmarks.team` proves from the ledger: that it would see what is lost, doubled or given to two."""

from __future__ import annotations

import pytest

from benchmarks.team_proof import Record, prove
from samekind import Ledger


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "load.db"
    with Ledger(path) as ledger:
        ledger.record([[1, 2], [1, 3]], [0, 0], who="ann")
        ledger.record([[4, 2]], [1], who="bob")
        ledger.name(1, "bob, 1", who="bob")
    return path


KEPT = [("ann", "l-1-2.3", "none"), ("bob", "p-4-2", "same")]


def test_all_is_there(place):
    found = prove(str(place), Record(kept=list(KEPT), names=["bob, 1"]))
    assert [found[name] for name in ("lost", "doubled", "given to two")] == [0, 0, 0]
    assert found["sound"]


@pytest.mark.parametrize(
    "claimed",
    [
        Record(kept=[*KEPT, ("ann", "p-4-2", "same")]),
        Record(kept=[*KEPT, ("ann", "l-1-2.3.9", "none")]),
        Record(kept=list(KEPT), names=["bob, 2"]),
    ],
)
def test_what_was_acknowledged_and_is_not_there_is_lost(place, claimed):
    assert prove(str(place), claimed)["lost"] == 1


def test_what_somebody_said_besides_is_given_to_two(place):
    with Ledger(place) as ledger:
        ledger.record([[2, 1]], [0], who="bob")
    assert prove(str(place), Record())["given to two"] == 1


def test_a_merge_that_nobody_asked_for_is_not(place):
    with Ledger(place) as ledger:
        ledger.record([[2, 1]], [0], who="bob", asked=False)
    assert prove(str(place), Record())["given to two"] == 0


def test_a_name_that_was_given_twice_is_doubled(place):
    with Ledger(place) as ledger:
        ledger.name(2, "bob, 1", who="bob")
    assert prove(str(place), Record(names=["bob, 1"]))["doubled"] == 1


def test_what_was_taken_back_and_nobody_undid_is_doubled(place):
    with Ledger(place) as ledger:
        ledger.retract(who="bob")
    assert prove(str(place), Record(kept=list(KEPT)))["doubled"] == 1
    assert prove(str(place), Record(kept=list(KEPT), n_undone=1))["doubled"] == 0


def test_what_somebody_said_anew_was_not_taken_back(place):
    with Ledger(place) as ledger:
        ledger.correct(4, 2, 1, who="bob")
    found = prove(str(place), Record(kept=list(KEPT)))
    assert found["doubled"] == found["taken back"] == 0
