"""Who answers."""

from __future__ import annotations

import inspect
from typing import Any

from samekind.flow import Oracle
from samekind.oracles.function import FunctionOracle
from samekind.oracles.labels import LabelOracle
from samekind.oracles.noisy import NoisyOracle

__all__ = ["FunctionOracle", "LabelOracle", "NoisyOracle", "Oracle", "as_oracle"]


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle, made from whatever answers.

    A callable of two arguments is asked for two row numbers at a time (`FunctionOracle`), one of
    a single argument for all pairs of a wave at once.
    """
    if _takes(oracle, 2):
        return FunctionOracle(oracle)
    if _takes(oracle, 1):
        return oracle  # type: ignore[no-any-return]
    raise TypeError(
        "oracle must answer questions: pass LabelOracle(y), or a function of two row numbers that "
        f"returns True, False or None; got {type(oracle).__name__}."
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
