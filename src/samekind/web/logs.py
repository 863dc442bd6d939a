"""The server's log: one line for each request and each error, without data, names or tokens."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

from starlette.types import Scope

from samekind.web.guard import CALLER

__all__ = ["TextLines", "log_request", "write_logs"]

requests = logging.getLogger("samekind.requests")


class TextLines(logging.Formatter):
    """Formats records as text. Of an exception it writes the type and the places; its text may hold data."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line, without the text of the exception that other formatters keep in the record."""
        kept, record.exc_text = record.exc_text, None
        try:
            return super().format(record)
        finally:
            record.exc_text = kept

    def formatException(self, ei: tuple[Any, ...]) -> str:  # noqa: N802
        """Return the places and the type."""
        places = traceback.extract_tb(ei[2])
        lines = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
        return "\n".join([*lines, ei[0].__name__])


def write_logs() -> None:
    """Write the log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextLines("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("samekind", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Write a line about a request: the name of its route and the number of the caller's link."""
    caller = scope.get(CALLER)
    route = str(getattr(scope.get("route"), "name", "")) or "-"
    link = 0 if caller is None or caller.link is None else caller.link.id
    whose = "" if caller is None else f" project={caller.hosted.name} link={link}"
    requests.info("%s %s %d %.1f ms%s", scope["method"][:10], route, status, seconds * 1000, whose)
