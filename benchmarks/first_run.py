"""How long somebody waits for the demo's page: ``python -m benchmarks.first_run [--cold]``.

Starts ``samekind label demo:digits`` as a user does, in an empty folder, and asks the page until it answers.
With ``--cold`` the cache of compiled functions is empty. Promised on two idle cores: words on the page after
2 s, a question that can be answered after 15 s, warm after 3 s. Machines that are busy take longer, so the
seconds of processor time are told, too.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

import samekind

PACKAGE = Path(samekind.__file__).parent
HEADERS = {"Content-Type": "application/json"}
HIGHEST = {"words": 2.0, "cold": 15.0, "warm": 3.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", action="store_true", help="with an empty cache")
    parser.add_argument("--answers", type=int, default=0, help="answer so many questions, too")
    parser.add_argument("--think", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        env = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if options.cold else {})
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        compileall.compile_dir(PACKAGE, quiet=1)  # as pip does when it installs
        return _measure(Path(folder), env, options)


def _measure(folder: Path, env: dict[str, str], options: argparse.Namespace) -> int:
    began = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "samekind",
        "label",
        "demo:digits",
        "--no-browser",
        "--port",
        "0",
    ]
    server = subprocess.Popen(
        command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    words = slowest = 0.0
    try:
        assert server.stderr is not None
        address = ""
        for line in server.stderr:
            if found := re.search(r"(http://\S+/)#token=(\S+)", line):
                address, token = found.groups()
                HEADERS["Authorization"] = f"Bearer {token}"
                break
        said: list[str] = []
        while True:
            about = json.loads(_get(address + "api/about"))
            now = time.perf_counter() - began
            words = words or now
            if about["state"] == "ready":
                _get(address + "api/next")
                break
            what = about["doing"]
            if said[-1:] != [what]:
                said.append(what)
                print(f"{now:6.2f} s  {what}")
            time.sleep(0.1)
        ready = time.perf_counter() - began
        spent = _spent(server.pid)
        for _ in range(options.answers):
            time.sleep(options.think)
            slowest = max(slowest, _answer(address))
    finally:
        server.terminate()
        server.wait()
    kind = "cold" if options.cold else "warm"
    print(f"words on the page after {words:.2f} s, a question after {ready:.2f} s ({kind})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {spent}")
    if options.answers:
        print(f"the slowest of {options.answers} answers took {1000 * slowest:.0f} ms")
    return int(words > HIGHEST["words"] or ready > HIGHEST[kind])


def _spent(pid: int) -> str:
    """Say how much processor time each process of the server took so far."""
    server = psutil.Process(pid)
    taken = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    each = [f"{times.user + times.system:.1f}" for times in taken]
    return f"{' + '.join(each)} s of processor time"


def _get(address: str) -> bytes:
    with urllib.request.urlopen(
        urllib.request.Request(address, headers=HEADERS), timeout=60
    ) as reply:
        found: bytes = reply.read()
    return found


def _answer(address: str) -> float:
    questions = json.loads(_get(address + "api/next"))["questions"]
    if not questions:
        return 0.0
    said = "different" if questions[0]["type"] == "pair" else "none"
    request = urllib.request.Request(
        address + "api/answers",
        json.dumps({"id": questions[0]["id"], "answer": said}).encode(),
        HEADERS,
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as reply:
        reply.read()
    return time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
