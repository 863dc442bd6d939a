"""`samekind.client.Client`: a program that answers on a server."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import samekind.client
from conftest import honest
from samekind.ledger import Ledger
from samekind.project import NewCluster
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
    return samekind.client.Client(
        f"{server.url}/p/rows/#token={invite(place, who, role)}", **options
    )


def answer_all(clients, y, most=2000):
    for turn in range(most):
        client = clients[turn % len(clients)]
        questions = client.next()
        if questions:
            client.answer(questions[0].id, honest(questions[0], y))
        elif client.status().done:
            return


def labels_of(client, folder):
    client.export("clusters.npz", folder / "clusters.npz")
    return samekind.Clusters.load(folder / "clusters.npz").labels_


@pytest.mark.parametrize("sheet", [12])
def test_finds_the_kinds(table, tmp_path, sheet):
    y = table[1]
    place = make_at(tmp_path / "project.db", table[0], sheet=sheet)
    with TeamServer({"rows": place}) as server, client_of(server, place) as client:
        assert (client.who, client.role) == ("ann", "own")
        answer_all([client], y)
        assert client.status().done
        labels = labels_of(client, tmp_path)
    for kind in np.unique(y):
        assert np.unique(labels[y == kind]).size == 1
    with Ledger(place, read_only=True) as ledger:
        assert ledger.annotators == ["ann"]


def test_two_programs_give_two_opinions(table, tmp_path):
    y = table[1]
    place = make_at(tmp_path / "both.db", table[0], overlap=2)
    with ExitStack() as stack:
        server = stack.enter_context(TeamServer({"rows": place}))
        both = [stack.enter_context(client_of(server, place, who=who)) for who in ("ann", "bob")]
        for client, answer in zip(both, ("same", "different"), strict=True):
            [question] = client.next(lineup=False)
            client.answer(question.id, answer)
        [review] = both[0].reviews().reviews
        a, b = review.a.row, review.b.row
        both[0].settle(a, b, "same" if y[a] == y[b] else "different")
        assert both[0].reviews().reviews == []


def test_does_what_a_page_does(server, place, table, tmp_path):
    y = table[1]
    with client_of(server, place) as client:
        [question] = client.next(lineup=False)
        client.answer(question.id, NewCluster("first"))
        assert len(client.undo()) == 1
        assert client.undo() == []
        client.answer(client.next(lineup=False)[0].id, "skip")
        [skipped] = client.skipped()
        client.answer(skipped.id, honest(skipped, y))
        lines = [f"0,{k},{'same' if y[0] == y[k] else 'different'}" for k in range(1, 20)]
        assert client.import_answers("\n".join(["a,b,answer", *lines, ""])) >= 18
        overview = client.clusters()
        names = [cluster.cluster for cluster in overview.clusters][:2]
        client.rename(names[0], "nice")
        assert client.cluster(names[0]).name == "nice"
        client.merge(names)
        assert len(client.clusters().clusters) == len(overview.clusters) - 1
        client.place([59], names[0])
        assert 59 in [item.row for item in client.cluster(names[0], limit=200).members]
        newest = client.answers(limit=3).answers[0]
        client.correct(newest.a, newest.b, "unsure")
        assert client.item(7).row == 7
        assert client.export("answers.csv", tmp_path / "a.csv").startswith(b"a,b,answer")
        assert (tmp_path / "a.csv").read_bytes().startswith(b"a,b,answer")
        client.finish()
        assert client.status().stop_reason == "user"
        assert client.next() == []
        client.resume()
        assert not client.status().done


def test_owners_invite_and_revoke(server, place):
    """P32: through the Python client."""
    with client_of(server, place) as client:
        bobs, address = client.invite("bob", "answer", expires=4e9)
        assert (bobs.who, bobs.role, bobs.expires) == ("bob", "answer", 4e9)
        with samekind.client.Client(address) as other:
            assert other.who == "bob"
            assert other.next()
            with pytest.raises(samekind.client.ServerError, match="role is 'own'"):
                other.links()
            assert client.links()[-1] == bobs
            assert client.revoke(bobs.id).revoked is not None
            with pytest.raises(samekind.client.ServerError, match="revoked") as refused:
                other.next()
        assert refused.value.status == 401
        with pytest.raises(samekind.client.ServerError, match="no link 99"):
            client.revoke(99)
        with pytest.raises(samekind.client.ServerError, match="in the future"):
            client.invite("eve", expires=1.0)


def test_what_is_refused_is_said(server, place):
    with client_of(server, place, "answer") as client:
        with pytest.raises(samekind.client.ServerError, match="role is 'own'") as refused:
            client.export("answers.csv")
        assert refused.value.status == 403
        with pytest.raises(samekind.client.ServerError) as refused:
            client.answer("p-0-0", "same")
        assert refused.value.status == 409
    wrong = samekind.client.Client(f"{server.url}/p/rows/#token=wrong-one")
    with wrong, pytest.raises(samekind.client.ServerError, match="missing or wrong"):
        wrong.status()
    assert "wrong" not in repr(wrong)


@pytest.mark.parametrize(
    "link", ["", "ftp://kinds.example/p/a/#token=b", "https://kinds.example/#token=b",
             "https://kinds.example/p/a/", "https://kinds.example/p/a/#token="]
)  # fmt: skip
def test_what_is_no_link(link):
    with pytest.raises(ValueError, match="link must be"):
        samekind.client.Client(link)


def test_goes_on_when_the_server_comes_back(place):
    """P3: What is sent meanwhile is done once."""
    first = TeamServer({"rows": place})
    with first:
        client = client_of(first, place, patience=30)
        [question] = client.next(lineup=False)
    told = []

    def answer():
        client.answer(question.id, "different")
        told.append(client.status())

    thread = threading.Thread(target=answer)
    thread.start()
    with TeamServer({"rows": place}, port=first.port):
        wait_for(lambda: told)
    thread.join()
    client.close()
    assert told[0].presses == 1


def test_a_reply_that_is_lost_is_asked_for_again(server, place, monkeypatch):
    """P3: and done once."""
    with client_of(server, place) as client:
        [question] = client.next(lineup=False)
        send, lost = client._http.request, []

        def lose(method, *args, **options):
            reply = send(method, *args, **options)
            if method == "POST" and not lost:
                lost.append(reply)
                raise samekind.client.httpx.ReadTimeout("lost")
            return reply

        monkeypatch.setattr(client._http, "request", lose)
        client.answer(question.id, "different")
        assert lost[0].status_code == 200
        assert client.status().presses == 1


def test_gives_up_after_a_while():
    client = samekind.client.Client("http://127.0.0.1:9/p/a/#token=b", patience=0.3)
    with (
        client,
        pytest.raises(samekind.client.ServerError, match=r"127.0.0.1:9/p/a/ cannot be") as gone,
    ):
        client.status()
    assert gone.value.status == 0
