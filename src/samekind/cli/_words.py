"""What the command line says: at once, as nothing slow is loaded here, and in its own words."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from samekind.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console

OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("text", "image", "show", "exclude", "embeddings", "columns", "labels", "sheet"),
        *("algorithm", "budget", "target", "epsilon", "heavy", "tolerance"),
        *("error_rate", "batch", "features", "metric", "reduce", "compare", "block", "other"),
    )
} | {"random_state": "--seed"}
NAMES = "|".join(OPTIONS)
GIVEN = re.compile(rf"\b({NAMES})=(?:\[?(['\"])(.*?)\2(?:, …)?\]?|(\d+(?:\.\d+)?))")
_SAME_COLUMNS = re.compile(r"\bcolumns=\{'(.*?)': '(.*?)'\}")
SPOKEN_OF = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:which|what) ({NAMES}) names?\b",
        rf"^({NAMES})(?: and ({NAMES}))? (?:must|is for)\b",
        rf"\b(?:with|out of|pass|Pass|as) ({NAMES})(?=[.,:]| for\b)",
        rf": ({NAMES}) needs (?:a table|rows)",
        rf"\b({NAMES}) \(.*? and ({NAMES}) \(.*?\) must",
        r"(?<![-\w'\"])(error_rate|random_state)\b",
    )
)


def in_options(message: str) -> str:
    """Return a message with ``--exclude height`` for ``exclude=['height']``, and so on."""
    message = GIVEN.sub(_given, message).replace(', "estimate" or None', ", or estimate")
    message = message.replace("records=False", "--no-records").replace("records=True", "--records")
    message = _SAME_COLUMNS.sub(r"--columns \1=\2", message)
    message = message.replace("header=False", "--no-header").replace("image_shape", "--images")
    for pattern in SPOKEN_OF:
        message = pattern.sub(_spoken_of, message)
    return message


def _given(match: re.Match[str]) -> str:
    value = match[4] if match[3] is None else match[3]
    return f"{OPTIONS[match[1]]} {shlex.quote(value)}"


def _spoken_of(match: re.Match[str]) -> str:
    text, start = match[0], match.start()
    for group in range(match.re.groups, 0, -1):
        if match[group] is not None:
            first, last = (place - start for place in match.span(group))
            text = text[:first] + OPTIONS[match[group]] + text[last:]
    return text


def chat(console: Console, text: str, *, wrap: bool = False) -> None:
    """Say something that may hold anything that the user or the data gave.

    Sentences wrap between words; what may hold a path or a command does not, so that it can be copied.
    """
    console.print(printable(text, lines=True), soft_wrap=not wrap)
