"""The simulated person in a real Chromium: reads what is on the screen, clicks and types."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

    from experiments.person import Sitting

Json = dict[str, Any]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SHORTENED = 140  # characters of a text that small views show
PATIENCE_MS = 120_000  # machines may be busy
READY = """(before) => {
    const {dataset, ariaBusy} = document.getElementById("question");
    const quiet = document.getElementById("saved").dataset.state !== "saving";
    return ariaBusy === "false" && quiet && dataset.id !== before;
}"""
READ = """() => {
    const seen = (node) => {
        const image = node.querySelector("img");
        const text = node.querySelector(".text, .mini-text") ?? node;
        return image ? new URL(image.src).pathname : text.textContent;
    };
    const all = (where, selector) => [...where.querySelectorAll(selector)];
    const section = document.getElementById("question");
    const {id, type} = section.dataset;
    return {
        id, type,
        cards: all(section, ".card").map(seen),
        options: all(section, ".option").map((one) => all(one, ".mini").map(seen)),
        tiles: all(section, ".tile").map(seen),
        kind: all(section, ".tray-kind .strip li").map(seen),
        hint: section.querySelector(".say-hint")?.textContent ?? "",
        found: all(document.getElementById("found"), ".kind").map((card) => ({
            cluster: card.dataset.cluster,
            name: card.querySelector(".kind-head input:not([type=checkbox])").value,
            members: all(card, ".member:not(.predicted)").map(seen),
        })),
    };
}"""
OFFERED = """(wanted) => {
    const options = [...document.querySelectorAll("#say .picker-option")];
    const name = (option) => option.querySelector("strong").textContent;
    const named = options.findIndex((one) => !one.matches(".picker-new") &&
        !one.querySelector(".unnamed") && name(one) === wanted);
    return named >= 0 ? named : -1 - options.findIndex((one) => one.matches(".picker-new"));
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Launch the system's Chromium, or else Playwright's own."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class BrowserPerson:
    """Answers on the page in a tab; `kind_of` says what a thing with this text, or picture of a row, is."""

    def __init__(self, page: Page, address: str, kind_of: dict[str, str], sitting: Sitting) -> None:
        self._page = page
        self._kind_of = {_shown(text): kind for text, kind in kind_of.items()} | kind_of
        self._sitting = sitting
        self.failures: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("response", self._hear)
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.goto(address)
        page.wait_for_function(READY, arg="none yet")

    def question(self) -> str | None:
        """Return the id of the question on the page; None if there is none."""
        return self._page.get_attribute("#question", "data-id") or None

    def answer(self) -> None:
        """Answer the question, and wait for the next one; then name a kind that was seen without a name."""
        seen = self._page.evaluate(READ)
        self._sitting.types[seen["type"]] += 1
        press = self._chosen(seen)
        started = perf_counter()
        press()
        self._sitting.presses += 1
        self._page.wait_for_function(READY, arg=seen["id"])
        self._sitting.seconds.append(perf_counter() - started)
        self._name_one_of(seen)

    def _chosen(self, seen: Json) -> Any:
        """Return the press that answers, after those that lead to it."""
        if seen["type"] == "sheet":
            kind = self._kind(seen["kind"][0])
            for place, thing in enumerate(seen["tiles"]):
                if self._kind(thing) != kind:
                    self._page.locator("#question .tile").nth(place).click()
                    self._sitting.presses += 1
            return lambda: self._press("all")
        kind = self._kind(seen["cards"][0])
        is_known = " is of " in seen["hint"]
        if seen["type"] == "pair":
            if kind == self._kind(seen["cards"][1]):
                return lambda: self._press("same")
            if is_known:
                return lambda: self._press("different")
            if seen["hint"].startswith("B "):  # A is placed already
                kind = self._kind(seen["cards"][1])
        else:
            for place, members in enumerate(seen["options"]):
                if self._kind(members[0]) == kind:
                    option = self._page.locator("#question .option").nth(place)
                    return option.click
            if is_known:
                return lambda: self._press("none")
        return self._typed(kind)

    def _typed(self, kind: str) -> Any:
        """Type what it is; return the press on the kind of that name, or on a new one."""
        field = self._page.locator("#say .picker-field")
        field.fill(kind)
        self._page.wait_for_function(
            """(text) => [...document.querySelectorAll("#say .picker-about, #say [role=status]")]
                .some((node) => node.textContent.includes(`like “${text}”`))""",
            arg=kind,
        )
        place = self._page.evaluate(OFFERED, kind)
        self._sitting.types["found by name" if place >= 0 else "new kind"] += 1
        option = self._page.locator("#say .picker-option").nth(place if place >= 0 else -1 - place)
        return option.click

    def _press(self, answer: str) -> None:
        self._page.click(f"#actions [data-answer={answer}]")

    def _name_one_of(self, seen: Json) -> None:
        """Name one of the kinds that were shown if it has no name, and no other kind has it."""
        shown = [*seen["cards"], *chain(*seen["options"]), *seen["kind"]]
        names = {card["name"] for card in seen["found"]}
        for card in seen["found"]:
            if card["name"] or not set(map(_shown, shown)) & set(map(_shown, card["members"])):
                continue
            kind = self._kind(card["members"][0])
            field = self._page.locator(f"#found .kind[data-cluster='{card['cluster']}']")
            if kind in names or not field.count():
                continue
            name = field.locator(".kind-head input:not([type=checkbox])")
            if name.input_value():
                continue
            name.fill(kind)
            name.press("Enter")
            self._sitting.presses += 1
            self._sitting.types["name"] += 1
            self._page.wait_for_function(READY, arg="")
            return

    def _kind(self, thing: str) -> str:
        if found := re.search(r"/items/(\d+)/picture", thing):
            return self._kind_of[found[0]]
        return self._kind_of[thing]

    def _hear(self, response: Response) -> None:
        if response.status >= 500:
            self.failures.append(f"{response.status} {response.request.method} {response.url}")


def _shown(text: str) -> str:
    """Return a text as small views show it."""
    return text if len(text) <= SHORTENED else f"{text[:SHORTENED].rstrip()}…"
