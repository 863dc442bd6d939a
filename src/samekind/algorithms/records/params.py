"""The parameters of `records`."""

from __future__ import annotations

from dataclasses import dataclass

from samekind._validation import check_choice, check_fraction
from samekind.algorithms.base import ErrorRate, Params, check_rate

__all__ = ["RecordsParams"]

STOPS = ("proven", "certified")
FIRST_RATE = 0.05  # of wrong answers, where the rate is to be estimated


@dataclass(frozen=True, kw_only=True)
class RecordsParams(Params):
    """The parameters that all algorithms have, and these.

    Attributes
    ----------
    error_rate : float, "estimate" or None
        The share of answers that may be wrong: then no answer decides by itself. None: all are true.
    audit : float
        The share of questions about pairs drawn at random, which the model does not learn from: they give the
        certificate.
    stop : {"proven", "certified"}
        Stop when every candidate pair is asked about or follows from answers; or when the certificate's
        bounds are within `tolerance`.
    tolerance : float
        For "certified": precision and recall are at least 1 - `tolerance`.
    """

    error_rate: ErrorRate | None = None
    audit: float = 0.1
    stop: str = "proven"
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.error_rate)
        check_choice("stop", self.stop, STOPS)
        check_fraction("tolerance", self.tolerance)
        if not isinstance(self.audit, int | float) or not 0 <= self.audit <= 1:
            raise ValueError(f"audit must be a number in [0, 1], got {self.audit!r}.")

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true."""
        return self.error_rate is None

    @property
    def first_rate(self) -> float:
        """The error rate to begin with."""
        if self.error_rate is None:
            return 0.0
        return FIRST_RATE if self.error_rate == "estimate" else float(self.error_rate)
