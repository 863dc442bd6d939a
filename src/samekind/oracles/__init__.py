"""Who answers."""

from __future__ import annotations

import inspect
from typing import Any

from samekind.flow import Oracle
from samekind.oracles.chat import ChatOracle, Definition
from samekind.oracles.chat.errors import ChatError, SpentError
from samekind.oracles.command import CommandError, CommandOracle
from samekind.oracles.function import FunctionOracle
from samekind.oracles.labels import LabelOracle
from samekind.oracles.noisy import NoisyOracle
from samekind.oracles.rule import RuleOracle

__all__ = [
    "ChatError",
    "ChatOracle",
    "CommandError",
    "CommandOracle",
    "Definition",
    "FunctionOracle",
    "LabelOracle",
    "NoisyOracle",
    "Oracle",
    "RuleOracle",
    "SpentError",
    "as_oracle",
]

COMMAND = "command:"


def as_oracle(oracle: Any, items: Any = None) -> Oracle:
    """Return an oracle, made from whatever answers.

    A callable with two required arguments, ``f(a, b)``, gets two row numbers at a time (`FunctionOracle`).
    One with a single required argument, ``f(pairs)`` or ``f(pairs, threshold=0.5)``, gets all pairs of a
    wave, an array of shape (m, 2). A text "command:…" names a program (`CommandOracle`), which is shown the
    `items` if they are texts or such.
    """
    if isinstance(oracle, str) and oracle.startswith(COMMAND):
        is_texts = isinstance(items, list) and bool(items) and isinstance(items[0], str)
        shown = items if hasattr(items, "show") or is_texts else None
        return CommandOracle(oracle.removeprefix(COMMAND), shown)
    n_required = _n_required(oracle)
    if n_required == 2:
        return FunctionOracle(oracle)
    if n_required == 1:
        return oracle  # type: ignore[no-any-return]
    raise TypeError(
        "oracle must answer questions: pass LabelOracle(y), or a function of two row numbers that "
        'returns True, False or None, or "command:…" with the name of a program; got '
        f"{type(oracle).__name__}."
    )


def _n_required(function: Any) -> int:
    """Return how many arguments a callable requires; ``*args`` makes it two; 0: it cannot be called."""
    if not callable(function):
        return 0
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin that does not tell: assume the simple form
        return 2
    if any(one.kind is one.KEYWORD_ONLY and one.default is one.empty for one in parameters):
        return 0
    required = [
        one
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
    ]
    takes_more = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    return max(len(required), 2) if takes_more else len(required)
