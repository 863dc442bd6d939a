"""Suggestions: clusters that may be one, rows that look wrong, are of their own, or nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

from samekind import Session
from samekind.algorithms.focused.cluster_pairs import ClusterPairs
from samekind.algorithms.focused.mergers import likely_mergers
from samekind.data import load
from samekind.project import Project, ProjectError
from test_project import KINDS, ROWS, answer, cluster_of


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


@pytest.fixture
def project(file):
    return Project(load(file), random_state=0)


def of(project, what):
    return [one for one in project.suggestions() if one.what == what]


class TestLikelyMergers:
    def pairs(self, similarities, outcomes=()):
        pairs = ClusterPairs()
        for _ in similarities:
            pairs.add_cluster()
        pairs.set_similarities(np.array(similarities))
        pairs.outcomes += outcomes
        return pairs

    SIMILAR = ((0.0, 0.8, 0.05), (0.8, 0.0, 0.6), (0.05, 0.6, 0.0))

    def test_the_more_similar_the_likelier(self):
        found = likely_mergers(self.pairs(self.SIMILAR), np.array([10, 10, 10]))
        assert [pair[:2] for pair in found] == [(0, 1), (1, 2)]
        chances = [chance for *_, chance in found]
        assert chances == sorted(chances, reverse=True)

    def test_outcomes_teach_what_a_similarity_means(self):
        sizes = np.array([10, 10, 10])
        alike = [(0.8, True)] * 20 + [(0.6, True)] * 10
        apart = [(0.8, False)] * 20 + [(0.6, False)] * 10
        before, likely, unlikely = (
            likely_mergers(self.pairs(self.SIMILAR, outcomes), sizes)[0:1]
            for outcomes in ([], alike, apart)
        )
        assert likely[0][2] > before[0][2]
        assert likely[0][2] > 0.8
        assert not unlikely or unlikely[0][2] < 0.2

    def test_what_concerns_most_rows_comes_first(self):
        found = likely_mergers(self.pairs(self.SIMILAR), np.array([1, 900, 900]))
        assert found[0][:2] == (1, 2)

    def test_outcomes_are_noted_once(self):
        pairs = self.pairs(self.SIMILAR)
        pairs.separate(0, 1)
        pairs.separate(1, 0)
        pairs.merge(1, 2)
        assert pairs.outcomes == [(0.8, False), (0.6, True)]
        assert likely_mergers(pairs, np.array([1, 1, 1])) == []


class TestOfClusters:
    def halves(self, seed=0):
        """Answer about two clusters that are one kind to nobody who was asked, and overlap fully."""
        rng = np.random.default_rng(seed)
        return rng.normal(size=(300, 2)), rng.permutation(np.arange(300) % 2)

    def test_overlapping_clusters_are_suggested(self):
        X, y = self.halves()
        session = Session(X, random_state=0, goal="labels", budget=80, without=("merge",))
        while len(pairs := session.pending()):
            session.tell(pairs, y[pairs[:, 0]] == y[pairs[:, 1]])
        found = session.clusters()
        assert all(one.what in ("merge", "wrong") for one in found.suggestions_)

    def test_a_row_in_the_wrong_cluster_looks_wrong(self):
        session = Session(ROWS, algorithm="basic", random_state=0, budget=300)
        kinds = KINDS.copy()
        kinds[7] = 3  # somebody errs about one row, consistently
        while len(pairs := session.pending()):
            session.tell(pairs, kinds[pairs[:, 0]] == kinds[pairs[:, 1]])
        found = session.clusters()
        wrong = [one for one in found.suggestions_ if one.what == "wrong"]
        if session.members_of(7):
            assert [one.row for one in wrong] == [7]
            assert wrong[0].probability > 0.5
        else:
            assert wrong == []

    def test_nothing_looks_wrong_where_nothing_is(self):
        session = Session(ROWS, random_state=0, budget=150, goal="labels")
        while len(pairs := session.pending()):
            session.tell(pairs, KINDS[pairs[:, 0]] == KINDS[pairs[:, 1]])
        assert session.clusters().suggestions_ == []


class TestNamesakes:
    def test_kinds_of_one_name_are_suggested_to_be_one_and_no_is_remembered(self, project):
        answer(project, 60)
        first, second = cluster_of(project, 0), cluster_of(project, 1)
        project.rename(first, "Cards", who="ann")
        project.rename(second, "cards", who="ann")
        assert of(project, "merge") == []  # they were told apart by answers

    def test_yes_makes_them_one_and_can_be_undone(self, project):
        answer(project, 60)
        project.merge([cluster_of(project, 0), cluster_of(project, 1)], who="ann")
        project.undo(who="ann")
        before = len(project.overview().clusters)
        a, b = (next(k for k in project.overview().clusters if k.number == n) for n in (1, 2))
        project.decide({f"merge-{a.cluster}.{b.cluster}": "yes"}, who="ann")
        found = {k.number for k in project.overview().clusters}
        assert len(found) == before - 1
        assert 1 in found
        project.undo(who="ann")
        assert len(project.overview().clusters) == before

    def test_no_keeps_them_apart(self, project):
        answer(project, 8)
        refs = project.overview().clusters
        name = f"merge-{refs[0].cluster}.{refs[1].cluster}"
        project.decide({name: "no"}, who="ann")
        assert name not in [one.id for one in project.suggestions()]
        pair = np.array([[refs[0].cluster, refs[1].cluster]])
        assert project.session.ledger.lookup(pair)[0] == 0

    def test_several_at_once_are_one_act(self, project):
        answer(project, 60)
        refs = sorted(project.overview().clusters, key=lambda ref: ref.number)
        rows = [ref.cluster for ref in refs]
        presses = project.status().presses
        project.decide(
            {f"merge-{rows[0]}.{rows[1]}": "yes", f"merge-{rows[1]}.{rows[2]}": "yes"}, who="ann"
        )
        assert [ref.number for ref in project.refs() if ref.number in (1, 2, 3)] == [1]
        assert project.status().presses == presses + 1
        project.undo(who="ann")
        assert project.status().clusters == 5


class TestRows:
    def test_a_row_that_is_wrong_is_taken_out(self, project):
        answer(project, 60)
        kind = next(k for k in project.overview().clusters if k.known > 3)
        row = project.session.members_of(kind.cluster)[-1]
        project.decide({f"wrong-{row}": "yes"}, who="ann")
        assert row not in project.session.members_of(kind.cluster)
        project.undo(who="ann")
        assert row in project.session.members_of(kind.cluster)

    def test_a_row_that_is_right_is_not_suggested_again(self, project):
        answer(project, 60)
        kind = next(k for k in project.overview().clusters if k.known > 3)
        row = project.session.members_of(kind.cluster)[-1]
        project.decide({f"wrong-{row}": "no"}, who="ann")
        assert row in project._settled_rows()
        assert row in project.session.members_of(kind.cluster)

    def test_rows_that_nobody_could_tell_are_asked_about_again(self, project):
        answer(project, 20)
        [question] = project.next("ann")
        row = int(question.id.split("-")[1])
        for _ in range(5):
            if row in project.clusters().given_up_:
                break
            now = [q for q in project.next("ann", most=9) if int(q.id.split("-")[1]) == row]
            if not now:
                break
            project.answer(now[0].id, "unsure", who="ann")
        if row in project.clusters().given_up_:
            [unsure] = of(project, "unsure")
            project.decide({unsure.id: "yes"}, who="ann")
            assert row not in project.clusters().given_up_


@pytest.mark.parametrize(
    "name", ["", "merge-1", "merge-1.x", "other-1", "wrong-1.2", "merge-1.99999"]
)
def test_nonsense_is_refused(project, name):
    answer(project, 10)
    with pytest.raises(ProjectError):
        project.decide({name: "yes"})
    with pytest.raises(ProjectError):
        project.decide({"merge-0.1": "maybe"})


class TestRowsOfTheirOwn:
    """Rows that nobody has asked about, far from all that is known."""

    @pytest.fixture
    def project(self, tmp_path):
        rng = np.random.default_rng(0)
        self.y = np.repeat([0, 1, 2, 3], [60, 60, 60, 8])
        X = 12.0 * np.eye(4)[self.y] + rng.normal(size=(self.y.size, 4))
        np.save(tmp_path / "rows.npy", X)
        project = Project(load(tmp_path / "rows.npy", standardize=False), random_state=0)
        for kind in range(3):
            project.place_in_new(np.flatnonzero(self.y == kind)[:20].tolist(), f"kind {kind}")
        return project

    def test_they_are_found_and_become_a_cluster(self, project):
        [one, *_] = of(project, "own")
        rows = [item.row for item in one.items]
        assert set(self.y[rows]) == {3}
        assert 3 <= len(rows) <= 8
        before = len(project.clusters().members_)
        assert project.decide({one.id: "yes"}, who="ann") > 0
        assert len(project.clusters().members_) == before + 1
        assert sorted(project.session.members_of(rows[0])) == sorted(rows)
        project.undo(who="ann")
        assert rows[1] not in project.session.members_of(rows[0])

    def test_a_no_says_nothing(self, project):
        [one, *_] = of(project, "own")
        assert project.decide({one.id: "no"}) == 0

    def test_nothing_is_found_where_all_are_near_what_is_known(self, project):
        project.place_in_new(np.flatnonzero(self.y == 3).tolist(), "kind 3")
        assert of(project, "own") == []
