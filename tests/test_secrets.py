"""What must not be seen: tokens, passwords, where files are, and what a killed export was writing."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import traceback

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "PIL"):
        pytest.importorskip(package)

import httpx
from PIL import Image

import serving
from samekind import Ledger, LedgerError
from samekind.data import load
from samekind.project import Project
from samekind.web.server import new_token
from serving import BEARER
from test_web_api import Serving

PASSWORD = "sesame-opens"
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions and signals")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k % 3}.{k},{k}\n" for k in range(45)))
    return path


class TestTokens:
    def test_has_128_random_bits(self):
        tokens = {new_token() for _ in range(100)}
        assert len(tokens) == 100
        assert {len(token) for token in tokens} == {22}

    @posix
    def test_is_printed_and_nowhere_else(self, rows, tmp_path):
        """P32: Neither in the list of processes nor in a file; without it nothing is told."""
        command = ["label", "rows.csv", "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            [sys.executable, "-m", "samekind", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        timer = threading.Timer(60, server.kill)
        timer.start()
        try:
            printed = ""
            while "Answers are kept" not in printed:
                printed += server.stderr.readline() or pytest.fail(printed)
            seen = subprocess.run(
                ["ps", "-o", "args=", "-p", str(server.pid)], capture_output=True, text=True
            ).stdout
            page, token = re.search(
                r"(http://127\.0\.0\.1:\d+/p/rows/)#token=(\S+)", printed
            ).groups()
            about, known = f"{page}api/about", {"Authorization": f"Bearer {token}"}
            statuses = [
                httpx.get(about, timeout=20, headers=headers).status_code
                for headers in (known, {}, {"Authorization": "Bearer wrong"})
            ]
            address = httpx.get(f"{about}?token={token}", timeout=20).status_code
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=30)
        finally:
            timer.cancel()
            server.kill()
        assert statuses == [200, 401, 401]
        assert address == 401
        assert token not in seen + out + err
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert token.encode() not in kept


class TestPasswords:
    @pytest.mark.parametrize(
        "url",
        [
            f"nosuch://ann:{PASSWORD}@db.example/kinds",
            f"postgresql+nosuch://ann:{PASSWORD}@db.example/kinds",
            f"postgresql://ann:{PASSWORD}@db.example:port/kinds",
            f"://ann:{PASSWORD}@db.example/kinds",
        ],
    )
    def test_of_a_database_are_in_no_error(self, url):
        with pytest.raises(LedgerError, match=r"\*\*\*@db\.example") as raised:
            Ledger(url)
        assert PASSWORD not in "".join(traceback.format_exception(raised.value))

    def test_of_a_database_are_sent_to_nobody(self, rows, tmp_path, caplog):
        """Nor is where the project is, or what the driver says of it."""
        url = f"sqlite:///file:{tmp_path}/mine.db?uri=true&password={PASSWORD}"
        ledger = Ledger(url, wait=0.1)
        assert PASSWORD not in ledger.where
        with Serving(Project(load(rows), ledger, random_state=0)) as server, ledger:
            [question] = server.get("/api/next?lineup=false")["questions"]
            other = sqlite3.connect(tmp_path / "mine.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            said = {"id": question["id"], "answer": "different"}
            refused = server.client.post("/api/answers", json=said)
            other.close()
        assert refused.status_code == 503
        assert "database is locked" in refused.json()["error"]
        for secret in (PASSWORD, str(tmp_path), tmp_path.name, "mine.db"):
            assert secret not in refused.text
        assert "mine.db" in caplog.text  # whoever started it is told which
        assert PASSWORD not in caplog.text


class TestPaths:
    """P33: where files are."""

    @pytest.mark.parametrize("fault", ["gone", "link", "named pipe"])
    def test_of_pictures_are_sent_to_nobody(self, tmp_path, fault):
        folder = tmp_path / "secret folder" / "pictures"
        folder.mkdir(parents=True)
        for k in range(6):
            Image.new("RGB", (40, 30), (40 * k, 10, 90)).save(folder / f"{k}.png")
        things = load(folder)
        picture = folder / "3.png"
        picture.unlink()
        if fault == "link":
            picture.symlink_to(folder.parent / "elsewhere.png")
        elif fault == "named pipe":
            if not hasattr(os, "mkfifo"):
                pytest.skip("there are no named pipes")
            os.mkfifo(picture)
        with Serving(Project(things, random_state=0)) as server:
            for path in (
                "items/3/picture",
                "items/3",
                "next",
                "clusters",
                "status",
                "map",
                "answers",
            ):
                response = server.client.get(f"/api/{path}")
                assert response.status_code == (404 if path == "items/3/picture" else 200)
                assert "secret folder" not in response.text
                assert str(tmp_path) not in response.text


KILLED = """
import os, signal, sys
from samekind.data import load
from samekind.project import EXPORTS, Project
from samekind.project.exports import registry
import serving

def killed(project, file):
    file.write(b"half of a secret")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

registry.EXPORTS = tuple(
    one._replace(write=killed) if one.file == "clusters.json" else one for one in EXPORTS
)
serving.run(Project(load("rows.csv"), "mine.db", random_state=0))
"""


@posix
@pytest.mark.parametrize(
    "name", ["clusters.json", pytest.param("clusters.csv", marks=pytest.mark.slow)]
)
def test_a_killed_export_leaves_nothing(rows, tmp_path, name):
    """P33: neither while it is written nor while it is sent."""
    own = tmp_path / "temporary"
    own.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdout=subprocess.PIPE,
        text=True,
        env=serving.ENV | {"TMPDIR": str(own)},
    )
    try:
        url = server.stdout.readline().strip()
        if name == "clusters.json":
            with pytest.raises(httpx.HTTPError):
                httpx.get(f"{url}api/export/{name}", headers=BEARER, timeout=30)
        else:
            with httpx.stream(
                "GET", f"{url}api/export/{name}", headers=BEARER, timeout=30
            ) as response:
                assert response.status_code == 200
                server.kill()
        server.wait(30)
        assert server.returncode == -signal.SIGKILL
    finally:
        server.kill()
        server.communicate()
    assert not list(own.rglob("*"))
