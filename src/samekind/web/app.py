"""The application: routes, the page's own files, and what errors look like."""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import HTTPException as FastAPIHTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.params import Depends as DependsOn
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import Scope

from samekind._version import __version__
from samekind.ledger import LedgerError
from samekind.project import KeyReused, Project, ProjectError, plain
from samekind.web import annotators, asking, clusters, files, records, reviews, saying
from samekind.web.doors import HOSTED, TokenDoor
from samekind.web.guard import LOCAL, Guard
from samekind.web.parameters import Responses, own_request
from samekind.web.roles import needed_for

__all__ = ["STATIC", "include_routes", "make_app", "mount_static", "new_api"]

log = logging.getLogger("samekind.web")

STATIC = Path(__file__).with_name("static")
WORDS = {
    404: "There is nothing at this address.",
    405: "This is not done at this address.",
    400: "The request could not be read. Is it JSON?",
}


def make_app(
    project: Project, *, token: str | None = None, allowed_hosts: Iterable[str] = LOCAL
) -> FastAPI:
    """Return the labelling page and its API as an ASGI application.

    Parameters
    ----------
    project : Project
        What is labelled. It stays the caller's: close it afterwards.
    token : str or None
        What every request to the API must know.
    allowed_hosts : iterable of str
        Names that the server goes by, ``"name"`` or ``"name:port"``; ``"*"`` is any numeric address.
    """
    app = new_api("/api/openapi.json", is_locked=token is not None)
    include_routes(app, "/api", changes_need=[Depends(own_request)])
    static = mount_static(app)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return await static.get_response("index.html", request.scope)

    app.add_middleware(Guard, door=TokenDoor(project, token), allowed_hosts=tuple(allowed_hosts))
    return app


def new_api(openapi_url: str, *, is_locked: bool) -> FastAPI:
    """Return an application without routes, which says what goes wrong as all of ours do."""
    app = _Api(
        title="samekind",
        version=__version__,
        openapi_url=openapi_url,
        docs_url=None,  # they would come from another host
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers=_HANDLERS,
        dependencies=[Depends(HTTPBearer(auto_error=False))] if is_locked else None,
    )
    # so that no other run's answers are taken from a cache
    app.state.edition = secrets.token_hex(8)
    return app


def include_routes(
    app: FastAPI,
    prefix: str,
    *,
    need: Sequence[DependsOn] = (),
    changes_need: Sequence[DependsOn] = (),
    responses: Responses | None = None,
) -> None:
    """Add all that can be done with a project, under an address, to an application."""
    for routes in (asking, clusters, saying, records, files, annotators, reviews):
        app.include_router(routes.reads, prefix=prefix, dependencies=[*need], responses=responses)
        app.include_router(
            routes.changes, prefix=prefix, dependencies=[*need, *changes_need], responses=responses
        )


def mount_static(app: FastAPI) -> StaticFiles:
    """Serve the page's own files."""
    static = _Static(directory=STATIC, check_dir=False)
    app.mount("/static", static)
    return static


class _Api(FastAPI):
    """Describes a tuple as an array of so many: not every reader of OpenAPI knows of more.

    Where there are several projects it also says of every route which role it is for.
    """

    def openapi(self) -> dict[str, object]:
        schema: dict[str, Any] = {key: _simple_tuples(p) for key, p in super().openapi().items()}
        for path, routes in schema["paths"].items():
            if "{project}" in path:
                for route in routes.values():
                    route["x-role"] = needed_for(route["operationId"])
        return schema


def _simple_tuples(schema: object) -> object:
    if isinstance(schema, list):
        return [_simple_tuples(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    simple = {key: _simple_tuples(part) for key, part in schema.items() if key != "prefixItems"}
    if "prefixItems" in schema:
        simple["items"] = _simple_tuples(schema["prefixItems"][0])
    return simple


class _Static(StaticFiles):
    """Files that a browser keeps, and asks each time whether they still hold."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _failure(status: int, words: str) -> JSONResponse:
    return JSONResponse({"error": plain(words)}, status)


async def _http(request: Request, error: HTTPException) -> Response:
    is_ours = isinstance(error, FastAPIHTTPException) and error.status_code != 400
    words = error.detail if is_ours else WORDS.get(error.status_code, "This cannot be done.")
    response = _failure(error.status_code, words)
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _failure(422, WORDS[400])
    place = first["loc"]
    where = place[1] if len(place) > 1 else place[0]
    return _failure(422, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}."[:500])


async def _foreseen(request: Request, error: ProjectError) -> Response:
    return _failure(400, str(error))


async def _key_reused(request: Request, error: KeyReused) -> Response:
    return _failure(422, str(error))


async def _not_kept(request: Request, error: LedgerError) -> Response:
    """Say what is wrong with the project, but not where it is: that is told to the terminal only."""
    log.error("%s", error)
    if (hosted := request.scope.get(HOSTED)) is not None:
        hosted.note_failure(error)
    cause = getattr(error.__cause__, "orig", error.__cause__)
    why = f": {cause}" if isinstance(cause, sqlite3.Error) else ""  # which names no file
    words = (
        f"The project could not be read or written{why}. Nothing was changed. The terminal in which samekind "
        "runs says more; mend the cause there and try again."
    )
    return _failure(503, error.public or words)


_HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Any]] = {
    HTTPException: _http,
    RequestValidationError: _invalid,
    ProjectError: _foreseen,
    KeyReused: _key_reused,
    LedgerError: _not_kept,
}
