"""What a server writes down: one line for each request and each trouble, without data, names or tokens."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from types import TracebackType
from typing import Any

from starlette.types import Scope

from samekind.web.doors import CALLER

__all__ = ["JsonLines", "TextLines", "log_request", "write_logs"]

requests = logging.getLogger("samekind.requests")
LOGGERS = ("samekind", "uvicorn.error")
OWN = ("project", "link", "route", "method", "status", "ms")  # what a line may have besides


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
        return "\n".join([*_places(ei[2]), ei[0].__name__])


class JsonLines(logging.Formatter):
    """One JSON object a line; of an exception as much as `TextLines`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line."""
        moment = time.gmtime(record.created)
        line: dict[str, object] = {
            "time": f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in OWN if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["trace"] = _places(record.exc_info[2])
        return json.dumps(line, ensure_ascii=False)


def _places(trace: TracebackType | None) -> list[str]:
    return [
        f"{place.filename}:{place.lineno} {place.name}" for place in traceback.extract_tb(trace)
    ]


def write_logs(form: str) -> None:
    """Write what happens to the standard error, as text or as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    words = TextLines("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if form == "json" else words)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "samekind" else logging.WARNING)


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Write a line about a request: its route, not its address, and its link's number, not a name."""
    caller = scope.get(CALLER)
    route = str(getattr(scope.get("route"), "name", ""))
    own = {
        "method": scope["method"][:10],
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    if caller is not None:
        own |= {"project": caller.name, "link": caller.link}
    requests.info("%s %s %s", own["method"], route or "-", status, extra=own)
