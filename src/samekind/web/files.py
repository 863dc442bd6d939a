"""Routes: things, pictures, exports."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Response
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from samekind.desk import EXPORTS
from samekind.errors import DataError
from samekind.web import records as r
from samekind.web.found import REVALIDATED, is_known
from samekind.web.parameters import READS, RowNumber, ViewOf
from samekind.web.views import View

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["files"])
PICTURES = (
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/gif",
)  # never SVG, which can hold scripts
Export = Literal[
    "clusters.csv",
    "clusters.parquet",
    "clusters.json",
    "answers.csv",
    "report.html",
    "clusters.npz",
]


def _content(types: list[str] | tuple[str, ...]) -> dict[str, Any]:
    binary = {"type": "string", "format": "binary"}
    content = {name: {"schema": {} if name == "application/json" else binary} for name in types}
    return {"content": content, "description": "The file"}


@router.get("/things/{row}", **READS)
def thing(view: ViewOf, row: RowNumber) -> r.Thing:
    """What is shown of a row."""
    return view.thing(_existing(view, row))


@router.get(
    "/things/{row}/picture",
    response_class=Response,
    responses=READS["responses"] | {200: _content(PICTURES)},
)
def picture(
    view: ViewOf,
    row: RowNumber,
    size: Literal["small", "large"] = "small",
    tags: Annotated[str, Header(alias="If-None-Match", max_length=1000)] = "",
) -> Response:
    """A row's picture: at most 256 or 2048 pixels wide and high."""
    tag = view.tag(_existing(view, row), size)
    headers = {"ETag": tag, "Cache-Control": REVALIDATED}
    if is_known(tag, tags):
        return Response(status_code=304, headers=headers)
    try:
        found = view.desk.things.picture(row, size)
    except DataError as error:
        raise HTTPException(404, str(error)) from None
    if found.media_type not in PICTURES:
        raise HTTPException(404, f"Pictures of the type {found.media_type} are not shown.")
    return Response(found.body, media_type=found.media_type, headers=headers)


@router.get(
    "/export/{name}",
    response_class=Response,
    responses=READS["responses"] | {200: _content(sorted(set(EXPORTS.values())))},
)
def export(view: ViewOf, name: Export) -> Response:
    """What was found, as a file."""
    handle, path = tempfile.mkstemp(prefix="samekind-", suffix=f"-{name}")
    os.close(handle)
    try:
        view.desk.export(name, Path(path))
    except OSError as error:
        os.unlink(path)
        raise HTTPException(
            503, f"The file could not be written: {error.strerror}. Make room and try again."
        ) from error
    except BaseException:
        os.unlink(path)
        raise
    return _Passing(path, media_type=EXPORTS[name], filename=name)


class _Passing(FileResponse):
    """A file that is gone once it is sent, or was not wanted any more."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            os.unlink(self.path)


def _existing(view: View, row: int) -> int:
    n = view.desk.things.n
    if row >= n:
        raise HTTPException(404, f"There is no row {row}; the last one is {n - 1}.")
    return row
