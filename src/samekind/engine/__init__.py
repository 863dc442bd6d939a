"""The engine: sessions that ask, remember, undo and resume, and `solve`, which runs one to its end."""

from __future__ import annotations

from samekind.engine.audited_rates import AuditedRates, RateInterval
from samekind.engine.classify_session import NOT_ASKED, ClassifySession
from samekind.engine.escalation import AskingRule, AuditAndDoubt, Review, Turn
from samekind.engine.flow_session import FlowSession, OtherDataError
from samekind.engine.forecast import Forecast, discovery_times, forecast_discovery
from samekind.engine.hearing import examples_for, hear_wave, keep_heard, spending_key
from samekind.engine.link import link
from samekind.engine.panel import OraclePanel, PanelMember
from samekind.engine.session import Session
from samekind.engine.solve import ContradictionWarning, answer_with, solve
from samekind.engine.trust import disregard, is_disregarded, keep_rates, kept_rates

__all__ = [
    "NOT_ASKED",
    "AskingRule",
    "AuditAndDoubt",
    "AuditedRates",
    "ClassifySession",
    "ContradictionWarning",
    "FlowSession",
    "Forecast",
    "OraclePanel",
    "OtherDataError",
    "PanelMember",
    "RateInterval",
    "Review",
    "Session",
    "Turn",
    "answer_with",
    "discovery_times",
    "disregard",
    "examples_for",
    "forecast_discovery",
    "hear_wave",
    "is_disregarded",
    "keep_heard",
    "keep_rates",
    "kept_rates",
    "link",
    "solve",
    "spending_key",
]
