"""Make the pictures of page and report that the documentation shows: ``python docs/make_pictures.py``.

A simulated person sorts the demo in Chromium until every sort of question has come. With ``--look FOLDER``
each screen is also written there as it looks on a desktop, in the dark and on a small phone.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from experiments.person import Sitting, page_of, served  # noqa: E402
from experiments.person_browser import BrowserPerson, chromium  # noqa: E402
from samekind.data import Items, demo_items, load  # noqa: E402
from samekind.datasets import load_digits, make_messages  # noqa: E402
from samekind.project import Project  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DESKTOP = {"width": 1280, "height": 760}
TALL = {"width": 1280, "height": 1320}  # numbers and map of the report
PHONE = {"width": 360, "height": 640}
NAMES = ["zeros", "ones", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines"]
SETTLED = 60  # presses after which pictures are taken
QUIET_MS = 4_000  # after which messages are gone, and the panel is up to date
MOST_BYTES = 300_000
FILM = {"width": 1000, "height": 640}
FILMED = [
    0,
    1,
    2,
    3,
    4,
    6,
    9,
    13,
    20,
    30,
    45,
    60,
    80,
    100,
    130,
]  # presses before each of its pictures
FRAME_MS, LAST_MS = 900, 3_000
MOST_BYTES_OF_FILM = 1_000_000


def save(page: Page, path: Path) -> None:
    """Write what is on the screen, in 256 colours."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}.")


def look_around(page: Page, folder: Path | None, name: str) -> None:
    """Write the screen as it is on a desktop, in the dark and on a phone."""
    if folder is None:
        return
    for how, size, scheme in (
        ("desktop", DESKTOP, "light"),
        ("dark", DESKTOP, "dark"),
        ("phone", PHONE, "light"),
    ):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.wait_for_timeout(500)
        page.screenshot(path=folder / f"{name}-{how}.png")
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")


def sort(
    browser: Browser, items: Items, kinds: list[str], wanted: dict[str, str], look: Path | None
) -> None:
    """Let a person sort items until each wanted sort of question has come; take a picture of each."""
    shown = [items.show(row).text or f"/items/{row}/picture" for row in range(items.n)]
    sitting = Sitting("demo", 0)
    with served(Project(items, title=items.source, random_state=0, budget=400)) as client:
        page = browser.new_context(viewport=DESKTOP).new_page()  # type: ignore[arg-type]
        kind_of = dict(zip(shown, kinds, strict=True))
        person = BrowserPerson(page, page_of(client), kind_of, sitting)
        left = dict(wanted)
        while left and person.question() is not None:
            kind = page.get_attribute("#question", "data-type") or ""
            if sitting.presses >= SETTLED and (
                kind in left or (kind, [*left]) == ("lineup", ["say"])
            ):
                page.evaluate("document.getElementById('found').scrollTop = 0")
                page.wait_for_timeout(QUIET_MS)
                if kind == "lineup" and "say" in left:
                    page.locator("#say .picker-field").fill(kinds[0].split()[0])
                    page.wait_for_selector("#say .picker-option")
                    save(page, HERE / "images" / left.pop("say"))
                    look_around(page, look, f"{kinds[0]}-say")
                    page.locator("#say .picker-field").fill("")
                    page.keyboard.press("Escape")
                if kind in left:
                    save(page, HERE / "images" / left.pop(kind))
                look_around(page, look, f"{kinds[0]}-{kind}")
            person.answer()
        for screen in ("found", "review", "finish") if look else ():
            page.click(f"nav [data-goto={screen}]")
            page.wait_for_timeout(QUIET_MS)
            look_around(page, look, f"{kinds[0]}-{screen}")
        if left or person.failures:
            raise SystemExit(f"not shown: {left}; failed: {person.failures}")


def film(browser: Browser, items: Items, kinds: list[str], path: Path) -> None:
    """Write pictures of a person who sorts texts, more of the beginning, as one picture that moves."""
    shown = [items.show(row).text or "" for row in range(items.n)]
    sitting = Sitting("demo", 0)
    frames = []
    with served(Project(items, title=items.source, random_state=0, budget=400)) as client:
        page = browser.new_context(viewport=FILM).new_page()  # type: ignore[arg-type]
        kind_of = dict(zip(shown, kinds, strict=True))
        person = BrowserPerson(page, page_of(client), kind_of, sitting)
        while len(frames) < len(FILMED) and person.question() is not None:
            if sitting.presses >= FILMED[len(frames)]:
                page.wait_for_timeout(QUIET_MS)
                frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            person.answer()
    palette = frames[-1].quantize(64, kmeans=1)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [FRAME_MS] * (len(drawn) - 1) + [LAST_MS]
    drawn[0].save(
        path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True
    )
    if path.stat().st_size > MOST_BYTES_OF_FILM:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes: leave some pictures out.")


def picture_report(browser: Browser, look: Path | None) -> None:
    """Take a picture of the report of the demo."""
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "samekind", "demo", "--out", folder, "--budget", "300"]
        subprocess.run(run, check=True, capture_output=True)
        page = browser.new_context(viewport=TALL).new_page()  # type: ignore[arg-type]
        page.goto((Path(folder) / "report.html").as_uri())
        page.wait_for_timeout(QUIET_MS)
        save(page, HERE / "images" / "report.png")
        look_around(page, look, "report")


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--look", type=Path, metavar="FOLDER", help="for every screen, in all looks"
    )
    look = parser.parse_args().look
    if look is not None:
        look.mkdir(parents=True, exist_ok=True)
    digits = [NAMES[label] for label in load_digits().target]
    wanted = {"pair": "label-pair.png", "lineup": "label-lineup.png", "sheet": "label-sheet.png"}
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        sort(browser, demo_items(), digits, wanted, look)
        texts, topics = make_messages(1_000, random_state=0)
        path = Path(folder) / "messages.csv"
        pd.DataFrame({"message": texts}).to_csv(path, index=False)
        messages, kinds = load(path, text="message"), [str(topic) for topic in topics]
        sort(browser, messages, kinds, {"say": "label-say.png"}, look)
        film(browser, messages, kinds, HERE / "images" / "label.gif")
        picture_report(browser, look)


if __name__ == "__main__":
    main()
