"""``samekind export``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Annotated

from samekind.cli import _options as options
from samekind.cli._errors import UserError, explained, needs
from samekind.cli._places import Place
from samekind.errors import did_you_mean

FOLDERS = "folders"
ABOUT_FOLDERS = "the pictures, in a folder for each kind"
USUAL = ("csv", "parquet", "json", "answers", "report", "npz")
BY_SUFFIX = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".json": "json",
    ".npz": "npz",
    ".html": "report",
    ".htm": "report",
    ".zip": "zip",
    ".jsonl": "prodigy",
}
EXAMPLES = """[bold]Examples[/bold]

samekind export messages.samekind.db -o results

samekind export messages.samekind.db -o kinds.parquet

samekind export messages.samekind.db --format label-studio --format dataset

samekind export photos.samekind.db --format folders
"""


OutPlace = Annotated[
    Path,
    options.plain(
        "DIR|FILE",
        "A folder for all files, or one file, such as kinds.csv, kinds.parquet or report.html.",
        *("--out", "-o"),
    ),
]
Formats = Annotated[
    list[str] | None,
    options.plain(
        "NAME",
        "Only this: csv, parquet, json, answers, report, npz; of records entities, golden, golden-sources, "
        "pairs, splink, dedupe; of a team annotators, agreement, opinions; for other tools dataset (Hugging "
        "Face, Argilla), atlas (embedding-atlas), label-studio, prodigy; of pictures zip, or folders "
        "(by kind). May be repeated.",
        *("--format", "-f"),
    ),
]
Golden = Annotated[
    str | None,
    options.plain(
        "RULES",
        "How golden records are made, such as phone:newest:updated,*:longest. Rules: frequent, longest, "
        "newest:COLUMN, source:COLUMN=VALUE; * is all other columns. The project keeps them.",
        "--golden",
    ),
]


@explained
def export(
    project: options.ProjectFile,
    out: OutPlace = Path("samekind-export"),
    formats: Formats = None,
    golden: Golden = None,
) -> int:
    """Write what was found in a project: tables, a report, the answers, and files for other tools.

    Without --format: csv, parquet, json, answers, report and npz. Files of these names that are there are
    replaced.
    """
    from rich.console import Console
    from rich.text import Text

    from samekind.cli._projects import opened, replace_file
    from samekind.ledger import Ledger
    from samekind.project import ProjectError, data_of, find_export, write_answers

    targets = _targets(out, [name for given in formats or () for name in _format(given)])
    screen = Console(stderr=True)
    folder = next(iter(targets)).parent
    with Ledger(project, read_only=True) as ledger:
        for path, needed in product(targets, (project, data_of(ledger))):
            if not isinstance(needed, Path):
                continue
            if path.exists() and needed.exists() and path.samefile(needed):
                raise UserError(f"that would replace {needed}. Name another place: --out DIR")
        only_answers = set(targets.values()) == {"answers"}
        if only_answers:  # they can be had without the data
            folder.mkdir(parents=True, exist_ok=True)
            for path in targets:
                replace_file(path, lambda beside: write_answers(beside, ledger))
    if not only_answers:
        with ExitStack() as stack:
            with _hinting(project):
                known = stack.enter_context(opened(project, screen, read_only=golden is None))
            try:
                for name in targets.values():
                    known.exports.check("zip" if name == FOLDERS else name)
                if golden is not None:
                    known.entities.set_golden_rules(golden)
            except ProjectError as error:
                raise UserError(str(error)) from error
            folder.mkdir(parents=True, exist_ok=True)
            for path, name in targets.items():
                with needs(), screen.status(f"Writing {path.name} …"):
                    if name == FOLDERS:
                        known.exports.write_folders(path)
                        continue
                    replace_file(path, lambda beside, name=name: known.export(name, beside))  # type: ignore[misc]
    width = max(len(str(path)) for path in targets)
    for path, name in targets.items():
        about = ABOUT_FOLDERS if name == FOLDERS else find_export(name).about
        Console().print(Text(f"{path!s:<{width}}  {about}"), soft_wrap=True)
    return 0


def _format(given: str) -> list[str]:
    from samekind.project import EXPORTS, ProjectError, find_export

    if given.lower() in ("label-studio", "label-studio.json"):
        return ["label-studio", "label-studio-config"]
    if given.lower() == FOLDERS:
        return [FOLDERS]
    try:
        return [find_export(given).name]
    except ProjectError:
        names = [*(one.name for one in EXPORTS), FOLDERS]
        raise UserError(
            f"--format must be one of {', '.join(names)}, got {given!r}.{did_you_mean(given, names)}"
        ) from None


def _targets(out: Path, wanted: list[str]) -> dict[Path, str]:
    """Return what to write where: everything wanted in a folder, or one file."""
    from samekind.project import EXPORTS

    files = {one.name: one.file for one in EXPORTS} | {FOLDERS: "pictures"}
    if out.is_dir() or not out.suffix:
        if out.exists() and not out.is_dir():
            raise UserError(f"{out} is a file without a suffix, no folder. Name another one.")
        return {out / files[name]: name for name in dict.fromkeys(wanted or USUAL)}
    if set(wanted) == {"label-studio", "label-studio-config"}:
        wanted = ["label-studio"]
    if len(wanted) > 1:
        raise UserError(f"{out} can hold only one format. Name a folder, or give --format once.")
    by_name = {file: name for name, file in files.items()}
    suffix = out.suffix.lower()
    own = Path(files[wanted[0]]).suffix if wanted else suffix
    if wanted and suffix in BY_SUFFIX and own != (".html" if suffix == ".htm" else suffix):
        raise UserError(
            f"{out.name} and --format {wanted[0]} do not fit. Name a {own or 'folder or'} file, or leave "
            "--format out."
        )
    name = (wanted or [by_name.get(out.name) or BY_SUFFIX.get(suffix, "")])[0]
    if not name:
        raise UserError(
            f"{out.name} does not say what to write: its suffix must be one of {', '.join(BY_SUFFIX)}. "
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
