"""The engine: sessions that ask, remember, undo and resume, and `solve`, which runs one to its end."""

from __future__ import annotations

from samekind.engine.classify_session import NOT_ASKED, ClassifySession
from samekind.engine.flow_session import FlowSession, OtherDataError
from samekind.engine.forecast import Forecast, discovery_times, forecast_discovery
from samekind.engine.link import link
from samekind.engine.session import Session
from samekind.engine.solve import ContradictionWarning, answer_with, solve

__all__ = [
    "NOT_ASKED",
    "ClassifySession",
    "ContradictionWarning",
    "FlowSession",
    "Forecast",
    "OtherDataError",
    "Session",
    "answer_with",
    "discovery_times",
    "forecast_discovery",
    "link",
    "solve",
]
