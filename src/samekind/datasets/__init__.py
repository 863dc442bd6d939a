"""Points to cluster: the paper's generator, made-up messages and records, and well-known tables."""

from samekind.datasets._messages import make_messages
from samekind.datasets._real import load_banking77, load_digits, load_kdd, load_shuttle
from samekind.datasets._records import make_records
from samekind.datasets._synthetic import make_synthetic

__all__ = [
    "load_banking77",
    "load_digits",
    "load_kdd",
    "load_shuttle",
    "make_messages",
    "make_records",
    "make_synthetic",
]
