"""The paper's experiments: the numbers, the runs, and what survives a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import psutil
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import samekind
from samekind.experiments import BenchError, bench, peer_pool, peers, run_bench, run_peers
from samekind.experiments.command import bench as bench_command
from samekind.experiments.one_run import Instance, Setup, draws_seed, run_once
from samekind.experiments.paper import paper_table
from samekind.experiments.peer_process import clusters_found
from samekind.experiments.plan import make_setup
from samekind.experiments.scenes import SCENES, scenes_of
from samekind.experiments.statistics import compare, summarize
from samekind.experiments.store import RunStore
from samekind.experiments.summary import summarize_scene
from samekind.experiments.tables import print_tables
from samekind.experiments.text import cell_text

TINY = {"points": (30, 60, 90), "batch": "auto"}
MADE = {"n": 1_000, "points": (25, 50)}


def saved(folder):
    lines = (Path(folder) / "runs.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines if line.endswith(b"}")]


def key(record):
    return record["data"], record["run"], record["algorithm"]


TIMES = ("seconds", "sampling_at", "seconds_at")


def without_times(record):
    return {k: v for k, v in record.items() if k not in TIMES}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    return folder, run_bench("digits", runs=3, jobs=1, out=folder, **TINY)


# The paper's numbers


@pytest.mark.parametrize(
    ("measure", "data", "label", "n_columns"),
    [
        ("fixed_budget", "synthetic-p0", "tab:sim-query", 9),
        ("fixed_budget", "synthetic-p0.1", "tab:sim-query", 9),
        ("fixed_budget", "synthetic-p0.3", "tab:sim-query", 9),
        ("fixed_budget", "shuttle", "tab:shuttle", 5),
        ("fixed_budget", "kdd", "tab:kdd", 6),
        ("fixed_recovery", "synthetic-p0", "tab:sim-cluster", 6),
        ("fixed_recovery", "synthetic-p0.1", "tab:sim-cluster", 6),
        ("fixed_recovery", "synthetic-p0.3", "tab:sim-cluster", 6),
        ("fixed_recovery", "shuttle", "tab:shuttle", 5),
        ("fixed_recovery", "kdd", "tab:kdd", 6),
        ("centroid_error", "synthetic-p0", "tab:sim-error", 6),
        ("centroid_error", "synthetic-p0.1", "tab:sim-error", 6),
        ("centroid_error", "synthetic-p0.3", "tab:sim-error", 6),
        ("centroid_error", "shuttle", "tab:shuttle-error", 6),
        ("centroid_error", "kdd", "tab:kdd-error", 6),
    ],
)
def test_paper_has_every_table(measure, data, label, n_columns):
    table = paper_table(measure, data)
    assert table.label == label
    assert table.caption
    assert list(table.columns) == sorted(set(table.columns))
    assert set(table.rows) == {"uniform", "basic", "batched"}
    for values in (table.columns, *table.rows.values()):
        assert len(values) == n_columns
    for values in table.rows.values():  # errors go up and down, the others only up
        assert measure == "centroid_error" or list(values) == sorted(values)


@pytest.mark.parametrize(
    ("measure", "data", "algorithm", "column", "value"),
    [
        ("fixed_budget", "synthetic-p0", "uniform", 200_000, 48.01),
        ("fixed_budget", "synthetic-p0", "batched", 25_000, 26.00),
        ("fixed_budget", "synthetic-p0.1", "basic", 120_000, 51.14),
        ("fixed_budget", "synthetic-p0.3", "batched", 175_000, 60.04),
        ("fixed_budget", "shuttle", "basic", 10_000, 5.48),
        ("fixed_budget", "kdd", "uniform", 100_000, 9.95),
        ("fixed_recovery", "synthetic-p0", "batched", 70, 2845.01),
        ("fixed_recovery", "synthetic-p0.3", "uniform", 30, 2201.10),
        ("fixed_recovery", "shuttle", "uniform", 3, 79.10),
        ("fixed_recovery", "kdd", "batched", 16, 1901.43),
        ("fixed_recovery", "kdd", "uniform", 12, 79672.90),
        ("centroid_error", "synthetic-p0.1", "uniform", 40, 9.39),
        ("centroid_error", "shuttle", "batched", 2, 8.94),
        ("centroid_error", "kdd", "basic", 14, 5.95),
    ],
)
def test_papers_values(measure, data, algorithm, column, value):
    assert paper_table(measure, data).value(algorithm, column) == value


def test_paper_says_nothing_of_other_columns_and_algorithms():
    table = paper_table("fixed_budget", "shuttle")
    assert table.value("basic", 1_234) is None
    assert table.value("improved-exact", 1_000) is None
    assert paper_table("fixed_budget", "digits") is None
    assert paper_table("rounds", "shuttle") is None


def test_columns_are_the_papers_or_our_own():
    assert SCENES["kdd10-reweighted"].columns("fixed_budget")[0] == 5_000
    assert SCENES["shuttle"].columns("centroid_error")[0] == 2
    assert SCENES["shuttle"].columns("rounds") == (3, 4, 5, 6, 7)
    assert SCENES["digits"].columns("fixed_recovery")[-1] == 10
    assert [scene.title for scene in scenes_of("kdd")] == ["KDD 10 %", "KDD 10 %, reweighted"]
    assert make_setup(SCENES["synthetic-p0"], None, None, None).cap == 600_000


# Means, intervals and marks


def test_interval_is_students():
    cell = summarize([1.0, 2.0, 3.0])
    half = 4.302652729911275 / np.sqrt(
        3
    )  # t quantile of 2 degrees of freedom, standard deviation 1
    assert (cell["mean"], cell["runs"], cell["median"]) == (2.0, 3, 2.0)
    assert cell["low"] == pytest.approx(2 - half)
    assert cell["high"] == pytest.approx(2 + half)
    assert summarize([4.0])["low"] is None
    assert summarize([])["mean"] is None
    assert summarize([1.0, np.inf])["mean"] is None


@pytest.mark.parametrize(
    ("low", "high", "paper", "better", "mark"),
    [
        (5.0, 6.0, 4.0, "higher", "better"),
        (5.0, 6.0, 4.0, "lower", "worse"),
        (5.0, 6.0, 7.0, "higher", "worse"),
        (5.0, 6.0, 7.0, "lower", "better"),
        (5.0, 6.0, 5.5, "higher", "within"),
        (3.0, 3.0, 3.004, "higher", "within"),  # the paper prints two decimals
        (None, None, 3.0, "higher", "open"),
        (5.0, 6.0, None, "higher", None),
        (5.0, 6.0, 4.0, None, None),
    ],
)
def test_marks(low, high, paper, better, mark):
    assert compare({"low": low, "high": high, "runs": 9}, paper, better) == mark


def record(run, recovered_at, questions, algorithm="basic", errors=None):
    k = len(recovered_at)
    return {
        "data": "shuttle",
        "run": run,
        "algorithm": algorithm,
        "setup": {"n": None, "budget": 30_000, "cap": 90_000},
        "questions": questions,
        "recovered_at": recovered_at,
        "discovered_at": recovered_at,
        "rounds_at": list(range(1, k + 1)),
        "sampling_at": [0.5] * k,
        "errors": errors or [0.05] * k,
        "per_point": {"after": 30_000, "shares": [0.5, 0.3, 0.2], "mean": 1.7, "in_none": 0.0},
    }


def test_tables_from_runs_by_hand():
    runs = [
        record(0, [10, 20, 300, 1_000, 5_000, 20_000, 28_000], 30_000),
        record(1, [10, 20, 500, 2_000, 5_001, 20_000, 28_000], 30_000, errors=[0.01] * 7),
    ]
    tables = summarize_scene(SCENES["shuttle"], runs, ["basic", "uniform"])["tables"]
    budget = tables["fixed_budget"]["rows"]["basic"]
    assert [cell["mean"] for cell in budget] == [3.5, 4.5, 5.0, 6.0, 7.0]
    assert [cell["paper"] for cell in budget] == [3.22, 4.89, 5.48, 6.14, 6.55]
    assert budget[-1]["mark"] == "better"
    recovery = tables["fixed_recovery"]["rows"]["basic"]
    assert recovery[0]["mean"] == pytest.approx(400 / 3)
    assert recovery[-1]["mean"] == pytest.approx(4_000)
    assert recovery[-1]["mark"] == "better"
    assert tables["centroid_error"]["rows"]["basic"][0]["mean"] == pytest.approx(3.0)  # percent
    assert tables["rounds"]["rows"]["basic"][-1]["mean"] == 7.0
    assert tables["sampling_time"]["rows"]["basic"][0]["mean"] == 0.5
    assert tables["fixed_budget"]["rows"]["uniform"][0]["runs"] == 0
    assert cell_text(tables["fixed_budget"]["rows"]["uniform"][0], "clusters") == "–"


def test_unreached_columns_are_said_and_not_dropped():
    runs = [record(0, [9, 99, 900, 4_000], 90_000), record(1, [9, 99, 900, 5_000, 6_000], 90_000)]
    tables = summarize_scene(SCENES["shuttle"], runs, ["basic"])["tables"]
    three, four, five, six, seven = tables["fixed_recovery"]["rows"]["basic"]
    assert (three["reached"], four["reached"]) == (2, 2)
    assert (five["reached"], five["runs"], five["mean"]) == (1, 2, 1_200.0)
    assert five["at_least"] == pytest.approx((90_000 + 6_000) / 2 / 5)
    assert five["mark"] == "worse"  # 9,600 at least, and the paper's is 725.46
    assert "(1 of 2)" in cell_text(five, "questions")
    assert six["mean"] is None
    assert cell_text(six, "questions") == "> 15,000.00"
    assert seven["mark"] == "worse"
    error = tables["centroid_error"]["rows"]["basic"][-1]
    assert (error["reached"], error["mark"]) == (0, "open")
    assert cell_text(error, "%") == "not reached"
    short = {"runs": 2, "reached": 0, "at_least": 10.0, "low": None, "high": None}
    assert compare(short, 20.0, "lower") == "open"  # the cap is below what the paper needed


def test_an_infinite_error_is_no_number_in_json():
    runs = [record(i, [1, 2, 3], 9, errors=[None, None, 0.1]) for i in range(2)]
    cell = summarize_scene(SCENES["shuttle"], runs, ["basic"])["tables"]["centroid_error"]
    assert cell["rows"]["basic"][1]["mean"] is None
    assert cell_text(cell["rows"]["basic"][1], "%") == "infinite"


# One run


@pytest.mark.parametrize("algorithm", ["uniform", "basic", "batched"])
def test_one_run_serves_all_columns(algorithm):
    X, y = samekind.datasets.load_digits(return_X_y=True)
    data = Instance(X, y)
    setup = Setup("0", None, budget=400, cap=1_200, target=10, batch=1)
    run = run_once(data, algorithm, draws_seed(0), setup, lambda: None)
    found = run["recovered_at"]
    assert found == sorted(found)
    for name in ("rounds_at", "sampling_at", "errors"):
        assert len(run[name]) == len(found) == 10
    assert run["rounds_at"] == sorted(run["rounds_at"])
    assert algorithm != "basic" or run["rounds_at"] == list(range(1, 11))
    for budget in (150, 220):
        clusters = samekind.solve(
            X,
            samekind.LabelOracle(y),
            algorithm=algorithm,
            budget=budget,
            batch=1,
            epsilon=None,
            random_state=draws_seed(0),
        )
        assert clusters.n_recovered_ == np.searchsorted(found, budget, "right")
        if clusters.n_recovered_:
            kinds = [y[members[0]] for members in clusters.members_[: clusters.n_recovered_]]
            errors = samekind.measures.centroid_errors(X, y, clusters.centers_, kinds)
            np.testing.assert_allclose(run["errors"][: len(errors)], errors, rtol=1e-5)
    assert sum(run["per_point"]["shares"]) == pytest.approx(1.0)
    assert 1.0 <= run["per_point"]["mean"] < 2.0
    assert run["per_point"]["in_none"] == 0.0


def test_a_run_stops_at_the_cap():
    X, y = samekind.datasets.make_synthetic(2_000, random_state=0)
    setup = Setup("0", None, budget=300, cap=900, target=90, batch="auto")
    run = run_once(Instance(X, y), "uniform", 0, setup, lambda: None)
    assert run["questions"] == 900
    assert run["stop"] == "budget"
    assert len(run["recovered_at"]) < 90
    assert 300 <= run["per_point"]["after"] < 900


def test_exact_algorithms_run_too(tmp_path):
    results = run_bench(
        "digits", runs=1, jobs=1, algorithms=["basic-exact"], out=tmp_path, points=[300]
    )
    cells = results["datasets"]["digits"]["tables"]["fixed_budget"]["rows"]["basic-exact"]
    assert cells[0]["runs"] == 1


# The bench


def test_results_are_whole(tiny):
    folder, results = tiny
    assert json.loads((folder / "results.json").read_text("utf-8")) == results
    assert set(results["made_by"]) >= {"samekind", "numpy", "scikit-learn"}
    digits = results["datasets"]["digits"]
    assert list(digits["tables"]) == [
        "fixed_budget",
        "fixed_recovery",
        "centroid_error",
        "rounds",
        "sampling_time",
    ]
    for algorithm in bench.PRACTICAL:
        cells = digits["tables"]["fixed_budget"]["rows"][algorithm]
        assert [cell["column"] for cell in cells] == [30, 60, 90]
        assert all(cell["runs"] == 3 and cell["mark"] is None for cell in cells)
        means = [cell["mean"] for cell in cells]
        assert means == sorted(means)
        curve = digits["curves"][algorithm]
        assert curve["questions"][-1] == 90
        assert curve["mean"][-1] == pytest.approx(means[-1], abs=1e-4)  # rounded there
        assert sum(s["mean"] for s in digits["per_point"][algorithm]["shares"]) == pytest.approx(1)
    text = json.dumps(results)
    assert str(folder) not in text
    assert set(results["machine"]) == {"cores", "system"}
    assert len(saved(folder)) == 12


def test_tables_are_printed(tiny):
    console = Console(width=140, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    print_tables(tiny[1], console)
    console.file.close()
    text = console.export_text()
    assert "Digits: Clusters recovered with so many questions" in text
    assert "batched" in text
    assert "≥ 3" in text


class Page(HTMLParser):
    VOID = ("meta", "br", "img", "link", "input", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.figures, self.attributes = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script" and "data-figure" in self.open[-1][1]:
            self.figures[self.open[-1][1]["data-figure"]] = json.loads(data)


def test_page_is_well_formed_and_loads_nothing(tiny):
    text = (tiny[0] / "results.html").read_text("utf-8")
    page = Page(text)
    assert page.open == []
    assert not [value for name, value in page.attributes if name in ("src", "href")]
    assert "default-src 'none'" in text
    assert set(page.figures) == {
        f"digits-{name}"
        for name in (
            "recovered",
            "fixed-recovery",
            "centroid-error",
            "rounds",
            "sampling-time",
            "focused",
            "per-point",
        )
    }
    names = [trace["name"] for trace in page.figures["digits-recovered"]["data"]]
    assert names == [n for algorithm in bench.PRACTICAL for n in (f"{algorithm}, 95 %", algorithm)]


def test_papers_points_are_drawn():
    from samekind.experiments.figures import figures_of

    runs = [record(i, [9, 99, 900, 4_000, 5_000, 6_000, 7_000 + i], 30_000) for i in range(3)]
    data = summarize_scene(SCENES["shuttle"], runs, ["basic"])
    traces = {t["name"]: t for figure in figures_of("shuttle", data)[:1] for t in figure.traces}
    assert traces["basic, paper"]["y"] == [3.22, 4.89, 5.48, 6.14, 6.55]


def test_numbers_do_not_depend_on_jobs(tmp_path):
    for jobs in (1, 2):
        what = ["digits", "synthetic-p0.3"]
        run_bench(what, runs=2, jobs=jobs, out=tmp_path / str(jobs), batch="auto", **MADE)
    one, two = ({key(r): without_times(r) for r in saved(tmp_path / jobs)} for jobs in "12")
    assert len(one) == 16
    assert one == two


def test_same_command_does_only_what_is_missing(tmp_path, tiny):
    run_bench("digits", runs=1, jobs=1, out=tmp_path, **TINY)
    before = (tmp_path / "runs.jsonl").read_bytes()
    run_bench("digits", runs=1, jobs=1, out=tmp_path, **TINY)
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    results = run_bench("digits", runs=3, jobs=1, out=tmp_path, **TINY)
    assert (tmp_path / "runs.jsonl").read_bytes().startswith(before)
    assert len(saved(tmp_path)) == 12
    budget = results["datasets"]["digits"]["tables"]["fixed_budget"]
    assert budget == tiny[1]["datasets"]["digits"]["tables"]["fixed_budget"]


def test_runs_of_other_settings_are_not_mixed_in(tmp_path):
    run_bench("digits", runs=2, jobs=1, out=tmp_path, algorithms=["basic"], **TINY)
    results = run_bench(
        "digits", runs=1, jobs=1, out=tmp_path, algorithms=["basic"], points=[250], batch="auto"
    )
    assert len(saved(tmp_path)) == 3
    rows = results["datasets"]["digits"]["tables"]["fixed_budget"]["rows"]
    assert [cell["runs"] for cell in rows["basic"]] == [1]


def test_torn_line_is_passed_over_and_its_run_repeated(tmp_path, tiny):
    lines = (tiny[0] / "runs.jsonl").read_bytes().splitlines(keepends=True)
    torn = lines[4][: len(lines[4]) // 2]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(lines[:4]) + torn)
    results = run_bench("digits", runs=3, jobs=1, out=tmp_path, **TINY)
    store = RunStore(tmp_path / "runs.jsonl")
    assert len(store.read()) == 12
    assert store.n_damaged == 1
    assert (tmp_path / "runs.jsonl").read_bytes().startswith(b"".join(lines[:4]) + torn + b"\n")
    ours, theirs = (r["datasets"]["digits"] for r in (results, tiny[1]))
    assert ours["tables"]["fixed_recovery"] == theirs["tables"]["fixed_recovery"]


def test_paper_is_left_out_for_data_of_another_size(tmp_path):
    results = run_bench(
        "synthetic-p0", runs=2, jobs=1, out=tmp_path, algorithms=["basic"], n=2_000, points=[10_000]
    )
    table = results["datasets"]["synthetic-p0"]["tables"]["fixed_budget"]
    assert table["paper"] is None
    assert table["rows"]["basic"][0]["paper"] is None


def test_json_goes_where_it_is_told(tmp_path):
    other = tmp_path / "docs" / "digits.json"
    results = run_bench(
        "digits", runs=1, jobs=1, out=tmp_path / "o", json_file=other, algorithms=["basic"], **TINY
    )
    assert json.loads(other.read_text("utf-8")) == results


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"what": "nope"}, "there is no data set 'nope'"),
        ({"runs": 0}, "runs must be a positive int, got 0"),
        ({"jobs": 0}, "jobs must be a positive int, got 0"),
        ({"algorithms": ["best"]}, "algorithms must be one of"),
        ({"points": [0]}, "points must be a positive int, got 0"),
        ({"n": 10}, "n must be an int of at least 100"),
        ({"batch": 0}, "batch must be a positive int"),
    ],
)
def test_mistakes_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        run_bench(**{"what": "digits", "out": tmp_path / "never"} | options)
    assert not (tmp_path / "never").exists()


def test_data_that_is_not_there_is_left_out_with_the_reason(tmp_path, monkeypatch):
    def no_data(*_):
        raise samekind.datasets.DataError("nowhere to be found")

    scene = SCENES["shuttle"]
    broken = {**vars(scene), "load": no_data}
    monkeypatch.setitem(SCENES, "shuttle", type(scene)(**broken))
    results = run_bench(["digits", "shuttle"], runs=1, jobs=1, out=tmp_path, **TINY)
    assert list(results["datasets"]) == ["digits"]
    assert list(results["skipped"]) == ["Shuttle"]
    with pytest.raises(BenchError, match="nowhere to be found"):
        run_bench("shuttle", runs=1, jobs=1, out=tmp_path, **TINY)


# Kills and interruptions, of real processes

SCRIPT = """
import sys
from pathlib import Path
from samekind.experiments.command import bench
sys.exit(bench("synthetic-p0", runs=8, jobs=int(sys.argv[2]), n=20_000, points=["2000,15000"],
               algorithms=["basic,batched"], out=Path(sys.argv[1])))
