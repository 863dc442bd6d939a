"""The application of `samekind label` and `samekind serve`: pages, the API, and health.

The page of a project is at ``/p/NAME/`` and its API at ``/p/NAME/api/``; ``/openapi.json`` describes it.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from anyio import to_thread
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.types import Scope

from samekind._version import __version__
from samekind.ledger import LedgerError
from samekind.project import KeyReused, ProjectError, plain
from samekind.web.auth import Auth
from samekind.web.guard import CALLER, Guard, Observer
from samekind.web.routes import ROUTERS
from samekind.web.server import LOCAL
from samekind.web.site import Site

__all__ = ["make_app"]

log = logging.getLogger("samekind.web")

STATIC = Path(__file__).with_name("static")
AT_ONCE = 200  # requests; each may wait for its project, and must not keep those of others waiting
WORDS = {
    400: "The request could not be read. Is it JSON?",
    404: "There is nothing at this address.",
    405: "This is not done at this address.",
}


def make_app(
    site: Site,
    auth: Auth,
    *,
    allowed_hosts: Iterable[str] = LOCAL,
    root_path: str = "",
    proxies: Iterable[str] = (),
    observer: Observer | None = None,
    home: str | None = None,
) -> FastAPI:
    """Return the application.

    Parameters
    ----------
    site : Site
        The projects; somebody else opens and closes them.
    auth : Auth
        Who may do what.
    allowed_hosts, root_path, proxies, observer
        As for `Guard`.
    home : str or None
        The project whose page ``/`` leads to.
    """
    app = _Api(
        title="samekind",
        version=__version__,
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,
        exception_handlers={
            PlainHTTPException: _http,
            RequestValidationError: _invalid,
            ProjectError: _foreseen,
            KeyReused: _key_reused,
            LedgerError: _not_kept,
        },
    )
    app.state.edition = secrets.token_hex(8)  # so that browsers keep no reply of an earlier run
    for router in ROUTERS:
        app.include_router(router)
    static = _Static(directory=STATIC, check_dir=False)
    app.mount("/static", static)

    @app.get("/p/{name}/", include_in_schema=False)
    async def page(request: Request) -> Response:  # the same for any name, so it tells nothing
        return await static.get_response("index.html", request.scope)

    @app.get("/", include_in_schema=False)
    async def front() -> Response:
        if home is not None:
            return RedirectResponse(f"p/{home}/")
        return PlainTextResponse(
            "This is a server of samekind. Open the whole link that you were given.\n"
        )

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> JSONResponse:
        states = [hosted.state for hosted in site.projects.values()]
        counts = {state: states.count(state) for state in ("ready", "opening", "failed")}
        return JSONResponse({"live": True, "projects": counts})

    @app.get("/healthz/{name}", include_in_schema=False)
    async def ready(name: str) -> JSONResponse:
        hosted = site.projects.get(name)
        is_ready = hosted is not None and hosted.state == "ready"
        return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)

    app.add_middleware(
        Guard,
        auth=auth,
        allowed_hosts=tuple(allowed_hosts),
        root_path=root_path,
        proxies=tuple(proxies),
        observer=observer,
    )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    to_thread.current_default_thread_limiter().total_tokens = AT_ONCE
    yield


class _Api(FastAPI):
    """Describes a tuple as an array, because not every reader of OpenAPI knows `prefixItems`."""

    def openapi(self) -> dict[str, Any]:
        return cast("dict[str, Any]", _simple_tuples(super().openapi()))


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


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, PlainHTTPException)
    # FastAPI's own message about a body that it could not parse says nothing to a user
    is_ours = (
        isinstance(error, HTTPException) and error.detail != "There was an error parsing the body"
    )
    words = error.detail if is_ours else WORDS.get(error.status_code, "This cannot be done.")
    response = _failure(error.status_code, words)
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _failure(422, WORDS[400])
    place = first["loc"]
    where = place[1] if len(place) > 1 else place[0]
    return _failure(422, f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}."[:500])


async def _foreseen(request: Request, error: Exception) -> Response:
    return _failure(400, str(error))


async def _key_reused(request: Request, error: Exception) -> Response:
    return _failure(422, str(error))


async def _not_kept(request: Request, error: Exception) -> Response:
    """Tell what is wrong with the project, but not where it is: only the log says that."""
    assert isinstance(error, LedgerError)
    log.error("%s", error)
    if (caller := request.scope.get(CALLER)) is not None:
        caller.hosted.note_failure(error)
    cause = getattr(error.__cause__, "orig", error.__cause__)
    why = f": {cause}" if isinstance(cause, sqlite3.Error) else ""  # which names no file
    words = (
        f"The project could not be read or written{why}. Nothing was changed. The terminal in which samekind "
        "runs says more; mend the cause there and try again."
    )
    return _failure(503, error.public or words)
