"""The command line: what it writes, what it says where, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import samekind
from samekind.algorithms import ALGORITHMS, DEFAULT
from samekind.cli import app

FILES = {"report.html", "clusters.csv", "centers.csv", "clusters.npz"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a file of three kinds."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kinds = np.repeat(["rose", "iris", "fern"], 20)
    places = np.repeat([0.0, 10.0, 30.0], 20)
    pd.DataFrame(
        {
            "name": [f"flower {i}" for i in range(60)],
            "height": places + rng.normal(size=60),
            "width": places + rng.normal(size=60),
            "kind": kinds,
        }
    ).to_csv("flowers.csv", index=False)
    return tmp_path


def samekind_cli(*arguments, code=0, stdin=None):
    """Run within this process; return what was printed."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def process(*arguments, script=None, **options):
    """Start a process of its own."""
    command = ["-m", "samekind"] if script is None else ["-c", script]
    return subprocess.Popen(
        [sys.executable, *command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
        **options,
    )


def test_run_with_labels(folder):
    result = samekind_cli("run", "flowers.csv", "--labels", "kind", "--out", "here")
    assert {path.name for path in Path("here").iterdir()} == FILES
    rows = pd.read_csv("here/clusters.csv")
    own = pd.read_csv("flowers.csv")
    assert rows[own.columns].equals(own)
    assert list(rows.columns)[own.shape[1] :] == [
        *("row", "samekind_kind", "samekind_name", "name_is_proposed", "known", "confidence"),
        "label",
    ]
    assert rows.groupby("label").samekind_kind.nunique().tolist() == [1, 1, 1]
    centers = pd.read_csv("here/centers.csv")
    assert list(centers.columns) == [
        *("kind", "name", "recovered", "known_rows"),
        *("height", "width"),
    ]
    assert samekind.Clusters.load("here/clusters.npz").n_recovered_ == 3
    # The summary goes to the output, what was done on the way does not.
    assert "clusters recovered" in result.stdout
    assert "adjusted Rand index" in result.stdout
    assert "here/report.html" in result.stdout
    # Centres are in the units of the file, although the columns were standardised.
    assert sorted(centers.height.round(-1)) == [0, 10, 30]
    assert "in the units of the data" in result.stdout
    assert "column 'name' left out" in result.stderr
    assert "asked" in result.stderr
    assert "column 'name'" not in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_options_reach_the_run(folder):
    samekind_cli(
        *(
            "run",
            "flowers.csv",
            "--labels",
            "kind",
            "--exclude",
            "width",
            "--read",
            "standardize=no",
        ),
        *("--algorithm", "basic", "--budget", "50", "--set", "target=2", "--set", "heavy=5"),
        *("--set", "epsilon=0.1", "--set", "batch=3", "--seed", "7"),
    )
    clusters = samekind.Clusters.load("samekind-run/clusters.npz")
    assert (clusters.algorithm_, clusters.random_state_) == ("basic", 7)
    assert clusters.n_recovered_ == 2
    assert clusters.stop_reason_ == "target"
    assert clusters.all_centers_.shape[1] == 1
    assert clusters.all_centers_.max() > 5  # not standardised


@pytest.mark.slow
def test_many_columns_are_reduced_as_wanted(folder):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    np.savez("rows.npz", X=3.0 * rng.normal(size=(3, 70))[y] + rng.normal(size=(120, 70)), y=y)
    command = ("run", "rows.npz", "--labels", "y", "--budget", "60")
    for options, told in (
        ((), "by their distance in 64 of 70 dimensions"),
        (("--set", "reduce=5", "--set", "metric=cosine"), "by their direction (cosine) in 5 of 70"),
    ):
        result = samekind_cli(*command, *options)
        assert told in " ".join(result.stdout.replace("│", " ").split())
        assert pd.read_csv("samekind-run/centers.csv").filter(like="x").shape[1] == 70
    assert "dimensions" not in samekind_cli(*command, "--set", "reduce=none").stdout


def test_same_seed_same_files(folder):
    """P27: to the byte."""
    for out in ("one", "two"):
        samekind_cli("run", "flowers.csv", "--labels", "kind", "--out", out, "--seed", "3")
    for name in FILES - {"clusters.npz"}:  # which holds the time it took
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_others_files_are_left_alone(folder):
    out = Path("out")
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "report.html").write_text("old")
    samekind_cli("run", "flowers.csv", "--labels", "kind", "--out", "out")
    assert {path.name for path in out.iterdir()} == FILES | {"notes.txt"}
    assert (out / "notes.txt").read_text() == "mine"
    assert len((out / "report.html").read_text(encoding="utf-8")) > 1000


