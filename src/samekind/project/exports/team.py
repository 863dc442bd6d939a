"""Who answered, how much they agree, and what each of them said of the same pairs, as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, BinaryIO

from samekind.project.annotators import votes_of
from samekind.project.exports.tables import write_lines
from samekind.project.records import AnnotatorRecord
from samekind.project.words import WORDS

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["write_agreement", "write_annotators", "write_opinions"]


def write_annotators(project: Project, file: BinaryIO) -> None:
    """Write a line for everyone who answered: how much, how fast, how often wrong."""
    head = [field.name for field in fields(AnnotatorRecord)]
    page = project.team.annotators()
    write_lines(file, head, (list(asdict(one).values()) for one in page.annotators))


def write_agreement(project: Project, file: BinaryIO) -> None:
    """Write the agreement of all, and that of any two people."""
    found = project.team.annotators().agreement
    head = ["measure", "one", "two", "shared", "agreed", "value", "low", "high"]
    n = found.pairs_of_rows
    rows: list[Sequence[object]] = [
        ("Krippendorff alpha", "", "", n, "", found.alpha, found.low, found.high),
        (f"Fleiss kappa of {found.fleiss_raters}", "", "", n, "", found.fleiss, "", ""),
    ]
    rows += [
        ("Cohen kappa", one.one, one.two, one.shared, one.agreed, one.kappa, one.low, one.high)
        for one in found.people
    ]
    write_lines(file, head, rows)


def write_opinions(project: Project, file: BinaryIO) -> None:
    """Write what each person says of pairs of which several do; not of those that wait for an opinion."""
    with project.state():
        votes = votes_of(project)
    rows_of = project.items.rows_in_file
    rows = [
        (rows_of(a), rows_of(b), who, WORDS[answer])
        for (a, b), said in sorted(votes.items())
        if len(said) > 1
        for who, answer in said.items()
    ]
    write_lines(file, ["a", "b", "who", "answer"], rows)
