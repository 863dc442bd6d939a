"""Finished runs in a file of JSON lines, which a kill at any moment leaves readable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

__all__ = ["RunStore"]

Record = dict[str, Any]


class RunStore:
    """Runs, one a line, in the order in which they were finished.

    A line is written in one piece to the end of the file, so several processes may append to it. Lines
    that a kill tore apart are passed over when the file is read.

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
        self.n_damaged = 0
        if not self.path.exists():
            return []
        records: list[Record] = []
        for line in self.path.read_bytes().split(b"\n"):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if isinstance(record, dict):
                records.append(record)
            else:
                self.n_damaged += 1
        return records

    def append(self, record: Record) -> None:
        """Add a run; when this returns it is on the disk."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self._write(line)

    def mend(self) -> None:
        """End a torn last line, so that the next run begins a line of its own."""
        if self.path.exists() and self.path.stat().st_size:
            with open(self.path, "rb") as file:
                file.seek(-1, os.SEEK_END)
                whole = file.read(1) == b"\n"
            if not whole:
                self._write(b"\n")

    def _write(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.open(self.path, flags, 0o666)
        try:
            while line:
                line = line[os.write(file, line) :]
            os.fsync(file)
        finally:
            os.close(file)
