"""The experiments: the paper's numbers, what is read off runs, and how that is summarised and shown."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import samekind
from experiments import cli, peer, peers, studies
from experiments.ablation import ABLATION, Ablation, Study, variant
from experiments.certificate import Certificates
from experiments.comparison import Comparison
from experiments.design import run_experiment
from experiments.drawings import SHAPES, write_drawings
from experiments.page import print_results
from experiments.paper import PRACTICAL, PaperTables
from experiments.publish import DOCS, FILES, PAGES, with_blocks
from experiments.results import Results, read_results
from experiments.store import RunStore
from experiments.studies import QUESTIONS, WrongAnswers
from experiments.tables import tables_of
from experiments.trace import PaperSetup, draws_seed
from experiments.truth import Instance
from samekind import Session
from samekind.data import load
from samekind.datasets import make_synthetic

ROOT = Path(__file__).parent.parent
TINY = {"points": (30, 60, 90)}
EVERY = (*PRACTICAL, "focused")


def saved(folder):
    return RunStore(Path(folder) / "runs.jsonl").read()


def lines(results, data, metric, algorithm):
    found = results.of(data) if isinstance(results, Results) else results
    found = found[(found["metric"] == metric) & (found["algorithm"] == algorithm)]
    return found.set_index("at")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    return folder, run_experiment(
        PaperTables(["digits"], runs=2, algorithms=EVERY, **TINY), jobs=1, out=folder
    )


# The paper's numbers


# Means, intervals and marks


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


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/results/*.json")), ids=lambda p: p.stem)
def test_published_results_are_what_their_pages_show(path):
    page = Page(path.with_suffix(".html").read_text("utf-8"))
    assert page.open == []
    tables = [table for found in tables_of(read_results(path)).values() for table in found]
    shown = [text for table in tables for _, cells in table.lines() for text, _ in cells]
    assert page.cells == shown


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


@pytest.mark.slow
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


def blobs(n=400, k=5, sigma=0.2):
    return Instance(
        *samekind.datasets.make_synthetic(
            n, n_clusters=k, alpha=0.5, n_features=3, sigma=sigma, random_state=3
        )
    )


def ignore(_):
    pass


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


@pytest.mark.parametrize("algorithm", ["basic"])
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


# What it must show, and its parts


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


# Promises, and rows that nobody can tell


@pytest.mark.slow
def test_certified_runs_and_marks(tmp_path):
    design = Certificates(["wine", "overlapping"], runs=2, n=1_400)
    results = run_experiment(design, jobs=1, out=tmp_path)
    keys = ["data", "algorithm", "metric", "at"]
    found = results.summary.set_index(keys)["mean"].sort_index()
    assert 30 < found["wine", "focused, stop=certified", "questions_to_certify", 0.05] < 178
    assert found["wine", "focused, stop=certified", "holds", 0.05] == 100
    promised = found["overlapping", "focused, goal=labels"]
    assert promised["wrong_share", 1_000] <= promised["wrong_bound", 1_000] < 30
    assert (tmp_path / "certificate.html").is_file()


OPTIONS = {"runs": 6, "n": 20_000, "points": [4_000], "algorithms": ["batched"]}


# Peers


@pytest.mark.slow
def test_peers_are_compared_and_kept(tmp_path, monkeypatch):
    found = {"sklearn": True, "samekind": True}
    monkeypatch.setattr(peer, "find_spec", found.get)
    monkeypatch.delenv("SAMEKIND_PEERS", raising=False)
    design = Comparison(["digits"], algorithms=["batched"], runs=1, points=[300, 100])
    assert set(design.skipped) == set(peers.PEERS) - {"KMeans"}
    assert (
        "clone it at b6d700e into the folder that SAMEKIND_PEERS names" in design.skipped["COBRAS"]
    )
    results = run_experiment(design, jobs=2, out=tmp_path)
    before = (tmp_path / "runs.jsonl").read_bytes()
    means = results.summary.set_index(["algorithm", "metric", "at"])["mean"].sort_index()
    assert means["samekind batched", "questions"].tolist() == [100, 300]
    assert means["samekind batched", "ari", 100] < means["samekind batched", "ari", 300]
    assert means["samekind batched", "found", 300] == 10
    assert means["KMeans", "questions", 100] == 0
    assert 0.5 < means["KMeans", "ari", 100] < 0.8
    assert results.details["problems"] == {}
    assert run_experiment(design, jobs=2, out=tmp_path).to_json() == results.to_json()
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    console = Console(width=140, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    print_results(results, console)
    console.file.close()
    assert "pip install 'samekind[peers]' adds it" in console.export_text()  # not taken for markup
    assert "samekind[peers]" in (tmp_path / "peers.html").read_text("utf-8")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("page", PAGES)
def test_documents_have_what_the_results_say(page, name):
    """If this fails: `python -m experiments publish` with the folder of the runs."""
    results, text = (DOCS / "results" / f"{name}.json"), (DOCS / page).read_text("utf-8")
    assert with_blocks(text, read_results(results)) == text


@pytest.mark.slow
def test_drawings_are_sorted_by_one_who_reads_only_the_page(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    from experiments import person

    monkeypatch.setitem(person.MARKS, "pictures", (20, 70))
    kinds = write_drawings(tmp_path / "drawings", n=120, random_state=1)
    items = load(tmp_path / "drawings", cache=tmp_path / "cache")
    sitting = person.sit_down("pictures", items, kinds, seed=0)
    early, late = sitting.looks
    assert late["clusters"] == len(SHAPES)
    assert early["right"] < late["right"]
    assert late["right"] > 0.85
    assert late["known"] >= 60
    assert 70 <= sitting.presses < 90


@pytest.mark.slow
def test_the_same_person_reads_the_screen_of_a_real_browser(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    from experiments import person

    pytest.importorskip("playwright")
    from experiments.person_browser import chromium

    monkeypatch.setitem(person.MARKS, "pictures", (20, 70))
    kinds = write_drawings(tmp_path / "drawings", n=120, random_state=1)
    items = load(tmp_path / "drawings", cache=tmp_path / "cache")
    with chromium() as browser:
        sitting = person.sit_down("pictures", items, kinds, 0, browser)  # raises if a reply is 5xx
    early, late = sitting.looks
    assert early["right"] < late["right"]
    assert late["right"] > 0.85
    assert {"lineup", "new kind"} <= set(sitting.types)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", PRACTICAL)
@pytest.mark.parametrize(("run", "p"), [(1, 0.6)])
def test_a_run_with_foresight_is_the_run_row_by_row(algorithm, run, p):
    """Small clusters, so that many rows are drawn again: those take no question, but count."""
    data = Instance(*make_synthetic(3_000, n_clusters=20, alpha=2.0, p=p, random_state=run))
    budget = 2_500
    quick = PaperSetup(budget, budget, 20, batch=1).trace(algorithm, data, run, lambda _: None)
    seed = draws_seed(run)
    with Session(
        data.points, algorithm, budget=budget, batch=1, epsilon=None, random_state=seed
    ) as session:
        recovered_at, discovered_at = [], [0] * session.progress.discovered
        while not session.done and len(recovered_at) < data.n_clusters:
            session.tell(pairs := session.pending(), data.oracle(pairs))
            now = session.progress
            discovered_at += [now.questions] * (now.discovered - len(discovered_at))
            recovered_at += [now.questions] * (now.recovered - len(recovered_at))
        clusters = session.clusters()
    assert len(recovered_at) >= 8
    assert quick["recovered_at"] == recovered_at
    assert quick["discovered_at"] == discovered_at
    assert quick["questions"] == clusters.n_questions_
    codes = data.true_clusters(clusters)[: clusters.n_recovered_]
    errors = data.centroid_errors(clusters.centers_, codes)
    np.testing.assert_allclose(quick["errors"], errors, rtol=1e-5)
