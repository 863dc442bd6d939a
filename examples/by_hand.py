"""
A session by hand
=================

Drive a session yourself: leave at any time, undo, come back, and nothing is asked twice.
"""

import tempfile
from pathlib import Path

import samekind

words = ["cat", "rose", "tiger", "tulip", "lion", "daisy", "lynx", "iris", "puma", "lily"]
animals = {"cat", "tiger", "lion", "lynx", "puma"}
X = [[len(word), word.count("i"), ord(word[0])] for word in words]  # poor features will do


def expert(a: int, b: int) -> bool:
    return (words[a] in animals) == (words[b] in animals)


with tempfile.TemporaryDirectory() as folder:
    project = Path(folder, "words.db")

    with samekind.Session(X, ledger=project, random_state=0) as session:
        for _ in range(3):
            [(a, b)] = session.pending()
            session.tell([(a, b)], [expert(a, b)], who="ann")
        session.undo()  # the last answer was a slip
        print("ann answered", len(session.ledger), "questions and went home")

    with samekind.Session(X, ledger=project) as session:
        while not session.done:
            pairs = session.pending()
            session.tell(pairs, [expert(a, b) for a, b in pairs], who="bob")
        clusters = session.clusters()
        by_whom = [entry.who for entry in session.ledger.lines() if not entry.retracted]

print("ann gave", by_whom.count("ann"), "answers, bob", by_whom.count("bob"))
for members in clusters.members_:
    print("a kind:", ", ".join(words[row] for row in members))
