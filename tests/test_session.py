"""The session: any order, any interruption, undo, budgets, people who are unsure or disagree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samekind
from conftest import Expert, answer, assert_same_clusters, blobs, keys
from samekind import (
    DIFFERENT,
    SAME,
    UNSURE,
    Ledger,
    LedgerError,
    Session,
)
from samekind.algorithms import ALGORITHMS, Folding, find_algorithm
from samekind.engine import ContradictionWarning
from samekind.measures import adjusted_rand_index

X, Y = blobs((16, 9, 6), seed=1)
OPTIONS = {"algorithm": "basic", "random_state": 3, "batch": 6}
WHOLE = answer(Session(X, **OPTIONS), Expert(Y)).clusters()
OF_ROWS = [name for name, algorithm in ALGORITHMS.items() if not algorithm.compares_records]
algorithms = pytest.mark.parametrize("algorithm", OF_ROWS)


def told_in_pieces(session, expert, rng):
    """Answer every wave in pieces of random sizes, in random order, pairs turned round at random."""
    while not session.done:
        pairs = rng.permutation(session.pending())[: rng.integers(1, 8)]
        pairs = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])
        session.tell(pairs, expert(pairs))
    return session


class TestTell:
    @given(st.integers(0, 2**32))
    @settings(max_examples=25)
    def test_any_part_in_any_order(self, seed):
        """P6: the run follows from the answers, not from how they come."""
        session = told_in_pieces(Session(X, **OPTIONS), Expert(Y), np.random.default_rng(seed))
        assert_same_clusters(session.clusters(), WHOLE)

    @pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
    def test_nothing_is_taken_after_the_end(self, kept, tmp_path):
        """P34: misuse is said, and nothing is written."""
        session = Session(X, **OPTIONS, ledger=tmp_path / "mine.db" if kept else None)
        pairs = session.pending()
        session.tell(pairs[:1], [SAME])
        session.close()
        acts = [
            lambda: session.tell(pairs[1:], np.ones(len(pairs) - 1, dtype=bool)),
            lambda: session.answer_all(np.ones(len(pairs) - 1, dtype=np.int8)),
            lambda: session.learn([[0, 1]], [SAME]),
            lambda: session.change([[0, 1]], [SAME]),
            lambda: session.undo(),
        ]
        for act in acts:
            with pytest.raises(LedgerError, match=r"this session is closed.*Open it again"):
                act()
        assert len(session.ledger) == 1
        assert session.clusters().n_questions_ == 1

    def test_pending_belongs_to_the_session(self):
        """Reordering it in place must not give answers to the wrong pairs."""
        session, rng, expert = Session(X, **OPTIONS), np.random.default_rng(0), Expert(Y)
        while not session.done:
            pairs, taken = session.pending(), session.pending()
            rng.shuffle(pairs)
            np.testing.assert_array_equal(session.pending(), taken)
            session.tell(pairs, expert(pairs))
        assert_same_clusters(session.clusters(), WHOLE)

    def test_any_thread_may_use_a_session(self, tmp_path):
        """P34: four threads answer what is open; no pair is kept twice, and no error is a database's."""
        with Session(X, ledger=tmp_path / "mine.db", random_state=0) as session:

            def work(who):
                while len(pairs := session.pending()[:1]):
                    try:
                        session.tell(pairs, Expert(Y)(pairs), who=who)
                    except ValueError:  # another thread was quicker
                        continue

            with ThreadPoolExecutor(4) as threads:
                list(threads.map(work, "abcd"))
            told = keys([line[:2] for line in session.ledger.lines()])
            assert len(told) == len(set(told)) == session.n_questions
            assert adjusted_rand_index(Y, session.clusters().labels_) == 1

    def test_what_is_not_pending_is_refused(self):
        """P4: nor can a pair be answered twice."""
        session = Session(X, **OPTIONS)
        a, b = session.pending()[0].tolist()
        other = next(row for row in range(31) if row not in session.pending())
        with pytest.raises(ValueError, match=rf"\({other}, {b}\) is not pending.*learn\(\)"):
            session.tell([[a, b], [other, b]], [SAME, SAME])
        assert session.n_questions == 0
        session.tell([[b, a]], [DIFFERENT])
        with pytest.raises(ValueError, match="is not pending"):
            session.tell([[a, b]], [DIFFERENT])

    @pytest.mark.parametrize("answers", [[], [3], ["yes"]])
    def test_what_is_not_an_answer_is_refused(self, answers):
        session = Session(X, algorithm="basic", random_state=3)
        with pytest.raises(ValueError, match="answer"):
            session.tell(session.pending(), answers)
        assert session.n_questions == 0
        assert len(session.ledger) == 0

    def test_a_pair_twice_in_one_call_is_refused(self):
        session = Session(X, algorithm="basic", random_state=3, budget=1)
        pair = session.pending()
        with pytest.raises(ValueError, match="a pair is answered twice"):
            session.tell(np.vstack([pair, pair[:, ::-1]]), [SAME, SAME])
        assert session.n_questions == len(session.ledger) == 0
        session.tell(pair, [SAME])
        assert session.n_questions == 1

    def test_nothing_is_told_to_a_session_that_is_over(self):
        nothing = np.empty(0, dtype=np.int8)
        for rows, stop in ((1, False), (31, True), (6, False)):
            session = Session(X[:rows], **OPTIONS)
            if stop:
                session.stop()
            answer(session, Expert(Y))
            reason = session.stop_reason
            session.tell(np.empty((0, 2), dtype=int), nothing)
            assert session.stop_reason == reason is not None
            assert len(session.pending()) == 0

    def test_numbers_and_bools_are_answers(self):
        one, two = Session(X, **OPTIONS), Session(X, **OPTIONS)
        same = Y[one.pending()[:, 0]] == Y[one.pending()[:, 1]]
        one.tell(one.pending().tolist(), same.tolist())
        two.tell(two.pending(), same.astype(np.int64), who="ann")
        assert keys(one.pending()) == keys(two.pending())
        assert next(two.ledger.lines()).who == "ann"

    def test_implied_answers_are_free(self):
        """P4: what follows from other answers is not asked."""
        rows = np.array([[0.0], [0.1], [0.2], [0.3]])
        session = Session(rows, algorithm="basic", random_state=0, batch=4)
        session.learn([[0, 1], [1, 2], [2, 3]], [SAME, SAME, SAME])
        assert session.done
        assert session.n_questions == 0
        assert session.clusters().stop_reason_ == "exhausted"
        assert len(session.ledger) == 3


