"""Put the page together: one file that loads nothing.

The policy in its head names the two scripts by their hashes, so no other script runs, whatever stands in
the data; and it lets the page fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template

from samekind._version import __version__
from samekind.report._figures import Figure, to_json

__all__ = ["page"]


def page(
    *,
    title: str,
    lead: str,
    tiles: str,
    facts: str,
    figures: Sequence[Figure],
    exemplars: str,
    annotators: str = "",
) -> str:
    """Return the page. `title` is plain text; the others are HTML."""
    from plotly.offline import get_plotlyjs

    files = resources.files("samekind.report")
    # A browser hashes what it has parsed, in which every line ends with a line feed.
    plotly = get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    needs_webgl = any(trace["type"] == "scattergl" for figure in figures for trace in figure.traces)
    return Template(files.joinpath("template.html").read_text(encoding="utf-8")).substitute(
        policy=_policy([plotly, script], needs_webgl),
        title=escape(title),
        lead=lead,
        tiles=tiles,
        facts=facts,
        figures=f'<div class="plots">{"".join(map(_place, figures))}</div>',
        annotators=annotators,
        exemplars=exemplars,
        data="\n".join(
            f'<script type="application/json" data-figure="{figure.name}">{to_json(figure)}</script>'
            for figure in figures
        ),
        style=files.joinpath("style.css").read_text(encoding="utf-8"),
        plotly=plotly,
        script=script,
        version=escape(__version__),
    )


def _place(figure: Figure) -> str:
    wide = ' class="wide"' if figure.name == "map" else ""
    return (
        f'<section{wide}><h2>{escape(figure.title)}</h2><p class="caption">{escape(figure.text)}</p>'
        f'<div class="plot" id="{figure.name}" data-figure="{figure.name}" '
        f'data-height="{figure.height}" role="img" aria-label="{escape(figure.title)}"></div></section>'
    )


def _policy(scripts: Sequence[str], needs_webgl: bool) -> str:
    allowed = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    ]
    if needs_webgl:  # Plotly's WebGL plots compile their drawing commands
        allowed.append("'unsafe-eval'")
    return (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
