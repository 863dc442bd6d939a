"""The labelling page in a real Chromium: what people do on it, and must never do (P5, P13 to P16)."""

from __future__ import annotations

import re
from contextlib import contextmanager

import numpy as np
import pytest

from browser import Served, Visit, axe_script, chromium, digits_file, do_without, truth

try:
    import fastapi  # noqa: F401
    import uvicorn  # noqa: F401
    from playwright.sync_api import expect
except ImportError as missing:
    do_without(f"{missing.name} is not installed: pip install -e '.[dev]'")

from samekind import DIFFERENT
from samekind.data import load
from samekind.datasets import load_digits
from samekind.project import Project
from serving import PAGE, app_of

pytestmark = pytest.mark.xdist_group("browser")
expect.set_options(timeout=15_000)

LABELS = load_digits().target
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
UNNAMED = """() => [...document.querySelectorAll("button, a[href], input, canvas, img, summary")]
    .filter((element) => element.checkVisibility() && !(
        element.ariaLabel || element.textContent.trim() || element.matches("img[alt]") ||
        [...(element.labels ?? [])].some((label) => label.textContent.trim())))
    .map((element) => element.outerHTML)"""
PAIRS = {"lineup": False}  # no line-ups
DESKTOP = {"viewport": {"width": 1200, "height": 800}}
COLOURS = """() => [...document.querySelectorAll(".kind")].map((card) => [
    card.dataset.cluster, card.querySelector(".kind-name").placeholder,
    card.querySelector(".chip").style.backgroundColor])"""
EVIL = [
    '<img src=x onerror="window.pwned = 1">',
    "<script>window.pwned = 1</script>",
    "<svg onload='window.pwned = 1'><animate onbegin='window.pwned = 1'/></svg>",
    "javascript:window.pwned=1 ${window.pwned=1} {{constructor.constructor('window.pwned=1')()}}",
    "\u202eright to left\u202c مرحبا بالعالم",
    "</textarea></style></title><iframe srcdoc='<script>parent.pwned=1</script>'>",
]


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return load(digits_file(tmp_path_factory.mktemp("digits"), 300))


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """A table of hostile texts, each with a hostile name of a column and a cell."""
    path = tmp_path_factory.mktemp("messages") / "evil.csv"
    text = [
        '"' + f"{EVIL[row % 6]} number {row} of {row % 5}".replace('"', '""') + '"'
        for row in range(48)
    ]
    lines = [f'{cell},"<b>{row % 3}</b>"' for row, cell in enumerate(text)]
    path.write_text("\n".join(['message,"<i onclick=x>name</i>"', *lines]), encoding="utf-8")
    return load(path, text="message")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    rng = np.random.default_rng(0)
    sizes, noise = np.repeat(range(3), 20), rng.normal(0, 0.1, 60)
    rows = [
        f"{k},{3 * k + e:.3f},{'red' if k else 'blue'},5" for k, e in zip(sizes, noise, strict=True)
    ]
    path.write_text("\n".join(["size,weight,colour,five", *rows]), encoding="utf-8")
    return load(path)


@pytest.fixture
def visiting(browser):
    """Open tabs; in the end nothing may have left the host or broken the policy."""
    opened = []
    contexts = []

    def visit(
        served, *, context=None, address=None, view="", remembered=None, asked=True, **options
    ):
        if context is None:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
            contexts.append(context)
        url = served.url if address is None else served.origin + address
        tab = Visit(context, url, asked=asked, **remembered or {})
        if view:
            tab.page.goto(f"{served.origin}{PAGE}/#/{view}")
        opened.append((served, tab))
        return tab

    yield visit
    for served, tab in opened:
        assert [url for url in tab.requests if not url.startswith(served.origin + "/")] == []
        assert tab.errors == []
        assert tab.page.evaluate("window.violations") == []
    for context in contexts:
        context.close()


