"""What a result promises, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10

__all__ = ["Certificate", "percent_at_most"]


@dataclass(frozen=True)
class Certificate:
    """What a result promises, from an audit of rows drawn uniformly.

    Attributes
    ----------
    confidence : float
        The probability, over the draws of the audit, that both bounds hold.
    undiscovered : float
        At most this share of the rows is in clusters that were not found.
    wrong : float
        At most this share of ``labels_`` is wrong; rows that nobody could tell are not counted as right
        unless they are in ``given_up_``, which has no labels.
    n_audited, n_wrong : int
        Rows audited, and how many of them were not as predicted, those that nobody could tell among them.
    n_unproven : int
        Pairs of clusters that nobody was asked about: the bounds hold if they are different indeed.
    n_undecided : int
        Rows that nobody could tell, stated apart: ``given_up_``.
    wrong_at_any_time : float
        `wrong` holds at a moment that was chosen before, such as the end of a budget. Who looks again and
        again, and stops because the bound is low, should go by this one, as ``stop="certified"`` does.
    """

    confidence: float
    undiscovered: float
    wrong: float
    n_audited: int
    n_wrong: int
    n_unproven: int
    n_undecided: int = 0
    wrong_at_any_time: float = 1.0

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, noun: str = "cluster") -> str:
        """Return what is promised in a few sentences; `noun` is what a cluster is called in them."""
        if self.confidence == 1.0:
            missing = "" if self.n_undecided else f"no {noun} is missing, and "
            text = f"Every row was asked about: {missing}no label is predicted."
        elif self.n_audited:
            missing, wrong = map(percent_at_most, (self.undiscovered, self.wrong))
            text = (
                f"With {self.confidence:.0%} confidence, {noun}s not found hold at most "
                f"{missing} of the rows, and at most {wrong} of the "
                f"labels are wrong ({self.n_wrong:,} of {self.n_audited:,} audited rows were)."
            )
        else:
            text = "No promise yet: no row was audited."
        if self.n_undecided == 1:
            text += " Nobody could tell of 1 row, which has no label."
        elif self.n_undecided:
            text += f" Nobody could tell of {self.n_undecided:,} rows, which have no labels."
        if self.n_audited and self.n_unproven:
            text += (
                f" This takes for granted that the {self.n_unproven:,} pairs of {noun}s about which "
                "nobody was asked are different."
            )
        return text


def percent_at_most(share: float) -> str:
    """Return a bound in per cent with two digits, rounded up, so that it still holds.

    Examples
    --------
    >>> percent_at_most(0.0512), percent_at_most(0.2641), percent_at_most(0.05)
    ('5.2 %', '27 %', '5 %')
    """
    percent = 100 * min(share, 1.0)
    if percent < 1e-6:
        return "0 %"
    unit = 10.0 ** (floor(log10(percent)) - 1)
    return f"{ceil(percent / unit - 1e-9) * unit:.3g} %"
