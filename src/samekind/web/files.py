"""Routes: items, pictures, exports."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO, Annotated, Literal

from fastapi import Depends, HTTPException, Response
from fastapi.responses import StreamingResponse

from samekind.errors import DataError
from samekind.project import EXPORTS, ItemView
from samekind.web.parameters import ProjectOf, Responses, Revalidation, RowNumber, routers

__all__ = ["changes", "reads"]

reads, changes = routers("files")
# never SVG, which can hold scripts
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
PIECE = 1 << 18
FILES = {one.file: one for one in EXPORTS}
Export = Literal[*FILES]  # type: ignore[valid-type]


def _existing(project: ProjectOf, row: RowNumber) -> int:
    if row >= project.items.n:
        raise HTTPException(404, f"There is no row {row}; the last one is {project.items.n - 1}.")
    return row


Row = Annotated[int, Depends(_existing)]


def _file(types: list[str] | tuple[str, ...]) -> Responses:
    binary = {"type": "string", "format": "binary"}
    content = {name: {"schema": {} if name == "application/json" else binary} for name in types}
    return {200: {"content": content, "description": "The file"}}


@reads.get("/items/{row}")
def item(project: ProjectOf, row: Row) -> ItemView:
    """What is shown of a row. All of it is data, never markup."""
    return project.item(row)


@reads.get("/items/{row}/picture", response_class=Response, responses=_file(PICTURES))
def picture(
    project: ProjectOf, kept: Revalidation, row: Row, size: Literal["small", "large"] = "small"
) -> Response:
    """A row's picture: at most 256 or 2048 pixels wide and high."""
    if (unchanged := kept.unchanged(row, size)) is not None:
        return unchanged
    try:
        found = project.items.picture(row, size)
    except DataError as error:
        raise HTTPException(404, str(error)) from None
    if found.media_type not in PICTURES:
        raise HTTPException(404, f"Pictures of the type {found.media_type} are not shown.")
    return Response(found.body, media_type=found.media_type, headers=kept.headers(row, size))


@reads.get(
    "/export/{name}",
    response_class=Response,
    responses=_file(sorted({one.media_type for one in EXPORTS})),
)
def export(project: ProjectOf, name: Export) -> Response:
    """What was found, as a file."""
    # It has no name, so nothing of it is left behind, even if the server is killed.
    file = tempfile.TemporaryFile(prefix="samekind-")  # noqa: SIM115 - closed once it is sent
    try:
        project.export(name, file)
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
    except OSError as error:
        file.close()
        raise HTTPException(
            503, f"The file could not be written: {error.strerror}. Make room and try again."
        ) from error
    except BaseException:
        file.close()
        raise
    headers = {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_pieces(file), media_type=FILES[name].media_type, headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece
