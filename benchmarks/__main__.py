"""`make bench`: the speed and memory that are promised, as ratios taken in one run.

Machines differ and are shared, so every time is set against a reference that is measured beside it, in
turns, and the medians are compared. Exits with 1 if a promise is not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from benchmarks.ratios import MEASURES, Ratio, Setting, SkippedError


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        for name, measure in MEASURES.items():
            print(
                f"{name:<9} {measure.about}{' (only by name or with --large)' * measure.is_large}"
            )
        return 0
    unknown = [name for name in options.names if name not in MEASURES]
    if unknown:
        print(f"there is no measure {unknown[0]!r}. Choose among {', '.join(MEASURES)}.")
        return 2
    setting = replace(
        Setting(),
        **{
            name: value
            for name in ("shrink", "scratch", "peer_python")
            if (value := getattr(options, name)) is not None
        },
    )
    names = options.names or [
        name for name, measure in MEASURES.items() if options.large or not measure.is_large
    ]
    return show(names, setting, options.json)


def show(names: list[str], setting: Setting, file: Path | None = None) -> int:
    """Take measures, with a line for each at once and a table in the end."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table("what", "measured", "ratio", "at most", "")
    taken: list[tuple[str, Ratio]] = []
    for at, name in enumerate(names, 1):
        console.print(f"[bold]{at}/{len(names)} {name}[/]: {MEASURES[name].about} …")
        started = perf_counter()
        try:
            for ratio in MEASURES[name].take(setting):
                taken.append((name, ratio))
                limit = "" if ratio.most is None else f" (at most {ratio.most:g})"
                line = f"  {ratio.what}: {ratio.ratio:.3g}{limit}; {ratio.measured}"
                console.print(line, soft_wrap=True)
                table.add_row(*_row(ratio))
        except SkippedError as reason:
            console.print(f"  skipped: {reason}", soft_wrap=True, markup=False)
            table.add_row(MEASURES[name].about, escape(str(reason)), "", "", "skipped")
        console.print(f"  took {perf_counter() - started:.0f} s", style="dim")
    console.print(table)
    if file is not None:
        file.write_text(json.dumps(_record(taken, setting), indent=1) + "\n", encoding="utf-8")
    missed = [f"{name} ({ratio.what})" for name, ratio in taken if not ratio.is_kept]
    if setting.shrink > 1:
        console.print("The data were shrunk: nothing is promised.")
    elif missed:
        console.print(f"[red]Missed: {'; '.join(missed)}.")
        return 1
    return 0


def _row(ratio: Ratio) -> tuple[str, ...]:
    if ratio.most is None:
        return ratio.what, ratio.measured, f"{ratio.ratio:.3g}", "", ""
    verdict = "[green]ok" if ratio.is_kept else "[red]missed"
    return ratio.what, ratio.measured, f"{ratio.ratio:.3g}", f"{ratio.most:g}", verdict


def _record(taken: list[tuple[str, Ratio]], setting: Setting) -> dict[str, object]:
    return {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "shrink": setting.shrink,
        "ratios": [{"measure": name, **ratio._asdict()} for name, ratio in taken],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", help="measures to take; all but large ones if none is named"
    )
    parser.add_argument("--list", action="store_true", help="say what can be measured")
    parser.add_argument("--large", action="store_true", help="take the large ones, too")
    parser.add_argument(
        "--scratch", type=Path, metavar="DIR", help="where large files go for a while"
    )
    parser.add_argument(
        "--peer-python",
        metavar="FILE",
        help="a Python that has cobras_ts (or SAMEKIND_PEER_PYTHON)",
    )
    parser.add_argument(
        "--shrink", type=int, metavar="N", help="divide the rows by N, only to see that all works"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write what was measured there, too"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
