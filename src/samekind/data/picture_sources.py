"""Sources of items, and those of them that are pictures: a folder, an array, a table that names them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from samekind.data.cache import digest
from samekind.data.columns import picture_column
from samekind.data.files import Array
from samekind.data.options import LoadOptions, absolute
from samekind.data.picture_paths import check_name, file_hash, find_pictures, names_hash, unusable
from samekind.data.tables import FrameTable, Table
from samekind.data.views import cell_text
from samekind.errors import DataError, no_such_column

if TYPE_CHECKING:
    from samekind.data.pictures import Pictures

MOST_TOLD = 10  # pictures that are left out

__all__ = ["Source", "array_of_pictures", "folder_of_pictures", "pictures_of", "table_of_pictures"]


@dataclass
class Source:
    """Items without features; `options` has what was found out about them filled in."""

    options: LoadOptions
    medium: str
    n: int
    fingerprint: Callable[[], str]
    """Returns a text that changes when the data do."""
    table: Table | None = None
    shown: FrameTable | None = None
    """The rows to show, where they are in memory."""
    pictures: Pictures | None = None
    picture_column: str | None = None
    others: dict[str, Array] = field(default_factory=dict)
    """Further arrays of the same file."""
    is_streamed: bool = False
    """Whether there are too many rows for memory: their features become a file."""
    array_file: Path | None = None
    """Where that file is kept; None: nowhere."""
    notes: list[str] = field(default_factory=list)
    file_of_row: Array | None = None
    """Which of two linked files each record is from."""
    only_in_one: list[str] = field(default_factory=list)
    """Columns that the other of two linked files has not."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """Pictures that cannot be read, and why."""

    @property
    def may_leave_out(self) -> bool:
        """Whether pictures can be left out: not where something else has a row for each of them."""
        is_folder = self.pictures is not None and isinstance(self.pictures.where, Path)
        return is_folder and self.options.data.is_dir() and self.options.embeddings is None

    def leave_out(self, broken: list[tuple[str, str]]) -> None:
        """Go on without pictures that cannot be read."""
        if not broken:
            return
        assert self.pictures is not None
        assert self.shown is not None
        self.left_out = broken
        self.pictures = self.pictures.without({name for name, _ in broken})
        self.n = len(self.pictures.names)
        frame = pd.DataFrame({"file": self.pictures.names})
        self.table = self.shown = replace(self.shown, frame=frame)
        more = f"\n  … and {len(broken) - MOST_TOLD:,} more" if len(broken) > MOST_TOLD else ""
        listed = "".join(f"\n  {name}: {why}" for name, why in broken[:MOST_TOLD])
        are = "pictures are" if len(broken) > 1 else "picture is"
        more += "\nto allow larger ones, set SAMEKIND_MAX_PIXELS in the environment" * any(
            "pixels are more than" in why for _, why in broken
        )
        self.notes.append(f"{len(broken):,} {are} left out, as they cannot be read:{listed}{more}")

    @property
    def name(self) -> str:
        """The path as the user gave it, for messages."""
        return str(self.options.data)


def pictures_of(where: Path | Array, names: list[str] | None = None) -> Pictures:
    """Return the pictures of a folder with these names, or of an array."""
    try:
        from samekind.data.pictures import Pictures
    except ImportError as error:
        raise DataError("pictures need Pillow. Install it: pip install 'samekind[web]'.") from error
    return Pictures(where, names or [])


def folder_of_pictures(options: LoadOptions) -> Source:
    """Open a folder of pictures."""
    for name in ("text", "image", "show", "exclude", "columns", "labels"):
        if getattr(options, name):
            raise DataError(f"{options.data} is a folder of pictures: {name} needs a table.")
    folder = absolute(options.data)
    names, notes = find_pictures(folder)
    notes.insert(0, f"{len(names):,} picture{'s' * (len(names) != 1)} in the folder")
    table = FrameTable(str(options.data), pd.DataFrame({"file": names}))
    pictures = pictures_of(folder, names)
    hashed = names_hash(folder, names)
    return Source(
        options, "image", table.n, lambda: hashed, table, table, pictures, "file", notes=notes
    )


def array_of_pictures(options: LoadOptions, array: Array) -> Source:
    """Open an array of pictures."""
    if array.dtype != np.uint8 or 0 in array.shape or array.shape[3:] not in ((), (3,)):
        raise DataError(
            f"{options.data} holds an array of {array.dtype} of shape {array.shape}. Pictures must be "
            "uint8 (0 to 255) of shape (n, height, width) or (n, height, width, 3); rows must be "
            "numbers of shape (n, columns)."
        )
    pictures = pictures_of(array)
    return Source(options, "image", len(array), lambda: file_hash(options.data), pictures=pictures)


def table_of_pictures(options: LoadOptions, table: FrameTable) -> Source:
    """Find the pictures that a table names."""
    image, notes = options.image, list(table.notes)
    folder = absolute(options.data).parent
    if image in table.columns:
        column = str(image)
    else:
        if image is not None:
            folder = absolute(image)
            if not folder.is_dir():
                raise DataError(
                    f"{no_such_column(table.name, 'image', image, table.columns)} There is no folder "
                    "of this name, either."
                )
            options = replace(options, image=str(folder))
        column = picture_column(table.name, table.frame, options.not_compared)
        notes.append(f"pictures are named in the column {column!r}")
    files = [cell_text(value) for value in table.frame[column]]
    for row, file in enumerate(files):
        if not file:
            raise DataError(
                f"{table.name}: the column {column!r} names no picture in {table.place(row)}. Name "
                "one, or remove the row."
            )
        try:
            check_name(file)
        except DataError as error:
            raise unusable(file, error) from None
    pictures = pictures_of(folder, files)

    def fingerprint() -> str:
        return digest(table=table.fingerprint, files=names_hash(folder, files))

    return Source(
        options, "image", table.n, fingerprint, table, table, pictures, column, notes=notes
    )
