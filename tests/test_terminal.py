"""The person at the prompt: fed lines, and in a real pseudo-terminal (P17)."""

import io
import itertools
import os
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

from samekind import DIFFERENT, SAME, Ledger
from samekind.data import Items, load
from samekind.engine import NOT_ASKED, ClassifySession
from samekind.project import ClusterOption, ItemView, Project
from samekind.terminal import (
    Cards,
    Lines,
    answer_in_terminal,
    classify_in_terminal,
    printable,
)
from samekind.terminal.cards import short_title
from samekind.terminal.text import differing

X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]])
KIND = [0, 0, 0, 1, 1, 1, 2, 2]
ASKED = re.compile(r"row (\d+) +row (\d+)")
PROMPT = "? help\n> "


def sit_down(project, lines, **options):
    """Answer with these lines; return what was on the screen."""
    screen = io.StringIO()
    given = iter(lines)

    def read():
        line = next(given, None)
        if line is None:
            raise EOFError
        screen.write(line + "\n")
        return line

    console = Console(file=screen, width=80, force_terminal=False)
    answer_in_terminal(project, who="ann", console=console, keys=Lines(read), **options)
    return screen.getvalue()


def new_project(algorithm="basic", **options):
    """A project that asks about one pair at a time, or has line-ups if the algorithm is another one."""
    settings = {"batch": 1, "random_state": 0} | options
    return Project(
        Items.of_array(X, "things", feature_names=["x"]), algorithm=algorithm, **settings
    )


def truthful(project):
    """Yield the true answers, then Enter to finish."""
    while not project.session.done:
        a, b = project.session.pending()[0]
        yield "s" if KIND[a] == KIND[b] else "d"
    yield ""


def test_true_answers_find_the_kinds():
    project = new_project()
    screen = sit_down(project, truthful(project))
    assert project.session.stop_reason == "exhausted"
    assert project.clusters().n_recovered_ == 3
    assert "That was the last question: every row was asked about." in screen
    assert "Press 1.  Nothing is known yet" in screen
    assert {entry.who for entry in project.session.ledger.lines()} == {"ann"}
    pairs = [frozenset(pair) for pair in ASKED.findall(screen)]
    assert len(set(pairs)) == len(pairs)
    assert max(map(len, screen.splitlines())) <= 80


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        *(("S", 1), ("y", 1), (" same ", 1)),
        *(("d", 0), ("No", 0)),
        *(("u", -1), (" ", -1), ("not sure", -1)),
    ],
)
def test_words_for_answers(word, answer):
    """P17: the keys of the page, and words for them."""
    project = new_project()
    first = project.session.pending()[0].tolist()
    sit_down(project, [word])
    (entry,) = project.session.ledger.lines()
    assert [entry.a, entry.b, entry.answer] == [*first, answer]


@pytest.mark.parametrize("word", ["", "[bold]", "\x1b[A"])
def test_unknown_words_are_explained_and_asked_again(word):
    project = new_project()
    screen = sit_down(project, [word, "n"])
    assert "Please type one of the above, and Enter" in screen
    assert len(project.session.ledger) == 1


@pytest.mark.parametrize("lines", [["n", "q"], ["n"]], ids=["q", "end of input"])
def test_quitting_keeps_the_answers(lines):
    project = new_project()
    sit_down(project, lines)
    assert project.session.stop_reason == "user"
    assert len(project.session.ledger) == 1


def test_undo_goes_back_to_the_very_beginning():
    """P2: at the prompt."""
    project = new_project()
    screen = sit_down(project, ["n", "n", "n", "b", "backspace", "undo", "b"])
    shown = ASKED.findall(screen)
    assert shown[:7] == [*shown[:4], *shown[2::-1]]
    assert len(project.session.ledger) == 0
    assert screen.count("Taken back: rows ") == 3
    assert "There is nothing to take back." in screen


def test_only_ones_own_answers_are_taken_back():
    project = new_project()
    project.answer(project.next("bob")[0].id, "different", who="bob")
    assert "None of these answers is yours" in sit_down(project, ["b"])
    assert len(project.session.ledger) == 1


