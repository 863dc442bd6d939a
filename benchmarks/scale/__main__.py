"""`python -m benchmarks.scale`: measure the constants of docs/scale.md, and print its tables."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=2 * 10**6, help="rows to measure passes on")
    parser.add_argument("--questions", type=int, default=2_000, help="questions of a run on them")
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/scale.md, too"
    )
    options = parser.parse_args(arguments)

    from benchmarks.ratios import SkippedError
    from benchmarks.scale.constants import Constants
    from benchmarks.scale.rounds import measure_rounds
    from benchmarks.scale.rows import measure_rows
    from benchmarks.scale.tables import tables, write

    print(f"Passes over {options.rows:,} rows …", file=sys.stderr)
    passes, kept = measure_rows(options.rows, options.questions)
    print("Rounds to the workers of a Dask cluster …", file=sys.stderr)
    try:
        rounds, work = measure_rounds()
    except SkippedError as reason:
        print(f"There is no cluster to measure: {reason}", file=sys.stderr)
        return 1
    known = Constants(passes, kept, rounds, work, os.cpu_count() or 1)
    print(tables(known))
    if options.write:
        write(PAGE, known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
