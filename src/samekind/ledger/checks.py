"""What is checked before a ledger writes anything."""

from __future__ import annotations

from samekind.flow import Pairs

__all__ = ["MOST_ROWS", "RowLimits", "check_text"]

MOST_ROWS = 2**31


def check_text(name: str, value: object) -> None:
    """Complain of what is no text, or one that no file can hold."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} must be a text that can be written as UTF-8, got {value!r}."
        ) from None


class RowLimits:
    """Which rows there are to answer about.

    Attributes
    ----------
    n_rows : int or None
        How many rows the data have, once `limit_rows` has told it.
    """

    n_rows: int | None = None

    def limit_rows(self, n: int) -> None:
        """Take only answers about the first n rows from now on."""
        self.n_rows = n

    @property
    def _below(self) -> int:
        return MOST_ROWS if self.n_rows is None else self.n_rows

    def _check_rows(self, pairs: Pairs) -> Pairs:
        """Return pairs whose rows are all there."""
        if len(pairs) and pairs.max() >= self._below:
            raise ValueError(f"row {pairs.max()} is not in the data of {self._below} rows.")
        return pairs

    def _check_name(self, row: int, text: str, who: str) -> None:
        """Complain of a name that cannot be kept."""
        self._check_row(row)
        check_text("a name", text)
        check_text("who", who)

    def _check_anchor(self, number: int, row: int) -> None:
        """Complain of a number that no cluster can have, or of a row that cannot hold it."""
        self._check_row(row)
        if not 1 <= number < MOST_ROWS:
            raise ValueError(f"a cluster's number must be 1 or more, got {number}.")

    def _check_row(self, row: int) -> None:
        if not 0 <= row < self._below:
            raise ValueError(f"row {row} is not in the data of {self._below} rows.")
