"""What can go wrong with a bench."""

from __future__ import annotations

__all__ = ["BenchError"]


class BenchError(Exception):
    """A bench could not go on; the message says what to do. What was finished is kept."""
