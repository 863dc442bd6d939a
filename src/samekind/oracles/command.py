"""A program that plays the expert: it reads pairs as lines of JSON and writes answers."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import IO

import numpy as np

from samekind.flow import DIFFERENT, SAME, UNSURE, Answers, Heard, Pairs, answer_by_stream
from samekind.oracles.chat.item_parts import ItemParts, ShowsItems

__all__ = ["CommandError", "CommandOracle"]

WORDS = {"same": SAME, "different": DIFFERENT, "unsure": UNSURE}
MOST_CHARACTERS = 100_000  # of one item
SHOWN = 200  # characters of what a program wrote, in errors


class CommandError(RuntimeError):
    """The program does not answer; what it answered before is kept."""


class CommandOracle:
    """Answers from a program that runs beside this one for as long as there are questions.

    For each pair it is written one line on its standard input, and writes one line of its own, in any order:

        {"id": 17, "a": 3, "b": 12, "a_text": "...", "b_text": "..."}
        {"id": 17, "answer": "same"}

    An answer is "same", "different" or "unsure". The texts are there where the items are known. What it
    writes to its standard error is shown. It ends when its input does.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments; a text is split as a shell does, but no shell runs it.
    items : Items, sequence of texts or of dicts, or None
        What the rows are.
    timeout : float
        Seconds within which the next answer must come; then the program is ended and started again.
    restarts : int
        How often it is started again, without an answer in between, before the run ends with an error.
    ahead : int
        Lines that it is given before their answers are there.

    Examples
    --------
    >>> import sys
    >>> program = '''
    ... import json, sys
    ... for line in sys.stdin:
    ...     asked = json.loads(line)
    ...     word = "same" if asked["a"] % 2 == asked["b"] % 2 else "different"
    ...     print(json.dumps({"id": asked["id"], "answer": word}), flush=True)
    ... '''
    >>> with CommandOracle([sys.executable, "-c", program]) as oracle:
    ...     oracle(np.array([[0, 2], [0, 3]]))
    array([1, 0], dtype=int8)
    """

    batch = 32

    def __init__(
        self,
        command: str | Sequence[str],
        items: ShowsItems | Sequence[str] | Sequence[Mapping[str, object]] | None = None,
        *,
        timeout: float = 60.0,
        restarts: int = 3,
        ahead: int = 32,
        name: str | None = None,
    ) -> None:
        self._command = shlex.split(command) if isinstance(command, str) else list(command)
        if not self._command:
            raise ValueError(
                "command must name a program, such as command:./judge.py, got nothing."
            )
        if shutil.which(self._command[0]) is None:
            raise ValueError(
                f"{self._command[0]} cannot be run: there is no such program. Check the name."
            )
        self.name = name or f"command {self._command[0]}"
        self._items = None if items is None else ItemParts(items, MOST_CHARACTERS)
        self._timeout = timeout
        self._restarts = restarts
        self._ahead = ahead
        self._process: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._next_id = 0

    def __repr__(self) -> str:
        return f"CommandOracle({shlex.join(self._command)!r})"

    def __enter__(self) -> CommandOracle:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __call__(self, pairs: Pairs) -> Answers:
        """Answer all pairs."""
        return answer_by_stream(self, pairs)

    def stream(self, pairs: Pairs) -> Iterator[Heard]:
        """Yield answers as they come."""
        waiting = [(a, b) for a, b in pairs.tolist()]
        sent: dict[int, tuple[int, int]] = {}
        failures = 0
        while waiting or sent:
            try:
                self._send(waiting, sent)
                heard = self._receive(sent)
            except CommandError as error:
                failures += 1
                self._stop()
                if failures > self._restarts:
                    raise CommandError(f"{error} It was started {failures} times.") from None
                waiting, sent = [*sent.values(), *waiting], {}
                continue
            failures = 0
            yield heard

    def use_examples(self, pairs: Pairs, answers: Answers) -> None:
        """Do nothing: a program has its own examples."""

    def spending_text(self) -> str:
        """Return nothing: what a program costs is not known here."""
        return ""

    def resume_spending(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """End the program's input, and give it a moment to end by itself."""
        process = self._process
        if process is not None:
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
            self._stop()

    def _send(self, waiting: list[tuple[int, int]], sent: dict[int, tuple[int, int]]) -> None:
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        while waiting and len(sent) < self._ahead:
            a, b = waiting.pop(0)
            self._next_id += 1
            sent[self._next_id] = (a, b)
            line: dict[str, object] = {"id": self._next_id, "a": a, "b": b}
            if self._items is not None:
                line |= {"a_text": self._items.text(a), "b_text": self._items.text(b)}
            try:
                self._process.stdin.write(json.dumps(line) + "\n")
                self._process.stdin.flush()
            except OSError:
                raise CommandError(f"{self._command[0]} ended{self._code()}.") from None

    def _receive(self, sent: dict[int, tuple[int, int]]) -> Heard:
        """Return the next answers, all that are there."""
        pairs: list[tuple[int, int]] = []
        answers: list[int] = []
        while not pairs or not self._lines.empty():
            try:
                line = self._lines.get(timeout=self._timeout)
            except Empty:
                raise CommandError(
                    f"{self._command[0]} did not answer within {self._timeout:g} s."
                ) from None
            if line is None:
                if pairs:  # to be noticed the next time
                    self._lines.put(None)
                    break
                raise CommandError(f"{self._command[0]} ended{self._code()}.")
            if not line.strip():
                continue
            try:
                number, answer = _read(line, sent)
            except CommandError:
                if pairs:
                    self._lines.put(line)
                    break
                raise
            pairs.append(sent.pop(number))
            answers.append(answer)
        return Heard(np.array(pairs, dtype=np.intp), np.array(answers, dtype=np.int8))

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise ValueError(
                f"{self._command[0]} cannot be run: {error.strerror}. Check the name."
            ) from error
        self._lines = SimpleQueue()
        assert self._process.stdout is not None
        threading.Thread(
            target=_read_lines, args=(self._process.stdout, self._lines), daemon=True
        ).start()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()

    def _code(self) -> str:
        assert self._process is not None
        try:
            return f" with code {self._process.wait(1.0)}"
        except subprocess.TimeoutExpired:
            return " its output"


def _read_lines(output: IO[str], lines: SimpleQueue[str | None]) -> None:
    with output:
        for line in output:
            lines.put(line)
    lines.put(None)


def _read(line: str, sent: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the number of a question and its answer."""
    try:
        found = json.loads(line)
        number, answer = found["id"], WORDS[found["answer"]]
        if number not in sent:
            raise KeyError(number)
    except (ValueError, KeyError, TypeError):
        raise CommandError(
            f"the program wrote {line.strip()[:SHOWN]!r}, which is no answer to what it was asked. Lines are "
            'like {"id": 17, "answer": "same"}, or "different" or "unsure".'
        ) from None
    return number, answer
