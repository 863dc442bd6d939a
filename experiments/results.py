"""The results of an experiment: a tidy summary with what one must know of it, and how they are kept.

The file is JSON that any reader takes, the summary in it as names of columns and rows::

    format       3
    experiment   "paper", "focused", "ablation", "noisy", "certificate", "unsure", "piles", "peers" or
                 "relatives"
    made_by      versions of samekind, Python, NumPy, SciPy, scikit-learn and Numba
    machine      cores and operating system
    seeds        how the seeds of run i follow from i
    skipped      {data set or peer: why it was left out}
    details      what else pages say of the experiment; see its design
    summary      {"columns": names, "rows": lists}; see experiments.summary
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from experiments.store import Record, write_text
from experiments.summary import tidy
from samekind import __version__

FORMAT = 3
SEEDS = "run i of every data set: made data has seed i, the draws have seed 1,000,000 + i"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
HEADER = ("experiment", "made_by", "machine", "seeds", "skipped", "details")


def _versions() -> dict[str, str]:
    ours = {"samekind": __version__, "python": platform.python_version()}
    return ours | {name: version(name) for name in PACKAGES}


def _machine() -> Record:
    """Return what times may depend on; nothing that names the machine."""
    return {"cores": os.cpu_count(), "system": platform.system()}


@dataclass(frozen=True)
class Results:
    """What came out of an experiment."""

    experiment: str
    summary: pd.DataFrame
    details: Record = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    seeds: str = SEEDS
    made_by: dict[str, str] = field(default_factory=_versions)
    machine: Record = field(default_factory=_machine)

    @property
    def data(self) -> list[str]:
        """The data sets with results."""
        return list(dict.fromkeys(self.summary["data"]))

    def of(self, data: str) -> pd.DataFrame:
        """Return the part of the summary on a data set."""
        return self.summary[self.summary["data"] == data]

    def to_json(self) -> str:
        """Return the text of the file, with a line for each row of the summary."""
        header = {"format": FORMAT} | {name: getattr(self, name) for name in HEADER}
        plain = self.summary.astype(object).where(self.summary.notna(), None).to_numpy().tolist()
        rows = ",\n".join(json.dumps([_plain(value) for value in row]) for row in plain)
        columns = json.dumps(list(self.summary.columns))
        head = json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
        return f'{head},\n "summary": {{"columns": {columns}, "rows": [\n{rows}\n]}}\n}}\n'

    def write(self, path: Path) -> None:
        """Write the file."""
        write_text(path, self.to_json())


def _plain(value: object) -> object:
    """Return whole numbers without decimals: most are counts."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_results(path: Path) -> Results:
    """Read a file that `Results.write` wrote."""
    try:
        content = json.loads(path.read_text("utf-8"))
        table = content["summary"]
        summary = tidy(pd.DataFrame(table["rows"], columns=table["columns"]))
        return Results(summary=summary, **{name: content[name] for name in HEADER})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} does not hold the results of an experiment.") from error
