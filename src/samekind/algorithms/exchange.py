"""What a run is told besides the answers to its questions, and what it asks besides them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Amendment", "ExtraQuestion", "Known"]


class Known(NamedTuple):
    """What is known before a run begins, for algorithms that can resume from it."""

    rows: list[int]
    """In the order in which they became known."""
    groups: list[int]
    """For each of them the number of its cluster, 0, 1, …"""
    different: list[tuple[int, int]]
    """Groups known to be different."""
    ask_first: list[int]
    """Rows to ask about before any others."""


class Amendment(NamedTuple):
    """What is known now, after a change of earlier answers, of all clusters that it touches."""

    groups: list[list[int]]
    """Rows that are in one cluster; together all rows of these clusters, and others that are known now."""
    different: list[tuple[int, int]]
    """Rows that are in different clusters: of every two such clusters, one of which is touched, one pair."""
    ask_again: list[tuple[int, int]]
    """Pairs whose answers were taken back, and which nothing else answers, in the order of asking."""
    reopened: list[int]
    """Rows that were given up, and of which something else is known now."""
    founders: Sequence[int] = ()
    """Rows, each in a group of its own, that are in none of the clusters: each is one by itself."""
    unmentioned: Sequence[int] = ()
    """Rows of clusters of which no answer says anything any more."""
    ask: Sequence[int] = ()
    """Rows that were compared beyond what the run asked, and whose clusters are still not known."""
    refused: Mapping[int, list[int]] = {}
    """For these rows, and those that the run was asking about: a row of each cluster they are not in."""


class ExtraQuestion(NamedTuple):
    """A row, and members of the clusters that it is likeliest in, best first."""

    row: int
    members: list[int]
