"""Which compiled functions a first session needs, and with which types: for `samekind.warm_up`.

``python tests/kernel_signatures.py --write`` takes small sessions of each sort and writes the list anew.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from samekind.warm_up import SORTS

STAGES = ("start", "later")
SLOW = ("score_pairs", "update_doubts", "add_answers")


def taken(scenario: str) -> list[dict]:
    """Take a session in this process; return the functions that it called, with their types."""
    from samekind.data import Items, demo_items
    from samekind.datasets import load_digits
    from samekind.project import Project

    if scenario == "float32":
        items = demo_items()
        labels = load_digits(return_X_y=True)[1]
    else:
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(8), 60)
        X = labels[:, None] * 6.0 + rng.normal(size=(labels.size, 5))
        if scenario == "wide":  # texts and pictures by a model: reduced to fewer columns
            X = np.float32(np.eye(8)[labels] @ rng.normal(size=(8, 100)) * 3)
            X = X + rng.normal(size=X.shape).astype(np.float32)
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        items = Items.of_array(X, "rows", [f"x{j}" for j in range(X.shape[1])])
    found: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.db"
        project = Project(items, path, random_state=0)

        def answer(count: int) -> None:
            for _ in range(count):
                questions = project.next("ann")
                if not questions:
                    return
                pairs = project.session.pending()[:1]
                project.session.tell(pairs, [labels[a] == labels[b] for a, b in pairs], who="ann")
                project.status()

        answer(3)
        note(found, "start", scenario)
        answer(150)
        overview = project.overview.all()
        project.overview.map()
        project.undo(who="ann")
        first, second = (cluster.cluster for cluster in overview.clusters[:2])
        project.kinds.merge([first, second], who="ann")
        project.undo(who="ann")
        answer(5)
        project.close()
        Project(items, path, random_state=0).close()
        note(found, "later", scenario)
    return list(found.values())


def note(found: dict[str, dict], stage: str, scenario: str) -> None:
    """Add what is compiled by now."""
    from numba.core.dispatcher import Dispatcher

    from samekind.warm_up import encode_type

    for name, module in sorted(sys.modules.items()):
        if not name.startswith("samekind."):
            continue
        for own, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == name:
                for signature in value.signatures:
                    types = [encode_type(part) for part in signature]
                    if None in types:
                        continue
                    line = {"module": name, "function": own, "types": types}
                    found.setdefault(json.dumps(line), line | {"stage": stage, "rows": [scenario]})


def all_taken() -> list[dict]:
    """Take every scenario in a process of its own; return what all of them need, by stage."""
    found: dict[str, dict] = {}
    for scenario in SORTS:
        run = [sys.executable, __file__, "--take", scenario]
        for _ in range(2):  # once all is compiled, functions that only others call are not seen
            out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
        for line in json.loads(out.splitlines()[-1]):
            key = json.dumps([line["module"], line["function"], line["types"]])
            before = found.setdefault(key, line)
            before["rows"] = sorted({*before["rows"], *line["rows"]})
            before["stage"] = min(before["stage"], line["stage"], key=STAGES.index)
    return sorted(found.values(), key=lambda line: (STAGES.index(line["stage"]), -_size(line)))


def _size(line: dict) -> int:
    """Return about how long a function takes to compile: by its length, but for some."""
    import inspect
    from importlib import import_module

    function = getattr(import_module(line["module"]), line["function"])
    slow = SLOW[::-1].index(line["function"]) + 1 if line["function"] in SLOW else 0
    return 10_000 * slow + len(inspect.getsource(function.py_func)) + 20 * len(line["types"])


if __name__ == "__main__":
    if "--take" in sys.argv:
        print(json.dumps(taken(sys.argv[-1])))
    elif "--write" in sys.argv:
        from samekind.warm_up import LIST

        lines = ",\n".join(json.dumps(line) for line in all_taken())
        LIST.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
