"""The arguments of the command line, and what becomes of its errors."""

from __future__ import annotations

import os
import signal
import sys
from argparse import (
    SUPPRESS,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from gqlnb.cli import lab
from gqlnb.cli.output import translate_for_shell
from gqlnb.client.auth_headers import parse_header_options
from gqlnb.errors import GqlnbError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["build_parser", "main"]

_INTERRUPTED = 128 + signal.SIGINT  # what a shell reports for a command ended by Ctrl-C
_GITHUB_HELP = """It has the shape of GitHub's GraphQL API and answers from real repositories, or from as
many as it is told to make up, until Ctrl-C; on request with the faults that harvesters
meet there, which gqlnb.github.Simulation explains:
  gqlnb github --population 3000000 --simulate ties --simulate gateway=0.01"""
_SERVE_HELP = """It answers at /graphql, with a page for browsers. A module is looked for in the current
folder, too; without one the reference schema is served, which answers { hello }:
  gqlnb serve shop:schema --port 8000"""
_QUERY_HELP = """The answer is printed as JSON, or its rows as a table or CSV:
  gqlnb query '{ repository(owner: "torvalds", name: "linux") { stargazerCount } }' -c demo
The exit code is 1 if it holds errors; what came is printed all the same."""
_STARS_HELP = """Quote the threshold, since a shell takes > for a redirection:
  gqlnb stars '>100000' --limit 10
With --all, or a larger limit, it goes past the 1,000 results of a search. Into a folder, --all
goes on where it was when the same command is run again, whatever ended it:
  gqlnb stars '>1000' --all --parquet stars/
The exit code is 3 if some of them could not be had."""
_EXIT_CODES_HELP = """exit codes: 0 all went well, 1 something failed and stderr says what, 2 the arguments
can't be read, 3 some repositories could not be had (stars --all). Each command
explains itself: gqlnb COMMAND --help"""
_CONNECTION_HELP = (
    "a connection (demo, github), or a URL; by default GQLNB_URL, else "
    "http://127.0.0.1:4000/graphql"
)

_COMMAND_HELP = {
    "lab": "Every further argument goes to JupyterLab.",
    "query": _QUERY_HELP,
    "schema": "In the schema language, with descriptions, as gqlnb.Client(schema=FILE) reads it:\n"
    "  gqlnb schema -c demo > github.graphql",
    "serve": _SERVE_HELP,
    "stars": _STARS_HELP,
    "github": _GITHUB_HELP,
    "completion": "For this session of bash, or for each when it stands in ~/.bashrc:\n"
    '  eval "$(gqlnb completion bash)"',
    "scrub": "With --dry-run the exit code is 1 if there are any: a check before a commit.",
}


def _parse_port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        msg = f"{text!r} is no TCP port; give 0 to 65535, 0 for any free one"
        raise ArgumentTypeError(msg)
    return port


def _parse_limit(text: str) -> int | None:
    if text == "all":
        return None
    try:
        limit = int(text)
    except ValueError:
        limit = 0
    if limit < 1:
        msg = f"{text!r} is no limit; give a number from 1 on, or: all"
        raise ArgumentTypeError(msg)
    return limit


def _parse_count(text: str) -> int:
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        msg = f"{text!r} is no number of repositories"
        raise ArgumentTypeError(msg) from None


def _run_lab(options: Namespace) -> int:
    return lab.start_lab(
        options.dir, port=options.port, browser=options.browser, rest=options.jupyterlab
    )


def _run_serve(options: Namespace) -> int:
    from gqlnb.cli import serve_command
    from gqlnb.http.server_rules import Access

    return serve_command.run_server(
        options.schema,
        options.port,
        host=options.host,
        token=options.token,
        limits=serve_command.parse_limits(options.limit),
        access=Access(
            hosts=options.allow_host,
            origins=options.origin,
            page=options.page,
            get=options.get,
            introspection=options.introspection,
            hints=options.hints,
            profile=options.profile,
        ),
    )


def _run_query(options: Namespace) -> int:
    from gqlnb.cli import query_commands

    paged = options.paginate or "max_results" in options
    return query_commands.run_query(
        query_commands.open_client(
            options.connection, options.token, parse_header_options(options.header)
        ),
        options.text,
        options.variables,
        operation=options.operation,
        show=query_commands.FORMATTERS[options.form],
        pages={"max_results": getattr(options, "max_results", None)} if paged else None,
    )


def _run_schema(options: Namespace) -> int:

    from gqlnb.cli import query_commands

    return query_commands.print_endpoint_schema(
        options.connection, token=options.token, headers=parse_header_options(options.header)
    )


def _run_stars(options: Namespace) -> int:
    from gqlnb.cli import query_commands

    if options.parquet and options.parquet.is_dir() and not options.all:
        msg = f"--parquet: {options.parquet} is a folder. Name a file, or take all of it: --all."
        raise OptionError(msg)
    if options.all or options.dry_run or options.limit is None:
        return query_commands.harvest_stars(
            options.query,
            client=(options.client, options.token, parse_header_options(options.header)),
            form=options.form,
            parquet=options.parquet,
            folder=options.all,
            dry_run=options.dry_run,
            resume=options.resume,
        )
    return query_commands.print_stars(
        options.query,
        limit=options.limit,
        client=options.client,
        token=options.token,
        headers=parse_header_options(options.header),
        form=options.form,
        parquet=options.parquet,
    )


def _run_completion(options: Namespace) -> int:
    from gqlnb.cli import shell_completion

    return shell_completion.print_completion(build_parser(), options.shell)


def _run_scrub(options: Namespace) -> int:
    from gqlnb.cli import scrub_command

    return scrub_command.scrub_paths(options.path, dry_run=options.dry_run)


def _run_github(options: Namespace) -> int:
    from gqlnb.cli import standin_command

    return standin_command.run_standin(
        port=options.port,
        host=options.host,
        token=options.token,
        viewer=options.viewer,
        size=options.population,
        seed=options.seed,
        faults=options.simulate,
    )


def build_parser() -> ArgumentParser:
    """Return the parser of the command line; `run` of what it reads is the function to call."""
    parser = ArgumentParser(
        prog="gqlnb",
        description="GraphQL in Jupyter.",
        epilog=_EXIT_CODES_HELP,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gqlnb {version('gqlnb')}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True)

    def add_command(name: str, run: object, about: str) -> ArgumentParser:
        new = commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.\n\n{_COMMAND_HELP.get(name, '')}".rstrip(),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        new.set_defaults(run=run)
        return new

    _add_lab_arguments(add_command("lab", _run_lab, "open JupyterLab on the notebooks"))
    _add_serve_arguments(add_command("serve", _run_serve, "serve a schema over HTTP until Ctrl-C"))
    _add_query_arguments(add_command("query", _run_query, "run one operation and print its answer"))
    _add_connection_arguments(add_command("schema", _run_schema, "print the schema of an endpoint"))
    _add_stars_arguments(
        add_command("stars", _run_stars, "list repositories by their number of stars")
    )
    _add_scrub_arguments(
        add_command("scrub", _run_scrub, "remove tokens from notebooks, recordings and logs")
    )
    _add_github_arguments(add_command("github", _run_github, "serve a stand-in for GitHub"))
    _add_completion_arguments(
        add_command("completion", _run_completion, "print what makes a shell complete")
    )
    return parser


def _add_scrub_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", nargs="+", type=Path, help="a file, or a folder with all in it")
    parser.add_argument(
        "--dry-run", action="store_true", help="tell what would be removed, and change nothing"
    )


def _add_completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh"], help="the shell that reads it")


def _add_lab_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(lab.DEFAULT_FOLDER),
        metavar="FOLDER",
        help="working folder; the notebooks it lacks are copied there, none is overwritten "
        "(default: ./%(default)s)",
    )
    parser.add_argument(
        "--port",
        type=_parse_port,
        help="TCP port (default: 8888, or the next free one; 0: any free one)",
    )
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="open no web browser"
    )


