"""Figures as data: traces and a layout that the page's script draws in the reader's colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from numpy.typing import ArrayLike

__all__ = ["Figure", "Trace", "axis", "lines", "shown_text", "to_json"]

Trace = dict[str, object]
"""What Plotly draws, attribute by attribute."""

UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


@dataclass(frozen=True)
class Figure:
    """One plot of the page.

    A trace's ``meta["theme"]`` maps its attributes to the page's colour variables, which differ
    between light and dark.
    """

    name: str
    title: str
    text: str
    traces: list[Trace]
    layout: Mapping[str, object]
    height: int


def axis(title: str, **more: object) -> Trace:
    """Return an axis."""
    return {"title": {"text": escape(shown_text(title, 60))}, "zeroline": False, **more}


def lines(name: str, x: ArrayLike, y: ArrayLike, line: Trace, color: str, **more: object) -> Trace:
    """Return a trace of lines in a colour of the page."""
    theme = {"theme": {"line.color": color}}
    drawn: Trace = {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line}
    return {**drawn, "hoverinfo": "skip", "meta": theme, **more}


def to_json(figure: Figure) -> str:
    """Return a figure as JSON that may stand in an HTML page; Plotly checks every attribute."""
    import plotly.graph_objects as go

    text: str = go.Figure(figure.traces, {**figure.layout, "template": "none"}).to_json()
    # Within a script element only "<" can end it or begin a comment.
    return text.replace("<", "\\u003c")


def shown_text(value: object, most: int) -> str:
    """Return a text without control characters, cut to at most so many characters."""
    text = UNSEEN.sub(" ", str(value)).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
