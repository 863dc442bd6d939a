"""What was found, as files for other tools: Label Studio, Prodigy, Hugging Face, Argilla, embedding-atlas.

What somebody answered is written as an annotation, what is only predicted as a prediction with its score: so
the other tool's people go on where these have stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias, Union
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from samekind.project.exports.tables import beside_own_columns, kinds_of_rows
from samekind.project.words import plain_item

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = [
    "LabelledRow",
    "labelled_rows",
    "write_atlas",
    "write_dataset",
    "write_label_studio",
    "write_label_studio_config",
    "write_prodigy",
]

Json: TypeAlias = Union[str, int, float, bool, "list[Json]", "dict[str, Json]", None]
TAG, PICTURE, MODEL = "kind", "image", "samekind"


class LabelledRow(NamedTuple):
    """A row, copy or not, the name of its cluster, if it is in one, whether that is known, and how sure."""

    row: int
    label: str | None
    known: bool
    confidence: float | None


def labelled_rows(project: Project) -> list[LabelledRow]:
    """Return all rows of a project; names that several clusters have get the number, too."""
    return _labelled(kinds_of_rows(project))


def _labelled(table: pd.DataFrame) -> list[LabelledRow]:
    number = table["kind"].astype(str)
    if "part" in table:
        number = (number + "." + table["part"]).where(table["part"] != "", number)
    number = number.where(table["kind"] >= 0, None)
    kinds = pd.DataFrame({"number": number, "name": table["name"]}).drop_duplicates("number")
    several = set(kinds["name"][kinds["name"].duplicated(keep=False)])
    labels = {
        own: f"{name} ({own})" if name in several else name
        for own, name in zip(kinds["number"], kinds["name"], strict=True)
        if own is not None
    }
    columns = (column.tolist() for column in (number, table["known"], table["confidence"]))
    return [
        LabelledRow(row, labels.get(kind), bool(known), None if pd.isna(sure) else float(sure))
        for row, (kind, known, sure) in enumerate(zip(*columns, strict=True))
    ]


def write_label_studio(project: Project, file: BinaryIO) -> None:
    """Write tasks as Label Studio imports them: known rows annotated, the others with predictions.

    Pictures are named as its local file storage serves them, by the folder that they are in.
    """
    target = PICTURE if project.items.medium == "image" else "text"
    file.write(b"[")
    for place, row in enumerate(labelled_rows(project)):
        task: dict[str, Json] = {"data": _shown(project, row.row, local_files=True)}
        if row.label is not None:
            result: Json = [
                {
                    "from_name": TAG,
                    "to_name": target,
                    "type": "choices",
                    "value": {"choices": [row.label]},
                }
            ]
            if row.known:
                task["annotations"] = [{"result": result, "ground_truth": False}]
            else:
                found: dict[str, Json] = {"model_version": MODEL, "result": result}
                task["predictions"] = [found | _if_known("score", row.confidence)]
        file.write(b",\n" if place else b"\n")
        file.write(_encoded(task))
    file.write(b"\n]\n")


def write_label_studio_config(project: Project, file: BinaryIO) -> None:
    """Write the labelling interface that fits those tasks, to be pasted into Label Studio's settings."""
    is_picture = project.items.medium == "image"
    shown = (
        f'<Image name="{PICTURE}" value="${PICTURE}"/>'
        if is_picture
        else '<Text name="text" value="$text"/>'
    )
    labels = _names(labelled_rows(project))
    target = PICTURE if is_picture else "text"
    choices = "\n".join(f"    <Choice value={quoteattr(label)}/>" for label in labels)
    file.write(
        f'<View>\n  {shown}\n  <Choices name="{TAG}" toName="{target}" choice="single">\n{choices}\n'
        "  </Choices>\n</View>\n".encode()
    )


def write_prodigy(project: Project, file: BinaryIO) -> None:
    """Write tasks of Prodigy's choice interface, one a line; those of known rows are answered."""
    rows = labelled_rows(project)
    labels = _names(rows)
    options: list[Json] = [{"id": label, "text": label} for label in labels]
    for row in rows:
        shown = _shown(project, row.row)
        what = PICTURE if project.items.medium == "image" else "text"
        meta = {name: value for name, value in shown.items() if name != what}
        task: dict[str, Json] = {what: shown[what], "options": list(options)}
        if row.label is not None:
            task["accept"] = [row.label]
            if row.known:
                task["answer"] = "accept"
        task["meta"] = meta | _if_known("score", row.confidence)
        file.write(_encoded(task) + b"\n")


