"""Several opinions on one question: blind to each other, agreed or reviewed (P19)."""

from __future__ import annotations

import csv
import io
import math

import krippendorff
import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from samekind import DIFFERENT, SAME
from samekind.measures import cohen_kappa, fleiss_kappa, krippendorff_alpha
from samekind.project import ProjectError, SheetAnswer
from samekind.project.sharing import SECONDS, Comparison
from serving import BEARER, PAGE, app_of
from test_sharing import Clock, data, project_of, truth  # noqa: F401


def wrong(question, y):
    """Return what somebody says who always errs."""
    right = truth(question, y)
    if question.type == "pair":
        return {"same": "different", "different": "same"}[right]
    return question.options[0].cluster if right == "none" else "none"


def settle_all(project, y, who="rev"):
    while page := project.team.reviews().reviews:
        for review in page:
            said = "same" if y[review.a.row] == y[review.b.row] else "different"
            project.team.settle(review.a.row, review.b.row, said, who=who)


@pytest.fixture
def project(data):  # noqa: F811
    project = project_of(data, overlap=2)
    project.clock = Clock()
    return project


class TestTwoOpinions:
    def test_the_second_one_makes_it_an_answer(self, project, data):  # noqa: F811
        """P7: with overlap, the same question goes to two people, and to no one twice."""
        ledger = project.session.ledger
        (first,) = project.next("ann")
        project.answer(first.id, truth(first, data[1]), who="ann")
        assert len(ledger) == 0
        assert project.session.pending().tolist()  # nothing has moved
        assert first.id not in {question.id for question in project.next("ann", most=9)}
        (second,) = project.next("bob")
        assert second == first
        project.answer(second.id, truth(second, data[1]), who="bob")
        assert len(ledger) == 1
        assert {one.who for one in ledger.log.opinions.standing()} == {"ann", "bob"}
        assert project.status().presses == 2
        assert project.team.reviews().total == 0

    def test_where_they_disagree_a_reviewer_settles_it(self, project, data):  # noqa: F811
        """P19: what two people said otherwise is reviewed, and nothing else."""
        y = data[1]
        for _ in range(25):
            for who, say in (("ann", truth), ("bob", wrong)):
                (question,) = project.next(who)
                project.answer(question.id, say(question, y), who=who)
        page = project.team.reviews()
        assert page.total > 0
        for review in page.reviews:
            assert {one.who for one in review.opinions} == {"ann", "bob"}
            assert len({one.answer for one in review.opinions}) == 2
        settle_all(project, y)
        lines = project.session.ledger.active()
        lines = lines[lines["answer"] >= 0]
        assert lines.size
        assert ((y[lines["a"]] == y[lines["b"]]) == lines["answer"]).all()
        with pytest.raises(ProjectError, match="Nobody disagrees"):
            project.team.settle(page.reviews[0].a.row, page.reviews[0].b.row, "same", who="rev")

    def test_a_sheet_on_which_one_row_is_disputed_is_one_act(self, data):  # noqa: F811
        """P2: and one undo takes it back."""
        project = project_of(data, sheet=12)
        while (sheet := project.next("ann")[0]).type != "sheet":
            project.answer(sheet.id, truth(sheet, data[1]), who="ann")
        project.team.set_overlap(2)
        project.answer(sheet.id, SheetAnswer(), who="ann")
        before, presses = project.answers.page(limit=200), project.status().presses
        row = sheet.items[0].row
        project.answer(sheet.id, SheetAnswer(different=[row]), who="bob")
        after = project.answers.page(limit=200)
        assert after.total == before.total + len(sheet.items)
        assert project.status().presses == presses + 1
        assert project.team.reviews().total == 1
        assert len(project.undo(who="bob")) == 1
        assert project.answers.page(limit=200) == before
        assert project.team.reviews().total == 0

    def test_an_opinion_can_be_taken_back(self, project, data):  # noqa: F811
        (first,) = project.next("ann")
        project.answer(first.id, wrong(first, data[1]), who="ann")
        assert project.undo(who="ann")
        assert project.session.ledger.log.opinions.standing() == []
        assert project.next("ann") == [first]

    def test_a_share_of_the_questions(self, data):  # noqa: F811
        project = project_of(data, overlap=0.3)
        chosen = [
            project.team.n_wanted(Comparison("p", row, (row + 1,))) for row in range(len(data[1]))
        ]
        assert set(chosen) == {1, 2}
        assert 0.2 < np.mean(np.array(chosen) == 2) < 0.4
        with pytest.raises(ProjectError, match="overlap must be"):
            project.team.set_overlap(2.5)
        for wrong in (0, -1, 11):
            with pytest.raises(ProjectError, match="must be a share"):
                project.team.set_overlap(wrong)

    def test_the_last_opinion_is_taken_back_with_the_answer_that_it_became(self, project, data):  # noqa: F811
        """P2: and the other opinion stays."""
        ledger, (first,) = project.session.ledger, project.next("ann")
        for who in ("ann", "bob"):
            (question,) = project.next(who)
            assert question == first
            project.answer(question.id, truth(question, data[1]), who=who)
        assert project.undo(who="bob")
        assert len(ledger) == 0
        assert [one.who for one in ledger.log.opinions.standing()] == ["ann"]
        assert project.next("bob") == [first]
        project.answer(first.id, truth(first, data[1]), who="bob")
        assert len(ledger) == 1

    def test_what_a_reviewer_settled_can_be_taken_back(self, project, data):  # noqa: F811
        for who, say in (("ann", truth), ("bob", wrong)):
            (question,) = project.next(who)
            project.answer(question.id, say(question, data[1]), who=who)
        (review,) = project.team.reviews().reviews
        project.team.settle(review.a.row, review.b.row, "same", who="rev")
        assert project.team.reviews().total == 0
        assert project.undo(who="rev")
        (again,) = project.team.reviews().reviews
        assert again == review

    def test_late_answers_that_differ_are_reviewed(self, data):  # noqa: F811
        project, clock = project_of(data), Clock()
        project.clock = clock
        (first,) = project.next("ann")
        clock.now += SECONDS + 1  # ann takes her time
        shared = next(one for one in project.next("bob", most=9) if one.id == first.id)
        project.answer(first.id, truth(first, data[1]), who="ann")
        project.answer(shared.id, wrong(shared, data[1]), who="bob")
        (review,) = project.team.reviews().reviews
        assert [one.who for one in review.opinions] == ["ann", "bob"]


