"""Before the first question: an address at once, compiling ahead, and nothing compiled twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from samekind.warm_up import WarmUp, decode_type, encode_type, kernels


class TestLoading:
    def test_the_address_is_printed_before_anything_heavy_is_loaded(self):
        code = "import sys, samekind.web.server, samekind.warm_up, samekind.cli._label as _; "
        code += "import samekind.cli._opening; "
        code += "print([m for m in ('numpy', 'numba', 'pandas', 'fastapi') if m in sys.modules])"
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert out.stdout.strip() == "[]"

    def test_a_first_question_waits_for_no_library_that_it_does_not_need(self, tmp_path):
        """scikit-learn, and scipy.stats, which it loads, take a second."""
        code = "import sys; from pathlib import Path; import samekind.web.app; "
        code += "from samekind.data import DEMO, load; from samekind.project import make_project; "
        code += "print(len(make_project(load(DEMO), Path('digits.db')).next('ann'))); "
        code += "print([m for m in ('sklearn', 'scipy.stats', 'plotly') if m in sys.modules])"
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
        )
        assert out.stdout.split("\n")[:2] == ["1", "[]"]


class TestTypes:
    @pytest.mark.parametrize("kernel", kernels(), ids=lambda kernel: kernel.function)
    def test_every_line_of_the_list_can_be_compiled_and_read_back(self, kernel):
        types = [decode_type(code) for code in kernel.types]
        assert [encode_type(part) for part in types] == kernel.types

    def test_what_cannot_be_written_down_is_left_out(self):
        from numba import types

        assert encode_type(types.Omitted(3)) is None
        assert encode_type(types.Tuple([types.int64, types.Omitted(3)])) is None


LISTENED = """
import json, sys
import numba.core.event as event
from samekind.data import demo_items
from samekind.project import Project

class Listener(event.Listener):
    names = []
    def on_start(self, what):
        self.names.append(what.data["dispatcher"].py_func.__qualname__)
    def on_end(self, what):
        pass

listener = Listener()
event.register("numba:compile", listener)
project = Project(demo_items(), random_state=0)
for _ in range(3):
    [question] = project.next("ann")
    project.answer(question.id, "different" if question.type == "pair" else "none", who="ann")
print(json.dumps(listener.names))
"""


@pytest.mark.slow
def test_what_is_compiled_ahead_is_all_that_the_first_questions_need(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    before = os.environ.get("NUMBA_CACHE_DIR")
    os.environ["NUMBA_CACHE_DIR"] = str(tmp_path)
    told = []
    try:
        work = WarmUp(lambda done, total: told.append((done, total)), workers=2)
        work.start("float32")
        assert work.wait()
        work.stop()
    finally:
        os.environ.pop("NUMBA_CACHE_DIR")
        if before is not None:
            os.environ["NUMBA_CACHE_DIR"] = before
    assert told[-1][0] == told[-1][1] > 10
    assert np.all(np.diff([done for done, _ in told]) >= 0)
    out = subprocess.run(
        [sys.executable, "-c", LISTENED], capture_output=True, text=True, check=True, env=env
    )
    assert json.loads(out.stdout.splitlines()[-1]) == []


def test_a_worker_that_dies_stops_nobody(monkeypatch):
    monkeypatch.setattr(sys, "executable", str(Path("/bin/false")))
    work = WarmUp(workers=1)
    work.start("float32")
    assert work.wait() is False
    work.stop()
