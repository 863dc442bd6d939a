"""
A labelling project
===================

What `samekind label messages.csv --text message` does, with a person who is a dictionary.
"""

import csv
import tempfile
from pathlib import Path

from samekind.data import load
from samekind.project import (
    LineupQuestion,
    SheetAnswer,
    SheetQuestion,
    make_project,
    open_project,
)

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
    data, path = Path(folder, "messages.csv"), Path(folder, "messages.db")
    data.write_text("message\n" + "\n".join(messages), encoding="utf-8")

    project = make_project(load(data, text="message"), path, random_state=0)
    while questions := project.next("ann"):
        [question] = questions
        if isinstance(question, LineupQuestion):  # one item beside several clusters
            kind = kinds[question.item.row]
            fits = [o.cluster for o in question.options if kinds[o.cluster] == kind]
            project.answer(question.id, fits[0] if fits else "none", who="ann")
        elif isinstance(question, SheetQuestion):  # items that are likely in one cluster
            kind = kinds[question.cluster.cluster]
            others = [item.row for item in question.items if kinds[item.row] != kind]
            project.answer(question.id, SheetAnswer(others), who="ann")
        else:
            same = kinds[question.a.row] == kinds[question.b.row]
            project.answer(question.id, "same" if same else "different", who="ann")
    for found in project.overview.all().clusters:
        project.kinds.rename(found.cluster, kinds[found.cluster])
    now = project.status()
    print(f"{now.clusters} kinds, {now.questions} questions answered with {now.presses} keys")
    project.close()

    project = open_project(path)  # tomorrow
    project.export("clusters.csv", Path(folder, "clusters.csv"))
    new = Path(folder, "new.csv")
    new.write_text("message\nclose the account\n", encoding="utf-8")
    cluster = project.clusters().predict(project.items.load_new(new).X)[0]
    members = project.clusters().members_[cluster].tolist()
    print("“close the account” is of the kind", project.kinds.name_of(members))
    project.close()
    with open(Path(folder, "clusters.csv"), encoding="utf-8", newline="") as file:
        for row in list(csv.DictReader(file))[:3]:
            print(f"{row['message']}: {row['name']}")
