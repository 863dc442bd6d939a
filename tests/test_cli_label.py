"""samekind label, classify and export: real files, real projects."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import samekind
from samekind.cli import app
from samekind.cli._export import USUAL
from samekind.data import load
from samekind.project import cache_of, find_export, make_project

PLACES = {"rose": 0.0, "iris": 10.0, "fern": 30.0}
FILES = {find_export(name).file for name in USUAL}


def cli(*arguments, code=0, stdin=None):
    """Run within this process; return what was printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def flowers(each, seed):
    rng = np.random.default_rng(seed)
    kinds = np.repeat(list(PLACES), each)
    places = np.array([PLACES[kind] for kind in kinds])
    return pd.DataFrame(
        {
            "name": [f"flower {i}" for i in range(kinds.size)],
            "height": places + rng.normal(size=kinds.size),
            "width": places + rng.normal(size=kinds.size),
            "kind": kinds,
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a file of three kinds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    flowers(20, 0).to_csv("flowers.csv", index=False)
    return tmp_path


LABEL = ("label", "flowers.csv", "--exclude", "kind", "--show", "name,height", "--terminal")
PROJECT = Path("flowers.samekind.db")


@pytest.fixture
def project(folder):
    """A project in which all kinds are known and named."""
    things = load("flowers.csv", exclude=["kind"], cache=cache_of(PROJECT))
    project = make_project(things, PROJECT, random_state=0, budget=30)
    kinds = pd.read_csv("flowers.csv").kind
    while not project.status().done:
        pairs = project.session.pending()
        project.session.tell(pairs, [kinds[a] == kinds[b] for a, b in pairs], who="ann")
    for kind in project.overview.all().clusters:
        project.kinds.rename(kind.cluster, kinds[kind.cluster])
    project.close()
    project.session.ledger.close()
    return PROJECT


def standing(path):
    """Return the answers in a project that stand."""
    with samekind.Ledger(path) as ledger:
        return [entry for entry in ledger.lines() if not entry.retracted]


def test_label_from_a_pipe_resume_and_the_project_alone(folder):
    """P2, P5: quit, go on and undo to the beginning."""
    first = cli(*LABEL, "--who", "ann", "--set", "random_state=0", stdin="n\nn\n")
    assert "60 rows from flowers.csv." in first.stderr
    assert "Answers are kept in flowers.samekind.db." in first.stderr
    assert re.search(r"kinds found with 2 presses \(\d+ questions\); stopped by you", first.stdout)
    assert "samekind export flowers.samekind.db" in first.stdout
    assert {entry.who for entry in standing(PROJECT)} == {"ann"}
    assert not re.search("rose|iris|fern|width", first.stderr.split("Press ")[1])

    n = len(standing(PROJECT))
    for command in (LABEL, ("label", PROJECT, "--terminal")):
        again = cli(*command, stdin="q\n")
        assert f"{n} answers from before are in flowers.samekind.db." in again.stderr
        assert "Press 3." in again.stderr
    cli("label", PROJECT, "--terminal", "--who", "ann", stdin="b\nb\nq\n")
    assert standing(PROJECT) == []
    assert "Nothing is answered yet." in cli("label", PROJECT, "--terminal", stdin="").stdout
    assert max(len(line) for line in first.output.splitlines()) <= 80


def test_settings_stay_with_the_project(folder):
    cli(*LABEL, "--budget", "3", "--project", "mine.db", stdin="d\n")
    again = cli("label", "mine.db", "--terminal", "--set", "lineup=0", stdin="d\nd\nd\n\n")
    assert "Press 2 of 3." in again.stderr
    assert "That was the last question: the budget is spent." in again.stderr
    assert "Enter finish" not in cli("label", "mine.db", "--terminal", stdin="").stderr
    assert "Press 4 of 9." in cli("label", "mine.db", "--terminal", "--budget", "9").stderr


def test_the_same_command_goes_on_with_the_features_of_the_project(folder):
    texts = ["a card was lost", "my card is gone", "what a fine morning", "good morning to all"]
    pd.DataFrame({"message": texts}).to_csv("messages.csv", index=False)
    ask = ["label", "messages.csv", "--text", "message", "--terminal"]
    cli(*ask, "--features", "plain", stdin="s\nq\n")
    for kept in Path().glob("messages.samekind.*[!b]"):
        kept.unlink()
    again = cli(*ask, stdin="q\n")
    assert "1 answer from before" in again.stderr
    assert "by their words and parts of words" in again.stderr
    Path("new.csv").write_text("message\nthe card is lost\n")
    result = cli("classify", "messages.samekind.db", "new.csv", "--predict")
    assert "1 new row" in result.stdout
    other = cli(*ask, "--features", "words", stdin="q\n", code=2)
    assert "belongs to other data" in other.stderr


def test_demo(folder):
    result = cli("label", "demo:digits", "--terminal", "--set", "random_state=0", stdin="d\nq\n")
    assert "1,797 pictures from digits." in result.stderr
    assert "██" in result.stderr
    assert len(standing("samekind-demo/digits.db")) == 1
    again = cli("label", "samekind-demo/digits.db", "--terminal", stdin="q\n")
    assert "1 answer from before is in" in again.stderr


def test_texts_with_hostile_words(folder):
    rows = ["\x1b[2J\x1b]0;owned\x07 card", "[red]card[/red] lost", "<b>close</b>\u202e account"]
    pd.DataFrame({"message": rows * 4}).to_csv("messages.csv", index=False)
    result = cli("label", "messages.csv", "--text", "message", "--terminal", stdin="m\nd\nm\n1\n")
    assert "12 texts from messages.csv." in result.stderr
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.output)


def test_pictures_in_a_folder(folder):
    image = pytest.importorskip("PIL.Image")
    Path("photos").mkdir()
    for i in range(6):
        grey = np.full((20, 20), 40 * (i % 2) + 60 + i, dtype=np.uint8)
        image.fromarray(grey).save(f"photos/p{i}.png")
    result = cli("label", "photos", "--terminal", stdin="d\nq\n")
    assert "6 pictures from photos." in result.stderr
    assert re.search(r"p\d\.png +p\d\.png", result.stderr)
    assert Path("photos.samekind.db").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["label"], "name your data"),
        (["label", "nope.csv"], "nope.csv does not exist"),
        (["label", "flwers.csv"], "Did you mean 'flowers.csv'?"),
        (["label", "flowers.csv", "--terminal", "--text", "nmae"], "Did you mean 'name'?"),
        (["label", "flowers.csv", "--terminal", "--error-rate", "many"], "--error-rate must be"),
        (["label", "flowers.csv", "--terminal", "--set", "heavy=3"], "no parameter 'heavy'"),
        (["label", "flowers.csv", "--terminal", "--project", "flowers.csv"], "it is no project"),
        (["label", "other.db", "--terminal"], "does not say what it is about"),
        (["label", "one.csv", "--terminal"], "only one row"),
        (["export", "nope.db"], "there is no such project"),
        (["links", "add", "flowers.csv", "ann"], "it is no project"),
        (["classify", "flowers.csv", "one.csv"], "it is no project"),
        (["export", "other.db", "-o", "kinds.xlsx"], "its suffix must be one of"),
        (["export", "other.db", "-o", "k.csv", "-f", "json"], "do not fit"),
        (["classify", "nope.db", "flowers.csv"], "there is no such project"),
        (["classify", "nope.db", "flowers.csv", "-o", "flowers.csv"], "would replace the data"),
        (["classify", "a.db", "flowers.csv", "--predict", "--labels", "kind"], "Give one of them"),
    ],
)
def test_mistakes_are_explained(folder, arguments, message):
    Path("empty.csv").write_text("")
    Path("one.csv").write_text("x\n1\n")
    samekind.Ledger("other.db").close()
    before = Path("flowers.csv").read_bytes()
    result = cli(*arguments, code=2)
    assert message in " ".join(result.stderr.split())
    assert re.search(r"^error: ", result.stderr, re.M)
    assert result.stdout == ""
    assert Path("flowers.csv").read_bytes() == before


