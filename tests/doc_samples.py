"""The files that the documentation's commands and code speak of, made small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_iris

import samekind
from samekind.data import load
from samekind.project import LineupQuestion, SheetAnswer, SheetQuestion, make_project


def write_samples(folder: Path) -> None:
    """Write them all into a folder."""
    rng = np.random.default_rng(0)
    texts, topics = samekind.datasets.make_messages(120, random_state=0)
    messages = pd.DataFrame({"message": texts, "topic": topics})
    messages.to_csv(folder / "messages.csv", index=False)
    messages.to_excel(folder / "messages.xlsx", index=False)
    for name in ("new.csv", "tomorrow.csv"):
        messages[:5].to_csv(folder / name, index=False)
    codes = pd.Categorical(topics).codes.astype(np.intp)
    np.save(folder / "topics.npy", codes)
    np.save(folder / "vectors.npy", 5 * np.eye(80)[codes] + rng.normal(size=(120, 80)))
    iris = load_iris(as_frame=True)
    flowers = iris.frame.drop(columns="target").assign(species=iris.target_names[iris.target])
    flowers.assign(id=np.arange(len(flowers))).to_csv(folder / "flowers.csv", index=False)
    pictures = folder / "photos"
    pictures.mkdir()
    for number in range(12):
        color = ((200, 30, 30), (30, 200, 30))[number % 2]
        Image.new("RGB", (24, 24), color).save(pictures / f"{number}.png")
    readings = folder / "readings"
    readings.mkdir()
    for month in (1, 2):
        device = rng.integers(4, size=300)
        values = 9 * np.eye(4, 3)[device] + rng.normal(size=(300, 3))
        table = pd.DataFrame(values.astype(np.float32), columns=["voltage", "current", "heat"])
        table.assign(device=device).to_parquet(readings / f"2024-{month:02}.parquet")
    people, person = samekind.datasets.make_records(200, duplicates=0.3, random_state=0)
    people.assign(person=person).to_csv(folder / "people.csv", index=False)
    _project(
        folder / "people.csv",
        list(person),
        settings={"algorithm": "records"},
        records=True,
        exclude=["person"],
    )
    _project(folder / "messages.csv", list(topics), text="message", exclude=["topic"])
    _project(pictures, [number % 2 for number in range(12)])


def _project(
    data: Path, kinds: list[object], settings: dict[str, object] | None = None, **options: object
) -> None:
    """Make a labelling project beside the data, as `samekind label` names it, with some answers."""
    path = data.parent / f"{data.stem}.samekind.db"
    project = make_project(load(data, **options), path, random_state=0, **settings or {})
    for _ in range(30):
        questions = project.next("ann")
        if not questions:
            break
        question = questions[0]
        if isinstance(question, LineupQuestion):
            kind = kinds[question.item.row]
            fits = [o.cluster for o in question.options if kinds[o.cluster] == kind]
            project.answer(question.id, fits[0] if fits else "none", who="ann")
        elif isinstance(question, SheetQuestion):
            kind = kinds[question.cluster.cluster]
            others = [item.row for item in question.items if kinds[item.row] != kind]
            project.answer(question.id, SheetAnswer(others), who="ann")
        else:
            same = kinds[question.a.row] == kinds[question.b.row]
            project.answer(question.id, "same" if same else "different", who="ann")
    project.export("answers.csv", data.parent / "answers.csv")
    project.close()
