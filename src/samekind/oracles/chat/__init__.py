"""A language model that answers: any endpoint that speaks the chat completions protocol of OpenAI."""

from __future__ import annotations

from samekind.oracles.chat.oracle import ChatOracle
from samekind.oracles.chat.prompt import Definition
from samekind.oracles.chat.spending import Estimate, Spending

__all__ = ["ChatOracle", "Definition", "Estimate", "Spending"]
