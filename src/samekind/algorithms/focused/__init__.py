"""`focused`: ask where the answer is not known yet, and nowhere else."""

from samekind.algorithms.focused.flow import CERTIFY, PARTS, STOPS, focused

__all__ = ["CERTIFY", "PARTS", "STOPS", "focused"]
