"""The bench of `focused` with wrong answers: one run, its tables, and what it must show."""

import json
import os

import numpy as np
import pytest
from rich.console import Console

import samekind
from samekind.experiments import run_noisy
from samekind.experiments.command import bench as bench_command
from samekind.experiments.noisy_bench import ERRORS, QUESTIONS, budget_of
from samekind.experiments.noisy_readings import COLUMNS, NOISY_READINGS
from samekind.experiments.noisy_run import NoisySetup, follow_noisy, measure
from samekind.experiments.one_run import Instance, draws_seed
from samekind.experiments.scenes import SCENES
from samekind.experiments.studies import Requirement, requirements
from samekind.experiments.study_page import print_study
from samekind.experiments.text import cell_text
from samekind.experiments.truth import Truth


def instance(n=400, k=5):
    made = samekind.datasets.make_synthetic(
        n, n_clusters=k, alpha=0.5, n_features=3, sigma=0.05, random_state=3
    )
    return Instance(*made)


def follow(error, budget, cap=None, data=None):
    setup = NoisySetup("0", None, error, budget, cap or budget)
    return follow_noisy(data or instance(), draws_seed(0), setup, lambda: None)


def printed(study):
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(width=200, record=True, file=nowhere)
        print_study(study, console)
        return console.export_text()


# One run


def test_measures_by_hand():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 1, 2, 2, 2])
    clusters = samekind.solve(X, samekind.LabelOracle(y), budget=3, random_state=0)
    given = {
        **vars(clusters),
        # Most of the first are of 0; half of the second is no majority; the third is of 0 again.
        "members_": [np.array([0, 1, 3]), np.array([4, 5]), np.array([2])],
        "given_up_": np.array([], dtype=np.intp),
        "_labels": {"all": np.array([0, 0, 2, 0, 1, 1, 1, 1])},
    }
    found = measure(samekind.Clusters(**given), Truth(X, y))
    assert (found["found"], found["of"], found["returned"]) == (1, 3, 3)
    ari = samekind.measures.adjusted_rand_index
    assert found["ari"] == pytest.approx(ari(y, given["_labels"]["all"]), abs=1e-6)
    assert found["ari_asked"] == pytest.approx(
        ari([0, 0, 1, 1, 2, 0], [0, 0, 0, 1, 1, 2]), abs=1e-6
    )


def test_a_run_without_errors_is_one_of_focused():
    data = instance()
    run = follow(None, 20, cap=100, data=data)
    clusters = samekind.solve(
        data.points.X,
        data.oracle,
        budget=20,
        batch=1,
        epsilon=None,
        random_state=draws_seed(0),
    )
    assert run["questions"] == 20
    assert run["returned"] == clusters.n_discovered_
    assert run["ari"] == pytest.approx(
        samekind.measures.adjusted_rand_index(data.y, clusters.labels_), abs=1e-6
    )
    assert run["estimated_error"] is None
    assert run["goal_at"] is not None


def test_a_run_without_errors_goes_on_to_the_goal():
    run = follow(None, 2, cap=100)
    assert run["questions"] == 2
    assert run["found"] < run["of"]
    assert run["stop"] == "enough"
    assert 2 < run["goal_at"] < 100


def test_a_run_that_never_reaches_the_goal_ends():
    assert follow(None, 1, cap=2)["goal_at"] is None


def test_errors_are_made_and_estimated():
    data = instance()
    right, wrong = (follow(error, 200, data=data) for error in (0.0, 0.2))
    assert right["stop"] == wrong["stop"] == "budget"
    assert right["questions"] == wrong["questions"] == 200
    assert right["found"] == 5
    assert right["goal_at"] is not None
    assert wrong["goal_at"] is None  # not looked for
    assert right["estimated_error"] < 0.1 < wrong["estimated_error"] < 0.35
    same = follow(0.2, 200, data=data)
    assert {**same, "seconds": 0} == {**wrong, "seconds": 0}
    json.dumps(wrong, allow_nan=False)


def test_all_rows_may_be_settled_before_the_budget():
    run = follow(None, 5_000, data=instance(n=30, k=3))
    assert run["stop"] == "exhausted"
    assert run["questions"] < 5_000


# What is read off


def a_run(**given):
    run = {
        "run": 0,
        "setup": {"budget": 500},
        "questions": 500,
        "found": 9,
        "returned": 12,
        "ari": 0.8,
        "ari_asked": 0.9,
        "estimated_error": 0.12,
        "goal_at": 65,
        "stop": "budget",
    }
    reference = run | {"questions": 100, "found": 10, "goal_at": 50}
    return run | {"reference": reference} | given


