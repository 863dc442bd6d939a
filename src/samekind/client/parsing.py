"""From JSON to the records of a project."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

__all__ = ["record_from"]

Record = TypeVar("Record")


def record_from(form: type[Record], found: object) -> Record:
    """Return a record as its class says; what the class does not know, of a newer server, is left out.

    Examples
    --------
    >>> from samekind.project import ClusterRef
    >>> record_from(ClusterRef, {"cluster": 5, "number": 1, "name": None, "proposed_name": "a", "new": 7})
    ClusterRef(cluster=5, number=1, name=None, proposed_name='a')
    """
    return cast(Record, _made(form, found))


def _made(form: Any, found: Any) -> Any:
    kind, parts = get_origin(form), get_args(form)
    if kind in (Union, UnionType):
        return None if found is None else _made(_fitting(parts, found), found)
    if kind is list:
        return [_made(parts[0], each) for each in found]
    if kind is tuple:
        return tuple(_made(part, each) for part, each in zip(parts, found, strict=True))
    if isinstance(form, type) and is_dataclass(form):
        hints = _hints(form)
        known = {field.name for field in fields(form)} & found.keys()
        return form(**{name: _made(hints[name], found[name]) for name in known})
    return found


def _fitting(parts: tuple[Any, ...], found: Any) -> Any:
    """Return the member of a union that a value is of; records of a union say their type."""
    records = [part for part in parts if isinstance(part, type) and is_dataclass(part)]
    if not records or not isinstance(found, dict):
        lists = [part for part in parts if get_origin(part) is list and isinstance(found, list)]
        return lists[0] if lists else object
    if len(records) == 1:
        return records[0]
    return next(part for part in records if get_args(_hints(part)["type"])[0] == found["type"])


@cache
def _hints(form: type) -> dict[str, Any]:
    return get_type_hints(form)
