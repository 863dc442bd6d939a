"""The labelling page: what a person sees in the browser, and its server.

A thin driver of `Project`: it keeps nothing of its own, so it may be killed at any moment.
"""

from __future__ import annotations

from samekind.web.app import make_app
from samekind.web.server import ServeError, check_reach, is_loopback, serve

__all__ = ["ServeError", "check_reach", "is_loopback", "make_app", "serve"]
