"""New rows, put into known clusters by a session that can be left, undone and resumed (P30)."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, UNSURE, ClassifySession, LabelOracle, solve
from samekind.engine import OtherDataError, answer_with
from samekind.engine.classify_session import NOT_ASKED

X, Y = blobs((40, 30, 20), seed=3)
NEW, NEW_Y = blobs((6, 5, 4), seed=4)
BOTH = np.concatenate([Y, NEW_Y])


@pytest.fixture(scope="module")
def found():
    return solve(X, LabelOracle(Y), random_state=0, budget=60)


def kinds(found, labels):
    return np.array([Y[members[0]] for members in found.members_])[labels]


def test_asks_about_one_question_a_row(found):
    """P30: about one question a new row."""
    session = answer(ClassifySession(found, NEW), Expert(BOTH))
    np.testing.assert_array_equal(kinds(found, session.result().labels), NEW_Y)
    assert session.result().n_asked.tolist() == [1] * 15
    assert session.n_questions == 15
    assert session.stop_reason == "exhausted"


def test_agrees_with_classify_of_the_result(found):
    """P30: one belief."""
    expert, other = Expert(BOTH, unsure=0.2), Expert(BOTH, unsure=0.2)
    session = answer(ClassifySession(found, NEW, batch=4), expert)
    result = found.classify(NEW, other, batch=4)
    assert session.result().labels.tolist() == result.labels.tolist()
    assert expert.asked == other.asked


def test_undo_goes_back_as_far_as_one_likes(found):
    session, expert = ClassifySession(found, NEW), Expert(BOTH)
    answer(session, expert, waves=3)
    asked_next = session.pending().tolist()
    assert session.n_decided == 3
    session.tell(session.pending(), [DIFFERENT])
    assert session.undo() == 1
    assert session.pending().tolist() == asked_next
    assert session.undo(3) == 3
    assert session.n_decided == 0
    assert (session.result().labels == NOT_ASKED).all()
    answer(session, expert)
    np.testing.assert_array_equal(kinds(found, session.result().labels), NEW_Y)


@pytest.mark.parametrize("stop_after", [0, 1, 7])
def test_left_and_resumed(found, stop_after, tmp_path):
    """P5: at any question."""
    expert = Expert(BOTH)
    with ClassifySession(found, NEW, ledger=tmp_path / "new.db") as session:
        answer(session, expert, waves=stop_after)
    with ClassifySession(found, NEW, ledger=tmp_path / "new.db") as session:
        assert session.n_questions == stop_after
        answer(session, expert)
        np.testing.assert_array_equal(kinds(found, session.result().labels), NEW_Y)
    assert len(expert.asked) == len(set(expert.asked)) == 15


def test_answers_stay_true_when_the_clusters_have_grown(found, tmp_path):
    few = solve(X, LabelOracle(Y), random_state=0, budget=12)
    assert {rows[0] for rows in few.members_} != {rows[0] for rows in found.members_}
    with ClassifySession(few, NEW, ledger=tmp_path / "new.db") as session:
        answer(session, Expert(BOTH))
    with ClassifySession(found, NEW, ledger=tmp_path / "new.db") as session:
        assert session.done
        np.testing.assert_array_equal(kinds(found, session.result().labels), NEW_Y)


def test_other_rows_are_refused(found, tmp_path):
    ClassifySession(found, NEW, ledger=tmp_path / "new.db").close()
    with pytest.raises(OtherDataError, match="15 new rows x 2; these are 14 new rows x 2"):
        ClassifySession(found, NEW[:-1], ledger=tmp_path / "new.db")


def test_budget_and_rows_of_no_cluster(found):
    """P30: a row of no cluster ends as new."""
    session = ClassifySession(found, np.vstack([NEW[:2], [[0.0, 500.0]]]), budget=4)
    answer(session, Expert(np.concatenate([Y, NEW_Y[:2], [99]])))
    assert session.stop_reason == "budget"
    assert session.result().labels[2] == NOT_ASKED
    session = ClassifySession(found, [[0.0, 500.0]])
    answer_with(session, lambda pairs: np.full(len(pairs), DIFFERENT, dtype=np.int8))
    assert session.result().labels.tolist() == [-1]
    assert session.n_questions == found.n_discovered_


def test_a_new_cluster_is_founded_if_that_is_wanted(found):
    strange = [[0.0, 500.0], [0.1, 500.0]]
    session = answer(
        ClassifySession(found, strange, grow=True), Expert(np.concatenate([Y, [99, 99]]))
    )
    assert session.result().labels.tolist() == [found.n_discovered_] * 2


def test_unsure_rows_are_given_up(found):
    session = ClassifySession(found, NEW[:1], patience=2)
    session.tell(session.pending(), [UNSURE])
    session.tell(session.pending(), [UNSURE])
    assert session.result().labels.tolist() == [-2]
    assert session.done


def test_what_was_said_of_a_member_holds_for_its_cluster(found):
    session = ClassifySession(found, NEW[:1])
    ((row, member),) = session.pending().tolist()
    cluster = session.cluster_of(member)
    session.tell([[row, member]], [SAME])
    assert session.result().labels.tolist() == [cluster]
    assert session.cluster_of(row) == cluster


def test_wrong_parameters_are_named(found):
    with pytest.raises(TypeError, match="'classify' has no parameter 'budgets'"):
        ClassifySession(found, NEW, budgets=3)
    with pytest.raises(ValueError, match="X has 3 columns"):
        ClassifySession(found, np.zeros((2, 3)))
