"""The person at the prompt: fed lines, and in a real pseudo-terminal."""

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

from samekind import SqlLedger
from samekind.session import Session
from samekind.terminal import (
    PictureView,
    RowView,
    answer_in_terminal,
    printable,
    user_name,
)

X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]])
KIND = [0, 0, 0, 1, 1, 1, 2, 2]
ASKED = re.compile(r"row (\d+) +row (\d+)")
PROMPT = "[?]help: "


def sit_down(session, lines, **options):
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
    view = options.pop("view", RowView(["x"], X.__getitem__))
    answer_in_terminal(session, view, who="ann", console=console, read=read)
    return screen.getvalue()


def new_session(**options):
    return Session(X, "basic", random_state=0, **options)


def truthful(session):
    """Yield the true answers, then Enter to finish."""
    while not session.done:
        a, b = session.pending()[0]
        yield "y" if KIND[a] == KIND[b] else "n"
    yield ""


def test_true_answers_find_the_kinds():
    session = new_session()
    screen = sit_down(session, truthful(session))
    assert session.stop_reason == "exhausted"
    assert session.clusters().n_recovered_ == 3
    assert "That was the last question: every row is labelled." in screen
    assert "Question 1.  1 kind found, 0 recovered." in screen
    assert {entry.who for entry in session.ledger.entries()} == {"ann"}
    pairs = [frozenset(pair) for pair in ASKED.findall(screen)]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(
    ("word", "answer"),
    [("y", 1), ("s", 1), ("YES", 1), (" same ", 1), ("n", 0), ("d", 0), ("No", 0), ("u", -1)],
)
def test_words_for_answers(word, answer):
    session = new_session()
    first = session.pending()[0].tolist()
    sit_down(session, [word])
    (entry,) = session.ledger.entries()
    assert [entry.a, entry.b, entry.answer] == [*first, answer]


@pytest.mark.parametrize("word", ["", "x", "yn", "1", "[bold]", "\x1b[A", "ÿ" * 500])
def test_unknown_words_are_explained_and_asked_again(word):
    session = new_session()
    screen = sit_down(session, [word, "n"])
    assert "Please type y, n, u, b, m or q" in screen
    assert len(session.ledger) == 1


def test_help():
    screen = sit_down(new_session(), ["?"])
    assert "take the last answer back, as often as you like" in screen
    assert screen.count(PROMPT) == 2


@pytest.mark.parametrize("lines", [["n", "q"], ["n"]], ids=["q", "end of input"])
def test_quitting_keeps_the_answers(lines):
    session = new_session()
    sit_down(session, lines)
    assert session.stop_reason == "user"
    assert len(session.ledger) == 1


def test_undo_goes_back_to_the_very_beginning():
    session = new_session()
    shown = ASKED.findall(sit_down(session, ["n", "n", "n", "b", "b", "undo", "b"]))
    assert shown == [*shown[:4], *shown[2::-1]]
    assert len(session.ledger) == 0


def test_nothing_to_take_back():
    session = new_session()
    screen = sit_down(session, ["b", "b", "n"])
    assert screen.count("There is nothing to take back.") == 2
    assert len(session.ledger) == 1


def test_the_last_answer_can_be_taken_back():
    session = new_session(budget=2)
    screen = sit_down(session, ["n", "n", "b", "y", ""])
    assert "Question 2 of 2." in screen
    assert screen.count("That was the last question: the budget is spent.") == 2
    assert session.stop_reason == "budget"
    assert [entry.answer for entry in session.ledger.entries() if not entry.retracted] == [0, 1]


def test_a_finished_session_asks_nothing():
    session = new_session(budget=1)
    sit_down(session, ["n", ""])
    assert sit_down(session, []) == ""


def test_ctrl_c_leaves_the_answers_and_the_choice_to_the_caller():
    session = new_session()

    def read(lines=iter(["n"])):
        for line in lines:
            return line
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_in_terminal(
            session, RowView(["x"], X.__getitem__), console=Console(file=io.StringIO()), read=read
        )
    assert len(session.ledger) == 1
    assert not session.done