def write_dataset(project: Project, file: BinaryIO) -> None:
    """Write Parquet that `datasets.load_dataset("parquet", …)` reads with its types.

    The label is a ClassLabel, pictures are Images that hold their files. Argilla takes such a dataset, too.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = kinds_of_rows(project)
    rows = _labelled(table)
    names = _names(rows)
    number = {name: place for place, name in enumerate(names)}
    columns: dict[str, pa.Array] = {}
    features: dict[str, Json] = {}

    def add(name: str, values: pa.Array, feature: Json) -> None:
        free = name if name not in columns else f"samekind_{name}"
        columns[free], features[free] = values, feature

    if project.items.medium == "image":
        storage = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        pictures = [_picture(project, row.row) for row in rows]
        add(PICTURE, pa.array(pictures, storage), {"_type": "Image"})
    for name, values, kind in _own_columns(project):
        add(name, values, {"dtype": kind, "_type": "Value"})
    labels = [-1 if row.label is None else number[row.label] for row in rows]
    add("label", pa.array(labels, pa.int64()), {"names": list(names), "_type": "ClassLabel"})
    for name, values, kind in (
        ("kind", pa.array(table["kind"].tolist(), pa.int64()), "int64"),
        ("known", pa.array([row.known for row in rows], pa.bool_()), "bool"),
        ("confidence", pa.array([row.confidence for row in rows], pa.float64()), "float64"),
    ):
        add(name, values, {"dtype": kind, "_type": "Value"})
    about = json.dumps({"info": {"features": features}})
    written = pa.table(columns).replace_schema_metadata({"huggingface": about})
    pq.write_table(written, file)


def write_atlas(project: Project, file: BinaryIO) -> None:
    """Write the map as Parquet for embedding-atlas: all rows, and their places as projection_x and _y."""
    maps, items = project.overview.maps, project.items
    maps.laid_out()  # the better map, where there is time for it
    placed = maps.placed(np.arange(items.n))
    places = np.empty((items.n, 2), dtype=np.float32)
    places[placed.rows] = placed.places
    if items.copies is not None:
        places = places[items.copies.item_of]
    own = kinds_of_rows(project).assign(projection_x=places[:, 0], projection_y=places[:, 1])
    if items.medium == "image":
        own[PICTURE] = pd.Series([_picture(project, row) for row in range(items.whole.n)])
    table = beside_own_columns(items.whole.shown_frame(with_labels=True), own)
    table.to_parquet(file, index=False)


def _names(rows: list[LabelledRow]) -> list[str]:
    return sorted({row.label for row in rows if row.label is not None})


def _own_columns(project: Project) -> Iterator[tuple[str, object, str]]:
    """Yield the user's columns, with the name that `datasets` has for their type."""
    import pyarrow as pa

    frame = project.items.whole.frame
    for name in [] if frame is None else frame.columns:
        try:
            values = pa.Array.from_pandas(frame[name])  # type: ignore[index]
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array(frame[name].astype(str))  # type: ignore[index]
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        kind = str(values.type)
        if pa.types.is_large_string(values.type) or pa.types.is_string(values.type):
            values, kind = values.cast(pa.string()), "string"
        elif pa.types.is_floating(values.type):
            values, kind = values.cast(pa.float64()), "float64"
        elif not (pa.types.is_integer(values.type) or pa.types.is_boolean(values.type)):
            texts = [None if one is None else str(one) for one in values.to_pylist()]
            values, kind = pa.array(texts, pa.string()), "string"
        yield str(name), values, kind


def _picture(project: Project, row: int) -> dict[str, object]:
    items = project.items.whole
    path = items.picture_path(row)
    if path is None:
        shown = items.picture(row, "large")
        ending = shown.media_type.rpartition("/")[2]
        return {"bytes": shown.body, "path": f"row {row}.{ending}"}
    return {"bytes": path.read_bytes(), "path": path.name}


def _shown(project: Project, row: int, *, local_files: bool = False) -> dict[str, Json]:
    """Return what is to be seen of a row: its text, or where its picture is, and its fields."""
    items = project.items.whole
    item = plain_item(items.show(row))
    shown: dict[str, Json] = {"row": int(items.rows_in_file(row))}
    shown |= dict(item.fields)
    if items.medium == "image":
        path = items.picture_path(row)
        place = item.title if path is None else f"{items.source}/{item.title}"
        shown[PICTURE] = f"/data/local-files/?d={quote(place)}" if local_files else place
    else:
        fields = "\n".join(f"{name}: {value}" for name, value in item.fields)
        shown["text"] = fields if item.text is None else item.text
    return shown


def _if_known(name: str, value: float | None) -> dict[str, Json]:
    return {} if value is None else {name: round(value, 4)}


def _encoded(task: Json) -> bytes:
    return json.dumps(task, ensure_ascii=False, allow_nan=False).encode()
