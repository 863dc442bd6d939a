"""A process of its own, and the memory it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.ratios import SkippedError

__all__ = ["Outcome", "run_watched"]

ROOT = Path(__file__).parents[2]
EVERY = 0.01  # seconds between two looks at the memory


class Outcome(NamedTuple):
    """What a process said, line by line as JSON, and how long and how large it was."""

    lines: list[dict[str, Any]]
    seconds: float
    anonymous: int
    """The most memory, in bytes, that no file stands behind."""
    unfinished: bool
    complaint: str
    """The last line that it wrote to stderr, if it failed."""


def run_watched(
    command: Sequence[str], limit: float, env: Mapping[str, str] | None = None
) -> Outcome:
    """Run a process to its end, or to a limit in seconds, and look at its memory all the while."""
    if not Path("/proc/self/status").exists():
        raise SkippedError("anonymous memory is known only where there is /proc")
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    shared = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | dict(env or {})
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=shared)
        anonymous, unfinished = 0, False
        try:
            while process.poll() is None:
                anonymous = max(anonymous, anonymous_memory(process.pid))
                if perf_counter() - started > limit:
                    unfinished = True
                    break
                try:
                    process.wait(EVERY)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            process.wait()
        took = perf_counter() - started
        output.seek(0)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().splitlines()
        complaint = (said or [f"ended with code {process.returncode}"])[-1]
        failed = process.returncode != 0 and not unfinished
        whole = [line for line in output.read().splitlines() if line[:1] + line[-1:] == b"{}"]
        lines = [json.loads(line) for line in whole]  # without one that was cut off
        return Outcome(lines, took, anonymous, unfinished, complaint[:200] if failed else "")


def anonymous_memory(process: int) -> int:
    """Return the bytes in memory of a process that no file stands behind; 0 when it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def ours(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module of these benchmarks."""
    return [sys.executable, "-m", module, *map(str, arguments)]
