"""The page's store, outbox and keyboard in Node; no browser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from browser import do_without

HERE = Path(__file__).parent / "js"


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.js")))
def test_in_node(name):
    node = shutil.which("node")
    if node is None:
        do_without("There is no Node: the page's modules are tested with it.")
    done = subprocess.run(
        [node, "--test", name], cwd=HERE, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
