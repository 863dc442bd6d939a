"""A flow, a ledger and a budget: the engine that asks and remembers."""

from __future__ import annotations

from samekind.session.session import OtherDataError, Session

__all__ = ["OtherDataError", "Session"]
