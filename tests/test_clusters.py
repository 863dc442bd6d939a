"""The result: numbering, prediction, classification, tables, files."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from conftest import Expert, answer, assert_same_clusters, blobs
from samekind import Clusters, LabelOracle, Session, solve
from samekind.algorithms import find_algorithm
from samekind.clusters import STOP_REASONS
from samekind.points import ArrayPoints

X, Y = blobs((60, 40, 20), seed=4)
NEW_X, NEW_Y = blobs((7, 5, 3), seed=9)
BOTH = np.concatenate([Y, NEW_Y])


@pytest.fixture(scope="module")
def found():
    """All three kinds recovered, not every row known."""
    return solve(X, LabelOracle(Y), algorithm="basic", random_state=0, epsilon=0.5)


@pytest.fixture(scope="module")
def partly():
    """One kind recovered, another only discovered."""
    session = Session(X, "basic", random_state=0)
    while len(session.clusters().centers_) < 1 or session.clusters().n_discovered_ < 2:
        answer(session, Expert(Y), waves=1)
    return session.clusters()


def nothing():
    """Return the result of a session whose only row was never drawn."""
    return Clusters(
        _centers=np.empty((0, 2)),
        n_recovered_=0,
        members_=[],
        given_up_=np.empty(0, dtype=np.intp),
        n_questions_=0,
        n_samples_=0,
        n_rounds_=0,
        history_={"questions": np.zeros(0, dtype=np.int64)},
        stop_reason_=None,
        sampling_time_=0.0,
        contradictions_=[],
        notes_=[],
        algorithm_="basic",
        random_state_=0,
        n_rows_=5,
    )


class TestNumbering:
    def test_recovered_first(self, partly):
        assert partly.n_recovered_ == 1
        assert partly.n_discovered_ >= 2
        assert partly.centers_.shape == (1, 2)
        assert partly.all_centers_.shape == (partly.n_discovered_, 2)
        own = Y[partly.members_[0][0]] == Y
        assert np.linalg.norm(partly.centers_[0] - X[own].mean(axis=0)) < 0.3
        assert 5 <= len(partly.members_[0]) <= 60

    def test_in_the_order_of_recovery(self, found):
        recovered = found.history_["recovered"]
        assert recovered[0] == 0
        assert recovered[-1] == found.n_recovered_ == 3
        assert (np.diff(recovered) >= 0).all()
        kinds = [Y[members[0]] for members in found.members_]
        assert sorted(kinds) == [0, 1, 2]

    def test_by_hand(self):
        """Of kinds 0, 1 and 2, the last was recovered first, then the first."""
        points = ArrayPoints([[0.0], [10.0], [20.0], [12.0], [19.0], [16.0]])
        algorithm = find_algorithm("basic")
        run = algorithm(points, algorithm.Params(), np.random.default_rng(0))
        kinds = run.state
        for row in range(3):
            kinds.discover(row, np.array([10.0 * row]))
        kinds.add_members(np.array([4]), np.array([0]))
        kinds.recover([2])
        kinds.recover([0])
        result = Clusters.from_snapshot(
            run.snapshot(),
            points,
            algorithm_="basic",
            random_state_=0,
            n_questions_=7,
            history_={},
            stop_reason_=None,
            contradictions_=[],
        )
        assert result.all_centers_.tolist() == [[20.0], [0.0], [10.0]]
        assert result.centers_.tolist() == [[20.0], [0.0]]
        assert [members.tolist() for members in result.members_] == [[2], [0, 4], [1]]
        assert result.labels_.tolist() == [1, 2, 0, 2, 1, 0]  # row 4 is known, 5 nearest to 20
        assert result.predict([[19.0]]).tolist() == [0]

    def test_history_grows_to_the_totals(self, found):
        assert list(found.history_) == ["questions", "samples", "discovered", "recovered"]
        for name, values in found.history_.items():
            assert (np.diff(values) >= 0).all()
            assert values[-1] == getattr(found, f"n_{name}_")

    def test_a_result_does_not_change_with_its_session(self):
        session = answer(Session(X, "basic", random_state=0), Expert(Y), waves=5)
        early = session.clusters()
        members = [rows.tolist() for rows in early.members_]
        centers = early.all_centers_.copy()
        answer(session, Expert(Y))
        assert [rows.tolist() for rows in early.members_] == members
        np.testing.assert_array_equal(early.all_centers_, centers)


class TestLabels:
    def test_of_known_rows_are_what_was_answered(self, partly):
        for cluster, members in enumerate(partly.members_):
            assert (partly.labels_[members] == cluster).all()

    def test_of_other_rows_are_the_nearest_centre(self, found):
        cluster_of = np.array([Y[members[0]] for members in found.members_])
        np.testing.assert_array_equal(cluster_of[found.labels_], Y)
        np.testing.assert_array_equal(found.predict(X), found.labels_)

    def test_of_rows_given_up(self):
        result = solve(X[:9], Expert(Y[:9], unsure=1.0), random_state=0)
        assert (result.labels_[result.given_up_] == -1).all()
        assert (result.labels_ == -1).all()  # "not sure" makes nothing a cluster

    def test_columns_must_agree(self, found):
        with pytest.raises(
            ValueError, match=r"X has 3 columns, but the clusters were found in 2\."
        ):
            found.predict(np.zeros((1, 3)))
        with pytest.raises(ValueError, match="X has 1 columns"):
            found.classify([[0.0]], Expert(Y))


class TestClassify:
    def kinds(self, found):
        return np.array([Y[members[0]] for members in found.members_])

    def test_new_rows_cost_one_question_each(self, found):
        expert = Expert(BOTH)
        result = found.classify(NEW_X, expert)
        np.testing.assert_array_equal(self.kinds(found)[result.labels], NEW_Y)
        assert result.n_asked.tolist() == [1] * 15
        assert len(expert.asked) == 15
        assert {row for wave in expert.waves for row in wave[:, 0]} == set(range(120, 135))

    @pytest.mark.parametrize("batch", [1, 4, 1000])
    def test_in_batches(self, found, batch):
        expert = Expert(BOTH)
        result = found.classify(NEW_X, expert, batch=batch)
        np.testing.assert_array_equal(self.kinds(found)[result.labels], NEW_Y)
        assert max(len(wave) for wave in expert.waves) <= batch

    def test_known_rows_cost_nothing(self, found):
        expert = Expert(Y)
        result = found.classify(X, expert, rows=np.arange(120))
        np.testing.assert_array_equal(self.kinds(found)[result.labels], Y)
        known = np.concatenate(found.members_)
        assert (result.n_asked[known] == 0).all()
        assert result.n_asked.sum() == len(expert.asked) == 120 - known.size

    def test_a_row_of_no_cluster_has_asked_all(self, found):
        expert = Expert(np.append(Y, 99))
        result = found.classify([[0.0, 0.0]], expert)
        assert result.labels.tolist() == [-1]
        assert result.n_asked.tolist() == [3]

    def test_in_the_order_of_the_clusters(self, found):
        first = [members[0] for members in found.members_]
        expert = Expert(np.append(Y, 99))
        found.classify([[0.0, 0.0]], expert, order="index")
        assert [wave[0, 1] for wave in expert.waves] == first

    def test_rows_the_oracle_is_unsure_of(self, found):
        result = found.classify(NEW_X, Expert(BOTH, unsure=1.0), patience=2)
        assert (result.labels == -2).all()
        assert (result.n_asked == 2).all()

    def test_a_row_of_which_a_cluster_is_unsure_is_not_in_none(self):
        """One known row a cluster, unsure of one, refused by the other: nobody knows."""
        result = solve([[0.0], [9.0]], LabelOracle([0, 1]), random_state=0)
        expert = Expert([0, 1, 0])
        expert.says = lambda a, b: -1 if a == 0 else 0
        said = result.classify([[1.0]], expert)
        assert said.n_asked.tolist() == [2]
        assert said.labels.tolist() == [-2]

    def test_a_function_of_two_rows_may_answer_as_in_solve(self, found):
        result = found.classify(NEW_X, lambda a, b: bool(BOTH[a] == BOTH[b]))
        np.testing.assert_array_equal(self.kinds(found)[result.labels], NEW_Y)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"rows": [0, 1]}, r"rows must be 15 numbers, got shape \(2,\)"),
            ({"rows": [-1] * 15}, "rows"),
            ({"rows": [0.5] * 15}, "rows"),
            ({"order": "random"}, "order must be one of 'nearest', 'index', got 'random'"),
            ({"patience": 0}, "patience must be a positive int, got 0"),
            ({"batch": 0}, "batch must be a positive int, got 0"),
        ],
    )
    def test_wrong_parameters_are_named(self, found, options, message):
        with pytest.raises(ValueError, match=message):
            found.classify(NEW_X, Expert(BOTH), **options)


class TestTables:
    def test_rows(self, partly):
        frame = partly.to_frame()
        assert frame.columns.tolist() == ["row", "cluster", "known", "recovered"]
        np.testing.assert_array_equal(frame["row"], np.arange(120))
        np.testing.assert_array_equal(frame["cluster"], partly.labels_)
        assert frame["known"].sum() == sum(map(len, partly.members_))
        np.testing.assert_array_equal(frame["recovered"], partly.labels_ == 0)

    def test_centers(self, partly):
        frame = partly.centers_frame()
        assert frame.columns.tolist() == ["cluster", "recovered", "known_rows", "x0", "x1"]
        assert frame["recovered"].tolist() == [True] + [False] * (partly.n_discovered_ - 1)
        np.testing.assert_array_equal(frame[["x0", "x1"]].to_numpy(), partly.all_centers_)
        named = partly.centers_frame(["width", "height"])
        assert named.columns.tolist()[3:] == ["width", "height"]
        assert isinstance(frame, pd.DataFrame)

    def render(self, clusters):
        console = Console(file=StringIO(), width=80, color_system=None)
        console.print(clusters)
        return console.file.getvalue()

    def test_summary_at_80_columns(self, found):
        text = self.render(found)
        assert max(map(len, text.splitlines())) <= 80
        assert "clusters recovered" in text
        assert STOP_REASONS[found.stop_reason_] in text
        assert "rows given up" not in text

    def test_summary_shows_what_went_wrong(self):
        session = Session(X[:9], random_state=0)
        session.learn([[0, 1]], [1], who="[/ann]")
        session.learn([[0, 1]], [0], who="bob")
        answer(session, Expert(Y, unsure=1.0))
        text = self.render(session.clusters())
        assert "contradiction" in text
        assert "0 = 1 ([/ann]), 0 ≠ 1 (bob)" in text


class TestFiles:
    def test_round_trip(self, found, partly, tmp_path):
        for i, clusters in enumerate((found, partly, nothing())):
            path = tmp_path / f"{i}.clusters"
            clusters.save(path)
            assert path.exists()  # under the name it was given
            loaded = Clusters.load(path)
            assert_same_clusters(loaded, clusters)
            assert loaded.sampling_time_ == clusters.sampling_time_
            np.testing.assert_array_equal(loaded.predict(X), clusters.predict(X))
            assert repr(loaded) == repr(clusters)

    def test_labels_are_saved_if_computed(self, tmp_path):
        clusters = solve(X, LabelOracle(Y), algorithm="batched", random_state=0)
        clusters.save(tmp_path / "without.npz")
        labels = clusters.labels_
        clusters.save(tmp_path / "with.npz")
        np.testing.assert_array_equal(Clusters.load(tmp_path / "with.npz").labels_, labels)
        with pytest.raises(AttributeError, match=r"without the labels.* Call predict\(X\)"):
            _ = Clusters.load(tmp_path / "without.npz").labels_

    def test_nothing_in_the_file_is_a_pickle(self, found, tmp_path):
        """P31: neither in the file nor run from it."""
        found.save(tmp_path / "c.npz")
        with np.load(tmp_path / "c.npz", allow_pickle=False) as file:
            assert all(file[name].dtype != object for name in file.files)

    def test_a_pickle_is_not_run(self, tmp_path):
        """P31: whatever is in the file."""

        class Bomb:
            def __reduce__(self):
                return (tmp_path.joinpath("ran").touch, ())

        np.savez(tmp_path / "c.npz", meta=np.array([Bomb()], dtype=object))
        with pytest.raises(ValueError, match="does not hold saved clusters"):
            Clusters.load(tmp_path / "c.npz")
        (tmp_path / "d.npz").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ValueError, match="does not hold saved clusters"):
            Clusters.load(tmp_path / "d.npz")
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize("damage", ["half", "flipped", "text", "part"])
    def test_what_is_not_a_result(self, found, tmp_path, damage):
        path = tmp_path / "c.npz"
        found.save(path)
        whole = path.read_bytes()
        if damage == "part":
            np.savez(path, meta=np.array(json.dumps({"format": 1})))
        else:
            middle = len(whole) // 3
            path.write_bytes(
                {
                    "half": whole[: len(whole) // 2],
                    "flipped": whole[:middle]
                    + bytes(255 - b for b in whole[middle:])[:99]
                    + whole[middle + 99 :],
                    "text": b"hello",
                }[damage]
            )
        with pytest.raises(ValueError, match=r"c\.npz does not hold saved clusters"):
            Clusters.load(path)

    @pytest.mark.skipif(sys.platform != "linux", reason="the most memory used is read from /proc")
    def test_a_small_file_that_unpacks_to_gigabytes(self, found, tmp_path):
        """P29: Measured in a process of its own: loading takes no more memory than it had before."""
        path = tmp_path / "bomb.npz"
        found.save(path)
        with (
            zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
            archive.open("history_zeros.npy", "w", force_zip64=True) as member,
        ):
            header = {"descr": "<i8", "fortran_order": False, "shape": (50_000_000,)}
            np.lib.format.write_array_header_1_0(member, header)
            for _ in range(100):
                member.write(bytes(4_000_000))
        assert path.stat().st_size < 2**20
        code = (
            "import re, sys; from samekind import Clusters\n"
            "def peak():\n"  # of this program: getrusage has that of the one which started it, too
            "    return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
            "before = peak()\n"
            "try: Clusters.load(sys.argv[1])\n"
            "except ValueError as error: print(error)\n"
            "print(peak() - before)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        words, grown = done.stdout.splitlines()
        assert "would take 381 MB of memory" in words
        assert "pass max_bytes=40" in words
        assert int(grown) * 1024 < 400_000_000 / 10
        assert Clusters.load(path, max_bytes=500_000_000).n_discovered_ == found.n_discovered_
        with pytest.raises(ValueError, match="would take"):
            Clusters.load(path, max_bytes=1_000_000)

    @pytest.mark.parametrize(
        ("name", "change", "words"),
        [
            ("labels", lambda a: np.where(np.arange(a.size) == 3, 10**9, a), "labels has the number 10{9}"),
            ("labels", lambda a: a.astype(float), "labels is an array of float64"),
            ("members", lambda a: a + 10**9, "members has the number 10{5}"),
            ("member_counts", lambda a: np.roll(np.append(a[:-1] - 1, a[-1:]), 1), "which members"),
            ("prototype_clusters", lambda a: a + 10**9, "prototype_clusters has the number"),
            ("given_up", lambda a: np.array([10**9]), "given_up has the number"),
        ],
    )  # fmt: skip
    def test_numbers_of_clusters_and_rows_that_are_not_there(self, tmp_path, name, change, words):
        clusters = solve(X, LabelOracle(Y), random_state=0)
        clusters.save(tmp_path / "c.npz")
        with np.load(tmp_path / "c.npz") as file:
            arrays = dict(file)
        np.savez(tmp_path / "d.npz", **arrays | {name: change(arrays[name])})
        with pytest.raises(ValueError, match=rf"does not hold saved clusters: .*{words}"):
            Clusters.load(tmp_path / "d.npz")

    def test_an_array_that_lies_about_its_size(self, found, tmp_path):
        """P29: the size that it declares."""
        found.save(tmp_path / "c.npz")
        with (
            zipfile.ZipFile(tmp_path / "c.npz", "a") as archive,
            archive.open("history_zeros.npy", "w") as member,
        ):
            header = {"descr": "<i8", "fortran_order": False, "shape": (10**12,)}
            np.lib.format.write_array_header_1_0(member, header)
        with pytest.raises(ValueError, match=r"history_zeros\.npy says that it has another size"):
            Clusters.load(tmp_path / "c.npz")

    def test_of_a_newer_version(self, tmp_path):
        np.savez(tmp_path / "c.npz", meta=np.array(json.dumps({"format": 4})))
        with pytest.raises(ValueError, match=r"newer samekind\. Update samekind"):
            Clusters.load(tmp_path / "c.npz")

    def test_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Clusters.load(tmp_path / "nowhere.npz")