def test_the_data_are_never_written_over(folder):
    Path("flowers.csv").rename("clusters.csv")
    before = Path("clusters.csv").read_bytes()
    result = samekind_cli("run", "clusters.csv", "--labels", "kind", "--out", ".", code=2)
    assert "would replace the data" in result.stderr
    assert Path("clusters.csv").read_bytes() == before


def test_project_keeps_the_answers_of_labels(folder):
    first = samekind_cli(
        *("run", "flowers.csv", "--labels", "kind", "--project", "p.db", "--budget", "10")
    )
    assert re.search(r"questions +│ 10 ", first.stdout)
    again = samekind_cli("run", "flowers.csv", "--labels", "kind", "--project", "p.db")
    assert "10 answers from before are in p.db." in again.stderr
    free = samekind_cli("run", "flowers.csv", "--labels", "kind", "--out", "free")
    asked = re.compile(r"questions +│ (\d+) ")
    assert asked.findall(again.stdout) == asked.findall(free.stdout)


def test_terminal_from_a_pipe(folder):
    arguments = ("run", "flowers.csv", "--oracle", "terminal", "--exclude", "kind")
    result = samekind_cli(*arguments, stdin="n\nn\n")
    assert "Press 3." in result.stderr
    assert "stopped by you" in result.stdout
    assert "To go on, run the same command:" in result.stderr
    assert re.search(r"\d answers from before", samekind_cli(*arguments, stdin="q\n").stderr)
    assert Path("samekind-run/project.db").exists()
    with samekind.Ledger("samekind-run/project.db") as ledger:
        assert len(ledger) >= 2  # a line-up says something of several pairs


def test_hidden_labels_are_compared_with_at_the_end(folder):
    result = samekind_cli(
        "run", "flowers.csv", "--oracle", "terminal", "--labels", "kind", stdin="n\n"
    )
    assert not re.search("rose|iris|fern", result.stderr)
    assert "adjusted Rand index" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.csv", "--labels", "kind"], "nope.csv does not exist"),
        (["flowers.csv"], "nobody is there to answer"),
        (["flowers.csv", "--labels", "knd"], "Did you mean 'kind'?"),
        (["flowers.csv", "--labels", "kind", "--set", "epsilon=7"], "--set epsilon must be"),
        (["flowers.csv", "--labels", "kind", "--set", "colour=3"], "--set must be NAME=VALUE"),
        (["flowers.csv", "--labels", "kind", "--read", "image_shape=8x8"], "have 64 columns"),
        (["flowers.csv", "--labels", "kind", "--out", "flowers.csv"], "--out must be a folder"),
        (["flowers.csv", "--labels", "kind", "--project", "no/p.db"], "there is no such folder"),
        (["text.txt", "--labels", "kind"], "suffix that is not known"),
    ],
)
def test_mistakes_are_explained(folder, arguments, message):
    before = Path("flowers.csv").read_bytes()
    result = samekind_cli("run", *arguments, code=2)
    assert message in result.stderr
    assert re.search(r"^error: ", result.stderr, re.M)
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert Path("flowers.csv").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "flowers.csv", "--labels", "kind", "--budget", "-1"],
        ["dance"],
    ],
)
def test_wrong_usage(folder, arguments):
    result = samekind_cli(*arguments, code=2)
    assert "Usage: samekind" in result.stderr
    assert not list(folder.glob("samekind-*"))


