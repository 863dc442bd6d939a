"""What is left out of the wheel: comments of the page's files, and nothing else."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

import samekind

PACKAGE = Path(samekind.__file__).parent
SCRIPTS = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".js", ".css"))
STRIP = runpy.run_path(str(PACKAGE.parents[1] / "packaging" / "shrink_wheel.py"))[
    "without_comments"
]


def test_comments_go_and_everything_else_stays():
    text = """\
/* A style
   and a script. */
// A line.
const a = 1; // stays
  /** One line. */
  const b = `first
  // of a text
    /* all of it */
  \\` last`;
/* before */ const c = "/*";
/*
 * @typedef
 */ const d = 4;
"""
    assert STRIP(text).splitlines() == [
        "const a = 1; // stays",
        "const b = `first",
        "  // of a text",
        "    /* all of it */",
        "  \\` last`;",
        'const c = "/*";',
        "const d = 4;",
    ]


def test_the_page_loses_comments_only():
    """Lines that are left out begin as comments do; the others stand in their order."""
    for path in SCRIPTS:
        lines = [
            re.sub(r"^/\*.*?\*/ *(?=.)", "", line.strip())
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        left = iter([line.strip() for line in STRIP(path.read_text("utf-8")).splitlines()])
        expected, gone = next(left, None), []
        for line in lines:
            if line == expected:
                expected = next(left, None)
            else:
                gone.append(line)
        assert expected is None, path
        assert all(re.match(r"//|/\*|\*|$", line) for line in gone), path


def test_the_page_is_still_scripts():
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    scripts = [STRIP(path.read_text(encoding="utf-8")) for path in SCRIPTS if path.suffix == ".js"]
    parse = """
        const scripts = JSON.parse(require("fs").readFileSync(0, "utf8"));
        for (const script of scripts) new (require("vm").SourceTextModule)(script);
    """
    command = ["node", "--no-warnings", "--experimental-vm-modules", "-e", parse]
    subprocess.run(command, input=json.dumps(scripts), text=True, check=True)
