"""Clusters keep one number and one name for life; others are named by their own words (P21)."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from samekind import Ledger
from samekind.data import load
from samekind.datasets import make_messages
from samekind.project import Project, SheetAnswer, make_project, open_project
from test_ledger_faults import sql
from test_project import KINDS, ROWS, answer, cluster_of


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


@pytest.fixture
def project(file, tmp_path):
    with closing(make_project(load(file), tmp_path / "mine.db", random_state=0)) as project:
        yield project


def numbers(project):
    """Return the number of each true kind that was found."""
    return {int(KINDS[k.cluster]): k.number for k in project.overview.all().clusters}


def number_of(project, row):
    return project.kinds.ref(project.session.members_of(row)).number


class TestLedger:
    @pytest.mark.parametrize("where", [None, "mine.db"])
    def test_the_newest_row_holds_a_number(self, where, tmp_path):
        with Ledger() if where is None else Ledger(tmp_path / where) as ledger:
            before = ledger.revision
            ledger.anchor(1, 7)
            ledger.anchor(2, 0)
            ledger.anchor(1, 8)
            assert ledger.log.found == {1: 8, 2: 0}
            assert ledger.revision != before
            for number, row in ((0, 1), (1, -1)):
                with pytest.raises(ValueError):
                    ledger.anchor(number, row)
        if where is not None:
            with Ledger(tmp_path / where) as again:
                assert again.log.found == {1: 8, 2: 0}


class TestForLife:
    """P9, P21: a kind has one number, for as long as it is there."""

    def test_survive_a_restart_with_other_settings(self, project, tmp_path):
        answer(project, 60)
        before = numbers(project)
        project.close()
        for settings in ({}, {"random_state": 5}, {"lineup": 3}):
            with closing(open_project(tmp_path / "mine.db", **settings)) as again:
                assert numbers(again) == before

    def test_the_oldest_keeps_its_number_and_name_when_kinds_merge(self, project):
        answer(project, 60)
        of = {number: kind for kind, number in numbers(project).items()}
        old, new = cluster_of(project, of[2]), cluster_of(project, of[4])
        project.kinds.rename(old, "the second", who="ann")
        project.kinds.rename(new, "the fourth", who="ann")
        project.kinds.merge([new, old], who="ann")
        found = {k.number: k.name for k in project.overview.all().clusters}
        assert found == {1: None, 2: "the second", 3: None, 5: None}
        project.undo(who="ann")
        found = {k.number: k.name for k in project.overview.all().clusters}
        assert found == {1: None, 2: "the second", 3: None, 4: "the fourth", 5: None}

    def test_a_name_that_only_the_younger_has_is_not_lost(self, project):
        answer(project, 60)
        of = {number: kind for kind, number in numbers(project).items()}
        project.kinds.rename(cluster_of(project, of[3]), "threes", who="ann")
        project.kinds.merge([cluster_of(project, of[3]), cluster_of(project, of[1])], who="ann")
        assert {k.number: k.name for k in project.overview.all().clusters}[1] == "threes"

    def test_what_is_taken_out_takes_neither_number_nor_name_along(self, project):
        answer(project, 60)
        kind = next(k for k in project.overview.all().clusters if k.known > 3)
        project.kinds.rename(kind.cluster, "mine", who="ann")
        rest = [row for row in project.session.members_of(kind.cluster) if row != kind.cluster]
        project.kinds.remove(kind.cluster, [kind.cluster], who="ann")  # the row that stands for it
        found = {k.number: k for k in project.overview.all().clusters}
        assert found[kind.number].name == "mine"
        assert number_of(project, rest[0]) == kind.number
        assert all(k.name is None for number, k in found.items() if number != kind.number)
        project.undo(who="ann")
        assert number_of(project, kind.cluster) == kind.number
        assert {k.number: k.name for k in project.overview.all().clusters}[kind.number] == "mine"

    def test_a_changed_answer_leaves_the_number_with_most_rows(self, project):
        answer(project, 60)
        kind = next(k for k in project.overview.all().clusters if k.known > 3)
        rest = [row for row in project.session.members_of(kind.cluster) if row != kind.cluster]
        chain = "".join(f"{a},{b},same\n" for a, b in pairwise(rest))
        project.answers.import_csv(
            f"a,b,answer\n{chain}", who="ann"
        )  # they hang together without it
        lines = project.session.ledger.active()[["a", "b", "answer"]].tolist()
        for a, b, said in lines:
            if said == 1 and kind.cluster in (a, b):
                project.answers.correct(a, b, "different", who="ann")
        assert not set(project.session.members_of(kind.cluster)) & set(rest)
        assert {number_of(project, row) for row in rest} == {kind.number}

    def test_undoing_and_answering_again_gives_the_same_numbers(self, project):
        """P2: and so does answering otherwise."""
        asked = answer(project, 40)
        before = numbers(project)
        project.undo(len(asked), who="ann")
        answer(project, 80)
        assert {kind: number for kind, number in numbers(project).items() if kind in before}
        after = sorted(numbers(project).values())
        assert len(set(after)) == 5

    def test_two_servers_agree(self, file, tmp_path):
        """P6: on numbers and names."""
        one = make_project(load(file), tmp_path / "mine.db", random_state=0)
        other = open_project(tmp_path / "mine.db")
        with closing(one), closing(other):
            for _ in range(30):
                for project, who in ((one, "ann"), (other, "bob")):
                    answer(project, 1, who=who)
            assert numbers(one) == numbers(other)
            held = sql(tmp_path / "mine.db", "SELECT ref FROM events WHERE kind = 'found'")
            assert len(set(held)) == len(held)

    def test_one_number_everywhere(self, project, tmp_path):
        """P21: on the page, in the report and in every export."""
        answer(project, 60)
        project.kinds.rename(cluster_of(project, 2), "twos", who="ann")
        shown = {
            k.cluster: (k.number, k.name or k.proposed_name)
            for k in project.overview.all().clusters
        }
        for name in ("clusters.csv", "clusters.json", "report.html"):
            project.export(name, tmp_path / name)
        table = pd.read_csv(tmp_path / "clusters.csv")
        for row, (number, name) in shown.items():
            assert table.loc[row, ["kind", "name"]].tolist() == [number, name]
            page = project.overview.one(row)
            assert (page.number, page.name or page.proposed_name) == (number, name)
        kinds = json.loads((tmp_path / "clusters.json").read_text())["kinds"]
        assert {(kind["kind"], kind["name"]) for kind in kinds} == set(shown.values())
        drawn = project.overview.map()
        assert dict(zip(drawn.clusters, drawn.numbers, strict=True)) == {
            row: number for row, (number, _) in shown.items()
        }
        report = (tmp_path / "report.html").read_text()
        assert "when to stop" in report
        number = dict(shown.values())
        assert f"twos ({next(n for n, name in number.items() if name == 'twos')})" in report


class TestProposedNames:
    @pytest.fixture
    def messages(self, tmp_path):
        texts, topics = make_messages(240, random_state=0)
        pd.DataFrame({"text": texts}).to_csv(tmp_path / "messages.csv", index=False)
        items = load(tmp_path / "messages.csv", text="text", features="words")
        project = Project(items, random_state=0, sheet=0)
        for _ in range(60):
            [question] = project.next("ann") or [None]
            if question is None:
                break
            said = "none"
            if question.type == "pair":
                same = topics[question.a.row] == topics[question.b.row]
                said = "same" if same else "different"
            else:
                for option in question.options:
                    if topics[option.cluster] == topics[question.item.row]:
                        said = option.cluster
            project.answer(question.id, said, who="ann")
        return project

    def test_are_the_clusters_own_words(self, messages):
        found = messages.overview.all().clusters
        assert len(found) > 5
        proposed = [k.proposed_name for k in found]
        assert len(set(proposed)) == len(proposed)
        assert not any(name.startswith("kind ") for name in proposed)
        for kind in found:
            own = " ".join(
                member.text.lower()
                for member in messages.overview.one(kind.cluster, limit=500).members
            )
            assert kind.name is None
            assert all(word in own for word in kind.proposed_name.split(", "))

    def test_are_words_that_say_something_each_in_one_form(self, tmp_path):
        fillers = [
            "I don't know how to get it",
            "There's a thing I want, please help",
            "It can't work",
        ]
        about = {
            "rate": [
                "the exchange rate is off",
                "exchange rate: who sets it?",
                "exchange rate is old",
            ],
            "pin": ["verify my pin", "verifying the pin takes ages", "the pin verification fails"],
        }
        texts, kinds = [], []
        for number, sayings in enumerate(about.values()):
            for k in range(60):
                texts.append(f"{fillers[k % 3]}. {sayings[k % len(sayings)].capitalize()} {k}.")
                kinds.append(number)
        pd.DataFrame({"text": texts}).to_csv(tmp_path / "x.csv", index=False)
        items = load(tmp_path / "x.csv", text="text", features="words")
        project = Project(items, random_state=0, lineup=0, sheet=0)
        while (asked := project.next("ann")) and project.status().presses < 20:
            [question] = asked
            is_same = kinds[question.a.row] == kinds[question.b.row]
            project.answer(question.id, "same" if is_same else "different", who="ann")
        rate, pin = (
            next(
                k.proposed_name for k in project.overview.all().clusters if word in k.proposed_name
            )
            for word in about
        )
        assert "exchange rate" in rate.split(", ")
        assert sum(word.startswith("verif") for word in pin.split(", ")) == 1
        empty = {"don", "don't", "there", "there's", "can", "can't", "know", "thing", "want"}
        assert empty.isdisjoint(f"{rate}, {pin}".split(", "))

    def test_questions_call_them_the_same(self, messages):
        proposed = {k.number: k.proposed_name for k in messages.overview.all().clusters}
        [question] = messages.next("ann")
        refs = [question.b_cluster] if question.type == "pair" else question.options
        for ref in refs:
            assert proposed[ref.number] == ref.proposed_name

    def test_no_name_in_an_export_is_empty(self, messages, tmp_path):
        messages.export("clusters.csv", tmp_path / "c.csv")
        table = pd.read_csv(tmp_path / "c.csv", keep_default_na=False)
        assert (table["name"].str.len() > 0).all()
        assert table["name_is_proposed"].all()

    def test_a_name_that_was_given_is_not_marked(self, messages, tmp_path):
        first = messages.overview.all().clusters[0]
        messages.kinds.rename(first.cluster, "mine")
        messages.export("clusters.csv", tmp_path / "c.csv")
        table = pd.read_csv(tmp_path / "c.csv")
        assert set(table.loc[table["kind"] == first.number, "name"]) == {"mine"}
        assert not table.loc[table["kind"] == first.number, "name_is_proposed"].any()

    def test_rows_of_a_table_are_called_by_telling_values(self, tmp_path):
        rng = np.random.default_rng(0)
        kind = np.repeat([0, 1, 2], 40)
        table = pd.DataFrame(
            {
                "colour": np.array(["red", "green", "blue"])[kind],
                "coin": rng.choice(["heads", "tails"], 120),
                "size": 5.0 * kind + rng.normal(size=120),
            }
        )
        table.to_csv(tmp_path / "rows.csv", index=False)
        project = Project(load(tmp_path / "rows.csv"), random_state=0)
        for _ in range(30):
            questions = project.next("ann")
            if not questions:
                break
            [question] = questions
            if question.type == "sheet":
                own = kind[question.cluster.cluster]
                said = SheetAnswer([i.row for i in question.items if kind[i.row] != own])
            elif question.type == "pair":
                said = "same" if kind[question.a.row] == kind[question.b.row] else "different"
            else:
                own = [
                    o.cluster
                    for o in question.options
                    if kind[o.cluster] == kind[question.item.row]
                ]
                said = own[0] if own else "none"
            project.answer(question.id, said, who="ann")
        assert {k.proposed_name for k in project.overview.all().clusters} == {
            "colour: red",
            "colour: green",
            "colour: blue",
        }
