"""Traces of runs, and the studies of `focused`: what it must show, its parts, and wrong answers."""

import json

import numpy as np
import pandas as pd
import pytest

import samekind
from experiments import studies
from experiments.ablation import ABLATION, PARTS, Ablation, AblationSetup, Study, variant, without
from experiments.benchmark_data import DATA
from experiments.certificate import Certificates, HardRows, hard_rows
from experiments.design import run_experiment
from experiments.evaluation import evaluate, evaluate_noisy
from experiments.metrics import (
    AT_MARKS,
    METRICS,
    NOISY_COLUMNS,
    observations,
    read_asked,
    read_at_marks,
    read_noisy,
    read_paper,
    read_per_point,
)
from experiments.page import page_of
from experiments.results import Results, read_results
from experiments.studies import ERRORS, QUESTIONS, Requirements, WrongAnswers, budget_of
from experiments.summary import add_required, summarize
from experiments.tables import cell_text, tables_of
from experiments.targets import required_numbers
from experiments.trace import FocusedSetup, NoisySetup, PaperSetup, draws_seed
from experiments.truth import Instance
from samekind.algorithms import Certificate

MARKS = (20, 40, 60)


def blobs(n=400, k=5, sigma=0.2):
    return Instance(
        *samekind.datasets.make_synthetic(
            n, n_clusters=k, alpha=0.5, n_features=3, sigma=sigma, random_state=3
        )
    )


def ignore(_):
    pass


@pytest.fixture(scope="module")
def traced():
    data = blobs()
    return data, FocusedSetup(MARKS, per_point=True).trace("focused", data, 0, ignore)


# The truth


def test_errors_are_those_of_the_measures():
    data = blobs()
    X = np.vstack([data.X, np.ones((3, 3))])  # a cluster in one place
    y = np.append(data.y, [7, 7, 7])
    centers = np.vstack([X[:5], [[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.1]]])
    codes = [0, 1, 2, 3, 4, 5, 5]
    found = Instance(X, y).centroid_errors(centers, codes)
    labels = np.unique(y)[codes]
    np.testing.assert_allclose(found, samekind.measures.centroid_errors(X, y, centers, labels))
    assert (found[-2], found[-1]) == (0.0, np.inf)
    assert Instance(X, y).centroid_errors(np.zeros((0, 3)), []).size == 0


# Traces


@pytest.mark.parametrize("algorithm", ["uniform", "basic", "batched"])
def test_one_run_serves_all_columns(algorithm):
    data = Instance(*samekind.datasets.load_digits(return_X_y=True))
    setup = PaperSetup(budget=400, cap=1_200, target=10, batch=1, timed_at=(5, 10))
    run = setup.trace(algorithm, data, 0, ignore)
    found = run["recovered_at"]
    assert found == sorted(found)
    for name in ("rounds_at", "sampling_at", "errors"):
        assert len(run[name]) == len(found) == 10
    assert run["sampling_at"][4] <= run["sampling_at"][9]
    assert run["rounds_at"] == sorted(run["rounds_at"])
    assert algorithm != "basic" or run["rounds_at"] == list(range(1, 11))
    for budget in (150, 220):
        clusters = samekind.solve(
            data.X,
            data.oracle,
            algorithm=algorithm,
            budget=budget,
            batch=1,
            epsilon=None,
            random_state=draws_seed(0),
        )
        assert clusters.n_recovered_ == np.searchsorted(found, budget, "right")
        if clusters.n_recovered_:
            kinds = [data.y[members[0]] for members in clusters.members_[: clusters.n_recovered_]]
            errors = samekind.measures.centroid_errors(data.X, data.y, clusters.centers_, kinds)
            np.testing.assert_allclose(run["errors"][: len(errors)], errors, rtol=1e-5)
    assert sum(run["per_point"]["shares"]) == pytest.approx(1.0)
    assert 1.0 <= run["per_point"]["mean"] < 2.0
    assert run["per_point"]["in_none"] == 0.0


