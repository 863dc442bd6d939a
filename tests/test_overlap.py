"""Several opinions on one question: blind to each other, agreed or reviewed (P19)."""

from __future__ import annotations

import numpy as np
import pytest
from fastapi.testclient import TestClient

from samekind import DIFFERENT, SAME
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

    def test_two_people_come_to_the_same_clusters(self, project, data):  # noqa: F811
        for _ in range(80):
            for who in ("ann", "bob"):
                (question,) = project.next(who)
                project.answer(question.id, truth(question, data[1]), who=who)
        ledger = project.session.ledger
        lines = ledger.active()
        right = data[1][lines["a"]] == data[1][lines["b"]]
        assert (right == lines["answer"]).all()
        for a, b in zip(lines["a"].tolist(), lines["b"].tolist(), strict=True):
            assert {one.who for one in ledger.log.opinions.on(a, b)} == {"ann", "bob"}
        assert project.team.reviews().total == 0
        assert project.status().presses == 160

    def test_where_they_disagree_a_reviewer_settles_it(self, project, data):  # noqa: F811
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

    def test_an_opinion_alone_can_be_undone(self, project, data):  # noqa: F811
        (first,) = project.next("ann")
        assert not project.status().can_undo
        project.answer(first.id, truth(first, data[1]), who="ann")
        assert len(project.session.ledger) == 0
        assert project.status().can_undo

    def test_a_sheet_on_which_one_row_is_disputed_is_one_act(self, data):  # noqa: F811
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

    def test_of_a_share_two_opinions_are_wanted_whichever_way_a_pair_is_asked(self, data):  # noqa: F811
        project = project_of(data, overlap=0.3)
        wanted = {row: project.team.n_wanted(Comparison("p", row, (0,))) for row in range(1, 100)}
        twice = next(row for row, count in wanted.items() if count == 2)
        once = next(row for row, count in wanted.items() if count == 1)
        assert project.team.take_opinion(Comparison("p", twice, (once,)), "same", "ann")
        assert not project.team.has_all_opinions(once, twice)
        assert project.team.take_opinion(Comparison("p", once, (twice,)), "different", "bob")
        assert project.team.has_all_opinions(once, twice)
        assert project.team.reviews().total == 1

    def test_a_share_of_the_sheets_too(self, data):  # noqa: F811
        project = project_of(data, overlap=0.1)
        sheets = [list(range(first, first + 12)) for first in range(1, 500)]
        chosen = [project.team.n_wanted(Comparison("g", 0, tuple(rows))) for rows in sheets]
        assert 0.05 < np.mean(np.array(chosen) == 2) < 0.2

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