def test_the_last_answer_can_be_taken_back():
    project = new_project(budget=2)
    screen = sit_down(project, ["n", "n", "b", "y", ""])
    assert "Press 2 of 2." in screen
    assert screen.count("That was the last question: the budget is spent.") == 2
    assert project.session.stop_reason == "budget"
    standing = [e.answer for e in project.session.ledger.lines() if not e.retracted]
    assert standing == [0, 1]


def test_skipped_questions_come_back_at_the_end():
    """P4: a skip is an answer."""
    project = new_project(budget=1)
    first = project.session.pending()[0].tolist()
    screen = sit_down(project, ["k", "d", "k", "d", ""])
    assert "K answer what you skipped (1)" in screen
    assert list(map(int, ASKED.findall(screen)[2])) == first
    (skipped,) = [e for e in project.session.ledger.lines() if {e.a, e.b} == set(first)][-1:]
    assert skipped.answer == 0
    assert project.status().skipped == 0


def test_kinds_get_names():
    project = new_project()
    screen = sit_down(project, ["r", "d", "r", "[b]ones[/b]", "d"])
    assert "is not known yet" in screen
    assert "It has a name now." in screen
    assert "[b]ones[/b]" in [kind.name for kind in project.overview.all().clusters]
    assert "at most 200 characters" in sit_down(new_project(), ["d", "r", "x" * 300])


def test_line_ups_answer_several_questions_at_once():
    project = new_project("focused", goal="centers")
    screen = sit_down(project, ["n", "0", "7", "n"])
    assert re.search(r"row \d  of which kind is it\?", screen)
    assert re.search(r"^1  kind \d\n   x \d", screen, re.M)
    assert "Please type one of the above" in screen  # 7 is no option
    assert len(project.session.ledger) > 3
    assert max(map(len, screen.splitlines())) <= 80
    assert "none of 2 kinds" in sit_down(new_project("focused", goal="centers"), ["n", "0", "b"])


def test_line_ups_to_the_end_and_switched_off():
    def answers(project):
        while not project.session.done:
            [question] = project.next("ann")
            kinds = [KIND[option.cluster] for option in getattr(question, "options", ())]
            if not kinds:
                yield "s" if KIND[question.a.row] == KIND[question.b.row] else "d"
            elif KIND[question.item.row] in kinds:
                yield str(kinds.index(KIND[question.item.row]) + 1)
            else:
                yield "0"
        yield ""

    project = new_project("focused")
    sit_down(project, answers(project))
    assert project.clusters().n_discovered_ == 3
    assert "of which kind" not in sit_down(new_project("focused"), ["d"] * 5, lineup=False)


def test_contradictions_are_shown():
    """P4: with the rows involved."""
    project = new_project()
    project.session.learn([[0, 1], [1, 2], [0, 2]], [1, 1, 0])
    screen = sit_down(project, ["c"])
    assert "Answers that contradict others: 1." in screen
    assert re.search(r"0.*1.*2", screen.split("> c\n")[1])
    assert "No answers contradict" in sit_down(new_project(), ["c"])


def test_a_question_that_is_answered_elsewhere_is_passed_over():
    """P4: and what was said is an opinion."""
    project = new_project()

    def lines():
        [question] = project.next("ann")
        project.answer(question.id, "different", who="bob")
        yield "s"

    sit_down(project, lines())
    [standing] = [line for line in project.session.ledger.lines() if not line.retracted]
    assert (standing.who, standing.answer) == ("bob", DIFFERENT)
    assert [(one.who, one.answer) for one in project.session.ledger.log.opinions.lines] == [
        ("ann", SAME)
    ]


def test_ctrl_c_leaves_the_answers_and_the_choice_to_the_caller():
    project = new_project()

    def read(lines=iter(["n"])):
        for line in lines:
            return line
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_in_terminal(project, console=Console(file=io.StringIO()), keys=Lines(read))
    assert len(project.session.ledger) == 1
    assert not project.session.done


# What it looks like


