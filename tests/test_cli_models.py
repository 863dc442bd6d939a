"""Commands with a model or a program that answers."""

from __future__ import annotations

import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from chat_server import KEY, KindModel, running
from conftest import blobs
from samekind.cli import app

JUDGE = """
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    kinds = [q[side].partition("kind: ")[2][:1] for side in ("a_text", "b_text")]
    print(json.dumps({"id": q["id"], "answer": "same" if len(set(kinds)) == 1 else "different"}), flush=True)
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = blobs()
    frame = pd.DataFrame({"kind": [f"{label}" for label in y], "x": X[:, 0], "y": X[:, 1]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def chat(url, table, *more):
    return invoke(
        *(
            "run",
            table,
            "--exclude",
            "kind",
            "--show",
            "kind",
            "--oracle",
            f"chat:test-model@{url}",
        ),
        *("--criterion", "The kind is the same.", "--seed", "0"),
        *more,
    )


class TestLabel:
    def label(self, url, table, stdin):
        options = ("--model", f"test-model@{url}", "--criterion", "The same kind.")
        shown = ("--exclude", "kind", "--show", "kind", "--terminal", "--set", "random_state=0")
        command = ["label", str(table), *shown, *options]
        return CliRunner().invoke(app, command, input=stdin)

    def test_a_model_that_is_not_there_leaves_the_questions_to_people(self, table, monkeypatch):
        monkeypatch.setattr("samekind.oracles.chat.client.FIRST_PAUSE", 0.01)
        done = self.label("http://127.0.0.1:9/v1", table, "d\nq\n")
        said = " ".join(done.output.split())
        assert "other people" not in said
        assert "1 press" in said

    def test_one_waits_for_what_a_model_leaves(self, table):
        with running(KindModel(delay=0.3)) as url:
            done = self.label(url, table, "q\n")
        assert "test-model answers" in done.output
        assert "Press 1" in done.output
        assert "other people" not in done.output


class TestRun:
    def test_a_model_answers_and_nobody_checks(self, table, monkeypatch):
        monkeypatch.setenv("SAMEKIND_CHAT_KEY", KEY)
        with running(KindModel(needs_key=True)) as url:
            done = chat(url, table, "--price", "1,2", "--budget", "60")
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.replace("│", " ").split())
        assert "Nobody checked any of them" in said.replace("note", "")
        written = table.parent / "samekind-run"
        assert KEY not in done.output
        for file in written.iterdir():
            assert KEY.encode() not in file.read_bytes(), file
        assert (written / "project.db").exists()

    def test_a_dry_run_sends_nothing(self, table):
        model = KindModel()
        with running(model) as url:
            done = chat(url, table, "--price", "1,2", "--budget", "500", "--dry-run")
        assert done.exit_code == 0
        assert "500 questions to test-model are about" in done.output
        assert not model.calls
        assert not (table.parent / "samekind-run").exists()

    def test_a_server_that_fails_leaves_what_is_known(self, table, monkeypatch):
        monkeypatch.setattr("samekind.oracles.chat.asker.UNREADABLE_RUN", 2)
        with running(KindModel(faults={"garbage": 1.0})) as url:
            done = chat(url, table)
        assert done.exit_code == 2
        assert "cannot be read" in done.output
        assert (table.parent / "samekind-run" / "clusters.csv").exists()

    def test_a_program_answers(self, table):
        script = table.parent / "judge.py"
        script.write_text(JUDGE)
        done = invoke(
            *("run", table, "--exclude", "kind", "--show", "kind", "--labels", "kind"),
            *("--oracle", f"command:{sys.executable} {script}", "--budget", "60"),
        )
        assert done.exit_code == 0, done.output
        assert "answered" in done.output

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            (["--oracle", "chat:http://127.0.0.1:9/v1"], "NAME@URL"),
            (["--oracle", "chat:m@http:nowhere", "--criterion", "c"], "must be the address"),
            (["--oracle", "nobody"], "labels, terminal, chat:NAME@URL or command:PROGRAM"),
            (["--oracle", "command:no-such-thing", "--budget", "3"], "cannot be run"),
        ],
    )
    def test_what_is_missing_is_said(self, table, options, error):
        done = invoke("run", table, *options)
        assert done.exit_code == 2
        assert error in " ".join(done.output.split())
