"""The public API: names, imports, documentation, and which package may import which."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import samekind

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(samekind.__path__, prefix="samekind.")
)
HEAVY = ("numba", "sklearn", "pandas", "sqlalchemy", "scipy", "rich", "typer", "plotly")


def run(code):
    """Run Python in a fresh process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", samekind.__all__)
def test_every_public_name_is_there(name):
    assert getattr(samekind, name) is not None


def test_what_a_fresh_import_shows_is_what_is_public():
    shown = run("import samekind; print([name for name in dir(samekind) if name[0] != '_'])")
    assert set(eval(shown)) == set(samekind.__all__)
    assert len(set(samekind.__all__)) == len(samekind.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="solv"):
        _ = samekind.solv


def test_star_import_gives_all_names():
    assert (
        run("from samekind import *; print(solve.__name__, Session.__name__)") == "solve Session\n"
    )


def test_import_is_light():
    code = f"import sys, samekind; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(code) == "[]\n"


def test_no_module_prints_when_imported():
    code = f"import importlib\nfor m in {[m for m in MODULES if '__main__' not in m]}:\n"
    assert run(code + "    importlib.import_module(m)") == ""


def test_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert samekind.__version__ == project["version"]


def public_objects():
    for name in samekind.__all__:
        value = getattr(samekind, name)
        if inspect.isclass(value) or callable(value):
            yield name, value
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                inner = member.fget if isinstance(member, property) else member
                inner = getattr(inner, "__func__", inner)
                if not attribute.startswith("_") and inspect.isfunction(inner):
                    yield f"{name}.{attribute}", inner


@pytest.mark.parametrize(("name", "value"), list(public_objects()))
def test_everything_public_is_documented(name, value):
    assert inspect.getdoc(value), f"{name} has no docstring"


def has_examples(module):
    path = Path(samekind.__file__).parents[1] / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ">>>" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*filter(has_examples, ["samekind", *MODULES])])
def test_examples_in_the_documentation(name):
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    names = {"np": np, **vars(module)}
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    report = []
    for test in finder.find(module, name, globs=names):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_rooms_import_only_what_they_may():
    """The layers in pyproject.toml, as `lint-imports` checks them.

    It turns off every logger that its process already has, so it gets a process of its own.
    """
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