class TestBlindness:
    def test_nothing_that_an_annotator_gets_tells_what_another_said(self, project, data):  # noqa: F811
        """Whatever ann says of open questions: bob, who reads everything but the reviews, gets the same."""
        reads = (
            "next?most=3", "status", "answers", "presses", "skipped", "contradictions",
            "clusters", "annotators", "find",
        )  # fmt: skip
        seen = []
        for say in (truth, wrong):
            project = project_of(data, overlap=2)
            project.clock = Clock()
            client = TestClient(app_of(project), base_url=f"http://127.0.0.1{PAGE}")
            client.headers.update(BEARER)
            responses = []
            for _ in range(3):
                (question,) = project.next("ann")
                project.answer(question.id, say(question, data[1]), who="ann")
                for path in reads:
                    response = client.get(f"/api/{path}", headers={"X-Samekind-Who": "bob"})
                    text = response.text.replace(project.ledger.project_id, "")
                    responses.append((path, response.status_code, text))
            seen.append(responses)
        assert any(status == 200 for _, status, _ in seen[0])
        assert seen[0] == seen[1]


class TestOverHttp:
    def test_reviews(self, project, data):  # noqa: F811
        client = TestClient(app_of(project), base_url=f"http://127.0.0.1{PAGE}")
        client.headers.update(BEARER)
        for who, say in (("ann", truth), ("bob", wrong)):
            (question,) = project.next(who)
            project.answer(question.id, say(question, data[1]), who=who)
        page = client.get("/api/reviews").json()
        assert page["total"] == 1
        pair = {name: page["reviews"][0][name]["row"] for name in ("a", "b")}
        body = pair | {"answer": "same"}
        assert client.post("/api/reviews", json=body).status_code == 200
        assert client.post("/api/reviews", json=body).status_code == 400
        said = project.session.ledger.lookup(np.array([list(pair.values())]))[0]
        assert said in (SAME, DIFFERENT)
        assert said == SAME


