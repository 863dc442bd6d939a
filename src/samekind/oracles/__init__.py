"""Who answers."""

from __future__ import annotations

from typing import Any

from samekind.flow import Oracle
from samekind.oracles.function import FunctionOracle
from samekind.oracles.labels import LabelOracle

__all__ = ["FunctionOracle", "LabelOracle", "Oracle", "as_oracle"]


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle itself, or a plain function of two row numbers wrapped as one."""
    if isinstance(oracle, LabelOracle | FunctionOracle) or hasattr(oracle, "answers_waves"):
        return oracle  # type: ignore[no-any-return]
    if callable(oracle):
        return FunctionOracle(oracle)
    raise TypeError(
        "oracle must answer questions: pass LabelOracle(y), or a function of two row numbers that "
        f"returns True, False or None; got {type(oracle).__name__}."
    )
