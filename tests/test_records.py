"""What algorithms for records keep to: pairs of records, and thousands of small clusters."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samekind
from conftest import Expert, answer, assert_same_clusters, keys
from samekind import Session
from samekind.algorithms import PairCertificate
from samekind.algorithms.folding import Answered
from samekind.algorithms.records import Records, entities_of
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.points import CandidatePairs, RecordPoints


def people(n_entities=24, n_fields=4, missing=0.1, noise=0.25, seed=0, files=False):
    """Return records of small entities, and the entity of each: matches agree in most fields.

    Those of two `files` have one record in each, or in one.
    """
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.integers(0, 2, n_entities) if files else rng.integers(1, 5, n_entities)
    y = np.repeat(np.arange(n_entities), sizes)
    of_file = np.concatenate([rng.permutation(max(2, sizes.max()))[:size] for size in sizes])
    order = rng.permutation(y.size)
    y, of_file = y[order], of_file[order]
    low, high = np.triu_indices(y.size, 1)
    same = y[low] == y[high]
    kept = same | (rng.random(low.size) < 8 / y.size)
    if files:
        kept &= of_file[low] != of_file[high]
    low, high, same = low[kept], high[kept], same[kept]
    close = 1 - rng.beta(0.4, 3, (low.size, n_fields)) * (rng.random((low.size, n_fields)) < noise)
    far = rng.beta(2, 3, (low.size, n_fields))
    compared = np.where(same[:, None], close, far)
    compared[rng.random(compared.shape) < missing] = np.nan
    candidates = CandidatePairs.of(np.column_stack([low, high]), compared)
    return RecordPoints(candidates, y.size, files=of_file if files else None), y


def make(points, seed=0, **parameters):
    """Return the algorithm, before any answer."""
    params = Records.Params.make("records", parameters)
    return Records(points, params, np.random.default_rng(seed))


def answered(pairs, answers, expected=None):
    """Return answers of one person; nobody asked for them unless something was `expected`."""
    pairs = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    if expected is None:
        expected = np.full((len(pairs), Records.n_features), np.nan, dtype=np.float32)
    nobody = np.zeros(len(pairs), dtype=np.intp)
    return Answered(pairs, np.asarray(answers, dtype=np.int8), nobody, nobody > 0, expected)


def drive(run, expert, most=10**6, batch=1):
    """Answer what is chosen, without a session; return all answers."""
    log = answered([], [])
    while len(log.pairs) < most and not run.reason_to_stop():
        pairs = run.choose(min(batch, most - len(log.pairs)))
        new = answered(pairs, expert(pairs), run.expect(pairs))
        run.apply(new)
        log = log.plus(new)
    return log


def some(log, chosen):
    """Return some of the answers."""
    return Answered(*(column[chosen] for column in log))


def labels_of(run):
    """Return all that leaves the process: entities, clusters and the certificate."""
    found = run.snapshot()
    entities = run.at_threshold(0.5).labels.tolist()
    return entities, found.members, run.known_clusters(), found.prediction.certificate


NOISE = {"error_rate": 0.05}, {"error_rate": "estimate"}


# Folding


def test_a_toy_by_hand():
    """Four records in a row of likely pairs; and a fifth that nothing is compared with."""
    candidates = CandidatePairs.of([[0, 1], [1, 2], [2, 3], [0, 2]], [[1.0]] * 4)
    run = make(RecordPoints(candidates, 5), audit=0.0)
    assert run.known_clusters() == []
    rows = run.choose(9).ravel().tolist()
    assert len(set(rows)) == len(rows) > 0  # no two questions share a record
    run.fold(answered([[1, 0], [2, 3]], [SAME, SAME]))
    assert run.known_clusters() == [[0, 1], [2, 3]]
    assert run.cluster_of(np.arange(5)).tolist() == [0, 0, 1, 1, -1]
    assert len(run.choose(9)) == 1
    run.apply(answered([[3, 0]], [DIFFERENT]))  # which is no candidate pair
    assert run.reason_to_stop() == "exhausted"
    assert len(run.choose(9)) == 0
    assert run.known_clusters() == [[0, 1], [2, 3], [4]]
    assert run.snapshot().members == [[0, 1], [2, 3], [4]]
    assert run.confidence(np.arange(5)).tolist() == pytest.approx([1.0] * 5)
    assert run.rank_clusters(0) == [0, 2]


@pytest.mark.parametrize("parameters", [{}, *NOISE], ids=str)
@pytest.mark.parametrize("batch", [1, 8])
def test_the_order_of_the_answers_does_not_matter(parameters, batch):
    points, y = people(120, noise=0.6, seed=3)
    live = make(points, **parameters)
    expert = samekind.NoisyOracle(y, 0.05, seed=1) if parameters else Expert(y, unsure=0.1)
    log = drive(live, expert, 60, batch)
    found = labels_of(live)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(log.pairs))
        again = make(points, **parameters)
        again.fold(some(log, order))
        assert labels_of(again) == found
        again.fold(some(log, order[:20]))
        again.apply(some(log, order[20:30]))
        again.apply(some(log, order[30:]))
        assert labels_of(again) == found


@pytest.mark.parametrize("parameters", [{}, *NOISE], ids=str)
def test_what_was_folded_away_leaves_no_trace(parameters):
    points, y = people(60, noise=0.6, seed=3)
    run, fresh = make(points, **parameters), make(points, **parameters)
    log = drive(run, Expert(y), 30)
    run.fold(some(log, slice(0, 12)))
    fresh.fold(some(log, slice(0, 12)))
    assert labels_of(run) == labels_of(fresh)
    np.testing.assert_array_equal(run.choose(5), fresh.choose(5))
    run.fold(answered([], []))
    np.testing.assert_array_equal(run.choose(5), make(points, **parameters).choose(5))


def test_choosing_and_looking_change_nothing():
    points, y = people(60, seed=3)
    looked, alone = make(points), make(points)
    expert = Expert(y)
    for _ in range(40):
        for count in (7, 1):
            looked.choose(count, taken={0, 1, 2})
        labels_of(looked)
        looked.confidence(np.arange(points.n))
        pairs = looked.choose(2)
        np.testing.assert_array_equal(pairs, looked.choose(2))
        np.testing.assert_array_equal(pairs, alone.choose(2))
        for run in (looked, alone):
            run.apply(answered(pairs, expert(pairs), run.expect(pairs)))


def test_answers_of_the_audit_teach_the_model_nothing():
    """Of pairs that were asked about otherwise, its probabilities depend on the other answers alone."""
    points, y = people(120, noise=0.6, seed=3)
    run = make(points, audit=0.2)
    log = drive(run, Expert(y), 60)
    is_audit = log.expected[:, 0] == 1
    assert 0.15 < is_audit.mean() < 0.3
    others = make(points, audit=0.2)
    others.fold(some(log, ~is_audit))
    pairs = points.candidates.pairs.astype(np.intp)
    of_audit = {tuple(sorted(pair)) for pair in log.pairs[is_audit].tolist()}
    rows = {row for pair in of_audit for row in pair}
    untouched = np.array([not rows & set(pair) for pair in pairs.tolist()])
    one, other = (some.match_probabilities(pairs[untouched]) for some in (run, others))
    np.testing.assert_array_equal(one, other)
    told = some(log, is_audit)
    wrong = told._replace(answers=np.where(told.answers == SAME, DIFFERENT, SAME).astype(np.int8))
    others.fold(some(log, ~is_audit).plus(wrong))
    np.testing.assert_array_equal(one, others.match_probabilities(pairs[untouched]))


def test_expects_what_the_model_says_and_which_pairs_are_the_audits():
    points, y = people(120, noise=0.6, seed=3)
    run = make(points, audit=0.5)
    drive(run, Expert(y), 21)
    pairs = points.candidates.pairs.astype(np.intp)
    is_audit, chance = run.expect(pairs).T
    assert set(is_audit.tolist()) == {0.0, 1.0}
    assert is_audit.sum() < 6
    assert ((chance >= 0) & (chance <= 1)).all()
    assert run.expect(run.choose(1))[0, 0] == 1  # it is behind its share
    assert not make(points, audit=0.0).expect(pairs)[:, 0].any()


def test_a_pair_that_nobody_can_tell_is_closed_and_teaches_nothing():
    points, _ = people(60, seed=3)
    run = make(points, audit=0.0)
    [pair] = run.choose(1)
    before = run.match_probabilities(points.candidates.pairs.astype(np.intp))
    run.apply(answered([pair], [UNSURE]))
    assert sorted(pair) not in np.sort(run.choose(points.n)).tolist()
    after = run.match_probabilities(points.candidates.pairs.astype(np.intp))
    np.testing.assert_array_equal(before, after)
    assert run.known_clusters() == []


def test_what_others_are_asked_is_left_alone():
    points, y = people(60, seed=3)
    run = make(points)
    drive(run, Expert(y), 20)
    first = run.choose(4)
    second = run.choose(4, taken=first.ravel().tolist())
    assert len(first) == len(second) == 4
    assert not set(first.ravel().tolist()) & set(second.ravel().tolist())


def test_several_answers_to_a_pair_count_together_where_they_may_be_wrong():
    candidates = CandidatePairs.of([[0, 1], [1, 2]], [[0.9], [0.9]])
    run = make(RecordPoints(candidates, 3), error_rate=0.1, audit=0.0)

    def chance(*answers):
        run.fold(answered([[0, 1]] * len(answers), answers))
        return run.match_probabilities(np.array([[0, 1]]))[0]

    assert chance(SAME, SAME) > chance(SAME) > chance(SAME, DIFFERENT)
    assert chance(SAME, DIFFERENT) == chance() == chance(UNSURE)
    assert chance(DIFFERENT) < chance()


def test_answers_outrank_that_a_file_has_no_duplicates():
    pairs = [[0, 1], [0, 2], [1, 2], [2, 3]]
    points = RecordPoints(CandidatePairs.of(pairs, [[1.0]] * 4), 4, files=[0, 1, 0, 1])
    run = make(points, audit=0.0)
    log = answered([[0, 1], [1, 2]], [SAME, SAME])
    for order in ([0, 1], [1, 0]):
        run.fold(some(log, np.array(order)))
        assert run.known_clusters()[0] == [0, 1, 2]
        labels = run.snapshot().members
        assert [0, 1, 2] in labels or [0, 1, 2, 3] in labels


def test_doubtful_members_of_a_cluster():
    candidates = CandidatePairs.of([[0, 1], [0, 2], [1, 2], [3, 4]], [[1.0]] * 3 + [[0.0]])
    run = make(RecordPoints(candidates, 5), audit=0.0)
    run.fold(answered([[0, 3]], [DIFFERENT]))
    together = np.flatnonzero(run.at_threshold(0.5).labels == 0)
    assert run.likely_members(0, 9).tolist() == together[together != 0].tolist()
    assert 1 not in run.likely_members(0, 9, taken=[1])
    assert run.rank_clusters(0) == [0]
    assert run.rank_clusters(1)[0] == 0


@pytest.mark.parametrize(("batch", "unsure"), [(1, 0.0), (1, 0.2), (7, 0.2)])
def test_asks_about_candidate_pairs_once(batch, unsure):
    points, y = people()
    run = make(points)
    log = drive(run, Expert(y, unsure), batch=batch)
    asked = keys(log.pairs)
    assert len(asked) == len(set(asked))
    assert run.reason_to_stop() == "exhausted"
    assert sorted(row for rows in run.known_clusters() for row in rows) == list(range(points.n))


# Sessions


@pytest.mark.parametrize("batch", [1, "auto", 64])
@pytest.mark.parametrize("files", [False, True])
def test_proves_all_entities(batch, files):
    points, y = people(files=files)
    session = answer(Session(points, "records", batch=batch, random_state=2), Expert(y))
    found = session.clusters()
    assert samekind.measures.adjusted_rand_index(y, found.labels_) == 1.0
    assert found.n_discovered_ == found.n_recovered_ == np.unique(y).size
    assert session.n_questions < len(points.candidates.pairs)  # the rest follows


def test_is_deterministic_for_a_seed():
    points, y = people()

    def run(seed):
        options = {"batch": 3, "random_state": seed, "budget": 25}
        return answer(Session(points, "records", **options), Expert(y))

    one, again, other = run(0), run(0), run(1)
    assert_same_clusters(one.clusters(), again.clusters())
    assert one.ledger.active()["a"].tolist() == again.ledger.active()["a"].tolist()
    assert one.ledger.active()["a"].tolist() != other.ledger.active()["a"].tolist()


@given(budget=st.integers(1, 25), batch=st.integers(1, 9))
@settings(max_examples=3)
def test_never_exceeds_its_budget(budget, batch):
    points, y = people()
    expert = Expert(y)
    session = Session(points, "records", budget=budget, batch=batch, random_state=0)
    answer(session, expert)
    assert len(expert.asked) == session.n_questions == budget


@given(
    stops=st.lists(st.integers(1, 15), min_size=1, max_size=3),
    unsure=st.sampled_from([0.0, 0.15]),
    batch=st.sampled_from([1, 4]),
)
@settings(max_examples=3)
def test_interrupted_at_any_question_and_opened_again(stops, unsure, batch):
    """Each stretch is a new Session on the same file, which knows what the one before knew."""
    points, y = people()
    expert = Expert(y, unsure)
    options = {"algorithm": "records", "random_state": 5, "batch": batch, "budget": 40}
    with TemporaryDirectory() as folder:
        path, before = Path(folder) / "mine.db", None
        for questions in [*stops, 40]:
            with Session(points, ledger=path, **options) as session:
                if before is not None:
                    assert_same_result(session.clusters(), before)
                for _ in range(questions):
                    if not session.done:
                        session.tell(session.pending()[-1:], expert(session.pending()[-1:]))
                before = session.clusters()
    assert len(set(expert.asked)) == len(expert.asked) == before.n_questions_


def assert_same_result(one, other):
    """Check that two results agree, however they came about."""
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.all_centers_, other.all_centers_)
    assert [m.tolist() for m in one.members_] == [m.tolist() for m in other.members_]
    assert one.certificate_ == other.certificate_
    assert one.n_questions_ == other.n_questions_


def test_no_pairs_and_one_record():
    nothing = CandidatePairs.of(np.empty((0, 2), dtype=int), np.empty((0, 2)))
    for n in (1, 3):
        session = Session(RecordPoints(nothing, n), "records", random_state=0)
        assert session.done
        assert session.clusters().labels_.tolist() == list(range(n))
        assert session.n_questions == 0


def test_target():
    points, y = people()
    session = answer(Session(points, "records", target=3, random_state=0), Expert(y))
    assert session.clusters().n_recovered_ >= 3


def test_rows_of_numbers_are_no_records():
    with pytest.raises(
        ValueError, match="needs pairs of them that may be one entity, got ArrayPoints"
    ):
        Session([[0.0], [1.0]], "records")


# Ours


def test_finds_most_with_few_questions_and_says_so():
    points, y = people(400, seed=3)
    found = samekind.solve(points, Expert(y), algorithm="records", budget=60, random_state=0)
    assert samekind.measures.adjusted_rand_index(y, found.labels_) > 0.95
    promise = found.certificate_
    assert isinstance(promise, PairCertificate)
    assert promise.n_audited >= 5
    assert "of the pairs in one entity do not belong together" in str(promise)


def test_first_question_is_a_near_one_and_few_are_strangers():
    points, y = people(400, seed=4)
    expert = Expert(y)
    answer(Session(points, "records", budget=100, random_state=1), expert)
    different = sum(y[a] != y[b] for a, b in expert.asked)
    assert different <= 60


def test_wrong_answers_do_not_decide():
    points, y = people(400, seed=5)
    noisy = samekind.NoisyOracle(y, 0.05, seed=1)
    for rate in (0.05, "estimate"):
        found = samekind.solve(
            points, noisy, algorithm="records", budget=150, error_rate=rate, random_state=0
        )
        assert samekind.measures.adjusted_rand_index(y, found.labels_) > 0.93
        assert 0 < found.error_rate_ < 0.15


def test_links_at_most_one_record_of_each_file():
    points, y = people(200, files=True, noise=0.6, seed=6)
    found = samekind.solve(points, Expert(y), algorithm="records", budget=20, random_state=0)
    taken = np.column_stack([found.labels_, points.files])
    assert len(np.unique(taken, axis=0)) == points.n


def test_an_answer_that_is_taken_back_or_changed_counts_no_more():
    points, y = people()
    expert = Expert(y)
    session = Session(points, "records", random_state=0)
    for _ in range(20):
        session.tell(session.pending(), expert(session.pending()))
    a, b = next(pair for pair in expert.asked if y[pair[0]] == y[pair[1]])
    labels = session.clusters().labels_
    assert labels[a] == labels[b]
    session.change([[a, b]], [False])
    labels = session.clusters().labels_
    assert labels[a] != labels[b]
    session.change([[a, b]], [True])
    assert session.clusters().labels_[a] == session.clusters().labels_[b]
    before = session.pending().tolist()
    session.tell(session.pending(), expert(session.pending()))
    session.undo()
    assert session.pending().tolist() == before


def test_changes_are_the_same_when_resumed(tmp_path):
    points, y = people()
    options = {"algorithm": "records", "random_state": 0, "ledger": tmp_path / "mine.db"}
    expert = Expert(y)
    with Session(points, **options) as session:
        for _ in range(12):
            session.tell(session.pending(), expert(session.pending()))
        session.change([expert.asked[3]], [not expert.says(*expert.asked[3])])
        for _ in range(3):
            session.tell(session.pending(), expert(session.pending()))
        session.undo(2)
        session.learn([[0, 1]], [bool(y[0] == y[1])])
        session.tell(session.pending(), expert(session.pending()))
        found = session.clusters()
    with Session(points, **options) as again:
        assert_same_result(again.clusters(), found)


def test_keeps_all_in_a_file(tmp_path):
    points, y = people()
    found = samekind.solve(points, Expert(y), algorithm="records", budget=30, random_state=0)
    found.save(tmp_path / "found.npz")
    kept = samekind.Clusters.load(tmp_path / "found.npz")
    assert kept.certificate_ == found.certificate_
    assert str(kept.certificate_) == str(found.certificate_)
    np.testing.assert_array_equal(kept.labels_, found.labels_)


def test_stops_when_the_certificate_holds():
    points, y = people(400, noise=0.1, seed=7)
    options = {"stop": "certified", "tolerance": 0.2, "random_state": 0}
    found = samekind.solve(points, Expert(y), algorithm="records", **options)
    assert found.stop_reason_ == "certified"
    promise = found.certificate_
    assert promise.wrong <= promise.wrong_at_any_time <= 0.2
    assert promise.undiscovered <= promise.undiscovered_at_any_time <= 0.2


@pytest.mark.slow
def test_certificate_holds_as_often_as_it_says():
    """Where the model errs: many fields are missing or differ."""
    points, y = people(250, n_fields=2, missing=0.3, noise=0.7, seed=8)
    a, b = points.candidates.pairs.T
    matches = y[a] == y[b]
    held = []
    for seed in range(200):
        found = samekind.solve(
            points, samekind.LabelOracle(y), algorithm="records", budget=80, random_state=seed
        )
        labels = found.labels_
        sizes = np.bincount(labels)
        together = labels[a] == labels[b]
        both = np.unique(np.column_stack([labels, y]), axis=0, return_counts=True)[1]
        precision = (both * (both - 1)).sum() / (sizes * (sizes - 1)).sum()
        recall = (together & matches).sum() / matches.sum()
        promise = found.certificate_
        held.append(precision >= promise.precision and recall >= promise.recall)
    assert np.mean(held) >= 0.95


def test_what_a_field_tells_follows_from_the_answers():
    """In one field copies agree, in the other they differ as often as strangers."""
    rng = np.random.default_rng(0)
    pairs = [(row, row + 1) for row in range(199)]
    y = np.arange(200) // 2
    same = np.array([y[a] == y[b] for a, b in pairs])
    field = np.column_stack([np.where(same, 1.0, 0.2), rng.random(199)])
    points = RecordPoints(CandidatePairs.of(pairs, field, ("name", "colour")), 200)
    run = make(points, audit=0.0)
    run.apply(answered(pairs[:60], same[:60]))
    match, stranger = run.explain(0, 1), run.explain(1, 2)
    assert [one.field for one in match] == ["name", "colour"]
    assert match[0].weight > 1 > -1 > stranger[0].weight
    assert max(abs(one[1].weight) for one in (match, stranger)) < 1
    assert match[0].alike == 1
    assert run.explain(0, 5) == []


def test_one_answer_speaks_for_all_records_of_two_entities():
    """Where answers may be wrong; the model's doubt is a mean, the answers add up."""
    groups = [(a, b) for g in (0, 4) for a in range(g, g + 4) for b in range(a + 1, g + 4)]
    across = [(a, b) for a in range(4) for b in range(4, 8)]
    pairs, weights = np.array([*groups, *across]), np.array([3.0] * 12 + [-1.0] * 16)
    single = np.arange(8)
    said = np.array([[0, 4]]), np.array([3.0])
    assert len(set(entities_of(single, pairs, weights).tolist())) == 2
    assert len(set(entities_of(single, pairs, weights, said=said).tolist())) == 1
    both = np.array([[0, 4], [1, 5]]), np.array([3.0, -3.0])
    assert len(set(entities_of(single, pairs, weights, said=both).tolist())) == 2


