"""Where the work stands, in presses: what a person has spent, and whether to stop.

A press is all that was answered at once: a key, a click, kinds merged by hand. What was taken back is not
counted, nor what models say. One press may answer several questions, which are counted beside it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind._validation import check_int
from samekind._version import __version__
from samekind.algorithms import Certificate
from samekind.clusters import STOP_REASONS
from samekind.ledger import LedgerError
from samekind.project.annotators import models_in
from samekind.project.records import History, Status, StopAdvice
from samekind.project.words import advice_in_words, check_name, plain

if TYPE_CHECKING:
    from samekind.ledger import Revision
    from samekind.project.project import Project

__all__ = ["SAFE", "SETTINGS", "Standing"]

SETTINGS = "settings"  # in `settings`: those that were given
FINISHED = "finished"  # in `settings`: whether somebody wants no more questions
CRITERION = "criterion"  # in `settings`: when two rows are of one cluster, in a sentence
SAFE = 0.05  # both bounds of a certificate at most this: it is safe to stop
MOST_STEPS = 500  # of the history
DERIVING = 0.03  # seconds that a look at the status waits for advice that is derived anew
NEWS = 0.05  # share of more presses from which on the advice is derived anew for a look


class Standing:
    """Progress, budget, and whether to stop.

    Parameters
    ----------
    project : Project
        Whose.
    budget : int or None
        The most presses.
    """

    def __init__(self, project: Project, budget: int | None) -> None:
        self.budget = check_int("budget", budget, none="ask without limit")
        self._given = project.ledger.settings.get(
            SETTINGS, ""
        )  # in which another budget may be kept
        self.stopped = ""  # why nothing is asked: "user" or "budget"
        self._project = project
        self._advice: StopAdvice | None = None
        self.end: str | None = None  # why nothing was to be asked when somebody looked
        self._adviser: Thread | None = None
        self._counted: tuple[Revision, int] | None = None

    def glance(self) -> Status:
        """Return where the work stands, with advice; for those who look every few seconds.

        But for the first look, nobody waits for whoever chooses a question, or derives advice. That is done
        anew when there is some news.
        """
        then = 0 if self._advice is None else self._advice.at_presses
        with self._project.state():
            is_news = self._advice is None or abs(self.n_presses - then) > NEWS * then
        if is_news and (self._adviser is None or not self._adviser.is_alive()):
            self._adviser = Thread(target=self._advise, daemon=True)
            self._adviser.start()
            self._adviser.join(None if self._advice is None else DERIVING)
        return self.at_once()

    def _advise(self) -> None:
        with suppress(LedgerError):  # the project was closed meanwhile
            self.advice()

    def status(self) -> Status:
        """Return where the work stands."""
        self.end = self._project.session.stop_reason
        return self.at_once()

    def at_once(self) -> Status:
        """Return where the work stands, without waiting for whoever chooses a question.

        Whether there is one is as it was when somebody looked for one last.
        """
        project, session = self._project, self._project.session
        with project.state():
            is_blank, reason = project.is_blank, self.stopped or self.end
            return Status(
                title=project.title,
                medium=project.items.medium,
                n_rows=session.points.n,
                presses=self.n_presses,
                questions=session.n_questions,
                budget=self.budget,
                clusters=0 if is_blank else session.n_clusters,
                known_rows=0 if is_blank else session.n_known,
                done=reason is not None,
                stop_reason=reason,
                stop_text=STOP_REASONS.get(reason, str(reason)),
                stopping=self._advice,
                can_undo=bool(session.ledger.log.last_acts(1)),
                skipped=len(project.questions.skipped_pairs()),
                contradictions=session.n_contradictions,
                lineups=project.questions.lineups,
                sheets=project.questions.sheets,
                criterion=self.criterion,
                revision=project.revision,
                version=__version__,
                records=project.is_records,
                project=project.ledger.project_id,
                uncompared=project.uncompared,
                model=project.assistant.oracle.model if project.assistant else "",
            )

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is asked, or None. To find that out a question may have to be chosen."""
        self._project.catch_up()
        return self._project.session.stop_reason

    # Presses

    @property
    def n_presses(self) -> int:
        """How many times somebody answered, or changed clusters by hand; at once counts as once."""
        ledger = self._project.ledger
        if self._counted is None or self._counted[0] != ledger.revision:
            models = [ledger.log.number_of(name) for name in models_in(ledger)]
            lines = ledger.log.acts()
            acts = set(np.unique(lines["act"][~np.isin(lines["who"], models)]).tolist())
            acts |= {one.act for one in ledger.log.opinions.standing()}
            self._counted = ledger.revision, len(acts)
        return self._counted[1]

    @property
    def presses_left(self) -> int | None:
        """How many more times somebody may answer; None is no limit."""
        return None if self.budget is None else max(0, self.budget - self.n_presses)

    def history(self) -> History:
        """Return the clusters found over the presses, and the questions that these answered."""
        session = self._project.session
        past, now = session.history, session.progress
        with self._project.state():
            steps = np.linspace(0, len(past["questions"]) - 1, MOST_STEPS).astype(int)
            steps = np.unique(steps)
            presses = self._presses_at(past["questions"])[steps].tolist()
            questions, found = (past[name][steps].tolist() for name in ("questions", "discovered"))
            if presses and presses[-1] < self.n_presses:  # the wave that is being answered
                presses.append(self.n_presses)
                questions.append(now.questions)
                found.append(now.discovered)
            return History(presses, questions, found)

    def _presses_at(self, questions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many presses had been made when so many questions had been answered."""
        lines = self._project.ledger.log.acts()
        _, press = np.unique(lines["act"], return_inverse=True)
        answered = np.concatenate([[0], press[lines["asked"]] + 1])
        return answered[np.minimum(questions, answered.size - 1)]

    # Whether to stop

    def advice(self) -> StopAdvice:
        """Say whether it is safe to stop, from the certificate; of records, from the audited bounds."""
        now = self._project.moment()
        if now.is_records:
            self._advice = now.entities.advice()
            return self._advice
        found = now.session.clusters()
        certificate = found.certificate_
        is_safe = certificate is not None and is_safe_to_stop(certificate)
        unknown = found.n_rows_ - now.session.n_known - len(found.given_up_)
        self._advice = StopAdvice(
            safe=is_safe,
            text=advice_in_words(certificate, is_safe, unknown, found.n_rows_),
            wrong=None if certificate is None else certificate.wrong,
            at_presses=now.standing.n_presses,
        )
        return self._advice

    def finish(self) -> None:
        """Ask nothing more, here or elsewhere, now or later; `resume` goes on."""
        self.set_finished(True)

    def resume(self) -> None:
        """Go on asking."""
        self.set_finished(False)
        with self._project.state():
            if not self.stopped:  # or else the budget is spent
                self.end = None
                self._project.session.resume()

    def leave(self) -> None:
        """Ask nothing more here; others go on, and so does who opens the project again."""
        with self._project.state():
            self._project.session.stop()

    def set_finished(self, finished: bool) -> None:
        """Keep whether somebody has finished, and heed it."""
        with self._project.state():
            is_so = finished == bool(self._project.ledger.settings.get(FINISHED))
        if not is_so:
            with self._project.act():
                self._project.ledger.set(FINISHED, "1" if finished else "")
        with self._project.state():
            self.heed_end()

    def set_budget(self, budget: int | None) -> None:
        """Ask until there are so many presses in all, and keep that with the project; None is no limit."""
        wanted = check_int("budget", budget, none="ask without limit")
        ledger = self._project.ledger
        if kept := ledger.settings.get(SETTINGS):
            with self._project.act():
                ledger.set(SETTINGS, json.dumps(json.loads(kept) | {"budget": wanted}))
        self.budget = wanted
        with self._project.state():
            self.heed_end()

    def heed_end(self) -> None:
        """Ask nothing, or go on, as the project and the budget say."""
        session = self._project.session
        kept = session.ledger.settings.get(SETTINGS, "")
        if kept != self._given:  # somebody set another budget
            self._given, self.budget = kept, json.loads(kept).get("budget")
        is_finished = bool(session.ledger.settings.get(FINISHED))
        why = "user" if is_finished else "budget" if self.presses_left == 0 else ""
        if why and why != self.stopped:
            session.stop(why)
        elif self.stopped and not why:
            self.end = None
            session.resume()
        self.stopped = why

    # What is asked

    @property
    def criterion(self) -> str:
        """When two rows are of one cluster, in a sentence, for those who answer; "" if nobody said."""
        return plain(self._project.ledger.settings.get(CRITERION, ""))

    def set_criterion(self, text: str) -> None:
        """Say in a sentence when two rows are of one cluster, and keep it; "" takes it away."""
        sentence = check_name(text, "A criterion")
        with self._project.act():
            self._project.ledger.set(CRITERION, sentence)


def is_safe_to_stop(certificate: Certificate) -> bool:
    """Return whether little is missing or wrong, however often one looked before."""
    return max(certificate.undiscovered, certificate.wrong_at_any_time) <= SAFE
