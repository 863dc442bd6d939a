"""Compiling ahead: what a first session needs is compiled by several processes at once, while data are read.

Numba compiles a function when it is first called, one at a time, and keeps the result on disk. The functions
that people would wait for, and with which types, are listed in ``kernel_signatures.json`` (written by
``python tests/kernel_signatures.py --write``). A worker is this module run as a program: it is told numbers
of lines of that list, and tells each when it is done. Where the list is out of date nothing breaks: Numba
compiles when it must.

Nothing but the standard library is imported here, so that a page can be shown before anything else is loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Kernel", "WarmUp", "decode_type", "encode_type", "is_warm", "kernels", "sort_of_rows"]

HERE = Path(__file__).parent
LIST = HERE / "kernel_signatures.json"
MOST_WORKERS = 4
START = "start"  # the stage of what is needed for a first question and its answer
SORTS = ("float32", "float64", "wide")
NARROW = 64  # columns up to which rows are taken as they are


@dataclass(frozen=True)
class Kernel:
    """A function to compile.

    Attributes
    ----------
    module, function : str
        Where it is.
    types : list
        Of its arguments, as `encode_type` returns them.
    stage : {"start", "later"}
        Whether a first question and its answer need it.
    rows : list of str
        For which sorts of rows, as `sort_of_rows` names them.
    """

    module: str
    function: str
    types: list[Any]
    stage: str
    rows: list[str]


def kernels() -> list[Kernel]:
    """Return all functions that are compiled ahead, the most wanted first."""
    return [Kernel(**line) for line in json.loads(LIST.read_text("utf-8"))]


def sort_of_rows(X: Any) -> str:
    """Return which functions rows need: those of their type, or of rows that are brought to fewer columns."""
    return "wide" if X.shape[1] > NARROW else str(X.dtype)


def encode_type(numba_type: Any) -> Any:
    """Return a Numba type as JSON can hold it; None where that is not possible."""
    from numba import types

    if isinstance(numba_type, types.Array):
        name, layout = str(numba_type.dtype), numba_type.layout
        return ["array", name, numba_type.ndim, layout, not numba_type.mutable]
    if isinstance(numba_type, types.BaseTuple):
        one = [getattr(numba_type, "dtype", None)] * getattr(numba_type, "count", 0)
        parts = [encode_type(part) for part in getattr(numba_type, "types", one)]
        cls = getattr(numba_type, "instance_class", None)
        if cls is not None and issubclass(cls, tuple) and cls is not tuple:
            return None if None in parts else ["named", cls.__module__, cls.__qualname__, parts]
        return None if None in parts else ["tuple", parts]
    return str(numba_type) if hasattr(types, str(numba_type)) else None


def decode_type(code: Any) -> Any:
    """Return the Numba type that `encode_type` encoded."""
    from numba import types

    if isinstance(code, str):
        return getattr(types, "boolean" if code == "bool" else code)
    what, *rest = code
    if what == "array":
        dtype, ndim, layout, readonly = rest
        return types.Array(decode_type(dtype), ndim, layout, readonly=readonly)
    if what == "named":
        module, name, parts = rest
        return _tuple_of(parts, getattr(import_module(module), name))
    return _tuple_of(rest[0])


def _tuple_of(codes: list[Any], cls: type | None = None) -> Any:
    from numba import types

    make: Callable[..., Any] = types.BaseTuple.from_types
    return make([decode_type(code) for code in codes], cls)


def is_warm() -> bool:
    """Return whether everything was compiled here before, by this Python and of these sources."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    stamp = _stamp()
    return stamp is None or stamp.exists()