@contextmanager
def serving(things, clicks=0, several=1, labels=LABELS, options=(), **settings):
    """Serve a project at which so many questions have been answered already, and several are open."""
    project = Project(things, **{"random_state": 0, "sheet": 0} | settings)
    while clicks > 0 or (
        several > 1 and len(project.next("", lineup=False, most=several)) < several
    ):
        clicks -= 1
        [question] = project.next("")
        key = truth(question.id, labels)
        if question.id.startswith("l"):
            project.answer(
                question.id, question.options[int(key) - 1].cluster if key != "0" else "none"
            )
        else:
            project.answer(question.id, {"s": "same", "d": "different"}[key])
    with Served(project, **dict(options)) as served:
        yield served


@pytest.mark.slow
def test_digits_by_keyboard_from_the_start_to_the_certificate(digits, visiting):
    """P20: until it says that it is safe to stop."""
    with serving(digits, stop="certified", tolerance=0.5) as served:
        tab = visiting(served)
        clicks = 0
        while tab.question:
            tab.press(truth(tab.question, LABELS))
            clicks += 1
        tab.saved()
        expect(tab.page.locator("#question-title")).to_have_text("That is all")
        expect(tab.page.locator("#certificate")).to_contain_text("With 95% confidence")
        assert served.project.status().stop_reason == "certified"
        assert served.project.status().presses == clicks < 200
        assert served.project.status().clusters >= 10
        tab.page.click("text=See and export the result")
        expect(tab.page.locator("#finish-promise")).to_contain_text("With 95% confidence")


def test_a_reload_and_a_second_tab_show_the_same_pair_and_undo_goes_across(digits, visiting):
    """P2, P5: a reload, a second tab, and undo in one of them."""
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS)
        asked = [tab.question]
        for _ in range(3):
            asked.append(tab.press("d"))
        tab.saved()
        tab.page.reload()
        assert tab.wait() == asked[3]
        other = visiting(served, remembered=PAIRS, context=tab.page.context)
        assert other.question == asked[3]
        for key, before in (("Backspace", asked[2]), ("Control+z", asked[1]), ("b", asked[0])):
            assert tab.press(key) == before
            expect(tab.page.locator(".toast").last).to_contain_text("Undone: row ")
            expect(tab.page.locator(".toast .mini-picture")).to_have_count(2)
        assert served.project.status().questions == 0
        tab.page.keyboard.press("b")
        expect(tab.page.locator(".toast").last).to_contain_text("nothing to undo")
        # The other tab still shows a question that is answered meanwhile: it is told, and goes on.
        for _ in range(8):
            answered, _ = tab.question, tab.press("d")
            if answered == asked[3]:
                break
        tab.saved()
        other.page.keyboard.press("s")
        expect(other.page.locator(".toast.bad")).to_contain_text("not open any more")
        assert other.wait(asked[3]) == tab.question


def test_an_answer_is_called_saved_when_the_server_says_so_and_not_before(digits, visiting):
    """P16: also where answers wait for each other."""
    with serving(digits, several=3) as served:
        tab = visiting(served, remembered=PAIRS)
        asked = served.project.status().questions
        held = []
        tab.page.route("**/api/answers?*", lambda route: held.append(route))
        first, second = tab.question, tab.press("d", hasty=True)
        third = tab.press("s", hasty=True)
        assert len({first, second, third}) == 3  # at once, though nothing has been answered
        expect(tab.page.locator("#saved")).to_have_text("Saving…")
        tab.page.wait_for_timeout(200)
        assert [route.request.post_data_json["id"] for route in held] == [first]  # one at a time
        assert served.project.status().questions == asked
        held[0].continue_()
        while len(held) < 2:
            tab.page.wait_for_timeout(20)
        expect(tab.page.locator("#saved")).to_have_text("Saving…")
        assert held[1].request.post_data_json == {"id": second, "answer": "same"}
        tab.page.keyboard.press("k")  # waits behind it, and is taken back unsent
        tab.page.keyboard.press("Backspace")
        expect(tab.page.locator(".toast").last).to_contain_text("not sent yet")
        assert tab.question == third
        held[1].continue_()
        tab.saved()
        assert served.project.status().questions == asked + 2


