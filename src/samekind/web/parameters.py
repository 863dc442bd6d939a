"""What the routes take: parameters, and what may go wrong with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import Depends, Header, HTTPException, Path, Query, Request

from samekind.web.bodies import LARGEST
from samekind.web.records import Failure
from samekind.web.views import View

__all__ = [
    "CHANGES",
    "READS",
    "KindNumber",
    "Limit",
    "Lineup",
    "Most",
    "Offset",
    "RowNumber",
    "ViewOf",
    "Who",
]


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Failure} for status in statuses}


async def _view(request: Request) -> View:
    view: View = request.app.state.view
    return view


async def _own(
    x_samekind: Annotated[
        Literal["1"], Header(description="Says that the request is not another site's.")
    ],
) -> None:
    """Document what the guard checks."""


async def _who(
    x_samekind_who: Annotated[
        str, Header(max_length=1200, description="The person's name, percent-encoded UTF-8.")
    ] = "",
) -> str:
    try:
        name = unquote(x_samekind_who, errors="strict").strip()
    except UnicodeDecodeError:
        raise HTTPException(422, "X-Samekind-Who must be percent-encoded UTF-8.") from None
    if len(name) > 100 or not name.isprintable():
        raise HTTPException(
            422, "A name has at most 100 characters, all of them printable. Choose another name."
        )
    return name


READS: dict[str, Any] = {"responses": _responses(400, 403, 404, 422, 503)}
CHANGES: dict[str, Any] = {
    "responses": _responses(400, 403, 413, 422, 503),
    "dependencies": [Depends(_own)],
}

ViewOf = Annotated[View, Depends(_view)]
Who = Annotated[str, Depends(_who)]
Lineup = Annotated[bool, Query(description="Whether line-ups may be asked.")]
Most = Annotated[int, Query(ge=1, le=10, description="How many questions to fetch ahead.")]
Offset = Annotated[int, Query(ge=0, le=LARGEST)]
Limit = Annotated[int, Query(ge=1, le=200)]
KindNumber = Annotated[int, Path(ge=0, le=LARGEST, description="The row that stands for it.")]
RowNumber = Annotated[int, Path(ge=0, le=LARGEST)]
