"""Personal links in a real Chromium: what stays of them, and what each role sees."""

from __future__ import annotations

import pytest

from browser import Visit, axe_script, chromium, digits_file, do_without, truth

try:
    import fastapi  # noqa: F401
    import uvicorn  # noqa: F401
    from playwright.sync_api import expect
except ImportError as missing:
    do_without(f"{missing.name} is not installed: pip install -e '.[dev]'")

from samekind.data import load
from samekind.datasets import load_digits
from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.ledger import Ledger, Links
from samekind.project import make_project
from teams import TeamServer, invite, wait_for

pytestmark = pytest.mark.xdist_group("browser")
LABELS = load_digits().target
WIDE = {"viewport": {"width": 1300, "height": 850}}


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    items = load(digits_file(folder, 200))
    make_project(items, folder / "digits.db", random_state=0).close()
    return folder / "digits.db"


@pytest.fixture(scope="module")
def server(place):
    with TeamServer({"digits": place}) as server:
        yield server


@pytest.fixture
def visit(browser, server, place):
    """Return what opens a personal link in a browser of its own."""
    contexts = []

    def open_link(who, role, **more):
        context = browser.new_context(**WIDE)
        contexts.append(context)
        token = invite(place, who, role)
        return Visit(context, f"{server.url}/p/digits/#token={token}", **more), token

    yield open_link
    for context in contexts:
        context.close()


def tabs(page):
    return [tab.get_attribute("data-goto") for tab in page.locator("nav button:visible").all()]


def all_loaded(pictures):
    """Return the pictures of a question once the browser has them all."""
    return pictures if len(pictures) >= 2 and all(there for there, _ in pictures) else []


class TestALink:
    """P32: a personal link in a browser."""

    def test_opens_the_page_and_leaves_no_token_behind(self, visit, server, place):
        ann, token = visit("ann", "answer")
        assert ann.page.url == f"{server.url}/p/digits/"
        for _ in range(3):
            ann.press(truth(ann.question, LABELS))
        ann.saved()
        assert not any(token in url for url in ann.requests)
        assert token not in ann.page.content()
        assert token not in ann.page.evaluate("document.cookie")
        assert ann.page.evaluate("history.length") <= 2
        ann.page.reload()  # the tab still knows it
        ann.wait()
        assert ann.page.url == f"{server.url}/p/digits/"
        assert ann.errors == []
        assert ann.page.evaluate("window.violations") == []
        with Ledger(place, read_only=True) as ledger:
            assert "ann" in ledger.annotators

    @pytest.mark.slow
    def test_shows_pictures_without_a_token_in_their_addresses(self, visit):
        bea, _ = visit("bea", "answer")
        loaded = """() => [...document.querySelectorAll("#question-body img")]
            .map((image) => [image.complete && image.naturalWidth > 0, image.src])"""
        pictures = wait_for(lambda: all_loaded(bea.page.evaluate(loaded)))
        assert not any("token" in address for _, address in pictures)

    def test_that_is_revoked_says_so(self, visit, place):
        eve, _ = visit("eve", "answer")
        with Links(place) as links:
            links.revoke(who="eve")
        eve.page.keyboard.press(truth(eve.question, LABELS))
        expect(eve.page.locator("#banner")).to_contain_text("Your link was revoked.")


class TestARole:
    def test_answer_sees_questions_and_no_settings(self, visit):
        """P32: the page shows what the role may do."""
        ida, _ = visit("ida", "answer")
        expect(ida.page.locator("#me")).to_have_text("ida")
        assert tabs(ida.page) == ["question"]
        for hidden in ("#found", "#who", "#sheets", "#annotators", ".criterion button"):
            expect(ida.page.locator(hidden)).to_be_hidden()
        ida.page.goto(ida.page.url + "#/finish")  # nor by the address
        expect(ida.page.locator("#finish")).to_be_hidden()
        ida.press(truth(ida.question, LABELS))
        ida.saved()
        ida.page.wait_for_timeout(500)
        asked = {url.partition("/api/")[2].partition("?")[0] for url in ida.requests}
        asked = {path for path in asked if path and not path.startswith("items/")}
        assert asked == {"about", "next", "answers"}  # nothing else is even asked for

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("role", "seen"),
        [
            ("review", ["question", "found", "review"]),
            ("own", ["question", "found", "review", "people", "finish"]),
        ],
    )
    def test_sees_what_it_may_do(self, visit, role, seen):
        jan, _ = visit(f"jan-{role}", role)
        expect(jan.page.locator("#me")).to_have_text(f"jan-{role}")
        assert tabs(jan.page) == seen
        expect(jan.page.locator("#found")).to_be_visible()
        assert jan.page.locator("#sheets").is_visible() == (role == "own")
        jan.goto("review")
        expect(jan.page.locator("#review-title")).to_be_visible()
        assert jan.errors == []

    @pytest.mark.slow
    def test_own_exports_by_a_click(self, visit):
        kim, token = visit("kim", "own")
        kim.goto("finish")
        with kim.page.expect_download() as download:
            kim.page.locator("#finish a[download='clusters.csv']").click()
        assert download.value.path().read_bytes().startswith(b"row,")
        assert token not in download.value.url


