"""Every line of the tables in docs/security.md that name tests names such as there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "security.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("title", "fewest"),
    [
        ("The token", 4),
        ("Bounds", 6),
        ("The project's file", 10),
        ("The project on a server", 10),
        ("Personal links", 20),
    ],
)
def test_every_line_has_tests_that_are_there(title, fewest):
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(lines) >= fewest
    for line in lines:
        named = line.split(" | ")[-1]
        for file, tests in re.findall(r"`(test_\w+\.py)`: ((?:`test_\w+`(?:, )?)+)", named):
            source = (HERE / file).read_text(encoding="utf-8")
            for test in re.findall(r"`(test_\w+)`", tests):
                assert f"def {test}(" in source, (file, test)
        assert re.search(r"`test_\w+\.py`: `test_\w+`", named), line
