"""Records on the page, in a real Chromium: label, move the threshold, link two files, export."""

from __future__ import annotations

import pytest

from browser import Served, Visit, axe_script, chromium, do_without

try:
    import fastapi  # noqa: F401
    from playwright.sync_api import expect
except ImportError as missing:
    do_without(f"{missing.name} is not installed: pip install -e '.[dev]'")

import samekind
from samekind.datasets import make_records
from samekind.project import Project
from serving import PAGE

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    frame, person = make_records(120, 0.3, random_state=0)
    frame = frame.assign(person=person)
    frame.to_csv(folder / "people.csv", index=False)
    first = ~frame["person"].duplicated()
    frame[first].to_csv(folder / "a.csv", index=False)
    frame[~first].drop_duplicates("person").to_csv(folder / "b.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


def label(tab, items, count):
    """Answer so many questions as the labels have it."""
    for _ in range(count):
        a, b = map(int, tab.question.split("-")[1:3])
        tab.press("s" if items.labels[a] == items.labels[b] else "d")
    tab.saved()


def test_label_move_the_threshold_and_export(folder, browser):
    """P18, P21: what the threshold says, and one count of entities."""
    items = samekind.load(folder / "people.csv", records=True, labels="person")
    project = Project(items, algorithm="records", random_state=0)
    with Served(project) as served:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, accept_downloads=True
        )
        tab = Visit(context, served.url)
        page = tab.page
        expect(page.locator("table.compare tbody tr")).to_have_count(8)
        label(tab, items, 12)
        slips = project.answers.presses(limit=20).presses
        assert len(slips) == 12
        page.goto(served.origin + PAGE + "/#/found")
        slider = page.locator("#threshold")
        expect(page.locator("#threshold-value")).to_have_text("0.5")
        expect(page.locator("#threshold-precision")).to_contain_text("of the pairs found")
        before = page.locator("#threshold-found p").first.text_content()
        slider.focus()
        page.keyboard.press("End")
        expect(page.locator("#threshold-value")).to_have_text("1")
        expect(page.locator("#threshold-found p").first).not_to_have_text(before)
        expect(page.locator("#threshold-changed li").first).to_contain_text("now apart")
        page.click("#threshold-keep")
        expect(page.locator(".toast").last).to_contain_text("Exports use this threshold")
        assert project.entities.threshold > 0.99
        page.evaluate(axe_script())
        broken = page.evaluate(
            "axe.run('.threshold').then((found) => found.violations.map((v) => v.id))"
        )
        assert broken == []
        page.goto(served.origin + PAGE + "/#/finish")
        for name in ("entities.csv", "golden.csv", "splink.csv", "dedupe.json"):
            with page.expect_download() as download:
                page.click(f"a[download='{name}']")
            assert download.value.suggested_filename == name
            assert download.value.path().stat().st_size > 50
        assert tab.errors == []
        context.close()


@pytest.mark.slow
def test_slips_are_marked_letter_by_letter(folder, browser, tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("surname,birth\nSmith,1980-12-31\nSmyth,1980-12-13\nOkafor,1951-01-02\n")
    items = samekind.load(path, records=True, compare="surname:name,birth:date")
    project = Project(items, algorithm="records", random_state=0)
    with Served(project) as served:
        context = browser.new_context()
        tab = Visit(context, served.url)
        assert tab.question in ("p-0-1", "p-1-0")
        marks = tab.page.locator("table.compare tbody tr").first.locator("mark")
        assert sorted(marks.all_text_contents()) == ["i", "y"]
        assert tab.errors == []
        context.close()


@pytest.mark.slow
def test_a_match_is_explained_field_by_field(folder, browser):
    items = samekind.load(folder / "people.csv", records=True, labels="person")
    said = "Are these the same person?"
    project = Project(items, algorithm="records", random_state=0)
    project.standing.set_criterion(said)
    with Served(project) as served:
        context = browser.new_context(viewport={"width": 1280, "height": 1100})
        tab = Visit(context, served.url)
        page = tab.page
        expect(page.locator("#question-title")).to_have_text(said)
        label(tab, items, 20)
        page.click(".compared summary")
        shown = page.locator(".compared tbody tr")
        expect(shown).to_have_count(len(items.points.candidates.fields))
        a, b = map(int, tab.question.split("-")[1:3])
        for one, line in zip(project.entities.compared(a, b), shown.all(), strict=True):
            expect(line).to_contain_text(one.name)
            expect(line).to_contain_text("missing" if one.alike is None else "% alike")
        page.evaluate(axe_script())
        broken = page.evaluate(
            "axe.run('#question').then((found) => found.violations.map((v) => v.id))"
        )
        assert broken == []
        assert tab.errors == []
        context.close()


@pytest.mark.slow
def test_two_files_are_linked(folder, browser):
    items = samekind.load(folder / "a.csv", other=folder / "b.csv", labels="person")
    project = Project(items, algorithm="records", random_state=0)
    with Served(project) as served:
        context = browser.new_context()
        tab = Visit(context, served.url)
        cells = tab.page.locator("table.compare tbody tr").first.locator("td").all_text_contents()
        assert sorted(cells) == ["a.csv", "b.csv"]
        label(tab, items, 5)
        assert project.status().questions == 5
        assert tab.errors == []
        context.close()
