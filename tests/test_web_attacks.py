"""Attacks on the page and its API, and the reply to each (P33)."""

# ruff: noqa: E501 - a table
from __future__ import annotations

import contextlib
import http.client
import io
import itertools
import json
import os
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "schemathesis", "PIL"):
        pytest.importorskip(package)

from PIL import Image

from samekind.data import load
from samekind.project import Project
from samekind.web.guard import LARGEST_BODY, LARGEST_IMPORT, SECURITY_HEADERS
from serving import BEARER, TOKEN
from test_web_api import EVIL, Serving

JSON = {"Content-Type": "application/json"}
CSV = {"Content-Type": "text/csv"}
ANSWER = b'{"id": "p-0-1", "answer": "same"}'
Body = bytes | Callable[[], Iterator[bytes]]


@dataclass
class Attack:
    """A request that must not go through, and the status that it gets."""

    what: str
    status: int
    method: str = "GET"
    target: str = "/p/rows/api/status"
    headers: dict[str, str] = field(default_factory=dict)
    body: Body = b""
    host: str | None = None
    token: bool = True  # whether the right one is sent along


def post(what, status, body=ANSWER, target="/p/rows/api/answers", headers=JSON, **more):
    return Attack(what, status, "POST", target, headers, body, **more)


def endless() -> Iterator[bytes]:
    for _ in range(10_000):
        yield b"1000\r\n" + b"x" * 4096 + b"\r\n"


def larger_than_said() -> Iterator[bytes]:
    yield b"x" * 10
    yield b"GET /api/export/answers.csv HTTP/1.1\r\nHost: evil.example\r\n\r\n"


