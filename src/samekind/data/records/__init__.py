"""Records that may be duplicates: what columns hold, which pairs to compare, how alike these are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.data.records.kinds import FieldKind
    from samekind.data.records.records import ComparedRecords, records_of

__all__ = ["ComparedRecords", "FieldKind", "records_of"]

_HOMES = {"ComparedRecords": "records", "FieldKind": "kinds", "records_of": "records"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
