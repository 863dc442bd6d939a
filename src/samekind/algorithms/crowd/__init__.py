"""The literature's ways to choose pairs of records for a crowd, one a file, over the same candidate pairs."""

from __future__ import annotations

from samekind.algorithms.crowd.groups import CrowdGroups
from samekind.algorithms.crowd.nodes import CrowdNodes
from samekind.algorithms.crowd.noisy import CrowdNoisy
from samekind.algorithms.crowd.online import CrowdOnline
from samekind.algorithms.crowd.transitive import CrowdTransitive

__all__ = ["CrowdGroups", "CrowdNodes", "CrowdNoisy", "CrowdOnline", "CrowdTransitive"]
