"""``samekind export``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path

from samekind.cli import _options as options
from samekind.cli import _project_options as own
from samekind.cli._errors import UserError, explained
from samekind.cli._places import Place
from samekind.errors import did_you_mean

FORMATS = {
    "csv": ("clusters.csv", "your columns, the kind of every row, its name, how sure that is"),
    "parquet": ("clusters.parquet", "the same as clusters.csv, typed"),
    "json": ("clusters.json", "the kinds, their names and known rows, and all rows"),
    "answers": ("answers.csv", "every answer that stands"),
    "report": ("report.html", "plots and examples: open it in a browser"),
    "npz": ("clusters.npz", "all of it, for samekind.Clusters.load"),
}
OF_RECORDS = {
    "entities": ("entities.csv", "your columns, and the entity of every record"),
    "golden": ("golden.csv", "one record for each entity: the most frequent value of each field"),
    "pairs": ("pairs.csv", "pairs that may match, how likely that is, what was answered"),
    "splink": ("splink.csv", "the answers as Splink's table of labels"),
    "dedupe": ("dedupe.json", "the answers as dedupe's training file"),
}
OF_TEAMS = {
    "annotators": ("annotators.csv", "who answered how much, how fast and how well"),
    "agreement": ("agreement.csv", "how much people agree: kappa and alpha"),
    "opinions": ("opinions.csv", "what each said where several were asked"),
}
FOLDERS = "folders"
TOOLS = {
    "dataset": ("dataset.parquet", "for datasets of Hugging Face, and for Argilla"),
    "label-studio": ("label-studio.json", "tasks for Label Studio: import it there"),
    "label-studio-config": ("label-studio.xml", "the labelling interface that goes with them"),
    "prodigy": ("prodigy.jsonl", "tasks for Prodigy"),
    "zip": ("pictures.zip", "the pictures, in a folder for each kind"),
    FOLDERS: ("pictures", "the pictures, in a folder for each kind"),
}
ALL = FORMATS | OF_TEAMS | OF_RECORDS | TOOLS
_SAME_SUFFIX = {name: (name,) for name in FORMATS} | {
    **dict.fromkeys((*OF_TEAMS, "entities", "golden", "pairs", "splink"), ("csv",)),
    "dedupe": ("json",),
    "answers": ("csv",),
    "dataset": ("parquet",),
    "label-studio": ("json",),
    "label-studio-config": (),
    "prodigy": (),
    "zip": (),
    FOLDERS: (),
}
EXAMPLES = """[bold]Examples[/bold]

samekind export messages.samekind.db -o results

samekind export messages.samekind.db -o kinds.parquet

samekind export messages.samekind.db --format label-studio --format dataset

samekind export photos.samekind.db --format folders --pictures link
"""


@explained
def export(
    project: options.ProjectFile,
    out: options.OutPlace = Path("samekind-export"),
    formats: options.Formats = None,
    pictures: own.PicturesHow = own.FolderHow.copy,
) -> int:
    """Write what was found in a project: tables, a report, the answers, and files for other tools.

    Without --format: csv, parquet, json, answers, report and npz. Files of these names that are there are
    replaced.
    """
    wanted = [name for given in formats or () for name in _format(given)]
    targets = _targets(out, wanted)

    from rich.console import Console
    from rich.text import Text

    from samekind.cli._projects import opened
    from samekind.cli._results import replace_file
    from samekind.ledger import Ledger
    from samekind.project import data_of, write_answers

    screen = Console(stderr=True)
    with Ledger(project, read_only=True) as ledger:
        for path, needed in product(targets, (project, data_of(ledger))):
            if not isinstance(needed, Path):
                continue
            if path.exists() and needed.exists() and path.samefile(needed):
                raise UserError(f"that would replace {needed}. Name another place: --out DIR")
        folder = next(iter(targets)).parent
        only_answers = set(targets.values()) == {"answers"}
        if only_answers:  # they can be had without the data
            folder.mkdir(parents=True, exist_ok=True)
            for path in targets:
                replace_file(path, lambda beside: write_answers(beside, ledger))
    if not only_answers:
        with ExitStack() as stack:
            with _hinting(project):
                known = stack.enter_context(opened(project, screen))
            source, wanted_files = known.items.source, set(targets.values())
            if not known.is_records and (unfit := sorted(wanted_files & OF_RECORDS.keys())):
                raise UserError(
                    f"{source} holds no records that may be duplicates: only of these can {unfit[0]} be had. "
                    "For such: samekind label DATA --records"
                )
            if known.items.medium != "image" and wanted_files & {"zip", FOLDERS}:
                raise UserError(
                    f"{source} is no pile of pictures: only these go into folders by kind. Write a table: "
                    "--format csv"
                )
            folder.mkdir(parents=True, exist_ok=True)
            for path, name in targets.items():
                with screen.status(f"Writing {path.name} …"):
                    if name == FOLDERS:
                        known.export_pictures(path, pictures.value)
                        continue
                    replace_file(
                        path,
                        lambda beside, name=name: known.export(ALL[name][0], beside),  # type: ignore[misc]
                    )
    width = max(len(str(path)) for path in targets)
    for path, name in targets.items():
        Console().print(Text(f"{path!s:<{width}}  {ALL[name][1]}"), soft_wrap=True)
    return 0


def _format(given: str) -> list[str]:
    for name, (file, _) in ALL.items():
        if given.lower() in (name, file):
            return ["label-studio", "label-studio-config"] if name == "label-studio" else [name]
    raise UserError(
        f"--format must be one of {', '.join(ALL)}, got {given!r}.{did_you_mean(given, ALL)}"
    )


def _targets(out: Path, wanted: list[str]) -> dict[Path, str]:
    """Return what to write where: everything wanted in a folder, or one file."""
    if out.is_dir() or not out.suffix:
        if out.exists() and not out.is_dir():
            raise UserError(f"{out} is a file without a suffix, no folder. Name another one.")
        return {out / ALL[name][0]: name for name in dict.fromkeys(wanted or FORMATS)}
    if len(wanted) == 2 and set(wanted) == {"label-studio", "label-studio-config"}:
        wanted = [wanted[0]]
    if len(wanted) > 1:
        raise UserError(f"{out} can hold only one format. Name a folder, or give --format once.")
    by_name = {file: name for name, (file, _) in ALL.items()}
    by_suffix = {".csv": "csv", ".parquet": "parquet", ".json": "json", ".npz": "npz"}
    by_suffix |= {".html": "report", ".htm": "report", ".zip": "zip", ".jsonl": "prodigy"}
    suffix = out.suffix.lower()
    fits = not wanted or wanted[0] == by_suffix.get(suffix, wanted[0])
    if not fits and suffix[1:] not in _SAME_SUFFIX[wanted[0]]:
        raise UserError(
            f"{out.name} and --format {wanted[0]} do not fit. Name a "
            f"{Path(ALL[wanted[0]][0]).suffix or 'folder or'} file, or leave --format out."
        )
    name = (wanted or [by_name.get(out.name) or by_suffix.get(suffix, "")])[0]
    if not name:
        raise UserError(
            f"{out.name} does not say what to write: its suffix must be one of {', '.join(by_suffix)}. "
            "Or say it: --format"
        )
    return {out: name}


@contextmanager
def _hinting(project: Place) -> Iterator[None]:
    """Say what can be had of a project whose data are gone or changed."""
    try:
        yield
    except (UserError, FileNotFoundError) as error:
        name = shlex.quote(str(project))
        raise UserError(
            f"{error}\nThe answers alone need no data: samekind export {name} -o answers.csv"
        ) from error