class TestUndo:
    def test_of_one_person_only(self):
        session = Session(X, algorithm="basic", random_state=3)
        session.learn([[0, 1]], [Y[0] == Y[1]], who="book")
        for who in ("ann", "bob", "ann", "bob"):
            pair = session.pending()
            session.tell(pair, (Y[pair[:, 0]] == Y[pair[:, 1]]).astype(int), who=who)
        assert session.undo(5, who="ann") == 2
        assert session.undo(who="cy") == 0
        assert session.undo(9) == 2
        assert [entry.who for entry in session.ledger.lines() if not entry.retracted] == ["book"]

    @given(st.integers(1, 25), st.integers(1, 30))
    @settings(max_examples=25)
    def test_and_answering_again_is_as_never_having_answered(self, waves, count):
        """P2: whatever was answered and undone in between."""
        session, expert = Session(X, **OPTIONS), Expert(Y)
        wrong = Expert(np.arange(31) % 2)
        answer(session, expert, waves=2)
        before, asked = session.clusters(), session.n_questions
        answer(session, wrong, waves=waves)
        more = session.n_questions - asked
        assert session.undo(max(more, 1)) == max(more, 1)
        if more:
            assert_same_clusters(session.clusters(), before)
        session.undo(min(count, asked))
        assert_same_clusters(answer(session, expert).clusters(), WHOLE)

    def test_to_the_very_beginning(self):
        """P2: as many as wanted."""
        session = answer(Session(X, **OPTIONS), Expert(Y))
        first = Session(X, **OPTIONS)
        assert session.undo(10_000) == WHOLE.n_questions_
        assert keys(session.pending()) == keys(first.pending())
        assert session.n_questions == 0
        assert not session.done

    @pytest.mark.parametrize("count", [0, 1.5])
    def test_of_nothing_is_refused(self, count):
        with pytest.raises(ValueError, match=f"count must be a positive int, got {count}"):
            Session(X, **OPTIONS).undo(count)


