"""Run a compiled loop over a range in several threads.

The loops release the interpreter lock, so plain threads suffice. Several callers may share a pool; a forked
child makes pools of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from samekind._validation import check_int

__all__ = ["check_threads", "run_in_threads"]

T = TypeVar("T")

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pools.clear)


def check_threads(threads: int | None) -> int:
    """Return the number of threads to use; None means one for each core that may be used."""
    wanted = check_int("threads", threads, none="use every core")
    if wanted is not None:
        return wanted
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def run_in_threads(size: int, threads: int, work: Callable[[int, int], T]) -> list[T]:
    """Call ``work(first, last)`` on `threads` pieces of ``range(size)``; return the results in order."""
    if threads <= 1 or size < threads:
        return [work(0, size)]
    edges = [size * piece // threads for piece in range(threads + 1)]
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="samekind")
    others = [_pools[threads].submit(work, *piece) for piece in pairwise(edges[:-1])]
    last = work(edges[-2], edges[-1])  # the last piece is for the thread that waits for the others
    return [*(other.result() for other in others), last]
