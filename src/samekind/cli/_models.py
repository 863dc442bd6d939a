"""Models and programs that answer, made of what the user said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from samekind.cli._errors import UserError, users_values

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.engine import Session
    from samekind.oracles import ChatOracle, CommandOracle

CHAT, COMMAND = "chat:", "command:"
EXTRA = "a model that answers needs a package that is not installed (httpx): pip install 'samekind[chat]'"


@dataclass(frozen=True)
class ModelOptions:
    """What the user said of a model; `place` is NAME@URL."""

    place: str
    criterion: str | None
    price: str | None
    cap: float | None

    @property
    def parts(self) -> tuple[str, str]:
        """The model's name, which may hold an @, and the address of its API."""
        at = self.place.find("@http")
        return (self.place[:at], self.place[at + 1 :]) if at > 0 else ("", self.place)

    def check(self) -> tuple[float, float] | None:
        """Complain of what is missing or wrong; return the price."""
        from importlib.util import find_spec

        from samekind.oracles.chat.endpoint import Endpoint

        if find_spec("httpx") is None:
            raise UserError(EXTRA)
        name, url = self.parts
        if not name:
            raise UserError(
                f"name the model and its API as NAME@URL, such as llama@http://127.0.0.1:8000/v1, got "
                f"{self.place!r}."
            )
        if not self.criterion:
            raise UserError(
                "tell the model when two items are of one kind, in a sentence: --criterion TEXT"
            )
        price = None if self.price is None else _price(self.price)
        if self.cap is not None and price is None:
            raise UserError("--cap needs the price of the model: --price READ,WRITTEN")
        with users_values():
            Endpoint.at(url)
        return price

    def make(self, items: Items) -> ChatOracle:
        """Return the model as an oracle; an error says what is missing."""
        from samekind.oracles import ChatOracle

        price = self.check()
        name, url = self.parts
        with users_values():
            return ChatOracle(
                items,
                model=name,
                url=url,
                criterion=self.criterion or "",
                price=price,
                cap=self.cap or None,
            )


def _price(given: str) -> tuple[float, float]:
    try:
        read, written = map(float, given.split(","))
        if min(read, written) < 0:
            raise ValueError
    except ValueError:
        raise UserError(
            f"--price must be two numbers, for a million tokens read and written, such as 0.15,0.6, got "
            f"{given!r}."
        ) from None
    return read, written


def make_oracle(oracle: str, options: ModelOptions, items: Items) -> ChatOracle | CommandOracle:
    """Return what --oracle chat:URL or command:PROGRAM names."""
    if oracle.startswith(CHAT):
        return options.make(items)
    from samekind.oracles import CommandOracle

    with users_values():
        return CommandOracle(oracle.removeprefix(COMMAND), items)


def cost_in_words(oracle: ChatOracle, questions: int | None) -> str:
    """Return about what a run would cost."""
    n = 1_000 if questions is None else questions
    found = oracle.estimate(n)
    money = f", {found.cost:,.4g} in the currency of --price" if found.cost else ""
    return (
        f"{n:,} questions to {oracle.model} are about {found.tokens_read:,} tokens read and "
        f"{found.tokens_written:,} written{money}. Nothing was sent."
    )


def unchecked_notes(session: Session, oracle: ChatOracle | CommandOracle) -> list[str]:
    """Return what nobody checked, in words: all that a model or a program answered alone."""
    lines = session.ledger.active()
    names = session.ledger.annotators
    own = lines["who"] == names.index(oracle.name) if oracle.name in names else lines["who"] < 0
    n, others = int((own & lines["asked"]).sum()), int((~own).sum())
    spent = getattr(oracle, "spent", None)
    cost = "" if spent is None else f", in {spent.calls:,} calls, {spent.tokens_read:,} tokens read"
    cost += f", for {spent.cost:,.4g}" if spent is not None and spent.cost else ""
    if others:
        return [f"{oracle.name} answered {n:,} questions{cost}; {others:,} answers are of others."]
    return [
        f"{oracle.name} answered {n:,} questions{cost}. Nobody checked any of them: how often they are wrong "
        "is only estimated from how they agree with each other."
    ]
