"""A server for a team: real projects, links and sockets, in a thread or a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from samekind.data import load
from samekind.ledger import Links, ProjectURL
from samekind.project import make_project
from samekind.web.app import make_app
from samekind.web.auth import LinkAuth
from samekind.web.server import Server, wait_for_end
from samekind.web.site import HostedProject, Site

ROLES = ("answer", "review", "own")
API = "/p/{project}/api"


def make_table(folder, n=60, kinds=4):
    """Write rows of so many kinds; return the file, and the kind of each row."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % kinds)
    path = Path(folder) / "rows.csv"
    lines = [
        f"{10 * k + dx:.3f},{dy:.3f}" for k, dx, dy in zip(y, *rng.random((2, n)), strict=True)
    ]
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    return path, y


def make_at(place, table, **settings):
    """Make a project of a table; return where it is."""
    where = ProjectURL(place) if isinstance(place, str) else place
    make_project(load(table), where, random_state=0, **settings).close()
    return where


def invite(place, who="ann", role="answer", **more):
    """Make a link; return its token."""
    with Links(place) as links:
        return links.invite(who, role, **more)[1]


def truth(question, y):
    """Return what one who knows the kinds answers."""
    if question["type"] == "pair":
        return "same" if y[question["a"]["row"]] == y[question["b"]["row"]] else "different"
    if question["type"] == "sheet":
        kind = y[question["cluster"]["cluster"]]
        return {"different": [i["row"] for i in question["items"] if y[i["row"]] != kind]}
    kind = y[question["item"]["row"]]
    return next((o["cluster"] for o in question["options"] if y[o["cluster"]] == kind), "none")


def wait_for(holds, seconds=30.0):
    """Wait until something holds; return it."""
    last = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < last
        time.sleep(0.02)
    return found


class Person(httpx.Client):
    """Somebody with a link, at one project of a server."""

    def __init__(self, url, project, token, **options):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        super().__init__(base_url=f"{url}/p/{project}/api", headers=headers, timeout=60, **options)

    def status(self, path="/status", method="GET", **options):
        return self.request(method, path, **options).status_code

    def answer(self, y, times=1, **headers):
        """Answer so many questions by the kinds; return the last reply."""
        found = self.get("/next")
        assert found.status_code == 200, found.text
        reply = found.json()
        for _ in range(times):
            if not reply["questions"]:
                break
            question = reply["questions"][0]
            said = {"id": question["id"], "answer": truth(question, y)}
            given = self.post("/answers", json=said, headers=headers)
            assert given.status_code in (200, 409), given.text
            reply = given.json()
        return reply


class TeamServer:
    """A server of several projects, in a thread of its own."""

    def __init__(self, places, *, tls=None, port=0, secret=None, **options):
        self.site = Site([HostedProject(name, place) for name, place in places.items()])
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port = self._listening.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        auth = LinkAuth(self.site, secret, root_path=options.get("root_path", ""))
        names = {"allowed_hosts": [f"127.0.0.1:{self.port}", "kinds.example"]}
        self.app = make_app(self.site, auth, **names | options)
        self._server = Server(self.app, self._listening, tls=tls, patience=5)

    def __enter__(self):
        self.site.__enter__()
        self._server.__enter__()
        wait_for(lambda: all(p.state != "opening" for p in self.site.projects.values()), 300)
        return self

    def __exit__(self, *error):
        self._server.__exit__()
        self.site.__exit__()

    def person(self, token, project="rows", **options):
        return Person(self.url, project, token, **options)


@contextmanager
def process(*projects, env=(), port=None, **options):
    """Run `samekind serve` in a process of its own; yield it and its address."""
    if port is None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
    given = [
        part
        for name, value in options.items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    command = [
        sys.executable,
        "-m",
        "samekind",
        "serve",
        *map(str, projects),
        "--port",
        str(port),
        *given,
    ]
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | dict(env),
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: is_ready(running, url), 60)
        yield running, url
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
        running.communicate()


@contextmanager
def fork(place, port):
    """Run a server of one project in a process that was forked, so that it starts soon; yield it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["teams"])
    running = context.Process(target=_serve, args=(place, port))
    running.start()
    try:
        wait_for(lambda: _answers(f"http://127.0.0.1:{port}"), 300)
        yield running
    finally:
        running.kill()
        running.join()


def _serve(place, port):
    places = {"rows": ProjectURL(place) if "://" in place else Path(place)}
    with TeamServer(places, port=port):
        wait_for_end()


def _answers(url, path="/healthz/rows"):
    try:
        return httpx.get(f"{url}{path}", timeout=20).status_code == 200
    except httpx.TransportError:
        return False


def is_ready(running, url):
    assert running.poll() is None, running.stderr.read()
    try:
        counts = httpx.get(f"{url}/healthz", timeout=5).json()["projects"]
    except httpx.TransportError:
        return False
    return not counts["opening"]


def paths_of(app):
    """Yield what can be asked of a project: the route's name, the method, and an address that fits it."""
    for path, methods in app.openapi()["paths"].items():
        found = re.fullmatch(r"/p/\{project\}/api(.*)", path)
        for method, route in methods.items():
            if found:
                address = (
                    found[1].replace("{row}", "0").replace("{cluster}", "0").replace("{link}", "1")
                )
                yield (
                    route["operationId"],
                    method.upper(),
                    address.replace("{name}", "clusters.csv"),
                )
