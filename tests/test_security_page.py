"""Every line of the tables in docs/security.md names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "security.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.splitlines() if re.match(r"\| (?!what samekind|\|)", line)]


def test_there_are_lines():
    assert len(LINES) >= 40


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split(" | ")[0].strip("| ")[:40])
def test_every_line_has_tests_that_are_there(line):
    named = line.split(" | ")[-1]
    files = re.findall(r"`(test_\w+\.py)`: ((?:`\w+`(?:, )?)+)", named)
    assert files
    for file, tests in files:
        source = (HERE / file).read_text(encoding="utf-8")
        for test in re.findall(r"`(\w+)`", tests):
            assert re.search(rf"^ *(?:def {test}\(|class {test}\b)", source, re.M), (file, test)
