"""`focused`: what its runs keep to. A toy worked by hand is in test_focused_toy.py."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from conftest import Expert, answer, blobs
from samekind import DIFFERENT, SAME, UNSURE, LabelOracle, NoisyOracle, Session, solve
from samekind.ledger import Ledger, pairs_of
from samekind.measures import adjusted_rand_index


def mixture(n=400, k=8, d=3, spread=0.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.uniform(0, 5, (k, d))[y] + spread * rng.normal(size=(n, d)), y


def scattered():
    """Return two classes, each in ten far pieces, so that pieces are taken for new clusters."""
    rng = np.random.default_rng(0)
    piece = rng.integers(20, size=500)
    return rng.uniform(0, 100, (20, 2))[piece] + 0.2 * rng.normal(size=(500, 2)), piece % 2


def run_of(X, y, seed=0, oracle=None, **options):
    """Return a session that was answered to its end, by several annotators if the oracle has them."""
    session = Session(X, random_state=seed, **options)
    oracle = oracle or LabelOracle(y)
    while not session.done:
        pairs = session.pending()
        said = oracle(pairs)
        names = getattr(oracle, "who", None) or [""] * len(pairs)
        for name in dict.fromkeys(names):
            own = np.array(names) == name
            session.tell(pairs[own], said[own], who=name)
    return session


def reordered(session, order):
    """Return another ledger with the same answers, in another order."""
    lines, names = session.ledger.active(), session.ledger.annotators
    copy = Ledger()
    for i in order:
        one = lines[i : i + 1]
        who = names[int(one["who"][0])]
        asked = one["asked"]
        copy.record_checked(pairs_of(one), one["answer"], who, asked, one["expected"])
    return copy


class TestFold:
    @pytest.mark.parametrize(
        "options", [{}, {"error_rate": "estimate"}, {"error_rate": 0.1, "goal": "centers"}]
    )
    def test_the_order_of_the_answers_does_not_matter(self, options):
        """P6: the state follows from the answers that stand."""
        X, y = mixture()
        rates = {"Ann": 0.05, "Bob": 0.2} if options else {"Ann": 0.0, "Bob": 0.0}
        oracle = NoisyOracle(y, per_annotator=rates, unsure=0.05)
        session = run_of(X, y, oracle=oracle, budget=350, **options)
        expected = session.clusters()
        for shuffle in range(3):
            order = np.random.default_rng(shuffle).permutation(len(session.ledger.active()))
            with Session(
                X, ledger=reordered(session, order), random_state=session.seed, **options
            ) as other:
                found = other.clusters()
            np.testing.assert_array_equal(found.labels_, expected.labels_)
            assert found.certificate_ == expected.certificate_

    @pytest.mark.parametrize("options", [{}, {"error_rate": "estimate", "batch": 4}])
    def test_live_reopened_and_another_session(self, options, tmp_path):
        """P2, P6: also after an undo."""
        X, y = mixture()
        options = options | {"ledger": tmp_path / "mine.db", "random_state": 0}
        oracle = NoisyOracle(y, error=0.1 if "batch" in options else 0.0, unsure=0.05)
        with Session(X, **options) as live, Session(X, **options) as second:
            for wave in range(120):
                live.answer_all(oracle(live.pending()))
                if wave % 40 == 10:  # the other one answers in between
                    second.catch_up()
                    second.tell(second.pending(), oracle(second.pending()))
                    live.catch_up()
            live.undo(3)
            second.catch_up()
            expected = live.clusters()
            np.testing.assert_array_equal(second.clusters().labels_, expected.labels_)
        with Session(X, **options) as reopened:
            found = reopened.clusters()
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert found.n_questions_ == expected.n_questions_

    @pytest.mark.parametrize("options", [{}, {"goal": "centers", "batch": 5}])
    def test_looking_changes_nothing(self, options):
        """P5: whoever looks in between, the same questions are asked."""
        X, y = mixture(200)
        asked = []
        for looks in (False, False, True):
            session = Session(X, random_state=1, budget=60, **options)
            expert = Expert(y)
            while not session.done:
                if looks:
                    run, rows = session._run, np.arange(4)
                    np.testing.assert_array_equal(run.choose(6), run.choose(6))
                    session.choose(3)
                    session.clusters()
                    session.confidence(rows)
                    session.rank_clusters(3)
                    held = run.choose(3)[:, 0].tolist()
                    assert not np.isin(run.choose(6, held)[:, 0], held).any()
                answer(session, expert, waves=1)
            asked.append((expert.asked, session.clusters().labels_.tolist()))
        assert asked[0] == asked[1] == asked[2]


class TestWrongAnswers:
    def test_blobs_that_a_wrong_answer_joined_come_apart(self):
        X, y = blobs((60, 60))
        one, two = (np.flatnonzero(y == c) for c in (0, 1))
        session = Session(X, random_state=0, error_rate=0.05, goal="labels", budget=60)
        rights = [(int(own[0]), int(row)) for own in (one, two) for row in own[1:6]]
        session.learn([*rights, (int(one[0]), int(two[0]))], [SAME] * 11)
        session.learn([(int(one[1]), int(two[1]))], [SAME])  # wrong, too
        assert session.members_of(int(one[0])) == session.members_of(int(two[0]))
        found = answer(session, Expert(y)).clusters()
        assert found.n_discovered_ == 2
        assert adjusted_rand_index(y, found.labels_) == 1

    @pytest.mark.parametrize("rate", [pytest.param(0.1, marks=pytest.mark.slow), "estimate"])
    def test_one_in_ten(self, rate):
        """P18: the error rate is estimated."""
        X, y = blobs((80, 60, 40, 20), spread=2.0)
        runs = []
        for seed in range(6):
            oracle = NoisyOracle(y, error=0.1, seed=seed)
            found = solve(X, oracle, budget=300, random_state=seed, error_rate=rate)
            runs.append(adjusted_rand_index(y, found.labels_))
            if rate == "estimate":
                assert 0.05 < found.error_rate_ < 0.2
        assert np.mean(runs) >= 0.95
        assert np.median(runs) >= 0.98

    @pytest.mark.slow
    def test_who_answers_at_random_is_found_out(self):
        """P18, P19: by contradictions, and nobody else is doubted."""
        X, y = blobs((80, 60, 40))
        rates, agreement = [], []
        for seed in range(6):
            oracle = NoisyOracle(y, per_annotator={"Ann": 0.03, "Bob": 0.5}, seed=seed)
            session = run_of(X, y, seed, oracle, budget=400, error_rate="estimate", goal="labels")
            who = [session.ledger.annotators.index(name) for name in ("Ann", "Bob")]
            rates.append(session._run.derived().same.rates[who])
            agreement.append(adjusted_rand_index(y, session.clusters().labels_))
        ann, bob = np.array(rates).T
        assert np.median(ann) < 0.15
        assert (bob > ann).all()
        assert bob.min() > 0.35
        assert np.mean(agreement) >= 0.95


class Hard(Expert):
    """Cannot tell anything about some rows."""

    def __init__(self, y, hard):
        super().__init__(y)
        self.hard = set(hard)

    def says(self, a, b):
        return UNSURE if self.hard & {a, b} else super().says(a, b)


class TestUnsure:
    @pytest.mark.parametrize(
        "options", [{}, {"error_rate": "estimate", "batch": 16, "patience": 1}]
    )
    def test_always(self, options):
        """P4: Rows are given up after `patience`, none is a member, and the run ends."""
        X, y = mixture(40, 3)
        expert = Expert(y, unsure=1.0)
        found = answer(Session(X, random_state=0, **options), expert).clusters()
        assert found.stop_reason_ == "exhausted"
        assert found.n_discovered_ == 0
        counts = np.bincount(np.ravel(expert.asked), minlength=40)
        patience = options.get("patience", 3)
        assert set(found.given_up_.tolist()) == set(np.flatnonzero(counts >= patience))
        assert found.given_up_.size >= 40 - patience
        assert (found.labels_ == -1).all()

    @pytest.mark.parametrize(("batch", "error_rate"), [(1, None), (16, "estimate")])
    def test_no_pair_is_asked_twice_and_the_budget_is_kept(self, batch, error_rate):
        """P4: also where some pairs cannot be told."""
        X, y = mixture(150, 5, spread=0.3)
        for unsure in (0.0, 0.3):
            expert, options = Expert(y, unsure), {"batch": batch, "error_rate": error_rate}
            found = answer(Session(X, random_state=0, budget=230, **options), expert).clusters()
            assert len(set(expert.asked)) == len(expert.asked) == found.n_questions_ <= 230
            clear = {row for pair in expert.asked if expert.says(*pair) >= 0 for row in pair}
            assert all(row in clear for rows in found.members_ for row in rows.tolist())

    @pytest.mark.parametrize("options", [{}, {"batch": 8}, {"error_rate": 0.05}])
    def test_a_first_row_that_nobody_can_tell_sinks_nothing(self, options):
        X, y = blobs((60, 40, 30))
        for place in (0, 1):
            with Session(X, random_state=0, **options) as session:
                hard = int(session.pending()[0, place])
            expert = Hard(y, [hard])
            found = solve(X, expert, budget=250, random_state=0, **options)
            assert found.given_up_.tolist() == [hard]
            assert found.labels_[hard] == -1
            assert sorted({int(y[rows[0]]) for rows in found.members_}) == [0, 1, 2]

    def test_a_different_and_then_only_unsure(self):
        """Lone clusters stay, and other rows have labels."""
        X, _ = mixture()
        session = Session(X, random_state=0, error_rate=0.05, budget=40)
        session.tell(session.pending(), [DIFFERENT])
        while not session.done:
            session.tell(session.pending(), [UNSURE])
        found = session.clusters()
        assert found.n_discovered_ == 2
        assert set(np.flatnonzero(found.labels_ < 0)) == set(found.given_up_.tolist())

    @pytest.mark.parametrize("options", [{}, {"goal": "centers"}, {"error_rate": 0.05}])
    def test_a_far_cluster_that_nobody_can_tell_is_stated(self, options):
        X, y = blobs((90, 90, 20))
        hard = np.flatnonzero(y == 2)
        found = solve(X, Hard(y, hard), random_state=0, **options)
        assert found.stop_reason_ == "exhausted"  # never "reducible"
        assert found.given_up_.tolist() == hard.tolist()
        assert found.certificate_.n_undecided == hard.size

    def test_skipped_rows_are_labelled_but_not_asked_about(self):
        """P4: a skip is an answer."""
        X, y = blobs((60, 40))
        session = Session(X, random_state=0, goal="labels", budget=60)
        skipped = set()
        for turn in range(80):
            if session.done:
                break
            [(row, other)] = session.pending().tolist()
            assert not skipped & {row, other}
            if turn % 4 == 2 and session.places_of([row])[0] < 0:
                session.tell([(row, other)], [UNSURE], free=True)
                skipped.add(row)
            else:
                answer(session, LabelOracle(y), waves=1)
        found, rows = session.clusters(), sorted(skipped)
        assert len(rows) > 5
        assert adjusted_rand_index(y[rows], found.labels_[rows]) == 1
        assert not skipped & set(np.concatenate(found.members_).tolist())
        assert not found.given_up_.size

    def test_a_clear_answer_brings_a_row_back(self):
        """P4: "not sure" holds until somebody knows."""
        X, y = blobs((30, 20))
        session = answer(Session(X, random_state=0), Expert(y), waves=6)
        row = int(session.pending()[0, 0])
        known = [other for own in session.known_clusters() for other in own]
        session.change([(row, other) for other in known[:3]], [UNSURE] * 3, asked=True)
        assert session.clusters().given_up_.tolist() == [row]
        assert session.clusters().labels_[row] == -1
        friend = next(other for other in known[3:] if y[other] == y[row])
        session.learn([(row, friend)], [SAME])
        assert session.clusters().given_up_.size == 0
        assert row in session.members_of(friend)


class TestPieces:
    """A class in several far pieces."""

    @pytest.mark.parametrize("options", [{}, {"batch": 16}, {"error_rate": "estimate"}])
    def test_become_one_cluster(self, options):
        X, y = scattered()
        found = solve(X, LabelOracle(y), budget=500, random_state=0, **{"batch": 1} | options)
        assert found.n_discovered_ == 2
        assert found.certificate_.n_unproven == 0
        assert adjusted_rand_index(y, found.labels_) == 1

    @pytest.mark.parametrize(("how", "options"), [("undo", {}), ("change", {"error_rate": 0.05})])
    def test_taking_back_what_merged_them_separates_them(self, how, options):
        """P2: labels and question are those of before."""
        X, y = scattered()
        session, expert = Session(X, random_state=0, budget=300, **options), Expert(y)
        n_merges, before = 0, session.clusters()
        while not session.done and n_merges < 3:
            pair = session.pending()[0].tolist()
            answer(session, expert, waves=1)
            after = session.clusters()
            if after.n_discovered_ < before.n_discovered_:
                n_merges += 1
                if how == "undo":
                    session.undo()
                    np.testing.assert_array_equal(session.clusters().labels_, before.labels_)
                    assert set(session.pending()[0].tolist()) == set(pair)
                else:
                    session.change([pair], [DIFFERENT])
                assert pair[0] not in session.members_of(pair[1])
                assert session.clusters().n_discovered_ >= before.n_discovered_
                session.change([pair], [SAME], asked=True)
            before = session.clusters()
        assert n_merges == 3


def test_many_rows():
    """More than there are nodes, with a far cluster of three rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=60_000)
    X = rng.uniform(0, 10, (6, 3))[y] + 0.2 * rng.normal(size=(60_000, 3))
    X[:3], y[:3] = [30, 30, 30] + 0.1 * rng.normal(size=(3, 3)), 6
    session = run_of(X, y, budget=250, batch="auto")
    found = session.clusters()
    assert {int(y[rows[0]]) for rows in found.members_} == set(range(7))
    assert adjusted_rand_index(y, found.labels_) > 0.999
    assert (found.labels_ >= 0).all()
    rows = np.setdiff1d(np.arange(len(X)), session._run._base.rows)[:5].tolist()
    friends = [next(own[0] for own in session.known_clusters() if y[own[0]] == y[r]) for r in rows]
    session.learn(list(zip(rows, friends, strict=True)), [SAME] * 5)
    assert all(row in session.members_of(f) for row, f in zip(rows, friends, strict=True))
    session.change([(rows[0], friends[0])], [DIFFERENT])
    assert rows[0] not in session.members_of(friends[0])
    assert session.clusters().labels_[rows[0]] != session.clusters().labels_[friends[0]]


