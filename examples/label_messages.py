"""What `samekind label messages.csv --text message` does, with a person who is a dictionary."""

import csv
import tempfile
from pathlib import Path

from samekind import load
from samekind.desk import LineUp, make_desk, open_desk

messages = {
    "where is my new card": "card",
    "my card has not come": "card",
    "when does the card arrive": "card",
    "is my card lost in the post": "card",
    "please close my account": "close",
    "how do I close an account": "close",
    "I want to close my account now": "close",
    "the app crashes when I log in": "app",
    "app crash at login": "app",
    "the app does not start": "app",
}
kinds = list(messages.values())

with tempfile.TemporaryDirectory() as folder:
    data, project = Path(folder, "messages.csv"), Path(folder, "messages.db")
    data.write_text("message\n" + "\n".join(messages), encoding="utf-8")

    desk = make_desk(load(data, text="message"), project, random_state=0)
    while questions := desk.next("ann"):
        [question] = questions
        if isinstance(question, LineUp):  # one thing beside several kinds
            fits = [o.kind for o in question.options if kinds[o.kind] == kinds[question.row]]
            desk.answer(question.id, fits[0] if fits else "none", who="ann")
        else:
            same = kinds[question.a] == kinds[question.b]
            desk.answer(question.id, "same" if same else "different", who="ann")
    for kind in desk.outline().kinds:
        desk.rename(kind.kind, kinds[kind.kind])
    now = desk.standing()
    print(f"{now.kinds} kinds, {now.questions} questions answered with {now.clicks} keys")
    desk.close()

    desk = open_desk(project)  # tomorrow
    desk.export("clusters.csv", Path(folder, "clusters.csv"))
    new = Path(folder, "new.csv")
    new.write_text("message\nclose the account\n", encoding="utf-8")
    cluster = desk.clusters().predict(desk.things.load_new(new).X)[0]
    members = desk.clusters().members_[cluster].tolist()
    print("“close the account” is of the kind", desk.name_of(members))
    desk.close()
    with open(Path(folder, "clusters.csv"), encoding="utf-8", newline="") as file:
        for row in list(csv.DictReader(file))[:3]:
            print(f"{row['message']}: {row['name']}")
