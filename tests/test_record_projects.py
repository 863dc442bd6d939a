"""Projects of records: entities, the threshold, exports, and answers of other tools; on the page, too."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import samekind
from samekind.cli import app
from samekind.data import Items
from samekind.datasets import make_records
from samekind.project import Project, ProjectError, make_project, open_project
from samekind.project.golden import golden_records, parse_rules


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    frame, person = make_records(400, 0.3, random_state=0)
    frame.assign(person=person).to_csv(folder / "people.csv", index=False)
    return samekind.load(folder / "people.csv", records=True, labels="person")


def answered(items, count=40, **settings):
    project = Project(items, algorithm="records", random_state=0, **settings)
    for _ in range(count):
        [question] = project.next("ann")
        same = items.labels[question.a.row] == items.labels[question.b.row]
        project.answer(question.id, "same" if same else "different", who="ann")
    return project


@pytest.fixture(scope="module")
def project(people):
    return answered(people)


def exported(project, name):
    file = io.BytesIO()
    project.export(name, file)
    return file.getvalue()


def table(project, name):
    return pd.read_csv(io.BytesIO(exported(project, name)), dtype=str)


def test_a_question_is_about_a_likely_pair(people):
    project = Project(people, algorithm="records", random_state=0)
    [question] = project.next("ann")
    assert question.a.fields
    assert question.id.startswith("p-")


def test_the_overview_shows_entities_of_several_records_with_names(project):
    found = project.overview.all()
    assert found.clusters
    assert all(cluster.estimated > 1 for cluster in found.clusters)
    assert all(cluster.proposed_name for cluster in found.clusters)
    assert "pairs" in found.certificate.text


def test_a_higher_threshold_finds_fewer_pairs_and_says_which(people):
    """P18: and fewer pairs are expected to be wrong."""
    project = answered(people, 12)
    low, high = project.entities.at(0.001), project.entities.at(0.9999)
    assert low.entities <= high.entities
    assert low.duplicates >= high.duplicates
    for found in (low, high):  # a bound is said when it is audited
        assert (found.precision_bound is None) == (found.audited == 0)
    assert low.kept == 0.5
    changed = low.joined + low.parted
    assert (changed > 0) == bool(low.changed)
    project.entities.set_threshold(0.9999)
    assert project.entities.at(0.9999).joined == 0
    assert table(project, "entities.csv")["entity"].nunique() == high.entities


def test_every_record_has_an_entity(project, people):
    """P21: one number a record, in every file."""
    found = table(project, "entities.csv")
    assert list(found.columns[-3:]) == ["entity", "records", "probability"]
    assert len(found) == people.n
    sizes = found.groupby("entity")["entity"].transform("size")
    assert (sizes.astype(str) == found["records"]).all()


def test_a_golden_record_has_the_most_frequent_values(project):
    rows, golden = table(project, "entities.csv"), table(project, "golden.csv")
    assert len(golden) == rows["entity"].nunique()
    several = golden[golden["records"].astype(int) > 2].iloc[0]
    own = rows[rows["entity"] == several["entity"]]
    for name in ("surname", "town", "birth"):
        counts = own[name].dropna().value_counts()
        assert counts[several[name]] == counts.max()


def test_golden_values_follow_rules_and_say_where_they_are_from():
    frame = pd.DataFrame(
        {
            "name": ["Ann", "Ann", "Annabel", "Bob"],
            "phone": ["1", "2", "", "9"],
            "shop": ["x", "x", "y", "y"],
            "seen": ["2020-01-02", "2021-03-04", "2024-05-06", "2019-01-01"],
        }
    )
    labels = np.array([0, 0, 0, 1])
    rules = parse_rules("name:longest,phone:newest:seen,*:source:shop=y", list(frame.columns))
    golden, sources = golden_records(frame, labels, rules)
    # The newest record has no phone; the newest that has one decides.
    assert golden.to_numpy().tolist() == [["Annabel", "2", "y", "2024-05-06"], list(frame.iloc[3])]
    rows = sources.set_index("column")["row"].to_dict()
    assert rows == {"name": 2, "phone": 1, "shop": 2, "seen": 2}
    usual, _ = golden_records(frame, labels, {})
    assert usual["name"].tolist() == ["Ann", "Bob"]


def test_a_project_keeps_the_rules_of_golden_records(people):
    project = answered(people, 5)
    project.entities.set_golden_rules("surname:longest")
    assert project.entities.golden_rules == {"surname": "longest"}
    golden, sources = table(project, "golden.csv"), table(project, "golden_sources.csv")
    assert set(sources["rule"]) == {"longest", "frequent"}
    assert set(sources["entity"]) == set(golden.loc[golden["records"] != "1", "entity"])
    golden = golden.set_index("entity")
    for line in sources.head(20).itertuples():
        assert golden.loc[line.entity, line.column] == line.value


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("surnam:longest", "Did you mean 'surname'"),
        ("surname:shortest", "frequent, longest, newest:COLUMN or source:COLUMN=VALUE"),
        ("surname:newest:when", "no column 'when'"),
        ("surname:source:town", "a column and a value"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(project, rules, words):
    with pytest.raises(ProjectError, match=words):
        project.entities.set_golden_rules(rules)


@pytest.mark.parametrize(("name", "share"), [("splink.csv", 1.0), ("dedupe.json", 0.9)])
def test_answers_go_to_other_tools_and_come_back(project, people, name, share):
    text = exported(project, name).decode()
    other = Project(people, algorithm="records", random_state=1)
    # dedupe names records by their fields, so of rows that are the same in all of them one is meant.
    assert other.answers.import_csv(text).news >= share * len(project.session.ledger)
    pairs = np.array([(line.a, line.b) for line in project.session.ledger.lines()])
    before, after = (some.session.ledger.lookup(pairs) for some in (project, other))
    known = np.isin(after, (samekind.SAME, samekind.DIFFERENT))
    assert known.mean() >= share
    np.testing.assert_array_equal(before[known], after[known])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"match": 1}', "no training file of dedupe"),
        ("{" * 100_000, "no training file of dedupe"),
        ("\u00cb\r\u00e9,b\r1,2", "must name the columns a, b and answer"),
        ("a" * 200_000, "not a CSV file"),
        ('{"match": [], "distinct": [[{"surname": "?"}, {"surname": "!"}]]}', "not in the data"),
        (
            "unique_id_l,unique_id_r,clerical_match_score\n1,2,x\n",
            "clerical_match_score is a number",
        ),
    ],
)
def test_a_damaged_file_of_another_tool_is_refused(project, text, words):
    with pytest.raises(ProjectError, match=words):
        project.answers.import_csv(text)


def test_a_project_of_records_is_opened_again(people, tmp_path):
    """P5: with the same question."""
    path = tmp_path / "people.db"
    project = make_project(people, path, algorithm="records", random_state=0)
    [question] = project.next("ann")
    project.answer(question.id, "same", who="ann")
    project.entities.set_threshold(0.9)
    project.close()
    again = open_project(path)
    assert again.status().records
    assert again.status().questions == 1
    assert again.entities.threshold == 0.9
    again.close()


def test_new_records_join_known_entities_and_ids_stay(tmp_path):
    """P9: entities keep their ids."""
    frame, person = make_records(150, 0.3, random_state=1)
    frame = frame.assign(person=person, code=[f"c{row}" for row in range(len(frame))])
    is_new = pd.Series(person).duplicated().to_numpy() & (np.arange(len(frame)) % 2 == 0)
    data, path = tmp_path / "people.csv", tmp_path / "people.db"

    def ids(project):
        return table(project, "entities.csv").set_index("code")["entity"]

    frame[~is_new].to_csv(data, index=False)
    items = samekind.load(data, records=True, labels="person", exclude=["code"])
    project = make_project(items, path, algorithm="records", random_state=0)
    for _ in range(40):
        [question] = project.next("ann")
        same = items.labels[question.a.row] == items.labels[question.b.row]
        project.answer(question.id, "same" if same else "different", who="ann")
    before = ids(project)
    project.close()

    pd.concat([frame[is_new], frame[~is_new].sample(frac=1, random_state=0)]).to_csv(
        data, index=False
    )
    project = open_project(path)
    after = ids(project)
    assert project.status().questions == 40
    assert (after[before.index] == before).mean() > 0.98
    owner = frame.assign(entity=after[frame["code"]].to_numpy())
    known = owner[~is_new].groupby("person")["entity"].first()
    joined = owner[is_new]["entity"].to_numpy() == known[owner[is_new]["person"]].to_numpy()
    assert joined.mean() > 0.8  # a few are in doubt after 40 answers
    project.close()


def test_items_that_are_no_records_have_no_threshold():
    items = Items.of_array(np.eye(4), "eye", list("abcd"))
    project = Project(items, algorithm="basic", random_state=0)
    assert not project.status().records
    with pytest.raises(ProjectError, match="Only records"):
        project.entities.at(0.5)
    for name in ("entities.csv", "golden_sources.csv", "pairs.csv", "splink.csv", "dedupe.json"):
        with pytest.raises(ProjectError, match=f"{name} can be had only of records"):
            project.export(name, io.BytesIO())


# Commands and Python


def test_two_files_are_linked(people):
    frame = people.frame
    first = ~frame["person"].duplicated()
    later = frame[~first].drop_duplicates("person")
    a, b = frame[first].reset_index(drop=True), later.reset_index(drop=True)
    asked = []

    def same(i, j):
        asked.append((i, j))
        return a["person"][i] == b["person"][j]

    own = [name for name in a.columns if name != "person"]
    found = samekind.link(a[own], b[own], same, budget=60, random_state=0)
    assert all(0 <= i < len(a) and 0 <= j < len(b) for i, j in asked)
    links = pd.Series(found.labels_[len(a) :])
    assert len(found.labels_) == len(a) + len(b)
    right = [a["person"][found.labels_[: len(a)] == label].tolist() for label in links]
    hits = sum(list(r) == [p] for r, p in zip(right, b["person"], strict=True))
    assert hits >= 0.9 * len(b)


def test_three_files_are_linked_and_a_column_may_be_missing_in_one(tmp_path):
    names = [
        "Ann Lee",
        "Bob Ray",
        "Cyd Dow",
        "Dora Penn",
        "Eve Holt",
        "Fay Marsh",
        "Gus Nye",
        "Hal Orr",
    ]
    towns = ["Ulm", "Bonn", "Kiel", "Jena", "Hof", "Trier", "Essen", "Worms"]
    one = pd.DataFrame({"name": names, "town": towns})
    two = pd.DataFrame({"called": [f"{name}e" for name in names[:5]], "phone": range(5)})
    three = pd.DataFrame({"name": names[3:], "town": towns[3:]})
    for place, frame in zip("abc", (one, two, three), strict=True):
        frame.to_csv(tmp_path / f"{place}.csv", index=False)
    given = {"other": [tmp_path / "b.csv", tmp_path / "c.csv"], "columns": ["name=called"]}
    items = samekind.load(tmp_path / "a.csv", **given, compare="name:name,town:name")
    files = items.points.files
    a, b = items.points.candidates.pairs.T
    assert (files[a] != files[b]).all()
    truth = np.concatenate([np.arange(8), np.arange(5), np.arange(3, 8)])
    oracle = samekind.LabelOracle(truth)
    found = samekind.solve(items, oracle, algorithm="records", random_state=0)
    assert (found.labels_[:8][truth] == found.labels_).all()
    assert items.show(8).fields[0] == ("file", "b.csv")
    again = samekind.load(**items.recipe())
    assert again.points.files.tolist() == files.tolist()


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_runs_on_records(people, tmp_path):
    path = Path(people.path)
    out = tmp_path / "out"
    done = run("run", path, "--records", "--labels", "person", "--budget", 30, "--out", out)
    assert done.exit_code == 0, done.output
    assert (out / "clusters.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{a}", "--link", "none.csv", "--terminal"], "none.csv does not exist"),
        (["{a}", "--link", "{b}", "--terminal"], "--columns surname=last_name"),
        (
            ["{a}", "--link", "{a}", "--compare", "surnam", "--terminal"],
            "no column 'surnam', which --compare names",
        ),
    ],
)
def test_what_cannot_be_linked_is_said(tmp_path, arguments, words):
    (tmp_path / "a.csv").write_text("surname\nLee\nRay\n")
    (tmp_path / "b.csv").write_text("last_name\nLee\nRoy\n")
    given = [one.format(a=tmp_path / "a.csv", b=tmp_path / "b.csv") for one in arguments]
    done = run("label", *given, "--project", tmp_path / "x.db")
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
