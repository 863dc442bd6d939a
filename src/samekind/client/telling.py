"""How answers to pairs become answers to the questions that a server asks: pairs, line-ups, sheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from samekind.flow import DIFFERENT, SAME, UNSURE
from samekind.project import Question, Said, SheetAnswer

__all__ = ["CODES", "SKIP", "WORDS", "Pair", "pairs_of_question", "said_of"]

SKIP = -2
WORDS = {SAME: "same", DIFFERENT: "different", UNSURE: "unsure", SKIP: "skip"}
CODES = {word: code for code, word in WORDS.items()}

Pair = tuple[int, int]


def pairs_of_question(question: Question) -> list[Pair]:
    """Return the pairs that a question is about."""
    if question.type == "pair":
        return [(question.a.row, question.b.row)]
    if question.type == "sheet":
        member = int(question.id.split("-")[1])
        return [(item.row, member) for item in question.items]
    return [(question.item.row, option.members[0].row) for option in question.options]


def said_of(
    told: Mapping[Pair, int], question_of: Mapping[Pair, Question]
) -> Iterator[tuple[str, Said]]:
    """Yield questions by their ids, each with the answer that all that is told of its pairs comes to.

    What does not come to one, and pairs of no question, are told pair by pair.
    """
    done: set[str] = set()
    for pair, answer in told.items():
        question = question_of.get(pair)
        if question is not None and question.id in done:
            continue
        own = {} if question is None else _told_of(question, told)
        whole = None if question is None else _answer_to(question, own)
        if question is None or whole is None:
            yield f"p-{pair[0]}-{pair[1]}", WORDS[answer]
        else:
            done.add(question.id)
            yield question.id, whole


def _told_of(question: Question, told: Mapping[Pair, int]) -> dict[Pair, int]:
    return {pair: told[pair] for pair in pairs_of_question(question) if pair in told}


def _answer_to(question: Question, told: Mapping[Pair, int]) -> Said | None:
    """Return the answer to a question, given what is said of its pairs; None if that is not all of it."""
    pairs = pairs_of_question(question)
    if question.type == "pair":
        return WORDS[told[pairs[0]]]
    if question.type == "lineup":
        same = [pair for pair in pairs if told.get(pair) == SAME]
        if same:
            return question.options[pairs.index(same[0])].cluster
        if unsure := {UNSURE, SKIP}.intersection(told.values()):
            return WORDS[max(unsure)]
        return "none" if len(told) == len(pairs) else None
    if len(told) < len(pairs) or SKIP in told.values():
        return "skip" if [*told.values()] == [SKIP] * len(pairs) else None
    of_answer = {word: [row for (row, _), said in told.items() if said == word] for word in WORDS}
    return SheetAnswer(tuple(of_answer[DIFFERENT]), tuple(of_answer[UNSURE]))
