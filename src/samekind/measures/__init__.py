"""How good a clustering is: the paper's cost and reducibility, errors of centres, agreement; who errs.

Distances are sums of squared differences in float64, never expanded into dot products, which lose
all digits where points lie far from the origin and close together.
"""

from samekind.measures._agreement import adjusted_rand_index
from samekind.measures._annotators import Reliability, annotator_reliability, percent
from samekind.measures._centers import centroid_error, centroid_errors, recovery_count
from samekind.measures._cost import cost, is_reducible, reducibility
from samekind.measures._raters import Agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha

__all__ = [
    "Agreement",
    "Reliability",
    "adjusted_rand_index",
    "annotator_reliability",
    "centroid_error",
    "centroid_errors",
    "cohen_kappa",
    "cost",
    "fleiss_kappa",
    "is_reducible",
    "krippendorff_alpha",
    "percent",
    "recovery_count",
    "reducibility",
]
