"""What must not be seen: tokens, passwords, where files are, and what a killed export was writing."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "httpx", "PIL"):
        pytest.importorskip(package)

import httpx
from PIL import Image

import samekind.web
from samekind import Ledger, LedgerError
from samekind.cli._errors import UserError
from samekind.cli._token import find_token
from samekind.data import load
from samekind.project import Project
from test_cli_label import cli
from test_web_api import Serving

TOKEN = "a-long-and-secret-token"
PASSWORD = "sesame-opens"
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions and signals")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SAMEKIND_TOKEN", raising=False)
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k % 3}.{k},{k}\n" for k in range(45)))
    return path


@pytest.fixture
def served(monkeypatch):
    """What the page would be served with; nothing listens, as this machine's other addresses are public."""
    calls = []
    monkeypatch.setattr(samekind.web, "serve", lambda *args, **options: calls.append(options))
    return calls


class TestTokens:
    def test_in_the_environment(self, rows, served, monkeypatch):
        monkeypatch.setenv("SAMEKIND_TOKEN", TOKEN)
        said = cli("label", "rows.csv", "--host", "192.0.2.1")
        assert served[0]["token"] == TOKEN
        assert TOKEN not in said.output
        assert "list of processes" not in said.output

    def test_on_the_command_line_is_warned_of(self, rows, served):
        said = cli("label", "rows.csv", "--token", TOKEN)
        assert served[0]["token"] == TOKEN
        assert "Everybody on this machine can read the token" in said.stderr
        assert "--token-file FILE, or in the variable SAMEKIND_TOKEN" in " ".join(
            said.stderr.split()
        )
        assert TOKEN not in said.output

    def test_in_a_file(self, rows, served, monkeypatch):
        monkeypatch.setenv("SAMEKIND_TOKEN", "of the environment")
        Path("token.txt").write_text(f"  {TOKEN}\nand more\n")
        os.chmod("token.txt", 0o600)
        said = cli("label", "rows.csv", "--token-file", "token.txt")
        assert served[0]["token"] == TOKEN
        assert "Note" not in said.stderr

    @posix
    def test_in_a_file_that_others_can_read(self, rows, served):
        Path("token.txt").write_text(TOKEN)
        os.chmod("token.txt", 0o644)
        assert "chmod 600 token.txt" in cli("label", "rows.csv", "--token-file", "token.txt").stderr

    def test_a_file_is_made_with_a_new_one(self, rows, served):
        cli("label", "rows.csv", "--token-file", "new.txt")
        cli("label", "rows.csv", "--token-file", "new.txt")
        made = Path("new.txt").read_text().strip()
        assert [call["token"] for call in served] == [made, made]
        assert len(made) >= 20
        if os.name == "posix":
            assert stat.S_IMODE(Path("new.txt").stat().st_mode) == 0o600

    def test_is_made_where_others_can_reach_the_page(self, rows, served):
        cli("label", "rows.csv", "--host", "192.0.2.1")
        cli("label", "rows.csv", "--host", "192.0.2.1")
        cli("label", "rows.csv")
        first, second, near = [call["token"] for call in served]
        assert len(first) >= 20
        assert first != second
        assert near is None

    @pytest.mark.parametrize(
        ("written", "words"),
        [("", "is empty"), ("short\n", "a token has 22 to 200"), ("two words here\n", "no space")],
    )
    def test_a_file_without_one(self, rows, served, written, words):
        Path("token.txt").write_text(written)
        said = cli("label", "rows.csv", "--token-file", "token.txt", code=2)
        assert words in said.stderr
        assert not served

    def test_twice(self):
        with pytest.raises(UserError, match="either --token-file or --token"):
            find_token(Path("a"), TOKEN, in_command=True, is_local=True)

    @posix
    def test_is_neither_in_the_list_of_processes_nor_in_what_is_printed(self, rows):
        Path("token.txt").write_text(TOKEN)
        os.chmod("token.txt", 0o600)
        command = [
            sys.executable,
            "-m",
            "samekind",
            "label",
            "rows.csv",
            "--token-file",
            "token.txt",
        ]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        timer = threading.Timer(60, server.kill)
        timer.start()
        try:
            printed = ""
            while "Ctrl-C stops it" not in printed:
                printed += server.stderr.readline() or pytest.fail(printed)
            seen = subprocess.run(
                ["ps", "-o", "args=", "-p", str(server.pid)], capture_output=True, text=True
            ).stdout
            address = re.search(r"http://127\.0\.0\.1:\d+/", printed).group()
            statuses = [
                httpx.get(f"{address}api/{path}", timeout=20).status_code
                for path in (
                    f"status?token={TOKEN}",
                    f"items/x?token={TOKEN}",
                    "status?token=wrong",
                )
            ]
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=30)
        finally:
            timer.cancel()
            server.kill()
        assert statuses == [200, 422, 401]
        assert TOKEN not in seen + printed + out + err


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
    @pytest.mark.parametrize("fault", ["gone", "link", "folder", "loop", "damaged", "named pipe"])
    def test_of_pictures_are_sent_to_nobody(self, tmp_path, fault):
        folder = tmp_path / "secret folder" / "pictures"
        folder.mkdir(parents=True)
        for k in range(6):
            Image.new("RGB", (40, 30), (40 * k, 10, 90)).save(folder / f"{k}.png")
        things = load(folder)
        picture = folder / "3.png"
        whole = picture.read_bytes()
        picture.unlink()
        if fault == "link":
            picture.symlink_to(folder.parent / "elsewhere.png")
        elif fault == "folder":
            picture.mkdir()
        elif fault == "loop":
            picture.symlink_to(picture)
        elif fault == "damaged":
            picture.write_bytes(whole[:60])
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
from samekind.web import serve

def killed(project, file):
    file.write(b"half of a secret")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

registry.EXPORTS = tuple(
    one._replace(write=killed) if one.file == "clusters.json" else one for one in EXPORTS
)
serve(Project(load("rows.csv"), "mine.db", random_state=0), open_browser=False, port=0,
      on_ready=lambda url: print(url, flush=True))
"""


@posix
def test_a_killed_export_leaves_nothing(rows, tmp_path):
    """Neither while it is written nor while it is sent."""
    own = tmp_path / "temporary"
    own.mkdir()
    for name in ("clusters.json", "clusters.csv"):
        server = subprocess.Popen(
            [sys.executable, "-c", KILLED],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(own)},
        )
        try:
            url = server.stdout.readline().strip()
            if name == "clusters.json":
                with pytest.raises(httpx.HTTPError):
                    httpx.get(f"{url}api/export/{name}", timeout=30)
            else:
                with httpx.stream("GET", f"{url}api/export/{name}", timeout=30) as response:
                    assert response.status_code == 200
                    server.kill()
            server.wait(30)
            assert server.returncode == -signal.SIGKILL
        finally:
            server.kill()
            server.communicate()
        assert not list(own.rglob("*"))
