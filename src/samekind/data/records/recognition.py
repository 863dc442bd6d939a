"""Whether a table is one of records, where nobody said so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from samekind.data.options import LoadOptions
from samekind.data.records.kinds import FieldKind, infer_kinds
from samekind.errors import Message, Parameter

__all__ = ["looks_like_records", "recognised"]

_SAMPLE = 5_000  # rows that are looked at
_TELLING = (FieldKind.NAME, FieldKind.ADDRESS, FieldKind.CODE, FieldKind.DATE)
_PERSONAL = re.compile(
    r"name|street|address|addr|city|town|suburb|birth|dob|email|e-mail|phone|tel|postcode|zip|ssn"
    r"|company|firm|organi[sz]ation|title|author",
    re.IGNORECASE,
)


def recognised(options: LoadOptions, frame: pd.DataFrame) -> tuple[LoadOptions, list[str]]:
    """Return the options with records or without, and what to say about it."""
    asked = options.text, options.image, options.columns, options.embeddings, options.image_shape
    if any(given is not None for given in asked) or not looks_like_records(
        frame, list(options.not_compared)
    ):
        return replace(options, records=False), []
    note = Message(
        "taken for records that may be duplicates; if they are none, pass ",
        Parameter("records", False),
    )
    return replace(options, records=True), [note]


def looks_like_records(frame: pd.DataFrame, leave_out: Sequence[str] = ()) -> bool:
    """Whether a table looks like one of people, firms or the like that may hold duplicates.

    That is: nearly every row is another one, and at least three columns are names, addresses, codes or dates,
    of which two are called like something that records have.
    """
    if len(frame) < 2 or frame.shape[1] < 3:
        return False
    head = frame.head(_SAMPLE)
    head = head.set_axis([str(name) for name in head.columns], axis=1)
    kinds, _ = infer_kinds(head, {}, leave_out)
    found = [name for name, kind in kinds.items() if kind in _TELLING]
    named = [name for name in found if _PERSONAL.search(name)]
    words = any(kinds[name] in (FieldKind.NAME, FieldKind.ADDRESS) for name in named)
    if len(found) < 3 or len(named) < 2 or not words:
        return False
    quantities = sum(kind is FieldKind.NUMBER for kind in kinds.values())
    unique = len(head[list(kinds)].astype(str).drop_duplicates()) / len(head)
    return quantities <= len(found) and unique >= 0.5
