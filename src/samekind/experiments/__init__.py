"""The paper's experiments, run again: its tables and figures with ours beside them; and studies of `focused`.

>>> from samekind.experiments import run_bench
>>> results = run_bench("digits", runs=100)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samekind.experiments.bench import run_bench
    from samekind.experiments.errors import BenchError
    from samekind.experiments.noisy_bench import run_noisy
    from samekind.experiments.peer_bench import run_peers
    from samekind.experiments.study_bench import run_ablation, run_focused

_HOMES = {
    "BenchError": "errors",
    "run_ablation": "study_bench",
    "run_bench": "bench",
    "run_focused": "study_bench",
    "run_noisy": "noisy_bench",
    "run_peers": "peer_bench",
}

__all__ = ["BenchError", "run_ablation", "run_bench", "run_focused", "run_noisy", "run_peers"]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the command line loads this package at every start."""
    if name in _HOMES:
        return getattr(import_module(f"samekind.experiments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'samekind.experiments' has no attribute {name!r}")
