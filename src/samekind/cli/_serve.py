"""``samekind serve``."""

from __future__ import annotations

from samekind.cli import _options as options
from samekind.cli import _team_options as team
from samekind.cli._errors import UserError, explained, needs, users_values
from samekind.cli._places import no_project, place_of
from samekind.cli._words import chat

EXAMPLES = """[bold]Examples[/bold]

samekind serve messages.samekind.db photos.samekind.db

samekind serve messages.samekind.db --host 0.0.0.0 --name kinds.example --certificate cert.pem --key key.pem

samekind serve messages.samekind.db --overlap 2

samekind serve 'postgresql+psycopg://ann@db.example/kinds?project=messages' --behind-proxy 127.0.0.1 --name kinds.example
"""  # noqa: E501


@explained
def serve(
    projects: team.Served,
    host: team.ServeHost = "127.0.0.1",
    port: team.ServePort = None,
    name: team.ServerNames = None,
    certificate: team.Certificate = None,
    key: team.Key = None,
    root_path: team.RootPath = "",
    behind_proxy: team.BehindProxy = None,
    overlap: options.Overlap = None,
) -> int:
    """Serve projects to a team: everybody comes in by a link of their own.

    samekind invite makes the links. SIGTERM or Ctrl-C ends it; every answer is kept.
    """
    from rich.console import Console

    from samekind.project import check_overlap

    if overlap is not None:
        with users_values():
            check_overlap(overlap)
    if (certificate is None) != (key is None):
        raise UserError("--certificate and --key belong together: give both, or neither.")
    for file in (certificate, key):
        if file is not None and not file.is_file():
            raise UserError(f"{file} does not exist. Check the name.")
    root = f"/{root_path.strip('/')}" if root_path.strip("/") else ""
    screen = Console(stderr=True)
    with needs():
        from samekind.web import ServeError, name_projects, serve_team
        from samekind.web.logs import write_logs
        from samekind.web.server import Tls
    try:
        places = name_projects(
            [(called, place_of(place)) for called, place in map(team.split_name, projects)]
        )
        for place in places.values():
            if why := no_project(place):  # a damaged one is tried again while others are served
                raise UserError(why)
        write_logs()

        def ready(address: str) -> None:
            pages = "\n".join(f"  {address}p/{called}/" for called in places)
            chat(
                screen,
                f"\nThe pages are at\n{pages}\nPeople open them by their links: samekind invite PROJECT NAME "
                f"--url {address.rstrip('/')}\nCtrl-C stops it; every answer is kept.",
            )

        serve_team(
            places,
            host,
            port,
            names=name or (),
            root_path=root,
            proxies=behind_proxy or (),
            tls=None if certificate is None or key is None else Tls(certificate, key),
            on_ready=ready,
            overlap=overlap,
        )
    except ServeError as error:
        raise UserError(str(error)) from error
    return 0