"""


def start(folder, jobs):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    file = folder / "runs.jsonl"
    deadline = time.monotonic() + 60
    while not file.exists() or file.read_bytes().count(b"\n") < 3:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def test_resume_after_kill(tmp_path):
    process = start(tmp_path, 2)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive  # workers do not outlive the bench
    before = (tmp_path / "runs.jsonl").read_bytes()
    kept = saved(tmp_path)
    assert 3 <= len(kept) < 16
    results = run_bench(
        "synthetic-p0",
        runs=8,
        jobs=2,
        n=20_000,
        points=[2_000, 15_000],
        algorithms=["basic", "batched"],
        out=tmp_path,
    )
    assert (tmp_path / "runs.jsonl").read_bytes().startswith(before)
    keys = [key(r) for r in saved(tmp_path)]
    assert len(keys) == len(set(keys)) == 16  # none was done again
    for data in results["datasets"].values():
        assert data["tables"]["fixed_budget"]["rows"]["basic"][0]["runs"] == 8


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path, jobs):
    process = start(tmp_path, jobs)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "To go on, run the same command" in said
    assert RunStore(tmp_path / "runs.jsonl").read()


def test_death_of_a_worker_is_explained(tmp_path):
    process = start(tmp_path, 2)
    children = psutil.Process(process.pid).children(recursive=True)
    worker = next(c for c in children if "spawn_main" in " ".join(c.cmdline()))
    worker.kill()
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "a worker process was ended from outside" in said
    assert "Traceback" not in said
    assert len(saved(tmp_path)) >= 3


# The command


def test_command_prints_and_writes(tmp_path, capsys):
    code = bench_command(
        "digits",
        runs=1,
        jobs=1,
        points=["100, 200"],
        batch="auto",
        algorithms=["basic"],
        out=tmp_path,
    )
    out = capsys.readouterr().out
    assert code == 0
    assert "Clusters recovered" in out
    assert "results.html" in out


def test_command_line_is_described():
    cli = typer.Typer()
    cli.command()(bench_command)
    shown = CliRunner().invoke(cli, ["--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.output)
    for option in ("--runs", "--jobs", "--algorithms", "--points", "--json", "--out", "--limit"):
        assert option in text


def test_command_explains_mistakes(tmp_path, capsys):
    assert bench_command("digits", points=["ten"], out=tmp_path) == 2
    assert "--points must be whole numbers, got 'ten'" in capsys.readouterr().err
    assert bench_command("digitz", out=tmp_path) == 2
    assert "there is no data set 'digitz'" in capsys.readouterr().err


# Peers


def test_peers_that_are_not_installed_are_skipped_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: name == "sklearn" or None)
    results = run_peers(runs=1, jobs=1, algorithms=[], points=[50], data=["digits"], out=tmp_path)
    assert set(results["skipped"]) == {"COBRAS", "PCKMeans"}
    assert "cobras_ts is not installed" in results["skipped"]["COBRAS"]
    assert list(results["datasets"]["digits"]["rows"]) == ["KMeans"]


def test_peers_are_compared_and_kept(tmp_path):
    options = {
        "runs": 1,
        "jobs": 2,
        "algorithms": ["batched"],
        "points": [100, 300],
        "data": ["digits"],
        "peers": ["KMeans"],
        "out": tmp_path,
    }
    results = run_peers(**options)
    before = (tmp_path / "peers.jsonl").read_bytes()
    assert json.loads((tmp_path / "peers.json").read_text("utf-8")) == results
    rows = results["datasets"]["digits"]["rows"]
    few, many = rows["samekind batched"]["cells"]
    assert (few["questions"]["mean"], many["questions"]["mean"]) == (100, 300)
    assert few["ari"]["mean"] < many["ari"]["mean"]
    assert many["found"]["mean"] == 10
    floor = rows["KMeans"]["cells"][0]
    assert floor["questions"]["mean"] == 0
    assert 0.5 < floor["ari"]["mean"] < 0.8
    assert not rows["KMeans"]["failed"]
    assert Page((tmp_path / "peers.html").read_text("utf-8")).open == []
    assert run_peers(**options) == results
    assert (tmp_path / "peers.jsonl").read_bytes() == before


def fake_python(folder, text):
    script = folder / "python"
    script.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    script.chmod(0o755)
    return types.SimpleNamespace(executable=str(script))


def test_a_slow_peer_is_ended_and_keeps_what_it_reached(tmp_path, monkeypatch):
    cell = {"budget": 100, "questions": 100, "ari": 0.5, "found": 3, "clusters": 4}
    cell |= {"seconds": 1.0, "memory_mb": None}
    text = f"import json, time\nprint(json.dumps({cell}), flush=True)\ntime.sleep(60)\n"
    monkeypatch.setattr(peer_pool, "sys", fake_python(tmp_path, text))
    results = run_peers(
        runs=1,
        algorithms=[],
        peers=["KMeans"],
        points=[100, 300],
        data=["digits"],
        limit=3,
        out=tmp_path,
    )
    row = results["datasets"]["digits"]["rows"]["KMeans"]
    assert row["unfinished"] == ["unfinished after 3 s"]
    assert [cell["reached"] for cell in row["cells"]] == [1, 0]
    assert row["cells"][0]["ari"]["mean"] == 0.5


def test_a_peer_that_fails_says_why(tmp_path, monkeypatch):
    python = fake_python(tmp_path, "raise SystemError('no such thing')\n")
    monkeypatch.setattr(peer_pool, "sys", python)
    results = run_peers(
        runs=1, algorithms=[], peers=["KMeans"], points=[100], data=["digits"], out=tmp_path
    )
    row = results["datasets"]["digits"]["rows"]["KMeans"]
    assert row["failed"] == ["SystemError: no such thing"]
    assert row["cells"][0]["reached"] == 0


def test_cobras_gets_the_alias_it_needs_and_only_then(monkeypatch):
    """A stand-in with the calls of the released package."""

    class Cobras:
        def __init__(self, data, querier, max_questions):
            self.data, self.querier, self.most = data, querier, max_questions
            self.intermediate_results = []

        def cluster(self):
            labels = np.zeros(len(self.data)).astype(np.int).tolist()  # noqa: NPY001
            for i in range(self.most):
                self.querier.query_points(i, i + 1)
                self.intermediate_results.append((labels, 0.0, i + 1))
            clustering = types.SimpleNamespace(construct_cluster_labeling=lambda: [1] * len(labels))
            return clustering, None, None, None, None

    module = types.ModuleType("cobras_ts.cobras_kmeans")
    module.COBRAS_kmeans = Cobras
    monkeypatch.setitem(sys.modules, "cobras_ts", types.ModuleType("cobras_ts"))
    monkeypatch.setitem(sys.modules, "cobras_ts.cobras_kmeans", module)
    reports = []
    peers.ask_cobras(
        np.zeros((20, 2)), np.zeros(20), [4, 9], 0, lambda *given: reports.append(given)
    )
    assert [(budget, asked, labels[0]) for budget, asked, labels in reports] == [
        (4, 4, 0),
        (9, 9, 1),
    ]
    assert "int" not in vars(np)


def test_clusters_found_counts_majorities():
    y = np.repeat([0, 1, 2], [5, 3, 1])
    assert clusters_found(y, y) == 3
    assert clusters_found(y, np.zeros(9)) == 1
    assert clusters_found(y, [0, 0, 0, 1, 1, 1, 1, 1, 2]) == 3
    assert clusters_found(y, [-1] * 9) == 0