class WarmUp:
    """Compiles ahead in other processes.

    Parameters
    ----------
    on_progress : callable or None
        Called with how many functions of those that are waited for are compiled, and of how many.
    workers : int or None
        Processes; by default as many as there are processors, up to four.
    """

    def __init__(
        self, on_progress: Callable[[int, int], object] | None = None, workers: int | None = None
    ) -> None:
        self._on_progress = on_progress
        self._n_workers = workers or min(MOST_WORKERS, os.cpu_count() or 1)
        self._list = kernels()
        self._lock = threading.Condition()
        self._todo: set[int] = set()  # all that was asked for,
        self._waiting: list[int] = []  # what of it nobody has begun,
        self._compiled: set[int] = set()  # and what is done
        self._wanted: set[int] = set()  # what somebody waits for
        self._rows: str | None = None  # of which sort they are, once that is known
        self._processes: list[subprocess.Popen[str]] = []
        self._threads: list[threading.Thread] = []
        self._failed = self._is_stopped = False

    def start(self, rows: str | None = None) -> None:
        """Begin to compile what a first question about any rows needs, or about `rows` of this sort."""
        self._add(
            number
            for number, kernel in enumerate(self._list)
            if kernel.stage == START and (rows in kernel.rows or len(kernel.rows) == len(SORTS))
        )
        with self._lock:
            self._rows = rows or self._rows
            self._wanted = set(self._todo)
        self._tell()

    def go_on(self) -> None:
        """Compile all else, too: first what later questions about these rows need."""
        self._add(range(len(self._list)))

    def wait(self) -> bool:
        """Wait until what is needed for a first question is compiled; return whether all went well."""
        with self._lock:
            self._lock.wait_for(lambda: self._failed or self._wanted <= self._compiled)
        return not self._failed

    def finish(self) -> bool:
        """Compile everything, and wait for it; return whether all went well."""
        self.go_on()
        with self._lock:
            self._wanted = set(self._todo)
        self._tell()
        return self.wait()

    def stop(self) -> None:
        """End all processes; what they have compiled is kept."""
        with self._lock:
            self._waiting.clear()
            self._is_stopped = True
            self._lock.notify_all()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join(timeout=5)

    def _add(self, numbers: Iterable[int]) -> None:
        with self._lock:
            new = [number for number in numbers if number not in self._todo]
            self._todo.update(new)
            self._waiting += new
            self._lock.notify_all()
            missing = min(self._n_workers, len(self._waiting)) - len(self._threads)
        for _ in range(missing):
            self._begin_worker()

    def _begin_worker(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "samekind.warm_up"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        place = len(self._threads)
        thread = threading.Thread(target=self._direct, args=(process, place), daemon=True)
        self._processes.append(process)
        self._threads.append(thread)
        thread.start()

    def _direct(self, process: subprocess.Popen[str], place: int) -> None:
        """Tell a worker what to compile, one after another."""
        assert process.stdin is not None
        assert process.stdout is not None
        packages: set[str] = set()  # that it has loaded
        with contextlib.suppress(OSError, ValueError):
            while (number := self._take(packages, place)) is not None:
                process.stdin.write(f"{number}\n")
                process.stdin.flush()
                if process.stdout.readline().strip() != str(number):
                    break
                with self._lock:
                    self._compiled.add(number)
                    if len(self._compiled) == len(self._list):
                        _note_warm()
                    self._lock.notify_all()
                self._tell()
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait()
        process.stdout.close()
        with self._lock:
            self._failed |= process.returncode != 0 and not self._is_stopped
            self._lock.notify_all()

    def _take(self, packages: set[str], place: int) -> int | None:
        """Return what a worker does next: if it can, of a package that it has loaded."""
        with self._lock:
            self._lock.wait_for(
                lambda: self._waiting or self._is_stopped or len(self._todo) == len(self._list)
            )
            if not self._waiting:
                return None

            def cost(number: int) -> tuple[bool, bool, bool, int]:
                kernel = self._list[number]
                package = kernel.module.split(".")[1]
                is_own = (
                    package in packages if packages else (package == "algorithms") == (place == 0)
                )
                is_useless = self._rows is not None and self._rows not in kernel.rows
                return kernel.stage != START, is_useless, not is_own, number

            number = min(self._waiting, key=cost)
            self._waiting.remove(number)
            packages.add(self._list[number].module.split(".")[1])
            return number

    def _tell(self) -> None:
        if self._on_progress is not None:
            with self._lock:
                done, total = len(self._wanted & self._compiled), len(self._wanted)
            self._on_progress(done, total)


def _stamp() -> Path | None:
    """Return the file that is there once everything is compiled; None where Numba keeps nothing."""
    with contextlib.suppress(metadata.PackageNotFoundError, OSError):
        sources = sorted(
            {HERE.parent / f"{line.module.replace('.', '/')}.py" for line in kernels()}
        )
        known = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in sources]
        about = [sys.version, metadata.version("numba"), metadata.version("numpy"), known]
        key = hashlib.blake2b(repr(about).encode(), digest_size=8).hexdigest()
        folder = Path(os.environ.get("NUMBA_CACHE_DIR") or HERE / "points/__pycache__")
        if not os.access(HERE, os.W_OK) and "NUMBA_CACHE_DIR" not in os.environ:
            folder = Path.home() / ".cache" / "samekind"  # Numba, too, goes elsewhere then
        return folder / f"samekind-{key}.warm"
    return None


def _note_warm() -> None:
    stamp = _stamp()
    if stamp is not None:
        with contextlib.suppress(OSError):
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()


def _module(name: str) -> ModuleType:
    """Return a module without the packages that it is in, which take longer to load than it to compile."""
    if name not in sys.modules:
        path = HERE.parent / f"{name.replace('.', '/')}.py"
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _work() -> None:
    """Compile what is asked for on the standard input."""
    listed = kernels()
    for line in sys.stdin:
        kernel = listed[int(line)]
        if kernel.stage != START and hasattr(os, "nice"):
            os.nice(max(0, 10 - os.nice(0)))  # nobody waits for it
        with contextlib.suppress(Exception):  # then it is compiled when it is needed
            function = getattr(_module(kernel.module), kernel.function)
            function.compile(tuple(decode_type(code) for code in kernel.types))
        print(line.strip(), flush=True)


if __name__ == "__main__":
    _work()
