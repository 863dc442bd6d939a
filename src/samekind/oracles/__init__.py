"""Who answers."""

from __future__ import annotations

import inspect
from typing import Any

from samekind.flow import Oracle
from samekind.oracles.chat import ChatOracle
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

    A callable of two arguments is asked for two row numbers at a time (`FunctionOracle`), one of
    a single argument for all pairs of a wave at once. A text "command:…" names a program (`CommandOracle`),
    which is shown the `items` if they are texts or such.
    """
    if isinstance(oracle, str) and oracle.startswith(COMMAND):
        shows = hasattr(items, "show") or (isinstance(items, list) and isinstance(items[0], str))
        return CommandOracle(oracle.removeprefix(COMMAND), items if shows else None)
    if _takes(oracle, 2):
        return FunctionOracle(oracle)
    if _takes(oracle, 1):
        return oracle  # type: ignore[no-any-return]
    raise TypeError(
        "oracle must answer questions: pass LabelOracle(y), or a function of two row numbers that "
        'returns True, False or None, or "command:…" with the name of a program; got '
        f"{type(oracle).__name__}."
    )


def _takes(function: Any, n_arguments: int) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*range(n_arguments))
    except TypeError:
        return False
    except ValueError:  # a builtin that does not tell: assume the simple form
        return n_arguments == 2
    return True
