"""Projects whose data change: rows are recognised by what they hold, and answers stay with them (P9)."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

import samekind
from samekind.cli import app
from samekind.data import load
from samekind.engine import OtherDataError
from samekind.ledger import LedgerError, forget
from samekind.project import (
    cache_of,
    changes_of_data,
    make_project,
    open_project,
)

PATH = Path("flowers.db")
WHO = "wilhelmine"
PLACES = {"rose": 0.0, "iris": 10.0, "fern": 30.0}


def flowers(each=12, seed=0):
    rng = np.random.default_rng(seed)
    kinds = np.repeat(list(PLACES), each)
    places = np.array([PLACES[kind] for kind in kinds])
    return pd.DataFrame(
        {
            "code": [f"f{seed}-{i}" for i in range(kinds.size)],
            "height": (places + rng.normal(size=kinds.size)).round(6),
            "count": rng.integers(0, 50, kinds.size),
            "kind": kinds,
        }
    )


def answered(frame, questions=30, **settings):
    """Make a project about a table, and answer as its kinds say; return it, open."""
    frame.to_csv("flowers.csv", index=False)
    items = load("flowers.csv", exclude=["kind"], cache=cache_of(PATH))
    project = make_project(items, PATH, random_state=0, **settings)
    tell(project, frame, questions)
    return project


def tell(project, frame, most=10**6):
    """Answer as the column of kinds says."""
    kinds = frame["kind"].tolist()
    told = 0
    while not project.session.done and told < most:
        pairs = project.session.pending()[: most - told]
        project.session.tell(pairs, [kinds[a] == kinds[b] for a, b in pairs], who=WHO)
        told += len(pairs)


def said(project, frame):
    """Return what stands in a project, by the codes of its rows."""
    codes = frame["code"].tolist()
    lines = project.session.ledger.lines()
    return {
        (frozenset((codes[line.a], codes[line.b])), line.answer, line.who, line.when, line.asked)
        for line in lines
        if not line.retracted
    }


def reopened(frame, **settings):
    frame.to_csv("flowers.csv", index=False)
    return open_project(PATH, **settings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_answers_stay_with_rows_that_moved_among_new_ones(folder):
    """P9: rows are added and change places."""
    before = flowers()
    project = answered(before)
    kept, n = said(project, before), project.status().questions
    for cluster in project.overview.all().clusters:
        project.kinds.rename(cluster.cluster, before["kind"][cluster.cluster], who=WHO)
    project.close()

    now = pd.concat([flowers(5, seed=1), before.sample(frac=1, random_state=3)], ignore_index=True)
    project = reopened(now, budget=60)
    assert said(project, now) == kept
    assert project.status().questions == n
    assert "15 added; 36 things before, 51 now" in project.notices[0]
    for cluster in project.overview.all().clusters:
        assert cluster.name == now["kind"][cluster.cluster]
    tell(project, now)
    labels = project.clusters().labels_
    assert samekind.measures.adjusted_rand_index(now["kind"], labels) == 1
    project.close()
    again = reopened(now)
    assert again.notices == []
    assert again.status().questions == project.status().questions
    again.close()


def test_a_removed_row_leaves_what_is_known_of_its_kind_and_comes_back(folder):
    """P9: rows vanish and come back."""
    before = flowers()
    project = answered(before)
    kept = said(project, before)
    clusters = {frozenset(before["code"][rows]) for rows in project.clusters().members_}
    hub = project.clusters().members_[0][0]  # most answers are about the first of a kind
    project.kinds.rename(int(hub), "mine")
    project.close()

    fewer = before.drop(index=hub).reset_index(drop=True)
    project = reopened(fewer)
    gone = before["code"][hub]
    assert {frozenset(fewer["code"][rows]) for rows in project.clusters().members_} == {
        own - {gone} for own in clusters
    }
    assert gone not in {code for pair, *_ in said(project, fewer) for code in pair}
    assert "1 removed" in project.notices[0]
    assert "set aside until these are back" in project.notices[1]
    assert "mine" in {cluster.name for cluster in project.overview.all().clusters}
    project.close()

    back = pd.concat([fewer, before.loc[[hub]]], ignore_index=True)
    project = reopened(back)
    assert said(project, back) == kept
    assert "about things that are back count again" in " ".join(project.notices)
    project.close()
    assert samekind.ledger.check_project(PATH).is_fine


def test_a_row_that_changed_is_asked_about_anew_and_one_that_was_edited_is_not(folder):
    before = flowers()
    project = answered(before)
    rows = [int(own[0]) for own in project.clusters().members_[:2]]
    kept = said(project, before)
    project.close()
    now = before.copy()
    now.loc[rows[0], "height"] += 0.001
    now.loc[rows[1], "code"] = "renamed"
    project = reopened(now)
    assert "1 changed, 1 changed in what is not compared" in project.notices[0]
    members = project.session.members_of(rows[1])
    assert rows[1] in members
    mentioned = {code for pair, *_ in said(project, now) for code in pair}
    assert "renamed" in mentioned
    assert now["code"][rows[0]] not in mentioned
    project.close()
    project = reopened(before)
    assert said(project, before) == kept
    project.close()


def test_rows_that_are_alike_missing_values_and_a_further_column(folder):
    before = pd.concat([flowers(), flowers().iloc[:3]], ignore_index=True)
    answered(before).close()
    now = before.iloc[::-1].reset_index(drop=True)
    now["note"] = "a further column"
    now.loc[len(now)] = ["new", 3.0, np.nan, "rose", ""]  # the counts are read as floats now
    project = reopened(now)
    assert "1 added; 39 things before, 40 now" in project.notices[0]
    assert len(said(project, now)) == len(project.session.ledger)
    project.close()


def test_other_data_are_refused_unless_they_are_welcome(folder):
    project = answered(flowers())
    n = len(project.session.ledger)
    project.close()
    other = pd.concat([flowers(seed=5), flowers().iloc[:2]], ignore_index=True)
    other.to_csv("flowers.csv", index=False)
    with pytest.raises(OtherDataError, match="holds only 2 of its 36 things"):
        open_project(PATH)
    other.drop(columns="code").to_csv("flowers.csv", index=False)
    with pytest.raises(OtherDataError, match="the column 'code'"):
        open_project(PATH)
    with samekind.Ledger(PATH) as ledger:
        assert len(ledger) == n
    project = reopened(other, any_data=True)
    assert "36 added, 34 removed" in project.notices[0]
    project.close()
    with pytest.raises(samekind.errors.DataError, match="has changed since"):
        reopened(other.iloc[1:], read_only=True)


def test_who_has_the_project_open_is_told_and_writes_nothing_wrong(folder):
    """P6, P9: another program has taken in other data."""
    before = flowers()
    first = answered(before, questions=20)
    [pair] = first.session.pending()[:1]
    now = pd.concat([flowers(3, seed=1), before], ignore_index=True)
    second = reopened(now)
    kept = said(second, now)
    with pytest.raises(LedgerError, match="another program has taken that in"):
        first.session.tell([pair], [1], who=WHO)
    second.catch_up()
    assert said(second, now) == kept
    second.close()
    first.close()


KILLED = """
import os, signal, sys
from samekind.ledger.store import Transaction
from samekind.project import open_project
keep_items = Transaction.keep_items
def killed(transaction, kept):
    keep_items(transaction, kept)
    os.kill(os.getpid(), signal.SIGKILL)
