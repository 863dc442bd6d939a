"""The packages: what they may import of each other, and what the documents say of them."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import samekind

PACKAGE = Path(samekind.__file__).parent
ROOT = PACKAGE.parents[1]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def title(path):
    return str(path.relative_to(PACKAGE))


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path):
    """Yield (module, name or None) for everything of samekind that a file imports."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("samekind"):
            for alias in node.names:
                yield node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("samekind"):
                    yield alias.name, None


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_imports(path):
    """Yield what a file imports of another folder's own."""
    here = ("samekind", *path.relative_to(PACKAGE).parent.parts)
    for module, name in imports(path):
        parts = [*module.split("."), *([name] if name else [])]
        for place, part in enumerate(parts):
            if is_private(part):
                owner = tuple(parts[:place])
                if (PACKAGE.joinpath(*owner[1:]).with_suffix(".py")).is_file():
                    owner = owner[:-1]  # a private name of a module is for the module's folder
                if here[: len(owner)] != owner:
                    yield f"{title(path)} imports {'.'.join(parts)}"


def test_nothing_private_of_another_folder_is_imported():
    """What begins with an underscore is for its own folder, and the folders below it."""
    assert [found for path in SOURCES for found in private_imports(path)] == []


def test_the_architecture_shows_every_package():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.split("```")[1]
    listed = re.findall(r"\b(\w+)(?:/|\.py)(?![\w.])", picture)
    packages = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path.is_dir() and (path / "__init__.py").is_file()) or path.suffix == ".py"
    }
    assert sorted(listed) == sorted(packages - {"__init__", "__main__"})


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_the_documents_name_are_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|js|md|json)|(?:\w+/)+)`", text))
    homes = (
        ROOT,
        PACKAGE,
        PACKAGE / "algorithms",
        PACKAGE / "points",
        ROOT / "tests",
        ROOT / "docs",
    )
    missing = {name for name in named if not any((home / name).exists() for home in homes)}
    assert named
    assert not missing
