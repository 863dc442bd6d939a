"""Saying what it is and sheets, in a real Chromium."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "playwright", "axe_playwright_python"):
        pytest.importorskip(package)

from playwright.sync_api import expect

from browser import Served, Visit, axe_script, chromium
from samekind import DIFFERENT, SAME
from samekind.project import NewCluster, Project
from test_saying import KINDS, WORDS, answered, message_items, subject, truth

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return message_items(tmp_path_factory.mktemp("messages"))


def visit(browser, served, **options):
    return Visit(
        browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options), served.url
    )


def assert_accessible(page):
    page.evaluate(axe_script())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    bad = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert bad == []


def test_say_what_it_is(browser, items):
    project = answered(items, 14, lineup=2)
    for cluster in project.kinds.find():
        project.kinds.rename(cluster.cluster, WORDS[KINDS[cluster.cluster]])
    with Served(project) as served:
        tab = visit(browser, served)
        page = tab.page
        row = subject(project.next("")[0])
        page.keyboard.press("/")
        page.keyboard.type("lost k")  # none of these letters answers anything
        expect(page.locator(".picker-option").first).to_contain_text("New kind “lost k”")
        assert_accessible(page)
        page.keyboard.type("eys")
        before = tab.question
        page.keyboard.press("Enter")
        tab.wait(before)
        tab.saved()
        assert project.session.members_of(row) == [row]
        assert project.kinds.find("lost keys")[0].cluster == row
        tab.listens()
        page.keyboard.press("Backspace")
        tab.saved()
        expect(page.locator(".toast")).to_contain_text("none of")
        assert project.session.members_of(row) == []

        row = subject(project.next("")[0])
        name = WORDS[KINDS[row]]
        tab.wait()
        page.fill("#say .picker-field", name.upper()[:-1])  # a part of it finds it
        expect(page.locator(".picker-option[aria-selected=true]")).to_contain_text("New kind")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".picker-option[aria-selected=true] strong")).to_have_text(name)
        before = tab.question
        page.keyboard.press("Enter")
        tab.wait(before)
        tab.saved()
        [kind] = [c.cluster for c in project.kinds.find(most=99) if c.name == name]
        assert project.session.ledger.lookup(np.array([[row, kind]])) == [SAME]

        page.locator(".kind .member.predicted").first.click()
        page.click("dialog .belongs")
        page.fill("dialog .picker-field", "an odd one")
        page.wait_for_selector("dialog .picker-new[aria-selected=true]")
        assert_accessible(page)
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_contain_text("the new kind “an odd one”")
        assert project.kinds.find("an odd one")
        assert tab.errors == []


def test_sheets(browser, items):
    project = Project(items, random_state=0)
    while (question := project.next("")[0]).type != "sheet":
        project.answer(question.id, truth(question))
    with Served(project) as served:
        tab = visit(browser, served)
        page, rows = tab.page, [item.row for item in question.items]
        expect(page.locator(".tile")).to_have_count(len(rows))
        assert_accessible(page)
        page.keyboard.press("2")
        page.locator(".tile").first.click()
        page.locator(".tile").first.click()  # after all it does
        page.set_viewport_size({"width": 1280, "height": 520})
        page.locator(".tile").last.click()  # the buttons below cover none for good
        page.locator(".tile").last.click()
        expect(page.locator("[data-answer=all]")).to_contain_text(
            f"{len(rows) - 1} the same, 1 not"
        )
        clicks = project.status().presses
        tab.press("s")
        tab.saved()
        assert project.status().presses == clicks + 1
        pairs = np.array([[row, question.cluster.members[0].row] for row in rows])
        told = project.session.ledger.lookup(pairs).tolist()
        assert told == [SAME, DIFFERENT] + [SAME] * (len(rows) - 2)
        page.keyboard.press("Backspace")
        tab.saved()
        expect(page.locator(".tile")).to_have_count(len(rows))
        page.uncheck("#sheets")
        page.wait_for_selector("#question:not([data-type=sheet])")
        assert not project.status().sheets
        assert tab.errors == []


@pytest.mark.slow
def test_the_criterion_is_edited_and_stands_above_every_question(browser, items):
    project = answered(items, 3)
    with Served(project) as served:
        tab = visit(browser, served)
        page = tab.page
        page.click("#criterion button")
        page.fill("#criterion-field", "same intent of the customer")
        page.keyboard.press("Enter")
        expect(page.locator("#criterion")).to_contain_text("same intent of the customer")
        assert project.standing.criterion == "same intent of the customer"
        tab.listens()
        tab.press("u")
        expect(page.locator("#criterion")).to_contain_text("same intent of the customer")
        assert tab.errors == []


LOOK = """() => {
    const section = document.getElementById("question");
    const text = (node) => node.textContent;
    return {
        id: section.dataset.id, type: section.dataset.type, busy: section.ariaBusy === "true",
        cards: [...section.querySelectorAll(".card .text")].map(text),
        options: [...section.querySelectorAll(".option")].map(
            (option) => text(option.querySelector(".mini-text"))),
        hint: section.querySelector(".say-hint")?.textContent ?? "",
    };
}"""


def kind_of(text):
    return KINDS[int(re.search(r"number (\d+)", text)[1])]


def keys_for(seen, names):
    """Return the keys by which an honest person answers what they see, by names or else by single keys."""
    kinds = [kind_of(text) for text in seen["cards"]]
    if seen["type"] == "pair":
        if kinds[0] == kinds[1] or not names:
            return "s" if kinds[0] == kinds[1] else "d"
        return f"/{WORDS[kinds[seen['hint'].startswith('B')]]}\n"
    options = [kind_of(text) for text in seen["options"]]
    if kinds[0] in options:
        return str(options.index(kinds[0]) + 1)
    return f"/{WORDS[kinds[0]]}\n" if names else "0"


@pytest.mark.parametrize(
    ("pause", "names"),
    [(50, True)]
    + [
        pytest.param(*one, marks=pytest.mark.slow)
        for one in ((200, True), (200, False), (50, False))
    ],
    ids=str,
)
def test_who_types_fast_saves_nothing_that_was_not_meant(browser, items, pause, names):
    """P13: they look, type without waiting, and look again, while the server is slow and others answer."""
    project = answered(items, 30)
    for cluster in project.kinds.find():
        project.kinds.rename(cluster.cluster, WORDS[KINDS[cluster.cluster]])
    before = project.status().presses
    with Served(project) as served:
        tab = visit(browser, served)
        page, turns = tab.page, 0

        def slow(route):
            page.wait_for_timeout(120)
            route.continue_()

        page.route("**/api/answers?*", slow)
        while (seen := page.evaluate(LOOK))["id"] and turns < 80:
            if project.status().presses >= before + 25:
                break
            turns += 1
            page.wait_for_timeout(pause)
            if seen["busy"]:
                continue
            page.keyboard.type(keys_for(seen, names), delay=pause)
            if turns % 5 == 0:
                [question] = project.next("bob")
                row = subject(question)
                said = NewCluster(WORDS[KINDS[row]]) if names else truth(question)
                project.answer(question.id, said, who="bob")
        page.unroute_all(behavior="wait")
        tab.saved()
        assert project.status().presses > before + 10
        said = project.session.ledger.active()
        told = {True: SAME, False: DIFFERENT}
        for a, b, answer in zip(said["a"], said["b"], said["answer"], strict=True):
            assert answer == told[bool(KINDS[a] == KINDS[b])]
        for cluster in project.kinds.find(most=99):
            members = project.session.members_of(cluster.cluster)
            assert cluster.name in (None, *{WORDS[KINDS[row]] for row in members})
        assert tab.errors == []


def test_letters_after_the_slash_are_never_commands(browser, items):
    """P13: Not while a request is on its way, nor right after Enter, nor where there is no field."""
    project = answered(items, 14, lineup=2)
    with Served(project) as served:
        tab = visit(browser, served)
        page, before = tab.page, project.status().presses
        held = []
        page.route("**/api/undo?*", lambda route: held.append(route))
        page.keyboard.press("b")  # takes something back, which lasts
        page.keyboard.type("/sudden bus\n", delay=20)
        expect(page.locator(".toast.bad")).to_contain_text("Not saved: “sudden bus”")
        held[0].continue_()
        tab.wait()
        tab.saved()
        assert project.status().presses == before - 1
        page.keyboard.type("/first\n/second\n", delay=20)
        tab.saved()
        names = {cluster.name for cluster in project.kinds.find(most=99)} - {None}
        assert "first" in names
        assert names <= {"first", "second"}
        assert project.status().presses == before - 1 + len(names)
        project.standing.finish()
        page.reload()
        expect(page.locator(".notice")).to_be_visible()
        page.keyboard.type("/bb", delay=20)
        assert project.status().presses == before - 1 + len(names)
        assert tab.errors == []


def test_enter_takes_a_whole_name_or_what_was_chosen_and_else_a_new_kind(browser, items):
    """P14: by what was typed."""
    project = answered(items, 14, lineup=2)
    named = project.kinds.find()[0].cluster
    project.kinds.rename(named, "tshirt")
    with Served(project) as served:
        tab = visit(browser, served)
        page = tab.page
        for text, keys, name in (
            ("shirt", ["Enter"], "shirt"),
            ("TSHIRT", ["Enter"], "tshirt"),
            ("tsh", ["ArrowDown", "Enter"], "tshirt"),
        ):
            row, before = subject(project.next("")[0]), tab.wait()
            page.keyboard.press("/")
            page.keyboard.type(text)
            expect(page.locator("#say [role=status]")).to_contain_text(f"“{text}”")
            for key in keys:
                page.keyboard.press(key)
            tab.wait(before)
            tab.saved()
            assert project.kinds.name_of(project.session.members_of(row)) == name


def test_it_is_speaks_of_the_item_that_is_not_placed(browser, items):
    """P15: Also where a pair begins with one that is."""
    project = answered(items, 30)
    placed = project.kinds.find()[0].cluster
    row = next(r for r in range(150) if not project.session.members_of(r))
    question = project.questions._pair(placed, row)
    assert question.subject == row
    assert project.questions._pair(row, placed).subject == row


@pytest.mark.slow
def test_all_that_a_search_finds_is_of_one_kind_in_one_act(browser, items):
    """P2: on the page."""
    project = answered(items, 14)
    with Served(project) as served:
        tab = visit(browser, served)
        page, before = tab.page, project.status().presses
        tab.goto("found")
        page.get_by_role("searchbox", name="Search all items").fill("STOLEN card")
        page.keyboard.press("Enter")
        expect(page.locator("section[aria-labelledby=search-title]")).to_contain_text("of 30 items")
        assert_accessible(page)
        page.get_by_role("button", name="All 30 are…").click()
        page.fill("dialog .picker-field", "stolen card")
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_contain_text("30 items: of the new kind “stolen card”")
        stolen = sorted(project.session.members_of(project.kinds.find("stolen card")[0].cluster))
        assert stolen == np.flatnonzero(KINDS == 4).tolist()
        assert project.status().presses == before + 1
        page.get_by_role("checkbox", name="regular expression").check()
        page.get_by_role("searchbox", name="Search all items").fill("number [0-4] ")
        page.keyboard.press("Enter")
        hits = page.locator("section[aria-labelledby=search-title] .grid .member")
        expect(hits).to_have_count(5)
        hits.first.click()
        hits.nth(1).click()
        expect(page.get_by_role("button", name="These 2 are…")).to_be_visible()
        assert tab.errors == []
