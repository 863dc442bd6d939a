"""`samekind.Client`: a program that answers on a server, with the methods of a local session."""

from __future__ import annotations

import inspect
import os
import re
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import samekind
from samekind.ledger import Ledger
from samekind.project import NewCluster, open_project
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
    with Ledger(place, read_only=True) as ledger:
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
            disputed = (
                both[0].reviews().reviews
            )  # a line-up takes one kind, and here two may be right
            for review in disputed:
                a, b = review.a.row, review.b.row
                both[0].settle_review(a, b, "same" if y[a] == y[b] else "different")
            if both[0].done and not disputed:
                break
        assert both[0].done
        labels = both[0].labels()
    for kind in np.unique(y):
        assert np.unique(labels[y == kind]).size == 1
    with Ledger(place, read_only=True) as ledger:
        assert {one.who for one in ledger.log.opinions.lines} == {"ann", "bob"}


def session_questions(ledger):
    return int(np.sum(ledger.active()["asked"]))


DOCS = Path(__file__).parent.parent / "docs" / "api-http.md"


def local_only():
    """Return the names of a local session that the documentation says are not there from afar."""
    table = DOCS.read_text("utf-8").partition("Local only, and why:")[2]
    cells = re.findall(r"^\| (`\w+`.*?) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def members(owner):
    """Return what is public, each with its signature; of a property that of what gets it."""
    public = {name: inspect.getattr_static(owner, name) for name in dir(owner) if name[0] != "_"}
    return {
        name: inspect.signature(value.fget if isinstance(value, property) else value)
        for name, value in public.items()
        if callable(value) or isinstance(value, property)
    }


def test_every_public_name_of_a_session_is_there_or_documented_as_local_only():
    local, remote, missing = (
        members(samekind.Session),
        members(samekind.RemoteSession),
        local_only(),
    )
    attributes = {name for name in vars(samekind.Session(np.eye(3))) if name[0] != "_"}
    assert {"ledger", "replay"} <= missing
    assert (local.keys() | attributes) - remote.keys() == missing
    for name in local.keys() - missing:
        own, afar = local[name], remote[name]
        assert afar.return_annotation == own.return_annotation, name
        assert afar.parameters.keys() == own.parameters.keys(), name
        for parameter in own.parameters.values():
            other = afar.parameters[parameter.name]
            assert (other.kind, other.annotation) == (parameter.kind, parameter.annotation), name
            if (name, parameter.name) != ("undo", "together"):  # a server knows acts alone
                assert other.default == parameter.default, name


def test_has_the_methods_of_a_project():
    of_projects = {"next", "answer", "status", "item", "overview", "cluster", "answers"}
    of_projects |= {"rename", "merge", "correct", "import_answers", "export", "skipped"}
    of_projects |= {"reviews", "annotators"}
    assert of_projects <= set(dir(samekind.RemoteSession))


def by_first(clusters):
    return sorted(sorted(rows) for rows in clusters if rows)


def test_says_what_a_local_session_says(server, place, table):
    y = table[1]
    rows = np.arange(len(y))
    with client_of(server, place).session("rows") as session:
        for _ in range(25):
            pairs = session.pending()
            session.tell(pairs[:1, ::-1], [y[a] == y[b] for a, b in pairs[:1]], who="ann")
        assert session.who == "ann"
        with closing(open_project(place, read_only=True)) as project:
            local = project.session
            assert session.algorithm == local.algorithm
            assert session.seed == local.seed
            assert session.n_questions == local.n_questions == 25
            assert session.n_known == local.n_known
            assert session.budget == project.standing.budget
            now, there = session.progress, local.progress
            counted = ("questions", "samples", "discovered", "recovered", "rounds", "target")
            assert [getattr(now, n) for n in counted] == [getattr(there, n) for n in counted]
            assert now.seconds > 0
            assert session.history.keys() == local.history.keys()
            for name, values in local.history.items():
                assert session.history[name][-1] == values[-1]
            np.testing.assert_allclose(session.confidence(rows), local.confidence(rows), atol=1e-4)
            assert by_first(session.known_clusters()) == by_first(local.known_clusters())
            known = session.known_clusters()
            for row, cluster in enumerate(session.places_of(rows).tolist()):
                assert sorted(session.members_of(row)) == sorted(local.members_of(row))
                assert session.members_of(row) == (known[cluster] if cluster >= 0 else [])
            assert sorted(session.rank_clusters(7)) == sorted(local.rank_clusters(7))
            assert session.clusters() is session.clusters()  # nothing has changed


def test_contradictions_are_those_of_a_local_session(server, place):
    with (
        client_of(server, place).session("rows") as ann,
        client_of(server, place, who="bob").session("rows") as bob,
    ):
        ann.learn([(0, 1), (1, 2)], [samekind.SAME, samekind.SAME])
        assert (ann.n_contradictions, ann.contradictions) == (0, [])
        bob.learn([(0, 2)], [samekind.DIFFERENT], who="bob")
        [found] = ann.contradictions
        assert ann.n_contradictions == 1
        with closing(open_project(place, read_only=True)) as project:
            assert [found] == project.session.contradictions
            assert ann.reliability() == project.session.reliability() != []
        assert [one.name for one in ann.annotators().annotators] == ["ann", "bob"]


def said_of_pairs(session):
    return {(one.a, one.b): one.answer for one in session.answers().answers}


def test_changes_answers_and_takes_back_acts(server, place):
    with client_of(server, place).session("rows") as session:
        assert session.learn([(0, 1), (2, 3)], [samekind.SAME, samekind.UNSURE]) is None
        assert session.learn([], []) is None
        assert said_of_pairs(session) == {(0, 1): "same"}
        session.change(np.array([(0, 1), (4, 5)]), [samekind.DIFFERENT, samekind.SAME])
        assert said_of_pairs(session) == {(0, 1): "different", (4, 5): "same"}
        session.change([(4, 5)], [samekind.UNSURE])
        assert said_of_pairs(session)[4, 5] == "unsure"
        assert (session.undo(), session.undo(1, who="ann", together=True)) == (1, 1)
        assert said_of_pairs(session) == {(0, 1): "same"}
        session.correct(np.int64(0), np.int64(1), "unsure")
        assert said_of_pairs(session) == {(0, 1): "unsure"}
        with pytest.raises(ValueError, match="charged for"):
            session.change([(0, 1)], [True], asked=True)
        with pytest.raises(ValueError, match="acts are taken back whole"):
            session.undo(together=False)
        with pytest.raises(ValueError, match="reason is 'tired'"):
            session.stop("tired")
        session.stop("user")
        assert session.stop_reason == "user"


def test_speaks_for_nobody_else(server, place):
    with client_of(server, place).session("rows") as session:
        pairs = session.pending()
        for act in (session.tell, session.learn, session.change):
            with pytest.raises(ValueError, match="who is 'bob', but this is the link of 'ann'"):
                act(pairs, [True] * len(pairs), who="bob")
        with pytest.raises(ValueError, match="who is 'bob'"):
            session.undo(who="bob")
        with pytest.raises(ValueError, match="answered twice"):
            session.tell([pairs[0], pairs[0, ::-1]], [True, False])
        assert session.answers().total == 0


@pytest.mark.parametrize("settings", [{}, {"sheet": 12}, {"overlap": 2}])
def test_what_is_free_is_not_charged(table, tmp_path, settings):
    y = table[1]
    place = make_at(tmp_path / "free.db", table[0], **settings)
    with (
        TeamServer({"rows": place}) as server,
        client_of(server, place).session("rows") as session,
    ):
        for _ in range(3):
            pairs = session.pending()
            session.tell(pairs, [y[a] == y[b] for a, b in pairs], free=True)
        assert session.n_questions == 0
        assert session.n_known > 1
        pairs = session.pending()
        session.tell(pairs[:1], [samekind.UNSURE], free=[True])
        assert session.n_questions == 0
        if "overlap" not in settings:  # or else somebody else may know
            [skipped] = session.skipped()
            assert {skipped.a.row, skipped.b.row} == set(pairs[0].tolist())
            session.answer(skipped.id, "different")
            assert session.skipped() == []
            assert session.n_questions == 1


def test_owners_invite_and_revoke(server, place):
    with client_of(server, place).session("rows") as session:
        bobs, address = session.invite("bob", "answer", expires=4e9)
        assert (bobs.who, bobs.role, bobs.expires, bobs.digest) == ("bob", "answer", 4e9, "")
        with samekind.Client(address) as client, client.session("rows") as other:
            assert other.who == "bob"
            assert len(other.pending())
            with pytest.raises(samekind.ServerError, match="role is 'own'"):
                other.links()
            with pytest.raises(samekind.ServerError, match="role is 'own'"):
                other.known_clusters()
            assert session.links()[-1] == bobs
            assert session.revoke(bobs.id).revoked is not None
            with pytest.raises(samekind.ServerError, match="revoked"):
                other.pending()
        assert not session.links()[-1].holds(0.0)
        with pytest.raises(samekind.ServerError, match="no link 99"):
            session.revoke(99)
        with pytest.raises(samekind.ServerError, match="in the future"):
            session.invite("eve", expires=1.0)


def test_reviews_are_settled(table, tmp_path):
    place = make_at(tmp_path / "two.db", table[0], overlap=2)
    with ExitStack() as stack:
        server = stack.enter_context(TeamServer({"rows": place}))
        for who, answer in (("ann", "same"), ("bob", "different")):
            session = stack.enter_context(client_of(server, place, who=who).session("rows"))
            [question] = session.next()
            session.answer(question.id, answer)
        [review] = session.reviews().reviews
        session.settle_review(review.a.row, review.b.row, "different")
        assert session.reviews().reviews == []


def test_what_a_page_does(server, place, table):
    y = table[1]
    with client_of(server, place).session("rows") as session:
        [question] = session.next()
        assert question.type == "pair"
        session.answer(question.id, NewCluster("first"))
        assert session.undo() == 1
        assert session.undo() == 0
        session.learn([[0, k] for k in range(1, 20)], [y[0] == y[k] for k in range(1, 20)])
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
