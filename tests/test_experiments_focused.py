"""The bench of `focused`: how a run is followed, its tables, what it must show, and its parts."""

import json
import os

import numpy as np
import pytest
from rich.console import Console

import samekind
from samekind.algorithms.focused import PARTS
from samekind.experiments import BenchError, run_ablation, run_bench, run_focused, run_peers
from samekind.experiments.command import bench as bench_command
from samekind.experiments.follow import FocusedSetup, follow, look
from samekind.experiments.one_run import Instance, draws_seed
from samekind.experiments.page import page_of
from samekind.experiments.plan import make_focused_setup
from samekind.experiments.readings import AT_MARKS, READINGS
from samekind.experiments.scenes import GROUPS, SCENES
from samekind.experiments.studies import ABLATION, VARIANTS, Requirement, name_of, requirements
from samekind.experiments.study_page import print_study, study_page
from samekind.experiments.summary import summarize_scene
from samekind.experiments.tables import print_tables
from samekind.experiments.text import cell_text
from samekind.experiments.truth import Truth

MARKS = (20, 40, 60)


def blobs(n=400, k=5):
    return samekind.datasets.make_synthetic(
        n, n_clusters=k, alpha=0.5, n_features=3, sigma=0.2, random_state=3
    )


def printed(show, *given):
    console = Console(width=140, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    show(*given, console)
    console.file.close()
    return console.export_text()


@pytest.fixture(scope="module")
def followed():
    X, y = blobs()
    setup = FocusedSetup("0", None, MARKS, per_point=True)
    return Instance(X, y), setup, follow(Instance(X, y), draws_seed(0), setup, lambda: None)


# The truth


def test_errors_are_those_of_the_measures():
    X, y = blobs()
    X = np.vstack([X, np.ones((3, 3))])  # a cluster in one place
    y = np.append(y, [7, 7, 7])
    centers = np.vstack([X[:5], [[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.1]]])
    codes = [0, 1, 2, 3, 4, 5, 5]
    labels = np.unique(y)[codes]
    found = Truth(X, y).errors(centers, codes)
    np.testing.assert_allclose(found, samekind.measures.centroid_errors(X, y, centers, labels))
    assert found[-2] == 0.0
    assert found[-1] == np.inf
    assert Truth(X, y).errors(np.zeros((0, 3)), []).size == 0


# One run


def test_a_run_is_followed(followed):
    data, _, run = followed
    assert [one["at"] for one in run["looks"]] == list(MARKS)
    assert [one["questions"] for one in run["looks"]] == list(MARKS)
    assert run["questions"] == MARKS[-1]
    last = run["looks"][-1]
    assert last["of"] == data.n_kinds == last["discovered"] == len(run["discovered_at"])
    assert len(run["recovered_at"]) >= last["recovered"]
    for name in ("rounds_at", "seconds_at", "median_error_at"):
        assert len(run[name]) == len(run["recovered_at"])
    for name in ("recovered_at", "discovered_at", "seconds_at"):
        assert run[name] == sorted(run[name])
    assert sum(run["per_point"]["shares"]) == pytest.approx(1.0)
    json.dumps(run, allow_nan=False)


def test_discoveries_are_counted_question_by_question(followed):
    _, _, run = followed
    for one in run["looks"]:
        assert one["discovered"] == np.searchsorted(run["discovered_at"], one["at"], "right")


def test_looks_are_what_a_run_of_that_budget_returns(followed):
    data, _, run = followed
    clusters = samekind.solve(
        data.points.X,
        samekind.LabelOracle(data.y),
        algorithm="focused",
        budget=MARKS[0],
        batch=1,
        epsilon=None,
        random_state=draws_seed(0),
    )
    first = run["looks"][0]
    kinds = data.y[[members[0] for members in clusters.members_]]
    X, y, centers = data.points.X, data.y, clusters.all_centers_
    assert first["discovered"] == len(set(kinds))
    assert first["provisional"] == len(kinds) - len(set(kinds))
    assert first["recovered"] == len(set(kinds[: clusters.n_recovered_]))
    assert first["accurate"] == samekind.measures.recovery_count(X, y, centers, kinds)
    assert first["ari"] == pytest.approx(
        samekind.measures.adjusted_rand_index(y, clusters.labels_), abs=1e-6
    )
    assert first["wrong"] == pytest.approx(np.mean(kinds[clusters.labels_] != y))
    assert first["undiscovered"] == pytest.approx(np.mean(~np.isin(y, kinds)))
    assert first["unproven"] == len(clusters.unproven_)


def test_provisional_clusters_do_not_count_twice():
    X, y = np.array([[0.0], [0.2], [0.1], [9.0], [9.2], [9.1]]), np.array([0, 0, 0, 1, 1, 1])
    clusters = samekind.solve(X, samekind.LabelOracle(y), budget=4, random_state=0)
    split = {
        **vars(clusters),
        "members_": [np.array([0]), np.array([1]), np.array([3])],
        "all_centers_": np.array([[0.1], [0.5], [9.1]]),
        "n_recovered_": 2,
        "_labels": {"all": np.array([0, 1, 0, 2, 2, 2])},
    }
    found = look(samekind.Clusters(**split), Truth(X, y))
    assert (found["discovered"], found["provisional"]) == (2, 1)
    assert (found["recovered"], found["accurate"], found["mistaken"]) == (1, 2, 0)
    assert found["wrong"] == 0.0  # of rows in either part
    assert found["ari"] < 1.0


def test_marks_after_the_last_row_have_what_there_is_then():
    X, y = blobs(n=30, k=3)
    setup = FocusedSetup("0", None, (10, 5_000))
    run = follow(Instance(X, y), 0, setup, lambda: None)
    assert run["stop"] == "exhausted"
    assert [one["at"] for one in run["looks"]] == [10, 5_000]
    assert run["looks"][1]["questions"] == run["questions"] < 5_000
    assert run["looks"][1]["accurate"] == 3
    assert "per_point" not in run


def test_parameters_reach_the_algorithm():
    X, y = blobs()
    runs = [
        follow(Instance(X, y), 0, FocusedSetup("0", None, (250,), parameters), lambda: None)
        for parameters in ({}, {"without": "audit"}, {"certify": "full"})
    ]
    assert [run["looks"][-1]["audited"] > 0 for run in runs] == [True, False, True]


# What is read off


def a_look(at, **given):
    found = {
        "at": at,
        "questions": at,
        "recovered": 3,
        "mistaken": 1,
        "accurate": 5,
        "discovered": 6,
        "of": 7,
        "provisional": 1,
        "median_error": 0.02,
        "ari": 0.8,
        "unproven": 4,
        "audited": 9,
        "undiscovered_bound": 0.2,
        "undiscovered": 0.1,
        "wrong_bound": 0.3,
        "wrong": 0.1,
        "holds": True,
    }
    return found | given


def a_run(run, looks, recovered_at=(5, 9, 20), discovered_at=(0, 2, 4, 8, 16, 32)):
    k = len(recovered_at)
    return {
        "data": "shuttle",
        "run": run,
        "algorithm": "focused",
        "setup": {"n": None, "marks": [look["at"] for look in looks]},
        "questions": looks[-1]["at"],
        "recovered_at": list(recovered_at),
        "discovered_at": list(discovered_at),
        "rounds_at": list(range(k)),
        "seconds_at": [0.5] * k,
        "median_error_at": [0.04, None, *[0.01] * k][:k],
        "looks": looks,
        "per_point": {"after": 9, "shares": [1.0, 0.0, 0.0], "mean": 1.0, "in_none": 0.0},
    }


def test_readings_by_hand():
    looks = [a_look(100, median_error=None, ari=0.5), a_look(200, accurate=7, ari=0.95)]
    run = a_run(0, looks)
    read = {name: reading.value for name, reading in READINGS.items()}
    assert read["accurate"](run, 100) == 5
    assert read["median_error"](run, 200) == pytest.approx(2.0)
    assert read["median_error"](run, 100) == np.inf
    assert read["holds"](run, 100) == 100.0
    assert read["undiscovered_bound"](run, 100) == pytest.approx(20.0)
    assert (read["all_accurate"](run, 100), read["all_accurate"](run, 200)) == (0.0, 100.0)
    assert read["questions_to_ari"](run, 0.9) == 200
    assert read["questions_to_ari"](run, 0.99) is None
    assert read["questions_to_all"](run, 6) == 32
    assert read["questions_to_all"](run, 7) is None
    assert READINGS["accurate"].text(2_000) == "accurate clusters at 2,000"
    assert READINGS["questions_to_ari"].text(0.9) == "questions until the ARI is 0.9"


def test_runs_that_do_not_get_there_are_said():
    runs = [a_run(0, [a_look(100)]), a_run(1, [a_look(100)], discovered_at=range(7))]
    cell = READINGS["questions_to_all"].cell(runs, 7)
    assert (cell["mean"], cell["reached"], cell["runs"]) == (6.0, 1, 2)
    assert cell_text(cell, "questions") == "6.00 (1 of 2)"
    assert cell_text(READINGS["questions_to_all"].cell(runs, 8), "questions") == "not reached"


# In the tables of the bench


def test_budgets_beyond_its_last_question_are_marked():
    looks = [a_look(1_000), a_look(3_000, recovered=4)]
    data = summarize_scene(SCENES["shuttle"], [a_run(i, looks) for i in range(2)], ["focused"])
    table = data["tables"]["fixed_budget"]
    cells = table["rows"]["focused"]
    assert [cell["mean"] for cell in cells] == [3.0, 4.0, 4.0, 4.0, 4.0]
    assert ["asked" in cell for cell in cells] == [False, True, True, True, True]
    assert cell_text(cells[1], "clusters") == "4.00 ± 0.00 *"
    assert table["remark"] == "* focused asked 3,000 questions only, and has so many then."
    errors = data["tables"]["centroid_error"]["rows"]["focused"]
    assert cell_text(errors[0], "%") == "infinite"  # the second item
    assert errors[1]["mean"] == pytest.approx(1.0)
    assert errors[2]["reached"] == 0
    assert data["curves"]["focused"]["questions"][-1] == 3_000
    assert [grid["title"] for grid in data["focused"]] == list(AT_MARKS)
    assert list(data["focused"][0]["rows"]) == ["1,000", "3,000"]


def test_no_rand_index_of_large_data():
    runs = [a_run(i, [a_look(1_000, ari=None)]) for i in range(2)]
    grid = summarize_scene(SCENES["shuttle"], runs, ["focused"])["focused"][0]
    assert "ARI" not in [column["title"] for column in grid["columns"]]


def test_focused_is_in_terminal_and_page(tmp_path):
    results = run_bench(
        "digits", runs=2, jobs=1, algorithms=["batched", "focused"], points=[30, 60], out=tmp_path
    )
    data = results["datasets"]["digits"]
    assert data["setups"]["focused"]["marks"] == [30, 60]
    assert data["setups"]["batched"]["budget"] == 60
    text = printed(print_tables, results)
    assert "Digits: “focused” with so many questions" in text
    assert "accurate clusters" in text
    page = page_of(results)
    assert "What “focused” promises" in page
    alone = run_bench(
        "digits", runs=2, jobs=1, algorithms=["batched"], points=[30, 60], out=tmp_path
    )
    assert alone["datasets"]["digits"]["focused"] == []
    assert "“focused”" not in printed(print_tables, alone)


@pytest.mark.parametrize("scene", SCENES.values(), ids=lambda scene: scene.name)
def test_marks_fit_the_columns(scene):
    """A column below the last mark must be a mark, or nothing would be known there."""
    assert list(scene.marks) == sorted(set(scene.marks))
    columns = scene.columns("fixed_budget")
    assert {column for column in columns if column <= scene.marks[-1]} <= set(scene.marks)


def test_focused_never_asks_more_than_it_needs():
    scene = SCENES["shuttle"]
    assert make_focused_setup(scene, None, None).marks == scene.marks
    assert make_focused_setup(scene, [10, 5_000, 9_000], None).marks == (10, 3_000)
    assert "mixture-1" not in GROUPS["all"]


def test_focused_stands_beside_the_peers(tmp_path):
    results = run_peers(runs=1, jobs=1, points=[30], data=["digits"], peers=[], out=tmp_path)
    rows = results["datasets"]["digits"]["rows"]
    assert list(rows) == ["samekind focused", "samekind batched"]
    assert rows["samekind focused"]["cells"][0]["questions"]["mean"] == 30
    assert not rows["samekind focused"]["failed"]


# What it must show, and its parts


def test_required_values():
    values = {(r.data, r.name, r.figure, r.at): r.required for r in requirements()}
    full = "focused, certify=full"
    assert values["synthetic-p0", full, "accurate", 10_000] == 95
    assert values["synthetic-p0", "focused", "accurate", 2_000] == 80
    assert values["synthetic-p0.3", "focused", "accurate", 20_000] == 80
    assert values["shuttle", "focused", "median_error", 1_000] == 2
    assert values["banking77", "focused", "discovered", 5_000] == 77
    assert values["mixture-2", "focused", "questions_to_all", 30] == 220
    assert len(values) == 19
    for one in requirements():
        assert one.data in SCENES
        assert one.name in VARIANTS
        assert READINGS[one.figure].better
        assert READINGS[one.figure].counts or one.at in SCENES[one.data].marks


@pytest.mark.parametrize(
    ("figure", "mean", "met"),
    [
        ("accurate", 80.0, True),
        ("accurate", 79.9, False),
        ("accurate", None, False),
        ("median_error", 80.0, True),
        ("median_error", 80.1, False),
    ],
)
def test_when_a_requirement_is_met(figure, mean, met):
    assert Requirement("digits", {}, figure, 100, 80.0).is_met(mean) == met


def test_every_part_is_switched_off_once():
    assert list(VARIANTS.values())[1:-1] == [{"without": part} for part in PARTS]
    assert name_of({}) == "focused"
    for data, asked in ABLATION.items():
        for name, at in asked:
            assert READINGS[name].counts or at in SCENES[data].marks


def test_ablation(tmp_path, monkeypatch):
    monkeypatch.setitem(ABLATION, "digits", (("ari", 60), ("questions_to_all", 10)))
    scene = SCENES["digits"]
    monkeypatch.setitem(SCENES, "digits", type(scene)(**{**vars(scene), "marks": (30, 60)}))
    variants = ["focused", "focused, without=refine"]
    options = {"data": ["digits"], "variants": variants, "jobs": 1, "out": tmp_path}
    study = run_ablation(runs=2, **options)
    assert json.loads((tmp_path / "ablation.json").read_text("utf-8")) == study
    grid = study["datasets"]["digits"]
    assert list(grid["rows"]) == variants
    assert [c["title"] for c in grid["columns"]] == [
        "ARI at 60",
        "questions until discovered are 10",
    ]
    assert all(cell["runs"] == 2 for cells in grid["rows"].values() for cell in cells)
    text = printed(print_study, study)
    assert "without=refine" in text
    assert "without=refine" in (tmp_path / "ablation.html").read_text("utf-8")
    before = (tmp_path / "runs.jsonl").read_bytes()
    assert run_ablation(runs=2, **options) == study
    assert (tmp_path / "runs.jsonl").read_bytes() == before  # nothing was done again


def test_requirements_are_checked(tmp_path, monkeypatch):
    asked = (
        Requirement("digits", {}, "discovered", 60, 1),
        Requirement("digits", {"certify": "full"}, "ari", 40, 1.01),
    )
    monkeypatch.setattr("samekind.experiments.study_bench.requirements", lambda: asked)
    study = run_focused(runs=2, jobs=1, out=tmp_path)
    assert [one["met"] for one in study["requirements"]] == [True, False]
    text = printed(print_study, study)
    assert "Digits: clusters discovered at 60" in text
    assert "(certify=full)" in text
    assert "≥ 1.010" in text
    assert "missed" in study_page(study)
    assert {r["algorithm"]: r["setup"]["marks"] for r in _saved(tmp_path)} == {
        "focused": [60],
        "focused, certify=full": [40],
    }


def _saved(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text("utf-8").splitlines()]


def test_a_study_without_its_data_says_so(tmp_path, monkeypatch):
    def no_data(*_):
        raise samekind.datasets.DataError("nowhere to be found")

    scene = SCENES["shuttle"]
    monkeypatch.setitem(SCENES, "shuttle", type(scene)(**{**vars(scene), "load": no_data}))
    with pytest.raises(BenchError, match="nowhere to be found"):
        run_focused(runs=1, jobs=1, data=["shuttle"], out=tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["nope"]}, "data must be one of"),
        ({"runs": 0}, "runs must be a positive int"),
        ({"variants": ["focused, without=all"]}, "variants must be one of"),
        ({"n": 10}, "n must be an int of at least 100"),
    ],
)
def test_mistakes_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        run_ablation(**{"out": tmp_path / "never"} | options)
    assert not (tmp_path / "never").exists()


def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "samekind.experiments.study_bench.requirements",
        lambda: (Requirement("digits", {}, "discovered", 30, 1),),
    )
    assert bench_command("focused", runs=1, jobs=1, data=["digits"], out=tmp_path) == 0
    assert "focused.html" in capsys.readouterr().out
    assert bench_command("ablation", points=["30"], out=tmp_path) == 2
    assert "ablation takes no --algorithms" in capsys.readouterr().err