def rendered(view, full=False, width=80, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    console.print(view(0, 1, full))
    return console.file.getvalue()


def test_differing_cells_are_marked():
    rows = [("red", 1, "same"), ("blue", 1, "same")]
    lines = rendered(RowView(["colour", "size", "third"], rows.__getitem__)).splitlines()
    assert [line[0] for line in lines] == [" ", "≠", " ", " "]
    assert re.search(r"colour +red +blue", lines[1])


def test_cells_cannot_steer_the_terminal():
    nasty = "\x1b]0;owned\x07\x1b[2J[red]x[/red] \u202egnp\x9b1m\r\n\ud800"
    view = RowView([f"name{nasty}"], [(nasty,), ("plain",)].__getitem__)
    shown = rendered(view, force_terminal=True, color_system=None)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", shown)
    assert "␛]0;owned␇␛[2J[red]x" in shown
    assert printable(nasty).plain == "␛]0;owned␇␛[2J[red]x[/red] �gnp�1m␍␊�"


def test_long_texts_and_many_fields_wait_for_more():
    rows = [("word " * 200, *range(50)), ("x", *range(50))]
    names = ["text", *(f"f{i}" for i in range(50))]
    view = RowView(names, rows.__getitem__)
    short, full = rendered(view), rendered(view, full=True)
    assert "700 more characters" in " ".join(short.split())
    assert "27 more fields: type m" in short
    assert "f49" not in short
    assert "f49" in full
    assert full.count("word") == 200
    session = new_session()
    assert sit_down(session, ["m"]).count("row ") == 4


def test_pictures():
    images = np.zeros((2, 2, 3))
    images[0, 0] = [0, 8, 16]
    shown = rendered(PictureView(images)).splitlines()
    assert shown[1].startswith("  ▒▒██")
    large = rendered(PictureView(np.ones((2, 100, 100))))
    assert max(map(len, large.splitlines())) <= 80
    assert rendered(PictureView(np.zeros((2, 3, 3))))


def test_printable():
    assert printable(0.1 + 0.2).plain == "0.3"
    assert printable(None).plain == "None"
    assert printable("abc", 2).plain == "ab … 1 more characters"


def test_user_without_a_name(monkeypatch):
    def nobody():
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert user_name() == ""


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
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.screen)

    def wait_for(self, *texts, seconds=30.0):
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
        """Return the pair that is shown now."""
        self.wait_for(PROMPT)
        return tuple(map(int, ASKED.findall(self.seen)[-1]))

    def answer(self, pair):
        a, b = pair
        self.type("y\n" if KIND[a] == KIND[b] else "n\n")

    def finish(self):
        self.wait_for("centers.csv")
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
        return code


@pytest.fixture
def folder(tmp_path):
    lines = [f"thing {i},{x},{kind}" for i, (x, kind) in enumerate(zip(X[:, 0], KIND, strict=True))]
    (tmp_path / "things.csv").write_text("\n".join(["name,x,kind", *lines]))
    return tmp_path


COMMAND = ("run", "things.csv", "--labels", "kind", "--oracle", "terminal", "--who", "ann")


def said(folder):
    """Return the answers that stand in the project, by pair."""
    with SqlLedger(folder / "samekind-run" / "project.db") as ledger:
        standing = [entry for entry in ledger.entries() if not entry.retracted]
    pairs = [frozenset((entry.a, entry.b)) for entry in standing]
    assert len(set(pairs)) == len(pairs)
    return pairs


def test_answer_quit_resume_and_finish(folder):
    sitting = Sitting(folder, *COMMAND)
    asked = []
    for _ in range(3):
        asked.append(sitting.question())
        assert "thing" in sitting.seen
        assert "kind " not in sitting.seen.split("recovered.")[1]  # the label is hidden
        sitting.answer(asked[-1])
    waiting = sitting.question()
    sitting.type("q\n")
    assert sitting.finish() == 0
    assert "To go on, run the same command:" in sitting.screen
    assert "samekind " + " ".join(COMMAND) in sitting.screen
    assert "Traceback" not in sitting.screen
    assert [frozenset(pair) for pair in asked] == said(folder)

    sitting = Sitting(folder, *COMMAND)
    assert sitting.question() == waiting
    assert "3 answers from before are in" in sitting.screen
    assert "Question 4." in sitting.seen
    sitting.answer(waiting)
    asked.append(waiting)
    for _ in itertools.count():
        if sitting.wait_for(PROMPT, "Enter to finish") != PROMPT:
            break
        asked.append(tuple(map(int, ASKED.findall(sitting.seen)[-1])))
        sitting.answer(asked[-1])
    sitting.type("\n")
    assert sitting.finish() == 0
    assert "every row is labelled" in sitting.screen
    assert len({frozenset(pair) for pair in asked}) == len(asked)
    assert len(said(folder)) == len(asked)
    assert re.search(r"adjusted Rand index +│ 1\.000", sitting.plain)


def test_killed_in_the_middle_nothing_is_asked_twice(folder):
    sitting = Sitting(folder, *COMMAND)
    asked = []
    for _ in range(4):
        asked.append(sitting.question())
        sitting.answer(asked[-1])
    waiting = sitting.question()  # so the fourth answer is kept
    sitting.process.send_signal(signal.SIGKILL)
    sitting.process.wait(10)
    os.close(sitting.master)

    sitting = Sitting(folder, *COMMAND)
    assert sitting.question() == waiting
    assert [frozenset(pair) for pair in asked] == said(folder)
    sitting.type("\x03")  # Ctrl-C
    assert sitting.finish() == 130
    assert "stopped by you" in sitting.screen
    assert "Traceback" not in sitting.screen
    assert len(said(folder)) == 4
