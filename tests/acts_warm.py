"""Imported by a server of processes, so that all that it forks find everything imported and compiled."""

import tempfile
from contextlib import closing
from pathlib import Path

from acts import ACTS, open_at, prepare, write_data

with tempfile.TemporaryDirectory() as name:
    write_data(Path(name))
    with closing(open_at(Path(name))) as project:
        prepare(project)
        for act in ACTS.values():
            act(project)