def test_answers_wait_for_a_server_that_is_gone(digits, visiting):
    """P1, P16: and are sent when it is back."""
    with serving(digits, several=3) as served:
        tab = visiting(served, remembered=PAIRS)
        served.stop()
        tab.press("d")
        expect(tab.page.locator("#saved")).to_have_text("Not saved – retrying")
        expect(tab.page.locator("#banner")).to_contain_text("Your answer is kept")
        tab.press("s")
        expect(tab.page.locator("#banner")).to_contain_text("Your 2 answers are kept")
        assert tab.page.evaluate(
            "!window.dispatchEvent(new Event('beforeunload', {cancelable: true}))"
        )
        served.start()
        tab.page.click("#banner button")
        tab.saved()
        expect(tab.page.locator("#banner")).to_be_hidden()
        assert [said.answer for said in served.project.answers.page(limit=2).answers] == [
            "same",
            "different",
        ]


@pytest.mark.slow
def test_answers_wait_for_a_server_that_comes_back_with_another_token(digits, visiting):
    """P16: As `samekind label` does when it is started again: the new address is opened in another tab."""
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS)
        served.stop()
        tab.page.keyboard.press("d")
        expect(tab.page.locator("#banner")).to_be_visible()
        other = "another-of-22-letters-"
        served.app = app_of(served.project, token=other, allowed_hosts=["127.0.0.1"])
        served.start()
        expect(tab.page.locator("#banner")).to_contain_text("token is missing or wrong")
        visiting(served, context=tab.page.context, address=f"{PAGE}/#token={other}")
        tab.saved()
        assert served.project.status().presses == 1


@contextmanager
def failing(served, monkeypatch, *, at, even_to_skip=False):
    """Let the server break down over any answer to a question, or to one that is added to what is given."""
    answer, hopeless = served.project.answer, {at}

    def fail(question_id, said, **options):
        if question_id in hopeless and (even_to_skip or said != "skip"):
            raise ValueError("a pair is answered twice")
        answer(question_id, said, **options)

    with monkeypatch.context() as patch:
        patch.setattr(served.project, "answer", fail)
        yield hopeless


def test_a_question_that_the_server_fails_at_can_be_skipped(digits, visiting, monkeypatch):
    """P16: an unforeseen error does not stop the others."""
    with serving(digits, several=2) as served:
        tab = visiting(served, remembered=PAIRS)
        page, banner, status = tab.page, tab.page.locator("#banner"), served.project.status
        page.on("dialog", lambda dialog: dialog.accept())
        questions = status().questions
        asked = tab.question
        with failing(served, monkeypatch, at=asked):
            tab.press("d", hasty=True)
            expect(banner).to_contain_text("Something went wrong inside samekind")
            expect(banner).to_contain_text("Your answer could not be saved; it is tried again in")
            page.keyboard.press("d")  # waits behind it
            expect(banner).to_contain_text("1 more answer waits behind it.")
            page.reload()
            expect(banner).to_contain_text("1 more answer waits behind it.")
            banner.get_by_role("button", name="Skip this question").click()
            tab.saved()
            expect(banner).to_be_hidden()
            assert status().skipped == 1
            assert status().questions == questions + 1  # the other one was taken
            tab.wait()
            tab.press(truth(tab.question, LABELS))
            tab.saved()
            assert status().questions == questions + 2
        page.reload()
        assert tab.wait() != asked


@pytest.mark.slow
def test_a_question_that_cannot_even_be_skipped_is_set_aside(digits, visiting, monkeypatch):
    """P16: nor does one that stays."""
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS)
        tab.press(truth(tab.question, LABELS))
        page, asked = tab.page, tab.question
        with failing(served, monkeypatch, at=asked, even_to_skip=True):
            page.keyboard.press("d")
            page.locator("#banner").get_by_role("button", name="Skip this question").click()
            assert tab.wait(asked) != ""
            expect(page.locator("#banner")).to_be_hidden()
            tab.press(truth(tab.question, LABELS))
            tab.saved()
        assert served.project.status().questions == 2