def _add_serve_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "schema",
        nargs="?",
        metavar="MODULE:SCHEMA",
        help="a module and the name of the schema in it (default: the reference schema)",
    )
    _add_address_arguments(parser, 4000)
    _add_access_arguments(parser)


def _add_access_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="let the pages of this origin ask, such as http://localhost:5173; may be repeated",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer to this name, too, as a proxy may call the server; may be repeated",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another bound than usual, such as depth=30, or depth=off; may be repeated",
    )
    parser.add_argument("--get", action="store_true", help="answer queries by GET, too")
    for name, about in (
        ("page", "give browsers no page to type queries into"),
        ("introspection", "do not answer __schema and __type"),
        ("hints", "suggest nothing where a name is wrong"),
    ):
        parser.add_argument(f"--no-{name}", dest=name, action="store_false", help=about)
    parser.add_argument(
        "--profile",
        choices=["audit", "draft"],
        default="audit",
        help="statuses of the published audits, or of the newest draft (default: %(default)s)",
    )


def _add_github_arguments(parser: ArgumentParser) -> None:
    _add_address_arguments(parser, 4001)
    parser.add_argument(
        "--viewer",
        default="demo",
        metavar="LOGIN",
        help="whom the token was issued to (default: %(default)s)",
    )
    parser.add_argument(
        "--population",
        type=_parse_count,
        metavar="N",
        help="make up so many repositories (default: a snapshot of 3,449 real ones)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="another number makes other repositories, and other faults (default: %(default)s)",
    )
    parser.add_argument(
        "--simulate",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="show a fault of the real one, such as restricted, or budget=5000; may be repeated",
    )


