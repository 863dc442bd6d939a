from . import datasets, measures
from .clusters import Clusters
from .data import embed, load
from .engine import ClassifySession, Session, link, solve
from .errors import DataError
from .estimator import SameKindClustering
from .flow import DIFFERENT, SAME, UNSURE
from .ledger import Ledger, LedgerError
from .oracles import (
    ChatOracle,
    CommandOracle,
    FunctionOracle,
    LabelOracle,
    NoisyOracle,
    RuleOracle,
)
from .project import Project, open_project

__version__: str

__all__ = [
    "DIFFERENT",
    "SAME",
    "UNSURE",
    "ChatOracle",
    "ClassifySession",
    "Clusters",
    "CommandOracle",
    "DataError",
    "FunctionOracle",
    "LabelOracle",
    "Ledger",
    "LedgerError",
    "NoisyOracle",
    "Project",
    "RuleOracle",
    "SameKindClustering",
    "Session",
    "datasets",
    "embed",
    "link",
    "load",
    "measures",
    "open_project",
    "solve",
]