def test_an_answer_outlives_a_reload_before_it_is_sent(digits, visiting):
    """P1, P16: once, and for this project."""
    with serving(digits, several=2) as served:
        tab = visiting(served, remembered=PAIRS)
        page = tab.page
        said = served.project.answers.page().total
        page.on("dialog", lambda dialog: dialog.accept())
        page.route("**/api/answers?*", lambda route: route.abort())
        asked = tab.question
        tab.press("u", hasty=True)
        expect(page.locator("#saved")).to_have_text("Not saved – retrying")
        page.reload()
        expect(page.locator("#saved")).to_have_text("Not saved – retrying")
        page.unroute("**/api/answers?*")
        tab.saved()
        assert served.project.answers.page().total == said + 1
        newest = served.project.answers.page(limit=1).answers[0]
        assert {f"p-{newest.a}-{newest.b}", f"p-{newest.b}-{newest.a}"} & {asked}


def test_line_ups_by_number_keys_and_without(digits, visiting):
    """P17: numbers choose a kind."""
    with serving(digits, clicks=15) as served:
        tab = visiting(served)
        for _ in range(20):
            if tab.question.startswith("l"):
                break
            tab.press(truth(tab.question, LABELS))
        form, row, others = tab.question.split("-")
        assert form == "l"
        options = tab.page.locator(".option")
        assert options.count() == len(others.split("."))
        expect(options.nth(1).locator("kbd")).to_have_text("2")
        tab.page.keyboard.press("s")  # means nothing here
        assert tab.question == f"l-{row}-{others}"
        tab.press("2")
        tab.saved()
        picked = int(others.split(".")[1])
        said = {(s.a, s.b): s.answer for s in served.project.answers.page(limit=10).answers}
        assert "same" in (said.get((int(row), picked)), said.get((picked, int(row))))
        tab.press("Backspace")
        form, again, others = tab.question.split("-")  # of the same row, by what is known now
        assert (form, again) == ("l", row)
        options.first.focus()
        tab.press("Enter")
        assert tab.page.evaluate("document.activeElement.id") == "question-title"
        tab.press("Backspace")
        tab.page.get_by_role("switch", name="Line-ups").click()
        assert tab.wait(f"l-{row}-{others}").startswith("p")
        tab.page.reload()
        assert tab.wait().startswith("p")


def test_naming_taking_out_merging(digits, visiting):
    with serving(digits, clicks=40) as served:
        tab = visiting(served)
        page = tab.page
        card = page.locator(".kind").first
        kind = int(card.get_attribute("data-cluster"))
        name = card.get_by_role("textbox")
        before = tab.question
        name.fill("sad kinds, b & d 0")  # letters that are keys elsewhere
        name.press("Backspace")
        name.press("Enter")
        expect(page.locator(".toast").last).to_contain_text("Named “sad kinds, b & d”")
        assert tab.question == before  # no key answered anything
        assert (
            next(k.name for k in served.project.overview.all().clusters if k.cluster == kind)
            == "sad kinds, b & d"
        )
        page.locator(".toast button", has_text="Undo").last.click()
        expect(page.locator(f"[data-cluster='{kind}'] .kind-name")).to_have_value("")

        members = page.locator(f"[data-cluster='{kind}'] .gallery .member").all()
        rows = [int(re.search(r"\d+", one.get_attribute("aria-label"))[0]) for one in members]
        row, member = next(pair for pair in zip(rows, members, strict=True) if pair[0] != kind)
        member.click()
        page.click("dialog .does-not-belong")
        expect(page.locator(".toast").last).to_contain_text("Taken out of")
        assert row not in served.project.session.members_of(kind)
        page.locator(".toast button", has_text="Undo").last.click()
        expect(page.locator(".toast").last).to_contain_text("Undone")
        said = served.project.session.ledger.lookup(np.array([[row, kind]]))[0]
        assert said != DIFFERENT

        kinds = [int(page.locator(".kind").nth(k).get_attribute("data-cluster")) for k in (0, 1)]
        for kind in kinds:
            page.locator(f"[data-cluster='{kind}'] input[type=checkbox]").check()
        page.click("text=Merge them")
        page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(page.locator(".toast").last).to_contain_text("Merged")
        assert kinds[1] in served.project.session.members_of(kinds[0])

        page.locator(".kind .link", has_text="Show all").first.click()
        expect(page.locator("dialog .hint")).to_contain_text("items. Dashed: predicted")
        page.locator("dialog .grid .member").nth(2).click()
        expect(page.locator("dialog .primary")).to_have_text("This does not belong here")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)


