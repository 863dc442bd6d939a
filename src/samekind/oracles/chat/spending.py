"""What a model costs: counted, and bounded by what a call may cost before it is sent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple

__all__ = ["Estimate", "Price", "Purse", "Spending"]

MILLION = 1_000_000


class Price(NamedTuple):
    """Money for a million tokens."""

    read: float = 0.0
    written: float = 0.0

    def of(self, read: float, written: float) -> float:
        """Return what so many tokens cost."""
        return (read * self.read + written * self.written) / MILLION


@dataclass
class Spending:
    """What was used so far.

    Attributes
    ----------
    calls : int
        Replies that came.
    failed : int
        Calls that brought no reply, or one that could not be read.
    questions : int
        Pairs that were answered.
    tokens_read, tokens_written : int
        As the server counts them, or as estimated where it does not.
    cost : float
        Money, in the currency of the price. Calls whose reply never came count with the most that they may
        have cost.
    """

    calls: int = 0
    failed: int = 0
    questions: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float = 0.0


class Estimate(NamedTuple):
    """What so many questions would cost, about."""

    questions: int
    calls: int
    tokens_read: int
    tokens_written: int
    cost: float


class Purse:
    """Counts what is spent; what calls in flight may cost at most is set aside before they are sent."""

    def __init__(self, price: Price, cap: float | None) -> None:
        self.price = price
        self.cap = cap
        self.spent = Spending()
        self.reserved = 0.0
        self.n_open = 0
        """Calls in flight."""
        self._margin = 1.0  # by which a server charged more than we took for the most

    def reserve(self, read: int, written: int) -> float | None:
        """Set aside what a call of so many tokens may cost at most; None if that is not there."""
        amount = self.price.of(read, written) * self._margin
        if self.cap is not None and self.spent.cost + self.reserved + amount > self.cap:
            return None
        self.reserved += amount
        self.n_open += 1
        return amount

    def settle(self, reserved: float, read: int, written: int) -> None:
        """Count a call whose reply came."""
        self.release(reserved)
        self.spent.calls += 1
        self.spent.tokens_read += read
        self.spent.tokens_written += written
        cost = self.price.of(read, written)
        self.spent.cost += cost
        if cost > reserved > 0:
            self._margin *= cost / reserved

    def lose(self, reserved: float) -> None:
        """Count a call whose reply never came, but which may have been charged."""
        self.release(reserved)
        self.spent.cost += reserved

    def release(self, reserved: float) -> None:
        """Give back what was set aside for a call that was refused, and costs nothing."""
        self.n_open -= 1
        self.reserved = self.reserved - reserved if self.n_open else 0.0

    def to_text(self) -> str:
        """Return what was spent, to be kept; calls in flight count as if their reply never came."""
        kept = asdict(self.spent) | {"cost": self.spent.cost + max(self.reserved, 0.0)}
        return json.dumps(kept)

    def add_text(self, text: str) -> None:
        """Count what was spent in an earlier run, too."""
        earlier = Spending(**json.loads(text))
        for name, value in asdict(earlier).items():
            setattr(self.spent, name, getattr(self.spent, name) + value)