RANDOM = np.random.default_rng(0).normal(size=(60, 2))
ODD = {
    "identical rows": (np.zeros((30, 2)), np.zeros(30, dtype=int)),
    "identical rows of two classes": (np.zeros((30, 2)), np.arange(30) % 2),
    "two rows": (np.array([[0.0], [1.0]]), np.zeros(2, dtype=int)),
    "two different rows": (np.array([[0.0], [1.0]]), np.arange(2)),
    "one column": (RANDOM[:, :1], np.arange(60) % 3),
    "a constant column": (np.column_stack([RANDOM[:, 0], np.ones(60)]), np.arange(60) % 2),
    "fewer rows than neighbours": (RANDOM[:6], np.arange(6) // 2),
    "all different": (RANDOM[:20], np.arange(20)),
    "one class": (RANDOM, np.zeros(60, dtype=int)),
}


class TestOddData:
    @pytest.mark.parametrize("name", ODD)
    @pytest.mark.parametrize(
        "options",
        [{}, {"error_rate": 0.1, "batch": 16, "goal": "centers"}],
        ids=str,
    )
    def test_ends_with_labels(self, name, options):
        X, y = ODD[name]
        expert = Expert(y)
        found = answer(Session(X, random_state=0, budget=300, **options), expert).clusters()
        assert (found.labels_ >= 0).all()
        assert len(set(expert.asked)) == len(expert.asked) <= 300
        if not options:  # a row is known or equal to known ones
            assert adjusted_rand_index(y, found.labels_) == 1

    def test_one_row(self):
        """Nothing can be asked: it is a cluster by itself."""
        found = solve(np.zeros((1, 1)), LabelOracle([0]), random_state=0)
        assert (found.n_questions_, found.n_discovered_) == (0, 1)
        assert found.labels_.tolist() == [0]


@pytest.mark.parametrize(
    ("error", "parameter", "given"),
    [
        (ValueError, "stop", "never"),
        (ValueError, "tolerance", 0),
        (ValueError, "error_rate", 0.5),
        (ValueError, "patience", 0),
        (TypeError, "heavy", 3),
    ],
)
def test_wrong_parameters_are_named(error, parameter, given):
    with pytest.raises(error) as raised:
        Session(np.zeros((2, 1)), **{parameter: given})
    assert parameter in str(raised.value)
    if error is ValueError:
        assert repr(given) in str(raised.value)


def asks_nobody(a, b):
    raise AssertionError("nothing may be asked")


def test_blobs_are_found_without_a_question():
    X, y = blobs((200, 150, 100))
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert found.n_questions_ == 0
    assert found.n_discovered_ == 3
    assert adjusted_rand_score(y, found.labels_) > 0.95
    assert found.stop_reason_ == "budget"


def test_it_says_that_it_is_a_guess():
    """P18: nothing is promised where nobody was asked."""
    X, _ = blobs((60, 60))
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert any("guess" in note for note in found.notes_)
    assert found.certificate_.wrong == 1.0
    assert str(found.certificate_) == "No promise yet: no row was audited."
    assert found.n_recovered_ == 0


@pytest.mark.parametrize("X", [np.zeros((50, 2)), np.zeros((1, 1)), np.eye(3)])
def test_odd_data(X):
    found = solve(X, asks_nobody, budget=0, random_state=0)
    assert found.n_discovered_ >= 1
    assert (found.labels_ >= 0).all()


def test_what_was_answered_counts_more(tmp_path):
    """Who opens a project with budget=0 sees what its answers say."""
    X, y = blobs((60, 60))
    path = tmp_path / "mine.db"
    solve(X, LabelOracle(y), ledger=path, budget=20, random_state=0)
    with Session(X, ledger=path, budget=0, random_state=0) as session:
        assert session.done
        assert not any("guess" in note for note in session.clusters().notes_)
