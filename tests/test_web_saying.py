"""Saying what it is and sheets, in a real Chromium."""

from __future__ import annotations

import os

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    for package in ("fastapi", "uvicorn", "playwright", "axe_playwright_python"):
        pytest.importorskip(package)

from playwright.sync_api import expect

from browser import Served, Visit, axe_script, chromium
from samekind import DIFFERENT, SAME
from samekind.project import Project
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
        expect(page.locator(".picker-option").first).to_have_text("New kind “lost k”")
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
        page.fill("#say .picker-field", name.upper()[:-1])  # a part of it will do
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