class Deck(Cards):
    """Cards of items made up for a test, which go by their numbers."""

    def __init__(self, *shown, images=None):
        super().__init__(lambda row: None if images is None else images[row])
        self.items = [ItemView(row, f"row {row}", *one, False) for row, one in enumerate(shown)]

    def pair(self, a, b, *, more=(), **options):
        rest = [self.items[row] for row in more]
        return super().pair(self.items[a], self.items[b], more=rest, **options)

    def lineup(self, row, options, **how):
        return super().lineup(self.items[row], options, **how)

    def option(self, cluster, name, members):
        shown = [self.items[row] for row in members]
        return ClusterOption(cluster, cluster, name, f"kind {cluster}", "", members=shown)


def rendered(shown, width=80, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(shown)
    return console.file.getvalue()


def row_cards(names, *rows):
    return Deck(*((None, list(zip(names, map(str, row)))) for row in rows))  # noqa: B905


NASTY = "\x1b]0;owned\x07\x1b[2J[red]x[/red] \u202egnp\x9b1m\r\n\ud800"
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]")


def test_things_cannot_steer_the_terminal():
    """P33: whatever is in them."""
    hostile = ItemView(0, NASTY, NASTY, [(f"name{NASTY}", NASTY)], False)
    plain = ItemView(1, "plain", "plain", [("name", "x")], False)
    cards = Deck()
    cards.items = [hostile, plain]
    option = cards.option(1, NASTY, [0, 1])
    for full in (False, True):
        for shown in (
            cards.pair(0, 1, ref=option, more=[0], full=full),
            cards.lineup(0, [option, option], full=full),
        ):
            text = rendered(shown, force_terminal=True, color_system=None)
            assert not STEERING.search(text)
            assert "[red]x" in text
            assert "␛]0;owned␇␛[2J" in text
    assert not STEERING.search(short_title(hostile))
    assert printable(NASTY).plain == "␛]0;owned␇␛[2J[red]x[/red] �gnp�1m␍␊�"


def test_long_texts_and_many_fields_wait_for_more():
    names = ["text", *(f"f{i}" for i in range(50))]
    cards = row_cards(names, ("word " * 200, *range(50)), ("x", *range(50)))
    short, full = rendered(cards.pair(0, 1)), rendered(cards.pair(0, 1, full=True))
    assert "700 more characters" in " ".join(short.split())
    assert "27 more fields: M shows them" in short
    assert "f49" not in short
    assert "f49" in full
    assert full.count("word") == 200
    assert sit_down(new_project(), ["m"]).count("row ") == 4


def test_words_that_differ_are_marked_unless_nearly_all_do():
    one, other = differing("the red car is fast", "the blue car is fast")
    assert [one.plain[span.start : span.end] for span in one.spans] == ["red"]
    assert [other.plain[span.start : span.end] for span in other.spans] == ["blue"]
    for text in differing("completely other words", "nothing in common here"):
        assert not text.spans
    start = time.perf_counter()
    differing("a b " * 20_000, "b c " * 20_000)
    assert time.perf_counter() - start < 5


def test_texts_and_kinds_side_by_side():
    deck = Deck(*((f"text {i} " + "long " * 40, []) for i in range(4)))
    lines = rendered(deck.pair(0, 1, ref=deck.option(1, "mine", []), more=[2, 3])).splitlines()
    assert re.fullmatch(r"row 0 +row 1  mine *", lines[0])
    assert re.match(r"text 0 .+text 1", lines[1])
    assert lines[-1].startswith("  · text 3")
    assert max(map(len, lines)) <= 80
    shown = rendered(deck.lineup(0, [deck.option(1, "mine", [1, 2, 3]), deck.option(3, None, [3])]))
    assert re.search(r"^1  mine", shown, re.M)
    assert shown.count("text 2") == 1
    assert max(map(len, shown.splitlines())) <= 80