SAID = st.sampled_from([-1, 0, 1])


@given(st.lists(st.tuples(SAID, SAID), min_size=2, max_size=40))
def test_cohen_is_scikit_learns(said):
    one, two = map(list, zip(*said, strict=True))
    found = cohen_kappa(one, two)
    if len({*one, *two}) == 1:
        assert math.isnan(found.value)
        return
    assert found.value == pytest.approx(cohen_kappa_score(one, two))
    assert found.n_units == len(said)
    assert found.low <= found.high


@given(arrays(np.float64, (4, 12), elements=st.sampled_from([-1.0, 0.0, 1.0, math.nan])))
def test_alpha_is_krippendorffs(ratings):
    rated = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    found = krippendorff_alpha(ratings)
    if len(np.unique(rated[~np.isnan(rated)])) < 2:
        assert math.isnan(found.value)
        return
    wanted = krippendorff.alpha(reliability_data=rated, level_of_measurement="nominal")
    assert found.value == pytest.approx(wanted)
    assert found.n_units == rated.shape[1]


def test_alpha_of_krippendorffs_own_example():
    """Nominal data of four observers in his text of 2011: 0.743."""
    nan = math.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert krippendorff_alpha(ratings).value == pytest.approx(0.743, abs=5e-4)


def test_fleiss_of_the_worked_example():
    """Fourteen raters, ten subjects, five categories, as worked out on Wikipedia (Fleiss' kappa): 0.210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = fleiss_kappa(counts)
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.low < found.value < found.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    # two people who say the truth with probability 0.9, of pairs of which half are the same: κ is 0.64
    held = 0
    for _ in range(200):
        true = rng.random(150) < 0.5
        one, two = (np.where(rng.random(150) < 0.9, true, ~true) for _ in range(2))
        found = cohen_kappa(one, two)
        held += found.low <= 0.64 <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="the same units"):
        cohen_kappa([1, 0], [1])
    with pytest.raises(ValueError, match="same number of ratings"):
        fleiss_kappa([[1, 1], [2, 1]])
    with pytest.raises(ValueError, match="a row for each person"):
        krippendorff_alpha([1, 0])
    assert math.isnan(krippendorff_alpha(np.full((2, 3), np.nan)).value)


class TestTheTable:
    @pytest.fixture
    def project(self, data):  # noqa: F811
        project = project_of(data, overlap=2)
        for turn in range(40):
            for who in ("ann", "=bob"):
                (question,) = project.next(who)
                say = wrong if who == "=bob" and turn % 5 == 0 else truth
                project.answer(question.id, say(question, data[1]), who=who)
        return project

    def test_speed_and_agreement_of_each(self, project):
        page = project.team.annotators()
        ann = next(one for one in page.annotators if one.name == "ann")
        assert ann.shared > 0
        assert ann.agreed < ann.shared
        assert ann.seconds is not None
        assert ann.seconds > 0
        (pair,) = page.agreement.people
        assert pair.shared == page.agreement.pairs_of_rows
        assert pair.agreed < pair.shared
        assert page.agreement.low <= page.agreement.alpha <= page.agreement.high
        assert page.agreement.fleiss_raters == 2

    def test_as_csv(self, project):
        def table(name):
            file = io.BytesIO()
            project.export(name, file)
            return list(csv.DictReader(io.StringIO(file.getvalue().decode())))

        assert {row["name"] for row in table("annotators.csv")} == {"ann", "'=bob"}
        alpha, fleiss, cohen = table("agreement.csv")
        assert float(alpha["value"]) == project.team.annotators().agreement.alpha
        assert fleiss["measure"] == "Fleiss kappa of 2"
        assert int(cohen["shared"]) == int(alpha["shared"])
        opinions = table("opinions.csv")
        assert len(opinions) == 2 * int(alpha["shared"])
        assert {row["answer"] for row in opinions} <= {"same", "different", "unsure"}
