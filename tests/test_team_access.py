"""Who is let in by a server for a team, and to what: real links, roles and sockets (P32)."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import sqlite3
import time

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)

import httpx
from itsdangerous import URLSafeSerializer

from samekind.ledger import Ledger, Links
from samekind.web.auth import COOKIE, LinkAuth
from samekind.web.logs import TextLines, log_request
from samekind.web.site import Site
from teams import (
    ROLES,
    Person,
    TeamServer,
    invite,
    make_at,
    make_table,
    paths_of,
    truth,
    wait_for,
)

ROLE_OF = {
    # questions and one's own answers to them
    **dict.fromkeys(("about", "status", "next_questions", "answer", "undo", "skipped"), "answer"),
    **dict.fromkeys(("find", "item", "picture"), "answer"),
    # what was found, what others answered, and changes of both
    **dict.fromkeys(("clusters", "cluster", "map_of_rows", "history", "rename"), "review"),
    **dict.fromkeys(("remove", "merge", "place", "place_in_new", "answers", "presses"), "review"),
    **dict.fromkeys(("correct", "contradictions", "annotators", "reviews", "settle"), "review"),
    **dict.fromkeys(("threshold", "search", "suggest"), "review"),
    # the project as a whole
    **dict.fromkeys(("export", "import_answers", "finish", "resume", "sheets"), "own"),
    **dict.fromkeys(("exports", "budget", "split"), "own"),
    **dict.fromkeys(("criterion", "keep_threshold", "links", "invite", "revoke"), "own"),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return make_table(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def places(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    return {name: make_at(folder / f"{name}.db", table[0]) for name in ("rows", "others")}


@pytest.fixture(scope="module")
def server(places):
    with TeamServer(places) as server:
        yield server


@pytest.fixture(scope="module")
def people(server, places):
    """Somebody in each role."""
    tokens = {role: invite(places["rows"], f"{role}er", role) for role in ROLES}
    everybody = {role: server.person(token) for role, token in tokens.items()}
    everybody["tokens"] = tokens
    yield everybody
    for role in ROLES:
        everybody[role].close()


class TestTokens:
    """P32: only a valid link opens anything."""

    def test_none_wrong_or_cut_off(self, server, people):
        token = people["tokens"]["own"]
        for wrong in ("", "wrong", token[:-1], token + "a", token.swapcase()):
            with server.person(wrong) as somebody:
                assert somebody.status() == 401
                assert somebody.status("/answers", "POST", json={}) == 401
        assert people["own"].status() == 200

    def test_in_an_address_or_a_cookie_opens_nothing(self, server, people):
        token = people["tokens"]["own"]
        with server.person("") as somebody:
            assert somebody.status(f"/status?token={token}") == 401
            assert (
                somebody.status("/status", headers={"Cookie": f"{COOKIE}-{server.port}={token}"})
                == 401
            )
            assert somebody.status("/status", headers={"Authorization": f"Basic {token}"}) == 401

    def test_revoked_opens_nothing_from_then_on(self, server, places):
        token = invite(places["rows"], "eve", "own")
        with server.person(token) as eve:
            once = {"Idempotency-Key": "a"}
            assert eve.status("/undo", "POST", json={}, headers=once) == 200
            with Links(places["rows"]) as links:  # another program
                links.revoke(who="eve")
            said = eve.get("/status")
            assert said.status_code == 401
            assert said.json()["error"] == (
                "Your link was revoked. Ask who gave it to you for a new one."
            )
            # replayed to the letter, with the cookie that it got
            assert eve.status("/undo", "POST", json={}, headers=once) == 401
            assert eve.status("/export/answers.csv") == 401
            del eve.headers["authorization"]
            assert eve.status("/export/answers.csv") == 401

    def test_expired_opens_nothing(self, server, places):
        token = invite(places["rows"], "early", "own", expires=time.time() + 1.0)
        with server.person(token) as early:
            assert early.status() == 200
            wait_for(lambda: early.status() == 401, 10)
            assert "has expired" in early.get("/status").json()["error"]
            del early.headers["authorization"]
            assert early.status("/export/answers.csv") == 401

    def test_of_another_project_opens_nothing(self, server, people, places):
        token = people["tokens"]["own"]
        with server.person(token, "others") as somebody:
            assert somebody.status() == 401
            cookie = people["own"].get("/status").headers.get("set-cookie", "") or "; ".join(
                f"{name}={value}" for name, value in people["own"].cookies.items()
            )
            del somebody.headers["authorization"]
            pass_ = {"Cookie": cookie.partition(";")[0]}
            assert somebody.status("/export/answers.csv", headers=pass_) == 401

    def test_whether_a_project_is_there_is_told_to_nobody(self, server):
        replies = [
            httpx.get(f"{server.url}/p/{name}/api/status") for name in ("rows", "nothing", "..%2f")
        ]
        assert {(r.status_code, r.text) for r in replies[:2]} == {(401, replies[0].text)}
        assert replies[2].status_code in (401, 404)
        pages = [httpx.get(f"{server.url}/p/{name}/") for name in ("rows", "nothing")]
        assert [page.status_code for page in pages] == [200, 200]
        assert pages[0].text == pages[1].text

    def test_are_kept_nowhere(self, server, people, places):
        people["own"].status()
        kept = b"".join(path.read_bytes() for path in places["rows"].parent.iterdir())
        for role in ROLES:
            assert people["tokens"][role].encode() not in kept
        digests = sqlite3.connect(places["rows"]).execute("SELECT digest FROM links").fetchall()
        assert all(len(digest) == 64 for (digest,) in digests)

    def test_the_pass_reads_what_browsers_fetch_and_nothing_else(self, server, people):
        with server.person(people["tokens"]["own"]) as somebody:
            given = somebody.get("/status").headers["set-cookie"]
            assert "Path=/p/rows/;" in given
            assert "HttpOnly; SameSite=Strict" in given
            del somebody.headers["authorization"]
            assert somebody.status("/export/answers.csv") == 200
            assert somebody.status("/status") == 401
            assert somebody.status("/links") == 401
            assert somebody.status("/finish", "POST", json={}) == 401
            right = given.partition(";")[0]
            forged = right[:-1] + ("1" if right[-1] == "0" else "0")
            somebody.cookies.clear()
            assert somebody.status("/export/answers.csv", headers={"Cookie": forged}) == 401
        with server.person(people["tokens"]["answer"]) as somebody:
            somebody.get("/status")
            del somebody.headers["authorization"]
            assert somebody.status("/export/answers.csv") == 403


class TestCopies:
    """P32: somebody has a copy of the project file, and so all that is kept of the links."""

    def test_a_copy_of_the_project_lets_nobody_in(self, server, people, places):
        people["own"].get("/status")
        with sqlite3.connect(places["rows"]) as copy:
            columns = [row[1] for row in copy.execute("PRAGMA table_info(links)")]
            links = [
                dict(zip(columns, row, strict=True)) for row in copy.execute("SELECT * FROM links")
            ]
            kept = [value for table in ("meta", "links") for row in copy.execute(f"SELECT * FROM {table}")
                    for value in row]  # fmt: skip
        [own] = [link for link in links if link["who"] == "owner"]
        guesses = {str(value) for value in kept} | {"", "samekind pass"}
        content = ["rows", own["id"], own["digest"]]
        forged = [
            URLSafeSerializer(
                guess, salt="samekind pass", signer_kwargs={"digest_method": hashlib.sha256}
            ).dumps(content)
            for guess in guesses
        ]
        signature = hmac.new(own["digest"].encode(), b"samekind pass", "sha256").hexdigest()
        forged += [f"{own['id']}.{signature}", own["digest"], forged[0].rpartition(".")[0] + "."]
        with server.person("") as thief:
            for value in forged:
                cookie = {"Cookie": f"{COOKIE}-{server.port}={value}"}
                assert thief.status("/export/answers.csv", headers=cookie) == 401
            for value in guesses:
                if value and value.isascii() and value.isprintable():
                    bearer = {"Authorization": f"Bearer {value}"}
                    assert thief.status("/status", headers=bearer) == 401

    def test_a_pass_is_of_no_use_at_another_server(self, places, people):
        """Unless both have the same secret, as servers behind one address do."""
        shared = "a secret of at least 32 characters"
        for secrets, status in (
            ((None, None), 401),
            ((shared, shared), 200),
            ((shared, None), 401),
        ):
            with (
                TeamServer(places, secret=secrets[0]) as one,
                one.person(people["tokens"]["own"]) as ann,
            ):
                value = ann.get("/status").headers["set-cookie"].partition(";")[0].partition("=")[2]
            with TeamServer(places, secret=secrets[1]) as two, two.person("") as thief:
                cookie = {"Cookie": f"{COOKIE}-{two.port}={value}"}
                assert thief.status("/export/answers.csv", headers=cookie) == status

    def test_a_short_secret_is_refused(self):
        with pytest.raises(ValueError, match="at least 32 characters, got 5"):
            LinkAuth(Site([]), "short")


class TestRoles:
    def test_every_route_has_one(self, server):
        routes = {name for name, _, _ in paths_of(server.app)}
        assert routes == ROLE_OF.keys()
        assert set(ROLE_OF.values()) == set(ROLES)

    @pytest.mark.parametrize("role", ROLES)
    def test_may_do_just_this(self, server, people, role):
        """P32: Whatever is for a higher role is refused before anything else is looked at."""
        for name, method, path in paths_of(server.app):
            if name in ("finish", "revoke"):
                continue
            got = people[role].status(path, method, **({} if method == "GET" else {"content": b""}))
            refused = ROLES.index(ROLE_OF[name]) > ROLES.index(role)
            assert (got == 403) == refused, (name, got)
            assert got < 500

    def test_answers_undone_are_ones_own(self, server, people, table, places):
        names = [invite(places["rows"], who) for who in ("ida", "jan")]
        with server.person(names[0]) as ida, server.person(names[1]) as jan:
            ida.answer(table[1])
            before = ida.get("/status").json()["presses"]
            reply = jan.post("/undo", json={"count": 10_000}).json()
            assert reply["undone"] == []
            assert ida.get("/status").json()["presses"] == before
            assert len(ida.post("/undo", json={"count": 10_000}).json()["undone"]) == 1

    def test_undo_goes_on_with_a_finished_project_for_owners_alone(self, server, people, table):
        ann, owner = people["answer"], people["own"]
        ann.answer(table[1], 2)
        owner.answer(table[1])
        assert owner.post("/finish").json()["status"]["done"]
        assert ann.status("/resume", "POST") == 403
        reply = ann.post("/undo", json={"count": 1}).json()
        assert len(reply["undone"]) == 1
        assert reply["status"]["done"]
        assert owner.get("/status").json()["done"]
        reply = owner.post("/undo", json={"count": 1}).json()
        assert len(reply["undone"]) == 1
        assert not reply["status"]["done"]

    def test_the_name_is_that_of_the_link(self, server, people, table, places):
        token = invite(places["rows"], "karl")
        with server.person(token) as karl:
            karl.answer(table[1], **{"X-Samekind-Who": "somebody-else"})
        with Ledger(places["rows"], read_only=True) as ledger:
            assert "karl" in ledger.annotators
            assert "somebody-else" not in ledger.annotators


class TestOtherSites:
    """P33: requests that other sites make."""

    def test_are_kept_out(self, server, people):
        own = people["own"]
        assert own.status(headers={"Host": "evil.example"}) == 400
        assert own.status(headers={"Origin": "https://evil.example"}) == 403
        assert own.status(headers={"Sec-Fetch-Site": "cross-site"}) == 403
        said = {"json": {}, "headers": {"Origin": "https://evil.example"}}
        assert own.status("/finish", "POST", **said) == 403
        assert own.status("/status", "OPTIONS") == 405

    def test_may_link_to_a_page(self, server):
        linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert httpx.get(f"{server.url}/p/rows/", headers=linked).status_code == 200
        export = f"{server.url}/p/rows/api/export/answers.csv"
        assert httpx.get(export, headers=linked).status_code == 403


class TestProxies:
    """P33: behind a proxy, and with certificates."""

    def test_forwarded_headers_are_believed_from_the_proxy_alone(self, places):
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
        token = invite(places["rows"], "mia")
        for proxies, is_believed in ((), False), (("127.0.0.1",), True), (("192.0.2.9",), False):
            with TeamServer(places, proxies=proxies) as server, server.person(token) as mia:
                assert (
                    "Secure" in mia.get("/status", headers=headers).headers["set-cookie"]
                ) is is_believed

    @pytest.mark.parametrize("sent", ["", "/kinds"], ids=["taken off", "left"])
    def test_under_an_address_of_theirs(self, places, sent):
        token = invite(places["rows"], "nils")
        with TeamServer(places, root_path="/kinds") as server:
            page = httpx.get(f"{server.url}{sent}/p/rows/", headers={"Host": "kinds.example"})
            assert 'src="../../static/app.js"' in page.text
            assert httpx.get(f"{server.url}{sent}/static/app.js").status_code == 200
            with Person(f"{server.url}{sent}", "rows", token) as nils:
                got = nils.get("/status")
                assert got.status_code == 200
                assert "Path=/kinds/p/rows/;" in got.headers["set-cookie"]

    def test_encrypted(self, places, tmp_path):
        trustme = pytest.importorskip("trustme")
        from samekind.web.server import Tls

        authority = trustme.CA()
        own = authority.issue_cert("127.0.0.1")
        files = Tls(tmp_path / "cert.pem", tmp_path / "key.pem")
        own.private_key_pem.write_to_path(files.key)
        for part in own.cert_chain_pems:
            part.write_to_path(files.certificate, append=True)
        authority.cert_pem.write_to_path(tmp_path / "authority.pem")
        import ssl

        trusted = ssl.create_default_context(cafile=str(tmp_path / "authority.pem"))
        token = invite(places["rows"], "olaf")
        with TeamServer(places, tls=files) as server, server.person(token, verify=trusted) as olaf:
            assert "Secure" in olaf.get("/status").headers["set-cookie"]


class TestWatching:
    """P33: what the log and the health check tell."""

    def test_health_names_no_project(self, server):
        assert httpx.get(f"{server.url}/healthz").json() == {
            "live": True, "projects": {"ready": 2, "opening": 0, "failed": 0},
        }  # fmt: skip
        assert httpx.get(f"{server.url}/healthz/rows").status_code == 200
        assert httpx.get(f"{server.url}/healthz/nothing").status_code == 503

    @pytest.mark.usefixtures("own_logs")
    def test_logs_hold_neither_data_nor_names_nor_tokens(self, places, table):
        lines = []

        class Kept(logging.Handler):
            def emit(self, record):
                lines.append(TextLines("%(name)s %(message)s").format(record))

        logger = logging.getLogger("samekind")
        logger.addHandler(Kept())
        logger.setLevel(logging.INFO)
        with TeamServer(places, observer=log_request) as server:
            token = invite(places["rows"], "a-rare-name")
            with server.person(token) as somebody:
                somebody.answer(table[1], 3)
                somebody.get("/find?text=a-rare-word")
                somebody.get(f"/status?token={token}")
            try:
                raise ValueError("a-rare-value")
            except ValueError:
                logger.exception("something failed")
        whole = re.compile(r"samekind\.requests POST answer 200 [\d.]+ ms project=rows link=\d+")
        assert sum(whole.fullmatch(line) is not None for line in lines) == 3
        assert "test_logs_hold" in lines[-1]
        assert lines[-1].endswith("\nValueError")
        for secret in (token, "a-rare-name", "a-rare-word", "a-rare-value"):
            assert not any(secret in line for line in lines)

    def test_logs_as_text_hold_no_more(self):
        try:
            raise ValueError("a-rare-value")
        except ValueError as error:
            info = type(error), error, error.__traceback__
        line = logging.LogRecord("samekind", logging.ERROR, "", 0, "it failed", None, info)
        whole = logging.Formatter().format(line)  # which keeps the text in the record
        said = TextLines("%(levelname)s %(message)s").format(line)
        assert logging.Formatter().format(line) == whole
        assert said.startswith("ERROR it failed\n")
        assert said.endswith(" test_logs_as_text_hold_no_more\nValueError")


class TestBroken:
    def test_one_takes_nobody_down_and_is_opened_once_it_is_mended(
        self, table, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("samekind.web.site.RETRY", 0.05)
        good, bad = (make_at(tmp_path / f"{name}.db", table[0]) for name in ("good", "bad"))
        tokens = [invite(place) for place in (good, bad)]
        whole = bad.read_bytes()
        bad.write_bytes(b"no database at all" * 100)
        with TeamServer({"bad": bad, "good": good}) as server:
            assert httpx.get(f"{server.url}/healthz").json()["projects"]["failed"] == 1
            health = [httpx.get(f"{server.url}/healthz/{name}") for name in ("bad", "nothing")]
            assert {(h.status_code, h.content) for h in health} == {(503, b'{"ready":false}')}
            with server.person(tokens[0], "good") as ann, server.person(tokens[1], "bad") as bob:
                assert ann.status() == 200
                said = bob.get("/status")
                assert said.status_code == 503
                assert said.json()["error"] == (
                    "The project cannot be opened at the moment; the server's log says why."
                )
                assert str(tmp_path) not in said.text
                bad.write_bytes(whole)
                wait_for(lambda: bob.status() == 200)
                assert ann.status() == 200

    def test_a_file_that_is_replaced_is_opened_anew(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr("samekind.web.site.RETRY", 0.05)
        place = make_at(tmp_path / "rows.db", table[0])
        token = invite(place)
        with TeamServer({"rows": place}) as server, server.person(token) as ann:
            ann.answer(table[1], 2)
            copy = tmp_path / "copy.db"
            with sqlite3.connect(place) as source, sqlite3.connect(copy) as target:
                source.backup(target)
            copy.replace(place)
            wait_for(lambda: ann.status() == 200 and ann.get("/status").json()["presses"] == 2)
            reply = ann.get("/next").json()
            question = reply["questions"][0]
            said = {"id": question["id"], "answer": truth(question, table[1])}
            assert wait_for(lambda: ann.status("/answers", "POST", json=said) in (200, 409))
        with Ledger(place, read_only=True) as ledger:
            assert len(ledger) >= 3
