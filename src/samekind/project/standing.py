"""Where the work stands, in presses: what a person has spent, may spend, and has to expect.

A press is all that was answered at once: a key, a click, kinds merged by hand. What was taken back is not
counted. One press may answer several questions, which are counted beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms import Certificate
from samekind.clusters import Clusters
from samekind.engine import Forecast, discovery_times, forecast_discovery
from samekind.ledger import Revision
from samekind.project.records import History, StopAdvice
from samekind.project.shared import ProjectPart, exclusive
from samekind.project.words import advice_in_words

__all__ = ["Standing"]

SAFE = 0.05  # both bounds of a certificate at most this: it is safe to stop
AHEAD = 50  # presses for which a forecast is given
LATEST = 5  # clusters by which the size of the next one is judged
MOST_STEPS = 500  # of the history


class Standing(ProjectPart):
    """Presses, what they found, what more of them would find, and whether to stop."""

    _advice: StopAdvice | None = None
    _forecast: tuple[Revision, Forecast | None] | None = None

    @exclusive
    def forecast(self) -> Forecast | None:
        """Return how many more presses the next new cluster may take; None if that cannot be said."""
        now = self.session.ledger.revision
        if self._forecast is None or self._forecast[0] != now:
            found = forecast_discovery(self._discovery_times(), self.n_presses)
            self._forecast = now, found
        return None if self.session.done else self._forecast[1]

    @exclusive
    def stopping(self) -> StopAdvice:
        """Say whether it is safe to stop, from the certificate and the forecast."""
        self.catch_up()
        found, forecast = self.clusters(), self.forecast()
        certificate = found.certificate_
        new = None if forecast is None else forecast.found_within(AHEAD)
        is_safe = certificate is not None and is_safe_to_stop(certificate)
        rows = None if new is None else _latest_sizes(found, self._latest_places())
        unknown = self.session.points.n - self.session.n_known - len(found.given_up_)
        self._advice = StopAdvice(
            safe=is_safe,
            text=advice_in_words(certificate, is_safe, unknown, found.n_rows_, AHEAD, new, rows),
            wrong=None if certificate is None else certificate.wrong,
            presses_ahead=AHEAD,
            new_clusters=new,
            rows_each=rows,
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

    def _discovery_times(self) -> NDArray[np.int64]:
        history = self.session.history
        return discovery_times(self._presses_at(history["questions"]), history["discovered"])

    def _presses_at(self, questions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many presses had been made when so many questions had been answered."""
        lines = self.session.ledger.acts()
        _, press = np.unique(lines["when"], return_inverse=True)
        answered = np.concatenate([[0], press[lines["asked"]] + 1])
        return answered[np.minimum(questions, answered.size - 1)]

    def _latest_places(self) -> list[int]:
        """Return the places in ``clusters()`` of the clusters that were found last."""
        numbers = [ref.number for ref in self.refs()]
        return sorted(range(len(numbers)), key=lambda place: -numbers[place])[:LATEST]


def is_safe_to_stop(certificate: Certificate) -> bool:
    """Return whether little is missing or wrong, however often one looked before."""
    return max(certificate.undiscovered, certificate.wrong_at_any_time) <= SAFE


def _latest_sizes(found: Clusters, places: list[int]) -> int | None:
    """Return how many rows clusters like these have, known or predicted."""
    if not places:
        return None
    labels = np.asarray(found.labels_)
    return max(1, round(float(np.median([(labels == place).sum() for place in places]))))
