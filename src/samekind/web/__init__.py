"""The labelling page: what a person sees in the browser, and its server.

A thin driver of `Project`: it keeps nothing of its own, so it may be killed at any moment.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from samekind.web.reach import ServeError, check_reach, is_loopback

if TYPE_CHECKING:
    from samekind.web.app import make_app
    from samekind.web.names import name_projects
    from samekind.web.server import serve, serve_team
    from samekind.web.team import make_team_app
    from samekind.web.waiting import WaitingPage

__all__ = [
    "ServeError",
    "WaitingPage",
    "check_reach",
    "is_loopback",
    "make_app",
    "make_team_app",
    "name_projects",
    "serve",
    "serve_team",
]

# The application takes seconds to load; what is needed before that is not.
_HOMES = {
    "WaitingPage": "waiting",
    "make_app": "app",
    "make_team_app": "team",
    "name_projects": "names",
    "serve": "server",
    "serve_team": "server",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'samekind.web' has no attribute {name!r}")
    return getattr(import_module(f"samekind.web.{_HOMES[name]}"), name)
