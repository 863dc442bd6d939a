"""Many calls at once, in a thread of their own, so that they also work where a loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

__all__ = ["CallLoop", "call_all"]

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class CallLoop:
    """An event loop in a thread; it is started when first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_open(self) -> bool:
        """Whether the loop runs."""
        return self._loop is not None

    def open(self) -> None:
        """Start the loop."""
        ready = threading.Event()

        def run() -> None:
            self._loop = asyncio.new_event_loop()
            self._loop.call_soon(ready.set)
            try:
                self._loop.run_forever()
            finally:
                self._loop.close()

        self._thread = threading.Thread(target=run, name="samekind-chat", daemon=True)
        self._thread.start()
        ready.wait()

    def run(self, work: Coroutine[object, object, Answer]) -> Answer:
        """Do something in the loop, and wait for it."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def start(self, work: Coroutine[object, object, None]) -> Callable[[], None]:
        """Begin something in the loop; return what calls it off, and waits until that is done."""
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(work, self._loop)

        def call_off() -> None:
            future.cancel()
            self.run(asyncio.sleep(0))

        return call_off

    def close(self) -> None:
        """End the loop."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop = self._thread = None


class _Done(Generic[Answer]):
    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


def call_all(
    loop: CallLoop,
    asked: Sequence[Asked],
    call: Callable[[Asked], Awaitable[Answer]],
    in_flight: int,
) -> Iterator[list[Answer]]:
    """Yield the answers to all calls as they come, those that are there at once together.

    When a call fails no other is begun; those in flight are waited for, as they are paid, and what failed is
    raised at the end.
    """
    heard: SimpleQueue[Answer | _Done[Answer]] = SimpleQueue()
    waiting = iter(asked)
    failures: list[BaseException] = []

    async def work() -> None:
        for one in waiting:
            if failures:
                return
            try:
                heard.put(await call(one))
            except Exception as error:
                failures.append(error)

    async def run() -> None:
        failure: BaseException | None = None
        try:
            await asyncio.gather(*(work() for _ in range(min(in_flight, len(asked)))))
        except BaseException as error:
            failure = error
            raise
        finally:
            heard.put(_Done(failures[0] if failures else failure))

    call_off = loop.start(run())
    try:
        while True:
            first = heard.get()
            some: list[Answer] = []
            while not isinstance(first, _Done):
                some.append(first)
                if heard.empty():
                    break
                first = heard.get()
            if some:
                yield some
            if isinstance(first, _Done):
                if first.failure is not None:
                    raise first.failure
                return
    finally:
        call_off()
