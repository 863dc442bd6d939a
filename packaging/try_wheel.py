"""Install the wheel of a folder in an empty environment, run the demo there, check its size and contents."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

LARGEST = 1_000_000  # bytes
NOT_IN_IT = ("tests/", "experiments/", "benchmarks/", "docs/")


def main(folder: Path) -> None:
    """Try the one wheel that lies in the folder."""
    [wheel] = folder.glob("*.whl")
    size = wheel.stat().st_size
    assert size < LARGEST, f"{wheel.name} has {size:,} bytes, at most {LARGEST:,} are wanted"
    with zipfile.ZipFile(wheel) as archive:
        strays = [name for name in archive.namelist() if name.startswith(NOT_IN_IT)]
    assert not strays, f"{wheel.name} holds what does not belong into it: {strays[:3]}"
    with TemporaryDirectory() as empty:
        place = Path(empty, "venv")
        venv.create(place, with_pip=True)
        python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        call = [python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[all]"]
        subprocess.run(call, check=True)
        subprocess.run([python, "-m", "samekind", "demo"], check=True, cwd=empty)
        report = Path(empty, "samekind-demo", "report.html")
        assert report.stat().st_size > 0, "the demo wrote no report"
    print(f"{wheel.name}: {size:,} bytes; installed and tried on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
