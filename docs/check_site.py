"""Check that a built site loads nothing from elsewhere, and that its links lead somewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page loads, what it links to, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down one element."""
        values = {name: value or "" for name, value in attrs}
        self.places.add(values.get("id", ""))
        if tag in LOADS and (url := values.get(LOADS[tag])):
            self.loads.append(url)
        elif tag == "a" and (url := values.get("href")):
            self.links.append(url)


def faults(site: Path) -> list[str]:
    """Return what is wrong, a line each."""
    built = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: Page(path) for path in built}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name} loads {url}" for url in page.loads if urlsplit(url).netloc]
        for url in [*page.loads, *page.links]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{name} links to {url}, which does not exist")
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].places
            ):
                found.append(f"{name} links to {url}, a place that its page does not have")
    return found


if __name__ == "__main__":
    problems = faults(Path(sys.argv[1]).resolve())
    print(
        "\n".join(problems)
        or "The site loads nothing from elsewhere, and its links lead somewhere."
    )
    sys.exit(bool(problems))
