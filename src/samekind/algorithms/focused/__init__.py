"""`focused`, the default algorithm: start reading at `Focused`."""

from __future__ import annotations

from samekind.algorithms.focused.focused import Focused
from samekind.algorithms.focused.params import PARTS, FocusedParams

__all__ = ["PARTS", "Focused", "FocusedParams"]
