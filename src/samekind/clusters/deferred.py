"""Fields that may be computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, overload

__all__ = ["Deferred"]

T = TypeVar("T")


class Deferred(Generic[T]):
    """A field of a dataclass: a value, or a function that returns it and is called once, when it is needed.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sum:
    ...     total: Deferred[int] = Deferred(0)
    >>> Sum(lambda: 1 + 2).total, Sum(4).total, Sum().total
    (3, 4, 0)
    """

    def __init__(self, *default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> T: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T:
        if instance is None:  # the dataclass asks for the default
            if not self._default:
                raise AttributeError(self._name)
            return self._default[0]
        kept = instance.__dict__
        if callable(kept[self._name]):
            kept[self._name] = kept[self._name]()
        found: T = kept[self._name]
        return found

    def __set__(self, instance: object, value: T | Callable[[], T]) -> None:
        instance.__dict__[self._name] = value
