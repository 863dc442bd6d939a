"""The person at the prompt: shows a question, takes a key, and tells the project."""

from __future__ import annotations

import getpass

from rich.console import Console
from rich.text import Text

from samekind.project import (
    ClusterMatch,
    ItemView,
    LineupQuestion,
    NewCluster,
    PairQuestion,
    Project,
    ProjectError,
    Question,
    Said,
    SheetAnswer,
    SheetQuestion,
    counted,
    name_in_table,
)
from samekind.terminal.cards import short_title
from samekind.terminal.keys import Keys, keys_at_hand
from samekind.terminal.prompt import (
    ANYWHERE,
    IN_A_PROJECT,
    NONE,
    PAIR,
    SAY,
    SHEET,
    Conversation,
)
from samekind.terminal.text import brief, printable

__all__ = ["answer_in_terminal", "user_name"]

ADVICE = 10  # presses after which it is said again whether to stop


def answer_in_terminal(
    project: Project,
    *,
    who: str | None = None,
    lineup: bool = True,
    console: Console | None = None,
    keys: Keys | None = None,
) -> None:
    """Ask the person at the prompt until there is nothing left to ask or they quit.

    Every answer is in the ledger before the next question is shown. The end of the input quits.

    Parameters
    ----------
    project : Project
        What to ask, and whom to tell.
    who : str or None
        Who is noted as having answered; by default the user's name on this computer.
    lineup : bool
        Whether to show an item beside several clusters where that saves answers.
    console : rich.console.Console or None
        Where to write; by default the standard error.
    keys : Keys or None
        What is typed; by default single keys at a terminal, and lines from elsewhere.
    """
    screen = console if console is not None else Console(stderr=True)
    name = user_name() if who is None else who
    with keys_at_hand() if keys is None else keys as typed:
        try:
            _Asking(project, name, lineup, screen, typed).ask_on()
        finally:
            project.questions.release(name)


