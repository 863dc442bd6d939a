"""Events: what a project keeps is a list of them.

An *act* is what somebody did in one go: one transaction, one number, which is the id of its first event. An
event is never changed. What counts is folded from the events that stand (see `log`):

========== ===================== ==============================================================
kind       columns               meaning
========== ===================== ==============================================================
answer     a, b, answer, charged somebody answered a pair; `expected` if it was asked for
edit       a, b, answer, charged the same by hand: it outranks all earlier answers to the pair
opinion    a, b, answer, ref     one of several people's; `ref` is an `OpinionRole`
name       a, payload            the cluster of item a is called so; "" takes the name away. A second
                                 line says what belongs to the cluster
found      a, ref                item a holds the cluster number `ref`
settings   payload               a JSON object of texts: the newest value of each key counts
retract    ref, payload          the act `ref` is taken back, or of it the events listed in `payload`
========== ===================== ==============================================================

``a`` and ``b`` are items: the first item that a project ever saw is 0. An item keeps its id when rows come
and go.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ANSWER",
    "EDIT",
    "FOUND",
    "KINDS",
    "MOST_ITEMS",
    "NAME",
    "OPINION",
    "RETRACT",
    "ROLES",
    "SETTINGS",
    "Event",
    "KeptItems",
    "KeptReply",
    "OpinionRole",
]

ANSWER, EDIT, OPINION, NAME = "answer", "edit", "opinion", "name"
FOUND, SETTINGS, RETRACT = "found", "settings", "retract"
KINDS = ANSWER, EDIT, OPINION, NAME, FOUND, SETTINGS, RETRACT
ROLES = ("answer", "review", "own")  # of links: each may do what those before it may
MOST_ITEMS = 2**31


class OpinionRole(IntEnum):
    """What an opinion was given as."""

    BLIND = 0
    """One of several that are wanted."""
    LATE = 1
    """To a question that somebody else had answered meanwhile."""
    SETTLES = 2
    """By a reviewer, who has seen the others: it ends the matter."""


class Event(NamedTuple):
    """One line of the log; which columns are used depends on the kind."""

    id: int
    act: int
    kind: str
    who: str
    at: float
    a: int | None = None
    b: int | None = None
    answer: int | None = None
    charged: bool = False
    ref: int | None = None
    payload: str | None = None
    expected: bytes | None = None


class KeptReply(NamedTuple):
    """What a request with a key was told, and a digest of what it asked for."""

    request: str
    reply: str


class KeptItems(NamedTuple):
    """The digests of all items that a project ever saw, and the row of each; -1: it is not in the data."""

    digests: bytes
    rows: NDArray[np.int64]
