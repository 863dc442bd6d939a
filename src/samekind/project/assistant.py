"""A model that answers in the background, beside people.

It gets questions as people do: none that somebody else has, and each of its answers is on disk at once. The
first ones are put to people as well, without what the model said, so that its error rate can be told.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import numpy as np

from samekind.engine import examples_for, keep_heard, spending_key
from samekind.flow import Heard, Pairs
from samekind.ledger import LedgerError, Lines, keys_of, pairs_of
from samekind.oracles import ChatError, ChatOracle, Definition, SpentError
from samekind.project.records import AssistantRecord, Suggestion
from samekind.project.sharing import Comparison
from samekind.project.words import ProjectError

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = ["Assistant"]

log = logging.getLogger("samekind.project")

PAUSE = 0.3  # seconds between looks for something to do
AT_ONCE = 8  # questions that the model is given together
EXAM = 20  # of its first answers that are put to people, too
SHOWN, OTHERS = (
    8,
    4,
)  # rows of a cluster that it is to name, and clusters beside it, of which it sees one row
DEFINED = 30  # clusters whose definitions it is told


class Assistant:
    """A model at work in a project, in a thread of its own.

    Parameters
    ----------
    project : Project
        What it answers in; its session must take answers for evidence (``error_rate``).
    oracle : ChatOracle
        The model.
    budget : int or None
        The most questions that it is asked.
    """

    def __init__(self, project: Project, oracle: ChatOracle, *, budget: int | None = None) -> None:
        self.oracle = oracle
        self.budget = budget
        self.state = "begins"
        self._project = project
        self._thread = threading.Thread(target=self._work, name="samekind-model", daemon=True)
        self._stopping = threading.Event()
        if earlier := project.ledger.settings.get(spending_key(oracle.name)):
            oracle.resume_spending(earlier)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more; what is in flight is waited for, as it is paid."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self.oracle.close()

    def suggest(self, cluster: int) -> Suggestion:
        """Return a name and a definition of a cluster, for somebody to accept; it is paid as an answer is."""
        project, now = self._project, self._project.moment()
        own = now.kinds.members(cluster)
        rows = [one.row for one in now.overview.one(cluster, limit=SHOWN).members if one.known]
        found, label = now.kinds.clusters(), now.kinds.label_of(cluster)
        far = ((found.all_centers_ - found.all_centers_[label]) ** 2).sum(axis=1)
        near = [k for k in np.argsort(far, kind="stable").tolist() if k != label][:OTHERS]
        others = [int(found.members_[k][0]) for k in near]
        names = [name.text for name in now.ledger.log.names.values() if name.row not in own]
        try:
            said = self.oracle.describe(rows, others, [name for name in names if name])
        except ChatError as error:
            raise ProjectError(f"The model suggests nothing: {error}") from error
        finally:
            with project.act():
                project.ledger.set(spending_key(self.oracle.name), self.oracle.spending_text())
        return Suggestion(said.name, said.text)

    @property
    def is_working(self) -> bool:
        """Whether the model is still asked."""
        return self._thread.is_alive() and not self._stopping.is_set()

    def exam(self) -> list[tuple[int, int]]:
        """Return the pairs of its first answers that no person has answered."""
        return [(a, b) for a, b in self._examined(checked=False).tolist()]

    def record(self) -> AssistantRecord:
        """Return what the model does, for a page."""
        spent = self.oracle.spent
        return AssistantRecord(
            name=self.oracle.name,
            state=self.state,
            answers=len(self._own(self._project.ledger.active())),
            budget=self.budget,
            checked=len(self._examined(checked=True)),
            waiting=len(self._examined(checked=False)),
            calls=spent.calls,
            tokens=spent.tokens_read + spent.tokens_written,
            cost=spent.cost,
            cap=self.oracle.cap,
        )

    def _examined(self, *, checked: bool) -> Pairs:
        """Return the pairs of its first answers that people have answered as well, or not."""
        lines = self._project.ledger.active()
        own = self._own(lines)
        said = own["asked"]
        first = pairs_of(own, said)[:EXAM]
        others = lines["who"] != (own["who"][0] if own.size else -1)
        chosen: Pairs = first[np.isin(keys_of(first), keys_of(pairs_of(lines, others))) == checked]
        return chosen

    def _own(self, lines: Lines) -> Lines:
        names = self._project.ledger.annotators
        number = names.index(self.oracle.name) if self.oracle.name in names else -1
        own: Lines = lines[lines["who"] == number]
        return own

    # In its thread

    def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                pairs = self._next_pairs()
                if pairs is None:
                    return
                if not len(pairs):
                    self._stopping.wait(PAUSE)
                    continue
                for heard in self.oracle.stream(pairs):
                    self._keep(heard)
                    if self._stopping.is_set():
                        return
            self.state = "was stopped"
        except SpentError:
            self.state = "has cost as much as it may"
        except ChatError as error:
            self.state = f"cannot be asked: {error}"
        except LedgerError as error:
            log.error("the model has stopped: %s", error)
            self.state = "has stopped: its answers cannot be saved. " + (
                error.public or "See the terminal."
            )
        except BaseException:
            self.state = "has stopped: something went wrong. See the terminal."
            raise
        finally:
            self.oracle.close()
            self._project.questions.release(self.oracle.name)

    def _next_pairs(self) -> Pairs | None:
        """Return what to ask the model; nothing while there is nothing, None when it is done."""
        project, name = self._project, self.oracle.name
        with project.state():
            left = self._left()
            if left == 0:
                self.state = "has answered as much as it may"
                return None
        most = AT_ONCE if left is None else min(AT_ONCE, left)
        asked = project.questions.comparisons(name, lineup=False, sheets=False, most=most)
        self.state = "answers" if asked else "has nothing to answer"
        with project.state():
            self.oracle.use_examples(*examples_for(project.session, name))
            defined = project.kinds.defined()[:DEFINED]
            self.oracle.use_definitions([Definition(k.name or "", k.definition) for k in defined])
        pairs = [pair for one in asked for pair in one.pairs]
        return np.array(pairs, dtype=np.intp).reshape(-1, 2)

    def _keep(self, heard: Heard) -> None:
        """Take answers of the model, with what they cost."""
        project = self._project
        expected = project.session.expect(heard.pairs)
        with project.act():
            keep_heard(project.session, heard, self.oracle, expected)
            for a, b in heard.pairs.tolist():
                project.questions.sharing.answered(self.oracle.name, Comparison("p", a, (b,)).id)

    def _left(self) -> int | None:
        if self.budget is None:
            return None
        return max(0, self.budget - len(self._own(self._project.ledger.active())))