def test_average_linkage_by_hand():
    pairs = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [4, 5]])
    weights = np.array([3.0, 2.0, -1.0, -0.5, 1.0])
    single = np.arange(7)
    assert entities_of(single, pairs, weights).tolist() == [0, 0, 0, 1, 2, 2, 3]
    weights[2] = -3.0
    assert entities_of(single, pairs, weights).tolist() == [0, 0, 1, 2, 3, 3, 4]
    files = np.array([0, 0, 1, 1, 0, 1, 0], dtype=np.int8)
    assert entities_of(single, pairs, weights, files=files).tolist() == [0, 1, 1, 2, 3, 3, 4]
    apart = np.array([[4, 5]]), np.array([-10.0])
    assert entities_of(single, pairs, weights, said=apart).tolist() == [0, 0, 1, 2, 3, 4, 5]
    root = np.array([0, 1, 0, 3, 4, 5, 6])
    assert entities_of(root, pairs, weights).tolist() == [0, 0, 0, 1, 2, 2, 3]


def test_no_doubtful_pair_holds_an_entity_together():
    """Two groups of four that are certain, and one pair between them."""
    groups = [(a, b) for g in (0, 4) for a in range(g, g + 4) for b in range(a + 1, g + 4)]
    pairs = np.array([*groups, (3, 4)])
    weights = np.array([3.0] * len(groups) + [2.0])
    assert entities_of(np.arange(8), pairs, weights).tolist() == [0] * 4 + [1] * 4


