"""The project of a simulated team, everybody's link, and servers as a team starts them: `samekind serve`."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from samekind.ledger import ProjectPlace

CLUSTERS = 100
COLUMNS = 16
NAME = "load"  # of the project in addresses
START = 600.0  # seconds that a server may take to open the project


class Running(NamedTuple):
    """Servers that run."""

    addresses: list[str]
    processes: list[int]


def make_rows(n: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return rows of clusters whose sizes differ, and which overlap a little."""
    rng = np.random.default_rng(0)
    sizes = rng.dirichlet(np.full(CLUSTERS, 2.0))
    y = rng.choice(CLUSTERS, n, p=sizes)
    centers = rng.normal(size=(CLUSTERS, COLUMNS)) * 3.0
    X = centers[y] + rng.normal(size=(n, COLUMNS))
    return X.astype(np.float32), y


def place_of(where: str) -> ProjectPlace:
    """Return a path or a URL as the package takes it."""
    from samekind.ledger import ProjectURL

    return ProjectURL(where) if "://" in where else Path(where)


def make_project(where: str, table: Path, n: int) -> None:
    """Write the rows as a table, and make a project of it; each press answers one question."""
    from samekind import load
    from samekind.project import make_project as make

    X, _ = make_rows(n)
    names = ",".join(f"x{k}" for k in range(COLUMNS))
    np.savetxt(table, X, fmt="%.5g", delimiter=",", header=names, comments="")
    make(load(table), place_of(where), random_state=0, sheet=0).close()


def invite(where: str, people: int, role: str) -> list[str]:
    """Return the token of each person's own link."""
    from samekind.ledger import Links

    with Links(place_of(where)) as links:
        return [links.invite(f"person {number}", role)[1] for number in range(people)]


@contextlib.contextmanager
def prepared(given: str | None, n: int) -> Iterator[str]:
    """Yield where the project is: as given, a PostgreSQL server of our own, or a temporary file."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if given == "postgres":
            sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
            from postgres import running

            where = stack.enter_context(running(fsync="on")).url()
        else:
            where = given or str(folder / f"{NAME}.db")
        stack.enter_context(contextlib.chdir(folder))  # features are kept there
        make_project(where, folder / "rows.csv", n)
        yield where


@contextlib.contextmanager
def servers(where: str, count: int) -> Iterator[Running]:
    """Start servers, and yield them once the project is open in all."""
    started: list[subprocess.Popen[bytes]] = []
    addresses: list[str] = []
    shown, environment = _without_password(where)
    try:
        for _ in range(count):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            command = [sys.executable, "-m", "samekind", "serve", f"{NAME}={shown}"]
            options = ["--port", str(port)]
            started.append(
                subprocess.Popen(
                    [*command, *options],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            addresses.append(f"http://127.0.0.1:{port}")
        for address, process in zip(addresses, started, strict=True):
            _wait_for(address, process)
        yield Running(addresses, [process.pid for process in started])
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


def _without_password(where: str) -> tuple[str, dict[str, str]]:
    """Return the place as others on the machine may see it, and an environment that has the password."""
    if "://" not in where:
        return where, dict(os.environ)
    from sqlalchemy.engine import URL, make_url

    url = make_url(where)
    secret = {"PGPASSWORD": url.password} if isinstance(url.password, str) else {}
    shown = URL.create(
        url.drivername, url.username, None, url.host, url.port, url.database, url.query
    )
    return shown.render_as_string(), os.environ | secret


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    import httpx

    last = time.monotonic() + START
    while time.monotonic() < last:
        if process.poll() is not None:
            raise SystemExit(f"a server ended with {process.returncode}.")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{address}/healthz/{NAME}", timeout=60).status_code == 200:
                return
        time.sleep(0.2)
    raise SystemExit("a server did not open the project.")


def cpu_seconds(processes: list[int]) -> float:
    """Return the processor time that these have used so far."""
    import psutil

    return sum(sum(psutil.Process(number).cpu_times()[:2]) for number in processes)


def api(address: str) -> str:
    """Return where a server has the project for programs."""
    return f"{address}/p/{NAME}/api"


def opening_seconds(where: str) -> dict[str, Any]:
    """Start one more server on what is there now; return how long it takes until people can go on."""
    begun = time.monotonic()
    with servers(where, 1) as running:
        took = time.monotonic() - begun
        return {"reopened s": round(took, 1), "CPU s": round(cpu_seconds(running.processes), 1)}