def _add_address_arguments(parser: ArgumentParser, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=_parse_port,
        default=port,
        help="TCP port (default: %(default)s; 0: any free one)",
    )
    _add_token_argument(parser, "ask every request for this bearer token")


def _add_token_argument(parser: ArgumentParser, about: str) -> None:
    parser.add_argument(
        "--token", metavar="SOURCE", help=f"{about}: env:NAME, keyring:NAME, file:PATH or prompt"
    )


def _add_header_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-H",
        "--header",
        action="append",
        default=[],
        metavar="NAME=env:VAR",
        help="send this header; VAR is the environment variable that holds its value",
    )


def _add_connection_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-c", "--connection", metavar="NAME|URL", help=_CONNECTION_HELP)
    _add_token_argument(parser, "send this bearer token")
    _add_header_argument(parser)


def _add_query_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "text", help="the operation, for example '{ hello }'; - reads it from stdin"
    )
    _add_connection_arguments(parser)
    parser.add_argument("--variables", metavar="JSON", help="the variables, as a JSON object")
    parser.add_argument("--operation", metavar="NAME", help="which operation, if there are several")
    parser.add_argument(
        "--paginate",
        action="store_true",
        help="ask for all pages of its connections, and print them as one answer",
    )
    parser.add_argument(
        "--max-results",
        type=_parse_limit,
        default=SUPPRESS,  # None is a value of its own: all
        metavar="N",
        help="the same, for at most so many items of an outermost connection",
    )
    form = parser.add_mutually_exclusive_group()
    for name, shown, about in (
        ("json", None, "print the answer as JSON (default)"),
        ("table", "table", "print the rows as a table"),
        ("csv", "csv", "print the rows as CSV"),
    ):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=shown, help=about)


def _add_stars_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "query",
        help="the threshold in stars: N or '>N', '>=N', 'N..M'; beside it terms of GitHub's "
        "search: '>1000 language:python sort:forks'",
    )
    parser.add_argument(
        "--limit",
        type=_parse_limit,
        default=100,
        metavar="N",
        help="at most so many rows, or: all (default: %(default)s)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="all there are; --parquet then names a folder of parts, and of a log to go on from",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="tell how many requests all of them would take"
    )
    parser.add_argument(
        "--anew",
        dest="resume",
        action="store_false",
        help="remove what an earlier run has left in the folder, and begin anew",
    )
    names = "-c", "--client", "--connection"
    parser.add_argument(
        *names,
        default="demo",
        metavar="NAME|URL",
        help="a connection (demo, the built-in sample; github), or a URL (default: %(default)s)",
    )
    _add_token_argument(parser, "send this bearer token")
    _add_header_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", dest="form", action="store_const", const="csv", help="print CSV")
    form.add_argument("--json", dest="form", action="store_const", const="json", help="print JSON")
    form.add_argument("--parquet", type=Path, metavar="FILE", help="write a Parquet file")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv
        The arguments; by default those of the process.

    Returns
    -------
    int
        Exit code: 0 fine, 1 an error that is told on stderr, 3 a harvest that is over and not
        complete, 130 interrupted, 141 the reader of the output went away.

    Raises
    ------
    SystemExit
        With code 2 for wrong arguments.
    """
    parser = build_parser()
    options, rest = parser.parse_known_args(argv)
    if options.command == "lab":
        options.jupyterlab = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except GqlnbError as error:
        return _print_error(str(error))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # what a shell reports for SIGPIPE, which Windows does not name
    except OSError as error:
        reason = str(error.strerror or error)
        return _print_error(f"{error.filename}: {reason}" if error.filename else reason)
    return code


def _print_error(text: str) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"gqlnb: {translate_for_shell(text)}\n")
    return 1
