"""Where the work stands, in presses: what a person has spent, and whether to stop.

A press is all that was answered at once: a key, a click, kinds merged by hand. What was taken back is not
counted. One press may answer several questions, which are counted beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms import Certificate
from samekind.project.records import History, StopAdvice
from samekind.project.shared import ProjectPart, exclusive
from samekind.project.words import advice_in_words

__all__ = ["Standing"]

SAFE = 0.05  # both bounds of a certificate at most this: it is safe to stop
MOST_STEPS = 500  # of the history


class Standing(ProjectPart):
    """Presses, what they found, and whether to stop."""

    _advice: StopAdvice | None = None

    @exclusive
    def stopping(self) -> StopAdvice:
        """Say whether it is safe to stop, from the certificate."""
        self.catch_up()
        found = self.clusters()
        certificate = found.certificate_
        is_safe = certificate is not None and is_safe_to_stop(certificate)
        unknown = self.session.points.n - self.session.n_known - len(found.given_up_)
        self._advice = StopAdvice(
            safe=is_safe,
            text=advice_in_words(certificate, is_safe, unknown, found.n_rows_),
            wrong=None if certificate is None else certificate.wrong,
            at_presses=self.n_presses,
        )
        return self._advice

    @exclusive
    def history(self) -> History:
        """Return the clusters found over the presses, and the questions that these answered."""
        past, now = self.session.history, self.session.progress
        steps = np.unique(np.linspace(0, len(past["questions"]) - 1, MOST_STEPS).astype(int))
        presses = self._presses_at(past["questions"])[steps].tolist()
        questions, found = (past[name][steps].tolist() for name in ("questions", "discovered"))
        if presses and presses[-1] < self.n_presses:  # the wave that is being answered
            presses.append(self.n_presses)
            questions.append(now.questions)
            found.append(now.discovered)
        return History(presses, questions, found)

    def _presses_at(self, questions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many presses had been made when so many questions had been answered."""
        lines = self.session.ledger.log.acts()
        _, press = np.unique(lines["act"], return_inverse=True)
        answered = np.concatenate([[0], press[lines["asked"]] + 1])
        return answered[np.minimum(questions, answered.size - 1)]


def is_safe_to_stop(certificate: Certificate) -> bool:
    """Return whether little is missing or wrong, however often one looked before."""
    return max(certificate.undiscovered, certificate.wrong_at_any_time) <= SAFE
