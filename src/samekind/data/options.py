"""The parameters of `samekind.load`, checked and normalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from samekind._validation import check_positive_int
from samekind.data.feature_names import AUTO, check_features
from samekind.data.readers import ARRAY_SUFFIXES
from samekind.errors import DataError, Parameter

__all__ = ["DEMO", "LoadOptions", "absolute"]

DEMO = "demo:digits"
_OF_RECORDS = ("compare", "block", "other")
_APART = {"columns": ("text", "image", "embeddings"), "features": ("columns", "embeddings")}


@dataclass(frozen=True)
class LoadOptions:
    """Where the data are, and which of their columns are used for what; see `samekind.load`."""

    data: Path
    text: str | None = None
    image: str | None = None  # a column or a folder
    labels: str | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    show: Sequence[str] | None = None
    embeddings: Path | None = None
    header: bool = True
    sheet: str | None = None
    standardize: bool = True
    image_shape: Sequence[int] | None = None
    features: str = AUTO
    records: bool | str = False  # or "auto": if the table looks like one of records
    compare: Sequence[str] | None = None
    block: Sequence[str] | None = None
    other: Sequence[Path] = ()

    def __post_init__(self) -> None:
        if self.labels is not None and not isinstance(self.labels, str):
            raise DataError(
                Parameter("labels"), f" must be the name of a column or None, got {self.labels!r}."
            )
        check_features(self.features)
        if self.records not in (True, False, "auto"):
            raise DataError(
                Parameter("records"), f' must be True, False or "auto", got {self.records!r}.'
            )
        tidy = {
            "records": self.records is True or self._given(*_OF_RECORDS) != [] or self.records,
            "compare": None if self.compare is None else _fields(self.compare),
            "block": None if self.block is None else _parts(self.block),
            "other": _paths(self.other),
            "data": Path(self.data).expanduser(),
            "image": None if self.image is None else str(self.image),
            "columns": None if self.columns is None else _names("columns", self.columns),
            "exclude": _names("exclude", self.exclude or ()),
            "show": None if not self.show else _names("show", self.show),
            "embeddings": None if self.embeddings is None else Path(self.embeddings).expanduser(),
            "image_shape": None if self.image_shape is None else _shape(self.image_shape),
        }
        for name, value in tidy.items():
            object.__setattr__(self, name, value)
        self._check_together()
        if self.is_array and len(self.show or ()) > 1:
            raise DataError(
                Parameter("show"),
                f" must be one table, because {self.data} is an array, got "
                f"{', '.join(self.show or ())}.",
            )

    def _given(self, *names: str) -> list[str]:
        return [name for name in names if getattr(self, name) not in (None, AUTO, ())]

    def _check_together(self) -> None:
        """Refuse parameters that say differently what items are compared by."""
        if self.text is not None and self.image is not None:
            raise DataError(
                *(Parameter("text"), f" ({self.text!r}) and ", Parameter("image")),
                f" ({str(self.image)!r}) must not both be given: items are compared by the one or the "
                "other. Name a further column with ",
                *(Parameter("show"), "."),
            )
        for first, others in _APART.items():
            for other in self._given(*others) if self._given(first) else ():
                raise DataError(
                    *(Parameter(first), " and ", Parameter(other)),
                    " must not both be given: items are compared by one of them.",
                )
        if self.records is not True:
            return
        for name in self._given("text", "image", "embeddings", "image_shape", "features"):
            raise DataError(
                *(Parameter("records"), " and ", Parameter(name)),
                " must not both be given: records are compared by their fields. Say what columns hold with ",
                *(Parameter("compare", "surname:name,birth:date"), "."),
            )

    @property
    def not_compared(self) -> set[str]:
        """Columns that are never features."""
        return {*self.exclude, *([self.labels] if self.labels is not None else [])}

    @property
    def is_array(self) -> bool:
        """Whether the data are a NumPy file."""
        return self.data.suffix.lower() in ARRAY_SUFFIXES

    @property
    def shown_table(self) -> Path | None:
        """A table with a row for each of an array, to show them."""
        return Path(self.show[0]).expanduser() if self.show and self.is_array else None

    def recipe(self) -> dict[str, object]:
        """Return the arguments of `samekind.load` that load the same again, as JSON can hold them."""
        given: dict[str, object] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name == "show" and self.shown_table is not None:
                value = self.shown_table
            if value != option.default:
                plain = str(absolute(value)) if isinstance(value, Path) else value
                plain = DEMO if plain == str(absolute(DEMO)) else plain
                if isinstance(plain, tuple):
                    plain = [str(absolute(x)) if isinstance(x, Path) else x for x in plain]
                given[option.name] = plain
        return given


def absolute(path: str | Path) -> Path:
    """Return a path that stays right when the program is started elsewhere."""
    return Path(path).expanduser().absolute()


def _fields(given: object) -> tuple[str, ...]:
    """Return which columns are compared as what, as "column:kind"."""
    if isinstance(given, Mapping):
        return tuple(f"{name}:{kind}" if kind else str(name) for name, kind in given.items())
    return _parts(given)


def _parts(given: object) -> tuple[str, ...]:
    texts = given.split(",") if isinstance(given, str) else list(given)  # type: ignore[call-overload]
    return tuple(text for one in texts if (text := str(one).strip()))


def _names(parameter: str, given: object) -> tuple[str, ...]:
    names = (str(given),) if isinstance(given, str | Path) else tuple(given)  # type: ignore[arg-type]
    for name in names:
        if not isinstance(name, str):
            raise DataError(Parameter(parameter), f" must hold names of columns, got {name!r}.")
    return names


def _paths(given: object) -> tuple[Path, ...]:
    several = (given,) if isinstance(given, str | Path) else given or ()
    return tuple(Path(path).expanduser() for path in several)  # type: ignore[attr-defined]


def _shape(given: Sequence[int]) -> tuple[int, ...]:
    if len(given) != 2:
        raise DataError(
            Parameter("image_shape"), f" must be (height, width), got {tuple(given)!r}."
        )
    return tuple(check_positive_int("image_shape", size) for size in given)
