"""What no client can take from the others: connections and time. Real sockets, bounded waits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import httpx

from samekind.data import load
from samekind.project import Project
from samekind.web import guard
from samekind.web import server as web_server
from serving import BEARER, PAGE, TOKEN
from test_web_api import Serving, wait_until

CSV = {"Content-Type": "text/csv"}
HEAD = b"GET /p/rows/api/status HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %b\r\n\r\n"
HALF_A_BODY = (
    b"POST /p/rows/api/answers HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %b\r\n"
    b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("bounds") / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k % 3}.{k},{k}\n" for k in range(45)))
    return load(path)


@pytest.fixture
def server(rows):
    with Serving(Project(rows, random_state=0)) as server:
        yield server


@pytest.fixture
def hurried(monkeypatch):
    """Servers without patience."""
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(web_server, "UNREAD_SECONDS", 1)


@contextlib.contextmanager
def crowd(port, size, sent=b"", answered=False):
    """Hold so many connections that have sent this much, and perhaps were answered."""
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(size):
            held.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), 20)))
            if sent:
                held[-1].sendall(sent)
            if answered:
                assert held[-1].recv(65536).startswith(b"HTTP/1.1 200")
        yield held


def is_closed(connection, within=20.0):
    """Return whether the other side hangs up; fails if it does not in time."""
    connection.settimeout(within)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


class TestConnections:
    """P33: clients that are slow, silent or many."""

    @pytest.mark.usefixtures("hurried")
    @pytest.mark.parametrize("sent", [b"", b"GET / HT"], ids=["nothing", "half a line"])
    def test_one_that_says_nothing_is_closed(self, rows, sent):
        with serve(rows) as server, crowd(server.port, 3, sent) as held:
            assert all(map(is_closed, held))
            assert server.get("/api/status")

    @pytest.mark.usefixtures("hurried")
    def test_a_head_that_comes_in_drops_is_not_waited_for(self, rows):
        with (
            serve(rows) as server,
            crowd(server.port, 1) as [slow],
            contextlib.suppress(OSError),
        ):
            for letter in HEAD * 20:
                slow.sendall(bytes([letter]))
                slow.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    assert slow.recv(1000) == b""
                    break
            else:
                pytest.fail("it is still waiting")

    @pytest.mark.usefixtures("hurried")
    @pytest.mark.parametrize("more", [b"", b"G"], ids=["kept alive", "a byte more"])
    def test_one_that_was_answered_is_closed_after_a_while(self, rows, more):
        with serve(rows) as server, crowd(server.port, 1, asking(HEAD, server)) as [kept]:
            kept.settimeout(20)
            assert kept.recv(65536).startswith(b"HTTP/1.1 200")
            kept.sendall(more)
            assert is_closed(kept)

    @pytest.mark.usefixtures("hurried")
    def test_a_body_that_does_not_come_is_not_waited_for(self, server, monkeypatch):
        monkeypatch.setattr(guard, "PATIENCE", 0.3)
        with crowd(server.port, 1, asking(HALF_A_BODY, server)) as [slow]:
            slow.settimeout(20)
            assert slow.recv(65536).startswith(b"HTTP/1.1 408")
            assert is_closed(slow)

    @pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only on Linux")
    @pytest.mark.usefixtures("hurried")
    def test_one_that_does_not_read_the_reply_is_closed(self):
        gone = threading.Event()

        async def endless(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            listening = asyncio.ensure_future(receive())
            await asyncio.sleep(0)
            while not (listening.done() and listening.result()["type"] == "http.disconnect"):
                if listening.done():
                    listening = asyncio.ensure_future(receive())
                await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
                await asyncio.sleep(0)
            gone.set()

        with running(endless) as port, crowd(port, 1, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"):
            assert gone.wait(30)

    @pytest.mark.usefixtures("hurried")
    def test_too_many_are_told_to_come_back(self, rows, monkeypatch):
        """And those that say nothing make room in a while."""
        monkeypatch.setattr(web_server, "CONNECTIONS", 20)
        with serve(rows) as server, crowd(server.port, 25):
            time.sleep(0.1)
            assert httpx.get(f"{server.url}/healthz", timeout=20).status_code == 503
            wait_until(lambda: httpx.get(f"{server.url}/healthz", timeout=20).status_code == 200)


def serve(rows):
    return Serving(Project(rows, random_state=0))


def asking(request, server):
    return request % (server.port, TOKEN.encode())


@contextlib.contextmanager
def running(app):
    """Serve any application as the page is served; yield its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    with web_server.Server(app, listening, patience=1):
        yield port


class TestImports:
    def test_others_go_on_meanwhile(self, server):
        """P3, P8: how long anybody waits, beside how long the import takes."""
        lines = "".join(
            f"{k % 40},{(k % 40 + 1 + k // 40 % 4) % 45},different\n" for k in range(800_000)
        )
        done, waits = [], []

        def send():
            began = time.perf_counter()
            reply = server.post(
                "/api/answers/import", content=f"a,b,answer\n{lines}".encode(), headers=CSV
            )
            done.append((time.perf_counter() - began, reply["imported"]))

        importing = threading.Thread(target=send)
        with httpx.Client(base_url=server.url + PAGE, headers=BEARER, timeout=60) as other:

            def skip():
                began = time.perf_counter()
                [question] = other.get("/api/next?lineup=false").json()["questions"]
                said = {"id": question["id"], "answer": "skip"}
                assert other.post("/api/answers", json=said).status_code in (200, 409)
                waits.append(time.perf_counter() - began)

            skip()  # what is done once
            waits.clear()
            importing.start()
            while not done:
                skip()
                if len(waits) > 10:
                    time.sleep(0.01)
            importing.join(60)
        [(took, imported)] = done
        assert 0 < imported <= 160
        assert len(waits) > 3
        assert max(waits) < took / 2

    def test_the_last_answer_to_a_pair_counts(self, server):
        text = "a,b,answer\n1,2,same\n2,1,different\n3,4,same\n4,3,unsure\n5,6,unsure\n"
        assert (
            server.post("/api/answers/import", content=text.encode(), headers=CSV)["imported"] == 2
        )
        answers = server.get("/api/answers")["answers"]
        assert {(s["a"], s["b"]): s["answer"] for s in answers} == {
            (2, 1): "different",
            (3, 4): "same",
        }
