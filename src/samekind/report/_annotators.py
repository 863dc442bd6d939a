"""A table of who answered."""

from __future__ import annotations

from html import escape

from samekind.clusters import Clusters
from samekind.measures import Reliability, percent
from samekind.report._figures import shown_text
from samekind.report._headline import NUMBER, table

__all__ = ["annotator_table"]

NUMBERS = ("answers", "unsure", "estimated error", "95% interval")
HEADS = {"name": "", **dict.fromkeys(NUMBERS, NUMBER)}
CAPTION = "How many of the answers of each are wrong, estimated by how they fit the clusters."
NOT_TESTED = (
    " Not tested: there are too few answers, or all were taken to be true and the kinds made to follow "
    "them. To have answers tested, run with an error rate (--error-rate)."
)


def annotator_table(clusters: Clusters) -> str:
    """Return the section on who answered; nothing if that is not of interest."""
    if not clusters.annotators_:
        return ""
    head = "".join(f'<th{style} scope="col">{name}</th>' for name, style in HEADS.items())
    busiest = sorted(clusters.annotators_, key=lambda one: -one.n_answers)
    body = "".join(map(_line, busiest))
    caption = CAPTION if all(one.is_tested for one in busiest) else CAPTION + NOT_TESTED
    warnings = "".join(
        f'<p class="notice"><span class="bad">Warning:</span> {escape(shown_text(text, 500))}</p>'
        for one in clusters.annotators_
        if (text := one.warning) is not None
    )
    return (
        f'<section><h2>Who answered</h2><p class="caption">{caption}</p>'
        f"{table(head, body)}{warnings}</section>"
    )


def _line(one: Reliability) -> str:
    numbers = (
        f"{one.n_answers:,}",
        f"{one.n_unsure:,}",
        percent(one.error) if one.is_tested else "not tested",
        f"{percent(one.low)} to {percent(one.high)}" if one.is_tested else "",
    )
    name = f"<td>{escape(shown_text(one.shown_name, 60))}</td>"
    return f"<tr>{name}{''.join(f'<td{NUMBER}>{number}</td>' for number in numbers)}</tr>"
