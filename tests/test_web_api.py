"""The server of the labelling page: every route, over a real socket, with a real project."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import quote

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "schemathesis"):
        pytest.importorskip(package)

import httpx
import schemathesis
import sqlalchemy as sa
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, settings

import samekind
import serving
from conftest import blobs
from samekind import Ledger
from samekind.data import demo_items, load
from samekind.project import Project, find_export
from samekind.web.server import ServeError, hosts_of, listen
from samekind.web.site import HostedProject
from serving import BEARER, NAME, PAGE, TOKEN, app_of, app_of_hosted, good
from teams import truth as say

DIGITS = samekind.datasets.load_digits().target
SCHEMA = schemathesis.openapi.from_dict(app_of(None).openapi())
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.status_code_conformance,
]
EVIL = '<script>alert("1")</script>'


class Serving(serving.Serving):
    """That, with somebody who answers."""

    def label(self, y, clicks, **query):
        """Answer so many questions by the labels; return the reply to the last one."""
        reply = self.get("/api/next", params=query)
        for _ in range(clicks):
            if not reply["questions"]:
                break
            question = reply["questions"][0]
            said = {"id": question["id"], "answer": say(question, y)}
            reply = self.post("/api/answers", json=said, params=query)
            assert reply["saved"] is True
        return reply


def wait_until(holds, seconds=20.0):
    """Wait for what a server does after its answer has arrived."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def rows_of(question):
    if question["type"] == "pair":
        return {question["a"]["row"], question["b"]["row"]}
    if question["type"] == "sheet":
        return {question["cluster"]["cluster"], *(item["row"] for item in question["items"])}
    return {question["item"]["row"], *(o["cluster"] for o in question["options"])}


OF_RECORDS = (
    "dedupe.json",
    "entities.csv",
    "golden.csv",
    "golden_sources.csv",
    "pairs.csv",
    "splink.csv",
)


