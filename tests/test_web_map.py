"""The map and the page before the page, in a real Chromium."""

from __future__ import annotations

import numpy as np
import pytest

from browser import Served, Visit, axe_script, chromium, do_without

try:
    import fastapi  # noqa: F401
    from playwright.sync_api import expect
except ImportError as missing:
    do_without(f"{missing.name} is not installed: pip install -e '.[dev]'")

from samekind.data import Items
from samekind.project import Project
from samekind.web.site import HostedProject
from serving import PAGE, TOKEN, ServingHosted

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=15_000)
KINDS = 15
LABELS = np.repeat(np.arange(KINDS), 12)


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture
def served():
    """Fifteen kinds in the plane, all known, in a row of five by three."""
    rng = np.random.default_rng(0)
    X = np.column_stack([LABELS % 5, LABELS // 5]) * 10.0 + rng.normal(size=(LABELS.size, 2)) / 3
    project = Project(Items.of_array(X, "rows", ["x", "y"]), random_state=0, sheet=0)
    for _ in range(400):
        if project.session.done or project.status().clusters == KINDS:
            break
        pairs = project.session.pending()
        project.session.tell(pairs, [LABELS[a] == LABELS[b] for a, b in pairs])
    with Served(project) as serving:
        yield serving


@pytest.fixture
def page(browser, served):
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    tab = Visit(context, served.url, asked=False)
    tab.page.wait_for_function("() => document.querySelectorAll('.legend li').length > 3")
    yield tab.page
    assert tab.errors == []
    context.close()


def drag(page, *places):
    box = page.locator("canvas.map").bounding_box()
    for step, (x, y) in enumerate(places):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def test_dragging_moves_and_clicking_shows_a_row(page):
    page.get_by_role("button", name="Closer").click()
    page.get_by_role("button", name="Closer").click()
    drag(page, (0.5, 0.5), (0.7, 0.6))
    assert page.locator("dialog[open]").count() == 0
    page.get_by_role("button", name="All of it").click()
    x, y = page.evaluate("""() => {
        const canvas = document.querySelector("canvas.map");
        const pen = canvas.getContext("2d");
        const {data, width} = pen.getImageData(0, 0, canvas.width, canvas.height);
        for (let i = 3 + 4 * width * 40; i < data.length; i += 4) {
            const at = (i - 3) / 4;
            const colour = data.slice(i - 3, i);  // names have none
            if (data[i] > 250 && Math.max(...colour) - Math.min(...colour) > 60) return [
                (at % width) / width, Math.floor(at / width) / canvas.height];
        }
    }""")
    box = page.locator("canvas.map").bounding_box()
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    expect(page.locator("dialog.item-dialog")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_project_that_is_being_opened(browser, scheme):
    hosted = HostedProject("rows")
    context = browser.new_context(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with ServingHosted(hosted) as server:
        hosted.progress("Compiling, once, about 15 seconds", 0.4)
        page.goto(f"{server.url}{PAGE}/#token={TOKEN}")
        said, bar = page.locator("#question-body p"), page.locator("#question-body progress")
        expect(said).to_have_text("Compiling, once, about 15 seconds …")
        expect(bar).to_have_js_property("value", 0.4)
        page.evaluate(axe_script())
        found = page.evaluate("() => axe.run(document)")
        assert [violation["id"] for violation in found["violations"]] == []
        hosted.fail("there is no column 'x'.")
        expect(said).to_have_text("there is no column 'x'.")
        items = Items.of_array(np.eye(20), "rows", [f"x{k}" for k in range(20)])
        hosted.ready(Project(items, random_state=0))
        expect(page.locator("#question")).to_have_attribute("data-type", "pair")
    page.wait_for_timeout(100)
    assert errors == []
    context.close()


@pytest.mark.slow
def test_names_are_on_the_map_at_every_zoom(browser, served):
    """Names are drawn on the canvas; closer there are fewer kinds in view, and still names."""
    project = served.project
    for kind in project.overview.all().clusters:
        project.kinds.rename(kind.cluster, f"name {LABELS[kind.cluster]}")
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.add_init_script(
        """const paint = CanvasRenderingContext2D.prototype.fillText;
        window.drawn = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            window.drawn.push(text);
            paint.call(this, text, x, y);
        };"""
    )
    page = Visit(context, served.url, asked=False).page
    page.wait_for_function("() => new Set(window.drawn).size >= 10")
    for _ in range(6):
        page.evaluate("() => { window.drawn = []; }")
        page.click("[aria-label=Closer]")
        names = page.evaluate("() => window.drawn")
        assert names
        assert set(page.locator(".legend button [dir=auto]").all_inner_texts()) >= set(names)
    context.close()