def user_name() -> str:
    """Return the user's name on this computer, or "" where there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user without a name
        return ""


class _Asking(Conversation):
    def __init__(
        self, project: Project, who: str, lineup: bool, screen: Console, keys: Keys
    ) -> None:
        super().__init__(who, screen, keys, project.image)
        self._project = project
        self._lineup = lineup
        self._item: ItemView | None = None  # that was asked about last
        self._answered, self._model_does = False, ""

    def ask_on(self) -> None:
        going = True
        while going:
            may_come = self._model_works()
            questions = self._project.next(self._who, lineup=self._lineup)
            if questions:
                going = self._one(questions[0])
            elif self._project.standing.stop_reason is not None:
                going = self._answered and self._end()
            elif may_come:
                self._keys.pause()
            else:
                self._say("All open questions are with other people. Try again in a few minutes.")
                going = False

    def _model_works(self) -> bool:
        """Return whether a model is answering; say what it does when that changes."""
        if (model := self._project.assistant) is None:
            return False
        works, does = model.is_working, "answers, too; you are also asked what it answered first."
        if not works:
            does = f"{model.state.rstrip('.')}. You are asked without it from here on."
        if does != self._model_does:
            self._say(f"{model.oracle.model} {does}")
        self._model_does = does
        return works

    def _one(self, question: Question) -> bool:
        """Show a question and take its answer; return whether to go on."""
        self._keys.forget()
        self._screen.print()
        self._screen.print(self._status())
        self._show(question, full=False)
        while True:
            wanted = self._ask(*_choices(question))
            if wanted == "quit":
                self._project.standing.leave()
                return False
            if wanted == "undo":
                self._undo()
                return True
            if wanted == "more":
                self._show(question, full=True)
            elif wanted == "name":
                self._name()
            elif wanted == "contradictions":
                self._show_contradictions()
            elif (said := self._said(question, wanted)) is not None:
                self._answer(question, said)
                return True

    def _said(self, question: Question, wanted: str) -> Said | None:
        """Return the answer that is meant; None if the person thought better of it."""
        if isinstance(question, SheetQuestion):
            if wanted == "some":
                return self._which(question)
            return SheetAnswer() if wanted == "all" else wanted
        if wanted == "say":
            return self._find(_subject(question))
        if isinstance(question, LineupQuestion) and wanted.isdigit():
            return question.options[int(wanted) - 1].cluster
        return wanted

    def _answer(self, question: Question, said: Said) -> None:
        try:
            self._project.answer(question.id, said, who=self._who)
        except ProjectError as error:
            self._say(str(error))
        self._item = _subject(question)
        self._answered = True

    def _which(self, question: SheetQuestion) -> SheetAnswer | None:
        """Ask which of a sheet do not belong to it."""
        n = len(question.items)
        self._say(f"Which do not belong? Numbers from 1 to {n}, like 2 5: ", end="")
        typed = self._line().replace(",", " ").split()
        numbers = [int(word) for word in typed if word.isascii() and word.isdigit()]
        if not typed or len(numbers) < len(typed) or not all(1 <= k <= n for k in numbers):
            self._say("Nothing was answered.")
            return None
        return SheetAnswer([question.items[k - 1].row for k in numbers])

    def _find(self, item: ItemView) -> Said | None:
        """Ask of what kind an item is, and look for that."""
        self._say(f"Of what kind is {short_title(item)}? A name, or a word of it: ", end="")
        text = self._line().strip()
        found = self._project.kinds.find(text, row=item.row, most=9)
        whole = [one for one in found if text and (one.name or "").casefold() == text.casefold()]
        if whole:
            return whole[0].cluster
        for number, one in enumerate(found, 1):
            self._say(f"  {number}  {_in_words(one)}")
        choices = {str(number): str(number) for number in range(1, len(found) + 1)}
        choices |= dict.fromkeys(("n", "new"), "new") | dict.fromkeys(("enter", "q", ""), "back")
        of = f" “{text}”" if text else ""
        prompt = f"N a new kind{of}  Enter back to the question"
        numbers = "1" if len(found) == 1 else f"1–{len(found)}"
        wanted = self._ask(f"{numbers} this kind  {prompt}" if found else prompt, choices)
        if wanted == "new":
            return NewCluster(text)
        return found[int(wanted) - 1].cluster if wanted.isdigit() else None

    def _line(self) -> str:
        try:
            return self._keys.line()
        except EOFError:
            self._say("")
            return ""

    def _end(self) -> bool:
        """Nothing is left to ask; return whether to go on all the same."""
        now = self._project.status()
        self._say(f"\nThat was the last question: {now.stop_text}.")
        choices = {"enter": "finish", "f": "finish", "finish": "finish"}
        choices |= {key: name for key, name in ANYWHERE.items() if name in ("undo", "quit", "help")}
        text = "Enter finish  B undo"
        if now.skipped:
            choices |= dict.fromkeys(("k", "skip"), "skip")
            text += f"  K answer what you skipped ({now.skipped:,})"
        wanted = self._ask(text, choices)
        if wanted == "undo":
            self._undo()
        elif wanted == "skip":
            return self._come_back()
        return wanted == "undo"

    def _come_back(self) -> bool:
        """Ask again what was skipped; return whether to go on."""
        for question in self._project.questions.skipped(most=1000):
            if question in self._project.questions.skipped(most=1000) and not self._one(question):
                return False
        return True

    def _show(self, question: Question, *, full: bool) -> None:
        if self._project.standing.criterion:
            self._screen.print(printable(self._project.standing.criterion), style="italic")
        if isinstance(question, SheetQuestion):
            shown = self._cards.sheet(question.items, question.cluster, full=full)
        elif isinstance(question, LineupQuestion):
            shown = self._cards.lineup(question.item, question.options, full=full)
        else:
            a, b, more = question.a, question.b, question.more
            shown = self._cards.pair(a, b, ref=question.b_cluster, more=more, full=full)
        self._screen.print(shown)

    def _undo(self) -> None:
        undone = self._project.undo(who=self._who)
        for words in undone:
            self._say(f"Taken back: {words}.")
        if not undone:
            others = "None of these answers is yours to take back."
            none = "There is nothing to take back."
            self._say(others if self._project.status().can_undo else none)

    def _name(self) -> None:
        item = self._item
        with self._project.state():
            known = item is not None and self._project.session.members_of(item.row)
        if item is None or not known:
            self._say("The kind of the thing that you saw last is not known yet.")
            return
        self._say(f"What is the kind of {short_title(item)} called? ", end="")
        try:
            name = self._keys.line()
            self._project.kinds.rename(item.row, name, who=self._who)
        except EOFError:
            self._say("")
        except ProjectError as error:
            self._say(str(error))
        else:
            self._say("It has a name now." if name.strip() else "It has no name now.")

    def _show_contradictions(self) -> None:
        found = self._project.answers.contradictions()
        for one in found:
            self._say(f"  {one.text}")
        self._say(
            "Undo, or answer anew on the page." if found else "No answers contradict each other."
        )

    def _status(self) -> Text:
        now = self._project.status()
        of = "" if now.budget is None else f" of {now.budget:,}"
        text = Text(f"Press {now.presses + 1:,}{of}.", style="bold")
        limit = self._project.session.budget
        asked = counted(now.questions if limit is None else limit, "question")
        if limit is not None:
            asked = f"{now.questions:,} of {asked}"
        known = f"{counted(now.clusters, 'kind')} found with {asked}"
        text.append(f"  {known if now.presses else 'Nothing is known yet'}", style="not bold")
        text.append(".", style="not bold dim")
        if now.presses and now.presses % ADVICE == 0:
            text.append(f"\n{self._project.standing.advice().text}", style="not bold dim")
        if now.contradictions:
            warning = f"\nAnswers that contradict others: {now.contradictions:,}. C shows them."
            text.append(warning, style="red")
        return text

    def _say(self, text: str, end: str = "\n") -> None:
        self._screen.print(printable(text, lines=True), end=end)


def _choices(question: Question) -> tuple[str, dict[str, str]]:
    """Return the prompt of a question, and what may be typed."""
    rest = "space not sure  K skip  B undo  Q quit  ? help"
    if isinstance(question, SheetQuestion):
        return f"S all the same  O some are not  {rest}", ANYWHERE | IN_A_PROJECT | SHEET
    if isinstance(question, PairQuestion):
        say = {} if question.skipped else SAY
        text = f"S same  D different  {'F find  ' if say else ''}{rest}"
        return text, PAIR | IN_A_PROJECT | say
    n = len(question.options)
    numbers = {str(number): str(number) for number in range(1, n + 1)}
    text = f"{'1' if n == 1 else f'1–{n}'} this kind  0 none  F find  {rest}"
    return text, ANYWHERE | IN_A_PROJECT | NONE | SAY | numbers


def _subject(question: Question) -> ItemView:
    """Return what a question is about."""
    if isinstance(question, SheetQuestion):
        return question.items[0]
    return question.item if isinstance(question, LineupQuestion) else question.a


def _in_words(found: ClusterMatch) -> str:
    """Return a kind on one line: its name and what is in it."""
    examples = "; ".join(brief(item.text or item.title, 40) for item in found.members)
    return f"{name_in_table(found)}: {examples}"
