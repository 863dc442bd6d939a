"""Find the kinds in a pile of things by asking "are these two of the same kind?".

>>> import samekind
>>> X, y = samekind.datasets.load_digits(return_X_y=True)
>>> clusters = samekind.solve(X, samekind.LabelOracle(y), budget=2_000, random_state=0)
>>> clusters.n_recovered_
10
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from samekind._version import __version__ as __version__

if TYPE_CHECKING:
    from samekind import datasets, measures, report
    from samekind.client import Client, ServerError
    from samekind.clusters import Clusters
    from samekind.data import Items, embed, load
    from samekind.engine import ClassifySession, ContradictionWarning, Session, link, solve
    from samekind.estimator import SameKindClustering
    from samekind.flow import DIFFERENT, SAME, UNSURE
    from samekind.ledger import (
        Contradiction,
        Ledger,
        LedgerDamaged,
        LedgerError,
        LedgerGone,
    )
    from samekind.notebook import widget
    from samekind.oracles import (
        ChatOracle,
        CommandOracle,
        FunctionOracle,
        LabelOracle,
        NoisyOracle,
        RuleOracle,
    )
    from samekind.points import ArrayPoints
    from samekind.progress import Progress

_HOMES = {
    "samekind.algorithms": ["Certificate"],
    "samekind.client": ["Client", "ServerError"],
    "samekind.clusters": ["Clusters"],
    "samekind.data": ["Items", "embed", "load"],
    "samekind.engine": ["ClassifySession", "ContradictionWarning", "Session", "link", "solve"],
    "samekind.estimator": ["SameKindClustering"],
    "samekind.flow": ["DIFFERENT", "SAME", "UNSURE"],
    "samekind.ledger": [
        "Contradiction",
        "Ledger",
        "LedgerDamaged",
        "LedgerError",
        "LedgerGone",
    ],
    "samekind.notebook": ["widget"],
    "samekind.oracles": [
        "ChatOracle",
        "CommandOracle",
        "FunctionOracle",
        "LabelOracle",
        "NoisyOracle",
        "RuleOracle",
    ],
    "samekind.points": ["ArrayPoints"],
    "samekind.progress": ["Progress"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ("datasets", "measures", "report")

__all__ = [
    "DIFFERENT",
    "SAME",
    "UNSURE",
    "ArrayPoints",
    "Certificate",
    "ChatOracle",
    "ClassifySession",
    "Client",
    "Clusters",
    "CommandOracle",
    "Contradiction",
    "ContradictionWarning",
    "FunctionOracle",
    "Items",
    "LabelOracle",
    "Ledger",
    "LedgerDamaged",
    "LedgerError",
    "LedgerGone",
    "NoisyOracle",
    "Progress",
    "RuleOracle",
    "SameKindClustering",
    "ServerError",
    "Session",
    "datasets",
    "embed",
    "link",
    "load",
    "measures",
    "report",
    "solve",
    "widget",
]


def __getattr__(name: str) -> Any:
    """Import a name where it lives, when it is first used: `import samekind` stays quick."""
    if name in _ROOMS:
        return import_module(f"samekind.{name}")
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'samekind' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
