"""What the documentation shows is what happens."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from samekind.cli import app as cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
        env={"PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "PATH": ""},
    ).stdout


def lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_first_example_prints_what_the_readme_says():
    code, shown = re.search(r"```python\n(.+?)```\n\n```text\n(.+?)```", README, re.DOTALL).groups()
    assert lines(run("-c", code)) == lines(shown)


CLUSTER = ROOT / "examples" / "dask_cluster.py"  # starts processes, which load it
EXAMPLES = [path for path in sorted(ROOT.glob("examples/*.py")) if path != CLUSTER]


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.slow
def test_the_example_of_a_cluster_runs():
    assert run(CLUSTER)


@pytest.mark.slow
def test_the_blocks_about_records_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.+?)```", page, re.DOTALL):
        exec(block, names)
    assert len(names["linked"].labels_) == len(names["a"]) + len(names["b"])


def test_links_lead_somewhere():
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
            assert "://" in link or (document.parent / link).exists(), (document.name, link)


def test_the_site_documents_every_command_and_option(tmp_path, monkeypatch):
    """The reference is made when the site is built: do here what Sphinx does."""
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which conf.py adds
    handlers = {}
    app = SimpleNamespace(srcdir=tmp_path, connect=handlers.__setitem__)
    runpy.run_path(str(ROOT / "docs" / "conf.py"))["setup"](app)
    handlers["builder-inited"](app)
    reference = (tmp_path / "api" / "cli.rst").read_text(encoding="utf-8")
    assert "\napi/cli\n" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")  # in its toctree
    commands = dict(typer.main.get_command(cli).commands)
    commands |= {f"links {name}": one for name, one in commands.pop("links").commands.items()}
    for name, command in commands.items():
        _, _, section = reference.partition(f"\nsamekind {name}\n-")
        section = section.split("\n\nsamekind ")[0]
        assert section, name
        for parameter in command.params:
            for option in parameter.opts:
                assert option in section or option == parameter.name, (name, option)


def test_every_algorithm_is_documented():
    from samekind.algorithms import ALGORITHMS

    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    assert all(f"| `{name}`" in page for name in ALGORITHMS)


def test_the_citation_has_the_version():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_reference_lists_every_public_class_and_function():
    import samekind

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    packages = {"datasets", "measures", "report"}
    names = [name for name in samekind.__all__ if callable(getattr(samekind, name))]
    names += [f"datasets.{name}" for name in samekind.datasets.__all__]
    assert [name for name in names if name not in packages and f"   {name}\n" not in page] == []
