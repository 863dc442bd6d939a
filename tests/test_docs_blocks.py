"""Every block of Python in the documentation runs, and every command in it is one."""

import contextlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import typer
from typer.testing import CliRunner

from doc_samples import write_samples
from samekind.cli import app

pytestmark = pytest.mark.slow  # `make site` runs them
ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    if not {"gallery", "api"} & set(path.relative_to(ROOT).parts)
)
# what a page takes for granted before its first block
DIGITS = "import samekind\nX, y = samekind.datasets.load_digits(return_X_y=True)\n"
GIVEN = {
    "docs/engine.md": DIGITS
    + "X, y = X[:300], y[:300]\nX_new = X[:3]\n"
    + "clusters = samekind.solve(X, samekind.LabelOracle(y), budget=300, random_state=0)\n",
    "docs/algorithms.md": "import samekind\nfrom sklearn.datasets import make_blobs\n"
    "X, y = make_blobs([60, 50], n_features=2, cluster_std=0.3, random_state=0)\n",
    "docs/data.md": "import samekind\n",
    "docs/large.md": "import numpy as np, pandas as pd\n"
    "np.save('readings.npy', pd.read_parquet('readings').drop(columns='device').to_numpy())\n",
    "docs/models.md": "import samekind, chat_server\n"
    "url = chat_server.serve_texts(dict(zip(*samekind.datasets.make_messages(120, random_state=0))))\n",
    "docs/paper.md": f"import os\nos.chdir({str(ROOT)!r})\n",
}
# what stands for something that readers have, and the tests do not
STANDS_FOR = {
    "docs/large.md": {
        ", oracle)": ", oracle, budget=20)",
        'Client("tcp://scheduler:8786")': "Client(n_workers=1, dashboard_address=':0')",
        "s3://bucket/rows/": "readings/",
        'rows.pop("kind")': 'rows.pop("device")',
        "budget=5_000": "budget=50",
    },
    "docs/models.md": {'"http://127.0.0.1:8000/v1"': "url"},
    # the same lines with less to do
    "docs/algorithms.md": {"budget=3_000": "budget=200"},
}
# what ends by itself, asks nobody and needs no network is run; of the others the options are checked
RUNS = {"backup", "check", "export", "import", "links", "move"}
DATABASE = "postgresql+psycopg://ann@db.example/kinds?"  # for which the tests have a server


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


@pytest.fixture
def here(samples, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    shutil.copytree(samples, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def link(here):
    """Serve the project of the messages; return an owner's link."""
    for package in ("fastapi", "uvicorn", "httpx"):
        pytest.importorskip(package)
    from teams import TeamServer, invite

    place = here / "messages.samekind.db"
    token = invite(place, "ann", "own")
    with TeamServer({"messages": place}) as server:
        yield f"{server.url}/p/messages/#token={token}"


def with_server(text, request):
    """Return what a page says with the database of the tests in the place of the reader's."""
    if DATABASE not in text:
        return text
    return text.replace(
        DATABASE, request.getfixturevalue("postgres_server").url("x").removesuffix("project=x")
    )


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page, language):
    fenced = re.findall(r"^```(.*)\n((?s:.*?))^```$", page.read_text("utf-8"), re.MULTILINE)
    return [text for name, text in fenced if re.fullmatch(language, name) and text.strip()]


PYTHON = [pytest.param(page, id=name_of(page)) for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", PYTHON)
def test_blocks_of_python_run(page, here, request):
    code = GIVEN.get(name_of(page), "") + "\n".join(blocks(page, "python"))
    code = with_server(code, request)
    for shown, used in STANDS_FOR.get(name_of(page), {}).items():
        assert shown in code, "the page says something else now"
        code = code.replace(shown, used)
    given = {"__name__": "__main__"}
    if "Client(link)" in code:
        given |= {
            "link": request.getfixturevalue("link"),
            "my_function": lambda a, b: a % 2 == b % 2,
        }
    exec(compile(code, name_of(page), "exec"), given)


def test_requests_by_curl_are_answered(here, link):
    if shutil.which("curl") is None or shutil.which("openssl") is None:
        pytest.skip("curl or openssl is not installed")
    url, _, token = link.partition("#token=")
    (here / "answers.csv").write_text("a,b,answer\n0,1,different\n")
    script = "\n".join(blocks(ROOT / "docs" / "api-http.md", "bash"))
    script = script.replace("http://127.0.0.1:8720/p/messages/", url)
    script = script.replace("TOKEN=…", f"TOKEN={token}")
    n_requests = script.count("curl -s ")
    script = script.replace("curl -s ", "curl -s -w '\\n%{http_code}\\n' ")
    done = subprocess.run(
        ["bash", "-ec", script], capture_output=True, text=True, cwd=here, timeout=120
    )
    statuses = re.findall(r"^\d{3}$", done.stdout, re.MULTILINE)
    assert len(statuses) == n_requests, done.stderr
    assert statuses.count("409") == 1  # the question of the example is not open here
    assert set(statuses) == {"200", "409"}
    assert ",row,kind,name," in (here / "clusters.csv").read_text()


def commands(page):
    for block in [*blocks(page, ""), *blocks(page, "(?:sh|bash|console)")]:
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if line.startswith("samekind "):
                yield shlex.split(line, comments=True)[1:]


COMMANDS = [page for page in PAGES if any(commands(page))]


@pytest.mark.parametrize("page", COMMANDS, ids=name_of)
def test_commands_are_what_they_seem(page, here, request):
    group = typer.main.get_command(app)
    for name, *arguments in commands(page):
        arguments = [with_server(argument, request) for argument in arguments]
        command, given = group.commands[name], list(arguments)
        if isinstance(command, click.Group):
            command = command.commands[given.pop(0)]
        with click.Context(group) as parent, contextlib.suppress(click.exceptions.Exit):
            command.make_context(name, given, parent=parent)
        if name in RUNS:
            result = CliRunner().invoke(app, [name, *arguments])
            assert result.exit_code == 0, (name, arguments, result.output)
