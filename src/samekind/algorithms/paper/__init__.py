"""The algorithms of *Learning to Cluster via Same-Cluster Queries* (Li, Song, Zhang; 2021), one a file."""

from __future__ import annotations

from samekind.algorithms.paper.base import PaperParams
from samekind.algorithms.paper.basic_exact import BasicExact
from samekind.algorithms.paper.classify import ORDERS, Classified, classify
from samekind.algorithms.paper.improved_exact import ImprovedExact
from samekind.algorithms.paper.noisy_exact import NoisyExact
from samekind.algorithms.paper.practical import Basic, Batched, Uniform
from samekind.algorithms.paper.quiet_test import QuietTest

__all__ = [
    "ORDERS",
    "Basic",
    "BasicExact",
    "Batched",
    "Classified",
    "ImprovedExact",
    "NoisyExact",
    "PaperParams",
    "QuietTest",
    "Uniform",
    "classify",
]