def test_project_of_other_data(folder):
    samekind_cli("run", "flowers.csv", "--labels", "kind", "--project", "p.db")
    Path("other.csv").write_text("x,kind\n1,a\n2,a\n3,b\n")
    result = samekind_cli("run", "other.csv", "--labels", "kind", "--project", "p.db", code=2)
    assert "p.db: this project belongs to other data" in result.stderr


def test_columns_with_commas_between_or_given_again(folder):
    for options in (["--exclude", "name,width"], ["--exclude", "name", "--exclude", "width"]):
        samekind_cli("run", "flowers.csv", "--labels", "kind", *options)
        columns = list(pd.read_csv("samekind-run/centers.csv").columns)
        assert columns[-1] == "height"
        assert "width" not in columns
    samekind_cli("run", "flowers.csv", "--labels", "kind", "--columns", "width,height")
    assert list(pd.read_csv("samekind-run/centers.csv").columns)[-2:] == ["width", "height"]


def test_faults_of_our_own_are_not_hidden(folder, monkeypatch):
    monkeypatch.setattr("samekind.cli._job._write_results", lambda *_: [][0])
    with pytest.raises(IndexError):
        samekind_cli("run", "flowers.csv", "--labels", "kind")
    result = CliRunner().invoke(app, ["run", "flowers.csv", "--labels", "kind"])
    assert result.exit_code == 1


def test_demo(folder):
    result = samekind_cli("demo", "--budget", "600")
    assert {path.name for path in Path("samekind-demo").iterdir()} == FILES
    assert "handwritten digits" in result.stderr
    assert re.search(r"kinds in the labels +│ 10", result.stdout)
    assert float(re.search(r"adjusted Rand index +│ ([\d.]+)", result.stdout).group(1)) > 0.7
    assert "samekind run YOUR.csv" in result.stdout


@pytest.mark.slow
def test_demo_of_texts(folder):
    result = samekind_cli("demo", "texts", "--budget", "30")
    assert {path.name for path in Path("samekind-demo-texts").iterdir()} == FILES | {"messages.csv"}
    assert "2,000 messages to a shop" in result.stderr
    assert "at most 30 pairs" in result.stderr
    assert re.search(r"kinds in the labels +│ 16", result.stdout)
    assert "samekind label samekind-demo-texts/messages.csv --text message" in result.stdout


def test_help_names_every_algorithm_and_fits_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    for arguments in (["--help"], ["run", "--help"], ["demo", "--help"]):
        text = samekind_cli(*arguments).output
        assert max(map(len, text.splitlines())) <= 80
    words = " ".join(re.sub("[│╭╮╰╯─]", " ", samekind_cli("run", "-h").output).split())
    assert all(re.search(rf"\b{name}\b", words) for name in ALGORITHMS)
    assert f"[default: {DEFAULT}]" in words
    assert "samekind run flowers.csv --labels species" in words


