"""Results for other tools, and pictures in folders, read as those tools read them."""

import io
import json
import xml.etree.ElementTree as ET
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

from samekind.cli import app
from samekind.data import load
from samekind.project import EXPORTS, cache_of, make_project
from serving import Serving

WORDS = {"card": "my card number {} is lost", "day": "what a fine day {} to be out"}


def cli(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def answered(items, path, kinds, most=12):
    project = make_project(items, path, random_state=0)
    for _ in range(most):
        if project.session.done:
            break
        pairs = project.session.pending()[:1]
        project.session.tell(pairs, [kinds[a] == kinds[b] for a, b in pairs], who="ann")
    for cluster in project.overview.all().clusters:
        project.kinds.rename(cluster.cluster, kinds[cluster.cluster])
    return project


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def texts(folder):
    kinds = ["card", "day"] * 12
    frame = pd.DataFrame(
        {
            "text": [WORDS[kind].format(i) for i, kind in enumerate(kinds)],
            "label": np.arange(24) * 1.5,
            "when": pd.date_range("2024-01-01", periods=24).astype(str),
        }
    )
    frame.to_csv("texts.csv", index=False)
    items = load("texts.csv", text="text", features="plain", cache=cache_of(Path("texts.db")))
    project = answered(items, Path("texts.db"), kinds)
    yield project
    project.close()


@pytest.fixture
def pictures(folder):
    rng = np.random.default_rng(0)
    kinds = []
    for place in ("photos", "photos/more"):
        Path(place).mkdir()
        for i in range(6):
            tone = 40 if i % 2 else 190
            Image.fromarray((tone + rng.integers(0, 9, (40, 40, 3))).astype(np.uint8)).save(
                f"{place}/p{i}.png"
            )
    items = load("photos", cache=cache_of(Path("photos.db")))
    kinds = ["dark/er" if int(name[-5]) % 2 else "light" for name in items.frame["file"]]
    project = answered(items, Path("photos.db"), kinds)
    yield project, kinds
    project.close()


def exported(project, name):
    file = io.BytesIO()
    project.export(name, file)
    return file.getvalue()


def test_label_studio_tasks_have_annotations_predictions_and_a_fitting_interface(texts):
    tasks = json.loads(exported(texts, "label-studio.json"))
    assert len(tasks) == 24
    frame = texts.items.frame
    for row, task in enumerate(tasks):
        assert task["data"]["text"] == frame["text"][row]
        assert len({"annotations", "predictions"} & task.keys()) == 1
        [made] = task.get("annotations") or task["predictions"]
        [result] = made["result"]
        assert result["type"] == "choices"
        kind = "card" if row % 2 == 0 else "day"
        assert result["value"] == {"choices": [kind]}
        if "predictions" in task:
            assert 0 <= made["score"] <= 1
    assert any("annotations" in task for task in tasks)
    assert any("predictions" in task for task in tasks)
    view = ET.fromstring(exported(texts, "label-studio.xml"))
    [choices] = view.iter("Choices")
    [text] = view.iter("Text")
    assert (choices.get("name"), choices.get("toName")) == (result["from_name"], result["to_name"])
    assert text.get("name") == result["to_name"]
    assert text.get("value").removeprefix("$") in tasks[0]["data"]
    assert [choice.get("value") for choice in view.iter("Choice")] == ["card", "day"]


def test_prodigy_tasks_are_choices_that_are_answered_where_somebody_said_so(texts):
    tasks = [json.loads(line) for line in exported(texts, "prodigy.jsonl").splitlines()]
    known = texts.clusters().to_frame()["known"]
    for row, task in enumerate(tasks):
        assert task["accept"] == ["card" if row % 2 == 0 else "day"]
        assert [option["id"] for option in task["options"]] == ["card", "day"]
        assert (task.get("answer") == "accept") == known[row]
        assert task["meta"]["when"] == texts.items.frame["when"][row]


def test_a_dataset_keeps_its_types(texts):
    table = pq.read_table(io.BytesIO(exported(texts, "dataset.parquet")))
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == table.column_names
    assert features["samekind_label"] == {"names": ["card", "day"], "_type": "ClassLabel"}
    assert features["text"] == {"dtype": "string", "_type": "Value"}
    assert features["label"] == {"dtype": "float64", "_type": "Value"}
    frame = table.to_pandas()
    assert frame["samekind_label"].tolist() == [0, 1] * 12
    assert frame["text"].tolist() == texts.items.frame["text"].tolist()
    assert frame["confidence"].between(0, 1).all()


def test_the_library_itself_reads_a_dataset(pictures, texts, folder):
    datasets = pytest.importorskip("datasets")
    for project in (pictures[0], texts):
        Path("d.parquet").write_bytes(exported(project, "dataset.parquet"))
        found = datasets.Dataset.from_parquet("d.parquet", cache_dir=str(folder / "cache"))
        label = "label" if project is not texts else "samekind_label"
        assert isinstance(found.features[label], datasets.ClassLabel)
        assert len(found) == project.items.n


def test_a_dataset_of_pictures_holds_them(pictures):
    project, kinds = pictures
    table = pq.read_table(io.BytesIO(exported(project, "dataset.parquet")))
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["image"] == {"_type": "Image"}
    names = features["label"]["names"]
    assert [names[i] for i in table["label"].to_pylist()] == kinds
    first = table["image"][0].as_py()
    assert first["bytes"] == Path("photos", project.items.frame["file"][0]).read_bytes()
    tasks = json.loads(exported(project, "label-studio.json"))
    assert tasks[0]["data"]["image"] == "/data/local-files/?d=photos/more/p0.png"


def test_the_map_for_embedding_atlas(texts, pictures):
    """It opens a table with the columns x, y and text or image, and colours points by any other column."""
    table = pq.read_table(io.BytesIO(exported(texts, "atlas.parquet"))).to_pandas()
    assert table["text"].tolist() == texts.items.frame["text"].tolist()
    shown = texts.overview.map()
    assert table.loc[shown.rows, "projection_x"].tolist() == pytest.approx(shown.x, abs=1e-3)
    assert table.loc[shown.rows, "projection_y"].tolist() == pytest.approx(shown.y, abs=1e-3)
    assert set(table["name"]) == {ref.name for ref in texts.kinds.refs()}
    project, _ = pictures
    table = pq.read_table(io.BytesIO(exported(project, "atlas.parquet"))).to_pandas()
    name = project.items.frame["file"][0]
    assert table["image"][0]["bytes"] == Path("photos", name).read_bytes()
    assert table[["projection_x", "projection_y"]].notna().all(axis=None)


def test_pictures_in_folders_by_kind(pictures):
    project, kinds = pictures
    assert project.exports.write_folders(Path("out")) == (12, 2)
    assert project.exports.write_folders(Path("out")) == (12, 2)  # again
    found = {path.name: len(list(path.iterdir())) for path in Path("out").iterdir()}
    assert found == {"dark_er": 6, "light": 6}
    for path in Path("out").rglob("*.png"):
        own = [name for name in project.items.frame["file"] if Path(name).name == path.name]
        assert own or "(row " in path.name
        assert not path.is_symlink()
    with zipfile.ZipFile(io.BytesIO(exported(project, "pictures.zip"))) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 12
        assert {name.partition("/")[0] for name in archive.namelist()} == {"dark_er", "light"}
    assert "light" in kinds


def test_the_page_offers_what_can_be_exported(texts):
    with Serving(texts) as served:
        offered = {one["file"] for one in served.get("/api/exports")["exports"]}
        assert {"clusters.csv", "prodigy.jsonl"} <= offered < {one.file for one in EXPORTS}
        for file in offered - {"dataset.parquet", "report.html"}:
            assert served.client.get(f"/api/export/{file}").status_code == 200


def test_the_command_writes_what_is_asked_for(pictures, folder):
    project, _ = pictures
    project.close()
    result = cli("export", "photos.db", "-f", "label-studio", "-f", "dataset", "-f", "prodigy")
    assert max(map(len, result.output.splitlines())) <= 80
    assert {path.name for path in Path("samekind-export").iterdir()} == {
        *("label-studio.json", "label-studio.xml", "dataset.parquet", "prodigy.jsonl")
    }
    cli("export", "photos.db", "--format", "folders", "-o", "x")
    assert len(list(Path("x/pictures/light").iterdir())) == 6
    cli("export", "photos.db", "-o", "p.zip")
    assert zipfile.is_zipfile("p.zip")
    wrong = cli("export", "photos.db", "-f", "label-studo", code=2)
    assert "Did you mean 'label-studio'?" in " ".join(wrong.output.split())
    wrong = cli("export", "photos.db", "-f", "prodigy", "-o", "x.json", code=2)
    assert "do not fit" in wrong.output
    assert {one.file for one in EXPORTS} > {"dataset.parquet", "pictures.zip"}


def test_names_with_paths_have_a_column_for_each_level(texts, folder):
    kinds = ["card", "day"] * 12
    with closing(answered(load("texts.csv", text="text"), folder / "t.db", kinds)) as project:
        for cluster in project.overview.all().clusters:
            names = {"card": "=money / card", "day": "small talk"}
            project.kinds.rename(cluster.cluster, names[cluster.name])
        project.export("csv", folder / "rows.csv")
        rows = pd.read_csv(folder / "rows.csv", keep_default_na=False)
        is_card = rows["name"].str.contains("card")
        assert set(rows["level_1"][is_card]) == {"'=money"}  # no formula
        assert set(rows["level_2"][is_card]) == {"card"}
        talk = rows[rows["name"] == "small talk"]
        assert set(talk["level_1"]) == {"small talk"}
        assert set(talk["level_2"]) == {""}
