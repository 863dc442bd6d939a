"""What a peer is: another way to the same end, its adapter, and what it needs to run here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

FOLDER = "SAMEKIND_PEERS"
"""The environment variable that names the folder of checkouts."""


class Job(NamedTuple):
    """What an adapter does; it calls `report` with a budget, the questions asked, and all labels."""

    X: NDArray[Any]
    y: NDArray[Any]
    budgets: Sequence[int]
    seed: int
    report: Callable[[int, int, ArrayLike], None]


@dataclass(frozen=True)
class Checkout:
    """A repository that is on no package index: its address, the commit that is measured, a file in it."""

    url: str
    commit: str
    file: str

    @property
    def path(self) -> Path:
        """Where it is to be, by the name of its repository."""
        return Path(os.environ.get(FOLDER, "")) / self.url.rpartition("/")[2]

    def missing(self) -> str:
        """Return why it cannot be used, and how to get it; or nothing."""
        if not (self.path / self.file).is_file():
            here = f"clone it at {self.commit[:7]} into the folder that {FOLDER} names"
            return f"{self.url} is not here; {here}"
        if (self.path / ".git").exists():
            asked = ["git", "-C", str(self.path), "rev-parse", "HEAD"]
            head = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
            if head != self.commit:
                return (
                    f"{self.path} is at {head[:7]}: check out {self.commit[:7]}, which is measured"
                )
        return ""


@dataclass(frozen=True)
class Peer:
    """A way of clustering.

    `remark` says what it is told or lacks; it needs a `module`, and perhaps a `checkout`. On more than
    `most_rows` it is not run: `reason` says why.
    """

    remark: str
    module: str
    run: Callable[[Job], None]
    checkout: Checkout | None = None
    most_rows: int | None = None
    reason: str = ""

    def missing(self) -> str:
        """Return why it cannot run here, or nothing."""
        if find_spec(self.module) is None:
            return (
                f"the module {self.module} is not installed; pip install 'samekind[peers]' adds it"
            )
        return "" if self.checkout is None else self.checkout.missing()

    def too_large(self, n: int) -> str:
        """Return why it is not run on so many rows, or nothing."""
        if self.most_rows is None or n <= self.most_rows:
            return ""
        return f"not run on more than {self.most_rows:,} rows: {self.reason}"
