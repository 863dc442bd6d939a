"""``samekind mcp``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

from samekind.cli import _options as options
from samekind.cli._errors import explained, needs, users_values

EXAMPLES = """[bold]Examples[/bold]

samekind mcp messages.samekind.db

samekind mcp messages.samekind.db --who robot --role answer
"""
AgentName = Annotated[str, options.plain("NAME", "The agent's name beside its answers.", "--who")]
AgentRole = Annotated[
    Literal["answer", "review", "own"],
    options.plain(
        "ROLE",
        "answer: answers questions. review: also looks at kinds, searches and names. own: also exports.",
        "--role",
    ),
]
AgentFolder = Annotated[Path, options.plain("DIR", "The folder for exports.", "--out", "-o")]


@explained
def mcp(
    project: options.ProjectFile,
    who: AgentName = "agent",
    role: AgentRole = "own",
    out: AgentFolder = Path("samekind-export"),
) -> int:
    """Let an agent answer questions about a project, as an MCP server on stdin and stdout.

    The agent is an annotator with a name. People can answer at the same time, on a page.
    """
    with needs():
        from samekind.mcp_tools import make_server
    from samekind.project import open_project
    from samekind.project.words import check_name

    with users_values(project):
        name = check_name(who, "The name of an agent")
        opened = open_project(project)
    with closing(opened):
        make_server(opened, name, role, out.absolute()).run("stdio")
    return 0
