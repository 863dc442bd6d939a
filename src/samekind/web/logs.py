"""What a server writes down: one line for each request and each trouble, without data, names or tokens."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

from starlette.types import Scope

from samekind.web.doors import CALLER

__all__ = ["TextLines", "log_request", "write_logs"]

requests = logging.getLogger("samekind.requests")
LOGGERS = ("samekind", "uvicorn.error")


class TextLines(logging.Formatter):
    """Words.

    Of an exception that nobody foresaw only its type and the places in the program are written: its text may
    hold data.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a line; what other formatters keep of an exception is neither taken nor changed."""
        kept, record.exc_text = record.exc_text, None
        try:
            return super().format(record)
        finally:
            record.exc_text = kept

    def formatException(self, ei: tuple[Any, ...]) -> str:  # noqa: N802
        """Return the places, and the type."""
        places = traceback.extract_tb(ei[2])
        lines = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
        return "\n".join([*lines, ei[0].__name__])


def write_logs() -> None:
    """Write what happens to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextLines("%(asctime)s %(levelname)s %(message)s"))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "samekind" else logging.WARNING)


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Write a line about a request: its route, not its address, and its link's number, not a name."""
    caller = scope.get(CALLER)
    route = str(getattr(scope.get("route"), "name", "")) or "-"
    whose = "" if caller is None else f" project={caller.name} link={caller.link}"
    requests.info("%s %s %d %.1f ms%s", scope["method"][:10], route, status, seconds * 1000, whose)
