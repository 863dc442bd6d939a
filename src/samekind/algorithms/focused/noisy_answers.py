"""The policy for answers that may be wrong: every answer is only evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log

import numpy as np

from samekind.algorithms.base import Certificate
from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.answer_policy import AnswerPolicy
from samekind.algorithms.focused.doubtful_rows import DoubtfulRows
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.algorithms.focused.questions import score_open_rows
from samekind.algorithms.focused.quick_rows import QuickRows
from samekind.algorithms.focused.revision import AnswerChecks, split_clusters
from samekind.algorithms.focused.settling import Settling
from samekind.algorithms.state import GIVEN_UP, UNKNOWN
from samekind.flow import FloatArray, Flow, IntArray

__all__ = ["NoisyAnswers"]


def _probability(similarity: float, odds: float) -> float:
    """Return the probability that two clusters are one, by their similarity and the answers."""
    prior = float(np.clip(similarity, *const.SIMILARITY_PRIOR))
    return float(1 / (1 + np.exp(-np.clip(log(prior / (1 - prior)) + odds, -500, 500))))


class NoisyAnswers(AnswerPolicy):
    """Decide rows and clusters by sequential tests, and review every decision as evidence grows.

    - The probabilities that the model gives are the prior of a row; each answer about a member of a cluster
      multiplies them by its likelihood (`NoiseModel`). Questions go to the likeliest cluster, each about
      another member, until one is certain enough.
    - A row founds a cluster when "new" is certain enough. While it may be another one, the two are compared,
      by as many pairs of rows as it takes.
    - Nothing is final: a member whose own cluster is uncertain counts for less, rows move, and clusters are
      merged and split when evidence turns. Nothing is inferred: each answer speaks of its own two rows.
    """

    compares_in_waves = False  # an answer decides which pair is next

    def __init__(self, learner: Learner) -> None:
        assert learner.params.error_rate is not None
        super().__init__(learner)
        self._noise = NoiseModel(learner.params.error_rate, learner.state)
        self._checks = AnswerChecks(learner, self._noise)
        self._doubtful = DoubtfulRows(learner, self._noise, self._prior)
        self._settling = Settling(learner, self._noise, self._doubtful, self._checks, self)
        self._quick = QuickRows(learner, self._prior)
        self._grown: set[int] = set()  # clusters that were compared when they had enough members
        self._n_unrevised = 0  # rows decided since the last revision
        self._n_confirming: Counter[int] = Counter()  # rows asked about to confirm a cluster

    # Rows

    def next_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return the likeliest cluster that is worth a question, and a member of it."""
        prior = self._prior(open_row)
        posterior = self._noise.posterior(open_row.row, prior)
        question = self._question(open_row, posterior)
        if question is None and open_row.asked and not self._noise.answers.get(open_row.row):
            open_row.cluster = GIVEN_UP  # nobody could tell
        elif question is None:
            self._decide(open_row, prior, posterior)
        return question

    def _question(self, open_row: OpenRow, posterior: FloatArray) -> tuple[int, int] | None:
        best = int(posterior[:-1].argmax()) if posterior.size > 1 else -1
        answers = self._noise.answers.get(open_row.row, ())
        confirmed = self._noise.is_confirmed(open_row.row, best)
        if confirmed and posterior[best] >= const.CERTAIN_MEMBER:
            return None
        unasked = self._unasked(open_row) if self._full else []
        if not unasked:
            if answers and posterior[-1] >= const.CERTAIN_NEW:
                return None
            if len(answers) >= const.MAX_QUESTIONS:
                return None
            is_likely = posterior[best] >= const.LIKELY_MEMBER
            if not self._full and len(answers) >= const.ENOUGH_ANSWERS and not is_likely:
                return None
            if confirmed and posterior[best] > 0.5 and self.next_member(open_row, best) < 0:
                return None
        for cluster in unasked or np.argsort(-posterior[:-1], kind="stable").tolist():
            if not self._model.scorer.alive[cluster]:
                continue
            if answers and not unasked and posterior[cluster] < const.NOT_WORTH_ASKING:
                break
            member = self.next_member(open_row, cluster)
            if member >= 0:
                return cluster, member
        return None

    def _unasked(self, open_row: OpenRow) -> list[int]:
        """Return the clusters about which nothing was asked yet."""
        return [
            cluster
            for cluster in np.flatnonzero(self._model.scorer.alive).tolist()
            if cluster not in open_row.asked and self.next_member(open_row, cluster) >= 0
        ]

    def _decide(self, open_row: OpenRow, prior: FloatArray, posterior: FloatArray) -> None:
        """Set the likeliest cluster of a row, unless "new" is likelier."""
        best = int(posterior[:-1].argmax()) if posterior.size > 1 else -1
        if posterior[best] > posterior[-1] or (best >= 0 and posterior[-1] < const.LIKELY_NEW):
            open_row.cluster = best
            if posterior[best] < const.LIKELY_MEMBER and not self._full:
                self._doubtful.add(open_row)
            self._noise.certainty[open_row.row] = float(posterior[best])
        self._noise.priors[open_row.row] = prior

    def _prior(self, open_row: OpenRow) -> FloatArray:
        """Return the probabilities of the clusters, and of "new", before anybody was asked.

        The less the model has learnt, the less it is relied on. No cluster is impossible but those that were
        merged into others.
        """
        weights = np.append(open_row.weights, open_row.new_weight)
        flatter = np.append(np.sqrt(open_row.weights), 0.0)
        possible = np.append(self._model.scorer.alive, True)
        prior: FloatArray = weights / weights.sum()
        n_labelled = self._learner.state.n_labelled
        modesty = max(const.MIN_MODESTY, const.MODESTY / (const.MODESTY_ROWS + n_labelled))
        if flatter.any():
            prior = (1 - 2 * modesty) * prior + modesty * flatter / flatter.sum()
            prior[-1] += modesty
        prior = (1 - const.PRIOR_FLOOR) * prior + const.PRIOR_FLOOR * possible / possible.sum()
        return np.maximum(prior, const.IMPOSSIBLE)

    def next_member(self, open_row: OpenRow, cluster: int) -> int:
        """Return the nearest member that was not asked about, firm ones first; -1 if none is left.

        An audit asks about any member: where a cluster is two by mistake, the nearest one would not tell.
        """
        asked = {row for rows in open_row.asked.values() for row in rows}
        asked |= self._noise.compared_with(open_row.row) | {open_row.row}
        fallback = -1
        members = self._model.sites.members_by_distance(open_row.x, cluster)
        if open_row.aim == "audit":
            members = self._in_any_order(members, open_row.row)
        for member in members:
            if member not in asked and not self._learner.unsure.knows_pair(open_row.row, member):
                if self._noise.certainty.get(member, 1.0) >= const.FIRM_MEMBER:
                    return member
                fallback = member if fallback < 0 else fallback
        return fallback

    @staticmethod
    def _in_any_order(members: list[int], row: int) -> list[int]:
        """Return members in an order that depends on nothing but a row."""
        order = np.random.default_rng(row).permutation(len(members))
        return [members[place] for place in order]

    def probabilities(self, open_row: OpenRow) -> FloatArray:
        """Return the posterior probability of each cluster."""
        return self._noise.posterior(open_row.row, self._prior(open_row))[:-1]

    def observe(self, open_row: OpenRow, cluster: int, member: int, answer: int, who: int) -> None:
        """Keep the answer."""
        self._noise.observe(open_row.row, member, answer, who)

    def target(self, open_row: OpenRow) -> FloatArray:
        """Return the posterior probabilities of the clusters that there were then, and of "new"."""
        prior = self._noise.priors.get(open_row.row)
        if prior is None:  # its cluster is given: no answers were weighed for it
            assert open_row.cluster is not None
            given = np.zeros(open_row.prior.size + 1)
            given[min(open_row.cluster, open_row.prior.size)] = 1.0
            return given
        posterior = self._noise.posterior(open_row.row, prior)
        target = np.append(posterior[: open_row.prior.size], posterior[-1])
        found: FloatArray = target / target.sum()
        return found

    # Pairs of clusters

    def decide_pair(self, similarity: float, a: int, b: int) -> bool:
        """Merge or separate two clusters if the answers so far suffice; return whether they do."""
        odds, weight = self.compared(a, b)
        if not weight:
            return False  # nobody was asked: what the model thinks proves nothing
        probability = _probability(similarity, odds)
        if probability >= const.MERGE_ABOVE:
            self.merge(a, b)
        elif probability <= const.SEPARATE_BELOW and odds <= const.REFUSED:
            self._learner.pairs.separate(a, b)
        elif weight >= const.MOST_COMPARED:
            self._learner.pairs.mark_undecidable(a, b)
        else:
            return False
        return True

    def compared(self, a: int, b: int) -> tuple[float, float]:
        """Return the log odds that two clusters are one by comparisons, and how much these weigh."""
        few, other = sorted((a, b), key=lambda cluster: len(self._members[cluster]))
        return self._noise.log_odds_between(self._members[few], other)

    def merge(self, a: int, b: int) -> None:
        """Make two clusters one."""
        self._learner.merge(a, b)
        self._noise.merge(min(a, b), max(a, b))

    def observe_pair(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Keep the answer."""
        self._noise.observe(*pair, answer, who, compares=True)

    def member_pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of members that were not compared yet, the most certain ones first."""
        for first in self._most_certain(a):
            compared = self._noise.compared_with(first)
            for second in self._most_certain(b):
                if second not in compared:
                    yield first, second

    def _most_certain(self, cluster: int) -> list[int]:
        members = self._members[cluster][: const.MEMBER_PAIRS]
        return sorted(members, key=lambda row: -self._noise.certainty.get(row, 1.0))

    # The run

    def may_fill(self) -> bool:
        """Return whether it is time to make centres accurate: not before predictions are."""
        return self._learner.scheduler.is_flat()

    def draw_uncertain(self, size: int) -> list[int]:
        """Draw uncertain rows that few questions settle."""
        return self._quick.draw(self._learner.rng, size)

    def should_confirm(self) -> bool:
        """Return whether there are many clusters of one row, while answers err."""
        many = const.CONFIRM_MORE_THAN + self._learner.state.n_discovered * const.CONFIRM_PART
        return len(self._unconfirmed()) > many and self._noise.rates.of() > const.CONFIRM_ERROR

    def _unconfirmed(self) -> list[int]:
        """Return the clusters of one row, but for those that were often tried to confirm."""
        alone = (k for k, members in enumerate(self._members) if len(members) == 1)
        return [k for k in alone if self._n_confirming[k] < const.CONFIRM_ROWS]

    def draw_to_confirm(self) -> int:
        """Return the nearest unknown row to the only one of some cluster."""
        unconfirmed = self._unconfirmed()
        cluster = unconfirmed[int(self._learner.rng.random() * len(unconfirmed))]
        self._n_confirming[cluster] += 1
        founder = self._learner.points.row(self._members[cluster][0])
        rows = self._model.sites.cells.nearest_rows(founder, const.CONFIRM_NEIGHBOURS)
        unknown = rows[self._learner.state.cluster_of(rows) == UNKNOWN]
        return int(unknown[0]) if unknown.size else -1

    def revise(self, n_rows: int) -> None:
        """Review all decisions after some rows: who errs, where rows are, which clusters are one."""
        self._n_unrevised += n_rows
        if self._n_unrevised < const.REVISE_EVERY:
            return
        self._n_unrevised = 0
        one = np.clip(self._learner.pairs.open_matrix(), 0.0, const.SIMILARITY_PRIOR[1])
        for row, cluster in self._noise.review(self._model.scorer.alive, one):
            self._learner.move(row, cluster)
        self._doubtful.review()
        split_clusters(self._learner, self._noise)
        self._checks.review()
        for a, b, odds in self._noise.pairs_called_one():
            probability = _probability(self._learner.pairs.similarity(a, b), odds)
            if probability > const.REOPEN_ABOVE:
                self._learner.pairs.reopen(a, b, min(probability, const.SIMILARITY_PRIOR[1]))
        for similarity, a, b in self._learner.pairs.separated(const.REOPEN_ABOVE):
            if _probability(similarity, self.compared(a, b)[0]) > const.REOPEN_ABOVE:
                self._learner.pairs.reopen(a, b)

    def young_clusters(self) -> list[int]:
        """Return clusters that were split off, and those that have enough members now to be told."""
        found = self._checks.take_split_off()
        for cluster, members in enumerate(self._members):
            if cluster not in self._grown and len(members) >= const.GROWN_ROWS:
                self._grown.add(cluster)
                found.append(cluster)
        return found

    def lone_clusters(self) -> dict[int, int]:
        """Return the clusters of one row, each with the one that this is likeliest in otherwise.

        None while most clusters are young: then a second row has had no chance to join them.
        """
        lone = [k for k, members in enumerate(self._members) if len(members) == 1]
        if self._learner.state.n_labelled < const.GROWN_ROWS * self._learner.state.n_discovered:
            return {}
        open_rows = [self._founder(cluster) for cluster in lone]
        if open_rows:
            score_open_rows(open_rows, self._model)
        into = {}
        for cluster, open_row in zip(lone, open_rows, strict=True):
            prior = self._prior(open_row)
            prior[lone] = const.IMPOSSIBLE
            into[cluster] = int(self._noise.posterior(open_row.row, prior)[:-1].argmax())
        return into

    def _founder(self, cluster: int) -> OpenRow:
        row = self._members[cluster][0]
        return OpenRow(row, self._learner.points.row(row), -1, "given")

    def set_aside(self) -> list[int]:
        """Return the rows that nobody could tell, and those whose cluster is a guess."""
        return [*self._learner.state.given_up, *self._doubtful]

    def check_answers(self) -> Flow[None]:
        """Ask about pairs of rows in one cluster to learn who errs."""
        return self._checks.pay_share()

    def settle(self) -> Flow[None]:
        """Ask what somebody who knows better can mend: see `Settling`."""
        yield from self._settling.ask()

    def certainty(self, rows: IntArray) -> FloatArray:
        """Return how certain it is that rows which were asked about are in their clusters; 1 for others."""
        certainty = self._noise.certainty
        return np.array([certainty.get(row, 1.0) for row in rows.tolist()])

    def loosen(self, promise: Certificate) -> Certificate:
        """Return what can be promised, as answers to the audit may be wrong, and asked rows misplaced."""
        return self._noise.loosen(promise, self._learner.points.n)

    def error_rate(self) -> float:
        """Return the share of answers that seem to be wrong."""
        return self._noise.rates.of()

    def notes(self) -> list[str]:
        """Return how many answers seem wrong, how many rows are uncertain, which clusters are unconfirmed."""
        notes = [f"About {100 * self.error_rate():.2g} % of the answers seem to be wrong."]
        below = const.REPORT_BELOW
        uncertain = sum(certainty < below for certainty in self._noise.certainty.values())
        if uncertain:
            n_labelled = self._learner.state.n_labelled
            notes.append(
                f"{uncertain:,} of the {n_labelled:,} rows that were asked about are less than "
                f"{below:.0%} certain to be where they are."
            )
        single = sum(len(members) == 1 for members in self._members)
        if single:
            notes.append(f"{single:,} of the clusters rest on one row, which nothing confirmed.")
        return notes
