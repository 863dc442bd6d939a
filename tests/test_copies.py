"""Copies are asked about once: rows that hold the same text or picture are one item; exports have all."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import samekind
from samekind.cli import app
from samekind.data import load
from samekind.data.copies import Copies, packed_rows, unpacked_rows
from samekind.datasets import load_digits
from samekind.project import Project, ProjectError, make_project, open_project

WORDS = ["card lost", "card stolen", "exchange rate", "rate of exchange", "new address", "I moved"]
TEXTS = [f"{words} number {k}" for k in range(4) for words in WORDS]
KIND = {text: place // 2 for place, text in enumerate(WORDS)}


def kind_of(text):
    return next(kind for words, kind in KIND.items() if words.lower() in text.lower())


def write(path, texts):
    pd.DataFrame({"id": range(len(texts)), "text": texts}).to_csv(path, index=False)


def answered(project, presses=100):
    """Answer as one who knows the kinds, until there is no question."""
    for _ in range(presses):
        if not (questions := project.next("ann", lineup=False)):
            break
        [question] = questions
        if question.type == "pair":
            same = kind_of(question.a.text) == kind_of(question.b.text)
            project.answer(question.id, "same" if same else "different", who="ann")
        else:
            project.answer(question.id, "unsure", who="ann")
    return project


@pytest.fixture
def pile(tmp_path):
    """A table whose last rows are copies in other words' clothes."""
    path = tmp_path / "texts.csv"
    write(path, [*TEXTS, *(f"  {text.upper()}\t" for text in TEXTS[:8]), TEXTS[0]])
    return path


def project_of(path):
    items = load(path, text="text", cache=path.with_suffix(".db"))
    return make_project(items, path.with_suffix(".db"), random_state=0, sheet=0)


def table_of(project, folder, name="csv"):
    project.export(name, folder / name)
    return pd.read_csv(folder / name)


def test_copies_by_hand():
    copies = Copies.of(np.array([5, 3, 5, 9, 3, 5]))
    assert copies.item_of.tolist() == [0, 1, 0, 2, 1, 0]
    assert copies.rows.tolist() == [0, 1, 3]
    assert copies.counts.tolist() == [2, 1, 0]
    assert copies.first_rows.tolist() == [0, 1, 0, 3, 1, 0]


def test_packed_rows_come_back_and_damage_is_noticed():
    rows = np.array([0, 4, 5, 10**9])
    assert unpacked_rows(packed_rows(rows)).tolist() == rows.tolist()
    assert packed_rows(None) == ""
    assert unpacked_rows("") is None
    for damaged in ("x", "eJw=", "AAAA"):
        with pytest.raises(ValueError):
            unpacked_rows(damaged)


def test_texts_are_asked_about_once_and_all_rows_are_exported(pile, tmp_path):
    project = answered(project_of(pile))
    status = project.status()
    assert (status.n_rows, status.known_rows, project.items.whole.n) == (24, 24, 33)
    assert project.session.points.weights.sum() == 33
    assert project.item(0).copies == 2
    assert project.item(20).copies == 0
    assert sum(kind.copies for kind in project.overview.all().clusters) == 9
    table = table_of(project, tmp_path)
    assert table["row"].tolist() == list(range(33))
    assert table["copy_of"].dropna().astype(int).to_dict() == {
        **{24 + k: k for k in range(8)},
        32: 0,
    }
    assert table["known"].all()
    assert table.groupby("kind")["text"].agg(lambda own: own.map(kind_of).nunique()).max() == 1
    project.export("npz", tmp_path / "npz")
    found = samekind.Clusters.load(tmp_path / "npz")
    assert sorted(np.concatenate(found.members_).tolist()) == list(range(33))
    kinds = np.unique(table["kind"], return_inverse=True)[1]
    assert samekind.measures.adjusted_rand_index(found.labels_, kinds) == 1
    project.export("json", tmp_path / "json")
    document = json.loads((tmp_path / "json").read_text())
    assert sorted(row for kind in document["kinds"] for row in kind["known_rows"]) == [*range(33)]
    for name in ("prodigy", "label-studio", "dataset"):
        project.export(name, tmp_path / name)
    assert len((tmp_path / "prodigy").read_text().splitlines()) == 33
    assert len(pd.read_parquet(tmp_path / "dataset")) == 33
    project.close()


