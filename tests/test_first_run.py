"""Before the first question: an address at once, and no library that it does not need."""

import subprocess
import sys


class TestLoading:
    def test_the_address_is_printed_before_anything_heavy_is_loaded(self):
        code = "import sys, samekind.web.server, samekind.cli._label as _; "
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