@pytest.mark.slow
def test_contradictions_are_settled_by_one_answer(digits, visiting):
    """P4: on the page."""
    with serving(digits) as served:
        served.project.answers.import_csv("a,b,answer\n1,2,same\n2,3,same\n1,3,different\n")
        assert served.project.status().contradictions == 1
        tab = visiting(served, view="review")
        expect(tab.page.locator("#review-badge")).to_have_text("1")
        conflict = tab.page.locator(".conflict li").filter(
            has=tab.page.get_by_role("button", name="Different", pressed=True)
        )
        conflict.get_by_role("button", name="Same").click()
        expect(tab.page.locator("#review")).to_contain_text("All answers agree")
        assert served.project.status().contradictions == 0


def test_finishing_exporting_importing_going_on(digits, visiting, tmp_path):
    with serving(digits, clicks=12) as served:
        tab = visiting(served)
        page = tab.page
        tab.goto("finish")
        page.click("text=Finish here")
        expect(page.locator("#finish .lead")).not_to_contain_text("You can stop at any time")
        assert served.project.status().done
        with page.expect_download() as download:
            page.click("text=answers.csv")
        download.value.save_as(tmp_path / "answers.csv")
        page.set_input_files("#import-file", tmp_path / "answers.csv")
        page.get_by_role("button", name="Import").click()
        expect(page.locator(".toast").last).to_contain_text("imported")
        page.set_input_files(
            "#import-file", {"name": "x.csv", "mimeType": "text/csv", "buffer": b"x,y\n"}
        )
        page.get_by_role("button", name="Import").click()
        expect(page.locator(".toast.bad")).to_be_visible()
        page.click("text=Go on")
        assert tab.wait()
        assert not served.project.status().done


@pytest.mark.slow
def test_keys_can_be_changed_and_do_not_clash(digits, visiting):
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS)
        page = tab.page
        page.keyboard.press("?")
        page.click("[data-action=same]")
        page.keyboard.press("d")
        expect(page.locator("dialog [role=status]")).to_contain_text(
            "already means “Different kinds”"
        )
        page.keyboard.press("4")
        expect(page.locator("dialog [role=status]")).to_contain_text("pick from a line-up")
        page.keyboard.press("j")
        expect(page.locator("dialog [role=status]")).to_contain_text("J now means “Same kind”")
        page.keyboard.press("Escape")
        expect(page.locator(".answer.same kbd")).to_have_text("J")
        page.reload()
        before = tab.wait()
        page.keyboard.press("s")
        assert tab.question == before
        tab.press("j")
        tab.saved()
        assert served.project.answers.page().answers[0].answer == "same"


def test_the_focus_and_typing_are_respected(digits, visiting):
    """P13: keys that are typed into a field answer nothing."""
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS | {"who": "Zoë"})
        page = tab.page
        page.press("#who", "s")
        page.press("#who", "Space")
        page.press("#who", "Backspace")
        page.press("#who", "Backspace")
        page.press("#who", "Enter")
        assert served.project.status().presses == 0
        expect(page.locator("#who")).to_have_value("Zoë")
        before = tab.question
        page.click(".answer.different")
        tab.wait(before)
        tab.listens()
        tab.press("Space")  # not sure: the button that was clicked has lost the focus
        tab.saved()
        answers = served.project.answers.page().answers
        assert [(said.answer, said.who) for said in answers] == [
            ("unsure", "Zoë"),
            ("different", "Zoë"),
        ]
        page.focus(".answer.same")
        tab.press("Space")  # but a button that has it is pressed
        assert served.project.answers.page().answers[0].answer == "same"
        page.keyboard.down("d")
        page.keyboard.down("d")  # a key that is held down answers once
        tab.saved()
        assert served.project.status().presses == 4


