"""The examples for those who run a server: what they name is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer

from samekind.cli import app

ROOT = Path(__file__).parent.parent
UNIT = (ROOT / "packaging" / "serve" / "samekind.service").read_text(encoding="utf-8")
CONTAINER = (ROOT / "packaging" / "serve" / "Containerfile").read_text(encoding="utf-8")
PORT = "8720"


def commands(text):
    """Yield the words of every `samekind` command, comments and continued lines too."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for found in re.finditer(r"(?<![\w.=-])(?:\S+/)?samekind ((?:serve|links) .+)", joined):
        yield shlex.split(found[1])


@pytest.mark.parametrize(("text", "fewest"), [(UNIT, 1), (CONTAINER, 2)], ids=["unit", "container"])
def test_commands_and_options_are_there(text, fewest):
    found = list(commands(text))
    assert len(found) >= fewest
    known = typer.main.get_command(app).commands
    for name, *words in found:
        command = known[name]
        if name == "links":
            command = command.commands[words.pop(0)]
        options = {option for one in command.params for option in one.opts}
        given = [word for word in words if word.startswith("--")]
        assert given
        assert set(given) <= options


def test_systemd_reads_the_unit(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    # the program and the user are there where the example is used
    here = UNIT.replace("/opt/samekind/bin/samekind", "/bin/true").replace("=samekind\n", "=root\n")
    (tmp_path / "samekind.service").write_text(here)
    command = [analyze, "verify", str(tmp_path / "samekind.service")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_the_container_installs_and_watches_what_is_there():
    extras = re.search(r"/src\[([\w,]+)\]", CONTAINER)[1].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras) <= set(project["optional-dependencies"])
    python = re.search(r"python:(\d+\.\d+)", CONTAINER)[1]
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    assert re.search(r"EXPOSE (\d+)", CONTAINER)[1] == PORT
    health = re.search(r'HEALTHCHECK CMD python -c "(.+)"', CONTAINER)[1]
    compile(health, "health", "exec")
    assert f"127.0.0.1:{PORT}/healthz'" in health
