"""The experiments: the paper's numbers, what is read off runs, and how that is summarised and shown."""

import ast
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import samekind
from experiments import cli
from experiments.benchmark_data import DATA, GROUPS, data_of_group
from experiments.design import focused_setup, run_experiment
from experiments.figures import figures_of
from experiments.metrics import (
    METRICS,
    observations,
    read_at_marks,
    read_curve,
    read_paper,
    read_per_point,
)
from experiments.page import page_of, print_results
from experiments.paper import PRACTICAL, PaperTables
from experiments.pool import ExperimentError
from experiments.results import Results, read_results
from experiments.store import RunStore
from experiments.summary import add_paper, summarize
from experiments.tables import cell_text, tables_of
from experiments.targets import paper_captions, paper_columns, paper_numbers

ROOT = Path(__file__).parent.parent
TINY = {"points": (30, 60, 90)}
EVERY = (*PRACTICAL, "focused")


def saved(folder):
    return RunStore(Path(folder) / "runs.jsonl").read()


def lines(results, data, metric, algorithm):
    found = results.of(data) if isinstance(results, Results) else results
    found = found[(found["metric"] == metric) & (found["algorithm"] == algorithm)]
    return found.set_index("at")


def printed(results):
    console = Console(width=200, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    print_results(results, console)
    console.file.close()
    return console.export_text()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    return folder, run_experiment(
        PaperTables(["digits"], runs=2, algorithms=EVERY, **TINY), jobs=1, out=folder
    )


# The paper's numbers


def test_paper_has_every_table():
    tables = paper_numbers().groupby(["metric", "paper_data"])
    widths = {"synthetic-p0": 9, "synthetic-p0.1": 9, "synthetic-p0.3": 9, "shuttle": 5, "kdd": 6}
    assert {key: group["at"].nunique() for key, group in tables} == {
        **{("fixed_budget", data): width for data, width in widths.items()},
        **{("fixed_recovery", data): 5 if data == "shuttle" else 6 for data in widths},
        **{("centroid_error", data): 6 for data in widths},
    }
    for (metric, data), group in tables:
        assert paper_captions()[metric, data]
        rows = group.pivot(index="algorithm", columns="at", values="paper")
        assert list(rows.index) == ["basic", "batched", "uniform"]
        assert rows.notna().all(axis=None)
        # errors go up and down, the others only up
        assert metric == "centroid_error" or (rows.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)


@pytest.mark.parametrize(
    ("metric", "data", "algorithm", "at", "value"),
    [
        ("fixed_budget", "synthetic-p0", "uniform", 200_000, 48.01),
        ("fixed_budget", "synthetic-p0.1", "basic", 120_000, 51.14),
        ("fixed_budget", "synthetic-p0.3", "batched", 175_000, 60.04),
        ("fixed_budget", "kdd", "uniform", 100_000, 9.95),
        ("fixed_recovery", "synthetic-p0", "batched", 70, 2845.01),
        ("fixed_recovery", "shuttle", "uniform", 3, 79.10),
        ("fixed_recovery", "kdd", "uniform", 12, 79672.90),
        ("centroid_error", "synthetic-p0.1", "uniform", 40, 9.39),
        ("centroid_error", "shuttle", "batched", 2, 8.94),
        ("centroid_error", "kdd", "basic", 14, 5.95),
    ],
)
def test_papers_values(metric, data, algorithm, at, value):
    keys = ["metric", "paper_data", "algorithm", "at"]
    assert paper_numbers().set_index(keys)["paper"][metric, data, algorithm, at] == value


def test_columns_are_the_papers_or_our_own():
    assert DATA["kdd10-reweighted"].columns("fixed_budget")[0] == 5_000
    assert DATA["shuttle"].columns("centroid_error")[0] == 2
    assert DATA["shuttle"].columns("rounds") == [3, 4, 5, 6, 7]
    assert DATA["digits"].columns("fixed_recovery")[-1] == 10
    assert paper_columns("fixed_budget", None) == []
    assert data_of_group("kdd") == ["kdd10", "kdd10-reweighted"]
    assert "mixture-1" not in GROUPS["all"]
    [case] = PaperTables(["synthetic-p0"], algorithms=["basic"]).cases()
    assert (case.setup.budget, case.setup.cap) == (200_000, 600_000)
    assert [case.runs for case in PaperTables(["kdd"], algorithms=["basic"]).cases()] == [100, 10]


@pytest.mark.parametrize("data", DATA.values(), ids=lambda data: data.name)
def test_marks_fit_the_columns(data):
    """A column below the last mark must be a mark, or nothing would be known there."""
    assert list(data.marks) == sorted(set(data.marks))
    columns = data.columns("fixed_budget")
    assert {column for column in columns if column <= data.marks[-1]} <= set(data.marks)
    assert focused_setup(data, None, None).marks == tuple(data.marks)
    assert focused_setup(data, [10**9], None).marks == (data.marks[-1],)  # never asks more


# Means, intervals and marks


def summary_of(values, **keys):
    keys = {"data": "digits", "algorithm": "basic", "metric": "ari", "at": 1.0} | keys
    return summarize(pd.DataFrame(keys | {"value": values}))


def test_interval_is_students():
    cell = summary_of([1.0, 2.0, 3.0, np.nan]).loc[0]
    half = 4.302652729911275 / np.sqrt(3)  # t quantile of 2 degrees of freedom, deviation 1
    assert tuple(cell[["mean", "median", "deviation", "runs", "reached"]]) == (2, 2, 1, 4, 3)
    assert cell["low"] == pytest.approx(2 - half)
    assert cell["high"] == pytest.approx(2 + half)
    assert summary_of([4.0])[["low", "high", "deviation"]].isna().all(axis=None)
    infinite = summary_of([1.0, 2.0, np.inf]).loc[0]
    assert infinite[["mean", "low", "high"]].isna().all()
    assert (infinite["median"], infinite["reached"]) == (2.0, 3)


@pytest.mark.parametrize(
    ("values", "metric", "mark"),
    [
        ([4.89, 4.90, 4.91], "fixed_budget", "better"),  # the paper has 4.83
        ([4.81, 4.83, 4.86], "fixed_budget", "within"),
        ([4.834, 4.834, 4.834], "fixed_budget", "within"),  # the paper prints two decimals
        ([4.6, 4.61, 4.62], "fixed_budget", "worse"),
        ([9.0], "fixed_budget", "open"),
        ([9.0, 9.1, 9.2], "rounds", None),
    ],
)
def test_marks(values, metric, mark):
    cell = summary_of(values, data="shuttle", algorithm="uniform", metric=metric, at=20_000)
    found = add_paper(cell)["mark"].iloc[0]
    assert found == mark or (mark is None and pd.isna(found))


def record(run, recovered_at, questions, errors=None):
    return {
        "data": "shuttle",
        "run": run,
        "algorithm": "basic",
        "setup": {"n": None, "budget": 30_000, "cap": 90_000},
        "questions": questions,
        "recovered_at": recovered_at,
        "rounds_at": list(range(1, len(recovered_at) + 1)),
        "sampling_at": [0.5] * len(recovered_at),
        "errors": errors or [0.05] * len(recovered_at),
    }


def paper_summary(*records):
    read = read_paper(lambda metric, data: DATA[data].columns(metric))
    return add_paper(summarize(observations(records, read, read_at_marks, read_curve)))


def test_tables_from_runs_by_hand():
    summary = paper_summary(
        record(0, [10, 20, 300, 1_000, 5_000, 20_000, 28_000], 30_000),
        record(1, [10, 20, 500, 2_000, 5_001, 20_000, 28_000], 30_000, errors=[0.01] * 7),
    )
    budget = lines(summary, "shuttle", "fixed_budget", "basic")
    assert budget["mean"].tolist() == [3.5, 4.5, 5.0, 6.0, 7.0]
    assert budget["paper"].tolist() == [3.22, 4.89, 5.48, 6.14, 6.55]
    assert budget["mark"][30_000] == "open"  # seven in both runs: no spread is no certainty
    recovery = lines(summary, "shuttle", "fixed_recovery", "basic")
    assert recovery["mean"][[3, 7]].tolist() == pytest.approx([400 / 3, 4_000])
    assert recovery["mark"][7] == "open"
    spread = paper_summary(
        *(record(i, [10, 20, 300, 1_000, 1_500 + i, 2_000, 2_000 + i], 30_000) for i in range(3))
    )
    assert lines(spread, "shuttle", "fixed_recovery", "basic")["mark"][7] == "better"
    assert lines(summary, "shuttle", "centroid_error", "basic")["mean"][2] == pytest.approx(
        3.0
    )  # %
    assert lines(summary, "shuttle", "rounds", "basic")["mean"][7] == 7.0
    assert lines(summary, "shuttle", "sampling_time", "basic")["mean"][3] == 0.5
    assert lines(summary, "shuttle", "curve", "basic")["mean"][30_000] == 7.0


def test_unreached_columns_are_said_and_not_dropped():
    summary = paper_summary(
        record(0, [9, 99, 900, 4_000], 90_000), record(1, [9, 99, 900, 5_000, 6_000], 90_000)
    )
    recovery = lines(summary, "shuttle", "fixed_recovery", "basic")
    assert recovery["reached"].tolist() == [2, 2, 1, 0, 0]
    five, six = recovery.loc[5], recovery.loc[6]
    assert five["mean"] == 1_200.0
    assert five["at_least"] == pytest.approx((90_000 + 6_000) / 2 / 5)
    assert five["mark"] == "worse"  # 9,600 at least, and the paper's is 725.46
    assert cell_text(five) == "1,200.00 (1 of 2)"
    assert cell_text(six) == "> 15,000.00"
    error = lines(summary, "shuttle", "centroid_error", "basic").loc[7]
    assert (error["mark"], cell_text(error)) == ("open", "not reached")
    infinite = paper_summary(*(record(i, [1, 2, 3], 9, [None, None, 0.1]) for i in range(2)))
    assert cell_text(lines(infinite, "shuttle", "centroid_error", "basic").loc[3]) == "infinite"


# The experiment


def test_results_are_whole(tiny):
    folder, results = tiny
    assert results.data == ["digits"]
    for algorithm in EVERY:
        cells = lines(results, "digits", "fixed_budget", algorithm)
        assert list(cells.index) == [30, 60, 90]
        assert (cells["runs"] == 2).all()
        assert cells["mark"].isna().all()
        # "focused" may find that it was sure of a cluster too soon
        assert algorithm == "focused" or cells["mean"].is_monotonic_increasing
        curve = lines(results, "digits", "curve", algorithm)["mean"]
        assert (curve.index[-1], curve.iloc[-1]) == (90, cells["mean"][90])
        took = results.summary.query("algorithm == @algorithm and metric.str.startswith('took_')")
        assert took["mean"].iloc[:3].sum() == pytest.approx(100)
    text = (folder / "results.json").read_text("utf-8")
    assert str(folder) not in text
    assert set(results.machine) == {"cores", "system"}
    assert set(results.made_by) >= {"samekind", "numpy", "scikit-learn"}
    loaded = read_results(folder / "results.json")
    pd.testing.assert_frame_equal(loaded.summary, results.summary, rtol=0)
    assert loaded.to_json() == text
    assert len(saved(folder)) == 8


def test_tables_are_printed(tiny):
    text = printed(tiny[1])
    for said in ("Clusters recovered with so many questions", "batched", "≥ 3", "Not in the paper"):
        assert said in text
    assert "“focused” with so many questions" in text


class Page(HTMLParser):
    VOID = ("meta", "br", "img", "link", "input", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.figures, self.attributes, self.cells = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        self.cells += [""] if tag == "td" else []
        if tag == "svg":
            self.figures.append(self.open[-1][1]["id"])
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "td":
            self.cells[-1] += data


def test_page_is_well_formed_and_loads_nothing(tiny):
    text = (tiny[0] / "results.html").read_text("utf-8")
    page = Page(text)
    assert page.open == []
    assert "<script" not in text
    links = [value for name, value in page.attributes if name in ("src", "href", "xlink:href")]
    assert all(link.startswith("#") for link in links)
    assert any(str(value).startswith("default-src 'none'") for _, value in page.attributes)
    names = "recovered fixed-recovery centroid-error rounds sampling-time focused per-point"
    assert page.figures == [f"digits-{name}" for name in names.split()]
    idents = [value for name, value in page.attributes if name == "id"]
    assert len(idents) == len(set(idents))
    assert "var(--ink)" in text  # light or dark, as the reader has it
    assert len(text) < 250_000
    [axes] = figures_of(tiny[1], "digits")[0].plot.axes
    assert axes.get_legend_handles_labels()[1] == list(EVERY)
    assert len(axes.collections) == len(EVERY)  # their bands


def test_papers_points_are_drawn():
    runs = [record(i, [9, 99, 900, 4_000, 5_000, 6_000, 7_000 + i], 30_000) for i in range(3)]
    shares = {"shares": [0.5, 0.3, 0.2], "mean": 1.7, "after": 9}
    read = read_paper(lambda metric, data: DATA[data].columns(metric))
    seen = observations([r | {"per_point": shares} for r in runs], read, read_curve, read_per_point)
    results = Results("paper", add_paper(summarize(seen)), {"focused_questions": {}})
    [axes] = figures_of(results, "shuttle")[0].plot.axes
    assert axes.lines[-1].get_ydata().tolist() == [3.22, 4.89, 5.48, 6.14, 6.55]
    assert "shuttle-recovered" in Page(page_of(results)).figures


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/results/*.json")), ids=lambda p: p.stem)
def test_published_results_are_what_their_pages_show(path):
    page = Page(path.with_suffix(".html").read_text("utf-8"))
    assert page.open == []
    tables = [table for found in tables_of(read_results(path)).values() for table in found]
    shown = [text for table in tables for _, cells in table.lines() for text, _ in cells]
    assert page.cells == shown


def test_other_files_are_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(ValueError, match="does not hold the results of an experiment"):
        read_results(tmp_path / "other.json")


def test_same_command_does_only_what_is_missing(tmp_path, tiny):
    lines_of = (tiny[0] / "runs.jsonl").read_bytes().splitlines(keepends=True)
    torn = lines_of[5][: len(lines_of[5]) // 2]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(lines_of[:5]) + torn)
    results = run_experiment(
        PaperTables(["digits"], runs=2, algorithms=EVERY, **TINY), jobs=1, out=tmp_path
    )
    store = RunStore(tmp_path / "runs.jsonl")
    assert len(store.read()) == 8
    assert store.n_damaged == 1
    after = (tmp_path / "runs.jsonl").read_bytes()
    assert after.startswith(b"".join(lines_of[:5]) + torn + b"\n")
    untimed = ~results.summary["metric"].isin(["sampling_time"])
    pd.testing.assert_frame_equal(results.summary[untimed], tiny[1].summary[untimed])
    run_experiment(PaperTables(["digits"], runs=1, algorithms=EVERY, **TINY), jobs=1, out=tmp_path)
    assert (tmp_path / "runs.jsonl").read_bytes() == after  # nothing was done again


def test_runs_of_other_settings_are_not_mixed_in(tmp_path, tiny):
    (tmp_path / "runs.jsonl").write_bytes((tiny[0] / "runs.jsonl").read_bytes())
    other = PaperTables(["digits"], runs=1, algorithms=["basic"], points=[250])
    results = run_experiment(
        other, jobs=1, out=tmp_path, json_file=tmp_path / "there" / "also.json"
    )
    assert len(saved(tmp_path)) == 9
    assert lines(results, "digits", "fixed_budget", "basic")["runs"].tolist() == [1]
    assert read_results(tmp_path / "there" / "also.json").to_json() == results.to_json()


def test_exact_algorithms_run_too_and_paper_is_left_out_for_other_sizes(tmp_path):
    options = {"runs": 1, "algorithms": ["basic-exact"], "n": 300, "points": [1_000]}
    results = run_experiment(PaperTables(["synthetic-p0"], **options), jobs=1, out=tmp_path)
    assert results.summary["paper"].isna().all()
    assert lines(results, "synthetic-p0", "fixed_budget", "basic-exact")["runs"].tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["nope"]}, "there is no data set 'nope'"),
        ({"runs": 0}, "runs must be a positive int, got 0"),
        ({"algorithms": ["best"]}, "algorithm must be one of"),
        ({"points": [0]}, "points must be a positive int, got 0"),
        ({"n": 10}, "n must be an int of at least 100"),
        ({"batch": 0}, "batch must be a positive int"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PaperTables(**{"data": ["digits"]} | options)


def test_data_that_is_not_there_is_left_out_with_the_reason(tmp_path, monkeypatch):
    def no_data(**_):
        raise samekind.errors.DataError("nowhere to be found")

    monkeypatch.setattr(samekind.datasets, "load_shuttle", no_data)
    options = {"runs": 1, "algorithms": ["basic"], **TINY}
    results = run_experiment(PaperTables(["digits", "shuttle"], **options), jobs=1, out=tmp_path)
    assert results.data == ["digits"]
    assert results.skipped == {"Shuttle": "its data could not be loaded"}
    with pytest.raises(ExperimentError, match="nowhere to be found"):
        run_experiment(PaperTables(["shuttle"], **options), jobs=1, out=tmp_path)


def test_only_what_is_public_in_samekind_is_used():
    public = {"__version__", *samekind.__all__}
    for path in ROOT.glob("experiments/*.py"):
        if path.name == "ablation.py":  # it switches parts off
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("samekind"):
                module = import_module(node.module)
                assert node.module in (
                    "samekind",
                    "samekind.algorithms",
                    "samekind.data",
                    "samekind.data.records",
                    "samekind.datasets",
                    "samekind.errors",
                    "samekind.flow",
                    "samekind.measures",
                    "samekind.points",
                    "samekind.project",
                    "samekind.web",
                )
                names = {alias.name for alias in node.names}
                assert names <= (public if module is samekind else set(module.__all__)), path.name


# The command


def test_command_prints_and_writes(tmp_path, capsys):
    options = ["--runs", "1", "--jobs", "1", "--points", "100, 200", "--algorithms", "basic"]
    assert cli.main(["paper", "digits", *options, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Clusters recovered" in out
    assert "results.html" in out
    (tmp_path / "results.html").unlink()
    assert cli.main(["page", str(tmp_path / "results.json")]) == 0
    assert (tmp_path / "results.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paper", "digits", "--points", "ten"], "--points: must be whole numbers, with commas"),
        (["paper", "digitz"], "there is no data set 'digitz'"),
        (["noisy", "--errors", "many"], "--errors: must be numbers such as 0.1, with commas"),
        (["ablation", "--data", "kdd10"], "data must be among"),
        (["focused", "--runs", "0"], "runs must be a positive int, got 0"),
    ],
)
def test_command_explains_mistakes(tmp_path, capsys, arguments, message):
    try:
        code = cli.main([*arguments, "--out", str(tmp_path / "never")])
    except SystemExit as refused:
        code = refused.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_option_is_taken_by_its_experiment(command, monkeypatch):
    examples = {str: "digits", int: "100", Path: "file"}
    arguments = [command]
    for option in cli.COMMANDS[command][1].split():
        if option in cli.SWITCHES:
            arguments.append(option)
            continue
        example = examples.get(cli.OPTIONS[option][0], "batched" if "alg" in option else None)
        data = "rare" if command == "unsure" else "digits"
        others = {"--errors": "0.1", "--data": data, "--parts": "audit"}
        example = example or others.get(option, "100")
        arguments += [option, example] if option.startswith("-") else [example]
    options = cli._parser().parse_args(arguments)
    if command not in ("copies", "page", "parents", "person", "publish", "records"):
        assert cli._design(options).cases()


def test_every_metric_has_a_unit_with_decimals():
    for name, metric in METRICS.items():
        assert metric.number(1.0), name


def test_relatives_stand_beside_ours(tmp_path, capsys):
    options = ["--runs", "1", "--jobs", "1", "--data", "digits", "--algorithms", "uniform"]
    assert cli.main(["relatives", *options, "--out", str(tmp_path)]) == 0
    found = read_results(tmp_path / "relatives.json")
    for name in ("samekind uniform", "AKB16", "BCLP20", "MS17a", "KwikBucks"):
        steps = lines(found, "digits", "questions_to_share", name)["mean"].tolist()
        assert 5 <= steps[0] <= steps[1] <= steps[2]
    for name in ("BCLP20", "MS17a", "SS19", "KwikBucks"):
        assert lines(found, "digits", "ari_all", name)["mean"].iloc[0] > 0.99
    assert "BCLP20" in capsys.readouterr().out
