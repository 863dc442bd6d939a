"""Pieces of work that others do, with few under way at once: what is made of them comes in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

__all__ = ["results_in_order"]

T_co = TypeVar("T_co", covariant=True)


class Submitted(Protocol[T_co]):
    """What a pool of threads or a cluster returns at once for a piece of work."""

    def result(self) -> T_co:
        """Wait for what it becomes."""
        ...


def results_in_order(submitted: Iterable[Submitted[T_co]], ahead: int) -> Iterator[T_co]:
    """Yield the results of pieces of work, of which at most `ahead` are under way while one is waited for.

    `submitted` submits a piece whenever its next one is asked for, so memory is bounded.
    """
    under_way: deque[Submitted[T_co]] = deque()
    for one in submitted:
        under_way.append(one)
        if len(under_way) > ahead:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()
