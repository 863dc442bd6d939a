"""Numbers to hold ours against: the paper's (``paper.toml``) and those required (``required.toml``)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent


@cache
def paper_numbers() -> pd.DataFrame:
    """Return the paper's numbers with the columns metric, paper_data, algorithm, at and paper.

    Examples
    --------
    >>> paper_numbers().query("paper_data == 'shuttle' and at == 5_000").set_index("algorithm")["paper"]
    algorithm
    basic      4.89
    batched    4.92
    uniform    3.51
    Name: paper, dtype: float64
    """
    import pandas as pd  # not above: worker processes, which begin often, do without

    rows = [
        (metric, data, algorithm, at, number)
        for metric, blocks in read_toml("paper.toml").items()
        for data, block in blocks.items()
        for algorithm in block.keys() - {"caption", "label", "columns"}
        for at, number in zip(block["columns"], block[algorithm], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["metric", "paper_data", "algorithm", "at", "paper"])
    return frame.sort_values(["metric", "paper_data", "algorithm", "at"], ignore_index=True)


def paper_columns(metric: str, data: str | None) -> list[int]:
    """Return the columns of the paper's table, none if it has no such table."""
    return list(read_toml("paper.toml").get(metric, {}).get(data or "", {}).get("columns", ()))


def paper_captions() -> dict[tuple[str, str], str]:
    """Return the captions of the paper's tables, by metric and data set."""
    return {
        (metric, data): block["caption"]
        for metric, blocks in read_toml("paper.toml").items()
        for data, block in blocks.items()
    }


@cache
def required_numbers(study: str) -> pd.DataFrame:
    """Return what is required in a study, "focused" or "noisy".

    Columns: data, algorithm (the variant of "focused"), metric, at and required.
    """
    import pandas as pd

    names = ("metric", "at", "required")
    rows = [
        {
            "data": data,
            "algorithm": variant_name({k: v for k, v in entry.items() if k not in names}),
            **{name: entry[name] for name in names},
        }
        for data, entries in read_toml("required.toml")[study].items()
        for entry in entries
    ]
    return pd.DataFrame(rows)


def variant_name(parameters: dict[str, str]) -> str:
    """Return what a variant of "focused" is called in tables.

    Examples
    --------
    >>> variant_name({}), variant_name({"goal": "labels"})
    ('focused', 'focused, goal=labels')
    """
    return ", ".join(["focused", *(f"{key}={value}" for key, value in parameters.items())])


@cache
def read_toml(name: str) -> dict[str, dict[str, Any]]:
    """Return what a file of this folder has."""
    return tomllib.loads((HERE / name).read_text("utf-8"))