def test_records_that_are_equal_in_every_field_are_one_entity_but_for_answers():
    """A chain of copies: each is a candidate of the next one alone."""
    pairs = [[row, row + 1] for row in range(19)]
    points = RecordPoints(CandidatePairs.of([*pairs, [19, 20]], [[1.0]] * 19 + [[0.2]]), 21)
    run = make(points, audit=0.0)
    assert labels_of(run)[0][:20] == [0] * 20
    run.apply(answered([[4, 5]], [DIFFERENT]))
    labels = labels_of(run)[0]
    assert labels[4] != labels[5]


def test_large_entities_come_together_by_a_few_candidates_a_record():
    """Sixty records of which each is a candidate of the next eight alone."""
    pairs = np.array([(a, b) for a in range(60) for b in range(a + 1, min(a + 9, 60))])
    labels = entities_of(np.arange(60), pairs, np.full(len(pairs), 4.0))
    assert labels.max() == 0


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (ValueError, {"audit": 2}, r"audit must be a number in \[0, 1\], got 2"),
        (ValueError, {"stop": "soon"}, "stop must be one of 'proven', 'certified', got 'soon'"),
        (ValueError, {"error_rate": 0.5}, r"error_rate must be a number in \[0, 0.5\)"),
        (TypeError, {"heavy": 2}, "'records' has no parameter 'heavy'"),
    ],
)
def test_wrong_parameters_are_named_at_the_call(error, options, message):
    with pytest.raises(error, match=message):
        Session(people()[0], "records", **options)


@pytest.mark.parametrize(
    ("pairs", "compared", "message"),
    [
        ([[0, 0]], [[1.0]], r"compared with itself, got the pair \(0, 0\)"),
        ([[0, 1]], [[2.0]], "between 0 and 1"),
        ([[0, 1]], [[1.0], [1.0]], "a line for each of 1 pairs"),
    ],
)
def test_candidate_pairs_are_checked(pairs, compared, message):
    with pytest.raises(ValueError, match=message):
        CandidatePairs.of(pairs, compared)
    with pytest.raises(ValueError, match="mention row 4, but there are 3 records"):
        RecordPoints(CandidatePairs.of([[4, 1]], [[1.0]]), 3)
