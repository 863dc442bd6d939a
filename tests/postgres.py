"""A PostgreSQL server of our own, in a temporary folder, for the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

PASSWORD = "sesame-37b1"
PLACES = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"]
FAST = {"fsync": "off", "max_connections": "60"}


def find_program(name):
    """Return a program of PostgreSQL, of the newest version; None if there is none."""
    if found := shutil.which(name):
        return found
    there = [path for place in PLACES for path in Path("/").glob(f"{place[1:]}/{name}")]
    return str(max(there)) if there else None


def why_not():
    """Return why no server can be started here, if none can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    if find_program("initdb") is None or find_program("postgres") is None:
        return "PostgreSQL is not installed"
    return None


class Server:
    """A server that listens on this machine only, and asks for a password."""

    def __init__(self, folder, **settings):
        self.folder = folder
        self.settings = FAST | settings
        self.process = None
        self._numbers = count(1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._as = {}
        if os.geteuid() == 0:  # as root it refuses to run
            user = next((u for u in pwd.getpwall() if u.pw_name == "postgres"), None)
            user = user or pwd.getpwnam("nobody")
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._run("initdb", "-D", str(folder / "data"), "-U", "ann", "-A", "scram-sha-256",
                  "--pwfile", str(secret), "-E", "UTF8", "--locale=C", "--no-sync")  # fmt: skip

    def _run(self, name, *arguments):
        done = subprocess.run(
            [find_program(name), *arguments], capture_output=True, text=True, cwd="/", **self._as
        )
        assert done.returncode == 0, done.stderr

    def start(self):
        """Start it, and wait until it takes connections."""
        import psycopg

        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", **self.settings}
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [
                find_program("postgres"),
                "-D",
                str(self.folder / "data"),
                "-p",
                str(self.port),
                *given,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **self._as,
        )
        last = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.dsn).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None
                assert time.monotonic() < last
                time.sleep(0.02)

    def kill(self):
        """Kill it in the middle of whatever it does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        """Stop it at once, and start it again."""
        self.stop()
        self.start()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)

    @property
    def dsn(self):
        return f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def url(self, project=None):
        """Return the URL of a project, by default of one that is not there yet."""
        name = project or f"project{next(self._numbers)}"
        return f"postgresql+psycopg{self.dsn.removeprefix('postgresql')}?project={name}"

    def execute(self, *statements):
        """Run statements, each in a transaction of its own; return the rows of the last."""
        import psycopg

        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for statement in statements:
                found = connection.execute(statement)
            return found.fetchall() if found.description else []


@contextmanager
def running(**settings):
    """Yield a server that runs; without PostgreSQL the test is skipped, but not in CI."""
    if why := why_not():
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="samekind-pg-"))  # pytest's own are closed to other users
    server = None
    try:
        server = Server(folder, **settings)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
