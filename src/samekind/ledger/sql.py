"""The ledger in a database: a SQLite file, or a place in PostgreSQL.

Rows are only ever added, unless somebody is to be forgotten. A wave of answers, or all that belongs to one
`transaction`, is on disk when that returns, so a killed process loses none of it. Several processes may
write to one project: each takes in what the others wrote before it adds its own. Before anything counts as
written, the file must still be the one that was opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError

from samekind.flow import Answers, Pairs
from samekind.ledger import tables
from samekind.ledger.addresses import ProjectURL, shown_address, without_secrets
from samekind.ledger.database import Database, FileReplacedError
from samekind.ledger.erase import MOVED_TO, Erased, erase_annotator
from samekind.ledger.errors import LedgerDamaged, LedgerError, LedgerGone
from samekind.ledger.log import Asked, Expected, LedgerLine, Wave
from samekind.ledger.opinions import Opinion
from samekind.ledger.packing import pack_expected
from samekind.ledger.postgres import is_missing_table
from samekind.ledger.replies import ReplyingLedger
from samekind.ledger.rescue import rescued
from samekind.ledger.sql_leases import SqlLeases

__all__ = ["SqlLedger"]

FILE_CAUSES = "a full disk, another program that writes, a file that is not a samekind project"
SERVER_CAUSES = "the server, its disk, your rights in the database, another program that writes"


class SqlLedger(ReplyingLedger):
    """Answers on disk.

    Parameters
    ----------
    where : str, Path or ProjectURL
        A file, which is made if it is not there, or a database URL,
        ``postgresql+psycopg://USER@HOST/DATABASE?project=NAME``.
    infer : bool
        As for `Ledger`.
    wait : float
        Seconds to wait for another process that is writing.
    read_only : bool
        Only read: what is there stays as it is, be it of an older samekind, and nobody is waited for. The
        file may be one that cannot be written.

    Examples
    --------
    >>> import tempfile, os
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "mine.db")
    >>> with SqlLedger(path) as ledger:
    ...     ledger.record([[0, 1]], [1], who="ann")
    >>> with SqlLedger(path, read_only=True) as ledger:
    ...     print(len(ledger))
    1
    >>> folder.cleanup()
    """

    def __init__(
        self,
        where: str | Path | ProjectURL,
        *,
        infer: bool = True,
        wait: float = 10.0,
        read_only: bool = False,
    ) -> None:
        # with its password, if it is a URL
        self._place = where.reveal() if isinstance(where, ProjectURL) else str(where)
        self.where = shown_address(self._place)
        self.read_only = read_only
        self._connection: sa.Connection | None = None  # of the transaction that is open
        self._gone: LedgerGone | None = None
        self._database = Database(self._place, wait, read_only=read_only)
        super().__init__(self._database.shown, infer=infer)
        if self._database.keeps_leases:
            self.leases = SqlLeases(self._leasing, self._is_current)
        try:
            with self._explaining("be opened"), self._database.opened() as connection:
                self._read_meta(connection)
                self._catch_up(connection)
            if not read_only:
                self._refuse_moved()
        except BaseException:
            self._database.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that is written within, or, if anything fails, nothing of it.

        It begins with what others have written. A transaction within another one is part of that.
        """
        if self._connection is not None:
            yield
            return
        with self._explaining("be written"), self._locked() as connection:
            self._read_meta(connection)
            self._connection = connection
            before = self._ids, [len(ids) for ids in self._ids.values()], self._edition
            try:
                with super().transaction():
                    yield
            except BaseException:
                self._ids, sizes, self._edition = before
                for ids, size in zip(self._ids.values(), sizes, strict=True):
                    ids.truncate(size)
                raise
            finally:
                self._connection = None

    def name(self, row: int, text: str, *, who: str = "", at: float | None = None) -> None:
        """Name a row's cluster, whatever becomes of it; "" takes it away. `at`: when, if with an answer."""
        self._check_name(row, text, who)
        at = self._add(tables.names, [{"row": row, "name": text, "who": who}], "keep a name", at)
        self._notes.add_name(row, text, who, at)

    def anchor(self, number: int, row: int) -> None:
        """Let a row hold a number: whichever cluster the row is in has it, for life."""
        self._check_anchor(number, row)
        self._add(tables.anchors, [{"number": number, "row": row}], "keep a number")
        self._notes.add_anchor(number, row)

    def set_meta(self, key: str, value: str) -> None:
        """Keep a fact about the project beside its answers."""
        with self._connected("keep its settings") as connection:
            connection.execute(sa.delete(tables.meta).where(tables.meta.c.key == key))
            connection.execute(sa.insert(tables.meta).values(key=key, value=value))
        super().set_meta(key, value)

    def forget(self, who: str) -> Erased:
        """Delete all that an annotator answered or named, for good; return how much that was.

        What theirs had replaced stands again. `scrub` removes the traces once this is kept.
        """
        with self.transaction():
            assert self._connection is not None
            self._database.overwrite_deleted(self._connection)
            erased = erase_annotator(self._connection, who)
            self._catch_up(self._connection)
        return erased

    def scrub(self) -> bool:
        """Rewrite the database without the traces of what was deleted; return whether none is left.

        They stay as long as another program reads the project.
        """
        with self._explaining("be rewritten"):
            return self._database.scrub()

    def refresh(self) -> bool:
        """Take in what other writers wrote; return whether anything was taken back."""
        before = self.revision
        if self._connection is None:
            with self._connected("be read", writes=False) as connection:
                self._catch_up(connection)
                self._read_meta(connection)
        now = self.revision
        return now.retracted > before.retracted or now.editions > before.editions

    def close(self) -> None:
        """Close the database; a SQLite project is one file again."""
        self._database.close()

    def _append(
        self,
        pairs: Pairs,
        answers: Answers,
        who: str,
        asked: Asked,
        expected: Expected,
        at: float | None = None,
    ) -> None:
        paid = np.broadcast_to(asked, len(pairs)).tolist()
        packed = pack_expected(expected, len(pairs))
        new = [
            {"a": a, "b": b, "answer": said, "who": who, "asked": cost, "expected": known}
            for (a, b), said, cost, known in zip(
                pairs.tolist(), answers.tolist(), paid, packed, strict=True
            )
        ]
        at = self._add(tables.answers, new, "keep answers", at)
        self._learn_new(Wave(pairs, answers, self._number(who), at, asked, expected))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self.transaction():
            yield

    def _commit(self) -> None:
        if self._connection is not None:
            self._database.check_file()
            # here, so that what is not kept is not remembered either
            self._database.commit(self._connection)

    def _append_opinions(self, rows: list[Opinion]) -> None:
        with self._writing():
            for at in sorted({row.at for row in rows}):
                own = [row._asdict() for row in rows if row.at == at]
                self._add(tables.opinions, own, "keep opinions", at)
            super()._append_opinions(rows)

    @contextmanager
    def _leasing(self, writes: bool) -> Iterator[sa.Connection]:
        own = self._database.leasing() if writes else self._database.reading()
        with self._explaining("keep who is asked what"), own as connection:
            yield connection

    def _retract(self, numbers: NDArray[np.intp]) -> list[LedgerLine]:
        if numbers.size:
            own = self._ids[tables.answers]
            new = [{"answer_id": own[number]} for number in numbers.tolist()]
            self._add(tables.retractions, new, "take an answer back")
        return super()._retract(numbers)

    def _append_correction(self, line: int, replaced: list[int]) -> None:
        own = self._ids[tables.answers]
        new = [{"answer_id": own[line], "replaced_id": own[other]} for other in replaced]
        self._add(tables.corrections, new, "keep a correction")
        super()._append_correction(line, replaced)

    def _add(
        self,
        table: sa.TableClause,
        rows: Sequence[Mapping[str, object]],
        purpose: str,
        at: float | None = None,
    ) -> float:
        """Write rows, with ids and, where there is a column for it, the time; return the time."""
        with self._connected(purpose) as connection:
            at = self._now() if at is None else at
            stamp = {"at": at} if "at" in table.c else {}
            ids = range(self._ids[table].next, self._ids[table].next + len(rows))
            new = [{"id": number, **row, **stamp} for number, row in zip(ids, rows, strict=True)]
            tables.insert_rows(connection, table, new)
        self._ids[table].extend(ids)
        return at

    @contextmanager
    def _connected(self, purpose: str, *, writes: bool = True) -> Iterator[sa.Connection]:
        """Yield the open transaction, or one of its own.

        That begins with what others wrote if it writes, and locks nobody out if it does not.
        """
        with self._explaining(purpose):
            if self._connection is not None:
                yield self._connection
            elif writes:
                with self._locked() as connection:
                    yield connection
                    self._database.check_file()
            else:
                self._database.check_file()
                with self._database.reading() as connection:
                    yield connection

    @contextmanager
    def _locked(self) -> Iterator[sa.Connection]:
        """Yield a transaction that holds the lock, with all that others wrote taken in."""
        if self.read_only:
            raise LedgerError(f"{self._shown} is open for reading only.")
        with self._database.writing() as connection:
            self._database.check_file()
            self._catch_up(connection)
            self._refuse_moved()
            yield connection

    def _refuse_moved(self) -> None:
        if MOVED_TO in self.meta:
            moved = LedgerError(
                f"{self._shown} was moved to {self.meta[MOVED_TO]}: go on there. What is here can still be "
                "read."
            )
            moved.public = "The project was moved to another place: go on there."
            raise moved

    @contextmanager
    def _explaining(self, purpose: str) -> Iterator[None]:
        shown = self._shown
        if self._gone is not None:
            raise self._gone.with_traceback(None)
        try:
            yield
        except FileReplacedError as error:
            self._gone = self._rescued()
            raise self._gone from error
        except (DBAPIError, sa.exc.TimeoutError, sqlite3.Error) as error:
            known = self._project_id is not None
            if known and isinstance(error, DBAPIError) and is_missing_table(error):
                self._gone = self._rescued()
                raise self._gone from error
            cause = error.orig if isinstance(error, DBAPIError) else error
            if isinstance(cause, sqlite3.DatabaseError) and "malformed" in str(cause):
                raise LedgerDamaged(
                    f"{shown} is damaged: {cause}. Nothing was changed; put a backup in its place, or save "
                    "what SQLite can still read of it: sqlite3 FILE .recover"
                ) from error
            causes = SERVER_CAUSES if "://" in self._place else FILE_CAUSES
            raise LedgerError(
                f"{shown} could not {purpose}: {without_secrets(cause, self._place)}. Nothing was changed; "
                f"mend the cause ({causes}) and try again."
            ) from error

    def _rescued(self) -> LedgerGone:
        """Keep what is in memory, let go of the database, and return the error that says so."""
        known = self._log, self._notes, self.annotators, self.meta, self._ids
        gone = rescued(self._database.path, self._shown, ProjectURL(self._place).name, *known)
        if self._database.path is not None:
            with suppress(DBAPIError, sqlite3.Error):
                self._database.settle([ids.last for ids in self._ids.values()], self._project_id)
        self._database.close()
        return gone
