"""What a worker of a Dask cluster does: it keeps blocks of rows, what is known of them, and answers.

Its rules:

- What changes a block's state is an entry of a log that the driver keeps. A worker knows how many entries it
  has applied, applies each once, and keeps the result of the last, so an errand may come twice.
- Nothing is lost with a worker: where the block comes to life again, the whole log is applied anew.
- State goes when its block does: when the driver lets go of it, or is gone itself.
"""

from __future__ import annotations

import asyncio
import pickle
import weakref
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple, Protocol

from distributed import Worker, WorkerPlugin, get_worker

__all__ = ["ABSENT", "BEHIND", "DONE", "FAILED", "Desk", "DeskPlugin", "Entry", "Errand", "Recipe"]

OPERATION = "samekind"  # by which workers are called
DONE, BEHIND, ABSENT, FAILED = range(4)  # how an errand went for a part
QUICK = {"rows", "held", "locate", "owned"}  # what is done sooner than handed to another thread
SWEEP = 2.0  # seconds after which state is looked for whose block is gone

_desks: weakref.WeakKeyDictionary[Worker, Desk] = weakref.WeakKeyDictionary()


class Recipe(Protocol):
    """Says what blocks become where they lie."""

    def make(self, block: Any, threads: int) -> Any:
        """Return what answers for a block."""
        ...

    def fold(
        self, what: str, made: Mapping[int, Any], calls: Mapping[int, Any], found: dict[int, Any]
    ) -> dict[int, Any]:
        """Return the results of the parts of one worker with less in them, or more, for the journey."""
        ...


class Entry(NamedTuple):
    """A call that changes every part. The first argument is the number of what it changes."""

    what: str
    args: tuple[Any, ...]


class Errand(NamedTuple):
    """What some parts that lie on one worker are to do."""

    run: str
    recipe: Recipe
    keys: dict[int, str]
    """Of the blocks of these parts."""
    n_beside: int
    """How many parts of the run lie on this worker."""
    since: int
    log: list[Entry | None]
    """The entries from number `since` on; None where what they changed was dropped."""
    what: str
    """The method to call then; none to return what the last entry did."""
    calls: dict[int, tuple[Any, ...]]


class Holding:
    """What answers for a block, and what has happened to it."""

    def __init__(self, key: str, made: Any) -> None:
        self.key = key
        self.made = made
        self.lock = Lock()
        self.applied = 0
        self.times: Counter[int] = Counter()  # entries that were applied to each number
        self._result: Any = None

    def do(self, errand: Errand, part: int) -> tuple[int, Any]:
        """Catch up with the log, and call the method."""
        with self.lock:
            if self.applied < errand.since:
                return BEHIND, self.applied
            for entry in errand.log[self.applied - errand.since :]:
                if entry is not None:
                    self._result = getattr(self.made, entry.what)(*entry.args)
                    self.times[entry.args[0]] += 1
                self.applied += 1
            if not errand.what:
                return DONE, self._result
            return DONE, getattr(self.made, errand.what)(*errand.calls[part])


class Desk:
    """Takes errands on a worker. Only its event loop changes what is held."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._held: dict[tuple[str, int], Holding] = {}
        self._threads = max(1, worker.state.nthreads)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="samekind")
        self._sweeping = False

    def __len__(self) -> int:
        return len(self._held)

    async def handle(self, errand: bytes) -> bytes:
        """Do an errand; return for each part how it went, and the result."""
        return await self._do(pickle.loads(errand))

    async def forget(self, run: str) -> None:
        """Drop all state of a run."""
        for name in [name for name in self._held if name[0] == run]:
            del self._held[name]

    async def _do(self, errand: Errand) -> bytes:
        held = {part: self._find(errand, part) for part in errand.calls}
        here = [(part, holding) for part, holding in held.items() if holding is not None]
        loop, stride = asyncio.get_running_loop(), min(self._threads, len(here))
        some = [here[first::stride] for first in range(stride)]
        if errand.what in QUICK and not errand.log:
            done = [self._work(errand, share) for share in some]
        else:
            done = await asyncio.gather(
                *(loop.run_in_executor(self._pool, self._work, errand, share) for share in some)
            )
        found: dict[int, tuple[int, Any]] = dict.fromkeys(errand.calls, (ABSENT, None))
        for share in done:
            found |= share
        for part, (outcome, _) in found.items():
            if outcome == FAILED:  # half a change may be made: let it be made anew
                self._held.pop((errand.run, part), None)
        good = {part: result for part, (outcome, result) in found.items() if outcome == DONE}
        if good:
            made = {part: holding.made for part, holding in here if part in good}
            last = errand.log[-1] if errand.log else None
            what = errand.what or (last.what if last is not None else "")
            for part, result in errand.recipe.fold(what, made, errand.calls, good).items():
                found[part] = DONE, result
        return pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL)

    def _work(self, errand: Errand, some: list[tuple[int, Holding]]) -> dict[int, tuple[int, Any]]:
        found: dict[int, tuple[int, Any]] = {}
        for part, holding in some:
            try:
                found[part] = holding.do(errand, part)
            except Exception as error:
                found[part] = FAILED, error
        return found

    def _find(self, errand: Errand, part: int) -> Holding | None:
        holding = self._held.get((errand.run, part))
        key = errand.keys[part]
        if holding is None and key in self._worker.data:
            threads = max(1, self._threads // max(1, errand.n_beside))
            made = errand.recipe.make(self._worker.data[key], threads)
            holding = self._held[errand.run, part] = Holding(key, made)
            if not self._sweeping:
                self._sweep()
        return holding

    def _sweep(self) -> None:
        """Drop what belongs to blocks that are gone, and look again later."""
        for name, holding in list(self._held.items()):
            if holding.key not in self._worker.data:
                del self._held[name]
        self._sweeping = bool(self._held)
        if self._sweeping:
            asyncio.get_running_loop().call_later(SWEEP, self._sweep)

    def holding(self, run: str, part: int) -> Holding | None:
        """Return what is held of a part."""
        return self._held.get((run, part))


class DeskPlugin(WorkerPlugin):  # type: ignore[misc]
    """Puts a desk on every worker, also on those that come later."""

    name = OPERATION

    def setup(self, worker: Worker) -> None:
        """Put a desk there, if there is none."""
        if worker not in _desks:
            desk = _desks[worker] = Desk(worker)
            worker.handlers[OPERATION] = desk.handle
            worker.handlers[f"{OPERATION}_forget"] = desk.forget


def held_here(run: str, part: int) -> Holding | None:
    """Return what the worker that runs this task holds of a part."""
    desk = _desks.get(get_worker())
    return None if desk is None else desk.holding(run, part)
