"""What can go wrong with a project in a database."""

from __future__ import annotations

__all__ = [
    "LedgerDamaged",
    "LedgerError",
    "LedgerGone",
    "LedgerMissing",
    "LedgerStale",
    "ReplacedError",
]


class LedgerError(RuntimeError):
    """The ledger could not be opened, read or written.

    Attributes
    ----------
    public : str or None
        What may be told to everybody who uses the page: it names no folder.
    """

    public: str | None = None


class LedgerDamaged(LedgerError):  # noqa: N818
    """What the ledger's file holds cannot be right; the message says what, and what to do."""


class LedgerMissing(LedgerError):  # noqa: N818
    """There is no project where one was to be read."""


class LedgerGone(LedgerError):  # noqa: N818
    """The ledger's file was deleted, moved or replaced while it was open; nothing is written any more.

    Attributes
    ----------
    rescue : str or None
        Where everything is kept that was in the ledger: a project of its own. None: nowhere.
    """

    rescue: str | None = None


class LedgerStale(LedgerError):  # noqa: N818
    """Another program took in that the data have changed: the project is to be opened again."""


class ReplacedError(Exception):
    """The project at a place is not the one that was opened, or there is none."""