def test_pictures():
    images = np.zeros((2, 2, 4), dtype=np.uint8)
    images[0, 0] = [0, 8, 16, 16]
    blank = [(None, [])] * 9
    cards = Deck(*blank, images=images)
    shown = rendered(cards.pair(0, 1)).splitlines()
    assert set(shown[1].rstrip()) == {" ", "▒", "█"}
    large = Deck(*blank, images=np.arange(90_000).reshape(9, 100, 100))
    options = [large.option(row, "a name that is long", [row, 8]) for row in range(1, 9)]
    for shown in (
        large.pair(0, 1, more=[2, 3, 4]),
        large.pair(0, 1, full=True),
        large.lineup(0, options),
        large.lineup(0, options[:2]),
    ):
        for colors in (None, "256", "truecolor"):
            text = rendered(shown, force_terminal=True, color_system=colors)
            plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
            assert max(map(len, plain.splitlines())) <= 80
            assert ("▀" in plain) == (colors is not None)
    assert rendered(Deck(*blank, images=np.zeros((2, 3, 3))).pair(0, 1))
    assert rendered(Deck(*blank, images=np.zeros((2, 1, 300))).pair(0, 1))


def test_new_items_show_what_the_old_ones_have(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("x,y,secret\n5,6,no\n7,8,no\n")
    project = Project(load(tmp_path / "a.csv"), random_state=0)
    project.answers.import_csv("a,b,answer\n0,1,same\n")
    new = project.items.load_new(tmp_path / "b.csv")
    session = ClassifySession(project.clusters(), new.X)
    screen = io.StringIO()
    given = iter(["m", "s", "q"])
    console = Console(file=screen, width=80)
    keys = Lines(lambda: next(given))
    classify_in_terminal(session, project, new, who="ann", console=console, keys=keys)
    text = screen.getvalue()
    assert "New thing 1 of 2.  Of the kind on the right?" in text
    assert re.search(r"new: row 0 +row \d", text)
    assert re.search(r"x +5 +\d", text)
    assert "secret" not in text
    assert "New thing 2 of 2." in text
    assert session.result().labels.tolist() == [0, NOT_ASKED]
    assert next(session.ledger.lines()).who == "ann"


# In a real terminal

pty = pytest.importorskip("pty")


class Sitting:
    """A process in a pseudo-terminal of 80 columns."""

    def __init__(self, folder, *arguments):
        master, slave = pty.openpty()
        self.master = master
        self.process = subprocess.Popen(
            [sys.executable, "-m", "samekind", *arguments],
            cwd=folder,
            preexec_fn=lambda: os.login_tty(slave),
            env=os.environ | {"COLUMNS": "80", "LINES": "24", "TERM": "xterm"},
        )
        os.close(slave)
        self.screen = ""
        self.read_to = 0

    @property
    def plain(self):
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.screen).replace("\r\n", "\n")

    def wait_for(self, *texts, seconds=60.0):
        """Wait until one of the texts comes, after what was waited for before; return which."""
        end = time.monotonic() + seconds
        while True:
            plain = self.plain
            places = [(plain.find(text, self.read_to), text) for text in texts]
            here = sorted(found for found in places if found[0] >= 0)
            if here:
                self.seen = plain[self.read_to : here[0][0]]
                self.read_to = here[0][0] + len(here[0][1])
                return here[0][1]
            assert time.monotonic() < end, plain
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.screen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other side is closed
                    raise AssertionError(f"it ended: {plain}") from None

    def type(self, text):
        os.write(self.master, text.encode())

    def question(self):
        """Return the rows that are shown now: the thing first."""
        self.wait_for(PROMPT)
        shown = self.seen[self.seen.rindex("Press ") :]
        return tuple(map(int, re.findall(r"row (\d+)", shown)))

    def answer(self, rows):
        """Press the right key."""
        a, b = rows
        self.type("s" if KIND[a] == KIND[b] else "\x1b[C")  # an arrow

    def finish(self, last="Next:"):
        self.wait_for(last)
        while select.select([self.master], [], [], 5)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            if not data:
                break
            self.screen += data.decode(errors="replace")
        code = self.process.wait(20)
        os.close(self.master)
        assert "Traceback" not in self.screen
        return code


@pytest.fixture
def folder(tmp_path):
    lines = [f"thing {i},{x},{kind}" for i, (x, kind) in enumerate(zip(X[:, 0], KIND, strict=True))]
    (tmp_path / "things.csv").write_text("\n".join(["name,x,kind", *lines]))
    return tmp_path


