"""Run a compiled loop over a range in several threads.

The loops release the interpreter lock, so plain threads suffice: nothing to configure, safe to call
from several threads at once, and a forked child simply makes a pool of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)


def available_threads() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def split(size: int, threads: int, work: Callable[[int, int], T]) -> list[T]:
    """Call ``work(first, last)`` on `threads` parts of ``range(size)``; return the results in order."""
    if threads <= 1 or size < threads:
        return [work(0, size)]
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="samekind")
    edges = [size * part // threads for part in range(threads + 1)]
    return list(_pools[threads].map(lambda part: work(*part), pairwise(edges)))