def test_help_comes_at_once_and_version():
    heavy = ["numpy", "numba", "sklearn", "pandas", "sqlalchemy", "plotly"]
    script = (
        "import sys, json, samekind.cli\n"
        "try: samekind.cli.app(['--version'])\n"
        f"except SystemExit: print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    )
    out, _ = process(script=script).communicate(timeout=30)
    version, loaded = out.splitlines()
    assert version == f"samekind {samekind.__version__}"
    assert json.loads(loaded) == []


SLOW_LABELS = """
import sys, time
from samekind import LabelOracle
from samekind.cli import main
answer = LabelOracle.__call__
def slowly(self, pairs):
    print("asked", file=sys.stderr, flush=True)
    time.sleep({seconds})
    return answer(self, pairs)
LabelOracle.__call__ = slowly
main()
"""


def interrupted(folder, seconds, presses, *arguments):
    command = ("run", "flowers.csv", "--labels", "kind", "--set", "batch=1", *arguments)
    run = process(*command, script=SLOW_LABELS.format(seconds=seconds), cwd=folder)
    seen = []
    for line in run.stderr:
        seen.append(line)
        if seen.count("asked\n") == 3 or (presses > 1 and "asked\n" in seen):
            break
    for _ in range(presses):
        run.send_signal(signal.SIGINT)
        if presses > 1:
            time.sleep(0.5)  # or the two would be taken for one
    out, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "Traceback" not in err
    return out, err


def test_ctrl_c_writes_what_is_known(folder):
    """P1: what was answered is kept, and the same command goes on."""
    out, err = interrupted(folder, 0.05, 1, "--project", "p.db")
    assert "stopped by you" in out
    assert "To go on, run the same command:" in err
    assert "samekind run flowers.csv --labels kind --set batch=1 --project p.db" in err
    clusters = samekind.Clusters.load("samekind-run/clusters.npz")
    assert clusters.stop_reason_ == "user"
    assert 3 <= clusters.n_questions_ < 20
    with samekind.Ledger("p.db") as ledger:
        assert len(ledger) == clusters.n_questions_
    assert len(pd.read_csv("samekind-run/clusters.csv")) == 60
    samekind_cli("run", "flowers.csv", "--labels", "kind", "--set", "batch=1", "--project", "p.db")


@pytest.mark.slow
def test_second_ctrl_c_stops_at_once(folder):
    out, err = interrupted(folder, 60, 2)
    assert out == ""
    assert "--project FILE.db" in err
    assert not Path("samekind-run/clusters.csv").exists()


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_fault(folder):
    with process("run", "flowers.csv", "--labels", "kind", cwd=folder) as run:
        run.stdout.close()
        err = run.stderr.read()
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
    assert run.returncode in (0, 1)
    assert {path.name for path in Path("samekind-run").iterdir()} == FILES


@pytest.fixture
def parts(folder):
    """The same flowers as a folder of Parquet files, with a number for each row."""
    flowers = pd.read_csv("flowers.csv")
    flowers["id"] = range(len(flowers))
    Path("parts").mkdir()
    for k in range(3):
        flowers[20 * k : 20 * k + 20].to_parquet(f"parts/part.{k}.parquet")
    return Path("parts")


def test_where_most_columns_would_be_left_out_it_stops_and_says_what_to_choose(folder):
    """P28."""
    rows = [f"Thing {i},It is the thing of the number {i},{i % 4},{'ab'[i % 2]}" for i in range(30)]
    Path("products.csv").write_text("name,description,price,kind\n" + "\n".join(rows))
    said = samekind_cli("run", "products.csv", "--labels", "kind", code=2).stderr
    for choice in ("--text description", "--records", "--columns price"):
        assert choice in " ".join(said.split())
    run = ("run", "products.csv", "--labels", "kind", "--columns", "price", "--budget", "5")
    said = " ".join(samekind_cli(*run).stderr.split())
    assert "not compared: 'name', 'description'" in said


class TestStreams:
    @pytest.mark.parametrize("data", ["parts", "parts/*.parquet"])
    def test_files_that_stay_where_they_are(self, parts, data):
        result = samekind_cli("run", data, "--labels", "kind", "--budget", "100")
        assert {path.name for path in Path("samekind-run").iterdir()} == FILES
        rows = pd.read_csv("samekind-run/clusters.csv")
        assert rows.row.tolist() == list(range(60))
        assert list(rows.columns) == ["row", "kind", "known", "label"]
        assert "read as needed" in result.stderr
        assert re.search(r"column 'name' left out: 60 different texts", result.stderr)
        assert "column 'id' left out: it only numbers the rows" in result.stderr
        assert "standardised" in result.stderr
        assert "adjusted Rand index" in result.stdout
        centers = pd.read_csv("samekind-run/centers.csv")
        assert set(centers.height.round(-1)) <= {0, 10, 30}

    def test_is_as_in_memory(self, parts):
        flowers = pd.read_csv("flowers.csv")[["height", "width", "kind"]]
        Path("one").mkdir()
        for path in ("flowers.parquet", "one/flowers.parquet"):
            flowers.to_parquet(path)
        for data, out in (("flowers.parquet", "memory"), ("one", "files")):
            samekind_cli("run", data, "--labels", "kind", "--out", out)
        one, other = (pd.read_csv(f"{out}/clusters.csv") for out in ("files", "memory"))
        other = other.drop(columns="kind").rename(columns={"samekind_kind": "kind"})
        assert one.equals(other[one.columns])

    def test_many_rows_are_written_as_parquet(self, parts, monkeypatch):
        from samekind.project.exports import tables

        monkeypatch.setattr(tables, "MANY", 50)
        monkeypatch.setattr(tables, "PIECE", 7)
        result = samekind_cli("run", "parts", "--labels", "kind")
        rows = pd.read_parquet("samekind-run/clusters.parquet")
        assert rows.row.tolist() == list(range(60))
        assert rows.groupby("label", observed=True).kind.nunique().tolist() == [1, 1, 1]
        assert "clusters.parquet" in result.stdout
        assert not Path("samekind-run/clusters.csv").exists()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["parts", "--read", "image_shape=2x1"], "--read image_shape is for rows in memory"),
            (["parts/*.pq"], "no file matches"),
            (["parts", "--columns", "heigth"], "Did you mean 'height'"),
            (["parts", "--columns", "name"], "'name' cannot be used: 60 different texts"),
            (["parts", "--out", "parts"], "the results would lie among the data"),
        ],
    )
    def test_mistakes(self, parts, arguments, message):
        result = samekind_cli("run", *arguments, "--labels", "kind", code=2)
        assert message in " ".join(result.stderr.split())

    def test_unusable_values(self, parts):
        pd.DataFrame({"height": [1.0, np.inf], "kind": ["a", "b"]}).to_parquet("bad.parquet")
        result = samekind_cli("run", "bad.parquet", "--labels", "kind", code=2)
        assert "column 'height' has inf, which is not finite, in row 2" in result.stderr