MODEL = ("label", "flowers.csv", "--model")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["label", "empty.csv"], "empty.csv is empty"),
        (["label", "nothing"], "nothing is empty"),
        (["label", "flowers.csv", "--features", "wrds"], "--features must be"),
        (["label", "flowers.csv", "--project", "mysql://db/x"], "PostgreSQL, not mysql"),
        ([*MODEL, "http://127.0.0.1:9/v1"], "NAME@URL"),
        ([*MODEL, "m@http://127.0.0.1:9/v1"], "--criterion TEXT"),
        ([*MODEL, "m@http:nowhere", "--criterion", "c"], "the address of an API"),
    ],
)
def test_mistakes_are_explained_before_there_is_a_page(folder, arguments, message):
    Path("empty.csv").write_text("")
    Path("nothing").mkdir()
    result = cli(*arguments, "--port", "0", "--no-browser", code=2)
    assert message in " ".join(result.stderr.split())
    assert "The page is at" not in result.stderr


def test_a_link_without_an_address_says_what_is_missing(project):
    result = cli("links", "add", project, "ann")
    assert result.stdout.startswith("/p/flowers/#token=")
    assert "--url URL" in result.stderr
    assert (
        "--url" not in cli("links", "add", project, "bob", "--url", "https://kinds.example").stderr
    )


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({missing}))
from samekind.cli import main
main()
"""


def without(missing, *arguments):
    """Run where some packages are not installed."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing), *arguments],
        capture_output=True,
        text=True,
        input="d\nq\n",
        timeout=60,
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def test_without_the_packages_of_the_page(folder):
    page = without(["fastapi", "uvicorn"], "label", "flowers.csv")
    assert page.returncode == 2
    assert "pip install 'samekind[web]'" in page.stderr
    assert "--terminal" in page.stderr
    here = without(["fastapi", "uvicorn", "PIL"], *LABEL)
    assert here.returncode == 0, here.stderr
    assert "stopped by you" in here.stdout


