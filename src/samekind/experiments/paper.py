"""The paper's numbers, from ``paper.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["PaperTable", "paper_table"]


@dataclass(frozen=True)
class PaperTable:
    """One block of a table: a data set's numbers by algorithm, in the order of the columns."""

    caption: str
    label: str
    columns: tuple[int, ...]
    rows: dict[str, tuple[float, ...]]

    def value(self, algorithm: str, column: int) -> float | None:
        """Return the paper's number, if it has one."""
        if algorithm not in self.rows or column not in self.columns:
            return None
        return self.rows[algorithm][self.columns.index(column)]


@cache
def _tables() -> dict[str, dict[str, PaperTable]]:
    text = resources.files("samekind.experiments").joinpath("paper.toml").read_text("utf-8")
    return {
        measure: {
            data: PaperTable(
                caption=block.pop("caption"),
                label=block.pop("label"),
                columns=tuple(block.pop("columns")),
                rows={algorithm: tuple(values) for algorithm, values in block.items()},
            )
            for data, block in blocks.items()
        }
        for measure, blocks in tomllib.loads(text).items()
    }


def paper_table(measure: str, data: str | None) -> PaperTable | None:
    """Return the paper's numbers for a measure on a data set, if it has any.

    Examples
    --------
    >>> table = paper_table("fixed_budget", "shuttle")
    >>> table.value("batched", 5_000)
    4.92
    """
    return None if data is None else _tables().get(measure, {}).get(data)