def test_a_run_stops_at_the_cap():
    data = Instance(*samekind.datasets.make_synthetic(2_000, random_state=0))
    run = PaperSetup(300, 900, 90, "auto").trace("uniform", data, 0, ignore)
    assert (run["questions"], run["stop"]) == (900, "budget")
    assert len(run["recovered_at"]) < 90
    assert 300 <= run["per_point"]["after"] < 900


def test_focused_is_traced(traced):
    data, run = traced
    assert [look["at"] for look in run["looks"]] == list(MARKS)
    assert [look["questions"] for look in run["looks"]] == list(MARKS)
    assert run["questions"] == MARKS[-1]
    last = run["looks"][-1]
    assert last["of"] == data.n_clusters == last["discovered"] == len(run["discovered_at"])
    assert len(run["recovered_at"]) >= last["recovered"]
    for name in ("seconds_at", "median_error_at"):
        assert len(run[name]) == len(run["recovered_at"])
    for name in ("recovered_at", "discovered_at", "seconds_at"):
        assert run[name] == sorted(run[name])
    for look in run["looks"]:  # discoveries are counted question by question
        assert look["discovered"] == np.searchsorted(run["discovered_at"], look["at"], "right")
    assert sum(run["per_point"]["shares"]) == pytest.approx(1.0)
    json.dumps(run, allow_nan=False)


def test_looks_are_what_a_run_of_that_budget_returns(traced):
    data, run = traced
    clusters = samekind.solve(
        data.X, data.oracle, budget=MARKS[0], batch=1, epsilon=None, random_state=draws_seed(0)
    )
    first = run["looks"][0]
    kinds = data.y[[members[0] for members in clusters.members_]]
    assert first["discovered"] == len(set(kinds))
    assert first["provisional"] == len(kinds) - len(set(kinds))
    assert first["recovered"] == len(set(kinds[: clusters.n_recovered_]))
    assert first["accurate"] == samekind.measures.recovery_count(
        data.X, data.y, clusters.all_centers_, kinds
    )
    ari = samekind.measures.adjusted_rand_index(data.y, clusters.labels_)
    assert first["ari"] == pytest.approx(ari, abs=1e-6)
    assert first["wrong"] == pytest.approx(np.mean(kinds[clusters.labels_] != data.y))
    assert first["undiscovered"] == pytest.approx(np.mean(~np.isin(data.y, kinds)))
    assert first["unproven"] == clusters.certificate_.n_unproven


class Found:
    """Clusters made by hand, with as much of them as an evaluation takes."""

    n_questions_ = 4
    n_recovered_ = 2
    given_up_ = np.array([], dtype=np.intp)
    certificate_ = Certificate(0.95, 1.0, 1.0, 0, 0, 0)
    error_rate_ = None

    def __init__(self, members, labels, centers=None):
        self.members_ = [np.array(rows) for rows in members]
        self.n_discovered_ = len(members)
        self.labels_ = np.array(labels)
        self.all_centers_ = None if centers is None else np.array(centers)


def test_provisional_clusters_do_not_count_twice():
    data = Instance(
        np.array([[0.0], [0.2], [0.1], [9.0], [9.2], [9.1]]), np.array([0, 0, 0, 1, 1, 1])
    )
    split = Found([[0], [1], [3]], [0, 1, 0, 2, 2, 2], [[0.1], [0.5], [9.1]])
    found = evaluate(split, data)
    assert (found["discovered"], found["provisional"]) == (2, 1)
    assert (found["recovered"], found["accurate"], found["mistaken"]) == (1, 2, 0)
    assert found["wrong"] == 0.0  # of rows in either part
    assert found["ari"] < 1.0


def test_clusters_of_wrong_answers_are_found_by_majority():
    data = Instance(np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 1, 2, 2, 2]))
    labels = [0, 0, 2, 0, 1, 1, 1, 1]
    # Most of the first are of 0; half of the second is no majority; the third is of 0 again.
    found = evaluate_noisy(Found([[0, 1, 3], [4, 5], [2]], labels), data)
    assert (found["found"], found["of"], found["returned"]) == (1, 3, 3)
    ari = samekind.measures.adjusted_rand_index
    assert found["ari"] == pytest.approx(ari(data.y, labels), abs=1e-6)
    asked = ari([0, 0, 1, 1, 2, 0], [0, 0, 0, 1, 1, 2])
    assert found["ari_asked"] == pytest.approx(asked, abs=1e-6)