RUN = ("run", "things.csv", "--labels", "kind", "--oracle", "terminal", "--algorithm", "basic")
LABEL = (
    "label",
    "things.csv",
    "--terminal",
    "--exclude",
    "kind",
    "--show",
    "name, x",
    "--set",
    "lineup=0",
    "--set",
    "random_state=0",
)


def said(path):
    """Return the answers that stand in the project, by pair."""
    with Ledger(path) as ledger:
        standing = [entry for entry in ledger.lines() if not entry.retracted]
    pairs = [frozenset((entry.a, entry.b)) for entry in standing]
    assert len(set(pairs)) == len(pairs)
    return pairs


@pytest.mark.slow
def test_run_answer_quit_resume_and_finish(folder):
    project = folder / "samekind-run" / "project.db"
    sitting = Sitting(folder, *RUN)
    asked = []
    for _ in range(3):
        asked.append(sitting.question())
        assert "thing" in sitting.seen
        assert "this kind  " not in sitting.seen.split("Press ")[1]  # the label is hidden
        sitting.answer(asked[-1])
    waiting = sitting.question()
    sitting.type("q")
    assert sitting.finish("centers.csv") == 0
    assert "To go on, run the same command:" in sitting.screen
    assert "samekind " + " ".join(RUN) in sitting.screen
    assert [frozenset(pair) for pair in asked] == said(project)

    sitting = Sitting(folder, *RUN)
    assert sitting.question() == waiting
    assert "3 answers from before are in" in sitting.screen
    assert "Press 4." in sitting.seen
    sitting.answer(waiting)
    asked.append(waiting)
    for _ in itertools.count():
        if sitting.wait_for(PROMPT, "Enter finish  B undo\n> ") != PROMPT:
            break
        asked.append(tuple(map(int, ASKED.findall(sitting.seen)[-1])))
        sitting.answer(asked[-1])
    sitting.type("\r")
    assert sitting.finish("centers.csv") == 0
    assert "every row was asked about" in sitting.screen
    assert len({frozenset(pair) for pair in asked}) == len(asked)
    assert len(said(project)) == len(asked)
    assert re.search(r"adjusted Rand index +│ 1\.000", sitting.plain)


def test_label_killed_in_the_middle_nothing_is_asked_twice(folder):
    """P1, P4: in a real terminal."""
    project = folder / "things.samekind.db"
    sitting = Sitting(folder, *LABEL)
    asked = []
    for _ in range(4):
        asked.append(sitting.question())
        assert "kind  " not in sitting.seen.split("Question")[-1]
        sitting.answer(asked[-1])
    waiting = sitting.question()  # so the fourth answer is kept
    sitting.process.send_signal(signal.SIGKILL)
    sitting.process.wait(10)
    os.close(sitting.master)

    sitting = Sitting(folder, *LABEL)
    assert sitting.question() == waiting
    assert "4 answers from before are in things.samekind.db." in sitting.plain
    assert [frozenset(pair) for pair in asked] == said(project)
    sitting.type("\x7f")  # Backspace
    assert sitting.question() == asked[-1]
    assert "Taken back: rows" in sitting.seen
    sitting.type("\r x")  # Enter is no answer, space is one; what follows comes too early
    sitting.question()
    assert sitting.seen.startswith("not sure\n")
    sitting.type("\x03")  # Ctrl-C
    assert sitting.finish() == 130
    assert "found with 4 presses (4 questions); stopped by you." in sitting.plain
    assert "samekind label things.samekind.db" in sitting.plain
    assert len(said(project)) == 4
    assert max(map(len, sitting.plain.splitlines())) <= 80


@pytest.mark.slow
def test_label_names_and_the_end_of_input(folder):
    sitting = Sitting(folder, *LABEL)
    sitting.question()
    sitting.type("d")
    sitting.wait_for(PROMPT)
    sitting.type("R")
    sitting.wait_for("called? ")
    sitting.type("my own näme\n")  # a whole line, that is seen while it is typed
    sitting.wait_for("It has a name now.")
    sitting.wait_for("> ")
    sitting.type("\x04")  # Ctrl-D
    assert sitting.finish() == 0
    assert re.search(r"^ +\d  my own näme +\d", sitting.plain, re.M)