class TestBudget:
    def test_a_larger_one_goes_on_where_the_smaller_ended(self, tmp_path):
        """P5: with the same questions."""
        options = OPTIONS | {"ledger": tmp_path / "mine.db"}
        with Session(X, budget=10, **options) as session:
            assert answer(session, Expert(Y)).stop_reason == "budget"
        with Session(X, **options) as session:
            assert session.n_questions == 10
            assert_same_clusters(answer(session, Expert(Y)).clusters(), WHOLE)

    def test_stop_at_any_time(self):
        session = answer(Session(X, **OPTIONS), Expert(Y), waves=3)
        n = session.n_questions
        assert session.clusters().stop_reason_ is None
        session.stop()
        assert session.done
        assert len(session.pending()) == 0
        found = session.clusters()
        assert (found.stop_reason_, found.n_questions_) == ("user", n)
        assert repr(session) == f"Session('basic', {n} questions, user)"
        session.stop()
        assert session.stop_reason == "user"


class TestResume:
    def test_other_data_are_refused(self, tmp_path):
        path = tmp_path / "mine.db"
        Session(X, ledger=path).close()
        for other in (X + 1e-9, X[:-1], X.astype(np.float32)):
            with pytest.raises(
                ValueError, match=r"belongs to other data \(31 x 2.*start a new project"
            ):
                Session(other, ledger=path)

    @pytest.mark.parametrize("disk", [True, False])
    def test_the_seed_is_kept(self, tmp_path, disk):
        """P5: so a run goes on as it began."""
        where = tmp_path / "mine.db" if disk else Ledger()
        with Session(X, ledger=where) as session:
            answer(session, Expert(Y), waves=2)
            seed, known = session.seed, sorted(map(sorted, session.known_clusters()))
        with Session(X, ledger=where) as session:
            assert session.seed == seed
            assert sorted(map(sorted, session.known_clusters())) == known

    def test_the_answers_serve_another_algorithm(self, tmp_path):
        with Session(X, ledger=tmp_path / "mine.db", **OPTIONS) as session:
            answer(session, Expert(Y))
        expert = Expert(Y)
        options = OPTIONS | {"algorithm": "uniform", "random_state": 9}
        with Session(X, ledger=tmp_path / "mine.db", **options) as session:
            answer(session, expert)
        assert len(expert.asked) == 0  # every row is labelled already

    def test_solve_goes_on_in_a_file(self, tmp_path):
        options = {"algorithm": "basic", "random_state": 0, "ledger": tmp_path / "mine.db"}
        first, second = Expert(Y), Expert(Y)
        samekind.solve(X, first, budget=7, **options)
        found = samekind.solve(X, second, **options)
        assert len(first.asked) == 7
        assert not set(first.asked) & set(second.asked)
        assert found.n_questions_ == 7 + len(second.asked)


class TestLearn:
    def test_reduces_the_questions(self):
        session = Session(X, **OPTIONS)
        same = np.flatnonzero(Y == 0)
        session.learn(np.column_stack([same[:-1], same[1:]]), np.ones(same.size - 1, dtype=int))
        assert session.n_questions == 0
        found = answer(session, Expert(Y)).clusters()
        assert found.n_questions_ < WHOLE.n_questions_ - 8
        assert found.n_recovered_ == 3

    def test_is_free_however_often(self):
        session = answer(Session(X, **OPTIONS), Expert(Y), waves=3)
        n = session.n_questions
        session.learn([[0, 1]], [Y[0] == Y[1]], who="book")
        session.learn([[0, 1]], [Y[0] == Y[1]], who="book")
        assert session.n_questions == n


class TestUnsure:
    @algorithms
    def test_always_ends_with_each_row_given_up(self, algorithm):
        """P4: "not sure" is an answer."""
        expert = Expert(Y, unsure=1.0)
        needed = {"error_rate": 0.0} if algorithm == "noisy-exact" else {}
        found = samekind.solve(X, expert, algorithm=algorithm, random_state=0, **needed)
        assert len(set(expert.asked)) == len(expert.asked)
        if issubclass(find_algorithm(algorithm), Folding):  # "not sure" makes nothing a cluster
            assert found.n_discovered_ == 0
            assert (found.labels_ == -1).all()
            return
        assert found.n_discovered_ == 1
        assert sorted([*found.given_up_, *found.members_[0]]) == list(range(31))
        assert (found.labels_ == -1).sum() == 30

    def test_another_member_is_asked(self):
        rows = np.array([[0.0], [0.1], [0.2]])
        session = Session(rows, algorithm="uniform", random_state=0)
        (second, first) = session.pending()[0]
        session.tell(session.pending(), [SAME])
        (third, asked) = session.pending()[0]
        assert asked == first
        session.tell(session.pending(), [UNSURE])
        assert session.pending().tolist() == [[third, second]]
        session.tell(session.pending(), [SAME])
        assert session.clusters().members_[0].tolist() == [first, second, third]

    @pytest.mark.parametrize("patience", [1, 2, 4])
    def test_a_row_is_given_up_after_patience(self, patience):
        """P4: One row nobody is sure of, among many of one kind."""
        rows = np.random.default_rng(0).normal(size=(40, 1))
        expert = Expert(np.zeros(40))
        expert.says = lambda a, b: UNSURE if 7 in (a, b) else SAME
        session = Session(rows, algorithm="uniform", random_state=1, patience=patience)
        found = answer(session, expert).clusters()
        assert found.given_up_.tolist() == [7]
        assert sum(7 in pair for pair in expert.asked) == patience
        assert found.labels_[7] == -1

    @given(
        st.floats(0.05, 0.9), st.integers(1, 10), st.sampled_from(["uniform", "basic", "batched"])
    )
    @settings(max_examples=25)
    def test_now_and_then(self, share, batch, algorithm):
        expert = Expert(Y, unsure=share)
        found = samekind.solve(X, expert, algorithm=algorithm, batch=batch, random_state=0)
        assert found.stop_reason_ is not None
        assert len(set(expert.asked)) == len(expert.asked)
        assert all(np.unique(Y[members]).size == 1 for members in found.members_)