# fmt: off
OTHER_SITES = [
    Attack("forged `Host` (DNS rebinding)", 400, host="evil.example"),
    Attack("forged `Host` with our port", 400, host="evil.example:{port}"),
    Attack("our address as a part of a name", 400, host="127.0.0.1.evil.example:{port}"),
    Attack("our name with another port", 400, host="127.0.0.1:1"),
    Attack("a user name in `Host`", 400, host="127.0.0.1:{port}@evil.example"),
    Attack("no `Host`", 400, host=""),
    Attack("two `Host`s", 400, headers={"host": "evil.example"}),
    Attack("forged `Host` for the page itself", 400, target="/", host="evil.example"),
    Attack("another site's `Origin`", 403, headers={"Origin": "http://evil.example"}),
    Attack("`Origin: null` (a sandboxed frame)", 403, headers={"Origin": "null"}),
    Attack("`Origin` of another port here", 403, headers={"Origin": "http://127.0.0.1:1"}),
    post("another site's `Origin` with an answer", 403, headers=JSON | {"Origin": "https://evil.example"}),
    Attack("a picture or script of another site (`Sec-Fetch-Site: cross-site`)", 403, headers={"Sec-Fetch-Site": "cross-site"}),
    Attack("a page of another port here (`Sec-Fetch-Site: same-site`)", 403, headers={"Sec-Fetch-Site": "same-site"}),
    Attack("a link from another site to an export", 403, target="/p/rows/api/export/clusters.csv", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}),
    Attack("the page's script, loaded by another site", 403, target="/static/api.js", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
    Attack("the page in another site's script tag", 403, target="/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
    Attack("another site's criterion", 403, "PUT", "/p/rows/api/criterion", JSON | {"Origin": "https://evil.example"}, b'{"criterion": "x"}'),
    post("a form of another site: JSON as `text/plain`", 401, headers={"Content-Type": "text/plain"}, token=False),
    post("JSON as `text/plain`, with the header", 422, headers=JSON | {"Content-Type": "text/plain"}),
    post("a form", 422, b"id=p-0-1&answer=same", headers=JSON | {"Content-Type": "application/x-www-form-urlencoded"}),
    Attack("a preflight (`OPTIONS`)", 405, "OPTIONS", "/p/rows/api/answers", {"Origin": "http://127.0.0.1:{port}", "Access-Control-Request-Method": "POST"}),
    Attack("another site's preflight", 405, "OPTIONS", "/p/rows/api/answers", {"Origin": "http://evil.example"}),
    Attack("`TRACE`", 405, "TRACE"),
    Attack("`DELETE`", 405, "DELETE", headers=JSON),
    Attack("a method that does not exist", 405, "BREW", headers=JSON),
    Attack("`HEAD` of the API", 405, "HEAD"),
    Attack("`X-HTTP-Method-Override`", 200, headers={"X-HTTP-Method-Override": "POST"}),
    Attack("a WebSocket", 404, target="/p/rows/api/socket", headers={"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}),
]
TOKENS = [
    Attack("no token", 401, token=False),
    Attack("a wrong token", 401, headers={"Authorization": f"Bearer {TOKEN[:-1]}x"}, token=False),
    Attack("the beginning of the token", 401, headers={"Authorization": f"Bearer {TOKEN[:10]}"}, token=False),
    Attack("an empty token", 401, headers={"Authorization": "Bearer "}, token=False),
    Attack("the token as a password", 401, headers={"Authorization": "Basic YTphLWxvbmctYW5kLXNlY3JldC10b2tlbg=="}, token=False),
    Attack("a wrong token in the address", 401, target="/p/rows/api/status?token=wrong", token=False),
    Attack("the token in a cookie", 401, headers={"Cookie": f"token={TOKEN}"}, token=False),
    Attack("a picture without the token", 401, target="/p/rows/api/items/0/picture", token=False),
    Attack("a search without the token", 401, target="/p/rows/api/find?text=a", token=False),
    Attack("what a row is, without the token", 401, "POST", "/p/rows/api/rows/new", JSON, b'{"rows": [0]}', token=False),
    Attack("an export without the token", 401, target="/p/rows/api/export/answers.csv", token=False),
    Attack("`//` round the token", 404, target="/p/rows//api/status", token=False),
    Attack("`/API/` round the token", 404, target="/p/rows/API/status", token=False),
    Attack("`/static/..` round the token", 404, target="/static/../p/rows/api/status", token=False),
    Attack("`%61` round the token", 401, target="/p/rows/%61pi/status", token=False),
    Attack("`%2f` round the token", 401, target="/p/rows%2fapi/status", token=False),
    Attack("`/p/rows/api` of another project", 401, target="/p/other/api/status"),
    Attack("the token in the address", 401, target=f"/p/rows/api/status?token={TOKEN}", token=False),
    post("an answer without the token", 401, token=False),
    Attack("what a row is, without the token", 401, "POST", "/p/rows/api/rows/place", JSON, b'{"rows": [0], "cluster": 1}', token=False),
]
PATHS = [
    Attack("`..` to a file", 404, target="/static/../../../../../etc/passwd"),
    Attack("`..` in percent signs", 404, target="/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
    Attack("slashes in percent signs, too", 404, target="/static/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd"),
    Attack("percent signs twice", 404, target="/static/%252e%252e%252fapp.py"),
    Attack("backslashes", 404, target="/static/..%5c..%5capp.py"),
    Attack("an absolute path", 404, target="/static//etc/passwd"),
    Attack("the server's own code", 404, target="/static/../app.py"),
    Attack("a folder", 404, target="/static/"),
    Attack("a zero byte in a path", 400, target="/static/api.js%00.png"),
    Attack("a line break in a path", 400, target="/static/%0d%0aSet-Cookie:x=1"),
    Attack("a very long file name", 404, target="/static/" + "a" * 5000),
    Attack("`..` instead of a row", 404, target="/p/rows/api/items/../../etc/passwd"),
    Attack("`..` in percent signs instead of a row", 404, target="/p/rows/api/items/..%2f..%2fetc%2fpasswd/picture"),
    Attack("a path instead of an export", 404, target="/p/rows/api/export/..%2f..%2fetc%2fpasswd"),
    Attack("an export that is none", 404, target="/p/rows/api/export/small.db"),
    Attack("a whole address as the target", 404, target="http://evil.example/api/status"),
    Attack("a row below zero", 422, target="/p/rows/api/items/-1"),
    Attack("a row beyond the last", 404, target="/p/rows/api/items/45/picture"),
    Attack("a row of a thousand digits", 422, target="/p/rows/api/items/" + "9" * 1000),
    Attack("a row that is no number", 422, target="/p/rows/api/items/1e3"),
    Attack("a picture of no known size", 422, target="/p/rows/api/items/0/picture?size=huge"),
    Attack("a million members of a kind", 422, target="/p/rows/api/clusters/0?limit=1000000"),
    Attack("a search of 10,000 letters", 422, target="/p/rows/api/find?text=" + "a" * 10_000),
    Attack("a search for a row that is not there", 400, target="/p/rows/api/find?row=45"),
    Attack("a million kinds of a search", 422, target="/p/rows/api/find?most=1000000"),
    Attack("an offset below zero", 422, target="/p/rows/api/answers?offset=-1"),
    Attack("SQL instead of a number", 422, target="/p/rows/api/clusters/0%20OR%201=1"),
]
BODIES = [
    post("half of JSON", 422, b'{"id": "p-0-1"'),
    post("no body", 422, b""),
    post("`NaN` for JSON", 422, b"NaN"),
    post("`NaN` for an answer", 422, b'{"id": "p-0-1", "answer": NaN}'),
    post("`Infinity` for a row", 422, b'{"rows": [Infinity]}', "/p/rows/api/clusters/0/remove"),
    post("60,000 brackets, one in the other", 400, b"[" * 60_000),
    post("10,000 objects, one in the other", 400, b'{"id":' * 10_000),
    post("a number of 5,000 digits", 400, b'{"id": "p-0-1", "answer": ' + b"9" * 5000 + b"}"),
    post("half a pair of surrogates", 422, b'{"id": "\\ud800", "answer": "same"}'),
    Attack("half a pair of surrogates as a name", 422, "PUT", "/p/rows/api/clusters/0/name", JSON, b'{"name": "\\udfff"}'),
    post("bytes that are not UTF-8", 400, b'{"id": "\xff", "answer": "same"}'),
    post("a zero byte in an id", 400, b'{"id": "p-0-1\\u0000", "answer": "same"}'),
    post("a list instead of an object", 422, b"[1, 2]"),
    post("an object instead of a text", 422, b'{"id": {"$ne": null}, "answer": "same"}'),
    post("`true` for a kind", 422, b'{"id": "l-0-1.2", "answer": true}'),
    post("a row below zero in an answer", 400, b'{"id": "p--1-2", "answer": "same"}'),
    post("rows beyond 64 bits", 400, b'{"id": "p-18446744073709551616-2", "answer": "same"}'),
    post("a row that is not there, to be removed", 400, b'{"rows": [9007199254740991]}', "/p/rows/api/clusters/0/remove"),
    post("a row that is not there, to be placed", 400, b'{"rows": [45], "cluster": 0}', "/p/rows/api/rows/place"),
    post("a kind that is not there", 400, b'{"rows": [1], "cluster": 9007199254740991}', "/p/rows/api/rows/place"),
    post("1,001 rows of a new kind", 422, b'{"rows": [' + b"1," * 1000 + b"1]}", "/p/rows/api/rows/new"),
    post("a new kind's name of 10,000 letters", 422, b'{"rows": [1], "name": "' + b"a" * 10_000 + b'"}', "/p/rows/api/rows/new"),
    post("a new kind's name that cannot be seen", 400, b'{"rows": [1], "name": "\\u202e"}', "/p/rows/api/rows/new"),
    post("a sheet that nobody asked", 409, b'{"id": "g-0-1.2.3", "answer": {"different": []}}'),
    post("an answer that is both new and a sheet", 422, b'{"id": "p-0-1", "answer": {"new": "a", "different": []}}'),
    Attack("a criterion of 10,000 letters", 422, "PUT", "/p/rows/api/criterion", JSON, b'{"criterion": "' + b"a" * 10_000 + b'"}'),
    Attack("a word instead of yes or no", 422, "PUT", "/p/rows/api/sheets", JSON, b'{"sheets": "yes"}'),
    post("a row compared with itself", 409, b'{"id": "p-3-3", "answer": "same"}'),
    post("a question that nobody asked", 409, b'{"id": "p-44-43", "answer": "same"}'),
    post("SQL for an id", 400, b"{\"id\": \"p-0-1'; DROP TABLE answers; --\", \"answer\": \"same\"}"),
    post("a field that is not there (`admin`)", 422, b'{"id": "p-0-1", "answer": "same", "admin": true}'),
    post("`__proto__`", 422, b'{"id": "p-0-1", "answer": "same", "__proto__": {}}'),
    post("a million undone", 422, b'{"count": 1000000}', "/p/rows/api/undo"),
    post("a body of 1 MB", 413, b"x" * 2**20),
    post("a body that says it has 10^12 bytes", 413, b"x", headers=JSON | {"Content-Length": "1000000000000"}),
    post("a length below zero", 400, b"x", headers=JSON | {"Content-Length": "-1"}),
    post("a body without an end, in chunks", 413, endless, headers=JSON | {"Transfer-Encoding": "chunked"}),
    post("an import without an end, in chunks", 413, endless, "/p/rows/api/answers/import", CSV | {"Transfer-Encoding": "chunked"}),
    post("an import of 17 MB", 413, b"x" * (17 * 2**20), "/p/rows/api/answers/import", CSV),
    post("length and chunks at once (request smuggling)", 400, b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n", headers=JSON | {"Content-Length": "4", "Transfer-Encoding": "chunked"}),
    post("two lengths (request smuggling)", 400, ANSWER, headers=JSON | {"Content-Length": "5", "content-length": "6"}),
    post("a second request behind the body", 422, larger_than_said, headers=JSON | {"Content-Length": "10"}),
    post("an import that is a program", 422, b"MZ\x90\x00\xff\xfe\x00", "/p/rows/api/answers/import", CSV),
    post("an import whose lines end as on an old Mac", 400, "\u00cb\r\u00e9".encode(), "/p/rows/api/answers/import", CSV),
    post("an import that is nested without an end", 400, b"{" * 60_000, "/p/rows/api/answers/import", CSV),
    post("an import of pairs that are none", 400, b'{"match": [1], "distinct": [{}]}', "/p/rows/api/answers/import", CSV),
    post("an import with half a character", 400, b'{"match": [[{"\\ud800": 1}, {"x0": "\\ud800"}]], "distinct": []}', "/p/rows/api/answers/import", CSV),
    post("an import with rows that are not there", 400, b"a,b,answer\n0,99999999999999999999,same\n", "/p/rows/api/answers/import", CSV),
    post("an import with a cell of 1 MB", 400, b'a,b,answer\n0,"' + b"1" * 2**20 + b'",same\n', "/p/rows/api/answers/import", CSV),
    Attack("a header of 100 kB", 431, headers={"X-Big": "x" * 100_000}),
    Attack("ten thousand headers", 431, headers={f"X-{k}": "x" for k in range(10_000)}),
    Attack("an address of 100 kB", 431, target="/p/rows/api/status?" + "a" * 100_000),
    Attack("a line break in the person's name", 422, target="/p/rows/api/next", headers={"X-Samekind-Who": "ann%0d%0aSet-Cookie:%20a=b"}),
    Attack("a person's name that is not UTF-8", 422, target="/p/rows/api/next", headers={"X-Samekind-Who": "%ff%fe"}),
    Attack("a person's name of 10,000 letters", 422, target="/p/rows/api/next", headers={"X-Samekind-Who": "a" * 10_000}),
]
# fmt: on
ATTACKS = [*OTHER_SITES, *TOKENS, *PATHS, *BODIES]


def send(attack, port):
    """Send a request as it is, and return the status, the headers and the body that come back."""
    headers = {name: value.replace("{port}", str(port)) for name, value in attack.headers.items()}
    host = f"127.0.0.1:{port}" if attack.host is None else attack.host.replace("{port}", str(port))
    lines = [f"{attack.method} {attack.target} HTTP/1.1"] + ([f"Host: {host}"] if host else [])
    given = {name.lower() for name in headers}
    if attack.token and "authorization" not in given:
        headers |= BEARER
    if "connection" not in given:
        headers["Connection"] = "close"
    if isinstance(attack.body, bytes) and not given & {"content-length", "transfer-encoding"}:
        headers["Content-Length"] = str(len(attack.body))
    lines += [f"{name}: {value}" for name, value in headers.items()]
    pieces = [attack.body] if isinstance(attack.body, bytes) else attack.body()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            for piece in itertools.chain(["\r\n".join([*lines, "", ""]).encode()], pieces):
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough
        with contextlib.closing(
            http.client.HTTPResponse(connection, method=attack.method)
        ) as response:
            response.begin()
            try:
                body = response.read()
            except ConnectionResetError:  # it hangs up on those who have not heard out
                body = b""
            return response.status, response.headers, body


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("attacked") / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k % 3}.{k},{k}\n" for k in range(45)))
    with Serving(Project(load(path), random_state=0)) as server:
        yield server


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.what)
def test_attack(server, attack):
    """P33: each request that must not go through gets its status."""
    status, headers, body = send(attack, server.port)
    if attack.body is larger_than_said and status == 400:
        assert body == b"Invalid HTTP request received."  # the parser came to the second one first
    else:
        assert status == attack.status, body
    assert b"Traceback" not in body
    assert b"root:" not in body
    assert "access-control-allow-origin" not in headers
    by_the_parser = status in (400, 431) and body in (b"Invalid HTTP request received.", b"")
    if attack.status != 200 and not by_the_parser:
        assert headers["content-type"] == "application/json"
        for name, value in SECURITY_HEADERS.items():
            assert headers[name] == value
        if attack.method != "HEAD":
            assert json.loads(body)["error"]
    assert not server.project.session.ledger.active().size


def test_the_honest_get_through(server):
    """The attacks fail for what they do, not because nothing works."""
    headers = JSON | {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    question = server.get("/api/next?lineup=false", headers=headers)["questions"][0]
    said = {"id": question["id"], "answer": "different"}
    assert server.post("/api/answers", json=said, headers=headers)["saved"] is True
    assert server.post("/api/undo", json={}, headers=headers)["undone"]
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert server.client.get("/", headers=linked).status_code == 200
    named = {"Host": f"localhost:{server.port}"}
    assert server.client.get("/", headers=named).status_code == 200


def test_limits_are_what_the_page_says():
    assert LARGEST_BODY == 64 * 1024
    assert LARGEST_IMPORT == 16 * 1024 * 1024


def bomb(side=50_000):
    """Return a PNG of 2.5 · 10^9 black pixels in a few hundred kB."""

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    squeezer = zlib.compressobj(9)
    line = bytes(1 + side // 8)
    packed = b"".join(squeezer.compress(line) for _ in range(side)) + squeezer.flush()
    pixels = chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + pixels


def png(colour):
    body = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(body, "PNG")
    return body.getvalue()


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for k in range(12):
        (pictures / f"{k}.png").write_bytes(png((20 * k, 255 - 20 * k, 128)))
    return pictures


class TestData:
    """P29, P33: what items bring along."""

    def test_bomb(self, folder):
        (folder / "bomb.png").write_bytes(bomb())
        [(name, why)] = load(folder).left_out
        assert name == "bomb.png"
        assert "pixels" in why

    def test_svg(self, folder):
        (folder / "drawing.svg").write_bytes(SVG)
        things = load(folder)
        assert things.n == 12
        assert any("SVG" in note for note in things.notes)

    def test_disguised_svg(self, folder):
        (folder / "drawing.png").write_bytes(SVG)
        things = load(folder)
        assert [name for name, _ in things.left_out] == ["drawing.png"]
        assert things.n == 12

    def test_link(self, folder, tmp_path):
        (tmp_path / "secret.png").write_bytes(png("red"))
        (folder / "innocent.png").symlink_to(tmp_path / "secret.png")
        with pytest.raises(ValueError, match=r"innocent\.png.*outside"):
            load(folder)

    @pytest.mark.parametrize(
        "name", ["../secret.png", "/etc/passwd", "C:\\secret.png", "a/../../b.png"]
    )
    def test_column_of_paths(self, folder, tmp_path, name):
        (tmp_path / "secret.png").write_bytes(png("red"))
        table = folder / "table.csv"
        table.write_text(f"file\n0.png\n{name}\n")
        with pytest.raises(ValueError, match="outside"):
            load(table, image="file")

    @pytest.mark.parametrize("by", ["bomb", "svg", "link"])
    def test_swapped(self, folder, tmp_path, by):
        with Serving(Project(load(folder), random_state=0)) as server:
            assert server.client.get("/api/items/2/picture").status_code == 200
            picture = folder / "3.png"
            picture.unlink()
            if by == "link":
                (tmp_path / "secret.png").write_bytes(png("red"))
                picture.symlink_to(tmp_path / "secret.png")
            else:
                picture.write_bytes(bomb() if by == "bomb" else SVG)
            for size in ("small", "large"):
                response = server.client.get(f"/api/items/3/picture?size={size}")
                assert response.status_code == 404
                assert response.json()["error"]

    def test_markup_in_file_names(self, folder):
        name = "<img src=x onerror=alert(1)>.png"
        (folder / name).write_bytes(png("red"))
        with Serving(Project(load(folder), random_state=0)) as server:
            shown = [server.client.get(f"/api/items/{row}") for row in range(13)]
            [found] = [response for response in shown if name in response.json()["title"]]
            assert_data(found)

    def test_markup_in_cells(self, tmp_path):
        path = tmp_path / f"{EVIL.replace('/', '')}.csv"
        path.write_text(
            "x,note\n" + "".join(f"{k % 7}.5,{EVIL.replace(chr(34), '')}\n" for k in range(30))
        )
        with Serving(Project(load(path, exclude=["note"]), random_state=0)) as server:
            for address in ("/api/items/3", "/api/next", "/api/clusters", "/api/status"):
                assert_data(server.client.get(address))
            report = server.client.get("/api/export/report.html")
            assert report.headers["content-disposition"].startswith("attachment")
            assert "<script>alert" not in report.text

    def test_markup_in_names(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text("x\n" + "".join(f"{k % 7}.5\n" for k in range(30)))
        with Serving(Project(load(path), random_state=0)) as server:
            who = {"X-Samekind-Who": "%3Cscript%3Ealert(1)%3C%2Fscript%3E"}
            question = server.get("/api/next?lineup=false", headers=who)["questions"][0]
            said = {"id": question["id"], "answer": "different"}
            server.post("/api/answers", json=said, headers=who)
            kind = server.get("/api/clusters")["clusters"][0]["cluster"]
            server.put(f"/api/clusters/{kind}/name", json={"name": EVIL})
            page = server.client.get(f"/api/clusters/{kind}")
            answers = server.client.get("/api/answers")
            assert_data(page)
            assert_data(answers)
            assert page.json()["name"] == EVIL
            assert answers.json()["answers"][0]["who"] == "<script>alert(1)</script>"
            report = server.client.get("/api/export/report.html").text
            assert "<script>alert" not in report


def assert_data(response):
    """Check that a browser would take it for data, whatever is in it."""
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'"
    )
