"""All that can be exported: to add a file, write a function and add an `Export`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from samekind.errors import did_you_mean
from samekind.ledger import pairs_of
from samekind.project.exports import folders, records, tables, team, tools
from samekind.project.words import ProjectError, title_of
from samekind.report import Comparison, write_report

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.project.project import Project

__all__ = ["EXPORTS", "Export", "Exports", "find_export"]

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".npz": "application/octet-stream",
    ".parquet": "application/vnd.apache.parquet",
    ".xml": "application/xml",
    ".zip": "application/zip",
}


def _any(items: Items) -> bool:
    return True


def _is_records(items: Items) -> bool:
    return items.is_records


def _is_pictures(items: Items) -> bool:
    return items.medium == "image"


def _has_places(items: Items) -> bool:
    return not items.is_records and not items.is_streamed


FITTING: dict[Callable[[Items], bool], str] = {  # in words
    _is_records: "records that may be duplicates (samekind label DATA --records)",
    _is_pictures: "pictures",
    _has_places: "items that are in memory, and no records",
}


class Export(NamedTuple):
    """A file that can be written.

    Attributes
    ----------
    name : str
        What the command line calls it: ``--format NAME``.
    file : str
        What the file is called, also in addresses.
    about : str
        What it holds, in a few words.
    write : callable
        Writes it, given a `Project.moment` and an open file.
    fits : callable
        Says whether it can be had of some items.
    """

    name: str
    file: str
    about: str
    write: Callable[[Project, BinaryIO], object]
    fits: Callable[[Items], bool] = _any

    @property
    def media_type(self) -> str:
        """What it is sent as."""
        return MEDIA_TYPES[Path(self.file).suffix]


def _write_answers(project: Project, file: BinaryIO) -> None:
    project.catch_up()
    tables.write_answers(file, project.ledger)


def _write_clusters(project: Project, file: BinaryIO) -> None:
    found = project.clusters()
    is_large = project.items.is_streamed and found.n_rows_ > tables.MANY
    (found.without_labels() if is_large else found).save(file)


def _write_report(project: Project, file: BinaryIO) -> None:
    items, truth = project.items, project.exports.truth
    features = [
        f"{name}, standardised" * items.is_standardized or name for name in items.feature_names
    ]
    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
        active, advice = project.ledger.active(), project.standing.advice().text
    write_report(
        file,
        found,
        project.session.points,
        pairs=pairs_of(active),
        answers=active["answer"],
        frame=items.shown_frame(with_labels=project.exports.shows_labels),
        images=items.images,
        truth=truth,
        title=project.title,
        feature_names=features,
        names=[title_of(ref) for ref in refs],
        numbers=[ref.number for ref in refs],
        advice=advice,
        layout=project.overview.maps.laid_out(),
    )


EXPORTS = (
    Export(
        "csv",
        "clusters.csv",
        "your columns, and each row's kind, name and certainty",
        tables.write_rows_csv,
    ),
    Export(
        "parquet", "clusters.parquet", "the same as clusters.csv, typed", tables.write_rows_parquet
    ),
    Export("json", "clusters.json", "the kinds, their names and rows", tables.write_json),
    Export("answers", "answers.csv", "every answer that stands", _write_answers),
    Export("report", "report.html", "plots and examples: open it in a browser", _write_report),
    Export("npz", "clusters.npz", "all of it, for samekind.Clusters.load", _write_clusters),
    Export(
        "centers",
        "centers.csv",
        "each kind's centre, in the units of the data",
        tables.write_centers,
    ),
    Export(
        "annotators",
        "annotators.csv",
        "how much, how fast and how well each answered",
        team.write_annotators,
    ),
    Export(
        "agreement", "agreement.csv", "how much people agree: kappa and alpha", team.write_agreement
    ),
    Export(
        "opinions", "opinions.csv", "what each said where several were asked", team.write_opinions
    ),
    Export(
        "entities",
        "entities.csv",
        "your columns, and each record's entity",
        records.write_entities,
        _is_records,
    ),
    Export(
        "golden",
        "golden.csv",
        "one record for each entity, by your rules",
        records.write_golden,
        _is_records,
    ),
    Export(
        "golden-sources",
        "golden_sources.csv",
        "the row and the rule behind each golden value",
        records.write_golden_sources,
        _is_records,
    ),
    Export(
        "pairs",
        "pairs.csv",
        "pairs that may match, how likely, and answers",
        records.write_pairs,
        _is_records,
    ),
    Export(
        "splink",
        "splink.csv",
        "the answers as Splink's table of labels",
        records.write_splink,
        _is_records,
    ),
    Export(
        "dedupe",
        "dedupe.json",
        "the answers as dedupe's training file",
        records.write_dedupe,
        _is_records,
    ),
    Export(
        "dataset",
        "dataset.parquet",
        "for datasets of Hugging Face, and for Argilla",
        tools.write_dataset,
    ),
    Export(
        "atlas",
        "atlas.parquet",
        "the map: embedding-atlas atlas.parquet --x projection_x --y projection_y",
        tools.write_atlas,
        _has_places,
    ),
    Export(
        "label-studio",
        "label-studio.json",
        "tasks for Label Studio: import it there",
        tools.write_label_studio,
    ),
    Export(
        "label-studio-config",
        "label-studio.xml",
        "their labelling interface",
        tools.write_label_studio_config,
    ),
    Export("prodigy", "prodigy.jsonl", "tasks for Prodigy", tools.write_prodigy),
    Export(
        "zip",
        "pictures.zip",
        "the pictures, in a folder for each kind",
        folders.write_zip,
        _is_pictures,
    ),
)


def find_export(name: str) -> Export:
    """Return an export by its name or file; an error says which there are."""
    for one in EXPORTS:
        if name.lower() in (one.name, one.file):
            return one
    names = [one.file for one in EXPORTS]
    raise ProjectError(
        f"{name!r} cannot be exported; these can: {', '.join(names)}.{did_you_mean(name, names)}"
    )


class Exports:
    """What was found in a project, as files.

    Attributes
    ----------
    truth : Comparison or None
        How the clusters compare with labels that answered, for the report.
    shows_labels : bool
        Whether the report shows labels of the data.
    """

    def __init__(self, project: Project) -> None:
        self.truth: Comparison | None = None
        self.shows_labels = True
        self._project = project

    def available(self) -> list[Export]:
        """Return what fits the items of the project."""
        return [one for one in EXPORTS if one.fits(self._project.items)]

    def write(self, name: str, path: Path | BinaryIO) -> None:
        """Write one of `EXPORTS`, by its name or file, to a file, named or open."""
        export = self.check(name)
        with path.open("wb") if isinstance(path, Path) else nullcontext(path) as file:
            export.write(self._project.moment(), file)

    def check(self, name: str) -> Export:
        """Return an export; an error says that there is none of the name, or that it does not fit."""
        export, items = find_export(name), self._project.items
        if export.fits(items):
            return export
        what = FITTING[export.fits]
        raise ProjectError(f"{export.file} can be had only of {what}; {items.source} holds none.")

    def write_folders(self, folder: Path) -> tuple[int, int]:
        """Copy the pictures of each cluster into a folder of its own; return how many of both."""
        return folders.write_folders(self._project.moment(), folder)
