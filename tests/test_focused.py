"""`focused`: what its runs keep to. Its parts are tested in test_focused_parts.py."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conftest import Expert, answer, assert_recovered, assert_same_clusters, blobs
from samekind import UNSURE, LabelOracle, Session, solve
from samekind.algorithms.focused import PARTS, Focused, FocusedParams
from samekind.clusters import Clusters
from samekind.flow import Reply, drive
from samekind.points import ArrayPoints


def mixture(n=600, k=20, d=3, spread=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.uniform(0, 5, (k, d))[y] + spread * rng.normal(size=(n, d)), y


def follow(session, expert, look, waves=None):
    """Answer a session's waves, and look at it after each."""
    while not session.done and waves != 0:
        session.tell(session.pending(), expert(session.pending()))
        look(session)
        waves = None if waves is None else waves - 1
    return session


def pairs_of(clusters):
    return set(combinations(range(clusters.n_discovered_), 2))


def proven(clusters, expert):
    """Return the pairs of clusters that somebody was told to be different."""
    of = {int(row): k for k, rows in enumerate(clusters.members_) for row in rows}
    pairs = {
        tuple(sorted((of[a], of[b])))
        for a, b in expert.asked
        if a in of and b in of and expert.says(a, b) == 0
    }
    return {(a, b) for a, b in pairs if a != b}


