"""The public API: names, imports, documentation, and which package may import which."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import samekind

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(samekind.__path__, prefix="samekind.")
)
HEAVY = (
    "numba",
    "sklearn",
    "pandas",
    "sqlalchemy",
    "scipy",
    "rich",
    "typer",
    "plotly",
    "dask",
    "fastapi",
    "httpx",
)


def run(code):
    """Run Python in a fresh process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_is_there():
    assert all(getattr(samekind, name) is not None for name in samekind.__all__)
    shown = run("import samekind; print([name for name in dir(samekind) if name[0] != '_'])")
    assert set(eval(shown)) == set(samekind.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="solv"):
        _ = samekind.solv


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


def test_everything_public_is_documented():
    assert [name for name, value in public_objects() if not inspect.getdoc(value)] == []


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


PACKAGE = Path(samekind.__file__).parent
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


class TestLoading:
    def test_the_address_is_printed_before_anything_heavy_is_loaded(self):
        code = "import sys, samekind.web.server, samekind.cli._label as _; "
        code += "import samekind.cli._opening; "
        code += "print([m for m in ('numpy', 'numba', 'pandas', 'fastapi') if m in sys.modules])"
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert out.stdout.strip() == "[]"

    def test_a_first_question_waits_for_no_library_that_it_does_not_need(self, tmp_path):
        """scikit-learn, and scipy.stats, which it loads, take a second."""
        code = "import sys; from pathlib import Path; import samekind.web.app; "
        code += "from samekind.data import DEMO, load; from samekind.project import make_project; "
        code += "print(len(make_project(load(DEMO), Path('digits.db')).next('ann'))); "
        code += "print([m for m in ('sklearn', 'scipy.stats', 'plotly') if m in sys.modules])"
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
        )
        assert out.stdout.split("\n")[:2] == ["1", "[]"]
