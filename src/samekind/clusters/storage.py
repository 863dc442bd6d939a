"""Clusters in one .npz file: arrays and a line of JSON, nothing that runs when it is read."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from samekind._validation import check_positive_int
from samekind.algorithms import Certificate, PairCertificate
from samekind.clusters._archive import DamagedError, TooLargeError, check_numbers, read_arrays
from samekind.clusters.labels import NO_ROWS
from samekind.flow import IntArray
from samekind.measures import Reliability
from samekind.points import WorkingSpace

if TYPE_CHECKING:
    from samekind.clusters.result import Clusters

__all__ = ["load", "save"]

FORMAT = 1
SPACE = "space_"  # before the names of its arrays
META = (
    "n_recovered_",
    "n_questions_",
    "n_samples_",
    "n_rounds_",
    "stop_reason_",
    "sampling_time_",
    "contradictions_",
    "notes_",
    "algorithm_",
    "random_state_",
    "n_rows_",
)


def save(clusters: Clusters, path: str | Path | BinaryIO) -> None:
    """Write clusters to a file; see `Clusters.save`."""
    meta = {"format": FORMAT} | {name: getattr(clusters, name) for name in META}
    if clusters.certificate_ is not None:
        meta["certificate_"] = asdict(clusters.certificate_)
    meta |= {"error_rate_": clusters.error_rate_, "annotators_": clusters.annotators_}
    arrays = {
        "all_centers": clusters.all_centers_,
        "members": np.concatenate([*clusters.members_, NO_ROWS]),
        "member_counts": np.array([len(m) for m in clusters.members_], dtype=np.intp),
        "given_up": clusters.given_up_,
    }
    arrays |= {f"history_{name}": values for name, values in clusters.history_.items()}
    if clusters.prototypes_ is not None:
        arrays["prototypes"], arrays["prototype_clusters"] = clusters.prototypes_
    if clusters.space_ is not None:
        arrays |= {f"{SPACE}{name}": values for name, values in clusters.space_.arrays().items()}
    labels = clusters.labels_in_memory()
    if labels is not None:
        arrays["labels"] = labels
    # given a name, NumPy would append .npz to it
    with open(path, "wb") if isinstance(path, str | Path) else nullcontext(path) as file:
        np.savez_compressed(file, allow_pickle=False, meta=np.array(json.dumps(meta)), **arrays)


def load(path: str | Path, max_bytes: int | None = None) -> tuple[dict[str, Any], IntArray | None]:
    """Return what `Clusters` is made from, and the labels of all rows if they were saved."""
    with open(path, "rb") as source:
        try:
            stored = read_arrays(source, max_bytes)
            meta = json.loads(str(stored["meta"]))
            version = int(meta.pop("format"))
            if version == FORMAT:
                check_numbers(stored, check_positive_int("n_rows_", meta["n_rows_"], minimum=0))
                return _fields(stored, meta), stored.get("labels")
        except TooLargeError as error:
            raise ValueError(f"{path} {error}.") from None
        except Exception as error:  # a damaged archive fails in a dozen ways
            why = f": {error}" if isinstance(error, DamagedError) else ""
            raise ValueError(f"{path} does not hold saved clusters{why}.") from error
    raise ValueError(f"{path} was saved by a newer samekind. Update samekind to read it.")


def _fields(stored: dict[str, NDArray[Any]], meta: dict[str, Any]) -> dict[str, Any]:
    ends = np.cumsum(stored["member_counts"])
    certificate = meta.get("certificate_")
    of_pairs = certificate is not None and "n_missed" in certificate
    prototypes = None
    if "prototypes" in stored:
        prototypes = stored["prototypes"], stored["prototype_clusters"]
    of_space = {
        name.removeprefix(SPACE): values
        for name, values in stored.items()
        if name.startswith(SPACE)
    }
    return {
        "_centers": stored["all_centers"],
        "members_": np.split(stored["members"], ends[:-1]) if len(ends) else [],
        "given_up_": stored["given_up"],
        "history_": {
            name.removeprefix("history_"): values
            for name, values in stored.items()
            if name.startswith("history_")
        },
        "certificate_": None
        if certificate is None
        else (PairCertificate if of_pairs else Certificate)(**certificate),
        "prototypes_": prototypes,
        "space_": WorkingSpace.from_arrays(of_space) if of_space else None,
        "error_rate_": meta.get("error_rate_"),
        "annotators_": [Reliability(*line) for line in meta.get("annotators_", ())],
        **{name: meta[name] for name in META},
    }