class TestWaves:
    def waves(self, **options):
        """Return the waves of a run, and after each how many rows were known."""
        X, y = blobs((200,) * 8, spread=2.0)
        session = Session(X, "focused", random_state=0, **options)
        found, oracle = [], LabelOracle(y)
        while not session.done:
            pairs = session.pending()
            known = sum(map(len, session.clusters().members_))
            found.append((pairs.tolist(), known))
            session.answer_all(oracle(pairs))
        return found, session

    def test_one_by_one_where_a_person_answers(self):
        found, _ = self.waves(budget=200)
        assert {len(pairs) for pairs, _ in found} == {1}

    def test_small_waves_where_answers_take_no_time(self):
        found, session = self.waves(batch="auto")
        assert all(len(pairs) <= max(1, min(16, known // 64)) for pairs, known in found)
        assert max(len(pairs) for pairs, _ in found) > 3
        asked = [frozenset(pair) for pairs, _ in found for pair in pairs]
        assert len(set(asked)) == len(asked)
        assert not session.clusters().unproven_

    def test_a_merger_settles_other_pairs_of_its_wave(self):
        """Clusters that were called new too soon, and are compared in one wave."""
        X = np.concatenate(
            [np.full((40, 1), x) + np.linspace(0, 1, 40)[:, None] for x in range(0, 900, 30)]
        )
        y = np.repeat(np.arange(30) % 3, 40)  # ten pieces each
        for seed in range(3):
            found = solve(X, LabelOracle(y), algorithm="focused", batch="auto", random_state=seed)
            assert len(found.members_) == 3
            assert found.n_questions_ < 2_000


class TestUnproven:
    @pytest.mark.parametrize("batch", [1, 8, 64])
    @pytest.mark.parametrize("unsure", [0.0, 0.2])
    def test_all_that_nobody_was_asked_about_and_nothing_else(self, batch, unsure):
        """After every wave."""
        X, y = mixture(300, 14, spread=0.1)
        expert = Expert(y, unsure)
        session = Session(X, "focused", batch=batch, random_state=0, budget=150)

        def look(session):
            found = session.clusters()
            assert set(found.unproven_) == pairs_of(found) - proven(found, expert)
            assert found.certificate_.n_unproven == len(found.unproven_)

        follow(session, expert, look)

    @pytest.mark.parametrize("batch", [1, 16])
    def test_full_proves_every_cluster_when_it_is_called_new(self, batch):
        X, y = mixture(300, 14, spread=0.2)
        expert = Expert(y)
        session = Session(X, "focused", certify="full", batch=batch, random_state=0, budget=300)

        def look(session):
            found = session.clusters()
            assert found.unproven_ == []
            firsts = [y[rows[0]] for rows in found.members_]
            assert len(set(firsts)) == len(firsts)

        follow(session, expert, look)
        assert session.clusters().n_discovered_ >= 12

    @pytest.mark.parametrize("batch", [1, 16])
    @pytest.mark.parametrize("seed", range(3))
    def test_lazy_proves_everything_in_the_end(self, batch, seed):
        X, y = mixture(250, 14, spread=0.2, seed=seed)
        expert = Expert(y)
        found = answer(Session(X, "focused", batch=batch, random_state=seed), expert).clusters()
        assert found.unproven_ == []
        assert proven(found, expert) == pairs_of(found)
        assert sorted(y[rows[0]] for rows in found.members_) == np.unique(y).tolist()

    @pytest.mark.parametrize("batch", [1, 16, 64, "auto"])
    def test_far_pieces_of_a_class_become_one_cluster(self, batch):
        X, y = scattered()
        found = solve(X, LabelOracle(y), algorithm="focused", batch=batch, random_state=0)
        assert found.n_discovered_ == 2
        assert found.unproven_ == []

    def test_lazy_asks_fewer_questions_to_discover(self):
        X, y = mixture(600, 25, spread=0.05)
        found = {
            certify: solve(
                X, LabelOracle(y), algorithm="focused", certify=certify, budget=200, random_state=0
            ).n_discovered_
            for certify in ("lazy", "full")
        }
        assert found["lazy"] > found["full"]


class TestLooking:
    """Whoever takes the clusters on the way changes nothing."""

    @pytest.mark.parametrize("without", [(), ("graph",)])
    @pytest.mark.parametrize("batch", [1, 8])
    def test_asks_the_same_questions(self, batch, without):
        X, y = mixture()
        options = {"random_state": 1, "budget": 250, "batch": batch, "without": without}
        alone, watched = Expert(y), Expert(y)
        one = answer(Session(X, "focused", **options), alone)
        other = follow(Session(X, "focused", **options), watched, lambda s: s.clusters())
        assert watched.asked == alone.asked
        assert_same_clusters(one.clusters(), other.clusters())

    def test_twice_gives_the_same(self):
        X, y = mixture()
        session = answer(Session(X, "focused", random_state=0), Expert(y), waves=150)
        one, other = session.clusters(), session.clusters()
        assert_same_all(one, other)

    @pytest.mark.parametrize("batch", [1, 64])
    def test_in_the_middle_of_a_wave_with_many_clusters(self, batch):
        X, y = mixture(600, 40, spread=0.05)
        session = Session(X, "focused", batch=batch, random_state=0, budget=300)

        def look(session):
            found = session.clusters()
            assert found.all_centers_.shape == (found.n_discovered_, 3)
            assert found.standard_errors_.shape == (found.n_discovered_,)

        follow(session, Expert(y), look)
        assert session.clusters().n_discovered_ > 16

    @pytest.mark.parametrize("without", [(), ("graph",)])
    def test_every_row_has_a_label(self, without):
        """Wherever the budget ends."""
        X, y = mixture(400, 8)
        session = Session(X, "focused", random_state=0, batch=4, budget=120, without=without)

        def look(session):
            assert session.clusters().labels_.min() >= 0

        follow(session, Expert(y), look)

    def test_merged_clusters_leave_no_trace(self):
        """What was called new and was not is one cluster in the result, with finite or infinite errors."""
        X, y = scattered()
        session = Session(X, "focused", random_state=0, budget=300)
        follow(session, Expert(y), lambda s: None)
        found = session.clusters()
        assert (session.progress.discovered, found.n_discovered_) == (found.n_discovered_,) * 2
        assert all(len(rows) for rows in found.members_)
        assert not np.isnan(found.standard_errors_).any()
        assert not np.isnan(found.all_centers_).any()


def scattered():
    """Return two classes, each in ten far pieces, so that pieces are taken for new clusters."""
    rng = np.random.default_rng(0)
    piece = rng.integers(20, size=500)
    return rng.uniform(0, 100, (20, 2))[piece] + 0.2 * rng.normal(size=(500, 2)), piece % 2


def assert_same_all(one, other):
    """Check that two results agree, also in what only `focused` says."""
    assert_same_clusters(one, other)
    assert one.certificate_ == other.certificate_
    assert one.unproven_ == other.unproven_
    np.testing.assert_array_equal(one.standard_errors_, other.standard_errors_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    for mine, its in zip(one.prototypes_, other.prototypes_, strict=True):
        np.testing.assert_array_equal(mine, its)


def questions(X, y, look, unsure=0.0, most=250, **options):
    """Run the flow alone, and look at it before every wave is answered; return what was asked."""
    expert, params = Expert(y, unsure), FocusedParams.make("focused", options)
    run = Focused(ArrayPoints(X), params, np.random.default_rng(3))
    flow = run.run()
    wave = next(flow)
    try:
        while len(expert.asked) < most:
            look(run, wave)
            wave = flow.send(Reply(expert(wave)))
    except StopIteration:
        pass
    return expert.asked


OPTIONS = {"algorithm": "focused", "random_state": 3, "budget": 200}
RESUMED_X, RESUMED_Y = mixture(300, 8, spread=0.6, seed=2)


@cache
def uninterrupted(unsure, batch):
    session = Session(RESUMED_X, batch=batch, **OPTIONS)
    return answer(session, Expert(RESUMED_Y, unsure)).clusters()


class TestSessions:
    @given(
        stops=st.lists(st.integers(0, 90), min_size=1, max_size=2),
        unsure=st.sampled_from([0.0, 0.15]),
        batch=st.sampled_from([1, 6]),
        look=st.booleans(),
    )
    @settings(max_examples=8, phases=[Phase.generate])  # to shrink would take minutes
    def test_interrupted_and_resumed(self, stops, unsure, batch, look):
        expert = Expert(RESUMED_Y, unsure)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "mine.db"
            for questions in stops:
                with Session(RESUMED_X, ledger=path, batch=batch, **OPTIONS) as session:
                    for _ in range(questions):
                        session.tell(session.pending()[-1:], expert(session.pending()[-1:]))
                    if look:
                        session.clusters()
            with Session(RESUMED_X, ledger=path, batch=batch, **OPTIONS) as session:
                resumed = answer(session, expert).clusters()
        assert_same_all(resumed, uninterrupted(unsure, batch))
        assert len(set(expert.asked)) == len(expert.asked) == resumed.n_questions_

    @pytest.mark.parametrize("batch", [1, 6])
    def test_undone_and_answered_again(self, batch):
        """What was taken back is unknown and asked again; whoever resumes comes to the same."""
        expert = Expert(RESUMED_Y)
        session = answer(Session(RESUMED_X, batch=batch, **OPTIONS), expert, waves=30)
        before = session.clusters()
        answer(session, expert, waves=5)
        asked = [(line.a, line.b) for line in session.ledger.lines()]
        taken = session.undo(session.n_questions - before.n_questions_)
        assert taken >= 5
        assert session.n_questions == before.n_questions_
        known = [set(rows.tolist()) for rows in before.members_]
        for rows in session.clusters().members_:
            assert any(set(rows.tolist()) <= cluster for cluster in known)
        assert tuple(session.pending()[0].tolist()) in asked[-taken:]
        with Session(RESUMED_X, batch=batch, ledger=session.ledger, **OPTIONS) as resumed:
            assert_same_all(session.clusters(), resumed.clusters())
            np.testing.assert_array_equal(session.pending(), resumed.pending())
        found = answer(session, expert).clusters()
        assert all(np.unique(RESUMED_Y[rows]).size == 1 for rows in found.members_)
        assert found.n_discovered_ == uninterrupted(0.0, batch).n_discovered_

    def test_undoing_a_merge_separates_the_clusters(self):
        X, y = scattered()
        n_merges = 0
        for seed in range(10):
            expert, session = Expert(y), Session(X, "focused", random_state=seed, budget=300)
            before = 0
            while session.progress.discovered >= before and not session.done:
                before = session.progress.discovered
                answer(session, expert, waves=1)
            if session.progress.discovered < before:
                n_merges += 1
                *_, last = session.ledger.lines()
                session.undo()
                assert last.a not in session.members_of(last.b)
                assert set(session.pending()[0].tolist()) == {last.a, last.b}
        assert n_merges > 0

    @pytest.mark.parametrize("seed", range(5))
    def test_a_forgotten_founder_leaves_its_cluster_to_its_other_member(self, seed):
        X, y = blobs((15,) * 4, spread=2.0)
        expert, session = Expert(y), Session(X, "focused", random_state=seed)
        two = []
        while not two:
            answer(session, expert, waves=1)
            first, *others = session.known_clusters()
            two = [members for members in others if len(members) == 2]
        founder, member = two[0]
        about = {(line.a, line.b) for line in session.ledger.lines() if founder in (line.a, line.b)}
        before = session.progress.discovered
        with session.edit():  # at once, as another server's acts are taken in
            for pair in about:
                session.ledger.retract_pair(*pair)
            session.learn([(member, first[0])], [1])
        assert session.progress.discovered == before - 1
        assert member in session.members_of(first[0])
        assert founder not in np.concatenate(session.known_clusters())
        with Session(X, "focused", random_state=seed, ledger=session.ledger) as resumed:
            assert_same_all(session.clusters(), resumed.clusters())

    @pytest.mark.parametrize("unsure", [0.1, 0.3])
    @pytest.mark.parametrize("batch", [1, 9])
    @pytest.mark.parametrize("certify", ["lazy", "full"])
    def test_unsure_answers(self, unsure, batch, certify):
        X, y = mixture(250, 8, spread=0.3)
        expert = Expert(y, unsure)
        found = answer(
            Session(X, "focused", batch=batch, random_state=0, certify=certify), expert
        ).clusters()
        assert len(set(expert.asked)) == len(expert.asked) == found.n_questions_
        assert found.given_up_.size > 0 or unsure < 0.3  # of few UNSURE, none may be left
        assert (found.labels_[found.given_up_] == -1).all()
        others = np.setdiff1d(np.arange(250), found.given_up_)
        assert (found.labels_[others] >= 0).all()
        members = np.concatenate(found.members_)
        assert np.unique(members).size == members.size
        assert not np.intersect1d(members, found.given_up_).size
        assert all(np.unique(y[rows]).size == 1 for rows in found.members_)

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("batch", [1, 3])
    def test_no_unsure_pair_comes_back(self, seed, batch):
        """Not even where no ledger stands between the flow and who answers."""
        X, y = mixture(110, 20, d=5, spread=1.0, seed=seed)
        expert, params = Expert(y, 0.15), FocusedParams(batch=batch)
        drive(Focused(ArrayPoints(X), params, np.random.default_rng(seed)).run(), expert)
        assert len(set(expert.asked)) == len(expert.asked)

    def test_nobody_can_tell_anything(self):
        X, _ = mixture(60, 3)
        found = solve(
            X, lambda pairs: np.full(len(pairs), UNSURE), algorithm="focused", random_state=0
        )
        assert found.n_discovered_ == 1
        assert found.given_up_.size == 59
        assert found.stop_reason_ == "exhausted"


@pytest.fixture(scope="module")
def found():
    X, y = mixture(800, 12, spread=0.3)
    return solve(X, LabelOracle(y), algorithm="focused", budget=300, random_state=0)


class TestResult:
    def test_saved_and_loaded(self, found, tmp_path):
        found.save(tmp_path / "found.npz")
        loaded = Clusters.load(tmp_path / "found.npz")
        assert_same_all(loaded, found)
        assert str(loaded.certificate_) == str(found.certificate_)
        new = np.random.default_rng(1).uniform(0, 5, (50, 3))
        np.testing.assert_array_equal(loaded.predict(new), found.predict(new))

    def test_predicts_new_rows_from_the_labelled_ones(self, found):
        X, _ = mixture(800, 12, spread=0.3)
        prototypes, clusters = found.prototypes_
        assert len(prototypes) == len(clusters) == sum(map(len, found.members_))
        new = np.random.default_rng(1).uniform(0, 5, (200, 3))
        nearest = ((new[:, None] - prototypes) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(found.predict(new), clusters[nearest])
        for cluster, rows in enumerate(found.members_):
            assert (found.predict(X[rows]) == cluster).all()
            assert (found.labels_[rows] == cluster).all()

    def test_labels_are_better_than_the_nearest_centre(self):
        """Nested shells, which no centre can tell apart."""
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=900)
        directions = rng.normal(size=(900, 2))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        X = directions * (1 + 2 * y + rng.uniform(-0.3, 0.3, 900))[:, None]
        found = solve(X, LabelOracle(y), algorithm="focused", budget=250, random_state=0)
        classes = np.array([y[rows[0]] for rows in found.members_])
        assert (classes[found.labels_] == y).mean() > 0.95

    @pytest.mark.parametrize("batch", [1, 16])
    def test_certified(self, batch):
        X, y = mixture(3000, 6, d=4, spread=0.15, seed=1)
        found = solve(
            X,
            LabelOracle(y),
            algorithm="focused",
            stop="certified",
            tolerance=0.05,
            batch=batch,
            random_state=0,
        )
        assert found.stop_reason_ == "certified"
        assert max(found.certificate_.undiscovered, found.certificate_.wrong) <= 0.05
        classes = np.array([y[rows[0]] for rows in found.members_])
        assert (classes[found.labels_] != y).mean() <= found.certificate_.wrong
        assert (~np.isin(y, classes)).mean() <= found.certificate_.undiscovered
        assert found.n_questions_ < 1500

    @pytest.mark.parametrize("places", [500, 10])
    def test_says_what_it_cannot_tell_apart(self, places):
        """Two classes in the same place, and on the same rows."""
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(places, 2)), 500 // places, axis=0)
        y = rng.integers(2, size=500)
        found = solve(X, LabelOracle(y), algorithm="focused", budget=300, random_state=0)
        assert any("could not be told apart" in note for note in found.notes_)

    def test_says_nothing_where_it_can(self):
        X, y = blobs((200, 200, 200))
        found = solve(X, LabelOracle(y), algorithm="focused", budget=300, random_state=0)
        assert found.notes_ == []


@pytest.mark.parametrize("part", PARTS)
def test_finds_separable_blobs_without_any_one_part(part):
    X, y = blobs((60, 40, 25), seed=4)
    found = answer(Session(X, "focused", without=part, random_state=0), Expert(y)).clusters()
    assert_recovered(found, X, y)


def test_many_rows():
    """Too many for a graph: Voronoi cells predict, and the questions stay few."""
    X, y = blobs((20_000, 11_000, 4_000, 50), spread=1.0)
    found = solve(X, LabelOracle(y), algorithm="focused", budget=300, random_state=0)
    classes = np.array([y[rows[0]] for rows in found.members_])
    assert sorted(classes) == [0, 1, 2, 3]
    assert (classes[found.labels_] == y).all()
    assert_recovered(found, X, y)


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (ValueError, {"certify": "often"}, "certify must be one of 'lazy', 'full', got 'often'"),
        (
            ValueError,
            {"stop": "never"},
            "stop must be one of 'reducible', 'certified', got 'never'",
        ),
        (ValueError, {"tolerance": 0}, r"tolerance must be a number in \(0, 1\], got 0"),
        (ValueError, {"without": ("graph", "x")}, "without must be one of 'explore', .*, got 'x'"),
        (TypeError, {"heavy": 3}, "'focused' has no parameter 'heavy'"),
        (
            TypeError,
            {"algorithm": "basic", "certify": "full"},
            "'basic' has no parameter 'certify'",
        ),
    ],
)
def test_wrong_parameters_are_named(error, options, message):
    with pytest.raises(error, match=message):
        Session(np.zeros((2, 1)), **{"algorithm": "focused"} | options)
