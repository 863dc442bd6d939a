"""The page's own modules and styles as one module, which is what anywidget takes.

Every module becomes a function's body within one function, whose parameter `document` is all that they know
of the notebook: a page of its own. So every view of a widget has its own state, and the page and the notebook
have the same cards, keys and queue. `api.js` is another one here, which asks by messages, and so is `me.js`,
as there are no roles.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path

__all__ = ["bundle"]

OWN = Path(__file__).with_name("static")
PAGE = Path(__file__).parents[1] / "web" / "static"
ENTRY = "widget.js"
STYLES = ("style.css", "question.css", "widget.css")

IMPORT = re.compile(
    r"""^import (?:(?P<default>\w+)|\{(?P<names>[^}]*)\}) from ["'](?P<place>\./[\w./]+\.js)["'];$""",
    re.MULTILINE,
)
DEFAULT = re.compile(r"^export default (?=class (\w+))", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
EXPORTED = re.compile(r"(?:^|(?<=;))export ?\{([^}]*)\};$", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)

# The page's styles in a shadow: its root is the host, its body an element, its width that of the cell.
IN_A_SHADOW = (
    (re.compile(r":root\[([^\]]*)\]"), r":host([\1])"),
    (re.compile(r":root\b"), ":host"),
    (re.compile(r"^html \{[^}]*\}$", re.MULTILINE), ""),
    (re.compile(r"(?<![\w#.-])body(?=[\s:\[.{])"), ".page"),
    (re.compile(r"@media \((max|min)-width"), r"@container (\1-width"),
    (re.compile(r"min-height: 100dvh;"), ""),
)


@cache
def bundle() -> str:
    """Return the module."""
    modules: dict[str, str] = {}
    _add(ENTRY, modules)
    return "\n".join(
        [
            f"const STYLES = {json.dumps(_styles())};",
            "function makePage(document) {",
            "const modules = {};",
            *modules.values(),
            f'return modules["{ENTRY}"];',
            "}",
            _find("view.js").read_text(encoding="utf-8"),
        ]
    )


def _find(name: str) -> Path:
    return OWN / name if (OWN / name).exists() else PAGE / name


def _add(name: str, modules: dict[str, str]) -> None:
    """Add a module after those that it needs."""
    if name in modules:
        return
    text = _find(name).read_text(encoding="utf-8")
    for found in IMPORT.finditer(text):
        _add(_named(found, name), modules)
    modules[name] = f'modules["{name}"] = (() => {{\n{_as_body(name, text)}\n}})();'


def _named(found: re.Match[str], importer: str) -> str:
    """Return the name of an imported module: where it is below the page's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), found["place"]))


def _as_body(name: str, text: str) -> str:
    """Return a module as the body of a function that returns what it exports."""
    exports = {own: own for own in EXPORT.findall(text)}
    for own in DEFAULT.findall(text):
        exports["default"] = own
    for names in EXPORTED.findall(text):
        for one in names.split(","):
            own, _, shown = one.strip().partition(" as ")
            exports[shown or own] = own
    for pattern in (EXPORTED, DEFAULT, EXPORT):
        text = pattern.sub("", text)

    def imported(found: re.Match[str]) -> str:
        names = found["names"] or f"default: {found['default']}"
        return f'const {{{names}}} = modules["{_named(found, name)}"];'

    text = IMPORT.sub(imported, text)
    if left := LEFT.search(text):
        raise ValueError(f"{name}: {left.group()!r} cannot be bundled. Write it as the others are.")
    listed = ", ".join(f"{shown}: {own}" for shown, own in exports.items())
    return f"{text}\nreturn {{ {listed} }};"


def _styles() -> str:
    text = "\n".join(_find(name).read_text(encoding="utf-8") for name in STYLES)
    for what, instead in IN_A_SHADOW:
        text = what.sub(instead, text)
    return text
