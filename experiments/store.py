"""Files: finished runs as JSON lines, which a kill at any moment leaves readable, and whole texts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Record = dict[str, Any]
"""What JSON can hold."""


class RunStore:
    """Runs, one a line, in the order in which they were finished.

    Lines that a kill tore apart are passed over when the file is read.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = RunStore(Path(folder.name) / "runs.jsonl")
    >>> store.append({"run": 0})
    >>> store.read()
    [{'run': 0}]
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_damaged = 0

    def read(self) -> list[Record]:
        """Return all runs that are whole; `n_damaged` then counts the lines that are not."""
        records: list[Record] = []
        self.n_damaged = 0
        for line in self.path.read_bytes().splitlines() if self.path.exists() else []:
            try:
                record = json.loads(line or b"{}")
            except ValueError:
                record = None
            if isinstance(record, dict):
                records += [record] if record else []
            else:
                self.n_damaged += 1
        return records

    def append(self, record: Record) -> None:
        """Add a run, on a line of its own whatever was there; when this returns it is on the disk."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        with open(self.path, "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a line that was torn apart
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Write beside the file and put it in its place: a half-written one is never seen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8", newline="\n")
    os.replace(beside, path)
