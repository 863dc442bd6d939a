"""A table of who answered."""

from __future__ import annotations

from html import escape

from samekind.clusters import Clusters
from samekind.clusters.annotators import is_told, percent, shown_name, warnings_about
from samekind.measures import Reliability
from samekind.report._figures import shown_text

__all__ = ["people"]

NUMBER = ' class="number"'
HEADS = ("name", "answers", "unsure", "estimated error", "95% interval")
CAPTION = "How many of the answers of each are wrong, estimated by how they fit the clusters."
NOT_TESTED = (
    " Not tested: there are too few answers, or all were taken to be true and the clusters made to follow "
    "them. To have answers tested, run with an error rate (--error-rate)."
)


def people(clusters: Clusters) -> str:
    """Return the section on who answered; nothing if that is not of interest."""
    if not clusters.annotators_:
        return ""
    head = "".join(
        f'<th{"" if name == "name" else NUMBER} scope="col">{name}</th>' for name in HEADS
    )
    busiest = sorted(clusters.annotators_, key=lambda one: -one.n_answers)
    body = "".join(map(_line, busiest))
    caption = CAPTION if all(map(is_told, busiest)) else CAPTION + NOT_TESTED
    warnings = "".join(
        f'<p class="notice"><span class="bad">Warning:</span> {escape(shown_text(text, 500))}</p>'
        for text in warnings_about(clusters.annotators_)
    )
    return (
        f'<section><h2>Who answered</h2><p class="caption">{caption}</p>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{warnings}</section>"
    )


def _line(one: Reliability) -> str:
    numbers = (
        f"{one.n_answers:,}",
        f"{one.n_unsure:,}",
        percent(one.error) if is_told(one) else "not tested",
        f"{percent(one.low)} to {percent(one.high)}" if is_told(one) else "",
    )
    name = f"<td>{escape(shown_text(shown_name(one.name), 60))}</td>"
    return f"<tr>{name}{''.join(f'<td{NUMBER}>{number}</td>' for number in numbers)}</tr>"
