"""`samekind.Client`: a program that answers on a server, with the methods of a local session."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import samekind
from samekind.ledger import SqlLedger
from samekind.project import NewCluster, Project
from teams import TeamServer, invite, make_at, make_table, wait_for


@pytest.fixture
def table(tmp_path):
    return make_table(tmp_path)


@pytest.fixture
def place(table, tmp_path):
    return make_at(tmp_path / "rows.db", table[0])


@pytest.fixture
def server(place):
    with TeamServer({"rows": place}) as server:
        yield server


def client_of(server, place, role="own", who="ann", **options):
    return samekind.Client(server.url, invite(place, who, role), **options)


def test_drives_a_project_to_the_same_clusters_as_a_local_session(server, place, table, tmp_path):
    y = table[1]
    with client_of(server, place) as client, client.session("rows") as session:
        assert client.projects() == ["rows"]
        for _ in range(1000):
            pairs = session.pending()
            if not len(pairs):
                break
            session.tell(pairs[:1], [y[a] == y[b] for a, b in pairs[:1]])
        assert session.done
        found = session.clusters()
        labels = session.labels()
    for kind in np.unique(y):
        assert np.unique(labels[y == kind]).size == 1
    with SqlLedger(place, read_only=True) as ledger:
        assert ledger.annotators == ["ann"]
        assert found.n_questions_ == session_questions(ledger)


@pytest.mark.parametrize("sheet", [0, 12])
def test_programs_answer_where_several_opinions_are_wanted(table, tmp_path, sheet):
    y = table[1]
    place = make_at(tmp_path / "both.db", table[0], overlap=2, sheet=sheet)
    with ExitStack() as stack:
        server = stack.enter_context(TeamServer({"rows": place}))
        both = [
            stack.enter_context(client_of(server, place, who=who).session("rows"))
            for who in ("ann", "bob")
        ]
        for _ in range(100):
            for session in both:
                pairs = session.pending()
                session.tell(pairs, [y[a] == y[b] for a, b in pairs])
            if both[0].done:
                break
        assert both[0].done
        labels = both[0].labels()
    for kind in np.unique(y):
        assert np.unique(labels[y == kind]).size == 1
    with SqlLedger(place, read_only=True) as ledger:
        assert {one.who for one in ledger.opinions.lines} == {"ann", "bob"}


def session_questions(ledger):
    return int(np.sum(ledger.active()["asked"]))


def test_has_the_methods_of_a_local_session():
    shared = {"pending", "tell", "learn", "undo", "done", "clusters", "stop", "resume", "close"}
    assert shared <= set(dir(samekind.Session)) & set(dir(samekind.RemoteSession))
    of_projects = {"next", "answer", "status", "item", "overview", "cluster", "answers"}
    of_projects |= {"rename", "merge", "correct", "import_answers", "export"}
    assert of_projects <= set(dir(Project)) & set(dir(samekind.RemoteSession))


def test_what_a_page_does(server, place, table):
    y = table[1]
    with client_of(server, place).session("rows") as session:
        [question] = session.next()
        assert question.type == "pair"
        session.answer(question.id, NewCluster("first"))
        assert session.undo() == 1
        assert session.undo() == 0
        assert (
            session.learn([[0, k] for k in range(1, 20)], [y[0] == y[k] for k in range(1, 20)])
            == 19
        )
        overview = session.overview()
        names = [cluster.cluster for cluster in overview.clusters][:2]
        session.rename(names[0], "nice")
        assert session.cluster(names[0]).name == "nice"
        session.merge(names)
        assert len(session.overview().clusters) == len(overview.clusters) - 1
        assert session.item(7).row == 7
        assert session.answers(limit=3).total >= 19
        assert session.export("answers.csv").startswith(b"a,b,answer")
        session.stop()
        assert (session.done, session.stop_reason) == (True, "user")
        assert session.pending().shape == (0, 2)
        session.resume()
        assert not session.done


def test_what_is_refused_is_said(server, place):
    with client_of(server, place, "answer").session("rows") as session:
        with pytest.raises(samekind.ServerError, match="role is 'own'") as refused:
            session.export("answers.csv")
        assert refused.value.status == 403
        with pytest.raises(samekind.ServerError) as refused:
            session.answer("p-0-0", "same")
        assert refused.value.status == 409
    wrong = samekind.Client(server.url, "wrong")
    with pytest.raises(samekind.ServerError, match="missing or wrong") as refused:
        wrong.projects()
    assert refused.value.status == 401
    assert "wrong" not in repr(wrong)
    with pytest.raises(ValueError, match="token must be"):
        samekind.Client(server.url, "")
    with pytest.raises(ValueError, match="url must be like"):
        samekind.Client("ftp://kinds.example", "token")


def test_goes_on_when_the_server_comes_back(place, table):
    first = TeamServer({"rows": place})
    with first:
        client = client_of(first, place, patience=30)
        session = client.session("rows")
        assert not session.done
    told = []
    thread = threading.Thread(target=lambda: told.append(session.status()))
    thread.start()
    with TeamServer({"rows": place}, port=first.port):
        wait_for(lambda: told)
    thread.join()
    client.close()
    assert told[0].title == "rows.csv"


def test_gives_up_after_a_while():
    with pytest.raises(samekind.ServerError, match=r"http://127.0.0.1:9 cannot be reached") as gone:
        samekind.Client("http://127.0.0.1:9", "token", patience=0.3).projects()
    assert gone.value.status == 0