@pytest.fixture(scope="module")
def digits():
    return demo_items()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three kinds of rows, with a text column that is up to no good."""
    X, y = blobs((20, 15, 10), seed=2)
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    lines = [f'{a:.6f},{b:.6f},"{EVIL.replace(chr(34), chr(34) * 2)}"' for a, b in X]
    path.write_text("\n".join(["x,y,note", *lines]) + "\n")
    return load(path, exclude=["note"], show=["x", "y", "note"]), y


@pytest.fixture
def small(table, tmp_path):
    things, y = table
    with Serving(Project(things, tmp_path / "small.db", random_state=0, sheet=0)) as server:
        server.y = y
        yield server


@pytest.fixture(scope="module")
def labelled(digits, tmp_path_factory):
    """Digits, 60 clicks in; for what only reads."""
    path = tmp_path_factory.mktemp("labelled") / "digits.db"
    with Serving(Project(digits, path, random_state=0)) as server:
        server.label(DIGITS, 60)
        yield server


class TestAsking:
    def test_the_state(self, small):
        state = small.get("/api/status")
        assert state | {"revision": 0, "stop_text": ""} == {
            "title": "rows.csv",
            "medium": "row",
            "n_rows": 45,
            "presses": 0,
            "questions": 0,
            "budget": None,
            "clusters": 0,
            "known_rows": 0,
            "done": False,
            "stop_reason": None,
            "stop_text": "",
            "stopping": state["stopping"],
            "can_undo": False,
            "skipped": 0,
            "contradictions": 0,
            "version": samekind.__version__,
            "records": False,
            "lineups": True,
            "sheets": False,
            "criterion": "",
            "project": state["project"],
            "uncompared": ["note"],
            "model": "",
            "revision": 0,
        }
        assert not state["stopping"]["safe"]
        assert state["stopping"]["text"].startswith("Not safe to stop yet")

    def test_a_reload_lands_on_the_same_question(self, small):
        """P5: by HTTP."""
        first = small.get("/api/next?most=3")
        assert small.get("/api/next?most=3")["questions"] == first["questions"]
        assert 1 <= len(first["questions"]) <= 3

    def test_a_question_shows_its_things(self, small):
        [question] = small.get("/api/next?lineup=false")["questions"]
        assert question["type"] == "pair"
        assert question["skipped"] is False
        for side in (question["a"], question["b"]):
            assert set(side) == {"row", "title", "text", "fields", "has_picture", "copies"}
            assert side["has_picture"] is False
            assert ["note", EVIL] in side["fields"]

    def test_an_answer_is_on_disk_when_the_page_is_told(self, small, tmp_path):
        """P1, P16: saved is said when it is in the file."""
        for count in range(1, 12):
            [question] = small.get("/api/next?lineup=false")["questions"]
            answer = say(question, small.y)
            reply = small.post(
                "/api/answers?lineup=false", json={"id": question["id"], "answer": answer}
            )
            assert reply["saved"] is True
            assert reply["status"]["questions"] == count
            with Ledger(tmp_path / "small.db") as ledger:
                last = list(ledger.lines())[-1]
            assert {last.a, last.b} == rows_of(question)
            assert last.answer == (answer == "same")
            assert question["id"] not in [q["id"] for q in reply["questions"]]

    def test_to_the_end(self, small):
        reply = small.label(small.y, 1000)
        assert reply["questions"] == []
        assert reply["status"]["done"] is True
        assert reply["status"]["clusters"] == 3
        assert reply["status"]["stop_reason"]
        assert reply["status"]["stop_text"]

    def test_line_ups(self, digits):
        with Serving(Project(digits, random_state=0)) as server:
            seen = []
            reply = server.get("/api/next")
            while len(seen) < 3:
                [question] = reply["questions"]
                if question["type"] == "lineup":
                    seen.append(question)
                    assert len(question["options"]) >= 2
                    assert all(1 <= len(o["members"]) <= 3 for o in question["options"])
                before = reply["status"]
                said = {"id": question["id"], "answer": say(question, DIGITS)}
                reply = server.post("/api/answers", json=said)
                assert reply["status"]["presses"] == before["presses"] + 1
                assert reply["status"]["presses"] < 300

    def test_what_is_not_open_is_told_with_what_is(self, small):
        """P4: an answer to a closed question is refused."""
        [question] = small.get("/api/next?lineup=false")["questions"]
        said = {"id": question["id"], "answer": "different"}
        after = small.post("/api/answers?lineup=false", json=said)
        again = small.client.post("/api/answers?lineup=false", json=said)
        assert again.status_code == 409
        assert "not open any more" in again.json()["error"]
        assert again.json()["questions"] == after["questions"]
        assert again.json()["status"] == after["status"]

    def test_what_is_not_an_answer(self, small):
        for body, status in (
            ({"id": "q-1-2", "answer": "same"}, 400),
            ({"id": "p-1-2", "answer": "maybe"}, 422),
            ({"id": "p-1-2", "answer": True}, 422),
            ({"id": "p-1-2"}, 422),
            ({"id": "p-1-2", "answer": "same", "admin": True}, 422),
        ):
            response = small.client.post("/api/answers", json=body)
            assert response.status_code == status
            assert list(response.json()) == ["error"]
        assert small.get("/api/status")["questions"] == 0

    def test_undo_as_deep_as_one_likes(self, small):
        """P2: down to the first question."""
        first = small.get("/api/next")["questions"]
        small.label(small.y, 7)
        reply = small.post("/api/undo", json={"count": 2})
        assert len(reply["undone"]) == 2
        assert reply["status"]["presses"] == 5
        reply = small.post("/api/undo", json={"count": 100})
        assert len(reply["undone"]) == 5
        assert reply["questions"] == first
        assert reply["status"]["can_undo"] is False
        assert small.post("/api/undo", json={})["undone"] == []

    def test_skip_and_come_back(self, small):
        """P4: a skip is an answer."""
        [question] = small.get("/api/next?lineup=false")["questions"]
        reply = small.post("/api/answers", json={"id": question["id"], "answer": "skip"})
        assert reply["status"]["skipped"] == 1
        assert reply["status"]["questions"] == 0
        [back] = small.get("/api/skipped?most=20")["questions"]
        assert back["skipped"] is True
        assert rows_of(back) == rows_of(question)
        said = {"id": back["id"], "answer": say(back, small.y)}
        assert small.post("/api/answers", json=said)["status"]["skipped"] == 0
        assert small.get("/api/skipped")["questions"] == []

    def test_who_answered(self, small, tmp_path):
        name = "Žofie 李"
        who = {"X-Samekind-Who": quote(name)}
        [question] = small.get("/api/next?lineup=false", headers=who)["questions"]
        said = {"id": question["id"], "answer": "different"}
        small.post("/api/answers", json=said, headers=who)
        assert small.get("/api/answers")["answers"][0]["who"] == name
        with Ledger(tmp_path / "small.db") as ledger:
            assert list(ledger.lines())[-1].who == name
        assert small.post("/api/undo", json={}, headers={"X-Samekind-Who": "ann"})["undone"] == []

    def test_what_is_not_a_name(self, small):
        for who in ("%FF", "a" * 101, "a%0d%0aSet-Cookie:%20x=1", "%00"):
            response = small.client.get("/api/next", headers={"X-Samekind-Who": who})
            assert response.status_code == 422
            assert list(response.json()) == ["error"]

    def test_contradictions_show_their_pairs(self, small):
        """P4: with all answers that make them."""
        csv = "a,b,answer\n0,1,same\n1,2,same\n0,2,different\n"
        small.post("/api/answers/import", content=csv, headers={"Content-Type": "text/csv"})
        assert small.get("/api/status")["contradictions"] == 1
        [found] = small.get("/api/contradictions")["contradictions"]
        assert found["text"]
        assert {frozenset((p["a"]["row"], p["b"]["row"])) for p in found["pairs"]} == {
            frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2))
        }

    def test_import(self, small):
        csv = "\ufeffa,b,answer\r\n0,1,same\r\n1,2,different\r\n"
        typed = {"Content-Type": "text/csv"}
        reply = small.post("/api/answers/import", content=csv.encode(), headers=typed)
        assert reply["imported"] == 2
        assert reply["status"]["can_undo"] is True
        for wrong, status in ((b"a,b\n0,1\n", 400), (b"\xff\xfe", 422), (b"", 422)):
            response = small.client.post("/api/answers/import", content=wrong, headers=typed)
            assert response.status_code == status
            assert list(response.json()) == ["error"]


def try_input(server, case):
    """Send what schemathesis made up; every other time with numbers and ids that are there."""
    n = server.project.items.n
    for name in ("row", "cluster"):
        value = (case.path_parameters or {}).get(name)
        if isinstance(value, int) and value % 2:
            case.path_parameters[name] = value % n
    if isinstance(case.body, dict):
        for name in ("a", "b"):
            value = case.body.get(name)
            if isinstance(value, int) and value % 2:
                case.body[name] = value % n
        for name in ("rows", "clusters"):
            values = case.body.get(name)
            if isinstance(values, list):
                case.body[name] = [v % n if isinstance(v, int) and v % 2 else v for v in values]
        if isinstance(case.body.get("id"), str) and len(case.body["id"]) % 2:
            open_questions = server.get("/api/next")["questions"]
            if open_questions:
                case.body["id"] = open_questions[0]["id"]
    case.path_parameters = {**(case.path_parameters or {}), "project": NAME}
    response = case.call(base_url=server.url, headers=BEARER)
    if (
        response.content == b"Invalid HTTP request received."
    ):  # by Uvicorn: it never reached the API
        assert response.status_code == 400
        return
    case.validate_response(response, checks=CHECKS)


@pytest.fixture(scope="module")
def tried(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("tried") / "tried.db"
    with Serving(Project(table[0], path, random_state=0)) as server:
        yield server


@SCHEMA.parametrize()
@settings(max_examples=4, suppress_health_check=list(HealthCheck))  # many: test_web_slow.py
def test_no_input_breaks_it(case, tried):
    """P33: no input that the schema allows or forbids is a fault of the server."""
    try_input(tried, case)


class TestFound:
    def test_kinds(self, labelled):
        found = labelled.get("/api/clusters?members=5")
        assert set(found) == {
            *("clusters", "unplaced", "certificate", "notes", "stopping", "revision")
        }
        assert len(found["clusters"]) == labelled.get("/api/status")["clusters"]
        for kind in found["clusters"]:
            assert 1 <= len(kind["members"]) <= 5
            assert kind["known"] <= kind["estimated"]
            assert kind["cluster"] in range(1797)
            assert all(thing["has_picture"] for thing in kind["members"] + kind["doubtful"])

    def test_a_kind_page_by_page(self, labelled):
        kind = labelled.get("/api/clusters")["clusters"][0]["cluster"]
        first = labelled.get(f"/api/clusters/{kind}?limit=5")
        second = labelled.get(f"/api/clusters/{kind}?limit=5&offset=5")
        assert first["total"] > 10
        rows = [member["row"] for member in first["members"] + second["members"]]
        assert len(set(rows)) == 10
        assert first["members"][0]["known"] is True
        assert labelled.get(f"/api/clusters/{kind}?offset=100000")["members"] == []

    @pytest.mark.parametrize("path", ["/api/clusters?members=5", "/api/map"])
    def test_what_has_not_changed_is_not_sent(self, small, path):
        small.label(small.y, 4)
        tag = small.client.get(path).headers["ETag"]
        again = small.client.get(path, headers={"If-None-Match": f'"x", W/{tag}'})
        assert again.status_code == 304
        assert again.content == b""
        assert small.client.get(path, headers={"If-None-Match": '"x"'}).status_code == 200
        small.label(small.y, 1)
        changed = small.client.get(path, headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert changed.headers["ETag"] != tag

    def test_merge_and_remove(self, small):
        small.label(small.y, 1000)
        kinds = [found["cluster"] for found in small.get("/api/clusters")["clusters"]]
        assert len(kinds) == 3
        small.post("/api/clusters/merge", json={"clusters": kinds[:2]})
        assert len(small.get("/api/clusters")["clusters"]) == 2
        small.post("/api/undo", json={"count": 1})
        assert len(small.get("/api/clusters")["clusters"]) == 3
        page = small.get(f"/api/clusters/{kinds[0]}")
        known = [member["row"] for member in page["members"] if member["known"]]
        small.post(f"/api/clusters/{kinds[0]}/remove", json={"rows": known[-1:]})
        members = small.get(f"/api/clusters/{kinds[0]}?limit=200")["members"]
        assert known[-1] not in [member["row"] for member in members]

    def test_the_map(self, labelled):
        found = labelled.get("/api/map")
        assert 100 < len(found["rows"]) <= 2000
        assert len(found["clusters"]) == labelled.get("/api/status")["clusters"]
        columns = [found[name] for name in ("x", "y", "place", "known", "rows")]
        for x, y, place, known, row in zip(*columns, strict=True):
            assert 0 <= x <= 1 >= y >= 0
            assert -1 <= place < len(found["clusters"])
            assert known in (False, True)
            assert 0 <= row < 1797

    def test_presses_can_be_searched(self, labelled):
        found = labelled.get("/api/presses?limit=5")
        assert (len(found["presses"]), found["total"]) == (5, 60)
        first = found["presses"][0]["pairs"][0]
        some = labelled.get(f"/api/presses?search={first['a']['title']}")
        assert 0 < some["total"] <= 60
        assert labelled.get("/api/presses?search=nothing%20such")["total"] == 0


class TestFiles:
    def test_a_thing(self, labelled):
        thing = labelled.get("/api/items/7")
        assert thing["row"] == 7
        assert thing["has_picture"] is True
        response = labelled.client.get("/api/items/1797")
        assert response.status_code == 404
        assert response.json() == {"error": "There is no row 1797; the last one is 1796."}

    @pytest.mark.parametrize("size", ["small", "large"])
    def test_a_picture(self, labelled, size):
        response = labelled.client.get(f"/api/items/7/picture?size={size}")
        assert response.status_code == 200
        assert response.headers["Content-Type"] in ("image/png", "image/jpeg", "image/webp")
        assert response.headers["Cache-Control"].startswith("private")
        again = labelled.client.get(
            f"/api/items/7/picture?size={size}",
            headers={"If-None-Match": response.headers["ETag"]},
        )
        assert again.status_code == 304

    def test_what_only_records_have_is_refused(self, labelled):
        for name in OF_RECORDS:
            response = labelled.client.get(f"/api/export/{name}")
            assert response.status_code == 400

    @pytest.mark.parametrize(
        "name", ["answers.csv", "clusters.json", "clusters.npz", "report.html"]
    )
    def test_exports(self, labelled, name, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        response = labelled.client.get(f"/api/export/{name}")
        assert response.status_code == 200
        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert response.headers["Content-Type"].split(";")[0] == find_export(name).media_type
        assert response.headers["Cache-Control"] == "no-store"
        assert len(response.content) > (
            100 if name != "opinions.csv" else 10
        )  # nobody gave a second one
        wait_until(lambda: not list(tmp_path.iterdir()))
        if name == "report.html":
            assert "Content-Security-Policy" in response.text
        if name == "clusters.json":
            json.loads(response.text)

    def test_the_page_and_its_files(self, small):
        page = small.client.get("/")
        assert page.status_code == 200
        assert page.headers["Content-Type"].startswith("text/html")
        script = httpx.get(f"{small.url}/static/api.js")
        assert script.headers["Content-Type"].startswith("text/javascript")
        for response in (page, script):
            again = small.client.get(
                response.url, headers={"If-None-Match": response.headers["ETag"]}
            )
            assert again.status_code == 304

    def test_there_are_no_documents_from_elsewhere(self, small):
        """P31: which would load scripts."""
        for path in ("/docs", "/redoc", "/docs/oauth2-redirect", f"{PAGE}/docs"):
            assert httpx.get(small.url + path).status_code == 404


class TestErrors:
    def test_a_full_disk_acknowledges_nothing(self, small):
        """P1: and the question stays open."""
        pages = [1]

        def limit(connection):
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages[0]}")

        sa.event.listen(small.project.session.ledger.store._engine, "begin", limit)
        small.client.headers["X-Samekind-Who"] = quote("長" * 100)  # fills a page soon
        reply, response = small.get("/api/next?lineup=false"), None
        while response is None or response.status_code == 200:
            question = reply["questions"][0]
            said = {"id": question["id"], "answer": say(question, small.y)}
            response = small.client.post("/api/answers?lineup=false", json=said)
            reply = response.json()
        assert response.status_code == 503
        assert "full" in reply["error"]
        assert list(reply) == ["error"]
        pages[0] = 2**30
        assert small.get("/api/next?lineup=false")["questions"] == [question]
        assert small.post("/api/answers", json=said)["saved"] is True

    def test_a_locked_database_acknowledges_nothing(self, table, tmp_path):
        """P1: and it can be sent again."""
        path = tmp_path / "locked.db"
        ledger = Ledger(path, wait=0.1)
        with Serving(Project(table[0], ledger, random_state=0)) as server, ledger:
            [question] = server.get("/api/next?lineup=false")["questions"]
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            said = {"id": question["id"], "answer": "different"}
            response = server.client.post("/api/answers", json=said)
            assert response.status_code == 503
            assert "locked" in response.json()["error"]
            other.execute("ROLLBACK")
            other.close()
            assert server.post("/api/answers", json=said)["saved"] is True

    def test_the_unforeseen_is_told_to_the_terminal_only(self, small, monkeypatch, caplog):
        def fails():
            raise RuntimeError("the secret of the cellar")

        monkeypatch.setattr(small.project.standing, "history", fails)
        response = small.client.get("/api/history")
        assert response.status_code == 500
        assert response.json() == {
            "error": "Something went wrong inside samekind; the terminal says what."
        }
        assert "Content-Security-Policy" in response.headers
        assert "the secret of the cellar" in caplog.text
        assert "Traceback" in caplog.text

    def test_an_export_that_fails_leaves_no_file(self, small, tmp_path, monkeypatch):
        (tmp_path / "own").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "own"))

        def fails(name, file):
            file.write(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(small.project, "export", fails)
        response = small.client.get("/api/export/clusters.csv")
        assert response.status_code == 503
        assert "No space left on device" in response.json()["error"]
        assert not list((tmp_path / "own").iterdir())


def test_many_at_once(digits, tmp_path):
    """P4, P7: people who answer at the same time; what one says may settle what another one is asked."""
    path = tmp_path / "many.db"
    saved, failures = [], []

    def work(url, who):
        headers = BEARER | {"X-Samekind-Who": who}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
            for _ in range(15):
                questions = good(client.get("/api/next?lineup=false"))["questions"]
                if not questions:  # the others have them
                    continue
                said = {"id": questions[0]["id"], "answer": say(questions[0], DIGITS)}
                response = client.post("/api/answers?lineup=false", json=said)
                if response.status_code == 200:
                    saved.append(frozenset(rows_of(questions[0])))
                elif response.status_code != 409:
                    failures.append(response.text)

    with Serving(Project(digits, path, random_state=0, sheet=0)) as server:
        people = [
            threading.Thread(target=work, args=(server.url + PAGE, f"p{k}")) for k in range(5)
        ]
        for person in people:
            person.start()
        for person in people:
            person.join()
    assert failures == []
    assert len(set(saved)) == len(saved) >= 10
    with Ledger(path) as ledger:  # what followed from another answer by then is an opinion
        kept = [(e.a, e.b) for e in ledger.lines()] + [
            (o.a, o.b) for o in ledger.log.opinions.lines
        ]
    assert sorted(map(sorted, saved)) == sorted(map(sorted, kept))


PROGRAM = """
import sys, serving
from samekind.project import Project
from samekind.data import demo_items
serving.run(Project(demo_items(), sys.argv[1], random_state=0))
"""


class TestServe:
    def test_a_process_until_it_is_told_to_end(self, tmp_path):
        """P1: it ends with one file, which holds the answer."""
        path = tmp_path / "digits.db"
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=serving.ENV,
        )
        try:
            url = process.stdout.readline().strip()
            with httpx.Client(base_url=url, headers=BEARER, timeout=30) as client:
                [question] = good(client.get("/api/next?lineup=false"))["questions"]
                said = {"id": question["id"], "answer": say(question, DIGITS)}
                assert good(client.post("/api/answers", json=said))["saved"] is True
            assert path.with_name("digits.db-wal").exists()
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
            process.communicate()
        assert (out, err, process.returncode) == ("closed\n", "", 0)
        assert not path.with_name("digits.db-wal").exists()
        with Ledger(path) as ledger:
            assert len(ledger) == 1

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(ServeError, match=f"port {port}.*Choose another port"):
                listen("127.0.0.1", port)

    def test_a_token_opens_the_api_and_nothing_else_does(self, small):
        """P32: not even as a part of an address."""
        page = f"{small.url}{PAGE}"
        assert httpx.get(f"{small.url}/").headers["location"] == f"p/{NAME}/"
        for path in (f"{page}/", f"{small.url}/static/api.js", f"{small.url}/openapi.json"):
            assert httpx.get(path).status_code == 200
        for path in ("/api/about", "/api/status", "/api/items/0", "/api/nothing", "/api"):
            assert httpx.get(page + path).status_code == 401
            assert httpx.get(f"{page}{path}?token={TOKEN}").status_code == 401
        assert httpx.get(f"{page}/api/status", headers=BEARER).status_code == 200

    def test_a_project_that_is_being_opened_says_how_far(self, table):
        hosted = HostedProject(NAME)
        client = TestClient(app_of_hosted(hosted), base_url="http://127.0.0.1", headers=BEARER)
        hosted.progress("Reading the data", 1, 4)
        assert client.get(f"{PAGE}/").status_code == 200
        about = client.get(f"{PAGE}/api/about").json()
        assert (about["state"], about["doing"], about["share"]) == (
            "opening", "Reading the data", 0.25,
        )  # fmt: skip
        refused = client.get(f"{PAGE}/api/next")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "3")
        hosted.fail("There is no column of this name.")
        assert client.get(f"{PAGE}/api/about").json()["state"] == "failed"
        assert client.get(f"{PAGE}/api/next").json() == {"error": hosted.doing}
        hosted.ready(Project(table[0], random_state=0))
        assert client.get(f"{PAGE}/api/about").json()["title"] == "rows.csv"
        assert client.get(f"{PAGE}/api/next").status_code == 200


def test_listening_everywhere_means_every_address_but_no_name(table):
    """P33: hosts are checked."""
    hosts = ["desk.example", *hosts_of("0.0.0.0", 8720)]
    with Serving(Project(table[0], random_state=0), allowed_hosts=hosts) as server:
        for host, status in {
            "192.0.2.7:80": 200,
            "[2001:db8::1]:8000": 200,
            "desk.example": 200,
            "desk.example:99": 200,
            "evil.example": 400,
            "1.2.3.4.evil.example": 400,
        }.items():
            assert server.client.get("/", headers={"Host": host}).status_code == status
