"""Pictures in folders by cluster: copied, or in one archive."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from samekind.errors import DataError
from samekind.project.exports.tools import LabelledRow, labelled_rows
from samekind.project.words import NO_NAME, ProjectError, plain

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["write_folders", "write_zip"]

LONGEST = 100  # characters of a folder's name
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


def write_folders(project: Project, folder: Path) -> tuple[int, int]:
    """Copy the pictures of each cluster into a folder of its own; return how many pictures and folders.

    What is in the folder stays, unless it has the name of a picture.
    """
    made: set[Path] = set()
    n = 0
    for place, source, body in _pictures(project, labelled_rows(project)):
        target = folder.joinpath(*place.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        made.add(target.parent)
        target.unlink(
            missing_ok=True
        )  # or else what a link of this name points to would be written over
        if source is None:
            target.write_bytes(body)
        else:
            shutil.copyfile(source, target)
        n += 1
    return n, len(made)


def write_zip(project: Project, file: BinaryIO) -> None:
    """Write one archive with a folder of pictures for each cluster; pictures are compressed already."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for place, source, body in _pictures(project, labelled_rows(project)):
            with archive.open(str(place), "w") as into:
                if source is None:
                    into.write(body)
                else:
                    with source.open("rb") as picture:
                        shutil.copyfileobj(picture, into)


def _pictures(
    project: Project, rows: list[LabelledRow]
) -> Iterator[tuple[PurePosixPath, Path | None, bytes]]:
    """Yield where each picture goes, the file that it is in, and else what it holds."""
    items = project.items.whole
    if items.medium != "image":
        raise ProjectError(
            "Only pictures can be put into folders, and these are none. Export a table instead."
        )
    folders = folder_names([row.label for row in rows])
    taken: set[str] = set()
    for row in rows:
        source, body = items.picture_path(row.row), b""
        if source is None:
            shown = items.picture(row.row, "large")
            body, name = shown.body, f"row {row.row}.{shown.media_type.rpartition('/')[2]}"
        else:
            if not source.is_file():
                raise DataError(
                    f"the picture {plain(items.show(row.row).title)!r} is not there any more."
                )
            name = source.name
        place = PurePosixPath(folders[row.label], name)
        if str(place).casefold() in taken:  # two folders of the pile had one of this name
            place = place.with_name(f"{place.stem} (row {row.row}){place.suffix}")
        taken.add(str(place).casefold())
        yield place, source, body


def folder_names(labels: list[str | None]) -> dict[str | None, str]:
    """Return a name for the folder of each label that every system takes, all different.

    Examples
    --------
    >>> folder_names(["card/lost", "card:lost", "..", None])
    {'card/lost': 'card_lost', 'card:lost': 'card_lost (2)', '..': '_', None: 'no kind'}
    """
    names: dict[str | None, str] = {}
    taken: set[str] = set()
    for label in dict.fromkeys(labels):
        safe = NO_NAME if label is None else re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", label)
        safe = safe[:LONGEST].strip(" .") or "_"
        if safe.casefold() in _RESERVED:
            safe += "_"
        free, count = safe, 1
        while free.casefold() in taken:
            count += 1
            free = f"{safe} ({count})"
        taken.add(free.casefold())
        names[label] = free
    return names
