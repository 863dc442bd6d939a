"""The widget's side in Python: what it asks by messages, and the page's modules as one."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import samekind.notebook
from samekind.data import Items, demo_items, load
from samekind.notebook.bundle import OWN, PAGE, bundle
from samekind.notebook.messages import MessageApi
from samekind.project import Project, make_project
from teams import truth as say_truly

KINDS = np.arange(120) % 4
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    """Messages of four kinds that are far apart."""
    folder = tmp_path_factory.mktemp("messages")
    texts = [f"{HOSTILE} message {row} of kind {kind}" for row, kind in enumerate(KINDS)]
    (folder / "messages.csv").write_text("message\n" + "\n".join(texts), encoding="utf-8")
    rng = np.random.default_rng(0)
    np.save(folder / "vectors.npy", 8 * np.eye(6)[KINDS] + rng.normal(size=(len(KINDS), 6)))
    return load(folder / "messages.csv", text="message", embeddings=folder / "vectors.npy")


class Talk:
    """Sends messages as the widget's view does; every reply must be JSON."""

    def __init__(self, project, who="ann"):
        self.api = MessageApi(project, who)
        self.calls = 0

    def __call__(self, method, path, body=None, status=200):
        self.calls += 1
        message = {"call": f"x-{self.calls}", "method": method, "path": path, "body": body}
        reply = json.loads(json.dumps(self.api.reply(json.loads(json.dumps(message)))))
        assert reply["reply"] == message["call"]
        assert reply["status"] == status, reply
        return reply["body"]


truth = partial(say_truly, y=KINDS)


