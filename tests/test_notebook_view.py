"""The widget's view in a real Chromium, with a model like anywidget's: every sort of question by keys."""

from __future__ import annotations

import numpy as np
import pytest

from browser import chromium
from samekind.data import load
from samekind.notebook.bundle import bundle
from samekind.notebook.messages import MessageApi
from samekind.project import Project

KINDS = np.arange(120) % 4
VIEW = """async (source) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  const hearing = new Set();
  const model = {
    on: (_, heard) => hearing.add(heard),
    off: (_, heard) => hearing.delete(heard),
    send: async (message) => {
      const reply = await talk(message);
      for (const heard of [...hearing]) heard(reply);
    },
  };
  window.end = await widget.render({ model, el: document.getElementById("cell") });
  window.hearing = hearing;
}"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    texts = [f"text {row} of {kind}" for row, kind in enumerate(KINDS)]
    (folder / "texts.csv").write_text("\n".join(["message", *texts]), encoding="utf-8")
    rng = np.random.default_rng(0)
    np.save(folder / "vectors.npy", 8 * np.eye(6)[KINDS] + rng.normal(size=(len(KINDS), 6)))
    items = load(folder / "texts.csv", text="message", embeddings=folder / "vectors.npy")
    return Project(items, random_state=0)


def keys_for(question):
    """Return the keys that answer a question truthfully."""
    if question.type == "sheet":
        kind = KINDS[question.cluster.cluster]
        others = [i for i, item in enumerate(question.items, 1) if KINDS[item.row] != kind]
        return [*map(str, others), "s"]
    if question.type == "pair":
        return ["s" if KINDS[question.a.row] == KINDS[question.b.row] else "d"]
    kinds = [KINDS[option.cluster] for option in question.options]
    kind = KINDS[question.item.row]
    return [str(kinds.index(kind) + 1 if kind in kinds else 0)]


def test_every_sort_of_question_by_keys(project):
    """P17: in the notebook as on the page."""
    api = MessageApi(project, "ann")
    with chromium() as browser:
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.expose_function("talk", api.reply)
        page.set_content("<button id='before'>b</button><div id='cell'></div>")
        heard = "window.leaked = []; addEventListener('keydown', (e) => leaked.push(e.key))"
        page.evaluate(heard)
        page.evaluate(VIEW, bundle())
        page.locator("#actions button").first.wait_for()
        page.locator("#before").focus()
        page.keyboard.press("d")  # not meant for it
        assert page.evaluate("leaked") == ["d"]
        assert project.status().presses == 0
        page.locator("#question-title").click()
        types = set()
        for count in range(1, 60):
            has = {question.id: question for question in project.next("ann", most=4)}
            if not has or len(types) == 3:
                break
            seen = page.locator("#question[data-id][aria-busy=false]")
            seen.wait_for()
            shown = has[seen.get_attribute("data-id")]
            types.add(shown.type)
            for key in keys_for(shown):
                page.keyboard.press(key)
            page.locator("#standing strong", has_text=f"{count} press").first.wait_for()
            page.locator("#saved", has_text="Saved").wait_for()
        assert types == {"pair", "lineup", "sheet"}
        assert project.status().contradictions == 0
        found = project.clusters()
        assert all(len(set(KINDS[rows])) == 1 for rows in found.members_)
        assert page.evaluate("leaked") == ["d"]
        assert page.evaluate("(end(), hearing.size)") == 0  # it hears nothing when it is gone
        assert errors == []