def type_slowly(page, text, pause=120, between=None):
    """Type at a person's pace; after every few letters something may happen."""
    for place, letter in enumerate(text):
        if between is not None and place and place % 16 == 0:
            between(place // 16)
        page.keyboard.type(letter)
        page.wait_for_timeout(pause)


@pytest.mark.slow
def test_a_name_is_typed_in_peace_while_the_panel_changes(digits, visiting):
    """P13: The letters are keys that answer, and the kinds change their order, size and number meanwhile."""
    with serving(digits, clicks=40) as served:
        project = served.project
        clicks = project.status().presses
        tab = visiting(served)
        page = tab.page
        expect(page.locator(".kind")).to_have_count(len(project.overview.all().clusters))
        card = page.locator(".kind").nth(3)
        kind = int(card.get_attribute("data-cluster"))
        card.get_by_role("textbox").click()

        def happen(step):
            if step == 3:  # the kind itself is merged into another one, and its card is due to go
                others = [
                    other.cluster
                    for other in project.overview.all().clusters
                    if other.cluster != kind
                ]
                project.kinds.merge([others[0], kind], who="Bob")
            for _ in range(6):
                [question] = project.next("Bob")
                key = truth(question.id, LABELS)
                if question.id.startswith("l"):
                    said = question.options[int(key) - 1].cluster if key != "0" else "none"
                else:
                    said = {"s": "same", "d": "different"}[key]
                project.answer(question.id, said, who="Bob")
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # looks again

        name = "sad dusks and bad nuns: kinds that fuddle us, 0123456789, and undo buds"
        order = [card.get_attribute("data-cluster") for card in page.locator(".kind").all()]
        refreshed = []
        page.on("response", lambda response: refreshed.append("/api/clusters?" in response.url))
        type_slowly(page, name, between=happen)
        assert sum(refreshed) >= 3
        assert page.evaluate("document.activeElement.value") == name
        page.keyboard.press("Enter")
        expect(page.locator(".toast").last).to_contain_text(f"Named “{name}”")
        # Nothing was said on this page. The merger is a press, but may stand for the one that it corrects.
        assert project.status().presses - clicks - 4 * 6 in (0, 1)
        members = project.session.members_of(kind)
        assert project.kinds.name_of(members) == name
        # Then the panel catches up.
        kinds = [str(kind.cluster) for kind in project.overview.all().clusters]
        assert kinds != order
        page.wait_for_function(
            "kinds => [...document.querySelectorAll('.kind')]"
            ".map(card => card.dataset.cluster).join() === kinds.join()",
            arg=kinds,
        )
        expect(page.locator(f".kind[data-cluster='{members[0]}'] .kind-name")).to_have_value(name)


def test_keys_are_quiet_for_a_second_after_a_field(digits, visiting):
    """P13: nothing is answered by letters that were meant for a field."""
    with serving(digits, clicks=20) as served:
        tab = visiting(served, remembered=PAIRS)
        page = tab.page
        clicks = served.project.status().presses
        field = page.locator(".kind-name").first
        # Left on purpose: a second, whatever is pressed in it.
        field.click()
        page.keyboard.type("sad")
        page.keyboard.press("Enter")
        left = page.evaluate("performance.now()")
        while page.evaluate("performance.now()") < left + 300:  # a press may take that long, too
            page.keyboard.press("s")
            page.keyboard.press("Backspace")
        expect(page.locator(".toast").last).to_contain_text("Named “sad”")
        assert served.project.status().presses == clicks
        tab.listens()
        assert page.evaluate("performance.now()") < left + 2_500
        tab.press("d")
        tab.saved()
        assert served.project.status().presses == clicks + 1
        # Gone under the fingers: until the typing stops.
        page.locator(".kind-name").first.click()
        page.keyboard.type("s")
        page.evaluate("document.activeElement.closest('.kind').remove()")
        type_slowly(page, "dsk bdu", pause=500)
        assert served.project.status().presses == clicks + 1
        tab.listens()
        tab.press("d")
        tab.saved()
        assert served.project.status().presses == clicks + 2
        # A button is pressed at any time.
        page.locator("#who").click()
        page.keyboard.type("Ann")
        with page.expect_response("**/api/next?*"):  # Ann may be asked something else
            page.keyboard.press("Tab")
        before = tab.wait()
        page.click(".answer.unsure")
        tab.wait(before)
        tab.saved()
        assert served.project.status().presses == clicks + 3


@pytest.mark.slow
@pytest.mark.parametrize("what", ["digits", "messages", "table"])
def test_a_phone_needs_no_sideways_scrolling(request, visiting, what):
    labels = {"digits": LABELS, "messages": np.arange(48) % 5, "table": np.repeat(range(3), 20)}[
        what
    ]
    with serving(request.getfixturevalue(what), clicks=8, labels=labels) as served:
        tab = visiting(served, **PHONE)
        page = tab.page
        bar = page.locator("#actions").bounding_box()
        assert bar["y"] + bar["height"] <= 641  # thumbs reach the buttons without scrolling
        for button in page.locator("#actions button").all():
            assert button.bounding_box()["height"] >= 44
        for screen in ("question", "found", "review", "finish"):
            tab.goto(screen)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, screen


@pytest.mark.slow
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_line_up_of_pictures_is_seen_whole(digits, visiting, size):
    with serving(digits, clicks=15) as served:
        tab = visiting(served, **size)
        page = tab.page
        for _ in range(60):
            if tab.question[0] == "l" and page.locator(".option").count() > 4:
                break
            tab.press(truth(tab.question, LABELS))
        # As crowded as it may get: nine kinds of three.
        page.evaluate("""() => {
            const list = document.querySelector(".options");
            while (list.children.length < 9) list.append(list.firstChild.cloneNode(true));
            for (const members of list.querySelectorAll(".option-members"))
                while (members.children.length < 3) members.append(members.firstChild.cloneNode(true));
        }""")
        for members in page.locator(".option-members").all():
            tops = "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top))"
            assert len(set(members.locator(".mini:visible").evaluate_all(tops))) == 1
        for button in page.locator("#actions button").all():
            assert button.evaluate("(button) => button.scrollWidth <= button.clientWidth")
        if size is PHONE:  # the row in question stays in sight, and is large enough to be seen
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            box = page.locator(".subject .stage").bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 640
            assert min(box["width"], box["height"]) >= 160
        if size is DESKTOP:
            last = page.locator(".option").last.bounding_box()
            actions = page.locator("#actions").bounding_box()
            assert last["y"] + last["height"] <= actions["y"]


@pytest.mark.slow
def test_who_waits_for_others_is_told_so_and_goes_on(digits, visiting):
    """P7: and is not told that others answer where nobody does."""
    with serving(digits) as served:
        tab = visiting(served, remembered=PAIRS)
        page = tab.page
        tab.press("k")  # what is skipped is not what is waited for
        tab.saved()

        def nothing(route):
            reply = route.fetch()
            route.fulfill(response=reply, json=reply.json() | {"questions": []})

        page.route("**/api/next?*", nothing)
        page.reload()
        expect(page.locator("#question-title")).to_have_text("Nothing to ask right now")
        expect(page.locator(".notice")).to_contain_text("Other people are answering")
        expect(page.locator(".notice")).not_to_contain_text("Only")
        page.unroute("**/api/next?*")
        assert tab.wait()


@pytest.mark.parametrize("address", [f"{PAGE}/#token=wrong", f"{PAGE}/#/review"])
def test_without_the_token_it_says_what_to_do_and_stops(digits, visiting, address):
    """P16, P32: it does not retry for ever."""
    with serving(digits) as served:
        tab = visiting(served, address=address, asked=False)
        page = tab.page
        page.clock.install()
        page.reload()
        said = page.get_by_text("token is missing or wrong").locator("visible=true")
        expect(said).to_have_count(2)  # once to read, once for a screen reader
        expect(page.locator(".notice")).to_contain_text("that samekind printed in the terminal")
        expect(page.locator("#banner")).to_be_hidden()
        expect(page.get_by_text("Loading…").locator("visible=true")).to_have_count(0)
        calls = len(tab.requests)
        page.clock.fast_forward(60_000)
        page.wait_for_timeout(200)
        assert len(tab.requests) == calls


@pytest.mark.slow
def test_kinds_keep_small_numbers_and_their_colours(digits, visiting):
    """P21: one number a kind, everywhere on the page."""
    with serving(digits, clicks=40) as served:
        tab = visiting(served)
        page = tab.page
        page.wait_for_selector(".kind")
        before = page.evaluate(COLOURS)
        names = [name for _, name, _ in before]
        shown = served.project.overview.all().clusters
        assert names == [f"kind {kind.number}" for kind in shown]
        assert len({colour for *_, colour in before}) == min(20, len(before))
        page.reload()
        page.wait_for_selector(".kind")
        assert page.evaluate(COLOURS) == before
        numbers = {int(kind): name for kind, name, _ in before}
        for _ in range(20):
            if tab.question[0] == "l":
                break
            tab.press(truth(tab.question, LABELS))
        for option in page.locator(".option").all():
            kind = int(option.get_attribute("data-answer"))
            if kind in numbers:
                expect(option.locator(".option-name")).to_have_text(numbers[kind])


def test_hostile_texts_are_shown_as_texts(messages, visiting):
    """P33: in questions, names and the review."""
    with serving(messages) as served:
        tab = visiting(served, remembered=PAIRS)
        page = tab.page
        seen = ""
        for _ in range(12):
            seen += page.locator("#question-body").text_content()
            if not tab.question or not tab.press("d"):
                break
        tab.saved()
        kind = served.project.overview.all().clusters[0].cluster
        served.project.kinds.rename(kind, EVIL[0])
        for screen in ("found", "review", "finish", "question"):
            tab.goto(screen)
            page.wait_for_load_state("networkidle")
        tab.goto("found")
        expect(page.locator(f"[data-cluster='{kind}'] .kind-name")).to_have_value(EVIL[0])
        page.locator(f"[data-cluster='{kind}'] .link", has_text="Show all").click()
        expect(page.get_by_role("dialog", name=EVIL[0])).to_be_visible()
        assert all(evil in seen for evil in EVIL[:4])
        assert "<i onclick=x>name</i>" in seen
        assert page.evaluate("window.pwned") is None
        grown = page.locator("main :is(script, iframe, animate, img:not([src^='api/'])), dialog i")
        assert grown.count() == 0


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_stands_in_the_way_of_a_screen_reader(digits, messages, table, visiting, scheme):
    script = axe_script()
    # In the dark, only colours are other.
    rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
    options = {"resultTypes": ["violations"]} | rules

    def check(page, where):
        found = page.evaluate("(options) => axe.run(document, options)", options)
        bad = [
            (where, violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
            for violation in found["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert bad == []
        assert page.evaluate(UNNAMED) == []

    with serving(digits, clicks=30) as served:
        narrow = {"width": 1000, "height": 800}  # what was found has a screen of its own then
        tab = visiting(served, color_scheme=scheme, reduced_motion="reduce", viewport=narrow)
        page = tab.page
        page.evaluate(script)
        seen = set()
        for _ in range(15):
            if tab.question[0] not in seen:
                seen.add(tab.question[0])
                check(page, tab.question)
            if len(seen) == 2:
                break
            tab.press(truth(tab.question, LABELS))
        assert seen <= {"p", "l", "g"}
        tab.press("k")
        for screen, there in (
            ("found", ".kind .member"),
            ("review", ".choice"),
            ("finish", ".exports"),
        ):
            tab.goto(screen)
            page.wait_for_selector(there)
            check(page, screen)
        page.keyboard.press("?")
        check(page, "help")
        page.keyboard.press("Escape")
        tab.goto("found")
        for opener in (
            (".kind .member", ".kind .link:has-text('Show all')") if scheme == "light" else ()
        ):
            page.locator(opener).first.click()
            page.wait_for_load_state("networkidle")
            check(page, opener)
            page.keyboard.press("Escape")
    for things, labels in ((messages, np.arange(48) % 5), (table, np.repeat(range(3), 20))):
        with serving(things, clicks=4, labels=labels) as served:
            page = visiting(served, color_scheme=scheme).page
            page.wait_for_selector(".kind .member")  # here it is beside the question
            page.evaluate(script)
            check(page, things.source)