class TestMessages:
    def test_from_the_first_question_to_the_last(self, items, tmp_path):
        path = tmp_path / "messages.db"
        project = make_project(items, path, random_state=0)
        talk = Talk(project)
        open_ = talk("GET", "/api/next?most=3&lineup=true")
        types = set()
        for _ in range(60):
            if not open_["questions"]:
                break
            question = open_["questions"][0]
            types.add(question["type"])
            given = {"id": question["id"], "answer": truth(question)}
            open_ = talk("POST", "/api/answers?most=3", given)
            assert open_["saved"]
        assert {"pair", "lineup", "sheet"} <= types
        assert project.status().clusters == 4
        ledger = project.session.ledger
        assert len(ledger) > 0
        assert set(ledger.annotators) == {"ann"}
        project.close()
        again = samekind.notebook.widget(str(path))  # the same ledger
        assert again.project.status().clusters == 4
        assert again.clusters().n_discovered_ == 4
        again.project.close()

    def test_undo_and_who_comes_too_late(self, items):
        """P2, P4: as on the page."""
        talk = Talk(Project(items, random_state=0))
        [first] = talk("GET", "/api/next")["questions"]
        talk("POST", "/api/answers", {"id": first["id"], "answer": "different"})
        closed = talk("POST", "/api/answers", {"id": first["id"], "answer": "same"}, status=409)
        assert closed["questions"]
        assert "error" in closed
        undone = talk("POST", "/api/undo?most=3", {"count": 1})
        assert len(undone["undone"]) == 1
        assert first["id"] in [question["id"] for question in undone["questions"]]
        assert talk("POST", "/api/undo", {"count": 1})["undone"] == []

    def test_say_what_it_is(self, items):
        project = Project(items, random_state=0)
        talk = Talk(project)
        [question] = talk("GET", "/api/next")["questions"]
        row = question["a"]["row"]
        talk("POST", "/api/answers", {"id": question["id"], "answer": {"new": "Parcels"}})
        assert project.kinds.name_of(project.session.members_of(row)) == "Parcels"
        found = talk("GET", f"/api/find?text=parc&most=60&row={row}")["clusters"]
        assert found[0]["name"] == "Parcels"
        [question] = talk("GET", "/api/next")["questions"]
        item = question["a"] if question["type"] == "pair" else question["item"]
        cluster = found[0]["cluster"]
        talk("POST", "/api/answers", {"id": question["id"], "answer": cluster})
        assert item["row"] in project.session.members_of(row)

    def test_pictures_are_data_urls(self):
        talk = Talk(Project(demo_items(), random_state=0))
        url = talk("GET", "/api/items/7/picture?size=small")["url"]
        head, _, coded = url.partition(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(coded).startswith(b"\x89PNG")
        talk("GET", "/api/items/99999/picture?size=small", status=404)
        talk("GET", "/api/items/7/picture?size=huge", status=422)

    @pytest.mark.parametrize(
        ("method", "path", "body", "status"),
        [
            ("GET", "/api/export/report.html", None, 400),
            ("POST", "/api/answers", {"id": "p-1-2", "answer": True}, 422),
            ("POST", "/api/answers", {"id": "no such question", "answer": "same"}, 400),
            ("GET", "/api/next?most=many", None, 422),
            ("GET", "/api/items/7/../../etc/picture", None, 404),
            ("GET", "//[", None, 404),
        ],
    )
    def test_what_it_does_not_understand(self, items, method, path, body, status):
        project = Project(items, random_state=0)
        body = Talk(project)(method, path, body, status=status)
        assert body["error"]
        assert len(project.session.ledger) == 0

    @pytest.mark.parametrize("message", [None, 3, [], {}, {"call": 4}, {"changed": True}])
    def test_what_is_no_call_gets_no_reply(self, items, message):
        assert MessageApi(Project(items, random_state=0)).reply(message) is None


class TestWidget:
    def test_takes_a_session_which_stays_the_same(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        session = samekind.Session(X, random_state=0)
        widget = samekind.notebook.widget(session, who="bob")
        sent = []
        widget.send = sent.append
        widget._heard(widget, {"call": "1", "method": "GET", "path": "/api/next"}, [])
        [question] = sent[0]["body"]["questions"]
        assert dict(question["a"]["fields"]).keys() == {"x0", "x1", "x2"}
        said = {"id": question["id"], "answer": "different"}
        message = {"call": "2", "method": "POST", "path": "/api/answers", "body": said}
        widget._heard(widget, message, [])
        assert session.n_questions == 1
        widget._heard(widget, "something else", [])
        assert len(sent) == 2
        widget.refresh()
        assert sent[-1] == {"changed": True}

    def test_what_it_does_not_take(self, items):
        with pytest.raises(TypeError, match="takes a Project, a Session, Items"):
            samekind.notebook.widget(3)
        with pytest.raises(ValueError, match="leave it out"):
            samekind.notebook.widget(items, items=items)
        assert isinstance(samekind.notebook.widget(items).project.items, Items)

    def test_says_what_to_install(self):
        code = "import sys; sys.modules['anywidget'] = None; import samekind.notebook as n; n.widget('x')"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "pip install 'samekind[notebook]'" in run.stderr


class TestBundle:
    def test_nothing_is_loaded_from_elsewhere(self):
        """P31: by the widget."""
        text = bundle()
        assert not re.findall(r"^import\b", text, re.MULTILINE)
        assert re.findall(r"^export\b.*", text, re.MULTILINE) == ["export default { render };"]
        assert not re.findall(r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon", text)
        own = [path for folder in (OWN, PAGE) for path in folder.glob("*.js")]
        assert not [path for path in own if "innerHTML" in path.read_text(encoding="utf-8")]
        assert not re.findall(r"https?://(?!www\.w3\.org)", text)

    def test_is_a_module_that_can_be_read(self, tmp_path):
        if shutil.which("node") is None:
            pytest.skip("node is not installed; tests/test_notebook_page.py reads it in a browser")
        (tmp_path / "widget.mjs").write_text(bundle(), encoding="utf-8")
        subprocess.run(["node", "--check", tmp_path / "widget.mjs"], check=True)

    def test_styles_stay_within(self):
        [styles] = re.findall(r"^const STYLES = (.*);$", bundle(), re.MULTILINE)
        text = json.loads(styles)
        assert ":root" not in text
        assert not re.findall(r"^(?:html|body)\b", text, re.MULTILINE)
        assert "@media (max-width" not in text
