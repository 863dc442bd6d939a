"""Points to cluster: the paper's generator, well-known tables, and a reader for one's own files."""

from samekind.datasets._real import load_banking77, load_digits, load_kdd, load_shuttle
from samekind.datasets._synthetic import make_synthetic
from samekind.datasets._table import Table, read_points
from samekind.errors import DataError

__all__ = [
    "DataError",
    "Table",
    "load_banking77",
    "load_digits",
    "load_kdd",
    "load_shuttle",
    "make_synthetic",
    "read_points",
]
