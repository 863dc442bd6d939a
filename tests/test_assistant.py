"""A model that answers in the background of a project, and people who are asked what is worth it."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from chat_server import KindModel, running
from conftest import blobs
from samekind import ChatOracle, load
from samekind.ledger import LedgerError
from samekind.project import Assistant, make_project, open_project

X, Y = blobs()
SETTINGS = {"error_rate": "estimate", "lineup": 1, "sheet": 0, "batch": 8, "random_state": 0}


@pytest.fixture
def items(tmp_path):
    frame = pd.DataFrame({"kind": Y.astype(str), "x": X[:, 0], "y": X[:, 1]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return load(tmp_path / "rows.csv", exclude=["kind"], show=["kind", "x"])


def start(project, url, **options):
    budget = options.pop("budget", None)
    oracle = ChatOracle(
        project.items,
        model="test-model",
        url=url,
        criterion="The kind is the same.",
        price=(1.0, 1.0),
        timeout=5.0,
        **options,
    )
    project.assistant = Assistant(project, oracle, budget=budget)
    project.assistant.start()
    return project.assistant


def open_or_make(items, path):
    return open_project(path) if path.exists() else make_project(items, path, **SETTINGS)


def answer_truthfully(project, seconds, most=200, until=lambda: False):
    """Play a person who answers whatever is asked; return the pairs."""
    answered, end = [], time.monotonic() + seconds
    while time.monotonic() < end and len(answered) < most and not until():
        questions = project.next("ann")
        if not questions:
            time.sleep(0.02)
            continue
        a, b = questions[0].a.row, questions[0].b.row
        project.answer(questions[0].id, "same" if Y[a] == Y[b] else "different", who="ann")
        answered.append((a, b))
    return answered


def test_the_model_answers_and_people_check(items, tmp_path):
    with running(KindModel()) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        assistant = start(project, url, budget=60)
        asked = answer_truthfully(project, 60, most=25)
        assistant._thread.join(30)
        page = project.team.annotators()
        status = project.status()
        project.close()
    by_name = {one.name: one for one in page.annotators}
    model = by_name[assistant.oracle.name]
    assert model.is_model
    assert 40 <= model.answers <= 60
    assert model.cost > 0
    assert page.assistant.checked >= 10
    assert model.agreed == model.shared >= 10
    assert model.low <= model.error <= model.high < 0.5
    assert status.presses == len(asked)  # the model's answers are no presses
    assert page.assistant.answers == model.answers


def test_without_people_the_model_goes_on(items, tmp_path):
    with running(KindModel()) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        assistant = start(project, url, budget=40)
        assistant._thread.join(30)
        page = project.team.annotators()
        project.close()
    [model] = page.annotators
    assert model.answers == 40
    assert page.assistant.checked == 0
    assert page.assistant.waiting == 20  # for people, when they come
    assert page.assistant.state == "has answered as much as it may"


def test_people_are_asked_what_the_model_answered_first_and_do_not_see_it(items, tmp_path):
    """P19: a model's answers are checked by people who do not see them."""
    with running(KindModel()) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        assistant = start(project, url, budget=40)
        assistant._thread.join(30)
        first = {frozenset((line.a, line.b)) for line in list(project.session.ledger.lines())[:20]}
        asked = []
        for _ in range(20):
            [question] = project.next("ann")
            assert question.a_cluster is None
            asked.append(frozenset((question.a.row, question.b.row)))
            answer_truthfully(project, 10, most=1)
        assert set(asked) == first
        assert project.team.annotators().assistant.checked == 20
        [question] = project.next("ann")
        assert frozenset((question.a.row, question.b.row)) not in first
        project.close()


def test_what_was_paid_counts_when_it_goes_on(items, tmp_path):
    """P26: the cap holds over several runs."""
    with running(KindModel()) as url:
        for budget in (10, 25):
            project = open_or_make(items, tmp_path / "p.db")
            assistant = start(project, url, budget=budget)
            assistant._thread.join(30)
            page = project.team.annotators()
            assert page.assistant.answers == budget
            project.close()


def test_a_server_that_fails_leaves_people_to_go_on(items, tmp_path):
    with running(KindModel(faults={"garbage": 1.0})) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        assistant = start(project, url, in_flight=1)
        answer_truthfully(project, 30, until=lambda: not assistant.is_working)
        assert "cannot be asked" in project.team.annotators().assistant.state
        assert len(answer_truthfully(project, 10, most=5)) == 5
        project.close()


def test_a_model_whose_answers_cannot_be_saved_says_so(items, tmp_path, monkeypatch):
    """P26: and nothing is paid for twice."""

    def full(*_, **__):
        raise LedgerError("the disk is full")

    with running(KindModel()) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        answer_truthfully(project, 10, most=3)
        with monkeypatch.context() as broken:
            broken.setattr(project.session, "write", full)
            assistant = start(project, url, budget=30)
            assistant._thread.join(30)
        assert "cannot be saved" in project.team.annotators().assistant.state
        assert not assistant.is_working
        assert len(answer_truthfully(project, 10, most=5)) == 5
        project.close()


def test_undo_is_of_people(items, tmp_path):
    """P2: a model's answers stay."""
    with running(KindModel()) as url:
        project = make_project(items, tmp_path / "p.db", **SETTINGS)
        assistant = start(project, url, budget=30)
        answered = answer_truthfully(project, 30, until=lambda: not assistant.is_working)
        before = len(project.session.ledger)
        assert answered
        project.undo(who="ann")
        assert project.undo() == []  # nobody without a name answered
        assert len(project.session.ledger) == before - 1
        project.close()


def test_the_page_is_told(items, tmp_path):
    from fastapi.testclient import TestClient

    from serving import BEARER, PAGE, app_of

    project = make_project(items, tmp_path / "p.db", **SETTINGS)
    client = TestClient(app_of(project), base_url=f"http://127.0.0.1{PAGE}", headers=BEARER)
    told = client.get("/api/annotators").json()
    assert (told["annotators"], told["assistant"]) == ([], None)
    project.session.tell(project.session.pending()[:1], np.array([1]), who="ann <b>")
    [one] = client.get("/api/annotators").json()["annotators"]
    assert one["name"] == "ann <b>"
    assert one["cost"] is None
    project.close()