Transaction.keep_items = killed
open_project(__import__("pathlib").Path("flowers.db"))
"""


def test_a_kill_in_the_midst_changes_nothing(folder):
    """P1, P9: killed while data are taken in."""
    before = flowers()
    project = answered(before)
    kept = said(project, before)
    project.close()
    now = pd.concat([flowers(3, seed=1), before.iloc[4:]], ignore_index=True)
    now.to_csv("flowers.csv", index=False)
    killed = subprocess.run([sys.executable, "-c", KILLED], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    project = reopened(before)
    assert said(project, before) == kept
    project.close()
    project = reopened(now)
    assert "9 added, 4 removed" in project.notices[0]
    project.close()


def test_an_annotator_is_forgotten_in_what_was_set_aside_too(folder):
    """P12: also in answers about rows that are gone."""
    before = flowers()
    project = answered(before)
    hub = int(project.clusters().members_[0][0])
    project.close()
    reopened(before.drop(index=hub)).close()
    forget(PATH, WHO)
    project = reopened(before)
    assert len(project.session.ledger) == 0
    project.close()
    assert WHO.encode() not in PATH.read_bytes()


def test_noisy_answers_of_removed_rows_speak_for_no_other(folder):
    before = flowers()
    project = answered(before, error_rate=0.1)
    hub = int(project.clusters().members_[0][0])
    own = {line for line in said(project, before) if before["code"][hub] not in line[0]}
    project.close()
    fewer = before.drop(index=hub).reset_index(drop=True)
    project = reopened(fewer)
    assert said(project, fewer) == own
    project.close()


def draw(path, tone, seed):
    rng = np.random.default_rng(seed)
    Image.fromarray((tone + rng.integers(0, 9, (40, 40, 3))).astype(np.uint8)).save(path)


def test_pictures_are_recognised_by_what_they_show_and_broken_ones_left_out(folder):
    Path("photos").mkdir()
    for i in range(8):
        draw(f"photos/p{i}.png", 40 if i % 2 else 190, i)
    Path("photos/broken.jpg").write_bytes(b"no picture")
    Path("photos/empty.png").touch()
    items = load("photos", cache=cache_of(Path("photos.db")))
    assert items.n == 8
    assert dict(items.left_out).keys() == {"broken.jpg", "empty.png"}
    [note] = [note for note in items.notes if "left out" in note]
    assert "broken.jpg: it cannot be read (it is no picture of a known format)" in note
    project = make_project(items, Path("photos.db"), random_state=0)
    while not project.session.done:
        pairs = project.session.pending()
        project.session.tell(pairs, [(a - b) % 2 == 0 for a, b in pairs])
    n = len(project.session.ledger)
    project.close()
    kept = load("photos", cache=cache_of(Path("photos.db")))
    assert kept.left_out == items.left_out
    assert kept.X.tobytes() == items.X.tobytes()

    shutil.move("photos/p3.png", "photos/a new name.png")
    draw("photos/broken.jpg", 40, 99)  # mended
    draw("photos/more.png", 190, 98)
    result = CliRunner().invoke(app, ["check", "photos.db"])
    assert "2 added, 1 changed in what is not compared" in " ".join(result.output.split())
    project = open_project(Path("photos.db"))
    assert "8 things before, 10 now" in project.notices[0]
    assert len(project.session.ledger) == n
    names = [project.item(row).title for row in range(10)]
    tones = {frozenset(names[row] for row in own) for own in project.clusters().members_}
    assert frozenset({"a new name.png", "p1.png", "p5.png", "p7.png"}) in {
        own - {"broken.jpg"} for own in tones
    }
    project.close()


def test_check_says_what_changed_and_takes_it_in(folder):
    before = flowers()
    answered(before).close()

    def check(*options):
        result = CliRunner().invoke(app, ["check", str(PATH), *options])
        assert result.exit_code == 0, result.output
        assert max(map(len, result.output.splitlines())) <= 80
        return " ".join(result.output.split())

    assert "Its data, flowers.csv, are as they were." in check()
    before.iloc[3:].to_csv("flowers.csv", index=False)
    said_now = check()
    assert "flowers.csv has changed since: 3 removed; 36 things before, 33 now." in said_now
    assert "samekind check flowers.db --take-in" in said_now
    assert changes_of_data(PATH).change.removed == 3
    failed = CliRunner().invoke(app, ["export", str(PATH), "-o", "out"])
    assert failed.exit_code == 2
    assert "--take-in" in " ".join(failed.output.split())
    assert "has changed since: 3 removed" in check("--take-in")
    assert "are as they were" in check()
    assert CliRunner().invoke(app, ["export", str(PATH), "-o", "out"]).exit_code == 0
    Path("flowers.csv").unlink()
    gone = CliRunner().invoke(app, ["check", str(PATH)])
    assert gone.exit_code == 0
    assert "Its data are not where they were" in gone.output


class TestImportById:
    @pytest.fixture
    def project(self, folder):
        project = answered(flowers(), questions=3)
        yield project
        project.close()

    @pytest.mark.parametrize(
        ("text", "column"),
        [
            ("a,b,answer\nf0-0,f0-1,same\nf0-1,f0-20,no\n", None),
            ("code_a,code_b,answer\nf0-0,f0-1,same\nf0-1,f0-20,no\n", None),
            ("a,b,answer\nf0-0,f0-1,same\nf0-1,f0-20,no\n", "code"),
            ("a,b,answer\n0,1,same\n1,20,no\n", None),
        ],
    )
    def test_rows_go_by_number_or_by_any_column(self, project, text, column):
        assert project.answers.import_csv(text, id_column=column, who="bob").news == 2
        pairs = np.array([[0, 1], [1, 20]])
        assert project.session.ledger.lookup(pairs).tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("text", "column", "message"),
        [
            ("a,b,answer\nf0-0,nobody,same\n", "code", "Line 2: 'nobody' is nowhere in the column"),
            ("a,b,answer\nf0-0,nobody,same\n", None, "'f0-0' is not a row of the data"),
            ("a,b,answer\nrose,iris,same\n", "kind", "'rose' is in 12 rows in the column 'kind'"),
            ("a,b,answer\n0,1,same\n", "cod", "no column 'cod'. Did you mean 'code'"),
            ("x,y,answer\n0,1,same\n", None, "a and b are missing"),
        ],
    )
    def test_mistakes_are_named(self, project, text, column, message):
        with pytest.raises(samekind.project.ProjectError, match=message):
            project.answers.import_csv(text, id_column=column)

    def test_the_command_says_what_it_did(self, project):
        project.close()
        Path("known.csv").write_text(
            "code_a,code_b,answer\nf0-0,f0-1,same\nf0-1,f0-0,different\nf0-3,f0-4,same\n"
        )
        result = CliRunner().invoke(app, ["import", str(PATH), "known.csv", "--who", "bob"])
        assert result.exit_code == 0, result.output
        assert "2 answers of known.csv taken into flowers.db." in result.output
        assert "Answered both ways in it: 1 pair." in " ".join(result.output.split())


def test_pictures_of_phones(folder, monkeypatch):
    heif = pytest.importorskip("pillow_heif")
    heif.register_heif_opener()
    Path("photos").mkdir()
    for i in range(4):
        draw("photos/one.png", 40 * i, i)
        Image.open("photos/one.png").save(f"photos/p{i}.heic")
    Path("photos/one.png").unlink()
    items = load("photos")
    assert (items.n, items.medium) == (4, "image")
    assert items.picture(2).media_type == "image/png"
    draw("photos/a.png", 90, 5)
    draw("photos/b.png", 9, 6)
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    items = load("photos")
    assert items.n == 2
    assert "pip install 'samekind[heic]'" in " ".join(items.notes)
