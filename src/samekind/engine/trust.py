"""What a project keeps of how far somebody is to be trusted: what was checked, and who is disregarded."""

from __future__ import annotations

from samekind.engine.audited_rates import AuditedRates
from samekind.engine.session import Session
from samekind.ledger import Ledger

__all__ = ["disregard", "is_disregarded", "keep_rates", "kept_rates"]

RATES, DISREGARDED = "audit of ", "disregarded "  # in `meta`, before the name


def kept_rates(ledger: Ledger, name: str) -> AuditedRates:
    """Return what was found by checking somebody's answers."""
    kept = ledger.meta.get(RATES + name)
    return AuditedRates.from_text(kept) if kept else AuditedRates()


def keep_rates(ledger: Ledger, name: str, rates: AuditedRates) -> None:
    """Keep what was found by checking somebody's answers."""
    ledger.set_meta(RATES + name, rates.to_text())


def is_disregarded(ledger: Ledger, name: str) -> bool:
    """Return whether somebody is not asked any more."""
    return DISREGARDED + name in ledger.meta


def disregard(session: Session, name: str) -> None:
    """Take back all that somebody said, and note that they are not to be asked any more."""
    ledger = session.ledger
    with session.edit():
        ledger.set_meta(DISREGARDED + name, "1")
        if name in ledger.annotators:
            number = ledger.annotators.index(name)
            n = int((ledger.active()["who"] == number).sum())
            if n:
                ledger.retract(n, who=name)
