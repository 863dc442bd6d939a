"""Calls of methods that can be sent to where an object is, checked by type where they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec, TypeVar

__all__ = ["Call", "call"]

Self = TypeVar("Self", contravariant=True)
Result = TypeVar("Result", covariant=True)
Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, slots=True)
class Call(Generic[Self, Result]):
    """A method and its arguments, still without the object; see `call`."""

    method: Callable[..., Result]
    args: tuple[object, ...]

    def __call__(self, target: Self) -> Result:
        """Call the method of this object."""
        return self.method(target, *self.args)

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.__name__


def call(
    method: Callable[Concatenate[Self, Parameters], Result],
    *args: Parameters.args,
    **no_keywords: Parameters.kwargs,
) -> Call[Self, Result]:
    """Return a method with its arguments, to be called later and elsewhere.

    Examples
    --------
    >>> upper = call(str.replace, "a", "A")
    >>> upper("banana")
    'bAnAnA'
    """
    assert not no_keywords, "arguments are given by position"
    return Call(method, args)
