"""The page and the API of one project, as `samekind label` serves them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import httpx

from samekind.web.app import make_app
from samekind.web.auth import TokenAuth
from samekind.web.server import Server, hosts_of, wait_for_end
from samekind.web.site import HostedProject, Site

NAME = "rows"
PAGE = f"/p/{NAME}"
TOKEN = "of-128-random-bits-22c"
BEARER = {"Authorization": f"Bearer {TOKEN}"}

HERE = str(Path(__file__).parent)
ENV = os.environ | {"PYTHONPATH": os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])}
"""For a process that imports this module."""


def app_of(project, **options):
    """Return the application of a project that is open."""
    hosted = HostedProject(NAME)
    hosted.ready(project)
    return app_of_hosted(hosted, **options)


def app_of_hosted(hosted, token=TOKEN, **options):
    """Return the application of a project that may not be open yet."""
    site = Site([hosted])
    return make_app(site, TokenAuth(site, token), home=NAME, **options)


class ServingHosted:
    """A server of a project, open or not, on a free port; it can be stopped and started again."""

    def __init__(self, hosted, **options):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        names = {"allowed_hosts": hosts_of("127.0.0.1", self.port)}
        self.app = app_of_hosted(hosted, **names | options)

    def start(self):
        listening = self._listening or socket.create_server(("127.0.0.1", self.port))
        self._listening = None
        self._server = Server(self.app, listening, patience=5)
        self._server.__enter__()

    def stop(self):
        self._server.__exit__()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()


class Serving(ServingHosted):
    """That of an open project, and a client of it."""

    def __init__(self, project, **options):
        hosted = HostedProject(NAME)
        hosted.ready(project)
        super().__init__(hosted, **options)
        self.project = project
        self.client = httpx.Client(base_url=self.url + PAGE, headers=BEARER, timeout=60)

    def __exit__(self, *error):
        self.client.close()
        super().__exit__()
        self.project.close()

    def get(self, path, **options):
        return good(self.client.get(path, **options))

    def post(self, path, **options):
        return good(self.client.post(path, **options))

    def put(self, path, **options):
        return good(self.client.put(path, **options))


def good(response):
    """Return what a reply says."""
    assert response.status_code == 200, response.text
    return response.json()


def run(project):
    """Serve a project in this process until it is told to end; print its address."""
    with Serving(project) as server:
        print(f"{server.url}{PAGE}/", flush=True)
        wait_for_end()
    print("closed", flush=True)