def test_copies_come_and_go_and_answers_stay(pile, tmp_path):
    """P9: the first of two copies is taken out, further ones are put in; nothing is asked again."""
    project = answered(project_of(pile))
    presses = project.status().presses
    project.close()
    table = pd.read_csv(pile)
    rest = table.iloc[4:]  # their copies in capitals stay
    pd.concat([rest, table.iloc[[10, 10]]]).to_csv(pile, index=False)
    project = open_project(pile.with_suffix(".db"))
    status = project.status()
    assert (status.n_rows, status.known_rows, status.presses) == (24, 24, presses)
    assert not project.next("ann")
    found = table_of(project, tmp_path)
    assert len(found) == len(rest) + 2
    assert found["known"].all()
    answers = table_of(project, tmp_path, "answers")
    texts = found["text"]
    for a, b, said in answers[["a", "b", "answer"]].itertuples(index=False):
        assert (kind_of(texts[a]) == kind_of(texts[b])) == (said == "same")
    project.close()


def test_answers_name_rows_of_the_file_with_and_without_the_data(tmp_path):
    path = tmp_path / "texts.csv"
    write(path, [TEXTS[0], TEXTS[0], TEXTS[1], TEXTS[1], *TEXTS[2:]])
    project = answered(project_of(path), presses=5)
    own = table_of(project, tmp_path, "answers")
    project.close()
    (tmp_path / "away").mkdir()
    shutil.move(path, tmp_path / "away" / path.name)
    args = ["export", str(path.with_suffix(".db")), "-o", str(tmp_path / "answers.csv")]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "answers.csv"), own)
    assert own[["a", "b"]].to_numpy().max() > 4
    assert not own[["a", "b"]].isin([1, 3]).any().any()  # copies


def test_imported_answers_may_name_copies(pile):
    project = project_of(pile)
    read = "a,b,answer\n24,25,same\n0,1,same\n32,2,different\n0,24,same\n"
    assert project.answers.import_csv(read).news == 2
    assert project.session.members_of(0) == [0, 1]
    assert project.answers.import_csv("a,b,answer\n0,32,different\n").contradictory == 1
    with pytest.raises(ProjectError):
        project.answers.import_csv("a,b,answer\n0,33,same\n")
    project.close()


def test_two_servers_agree(pile, tmp_path):
    """P6: a second program that opens the project has the same items."""
    project = answered(project_of(pile), presses=6)
    other = open_project(pile.with_suffix(".db"))
    assert (other.items.copies.item_of == project.items.copies.item_of).all()
    answered(other, presses=3)
    project.catch_up()
    pd.testing.assert_frame_equal(table_of(project, tmp_path), table_of(other, tmp_path))
    other.close()
    project.close()


def test_pictures_are_asked_about_once(tmp_path):
    from PIL import Image

    folder = tmp_path / "pile"
    folder.mkdir()
    for row, image in enumerate(load_digits().images[:20]):
        Image.fromarray((image * 15).astype(np.uint8)).save(folder / f"{row:02}.png")
    for row in range(5):
        shutil.copy(folder / f"{row:02}.png", folder / f"copy {row}.png")
    items = load(folder, cache=tmp_path / "p")
    again = load(folder, cache=tmp_path / "p")  # from the cache
    assert again.distinct().copies.item_of.tolist() == items.distinct().copies.item_of.tolist()
    project = Project(again, random_state=0)
    assert (project.items.n, project.items.whole.n) == (20, 25)
    assert project.items.picture(3).body == items.picture(int(project.items.rows[3])).body
    project.kinds.place_in_new([0], "zero")
    project.exports.write_folders(tmp_path / "folders")
    assert len([*(tmp_path / "folders").rglob("*.png")]) == 25
    project.close()


def test_records_and_rows_of_numbers_are_all_items(tmp_path):
    people = pd.DataFrame(
        {"name": ["Ann Lee", "Ann Lee", "Bob Ray", "Cyd Poe"], "city": ["Rome"] * 4}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    records = load(tmp_path / "people.csv", records=True)
    assert records.distinct() is records
    pd.DataFrame({"x": [1.0, 1.0, 5.0]}).to_csv(tmp_path / "rows.csv", index=False)
    rows = load(tmp_path / "rows.csv")
    assert rows.distinct() is rows


def test_classify_asks_nothing_of_copies(pile, tmp_path, monkeypatch):
    """P30: a new row that says what a known one says takes no question, nor does a second one of its like."""
    project = project_of(pile)
    for kind in range(3):
        rows = [r for r in range(project.items.n) if kind_of(project.item(r).text) == kind]
        project.kinds.place_in_new(rows, f"kind of {kind}")
    project.close()
    texts = [TEXTS[3].upper(), TEXTS[5], "card stolen in town", "Card stolen in  town"]
    new = pd.DataFrame({"text": texts, "kind": [f"kind of {kind_of(text)}" for text in texts]})
    new.to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["classify", "texts.db", "new.csv", "--labels", "kind"])
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "new.kinds.csv")
    assert found["questions"].iloc[:2].tolist() == [0, 0]
    assert found["copy_of"].dropna().astype(int).to_dict() == {3: 2}
    assert found["name"].tolist() == [f"kind of {kind_of(text)}" for text in texts]