def test_marks_after_the_last_row_have_what_there_is_then():
    run = FocusedSetup((10, 5_000)).trace("focused", blobs(n=30, k=3), 0, ignore)
    assert run["stop"] == "exhausted"
    assert [look["at"] for look in run["looks"]] == [10, 5_000]
    assert run["looks"][1]["questions"] == run["questions"] < 5_000
    assert run["looks"][1]["accurate"] == 3
    assert "per_point" not in run


def test_parameters_reach_the_algorithm():
    stops = [
        FocusedSetup((60,), parameters).trace("focused", blobs(), 0, ignore)["stop"]
        for parameters in ({}, {"target": 1})
    ]
    assert stops == ["budget", "target"]


def trace_noisy(error, budget, cap=None, data=None, run=0):
    setup = NoisySetup(error, budget, cap or budget)
    return setup.trace("focused", data or blobs(sigma=0.05), run, ignore)


def test_a_run_without_errors_goes_on_to_the_goal():
    data = blobs(sigma=0.05)
    run = trace_noisy(None, 2, cap=100, data=data)
    clusters = samekind.solve(
        data.X, data.oracle, budget=2, batch=1, epsilon=None, random_state=draws_seed(0)
    )
    assert run["questions"] == 2
    assert run["returned"] == clusters.n_discovered_
    assert run["found"] < run["of"]
    assert run["estimated_error"] is None
    assert run["stop"] == "enough"
    assert 2 < run["goal_at"] < 100
    assert trace_noisy(None, 1, cap=2)["goal_at"] is None
    assert trace_noisy(None, 5_000, data=blobs(n=30, k=3))["stop"] == "exhausted"


def test_errors_are_made_and_estimated():
    data = blobs(sigma=0.05)
    right, wrong, same = (trace_noisy(error, 200, data=data) for error in (0.0, 0.15, 0.15))
    assert right["stop"] == wrong["stop"] == "budget"
    assert right["questions"] == wrong["questions"] == 200
    assert right["found"] == 5
    assert right["goal_at"] is not None
    assert wrong["goal_at"] is None  # not looked for
    assert right["estimated_error"] < 0.05
    others = [trace_noisy(0.15, 200, data=data, run=run) for run in (1, 2, 3)]
    assert 0.1 < np.mean([run["estimated_error"] for run in (wrong, *others)]) < 0.3
    assert same | {"seconds": 0} == wrong | {"seconds": 0}
    json.dumps(wrong, allow_nan=False)


# What is read off


def a_look(at, **given):
    found = {"at": at, "questions": at, "recovered": 3, "mistaken": 1, "accurate": 5}
    found |= {"discovered": 6, "of": 7, "provisional": 1, "median_error": 0.02, "ari": 0.8}
    found |= {"unproven": 4, "audited": 9, "undiscovered_bound": 0.2, "undiscovered": 0.1}
    return found | {"wrong_bound": 0.3, "wrong": 0.1, "holds": True} | given


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
        "seconds_at": [0.5] * k,
        "median_error_at": [0.04, None, *[0.01] * k][:k],
        "looks": looks,
        "per_point": {"after": 9, "shares": [1.0, 0.0, 0.0], "mean": 1.0, "in_none": 0.0},
    }


def read(runs, asked):
    seen = observations(runs, read_asked({("shuttle", "focused"): asked}))
    return seen.groupby(["metric", "at"])["value"].apply(list).to_dict()


