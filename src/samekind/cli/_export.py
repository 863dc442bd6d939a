"""``samekind export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from samekind.cli import _label_options as options
from samekind.cli._errors import UserError, explained

if TYPE_CHECKING:
    from samekind.desk import Desk

__all__ = ["EXAMPLES", "export"]

FORMATS = {
    "csv": ("clusters.csv", "your columns, the kind of every row, its name, how sure that is"),
    "parquet": ("clusters.parquet", "the same as clusters.csv, typed"),
    "json": ("clusters.json", "the kinds, their names and known rows, and all rows"),
    "answers": ("answers.csv", "every answer that stands"),
    "report": ("report.html", "plots and examples: open it in a browser"),
    "npz": ("clusters.npz", "all of it, for samekind.Clusters.load"),
}
EXAMPLES = """[bold]Examples[/bold]

samekind export messages.samekind.db -o results

samekind export messages.samekind.db -o kinds.parquet
"""


@explained
def export(
    project: options.ProjectFile,
    out: options.OutPlace = Path("samekind-export"),
    formats: options.Formats = None,
) -> int:
    """Write what was found in a project: tables, a report, the answers.

    Files of these names that are there are replaced.
    """
    wanted = [_format(name) for name in formats or ()]
    targets = _targets(out, wanted)

    from rich.console import Console
    from rich.text import Text

    from samekind.cli._projects import opened
    from samekind.cli._results import replace_file

    screen = Console(stderr=True)
    with opened(project, screen) as desk:
        _spare(project, desk, list(targets))
        next(iter(targets)).parent.mkdir(parents=True, exist_ok=True)
        for path, name in targets.items():
            with screen.status(f"Writing {path.name} …"):
                replace_file(path, lambda beside, name=name: desk.export(FORMATS[name][0], beside))  # type: ignore[misc]
    width = max(len(str(path)) for path in targets)
    for path, name in targets.items():
        Console().print(Text(f"{path!s:<{width}}  {FORMATS[name][1]}"), soft_wrap=True)
    return 0


def _format(given: str) -> str:
    for name, (file, _) in FORMATS.items():
        if given.lower() in (name, file):
            return name
    raise UserError(f"--format must be one of {', '.join(FORMATS)}, got {given!r}.")


def _targets(out: Path, wanted: list[str]) -> dict[Path, str]:
    """Return what to write where: everything wanted in a folder, or one file."""
    if out.is_dir() or not out.suffix:
        if out.exists() and not out.is_dir():
            raise UserError(f"{out} is a file without a suffix, no folder. Name another one.")
        return {out / FORMATS[name][0]: name for name in dict.fromkeys(wanted or FORMATS)}
    if len(wanted) > 1:
        raise UserError(f"{out} can hold only one format. Name a folder, or give --format once.")
    by_name = {file: name for name, (file, _) in FORMATS.items()}
    by_suffix = {".csv": "csv", ".parquet": "parquet", ".json": "json", ".npz": "npz"}
    by_suffix |= {".html": "report", ".htm": "report"}
    name = (wanted or [by_name.get(out.name) or by_suffix.get(out.suffix.lower(), "")])[0]
    if not name:
        raise UserError(
            f"{out.name} does not say what to write: its suffix must be one of {', '.join(by_suffix)}. "
            "Or say it: --format"
        )
    return {out: name}


def _spare(project: Path, desk: Desk, paths: list[Path]) -> None:
    """Refuse to write over the project or the data."""
    data = Path(str(desk.things.recipe().get("data", "")))
    for path in paths:
        for mine in (project, data):
            if path.exists() and mine.exists() and path.samefile(mine):
                raise UserError(f"that would replace {mine}. Name another place: --out DIR")
