"""Blocks of rows on a Dask cluster, and how they are asked where they lie."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from logging import ERROR
from threading import RLock
from time import monotonic, sleep
from typing import Any

import distributed
from distributed import Client, Future

from samekind.points.sources.dask.worker import (
    ABSENT,
    BEHIND,
    DONE,
    OPERATION,
    DeskPlugin,
    Entry,
    Errand,
    Recipe,
)

__all__ = ["Blocks", "ClusterError", "find_client", "open_desks"]

TRIES = 12  # errands in vain, one after the other, until a run fails
LONGEST = 2.0  # seconds to wait between two of them
PATIENCE = 60.0  # seconds to wait for a first worker when there is none
REACH = 2.0  # seconds in which a worker must be reached directly, or it never is
IMPATIENT = 0.5  # seconds after which to ask whether the worker is there at all


class ClusterError(RuntimeError):
    """The cluster lost what it cannot bring back."""


def find_client(client: Client | None = None) -> tuple[Client, bool]:
    """Return the given client, the current one or a new one, and whether it is new.

    A new one computes in threads of this process, as Dask does where there is no client, and is the current
    one from then on.
    """
    if client is not None:
        return client, False
    try:
        return distributed.get_client(), False
    except ValueError:
        return Client(processes=False, dashboard_address=":0", silence_logs=ERROR), True


def open_desks(client: Client) -> None:
    """Have every worker of a cluster take errands."""
    if client.asynchronous:
        raise ValueError(
            "samekind waits for the cluster's answers, and an asynchronous client cannot be waited "
            "for. Pass a client that is made without asynchronous=True."
        )
    if client.status != "running":
        raise ValueError(f"the client is not connected but {client.status}. Pass one that is.")
    try:
        client.register_plugin(DeskPlugin())
    except ImportError as error:
        raise ClusterError(
            f"the workers cannot import samekind ({error}). Install the same version there."
        ) from error


class Blocks:
    """Blocks of a collection that stay where they are, each with a state that is changed by a log.

    Parameters
    ----------
    client : Client
        Of the cluster on which they are.
    run : str
        A name that no other blocks have.
    futures : sequence of Future
        The blocks, in order.
    recipe : Recipe
        Says what answers for a block.
    """

    def __init__(self, client: Client, run: str, futures: Sequence[Future], recipe: Recipe) -> None:
        self.run = run
        self.client = client
        self.futures = list(futures)
        self.n_calls: Counter[str] = Counter()
        self._recipe = recipe
        self._lock = RLock()
        self._log: list[Entry | None] = []
        self._applied = [0] * len(self.futures)  # entries that each part has, as far as is known
        self._places: list[str] = []  # the worker of each part
        self._n_beside: Counter[str] = Counter()  # parts of each worker
        self._dropped: deque[int] = deque()
        self._directly: bool | None = client.direct_to_workers  # None until it was tried

    def tell(self, what: str, *args: Any) -> list[Any]:
        """Change every part; return the results in order."""
        with self._lock:
            self._forget_dropped()
            self._log.append(Entry(what, args))
            self.n_calls[what] += 1
            found = self._call("", dict.fromkeys(range(len(self.futures)), ()))
            return list(found.values())

    def ask(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some parts, each with its own arguments; return the results."""
        with self._lock:
            self.n_calls[what] += 1
            return self._call(what, calls)

    def drop(self, number: int) -> None:
        """Let what has this number be forgotten, some time. Asks nobody: the garbage collector calls."""
        self._dropped.append(number)

    def entries(self, number: int) -> list[Entry]:
        """Return all that happened to what has this number."""
        with self._lock:
            return [entry for entry in self._log if entry is not None and entry.args[0] == number]

    def close(self) -> None:
        """Let go of the blocks and all state; nothing can be asked any more."""
        futures, self.futures = self.futures, []
        if futures and self.client.status == "running":
            with suppress(OSError):  # then they find out by themselves
                self.client.sync(self._say_goodbye, set(self._places))
        for future in futures:
            future.release()

    async def _say_goodbye(self, workers: set[str]) -> None:
        sent = [self._send(worker, f"{OPERATION}_forget", run=self.run) for worker in workers]
        await asyncio.wait_for(asyncio.gather(*sent, return_exceptions=True), timeout=5)

    def _forget_dropped(self) -> None:
        while self._dropped:
            number = self._dropped.popleft()
            self._log = [
                None if entry is None or entry.args[0] == number else entry for entry in self._log
            ]
            self._log.append(Entry("drop", (number,)))

    # How errands get there

    def _call(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Send errands until every part has answered."""
        if not self.futures:
            raise ClusterError("these points are closed. Make new ones from the data.")
        if self.client.status != "running":
            raise ClusterError(
                f"the client is not connected any more but {self.client.status}. Make new points from the "
                "data; with a ledger, the run goes on where it was."
            )
        found: dict[int, Any] = {}
        left = dict(calls)
        tries = 0
        if not self._places:
            self._find()
        while left:
            before, lost = len(left), None
            replies = self.client.sync(self._deliver, self._errands(what, left))
            for reply in replies:
                if isinstance(reply, BaseException):
                    lost = reply
                    continue
                for part, (outcome, result) in reply.items():
                    if outcome == DONE:
                        found[part] = result
                        self._applied[part] = len(self._log)
                        del left[part]
                    elif outcome == BEHIND:
                        self._applied[part] = result
                    elif outcome == ABSENT:
                        lost = LookupError(f"block {part} is not where it was")
                    else:
                        raise result
            tries = tries + 1 if len(left) == before else 0
            if tries > TRIES:
                raise ClusterError(
                    f"workers were asked {TRIES} times for the same and did not answer ({lost}). Look "
                    "into their logs: they may lack memory. With a ledger, the run goes on where it was."
                ) from lost
            if lost is not None:
                sleep(min(0.05 * 2**tries, LONGEST))
                self._find()
        return {part: found[part] for part in calls}

    def _errands(self, what: str, calls: dict[int, tuple[Any, ...]]) -> dict[str, bytes]:
        """Return an errand for each worker that has some of these parts."""
        of: dict[str, list[int]] = {}
        for part in calls:
            of.setdefault(self._places[part], []).append(part)
        errands = {}
        for worker, parts in of.items():
            since = min(self._applied[part] for part in parts)
            errand = Errand(
                self.run,
                self._recipe,
                {part: self.futures[part].key for part in parts},
                self._n_beside[worker],
                since,
                self._log[since:],
                what,
                {part: calls[part] for part in parts},
            )
            errands[worker] = pickle.dumps(errand, protocol=pickle.HIGHEST_PROTOCOL)
        return errands

    async def _deliver(self, errands: dict[str, bytes]) -> list[Any]:
        """Return the replies, or what went wrong on the way to a worker."""
        sent = {
            asyncio.ensure_future(self._send(worker, OPERATION, errand=errand)): worker
            for worker, errand in errands.items()
        }
        waiting, patience = set(sent), IMPATIENT
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=patience)
            if not done:  # is it still at work, or gone?
                there = await self.client.scheduler.ncores(workers=[sent[task] for task in waiting])
                for task in waiting:
                    if sent[task] not in there:
                        task.cancel()
                patience = min(2 * patience, 10 * LONGEST)
        return [self._outcome(task, worker) for task, worker in sent.items()]

    async def _send(self, worker: str, operation: str, **message: Any) -> Any:
        """Call a worker: directly if it can be reached, otherwise through the scheduler."""
        if self._directly is None:
            self._directly = await self._reaches(worker)
        if self._directly:
            return await getattr(self.client.rpc(worker), operation)(**message)
        return await self.client.scheduler.proxy(worker=worker, msg={"op": operation, **message})

    async def _reaches(self, worker: str) -> bool:
        try:
            await asyncio.wait_for(self.client.rpc(worker).identity(), timeout=REACH)
        except OSError:
            return False
        return True

    @staticmethod
    def _outcome(task: asyncio.Task[Any], worker: str) -> Any:
        if task.cancelled():
            return ConnectionError(f"worker {worker} is gone")
        error = task.exception()
        if error is None:
            return pickle.loads(task.result())
        if isinstance(error, OSError):  # the connection broke
            return error
        raise error

    def _find(self) -> None:
        """Wait until every block is on some worker, and note on which."""
        places: dict[str, Any] = {}
        while not all(places.get(future.key) for future in self.futures):
            self._wait()
            places = self.client.who_has(self.futures)
        before = self._places or [""] * len(self.futures)
        self._places = []
        for part, future in enumerate(self.futures):
            where = places[future.key]
            self._places.append(before[part] if before[part] in where else where[0])
            if self._places[part] != before[part]:
                self._applied[part] = 0
        self._n_beside = Counter(self._places)

    def _wait(self) -> None:
        """Wait until all blocks are computed, again where they were lost."""
        alone_since = None
        while True:
            try:
                with self.client.as_current():
                    distributed.wait(self.futures, timeout=LONGEST)
                break
            except CancelledError:
                break
            except TimeoutError:
                if self.client.nthreads():
                    alone_since = None
                elif alone_since is None:
                    alone_since = monotonic()
                elif monotonic() - alone_since > PATIENCE:
                    raise ClusterError(
                        f"the cluster has had no worker for {PATIENCE:.0f} seconds. Start some."
                    ) from None
        for part, future in enumerate(self.futures):
            if future.status == "error":
                raise ClusterError(
                    f"partition {part} was lost with its worker and cannot be computed again: "
                    f"{future.exception()}"
                ) from future.exception()
            if future.status == "cancelled":
                raise ClusterError(
                    "the cluster let go of the data: it was restarted, or the client closed. "
                    "Make new points from the data; with a ledger, the run goes on where it was."
                )