def test_readings_by_hand():
    read = {name: reading.value(a_run(), 0.1) for name, reading in NOISY_READINGS.items()}
    assert read == pytest.approx(
        {
            "asked": 500,
            "found": 9,
            "found_without": 10,
            "returned": 12,
            "ari_all": 0.8,
            "ari_asked": 0.9,
            "estimated_error": 12,
            "times_to_goal": 1.3,
            "share_found": 90,
            "times_asked": 5,
            "ended": 100,
        }
    )
    assert set(COLUMNS) < set(read)
    assert NOISY_READINGS["times_to_goal"].value(a_run(goal_at=None), 0) is None
    assert NOISY_READINGS["ended"].value(a_run(stop="enough"), 0.3) == 0
    assert NOISY_READINGS["ended"].value(a_run(questions=501), 0.3) == 0


def test_cells_show_the_standard_deviation():
    reading = NOISY_READINGS["found"]
    cell = reading.cell([a_run(found=found) for found in (8, 9, 10)], 0.1)
    assert (cell["mean"], cell["deviation"]) == (9.0, 1.0)
    assert cell_text(cell, reading.unit) == "9.00 ± 1.00"
    assert cell_text(reading.cell([a_run()], 0.1), reading.unit) == "9.00"
    assert cell_text(reading.cell([], 0.1), reading.unit) == "–"


# The study


def test_required_values():
    values = {(r.data, r.figure, r.at): r.required for r in requirements("noisy")}
    assert len(values) == 12
    for data in QUESTIONS:
        assert data in SCENES
        assert values[data, "times_to_goal", 0.0] == 1.3
        assert values[data, "share_found", 0.1] == 95
        assert values[data, "times_asked", 0.1] == 5
        assert values[data, "share_found", 0.2] == 90
        assert values[data, "times_asked", 0.2] == 10
        assert values[data, "ended", 0.3] == 100
    for one in requirements("noisy"):
        assert one.at in ERRORS
        assert one.reading.better
        if one.figure == "times_asked":
            assert budget_of(one.at, 100) == 100 * one.required


def test_noisy(tmp_path, monkeypatch):
    monkeypatch.setitem(QUESTIONS, "mixture-1", 10)
    asked = (
        Requirement("mixture-1", {}, "times_asked", 0.1, 5),
        Requirement("mixture-1", {}, "share_found", 0.1, 1_000),
        Requirement("mixture-1", {}, "times_to_goal", 0.0, 0.01),  # never so soon
        Requirement("mixture-1", {}, "ended", 0.3, 100),  # not run
    )
    monkeypatch.setattr("samekind.experiments.noisy_bench.requirements", lambda _: asked)
    options = {"data": ["mixture-1"], "errors": [0.1, 0], "n": 300, "jobs": 1, "out": tmp_path}
    study = run_noisy(runs=2, **options)
    assert json.loads((tmp_path / "noisy.json").read_text("utf-8")) == study
    assert (study["errors"], study["questions"]) == ([0.0, 0.1], {"mixture-1": 10})
    rows = study["datasets"]["mixture-1"]["rows"]
    assert list(rows) == ["focused", "focused, p=0", "focused, p=0.1"]
    assert [cells[0]["mean"] for cells in rows.values()] == [10, 50, 50]
    said = {name: [cell["runs"] > 0 for cell in cells] for name, cells in rows.items()}
    places = [COLUMNS.index(name) for name in ("estimated_error", "times_to_goal")]
    assert [[row[place] for place in places] for row in said.values()] == [
        [False, False],
        [True, True],
        [True, False],
    ]
    found = rows["focused"][COLUMNS.index("found")]
    assert rows["focused, p=0.1"][COLUMNS.index("found_without")]["mean"] == found["mean"]
    assert [one["met"] for one in study["requirements"]] == [True, False, False]
    text = printed(study)
    assert "standard deviation" in text
    assert "rank^-1: true clusters found, of those without errors, % (p=0.1)" in text
    assert "≤ 5.00" in text
    page = (tmp_path / "noisy.html").read_text("utf-8")
    assert "when answers are wrong" in page
    assert "missed" in page
    before = (tmp_path / "runs.jsonl").read_bytes()
    assert run_noisy(runs=2, **options) == study
    assert (tmp_path / "runs.jsonl").read_bytes() == before  # nothing was done again


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["shuttle"]}, "data must be one of"),
        ({"runs": 0}, "runs must be a positive int"),
        ({"errors": [0.5]}, "errors must be numbers from 0 to below 0.5, got 0.5"),
        ({"errors": []}, "errors names no share"),
        ({"n": 10}, "n must be an int of at least 100"),
    ],
)
def test_mistakes_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        run_noisy(**{"out": tmp_path / "never"} | options)
    assert not (tmp_path / "never").exists()


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(QUESTIONS, "mixture-1", 10)
    options = {"runs": 1, "jobs": 1, "n": 300, "out": tmp_path}
    assert bench_command("noisy", data=["mixture-1"], errors=["0,0.3"], **options) == 0
    out = capsys.readouterr().out
    assert "noisy.html" in out
    assert "the run ends within its budget" in out
    assert bench_command("noisy", errors=["many"], out=tmp_path) == 2
    assert "--errors must be numbers such as 0.1, got 'many'" in capsys.readouterr().err
    assert bench_command("focused", errors=["0.1"], out=tmp_path) == 2
    assert "focused takes no --errors" in capsys.readouterr().err
