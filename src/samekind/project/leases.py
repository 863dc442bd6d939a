"""Who is looking at which question."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

__all__ = ["Leases"]

SECONDS = 120.0


class Leases:
    """A question belongs to who sees it, for a while; then somebody else may have it.

    One without a name gives way to anybody: it may be the same person. Leases are not kept: after a restart
    everybody gets a question anew.

    Examples
    --------
    >>> leases = Leases()
    >>> leases.take(7, "ann"), leases.take(7, "bob"), leases.take(7, "ann")
    (True, False, True)
    """

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._held: dict[int, tuple[str, float]] = {}

    def take(self, key: int, who: str, *, share: bool = False) -> bool:
        """Let somebody have a question; return whether they do: not, unless to `share`, if another has it."""
        now = self._clock()
        holder, until = self._held.get(key, (who, 0.0))
        if holder not in (who, "") and until > now and not share:
            return False
        self._held[key] = who, now + self._seconds
        return True

    def keep(self, keys: set[int]) -> None:
        """Forget all other questions."""
        for key in self._held.keys() - keys:
            del self._held[key]
