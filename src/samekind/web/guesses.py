"""Wrong tokens: who tries many has to wait, and longer each time; who has the right one is not kept out."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import TTLCache

__all__ = ["Guesses"]

FREE = 10  # wrong tokens of one address before it has to wait
LONGEST = 60.0  # seconds to wait before the next one
REMEMBERED = 15 * 60.0  # seconds for which an address is known after its last wrong token
MOST_ADDRESSES = 10_000
MOST_TOKENS = 1_000  # remembered of one address


@dataclass
class _Tries:
    tokens: set[bytes] = field(default_factory=set)
    until: float = 0.0


class Guesses:
    """How long each address has to wait before a token of it is looked at again.

    The same wrong token again is no new guess: a page that was left open with an old one does no harm. The
    right token does not clear an address, as others may guess from it while somebody works.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: TTLCache[str, _Tries] = TTLCache(MOST_ADDRESSES, REMEMBERED, clock)
        self._lock = threading.Lock()  # who only looks drops what has expired

    def wait(self, network: str) -> float:
        """Return for how many seconds no token from there is looked at."""
        with self._lock:
            tries = self._tries.get(network)
        return 0.0 if tries is None else max(0.0, tries.until - self._clock())

    def note_wrong(self, network: str, offered: str) -> None:
        """Count a wrong token."""
        token = hashlib.blake2b(offered.encode("utf-8", "replace"), digest_size=16).digest()
        with self._lock:
            tries = self._tries.get(network, _Tries())
            if token in tries.tokens:
                return
            if len(tries.tokens) < MOST_TOKENS:
                tries.tokens.add(token)
            beyond = len(tries.tokens) - FREE
            if beyond >= 0:
                tries.until = self._clock() + min(2.0 ** min(beyond, 30), LONGEST)
            self._tries[network] = tries
