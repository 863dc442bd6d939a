"""Checks of what users pass in; every message names the parameter, the rule and the value."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from samekind.errors import Parameter, ParameterError

RandomState: TypeAlias = "int | np.random.Generator | np.random.SeedSequence | None"


def check_int(name: str, value: Any, *, minimum: int = 1, none: str | None = None) -> int | None:
    """Return value as an int of at least `minimum`; None passes where `none` says what it means."""
    if value is None and none is not None:
        return None
    kind = "a positive int" if minimum == 1 else f"an int of at least {minimum}"
    rule = kind if none is None else f"{kind} or None"
    advice = "" if none is None else f" Pass None to {none}."
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_) or number < minimum:
        raise ParameterError(Parameter(name), f" must be {rule}, got {value!r}.{advice}")
    return number


def check_positive_int(name: str, value: Any, *, minimum: int = 1) -> int:
    """Return value as an int of at least `minimum`."""
    number = check_int(name, value, minimum=minimum)
    assert number is not None
    return number


def check_fraction(name: str, value: Any, *, none: str | None = None) -> float | None:
    """Return value as a float in (0, 1]; None passes where `none` says what it means."""
    if value is None and none is not None:
        return None
    rule = "a number in (0, 1]" if none is None else "a number in (0, 1] or None"
    advice = "" if none is None else f" Pass None to {none}."
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ParameterError(Parameter(name), f" must be {rule}, got {value!r}.{advice}")
    return float(value)


def check_error_rate(value: Any) -> float:
    """Return value as a float in [0, 0.5)."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < 0.5:
        raise ParameterError(
            Parameter("error_rate"),
            f' must be a number in [0, 0.5), "estimate" or None, got {value!r}. Answers that '
            "are wrong half of the time tell nothing.",
        )
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return value if it is one of the choices."""
    if value not in choices:
        meant = did_you_mean(value, choices)
        raise ParameterError(
            Parameter(name),
            f" must be one of {', '.join(map(repr, choices))}, got {value!r}.{meant}",
        )
    return str(value)


def did_you_mean(value: object, known: Sequence[str]) -> str:
    """Return a question that names what was likely meant, after a space; nothing if nothing is close.

    Examples
    --------
    >>> did_you_mean("batchs", ["batch", "patience"])
    " Did you mean 'batch'?"
    """
    close = get_close_matches(value, known, n=1) if isinstance(value, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def check_seed(random_state: Any) -> int:
    """Turn `random_state` into one integer from which a run can be repeated exactly."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):  # what scikit-learn's tools hand over
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.SeedSequence):
        return int(random_state.generate_state(1, np.uint64)[0] >> 1)
    number = check_int("random_state", random_state, minimum=0, none="draw a fresh seed")
    assert number is not None
    return number


def is_dask(value: Any) -> bool:
    """Return whether something is a Dask collection; does not import Dask."""
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr")


def refuse_dask(name: str, value: Any) -> None:
    """Raise an error if something is a Dask collection: all of it would be loaded."""
    if is_dask(value):
        raise TypeError(
            f"{name} is a Dask {type(value).__name__}, and this would load all of it into memory here. "
            f"`solve` and `Session` take it as it is; for the rest pass {name}.compute() if it fits."
        )


def is_tensor(value: object) -> bool:
    """Return whether something is a PyTorch tensor, or behaves like one; does not import PyTorch."""
    return hasattr(value, "detach") and hasattr(value, "cpu")


def to_numpy(name: str, value: Any) -> NDArray[Any]:
    """Return something array-like as a NumPy array.

    A PyTorch tensor may hold bfloat16, be part of a computation of gradients, or lie on another device.
    """
    if not is_tensor(value):
        return np.asarray(value)
    try:
        held = value.detach().cpu()
        # NumPy has no bfloat16; float32 holds all of its numbers
        return np.asarray(held.float() if str(held.dtype).endswith("bfloat16") else held)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} is a tensor that NumPy cannot read ({error}). Pass an array of numbers: "
            f"{name}.to_dense() if it is sparse, then .detach().cpu().float().numpy()."
        ) from error
