"""The engine: sessions that ask, remember, undo and resume, and `solve`, which runs one to its end."""

from __future__ import annotations

from samekind.engine.base_session import BaseSession, OtherDataError
from samekind.engine.classify_session import NOT_ASKED, ClassifySession
from samekind.engine.hearing import examples_for, keep_heard, spending_key
from samekind.engine.link import link
from samekind.engine.panel import OraclePanel, PanelMember
from samekind.engine.runner import FlowRunner, FoldRunner
from samekind.engine.session import Session
from samekind.engine.solve import ContradictionWarning, answer_with, solve

__all__ = [
    "NOT_ASKED",
    "BaseSession",
    "ClassifySession",
    "ContradictionWarning",
    "FlowRunner",
    "FoldRunner",
    "OraclePanel",
    "OtherDataError",
    "PanelMember",
    "Session",
    "answer_with",
    "examples_for",
    "keep_heard",
    "link",
    "solve",
    "spending_key",
]
