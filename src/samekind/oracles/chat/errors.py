"""What goes wrong with a model."""

from __future__ import annotations

__all__ = ["ChatError", "SpentError", "UnreadableError"]


class ChatError(RuntimeError):
    """The model cannot be asked; what it answered before is kept."""


class SpentError(ChatError):
    """The next call might cost more than what is left of the cap."""


class UnreadableError(Exception):
    """A reply that is no answer to what was asked."""
