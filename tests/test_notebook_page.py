"""The widget in a real JupyterLab, in a real Chromium."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from browser import chromium, do_without

pytestmark = pytest.mark.xdist_group("notebook")

if find_spec("jupyterlab") is None or find_spec("anywidget") is None:
    do_without("JupyterLab is not installed: pip install -e '.[dev]'")

HOSTILE = "<img src=x onerror='window.hit=1'><b>bold</b>"
TEXTS = f"""
from pathlib import Path
import numpy as np
import samekind
import samekind.notebook
from samekind.project import make_project

kinds = np.arange(80) % 4
texts = [f"{HOSTILE} text {{i}} of {{k}}" for i, k in enumerate(kinds)]
Path("m.csv").write_text("\\n".join(["message", *texts]))
np.save("v.npy", 8 * np.eye(5)[kinds] + np.random.default_rng(0).normal(size=(80, 5)))
items = samekind.load("m.csv", text="message", embeddings="v.npy")
project = make_project(items, Path("m.db"), random_state=0)
samekind.notebook.widget(project, who="ann")
"""
COUNT = """
names = sorted(name.text for name in project.session.ledger.log.names.values())
print("presses", project.status().presses, "names", names)
"""
PICTURES = """
import samekind.notebook
from samekind.data import demo_items
from samekind.project import Project
samekind.notebook.widget(Project(demo_items(), random_state=0))
"""


def notebook(*cells):
    """Return a notebook with these cells."""
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None}
        | {"outputs": [], "source": text.strip()}
        for i, text in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start JupyterLab with an example; return its address."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    (folder / "work" / "example.ipynb").write_text(json.dumps(notebook(TEXTS, COUNT, PICTURES)))
    own = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    env = os.environ | {f"JUPYTER_{name}": str(folder / name) for name in own}
    own = ("SETTINGS_DIR", "WORKSPACES_DIR")
    env |= {f"JUPYTERLAB_{name}": str(folder / name) for name in own}
    env |= {"IPYTHONDIR": str(folder / "ipython")}
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder / "work",
        "IdentityProvider.token": "secret",
        "LabApp.news_url": "",
        "LabApp.extension_manager": "readonly",
    }
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
            + [f"--{name}={value}" for name, value in options.items()],
            env=env,
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/api?token=secret", timeout=10).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.2)
        yield f"{address}/lab/tree/example.ipynb?token=secret&reset"
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.mark.slow
def test_the_example_runs(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    example = nbformat.read(Path(__file__).parents[1] / "examples" / "notebook.ipynb", as_version=4)
    NotebookClient(example, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = {cell.id: cell.outputs for cell in example.cells if cell.cell_type == "code"}
    [widget] = shown["widget"]
    assert "application/vnd.jupyter.widget-view+json" in widget["data"]
    assert "0 kinds after 0 presses" in shown["clusters"][0]["text"]


@pytest.mark.slow
def test_in_jupyterlab(lab):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.set_default_timeout(90_000)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(lab)
        page.get_by_text("Python 3 (ipykernel)").first.wait_for()
        page.locator(".jp-CodeCell .cm-content").first.click()
        run = page.keyboard.press
        run("Shift+Enter")
        widget = page.locator("[data-lm-suppress-shortcuts]").first
        answers = widget.locator("#actions button")
        answers.first.wait_for()

        # Texts are texts.
        assert HOSTILE in widget.locator("#question-body").inner_text()
        assert widget.locator("#question-body img, #question-body b").count() == 0
        assert page.evaluate("window.hit") is None

        def presses(count):
            widget.locator("#standing strong", has_text=f"{count} press").first.wait_for()
            widget.locator("#saved", has_text="Saved").wait_for()

        # Keys without the focus are the notebook's; within, they answer and do nothing to it: d d deletes a
        # cell there, b adds one.
        cells = page.locator(".jp-Cell").count()
        widget.locator("#question-title").click()
        for done, key in enumerate(("d", "d"), start=1):
            run(key)
            presses(done)
        run("b")
        presses(1)
        run("?")
        widget.locator("dialog.help").wait_for()
        run("Escape")
        assert page.locator(".jp-Cell").count() == cells == 3

        # By the mouse, and by a name.
        widget.locator("[data-answer=unsure]").click()
        presses(2)
        run("/")
        page.keyboard.type("Dandelions b")
        assert widget.locator(".picker-field").input_value() == "Dandelions b"
        run("Enter")
        presses(3)
        assert page.locator(".jp-Cell").count() == 3

        # All of it is in the kernel.
        page.locator(".jp-CodeCell .cm-content").nth(1).click()
        run("Shift+Enter")
        page.get_by_text("presses 3 names ['Dandelions b']").wait_for()

        # Another widget, of pictures, is another page.
        run("Shift+Enter")
        pictures = page.locator("[data-lm-suppress-shortcuts]").nth(1)
        pictures.locator("#actions button").first.wait_for()
        image = pictures.locator(".stage img[src]").first
        image.wait_for()
        assert image.get_attribute("src").startswith("data:image/png;base64,")
        assert image.evaluate("async (image) => (await image.decode(), image.naturalWidth > 0)")
        pictures.locator("[data-answer=different]").click()
        pictures.locator("#standing strong", has_text="1 press").wait_for()
        assert "3 presses" in widget.locator("#standing").inner_text()

        # Styles stay where they are, either way.
        styled = "element => getComputedStyle(element).minHeight"
        assert answers.first.evaluate(styled) != "auto"
        outside = page.locator(".jp-Toolbar button, .jp-Toolbar jp-button").first
        assert outside.evaluate("element => element.matches('.answer')") is False
        assert page.evaluate(
            "[...document.styleSheets].every(s => !s.ownerNode?.textContent?.includes('.picker-field'))"
        )
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        page.wait_for_function(
            "document.querySelector('[data-lm-suppress-shortcuts]').dataset.theme === 'dark'"
        )
        assert errors == []