def test_metrics_by_hand():
    looks = [a_look(100, median_error=None, ari=0.5), a_look(200, accurate=7, ari=0.95)]
    found = read(
        [a_run(0, looks)],
        [(metric, at) for metric in ("accurate", "median_error", "holds") for at in (100, 200)]
        + [("undiscovered_bound", 100), ("all_accurate", 100), ("all_accurate", 200)]
        + [("questions_to_ari", 0.9), ("questions_to_ari", 0.99)]
        + [("questions_to_all", 6), ("questions_to_all", 7)],
    )
    values = {key: value for key, [value] in found.items()}
    assert values == pytest.approx(
        {
            ("accurate", 100): 5,
            ("accurate", 200): 7,
            ("median_error", 100): np.inf,
            ("median_error", 200): 2.0,
            ("holds", 100): 100,
            ("holds", 200): 100,
            ("undiscovered_bound", 100): 20,
            ("all_accurate", 100): 0,
            ("all_accurate", 200): 100,
            ("questions_to_ari", 0.9): 200,
            ("questions_to_ari", 0.99): np.nan,
            ("questions_to_all", 6): 32,
            ("questions_to_all", 7): np.nan,
        },
        nan_ok=True,
    )


def test_runs_that_do_not_get_there_are_said():
    runs = [a_run(0, [a_look(100)]), a_run(1, [a_look(100)], discovered_at=range(7))]
    asked = {("shuttle", "focused"): [("questions_to_all", 7), ("questions_to_all", 8)]}
    cells = summarize(observations(runs, read_asked(asked)))
    assert [cell_text(cell) for _, cell in cells.iterrows()] == ["6.00 (1 of 2)", "not reached"]


def paper_results(runs):
    readers = read_paper(lambda metric, data: DATA[data].columns(metric)), read_at_marks
    summary = summarize(observations(runs, *readers, read_per_point))
    asked = {"shuttle": runs[0]["setup"]["marks"][-1]}
    return Results("paper", summary, {"focused_questions": asked})


def test_budgets_beyond_its_last_question_are_marked():
    looks = [a_look(1_000), a_look(3_000, recovered=4)]
    results = paper_results([a_run(i, looks) for i in range(2)])
    budget, _, errors, _, _, marks, promises, _ = tables_of(results)["shuttle"]
    assert budget.texts["focused"].tolist() == ["3.00 ± 0.00"] + ["4.00 ± 0.00 *"] * 4
    assert budget.caption == "* focused asked 3,000 questions only, and has so many then."
    expected = ["infinite", "1.00 ± 0.00", *["not reached"] * 4]  # None is the second item
    assert errors.texts["focused"].tolist() == expected
    assert [marks.title, promises.title] == list(AT_MARKS)
    assert list(marks.texts.index) == ["1,000", "3,000"]
    assert "ARI" in marks.texts.columns
    large = paper_results([a_run(i, [a_look(1_000, ari=None)]) for i in range(2)])
    assert "ARI" not in tables_of(large)["shuttle"][5].texts.columns  # not of large data


