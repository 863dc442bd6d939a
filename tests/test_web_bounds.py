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
import uvicorn

from samekind.data import load
from samekind.project import Project
from samekind.web import connections, guard
from samekind.web.server import configure
from test_web_api import Serving, wait_until

CSV = {"Content-Type": "text/csv"}
TOKEN = "a-long-and-secret-token"
HEAD = b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"
HALF_A_BODY = (
    b"POST /api/answers HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Samekind: 1\r\n"
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
def guarded(rows):
    with Serving(Project(rows, random_state=0), token=TOKEN) as server:
        yield server


@pytest.fixture
def hurried(monkeypatch):
    """A server without patience."""
    monkeypatch.setattr(connections, "PATIENCE", dict.fromkeys(connections.PATIENCE, 0.5))


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


def other_address(port):
    """Return a client at another address of this machine."""
    with contextlib.closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this machine has only one address of its own")
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=20)


class TestConnections:
    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"GET /api/status HTTP/1.1\r\nHost: ",
            HALF_A_BODY,
            HEAD,
        ],
        ids=["idle", "half a head", "half a body", "kept alive"],
    )
    def test_a_crowd_shuts_nobody_out(self, server, sent):
        sent = sent % server.port if b"%d" in sent else sent
        answered = sent.endswith(b"\r\n\r\n")
        with crowd(server.port, connections.MOST + 50, sent, answered):
            for _ in range(3):
                with httpx.Client(base_url=server.url, timeout=20) as newcomer:
                    assert newcomer.get("/api/status").status_code == 200

    @pytest.mark.usefixtures("hurried")
    @pytest.mark.parametrize("sent", [b"", b"GET / HT"], ids=["nothing", "half a line"])
    def test_who_says_nothing_is_hung_up_on(self, server, sent):
        with crowd(server.port, 3, sent) as held:
            assert all(map(is_closed, held))
            assert server.get("/api/status")

    @pytest.mark.usefixtures("hurried")
    def test_a_head_that_comes_in_drops_is_not_waited_for(self, server):
        with crowd(server.port, 1) as [slow], contextlib.suppress(OSError):
            for letter in HEAD * 20:
                slow.sendall(bytes([letter]))
                slow.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    assert slow.recv(1000) == b""
                    break
            else:
                pytest.fail("it is still waiting")

    def test_a_body_that_does_not_come_is_not_waited_for(self, server, monkeypatch):
        monkeypatch.setattr(guard, "PATIENCE", 0.3)
        with crowd(server.port, 1, HALF_A_BODY % server.port) as [slow]:
            slow.settimeout(20)
            assert slow.recv(65536).startswith(b"HTTP/1.1 408")
            assert is_closed(slow)

    @pytest.mark.usefixtures("hurried")
    def test_a_byte_after_an_answer_buys_no_time(self, server):
        with crowd(server.port, 1, HEAD % server.port) as [kept]:
            kept.settimeout(20)
            assert kept.recv(65536).startswith(b"HTTP/1.1 200")
            kept.sendall(b"G")
            assert is_closed(kept)

    @pytest.mark.usefixtures("hurried")
    def test_who_does_not_take_the_answer_is_hung_up_on(self):
        gone = threading.Event()

        async def endless(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            listening = asyncio.ensure_future(receive())
            try:
                for _ in range(100_000):
                    await send(
                        {"type": "http.response.body", "body": bytes(65536), "more_body": True}
                    )
                    done, _ = await asyncio.wait([listening], timeout=0)
                    if done and listening.result()["type"] == "http.disconnect":
                        gone.set()
                        return
                    if done:
                        listening = asyncio.ensure_future(receive())
            finally:
                listening.cancel()

        with running(endless) as port, crowd(port, 1, HEAD % port):
            assert gone.wait(20)

    def test_those_who_are_being_answered_are_never_closed_for_others(self):
        come, enough = [], threading.Event()

        async def slow(scope, receive, send):
            if scope["path"] == "/slow":
                come.append(scope["client"])
                while not enough.is_set():
                    await asyncio.sleep(0.01)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

        with running(slow) as port:
            asked = b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            with crowd(port, connections.MOST_OF_ONE_ADDRESS, asked) as held:
                wait_until(lambda: len(come) == connections.MOST_OF_ONE_ADDRESS)
                refused = httpx.get(f"http://127.0.0.1:{port}/", timeout=20)
                assert refused.status_code == 503
                assert refused.json()["error"].startswith("The server is busy")
                assert refused.headers["retry-after"] == "5"
                try:
                    with other_address(port) as other:
                        assert other.get("/").text == "done"
                finally:
                    enough.set()
                for connection in held:
                    connection.settimeout(20)
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200")

    def test_a_network_of_one_counts_as_one(self):
        assert connections.network_of("2001:db8::1") == connections.network_of("2001:db8::ffff:2")
        assert connections.network_of("2001:db8::1") != connections.network_of("2001:db8:0:1::1")
        assert connections.network_of("fe80::1%eth0") == "fe80::/64"
        assert connections.network_of("testclient") == "testclient"


@contextlib.contextmanager
def running(app):
    """Serve any application as the page is served; yield its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configure(app))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)


class TestImports:
    def test_others_go_on_meanwhile(self, server):
        """How long anybody waits, beside how long the import takes."""
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
        with httpx.Client(base_url=server.url, headers={"X-Samekind": "1"}, timeout=60) as other:

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
