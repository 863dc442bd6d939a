"""A flow, a ledger and a budget: the engine that asks and remembers."""

from __future__ import annotations

from samekind.session.session import Session

__all__ = ["Session"]
