"""Parts: a kind that is split further, in a project of its own that exports join with its parent."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack

import pandas as pd
import pytest
from typer.testing import CliRunner

from browser import Served, chromium, do_without
from samekind.cli import app
from samekind.data import demo_items, load
from samekind.ledger import LedgerError, Links
from samekind.project import Project, ProjectError, make_project, open_project, with_parts
from serving import PAGE, Serving
from teams import TeamServer, invite, wait_for

try:
    from playwright.sync_api import expect
except ImportError as missing:
    do_without(f"{missing.name} is not installed: pip install -e '.[dev]'")

KINDS = {"card / lost": "lost my card", "card / stolen": "stole a card", "address": "I moved house"}
TEXTS = [f"{text} number {k}" for k in range(10) for text in KINDS.values()]


def path_of(text):
    return next(path for path, words in KINDS.items() if words in text)


@pytest.fixture
def place(tmp_path):
    """A project in which "card" and "address" are known; "card" has two copies."""
    texts = [*TEXTS, TEXTS[0].upper(), TEXTS[4].upper()]
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "texts.csv", index=False)
    where = tmp_path / "texts.samekind.db"
    items = load(tmp_path / "texts.csv", text="text", cache=where)
    project = make_project(items, where, random_state=0)
    for name in ("card", "address"):
        rows = [r for r in range(30) if path_of(project.item(r).text).split(" / ")[0] == name]
        project.kinds.place_in_new(rows, name)
    project.close()
    return where


def cluster_of(project, name):
    return next(ref.cluster for ref in project.kinds.refs() if ref.name == name)


def sort_part(part, *, leave_out=0):
    """Say of each item of a part what it is."""
    for name in ("lost", "stolen"):
        rows = [r for r in range(part.items.n) if path_of(part.item(r).text.lower()).endswith(name)]
        part.kinds.place_in_new(rows[: len(rows) - leave_out], name)


def split(project):
    part = project.parts.open(project.parts.split(cluster_of(project, "card"), "Is it gone?"))
    sort_part(part)
    return part


def table_of(project, folder, name="csv"):
    project.export(name, folder / name)
    return pd.read_csv(folder / name, dtype={"part": str})


def cli(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_exports_join_a_part_with_its_parent(place, tmp_path):
    project = open_project(place)
    part = split(project)
    assert (part.items.n, part.items.whole.n) == (20, 22)
    assert part.standing.criterion == "Is it gone?"
    assert project.standing.criterion == ""
    found = table_of(project, tmp_path)
    assert found["name"].tolist() == [
        path_of(text.lower().replace("i m", "I m")) for text in found["text"]
    ]
    assert (found["level_1"] + " / " + found["level_2"].fillna("")).str.strip(
        " /"
    ).tolist() == found["name"].tolist()
    assert found["known"].all()
    assert (found["part"].isna() == (found["name"] == "address")).all()
    own = table_of(part, tmp_path)
    assert set(own["row"]) == set(found["row"][found["level_1"] == "card"])
    assert "level_2" not in own
    project.export("json", tmp_path / "json")
    kinds = json.loads((tmp_path / "json").read_text())["kinds"]
    assert sorted(kind["name"] for kind in kinds) == sorted(KINDS)
    project.export("dataset", tmp_path / "dataset")
    assert len(pd.read_parquet(tmp_path / "dataset")["label"].unique()) == 3
    project.close()
    reading = open_project(place, read_only=True)
    pd.testing.assert_frame_equal(table_of(reading, tmp_path), found)
    reading.close()


def test_a_part_is_opened_by_itself_and_keeps_its_answers(place, tmp_path):
    project = open_project(place)
    before = table_of(split(project), tmp_path)
    project.close()
    [(_, _), (alone, _)] = with_parts(place, place)
    part = open_project(alone)
    assert part.notices == []
    pd.testing.assert_frame_equal(table_of(part, tmp_path), before)
    part.close()
    assert "Its data, texts.csv, are as they were" in cli("check", alone)


def test_rows_that_join_a_kind_are_predicted_and_then_taken_in(place, tmp_path):
    """P9: rows come to the kind and leave it; the answers of its part stay with the others."""
    project = open_project(place)
    split(project)
    project.close()
    table = pd.read_csv(tmp_path / "texts.csv")
    more = pd.DataFrame({"text": ["lost my card again", "stole a card again"]})
    pd.concat([table.iloc[2:], more]).to_csv(tmp_path / "texts.csv", index=False)
    project = open_project(place)
    project.kinds.place([project.items.n - 2, project.items.n - 1], cluster_of(project, "card"))
    found = table_of(project, tmp_path)
    assert not found["known"].iloc[-2:].any()  # nobody said in which part they are
    assert found["level_1"].iloc[-2:].tolist() == ["card", "card"]
    assert found["known"].iloc[:-2].all()
    project.close()
    cli("split", place, "card")
    project = open_project(place)
    [number] = project.parts.numbers
    part = project.parts.open(number)
    assert part.status().n_rows == 21  # one copy stands for the text that is gone
    assert part.status().known_rows == 19
    project.close()


def test_what_cannot_be_split_is_refused(place):
    project = open_project(place)
    with pytest.raises(ProjectError):
        project.parts.open(1)
    project.close()
    alone = Project(demo_items(), random_state=0)
    alone.kinds.place_in_new([0], "zero")
    alone.kinds.place_in_new(list(range(1, alone.items.n)), "others")
    with pytest.raises(ProjectError):
        alone.parts.split(0)
    alone.close()
    cli("split", place, "nothing", code=2)


def test_another_project_in_the_place_of_a_part_is_refused(place):
    project = open_project(place)
    number = project.parts.split(cluster_of(project, "card"))
    project.close()
    [(_, _), (alone, _)] = with_parts(place, place)
    alone.unlink()
    items = load(place.with_name("texts.csv"), text="text")
    make_project(items, alone, random_state=0).close()
    project = open_project(place)
    with pytest.raises(LedgerError):
        project.parts.open(number)
    with pytest.raises(ProjectError):
        project.parts.split(cluster_of(project, "card"))
    project.close()


def test_a_part_whose_file_is_deleted_is_given_up(place, tmp_path):
    project = open_project(place)
    split(project)
    project.close()
    [(_, _), (alone, _)] = with_parts(place, place)
    alone.unlink()
    project = open_project(place)
    assert set(table_of(project, tmp_path)["name"]) == {"card", "address"}
    split(project)
    assert set(table_of(project, tmp_path)["name"]) == set(KINDS)
    project.close()


def test_parts_are_backed_up_moved_and_forgotten_with_their_project(place, tmp_path):
    """P10 to P12 hold for parts."""
    cli("split", place, "card", "--criterion", "Is it gone?")
    project = open_project(place)
    [number] = project.parts.numbers
    part = project.parts.open(number)
    part.kinds.place_in_new([0, 2], "lost", who="ann")
    project.close()
    (tmp_path / "safe").mkdir()
    copy = tmp_path / "safe" / "monday.db"
    cli("backup", place, copy)
    moved = tmp_path / "safe" / "moved.db"
    cli("move", place, moved)
    for where in (copy, moved):
        reading = open_project(where)
        assert reading.parts.open(number).kinds.refs()[0].name == "lost"
        reading.close()
    with pytest.raises(LedgerError):
        open_project(with_parts(place, place)[1][0]).close()
    cli("forget", moved, "--who", "ann", "--yes")
    reading = open_project(moved)
    assert "ann" not in reading.parts.open(number).ledger.annotators
    reading.close()


def test_a_part_is_made_over_http_and_served_beside_its_parent(place):
    with Serving(open_project(place)) as served:
        cluster = cluster_of(served.project, "card")
        name = served.post(f"/api/clusters/{cluster}/split", json={"criterion": "Is it gone?"})[
            "name"
        ]
        again = served.post(f"/api/clusters/{cluster}/split", json={})
        assert again == {"name": name}
        client = served.client
        client.base_url = str(client.base_url).replace(PAGE, f"/p/{name}")
        wait_for(lambda: client.get("/api/about").json()["state"] == "ready")
        about = client.get("/api/about").json()
        assert PAGE.endswith(about["part_of"])
        assert client.get("/api/status").json()["criterion"] == "Is it gone?"
        assert client.get("/api/next").json()["questions"]
        for unknown in (f"{name}0", f"{name}.kind-1", "rows" + ".kind-1" * 1000, "x.kind-1"):
            assert client.get(f"{served.url}/p/{unknown}/api/about").status_code == 401


def test_a_served_part_takes_in_items_that_have_come(place):
    """P9: another program splits the kind again; the server that has the part open goes on with it."""
    with Serving(open_project(place)) as served:
        cluster = cluster_of(served.project, "card")
        name = served.post(f"/api/clusters/{cluster}/split", json={})["name"]
        part = f"{served.url}/p/{name}/api"
        wait_for(lambda: served.client.get(f"{part}/status").status_code == 200)
        assert served.client.get(f"{part}/status").json()["n_rows"] == 20
        address = next(r for r in range(30) if served.project.item(r).text in TEXTS[2::3])
        served.post("/api/rows/place", json={"rows": [address], "cluster": cluster})
        cli("split", place, "card")

        def n_rows():
            reply = served.client.get(f"{part}/status")
            return reply.json()["n_rows"] if reply.status_code == 200 else 0

        wait_for(lambda: n_rows() > 20)


def test_links_to_a_project_open_its_parts_on_every_server(place):
    """P6 and P32: roles are those of the parent, also on a server that has not split the kind itself."""
    own, answers = invite(place, "eve", "own"), invite(place, "ann", "answer")
    body = {"criterion": "Is it gone?"}
    with ExitStack() as stack:
        one, two = (stack.enter_context(TeamServer({"texts": place})) for _ in range(2))

        def person(server, token, project="texts"):
            return stack.enter_context(server.person(token, project))

        eve = person(one, own)
        wait_for(lambda: eve.status() == 200)
        cluster = cluster_of(one.site.projects["texts"].project, "card")
        path = f"/clusters/{cluster}/split"
        assert person(one, answers).post(path, json=body).status_code == 403
        name = eve.post(path, json=body).json()["name"]
        there, here = person(one, answers, name), person(two, answers, name)
        for ann in (there, here):
            wait_for(lambda ann=ann: ann.status() == 200)
            assert ann.get("/about").json()["who"] == "ann"
            assert ann.status("/budget", "PUT", json={"budget": 5}) == 403
        said = here.get("/next").json()["questions"][0]
        told = here.post("/answers", json={"id": said["id"], "answer": "unsure"})
        assert told.status_code == 200
        wait_for(lambda: there.get("/status").json()["presses"] == 1)
        assert eve.status("/links") == 200
        assert person(one, own, name).status("/links") == 404  # they are made at the parent
        with Links(place) as links:
            links.revoke(who="ann")
        assert here.status() == 401


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_a_kind_is_split_on_the_page_and_copies_are_told(place):
    with Served(open_project(place)) as served, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(served.url)
        card = page.locator(f".kind[data-cluster='{cluster_of(served.project, 'card')}']")
        expect(card.locator(".kind-counts")).to_contain_text("2 copies")
        card.get_by_role("button", name=re.compile("Split")).click()
        page.get_by_role("dialog").get_by_role("textbox").fill("Is it gone?")
        page.keyboard.press("Enter")
        page.wait_for_url("**/p/*.kind-1/")
        expect(page.locator(".criterion-text")).to_have_text("Is it gone?")
        part = served.project.parts.open(1)
        page.wait_for_selector("#question[aria-busy=false]:not([data-id=''])")
        rows = map(int, re.findall(r"\d+", page.get_attribute("#question", "data-id")))
        many = max(part.item(row).copies for row in rows)
        if many:
            expect(page.locator("#question")).to_contain_text("copy")
        page.keyboard.press("s")
        page.wait_for_selector("#saved[data-state=saved]")
        assert part.status().presses == 1
        page.locator(".brand a").click()
        page.wait_for_url(f"**{PAGE}/")
        expect(card.get_by_role("button", name=re.compile("Open the parts"))).to_be_visible()
        card.get_by_role("button", name=re.compile("Open the parts")).click()
        page.wait_for_url("**/p/*.kind-1/")
        expect(page.locator("#title")).to_contain_text("card")
