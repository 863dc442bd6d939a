"""A real browser and a real server for the tests of the labelling page."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from experiments.person_browser import ARGUMENTS, CHROMIUM
from serving import PAGE, TOKEN, Serving

NOTE_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


def do_without(why):
    """Skip, or fail where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why, allow_module_level=True)


@contextmanager
def chromium():
    """Launch the system's Chromium, or else Playwright's own."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        do_without("Playwright is not installed: pip install -e '.[dev]'")
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        except Error as error:
            reason = str(error).splitlines()[0]
            do_without(f"no Chromium: {reason} Install it, or run `playwright install chromium`")
        yield browser
        browser.close()


class Served(Serving):
    """The page of a project; `url` is the address that is printed, with the token."""

    def __init__(self, project, **options):
        super().__init__(project, **options)
        self.origin = self.url
        self.url = f"{self.origin}{PAGE}/#token={TOKEN}"


class Visit:
    """A tab, and what it did: requests, errors, breaches of the content security policy."""

    def __init__(self, context, url, *, asked=True, **remembered):
        self.requests, self.errors = [], []
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.add_init_script(NOTE_VIOLATIONS)
        for name, value in remembered.items():
            keep = f"localStorage['samekind.{name}'] ??= {json.dumps(json.dumps(value))}"
            self.page.add_init_script(keep)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._listen)
        self.page.goto(url)
        if asked:  # or else there is no question to wait for
            self.wait()

    def _listen(self, message):
        if "Content Security Policy" in message.text or "Refused to" in message.text:
            self.errors.append(message.text)

    def wait(self, before="", hasty=False):
        """Wait for a question other than this one, or for the end; return its id, or "".

        Who is not hasty waits for the server's reply, too, after which the question stays.
        """
        ready = """([before, hasty]) => {
            const {dataset, ariaBusy} = document.getElementById("question");
            const quiet = hasty || document.getElementById("saved").dataset.state !== "saving";
            return ariaBusy === "false" && dataset.id !== before && quiet;
        }"""
        self.page.wait_for_function(ready, arg=[before, hasty])
        return self.question

    @property
    def question(self):
        return self.page.get_attribute("#question", "data-id")

    def press(self, key, hasty=False):
        """Answer by a key, and wait for the next question."""
        before = self.question
        self.page.keyboard.press(key)
        return self.wait(before, hasty)

    def listens(self):
        """Wait until keys count again, as they do a second after typing."""
        self.page.wait_for_selector("body:not([data-keys=quiet])")

    def saved(self):
        """Wait until the server has everything."""
        self.page.wait_for_selector("#saved[data-state=saved]")

    def goto(self, screen):
        self.page.click(f"nav [data-goto={screen}]")


def truth(question, labels):
    """Return the key of the right answer."""
    form, row, others = question.split("-")
    others = [int(other) for other in others.split(".")]
    same = [labels[other] == labels[int(row)] for other in others]
    if form == "l":
        return str(same.index(True) + 1) if any(same) else "0"
    return "s" if same[0] else "d"


def axe_script():
    """Return the text of axe-core."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def digits_file(folder, n):
    """Write the first pictures of digits as an array."""
    from samekind.datasets import load_digits

    images = np.round(load_digits().data[:n].reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
    path = Path(folder) / "digits.npy"
    np.save(path, images)
    return path
