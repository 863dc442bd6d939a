"""`focused`: fold the answers into one belief, ask what is expected to put most rows right."""

from samekind.algorithms.focused.focused import Focused
from samekind.algorithms.focused.params import FocusedParams

__all__ = ["Focused", "FocusedParams"]