class TestTextsAndPictures:
    """`run` compares what `label` compares."""

    def test_texts(self, folder):
        texts = [
            "where is my new card",
            "the new card is late",
            "how do I change my PIN",
            "PIN change",
        ]
        pd.DataFrame({"message": texts * 5, "topic": ["card", "card", "pin", "pin"] * 5}).to_excel(
            "messages.xlsx", index=False
        )
        result = samekind_cli("run", "messages.xlsx", "--text", "message", "--labels", "topic")
        assert "20 texts" in result.stderr
        assert "compared by the meaning and the spelling of their words" in result.stderr
        assert re.search(r"adjusted Rand index +│ 1.000", result.stdout)
        plain = ["--features", "plain", "--project", "plain.db"]
        result = samekind_cli(
            "run", "messages.xlsx", "--text", "message", "--labels", "topic", *plain
        )
        assert "compared by their words and parts of words" in result.stderr
        assert Path("plain.features.npy").exists()  # for the next time
        refused = ["--labels", "topic", "--features", "bert"]
        result = samekind_cli("run", "messages.xlsx", "--text", "message", *refused, code=2)
        assert "--features must be auto, words" in result.stderr

    def test_pictures(self, folder):
        image = pytest.importorskip("PIL.Image")
        Path("photos").mkdir()
        for i in range(8):
            grey = np.full((20, 20), 150 * (i % 2) + 60 + i, dtype=np.uint8)
            image.fromarray(grey).save(f"photos/p{i}.png")
        names = [f"photos/p{i}.png" for i in range(8)]
        table = pd.DataFrame({"file": names, "kind": ["dark", "light"] * 4})
        table.to_csv("photos.csv", index=False)
        result = samekind_cli("run", "photos.csv", "--image", "file", "--labels", "kind")
        assert "8 pictures" in result.stderr
        assert Path("samekind-run/report.html").read_text(encoding="utf-8").count("<img") >= 2
        result = samekind_cli("run", "photos", "--oracle", "terminal", stdin="d\nq\n")
        assert re.search(r"p\d\.png +p\d\.png", result.stderr)

    def test_embeddings(self, folder):
        E = np.repeat(np.eye(3), 20, axis=0) + np.arange(60)[:, None] / 1e4
        np.save("E.npy", E)
        result = samekind_cli("run", "flowers.csv", "--features", "E.npy", "--labels", "kind")
        assert "features taken from E.npy" in result.stderr
        centers = pd.read_csv("samekind-run/centers.csv")
        assert list(centers.columns)[-3:] == ["x0", "x1", "x2"]
