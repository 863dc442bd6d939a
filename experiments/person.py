"""A simulated honest person at the labelling page, who reads only what its API gives, or the page itself.

They know of every thing that they are shown what it is, and nothing else. They answer what is asked, give a
name to every kind that has none when they see it, and say what a thing is, by the name of its kind, where
that is not among those shown. What counts is presses: one for each answer, each name, and each thing that
does not belong to a sheet.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
from numpy.typing import NDArray

from experiments.drawings import write_drawings
from experiments.person_browser import BrowserPerson, chromium
from experiments.small_data import load_table
from samekind import Session
from samekind.data import Items, load
from samekind.measures import adjusted_rand_index
from samekind.project import Project

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Json = dict[str, Any]

TRAPPED = 20  # times that a question may come again
MARKS = {"texts": (100, 200, 300, 400), "pictures": (60, 80, 100, 120)}
"""Presses after which the result is looked at."""
REQUIRED = {"texts": {"right": 0.72, "ari": 0.55}, "pictures": {"right": 1.0, "ari": 1.0}}
"""What it must be after the last of them, on average."""


@dataclass
class Sitting:
    """What a person did, and what came of it."""

    data: str
    seed: int
    looks: list[Json] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    presses: int = 0


class Person:
    """Answers over HTTP; `kind_of` says what a thing with this text, or picture of a row, is."""

    def __init__(self, client: httpx.Client, kind_of: dict[str, str], sitting: Sitting) -> None:
        self._client = client
        self._kind_of = kind_of
        self._sitting = sitting
        self._questions: list[Json] = self._send("GET", "/api/next")["questions"]

    def question(self) -> str | None:
        """Return the id of the first open question; None if there is none."""
        return self._questions[0]["id"] if self._questions else None

    def answer(self) -> None:
        """Answer the first open question."""
        question = self._questions[0]
        self._sitting.types[question["type"]] += 1
        said = self._said(question)
        started = perf_counter()
        reply = self._send("POST", "/api/answers", {"id": question["id"], "answer": said})
        self._sitting.seconds.append(perf_counter() - started)
        for cluster in self._shown(question):
            if cluster["name"] is None:
                self._give_name(cluster["cluster"], cluster["kind"])
        self._questions = reply["questions"]

    def _said(self, question: Json) -> object:
        if question["type"] == "sheet":
            kind = self._kind(question["cluster"]["members"][0])
            out = [item["row"] for item in question["items"] if self._kind(item) != kind]
            self._sitting.presses += len(out)
            return {"different": out}
        if question["type"] == "pair":
            kind, own = self._kind(question["a"]), question["a_cluster"]
            if kind == self._kind(question["b"]):
                return "same"
            if own is not None:
                return "different"
        else:
            kind, own = self._kind(question["item"]), question["item_cluster"]
            for option in question["options"]:
                if self._kind(option["members"][0]) == kind:
                    return option["cluster"]
            if own is not None:
                return "none"
        row = (question.get("item") or question["a"])["row"]
        found = self._send("GET", "/api/find", params={"text": kind, "row": row})["clusters"]
        there = [cluster["cluster"] for cluster in found if cluster["name"] == kind]
        self._sitting.types["found by name" if there else "new kind"] += 1
        return there[0] if there else {"new": kind}

    def _shown(self, question: Json) -> Iterator[Json]:
        """Yield the clusters that were shown, each with what it is."""
        if question["type"] == "pair" and question["b_cluster"] is not None:
            yield question["b_cluster"] | {"kind": self._kind(question["b"])}
        for option in question.get("options", []):
            yield option | {"kind": self._kind(option["members"][0])}

    def _give_name(self, cluster: int, name: str) -> None:
        found = self._send("GET", "/api/find", params={"text": name})["clusters"]
        if any(cluster["name"] == name for cluster in found):
            return  # they see that there is one already
        self._sitting.types["name"] += 1
        self._send("PUT", f"/api/clusters/{cluster}/name", {"name": name})

    def _kind(self, item: Json) -> str:
        return self._kind_of[item["text"] or _picture(item["row"])]

    def _send(self, method: str, path: str, body: object = None, **more: Any) -> Json:
        self._sitting.presses += method != "GET"
        response = self._client.request(method, path, json=body, **more)
        if response.status_code == 400 and path.endswith("/name"):
            return {}  # the kind was merged by the answer
        response.raise_for_status()
        reply: Json = response.json()
        return reply


@contextmanager
def served(project: Project) -> Iterator[httpx.Client]:
    """Serve the page of a project here, and yield a client of it."""
    from samekind.web import serving

    with serving(project) as address:
        page, _, token = address.partition("#token=")
        headers = {"Authorization": f"Bearer {token}", "X-Samekind-Who": "ann"}
        with httpx.Client(base_url=page, headers=headers, timeout=60) as client:
            yield client


def page_of(client: httpx.Client) -> str:
    """Return the address that opens the page in a browser."""
    return f"{client.base_url}#token={client.headers['authorization'].split()[1]}"


def sit_down(
    data: str,
    items: Items,
    kinds: list[str],
    seed: int,
    browser: Browser | None = None,
    *,
    marks: Sequence[int] = (),
    session: Session | None = None,
    **settings: Any,
) -> Sitting:
    """Let a person answer until the last mark, in a tab of the browser if there is one."""
    sitting, marks = Sitting(data, seed), list(marks or MARKS[data])
    codes = np.unique(kinds, return_inverse=True)[1]
    project = Project(items, session=session, random_state=seed, **settings)
    shown = [project.item(row).text or _picture(row) for row in range(project.items.n)]
    rows = project.items.rows_in_file(np.arange(project.items.n))
    kind_of = dict(zip(shown, np.array(kinds)[rows].tolist(), strict=True))
    asked: Counter[str] = Counter()
    with served(project) as client, _person(client, browser, kind_of, sitting) as person:
        while marks:
            question = person.question()
            if question is not None:
                asked[question] += 1
                if asked[question] > TRAPPED:
                    raise RuntimeError(f"question {question} comes again and again.")
                person.answer()
            if sitting.presses >= marks[0] or question is None:
                sitting.looks.append({"at": marks.pop(0)} | _look(project, codes))
    project.close()
    return sitting


@contextmanager
def _person(
    client: httpx.Client, browser: Browser | None, kind_of: dict[str, str], sitting: Sitting
) -> Iterator[Person | BrowserPerson]:
    if browser is None:
        yield Person(client, kind_of, sitting)
        return
    with closing(browser.new_context(viewport={"width": 1280, "height": 800})) as context:
        person = BrowserPerson(context.new_page(), page_of(client), kind_of, sitting)
        yield person
        if person.failures:
            raise RuntimeError(f"the page failed: {'; '.join(person.failures)}")


def _picture(row: int) -> str:
    """Return where the picture of a row is."""
    return f"/items/{row}/picture"


def _look(project: Project, codes: NDArray[np.intp]) -> Json:
    """Return how good the labels are; a cluster is what most of its known rows are."""
    found = project.clusters()
    kinds = np.array([np.bincount(codes[rows]).argmax() for rows in found.members_])
    labels = found.labels_
    right = (labels >= 0) & (kinds[labels] == codes)
    return {
        "right": float(right.mean()),
        "ari": float(adjusted_rand_index(codes, labels)),
        "known": sum(map(len, found.members_)),
        "clusters": len(kinds),
    }


def load_data(name: str, folder: Path) -> tuple[Items, list[str]]:
    """Return what a person sorts, and what each thing is."""
    if name == "pictures":
        kinds = write_drawings(folder / "drawings", n=394, random_state=0)
        return load(folder / "drawings", cache=folder / "cache"), kinds
    table = load_table("banking77.csv.gz").sample(3_000, random_state=0)
    table["text"].to_csv(folder / "texts.csv", index=False)
    kinds = [kind.replace("_", " ") for kind in table["category"].astype(str)]
    return load(folder / "texts.csv", text="text", cache=folder / "cache"), kinds


def run_people(names: list[str], runs: int, *, in_browser: bool = False) -> list[Sitting]:
    """Let so many people sort each of the data sets."""
    sittings: list[Sitting] = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            browser = stack.enter_context(chromium()) if in_browser else None
            items, kinds = load_data(name, Path(folder))
            for seed in range(runs):
                sitting = sit_down(name, items, kinds, seed, browser)
                sittings.append(sitting)
                print(_in_words(sitting), flush=True)
    return sittings


def _in_words(sitting: Sitting) -> str:
    looks = "; ".join(
        f"{look['at']} presses: {100 * look['right']:.1f} % right, ARI {look['ari']:.3f}, "
        f"{look['known']:,} known, {look['clusters']} kinds"
        for look in sitting.looks
    )
    slow = 1e3 * float(np.quantile(sitting.seconds, 0.95))
    types = _counted(sitting.types)
    return f"{sitting.data}, seed {sitting.seed}: {looks}. {types}. p95 {slow:.0f} ms an answer."


def _counted(types: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in types.most_common())


def main(names: list[str] | None = None, runs: int = 5, *, in_browser: bool = False) -> None:
    """Print how each sitting went, the means, and what is required."""
    sittings = run_people(names or list(MARKS), runs, in_browser=in_browser)
    presses, types = sum(sitting.presses for sitting in sittings), Counter[str]()
    for sitting in sittings:
        types += sitting.types
    print(f"{presses:,} presses, no server error: {_counted(types)}.")
    for name in dict.fromkeys(sitting.data for sitting in sittings):
        last = [sitting.looks[-1] for sitting in sittings if sitting.data == name]
        for metric, required in REQUIRED[name].items():
            mean = float(np.mean([look[metric] for look in last]))
            verdict = "met" if mean >= required - 1e-9 else "NOT MET"
            at = f"{name}, {metric} after {last[0]['at']} presses"
            print(f"{at}: {mean:.3f} on average of {len(last)}; at least {required}: {verdict}")