# The page


def test_the_page_is_served_until_ctrl_c(folder):
    """P1: what the page was told is in the file."""
    pytest.importorskip("uvicorn")
    command = ("label", "flowers.csv", "--exclude", "kind", "--no-browser", "--set", "lineup=0")
    server = subprocess.Popen(
        [sys.executable, "-m", "samekind", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    timer = threading.Timer(60, server.kill)
    timer.start()
    try:
        address = None
        for line in server.stderr:
            if found := re.search(r"(http://127\.0\.0\.1:\d+/p/flowers/)#token=(\S+)", line):
                address, token = found.groups()
            if "Answers are kept" in line:
                break
        assert address, "the address was not printed"
        headers = {"Authorization": f"Bearer {token}", "X-Samekind-Who": "ann"}
        headers["Content-Type"] = "application/json"
        about = urllib.request.Request(f"{address}api/about", headers=headers)
        while json.load(urllib.request.urlopen(about))["state"] == "opening":
            time.sleep(0.1)
        for said in ("different", "different", "same"):
            asking = urllib.request.Request(f"{address}api/next?lineup=true", headers=headers)
            got = json.load(urllib.request.urlopen(asking))
            [question] = got["questions"]
            assert question["type"] == "pair"  # no line-up
            request = urllib.request.Request(
                f"{address}api/answers",
                json.dumps({"id": question["id"], "answer": said}).encode(),
                headers,
            )
            assert json.load(urllib.request.urlopen(request))["saved"]
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    finally:
        timer.cancel()
        server.kill()
    assert server.returncode == 0, err
    assert "found with 3 presses (3 questions); stopped by you." in out
    assert "samekind label flowers.samekind.db" in out
    assert len(standing(PROJECT)) == 3
    assert not list(folder.glob("*-wal"))  # the project is one file again


# Export


def test_export_everything(project):
    result = cli("export", project, "-o", "out")
    assert {path.name for path in Path("out").iterdir()} == FILES
    assert all(f"out/{name}" in result.stdout for name in FILES)
    rows = pd.read_csv("out/clusters.csv")
    assert list(rows.columns) == [
        *("name", "height", "width", "kind", "row", "samekind_kind"),
        *("samekind_name", "name_is_proposed", "known", "confidence"),
    ]
    assert (rows.kind == rows.samekind_name).all()
    assert rows.known.sum() >= 3
    assert len(pd.read_parquet("out/clusters.parquet")) == 60
    kinds = json.loads(Path("out/clusters.json").read_text(encoding="utf-8"))["kinds"]
    assert {kind["name"] for kind in kinds} == set(PLACES)
    assert len(pd.read_csv("out/answers.csv")) == len(standing(project))
    assert samekind.Clusters.load("out/clusters.npz").n_discovered_ == 3
    assert "<html" in Path("out/report.html").read_text(encoding="utf-8")


def test_export_one_file_and_again(project):
    for name, form in [
        ("k.csv", None),
        ("report.html", None),
        ("answers.csv", None),
        ("x.txt", "csv"),
    ]:
        for _ in range(2):
            cli("export", project, "-o", f"new/{name}", *(["--format", form] if form else []))
    assert {path.name for path in Path("new").iterdir()} == {
        *("k.csv", "report.html", "answers.csv", "x.txt")
    }
    assert list(pd.read_csv("new/answers.csv").columns)[:3] == ["a", "b", "answer"]
    assert len(pd.read_csv("new/x.txt")) == 60
    cli("export", project, "-o", "some", "-f", "csv", "-f", "report.html")
    assert {path.name for path in Path("some").iterdir()} == {"clusters.csv", "report.html"}


@pytest.mark.parametrize("gone", [True, False])
def test_answers_can_be_had_without_the_data(project, gone):
    """P9: whatever became of the data."""
    cli("export", project, "-o", "before.csv", "-f", "answers")
    cli("export", project, "-o", "all")
    if gone:
        Path("flowers.csv").unlink()
    else:
        flowers(19, 0).to_csv("flowers.csv", index=False)
    result = cli("export", project, "-o", "new", code=2)
    assert ("does not exist" if gone else "belongs to other data") in result.stderr
    assert f"samekind export {project} -o answers.csv" in result.stderr
    assert not Path("new").exists()
    cli("export", project, "-o", "new/answers.csv")
    written = [Path(name).read_bytes() for name in ("new/answers.csv", "all/answers.csv")]
    assert written == [Path("before.csv").read_bytes()] * 2
    assert written[0].startswith(b"a,b,answer,who,at,asked")


def test_export_spares_the_data_and_the_project(project):
    before = Path("flowers.csv").read_bytes()
    assert "would replace" in cli("export", project, "-o", "flowers.csv", code=2).stderr
    assert "would replace" in cli("export", project, "-o", project, "-f", "csv", code=2).stderr
    assert Path("flowers.csv").read_bytes() == before
    assert standing(project)


# New things


@pytest.fixture
def new(project):
    """Nine new flowers, and one of no kind that is known."""
    rows = flowers(3, 1)
    rows.loc[len(rows)] = ["stranger", 500.0, -500.0, "moss"]
    rows.to_csv("new.csv", index=False)
    return rows


def test_classify_predict(project, new):
    result = cli("classify", project, "new.csv", "--predict", "-o", "k.csv")
    assert "with 0 questions" in result.stdout
    rows = pd.read_csv("k.csv")
    assert (rows.samekind_name == rows.kind).tolist() == [True] * 9 + [False]
    assert not rows.known.any()
    assert not list(Path().glob("*.answers.db"))


def test_classify_with_a_column_of_names(project, new):
    """P30: one question for a row whose kind is known."""
    result = cli("classify", project, "new.csv", "--labels", "kind", "-o", "k.parquet")
    assert "moss: 1 new row of no kind known so far: 9" in result.stdout
    rows = pd.read_parquet("k.parquet")
    assert rows.samekind_name.tolist() == rows.kind.tolist()
    assert rows.new_kind.tolist() == [False] * 9 + [True]
    assert rows.samekind_kind.tolist()[-1] == 4
    assert rows.known.all()
    assert rows.questions.tolist() == [1] * 9 + [3]
    assert len(standing("flowers.samekind.new.answers.db")) == 12
    assert (
        "12 answers from before" in cli("classify", project, "new.csv", "--labels", "kind").stderr
    )
    new.loc[:1, "kind"] = "roze"
    new.to_csv("new.csv", index=False)
    misspelt = " ".join(
        cli("classify", project, "new.csv", "--labels", "kind", code=2).stderr.split()
    )
    assert "'roze' (2 rows). Did you mean 'rose'?" in misspelt
    new["kind"] = "x" + new["kind"].str.upper() + "!!!"
    new.to_csv("new.csv", index=False)
    none = " ".join(cli("classify", project, "new.csv", "--labels", "kind", code=2).stderr.split())
    assert "they are called 'fern', 'iris', 'rose'" in none
    assert (
        "Did you mean 'kind'?"
        in cli("classify", project, "new.csv", "--labels", "knd", code=2).stderr
    )


def test_classify_asks_undoes_quits_and_goes_on(project, new):
    """P2, P5: and answers stay with their rows."""
    first = cli("classify", project, "new.csv", stdin="d\nb\ns\ns\nm\nq\n")
    assert "Answers are kept in flowers.samekind.new.answers.db." in first.stderr
    assert "New thing 3 of 10." in first.stderr
    assert "Taken back: the answer about new thing 1." in first.stderr
    assert re.search(r"new: row 0 +row \d+  rose", first.stderr)
    assert "8 new rows are predicted" in first.stdout
    rows = pd.read_csv("new.kinds.csv")
    assert rows.known.tolist() == [True] * 2 + [False] * 8
    assert (rows.samekind_name == rows.kind).tolist() == [True] * 9 + [False]

    answers = "s\n" * 7 + "d\nd\nd\n"
    again = cli("classify", project, "new.csv", stdin=answers)
    assert "2 answers from before" in again.stderr
    assert "New thing 2 of 10." not in again.stderr
    rows = pd.read_csv("new.kinds.csv")
    assert rows.known.tolist() == [True] * 10
    assert rows.samekind_name.tolist()[-1] == "new kind 1"

    more = pd.concat([flowers(2, 7), new.iloc[::-1]], ignore_index=True)
    more.to_csv("new.csv", index=False)
    result = cli("classify", project, "new.csv", stdin="")
    assert "New thing 1 of 16." in result.stderr
    rows = pd.read_csv("new.kinds.csv")
    assert rows.known.tolist() == [False] * 6 + [True] * 10
    assert rows.samekind_name.tolist()[6:] == ["new kind 1", *new["kind"][:9][::-1]]


def test_answers_about_new_rows_stay_when_the_project_grows(project, new):
    """P9: also those about rows that are not in it."""
    cli("classify", project, "new.csv", "--labels", "kind")
    before = standing("flowers.samekind.new.answers.db")
    grown = pd.concat([flowers(4, 9), pd.read_csv("flowers.csv")], ignore_index=True)
    grown.to_csv("flowers.csv", index=False)
    cli("check", project, "--take-in")
    again = cli("classify", project, "new.csv", stdin="")
    assert "New thing" not in again.stderr.replace("new things", "")
    now = standing("flowers.samekind.new.answers.db")
    assert [(line.a - 12, line.b - 12 * (line.b < 70), line.answer) for line in now] == [
        (line.a, line.b - 12 * (line.b >= 70), line.answer) for line in before
    ]
    assert pd.read_csv("new.kinds.csv").known.all()


def test_classify_needs_kinds_and_names(folder):
    flowers(2, 1).to_csv("new.csv", index=False)
    cli(*LABEL, stdin="d\n")
    result = cli("classify", PROJECT, "new.csv", "--labels", "kind", code=2)
    assert "no kind of the project has a name" in result.stderr