def test_metrics_of_wrong_answers_by_hand():
    reference = {"data": "digits", "run": 0, "algorithm": "focused", "questions": 100, "found": 10}
    reference |= {"setup": {"error": None, "budget": 100}, "returned": 10, "goal_at": 50}
    reference |= {"ari": 0.9, "ari_asked": 1.0, "estimated_error": None, "stop": "enough"}
    run = reference | {"algorithm": "focused, p=0", "questions": 500, "found": 9, "returned": 12}
    run |= {"setup": {"error": 0.0, "budget": 500}, "goal_at": 65, "ari": 0.8, "ari_asked": 0.9}
    run |= {"estimated_error": 0.12, "stop": "budget"}
    reader = read_noisy({("digits", 0): reference})
    assert {metric: value for metric, _, value in reader(run)} == pytest.approx(
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
    read_again = {metric: value for metric, _, value in reader(run | {"goal_at": None})}
    assert np.isnan(read_again["times_to_goal"])
    for change in ({"stop": "enough"}, {"questions": 501}):
        assert {metric: value for metric, _, value in reader(run | change)}["ended"] == 0
    assert set(NOISY_COLUMNS) < set(read_again)


# What it must show, and its parts


def test_required_values():
    keys = ["data", "algorithm", "metric", "at"]
    values = required_numbers("focused").set_index(keys)["required"].sort_index()
    assert values["synthetic-p0", "focused", "accurate", 2_000] == 80
    assert values["synthetic-p0.3", "focused", "accurate", 20_000] == 80
    assert values["banking77", "focused", "discovered", 5_000] == 77
    assert values["mixture-2", "focused", "questions_to_all", 30] == 220
    assert len(values) == 17
    for data, algorithm, metric, at in values.index:
        assert algorithm == "focused"
        assert METRICS[metric].better
        assert METRICS[metric].level or at in DATA[data].marks
    noisy = required_numbers("noisy").set_index(["data", "metric", "at"])["required"].sort_index()
    assert len(noisy) == 12
    for data in QUESTIONS:
        assert noisy[data, "times_to_goal", 0.0] == 1.3
        assert noisy[data, "share_found"].to_dict() == {0.1: 95, 0.2: 90}
        assert noisy[data, "ended", 0.3] == 100
        for at, times in noisy[data, "times_asked"].items():
            assert at in ERRORS
            assert budget_of(at, 100) == 100 * times


@pytest.mark.parametrize(
    ("metric", "values", "met"),
    [
        ("accurate", [80.0], True),
        ("accurate", [79.9], False),
        ("accurate", [np.inf], False),
        ("accurate", [90.0, np.nan], False),  # all runs must get there
        ("median_error", [80.0], True),
        ("median_error", [80.1], False),
        ("median_error", [np.nan], False),
    ],
)
def test_when_a_requirement_is_met(metric, values, met):
    keys = {"data": "digits", "algorithm": "focused", "metric": metric, "at": 100.0}
    summary = summarize(pd.DataFrame(keys | {"value": values}))
    required = pd.DataFrame([keys | {"required": 80.0}])
    assert add_required(summary, required)["met"].tolist() == [met]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_off_only_meanwhile(part):
    before = [vars(owner)[name] for owner, name, _ in PARTS[part]]
    with without(part):
        assert all(vars(owner)[name] is off for owner, name, off in PARTS[part])
    assert all(
        vars(owner)[name] is old for (owner, name, _), old in zip(PARTS[part], before, strict=True)
    )
    for error in (0.0, 0.1):
        run = AblationSetup(part, 40, "labels", error).trace("", blobs(n=150), 0, ignore)
        assert run["questions"] == 40


def test_ablation(tmp_path, monkeypatch):
    monkeypatch.setitem(ABLATION, "digits", Study(60))
    design = Ablation(["digits"], parts=["claims"], errors=[0, 0.1], runs=2)
    results = run_experiment(design, jobs=1, out=tmp_path)
    variants = [variant(part, error) for error in (0, 0.1) for part in ("", "claims")]
    [table], [losses] = tables_of(results).values()
    assert list(table.texts.index) == variants
    assert list(losses.texts.index) == ["focused", "focused, without claims"]
    assert len(losses.texts.columns) == 2
    assert (results.summary["runs"] == 2).all()
    for ending in ("html", "md"):
        assert "without claims" in (tmp_path / f"ablation.{ending}").read_text("utf-8")
    before = (tmp_path / "runs.jsonl").read_bytes()
    assert run_experiment(design, jobs=1, out=tmp_path).to_json() == results.to_json()
    assert (tmp_path / "runs.jsonl").read_bytes() == before  # nothing was done again


def test_requirements_are_checked(tmp_path, monkeypatch):
    rows = [
        ("digits", "focused", "discovered", 60.0, 1.0),
        ("digits", "focused", "ari", 40.0, 1.01),
    ]
    required = pd.DataFrame(rows, columns=["data", "algorithm", "metric", "at", "required"])
    monkeypatch.setattr(studies, "required_numbers", lambda study: required)
    design = Requirements(runs=2)
    assert {case.algorithm: case.setup.marks for case in design.cases()} == {"focused": (40, 60)}
    results = run_experiment(design, jobs=1, out=tmp_path)
    assert results.summary["met"].tolist() == [True, False]
    [table] = tables_of(results)[""]
    assert list(table.texts.index) == [
        "Digits: clusters discovered at 60",
        "Digits: ARI at 40",
    ]
    assert table.texts["required"].tolist() == ["≥ 1.00", "≥ 1.010"]
    assert "missed" in page_of(read_results(tmp_path / "focused.json"))


def test_noisy(tmp_path, monkeypatch):
    monkeypatch.setitem(QUESTIONS, "mixture-1", 10)
    rows = [
        ("times_asked", 0.1, 5),
        ("share_found", 0.1, 1_000),
        ("times_to_goal", 0.0, 0.01),  # never so soon
        ("ended", 0.3, 100),  # not run
    ]
    required = pd.DataFrame(rows, columns=["metric", "at", "required"])
    required = required.assign(data="mixture-1", algorithm="focused")
    monkeypatch.setattr(studies, "required_numbers", lambda study: required)
    design = WrongAnswers(["mixture-1"], errors=[0.1, 0], runs=2, n=100)
    results = run_experiment(design, jobs=1, out=tmp_path)
    assert results.details["errors"] == [0.0, 0.1]
    [table], [must] = tables_of(results).values()
    assert list(table.texts.index) == ["focused", "focused, p=0", "focused, p=0.1"]
    assert table.texts["questions"].tolist() == ["10.00 ± 0.00", "50.00 ± 0.00", "50.00 ± 0.00"]
    goal = "questions to the goal, times those without errors"
    said = table.texts[["estimated errors, %", goal]] != "–"
    assert said.to_numpy().tolist() == [[False, False], [True, True], [True, False]]
    asked = results.summary.set_index(["algorithm", "metric"])["mean"]
    assert asked["focused, p=0.1", "found_without"] == asked["focused", "found"]
    met = results.summary.dropna(subset="required").set_index("metric")["met"]
    assert met.to_dict() == {"times_to_goal": False, "share_found": False, "times_asked": True}
    assert len(must.texts) == 3
    page = (tmp_path / "noisy.html").read_text("utf-8")
    assert "when answers are wrong" in page
    assert "missed" in page


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ablation(["nope"]), "data must be among"),
        (lambda: Ablation(parts=["all"]), "parts must be among"),
        (lambda: Requirements(runs=0), "runs must be a positive int"),
        (lambda: WrongAnswers(["shuttle"]), "data must be among digits, mixture-1"),
        (lambda: WrongAnswers(errors=[0.5]), "errors must be numbers from 0 to below 0.5, got 0.5"),
        (lambda: WrongAnswers(errors=[]), "errors names no share"),
        (lambda: WrongAnswers(n=10), "n must be an int of at least 100"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Promises, and rows that nobody can tell


@pytest.mark.slow
def test_certified_runs_and_marks(tmp_path):
    design = Certificates(["wine", "overlapping"], runs=2, n=400)
    results = run_experiment(design, jobs=1, out=tmp_path)
    keys = ["data", "algorithm", "metric", "at"]
    found = results.summary.set_index(keys)["mean"].sort_index()
    assert 30 < found["wine", "focused, stop=certified", "questions_to_certify", 0.05] < 178
    assert found["wine", "focused, stop=certified", "holds", 0.05] == 100
    promised = found["overlapping", "focused, goal=labels"]
    assert promised["wrong_share", 300] <= promised["wrong_bound", 300] < 60
    assert (tmp_path / "certificate.html").is_file()


@pytest.mark.slow
def test_rows_that_nobody_can_tell(tmp_path):
    results = run_experiment(HardRows(["rare"], runs=1, n=600), jobs=1, out=tmp_path)
    found = results.summary.set_index(["algorithm", "metric"])["mean"].sort_index()
    assert found["focused", "as_many_found"] == 100
    assert 0 < found["focused", "given_up"] <= 130
    assert found["focused", "wrong_share"] <= found["focused", "wrong_bound"]


def test_the_hard_rows_are_those_between_clusters():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 1))
    hard = hard_rows(Instance(X, X[:, 0] > 0))
    assert hard.sum() == 40
    assert hard[np.abs(X[:, 0]) < 0.01].all()


def test_accuracy_matches_each_cluster_with_one_label():
    """Three rows of the second label are in a cluster of their own: they count as wrong."""
    data = Instance(np.zeros((8, 1)), np.array([0, 0, 0, 1, 1, 1, 1, 1]))
    assert data.matched_accuracy([5, 5, 2, 9, 9, 9, 2, 2]) == 5 / 8
    assert data.matched_accuracy([7, 7, 7, 4, 4, 4, 4, 4]) == 1.0