@pytest.fixture(scope="module")
def disputed(tmp_path_factory):
    """Return a project in which two people were asked the same, and said otherwise three times."""
    folder = tmp_path_factory.mktemp("disputed")
    project = make_project(
        load(digits_file(folder, 200)), folder / "digits.db", random_state=0, overlap=2, sheet=0
    )
    project.questions.lineup = 0
    for answers in (
        ("same", "different"),
        ("different", "different"),
        *2 * [("different", "same")],
    ):
        for who, said in zip(("ann", "bob"), answers, strict=True):
            (question,) = project.next(who)
            project.answer(question.id, said, who=who)
    assert project.team.reviews().total == 3
    project.close()
    return folder / "digits.db"


class TestDifferentOpinions:
    def test_are_settled_by_keys_and_by_clicks(self, browser, disputed):
        """P19: what two people said otherwise."""
        with TeamServer({"digits": disputed}) as server:
            context = browser.new_context(**WIDE)
            token = invite(disputed, "rita", "review")
            rita = Visit(context, f"{server.url}/p/digits/#token={token}")
            page, section = rita.page, rita.page.locator("#disputes")
            expect(page.locator("#review-badge")).to_have_text("3")  # before she looks
            rita.goto("review")
            expect(section).to_contain_text("do not say the same of 3 pairs")
            said = section.locator(".opinions li")
            expect(said).to_have_count(2)
            expect(said.nth(0)).to_contain_text("ann says the same kind")
            expect(said.nth(1)).to_contain_text("bob says different kinds")
            page.evaluate(axe_script())
            found = page.evaluate("axe.run()")["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
            page.keyboard.press("k")  # later
            expect(said.nth(0)).to_contain_text("ann says different kinds")
            page.keyboard.press("s")
            expect(section).to_contain_text("do not say the same of 2 pairs")
            section.get_by_role("button", name="Different kinds").click()
            expect(section).to_contain_text("do not say the same of 1 pair.")
            page.keyboard.press("u")
            expect(section).to_contain_text("they agree")
            assert rita.errors == []
            assert page.evaluate("window.violations") == []
            context.close()
        with Ledger(disputed, read_only=True) as ledger:
            own = [one.answer for one in ledger.log.opinions.lines if one.who == "rita"]
        assert sorted(own) == [UNSURE, DIFFERENT, SAME]


class TestPeople:
    def test_links_are_made_shown_once_and_revoked(self, visit, browser, server):
        olga, own = visit("olga", "own")
        page = olga.page
        olga.goto("people")
        page.locator("#link-who").fill("Zoë")
        page.locator("#link-role").select_option("review")
        page.locator("#link-ends").select_option("30")
        page.keyboard.press("Enter")
        address = page.locator("input.address").input_value()
        assert address.startswith(f"{server.url}/p/digits/#token=")
        assert own not in address
        line = page.locator(".links tr", has_text="Zoë")
        expect(line).to_contain_text("review")
        expect(line).to_contain_text("holds until")
        page.evaluate(axe_script())
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        olga.goto("question")
        olga.goto("people")
        expect(page.locator("input.address")).to_have_count(0)
        assert address.partition("=")[2] not in page.content()

        context = browser.new_context(**WIDE)
        zoe = Visit(context, address)
        expect(zoe.page.locator("#me")).to_have_text("Zoë")
        assert "people" not in tabs(zoe.page)
        line.get_by_role("button").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(line).to_contain_text("revoked")
        zoe.page.reload()
        expect(zoe.page.locator("#question")).to_contain_text("needs its token")
        context.close()
        assert olga.errors == []

    @pytest.mark.slow
    def test_names_that_cannot_be_are_refused_in_words(self, visit):
        pia, _ = visit("pia", "own")
        pia.goto("people")
        pia.page.locator("#link-who").fill("  ")
        pia.page.keyboard.press("Enter")
        expect(pia.page.locator("#toasts")).to_contain_text("who")
        expect(pia.page.locator("input.address")).to_have_count(0)
