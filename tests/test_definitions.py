"""Definitions of kinds: written by people or suggested by a model, kept, and told to the model."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient

from browser import Served, Visit, axe_script, chromium
from chat_server import KindModel, running
from samekind.ledger import Ledger
from samekind.project import ProjectError, open_project
from serving import BEARER, PAGE, app_of
from test_assistant import SETTINGS, answer_truthfully, items, make_project, start  # noqa: F401

NAME, SENTENCE = "lost card", "The customer has lost a card."


@pytest.fixture
def project(items, tmp_path):  # noqa: F811
    project = make_project(items, tmp_path / "p.db", **SETTINGS)
    answer_truthfully(project, 30, most=25)
    yield project
    project.close()


def first(project):
    return project.overview.all().clusters[0]


class TestKept:
    def test_a_name_and_its_definition_are_one_act(self, project):
        cluster = first(project).cluster
        project.kinds.rename(cluster, "card", who="ann")
        project.kinds.rename(cluster, NAME, definition=SENTENCE, who="ann")
        assert (first(project).name, first(project).definition) == (NAME, SENTENCE)
        [taken] = project.take_back(who="ann")
        assert (taken.said, taken.name) == ("name", NAME)
        assert (first(project).name, first(project).definition) == ("card", "")

    def test_a_new_name_keeps_the_definition_until_it_is_taken_away(self, project):
        cluster = first(project).cluster
        project.kinds.rename(cluster, "", definition=SENTENCE)
        assert (first(project).name, first(project).definition) == (None, SENTENCE)
        project.kinds.rename(cluster, NAME)
        assert (first(project).name, first(project).definition) == (NAME, SENTENCE)
        project.kinds.rename(cluster, NAME, definition="")
        assert first(project).definition == ""

    def test_it_stays_when_kinds_merge_and_rows_leave(self, project):
        one, other = (k.cluster for k in project.overview.all().clusters[:2])
        older, newer = sorted([one, other], key=project.kinds.numbers.of)
        project.kinds.rename(older, NAME, definition=SENTENCE)
        project.kinds.merge([older, newer])
        merged = project.kinds.ref(project.kinds.members(newer))
        assert (merged.name, merged.definition) == (NAME, SENTENCE)
        project.kinds.remove(merged.cluster, [merged.cluster])  # the row that held the name
        [left] = [k for k in project.overview.all().clusters if k.name == NAME]
        assert left.definition == SENTENCE

    def test_another_server_sees_it_at_once_and_after_a_restart(self, project, tmp_path):
        """P6: two servers agree on names."""
        other = open_project(tmp_path / "p.db")
        project.kinds.rename(first(project).cluster, NAME, definition=SENTENCE)
        assert first(other).definition == SENTENCE
        other.undo()
        assert first(project).definition == ""
        other.kinds.rename(first(other).cluster, NAME, definition=SENTENCE)
        other.close()
        again = open_project(tmp_path / "p.db", read_only=True)
        assert first(again).definition == SENTENCE
        again.close()

    def test_is_in_the_table_of_kinds(self, project, tmp_path):
        project.kinds.rename(first(project).cluster, NAME, definition=SENTENCE)
        project.export("clusters.json", tmp_path / "c.json")
        kinds = json.loads((tmp_path / "c.json").read_text())["kinds"]
        assert [k["definition"] for k in kinds if k["name"] == NAME] == [SENTENCE]

    @pytest.mark.parametrize("wrong", ["x" * 201, "a\u0000b"])
    def test_is_one_short_sentence(self, project, wrong):
        with pytest.raises(ProjectError):
            project.kinds.rename(first(project).cluster, NAME, definition=wrong)
        assert first(project).name is None

    def test_a_name_of_two_lines_is_refused_by_the_ledger(self):
        with pytest.raises(ValueError):
            Ledger().name(0, "one\ntwo")


class TestSuggested:
    def test_over_http_accepted_and_used_in_later_prompts(self, project, tmp_path):
        model = KindModel()
        with running(model) as url:
            assistant = start(project, url, budget=30)
            assistant._thread.join(30)
            client = TestClient(app_of(project), base_url=f"http://127.0.0.1{PAGE}", headers=BEARER)
            assert client.get("/api/status").json()["model"] == "test-model"
            before = project.team.annotators().assistant
            kind = first(project)
            suggested = client.post(f"/api/clusters/{kind.cluster}/suggestion").json()
            assert suggested["name"].startswith("kind of ")
            assert suggested["definition"]
            assert (first(project).name, first(project).definition) == (None, "")
            assert project.team.annotators().assistant.cost > before.cost
            saved = client.put(f"/api/clusters/{kind.cluster}/name", json=suggested)
            assert saved.status_code == 200
            assert first(project).definition == suggested["definition"]
            assert not any(suggested["definition"] in said for said in model.contents)
            project.close()
            again = open_project(tmp_path / "p.db")
            assert again.ledger.settings[f"spent by {assistant.oracle.name}"]
            assistant = start(again, url, budget=40)
            assistant._thread.join(30)
            again.close()
        told = [said for said in model.contents if suggested["definition"] in said]
        assert told
        for said in told:
            fence = said[said.index("<<<") + 3 :].split()[0]
            assert said.index(suggested["definition"]) < said.index(f"\n{fence}>>>")

    def test_the_model_sees_the_kind_others_near_it_and_the_names_that_are_taken(self, project):
        named = project.overview.all().clusters[1]
        project.kinds.rename(named.cluster, "taken name")
        model = KindModel()
        with running(model) as url:
            start(project, url, budget=1)._thread.join(30)
            project.kinds.suggest(first(project).cluster)
        said = model.contents[-1]
        assert "taken name" in said
        assert said.count(" of another kind, ") >= 1
        assert said.count(" item ") >= 2

    def test_while_the_model_answers(self, project):
        with running(KindModel(delay=0.05)) as url:
            assistant = start(project, url, in_flight=1)
            for _ in range(3):
                assert project.kinds.suggest(first(project).cluster).name
            assert assistant.is_working
            assistant.stop()
            assert not assistant.is_working

    def test_without_a_model_it_says_what_to_do(self, project):
        client = TestClient(app_of(project), base_url=f"http://127.0.0.1{PAGE}", headers=BEARER)
        reply = client.post(f"/api/clusters/{first(project).cluster}/suggestion")
        assert reply.status_code == 400
        assert "--model" in reply.json()["error"]
        assert client.get("/api/status").json()["model"] == ""

    @pytest.mark.parametrize(
        "says",
        ["obeyed", '{"name": ""}', json.dumps({"name": "x" * 99, "definition": "y"})],
    )
    def test_a_reply_that_is_no_name_is_not_shown(self, project, says):
        with running(KindModel(obeys=":", says=says)) as url:
            start(project, url, budget=1)._thread.join(30)
            with pytest.raises(ProjectError):
                project.kinds.suggest(first(project).cluster)
        assert first(project).name is None

    def test_the_cap_holds(self, project):
        with running(KindModel()) as url:
            start(project, url, budget=1, cap=0.000001)._thread.join(30)
            with pytest.raises(ProjectError):
                project.kinds.suggest(first(project).cluster)
            assert project.team.annotators().assistant.calls == 0


@pytest.mark.xdist_group("browser")
class TestPage:
    @pytest.fixture
    def page(self, project):
        with chromium() as browser, Served(project) as served:
            context = browser.new_context(viewport={"width": 1200, "height": 800})
            tab = Visit(context, served.url, asked=False)
            tab.page.goto(f"{served.origin}{PAGE}/#/found")
            tab.page.wait_for_selector(".kind")
            yield tab.page
            assert tab.errors == []
            assert tab.page.evaluate("window.violations") == []
            context.close()

    def test_a_suggestion_is_edited_saved_and_taken_back(self, project, page):
        with running(KindModel()) as url:
            start(project, url, budget=1)._thread.join(30)
            page.reload()
            page.locator(".define").first.click()
            page.get_by_role("button", name="Suggest both").click()
            page.wait_for_function("() => document.getElementById('definition-text').value")
            page.evaluate(axe_script())
            problems = page.evaluate("axe.run(document.querySelector('dialog'))")["violations"]
            assert [problem["id"] for problem in problems] == []
            page.fill("#definition-name", NAME)
            page.get_by_role("button", name="Save").click()
            page.wait_for_selector("dialog", state="detached")
            page.wait_for_selector(".kind-definition:has-text('Its number is')")
        assert first(project).name == NAME
        assert first(project).definition.startswith("Its number is")
        page.locator(".toast button", has_text="Undo").click()
        page.wait_for_selector(".kind-definition", state="detached")
        assert (first(project).name, first(project).definition) == (None, "")

    @pytest.mark.slow
    def test_without_a_model_one_writes_it_and_a_name_leaves_it(self, project, page):
        page.locator(".define").first.click()
        assert page.get_by_role("button", name="Suggest both").count() == 0
        page.fill("#definition-text", SENTENCE)
        page.locator("#definition-name").press("Enter")
        page.wait_for_selector(f".kind-definition:has-text('{SENTENCE}')")
        page.locator(".kind-name").first.fill(NAME)
        page.locator(".kind-name").first.press("Enter")
        page.wait_for_selector(".toast:has-text('Named')")
        assert (first(project).name, first(project).definition) == (NAME, SENTENCE)