class TestContradictions:
    @pytest.mark.parametrize("infer", [True, False])
    def test_in_the_ledger_are_reported_by_solve(self, infer):
        """P4: with the answers involved."""
        ledger = Ledger(infer=infer)
        a, b, c = np.flatnonzero(Y == 0)[:3]
        ledger.record([[a, b], [b, c]], [SAME, SAME], who="ann")
        ledger.record([[a, c]], [DIFFERENT], who="bob")
        with pytest.warns(ContradictionWarning, match=rf"contradict .*{a} ≠ {c} \(bob\)"):
            found = samekind.solve(X, Expert(Y), ledger=ledger, random_state=0)
        assert found.contradictions_ == [f"{a} = {b} (ann), {b} = {c} (ann), {a} ≠ {c} (bob)"]

    def test_with_what_people_say_at_once(self, tmp_path):
        """Two people answer the same pending question, each in their own process: the first one counts."""
        options = OPTIONS | {"ledger": tmp_path / "mine.db"}
        with Session(X, **options) as one, Session(X, **options) as two:
            pair = one.pending()[:1]
            one.tell(pair, [SAME], who="ann")
            with pytest.raises(ValueError, match="is not pending"):
                two.tell(pair, [DIFFERENT], who="bob")
            assert len(two.ledger) == 1
            two.learn(pair, [DIFFERENT], who="bob")  # unless they insist
            assert len(two.contradictions) == two.n_contradictions == 1
            one.replay()
            assert len(one.contradictions) == 1


def test_a_session_closes_only_what_it_opened(tmp_path):
    with Ledger(tmp_path / "mine.db") as ledger:
        with Session(X, ledger=ledger, **OPTIONS) as session:
            answer(session, Expert(Y), waves=1)
        ledger.record([[0, 1]], [SAME])
        assert len(ledger) > 1
    assert [file.name for file in tmp_path.iterdir()] == ["mine.db"]


def test_a_pair_that_a_flow_yields_twice_is_asked_once_and_the_algorithm_is_named(monkeypatch):
    heard = []

    def stutter(self):
        heard.append((yield np.array([[0, 1], [2, 3], [1, 0], [3, 2]])).answers.tolist())
        heard.append((yield np.array([[0, 2]])).answers.tolist())
        return "covered"

    monkeypatch.setattr(ALGORITHMS["uniform"], "run", stutter)
    with pytest.warns(RuntimeWarning, match="'uniform' asks twice at once whether rows 1 and 0"):
        session = Session(np.zeros((4, 1)), "uniform")
    assert session.pending().tolist() == [[0, 1], [2, 3]]
    session.answer_all(np.array([SAME, DIFFERENT]))
    with pytest.warns(RuntimeWarning, match="please report"):  # as the flow starts over
        session.undo()
    assert session.pending().tolist() == [[2, 3]]
    session.tell([[2, 3]], [UNSURE])
    session.tell([[0, 2]], [SAME])
    assert session.stop_reason == "covered"
    assert session.n_questions == len(session.ledger) == 3
    assert heard[0] == [SAME, DIFFERENT, SAME, DIFFERENT]
    assert heard[-2:] == [[SAME, UNSURE, SAME, UNSURE], [SAME]]
