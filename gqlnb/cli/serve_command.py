"""``gqlnb serve`` and ``gqlnb github``: serve a schema, or the stand-in, in the foreground."""

from __future__ import annotations

import importlib
import logging
import signal
import sys
from dataclasses import fields
from pathlib import Path
from threading import Event
from traceback import print_exception
from typing import TYPE_CHECKING, Any

import click

from gqlnb.background import wait_for_event
from gqlnb.cli.options import Command, address_options, parse_assignments
from gqlnb.engine.schema import reference_schema
from gqlnb.errors import GqlnbError, OptionError
from gqlnb.github.standin import http_app
from gqlnb.github.standin.github_schema import service
from gqlnb.github.standin.simulation import Simulation
from gqlnb.github.standin.synthetic_data import population as create_population
from gqlnb.http.server_rules import ENDPOINT, Access
from gqlnb.limits import Limits
from gqlnb.server import background_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gqlnb.server.background_server import Server

# `answer` and `wait` limit a client.
_LIMIT_NAMES = [field.name for field in fields(Limits) if field.name not in {"answer", "wait"}]


def _negative_flag(name: str, about: str) -> Callable[[Command], Command]:
    """Return the option ``--no-NAME``, given to the command as `name`, true by default."""
    return click.option(
        f"--no-{name}", name, is_flag=True, callback=lambda _context, _self, on: not on, help=about
    )


@click.command()
@click.argument("schema", metavar="[MODULE:SCHEMA]", required=False)
@address_options(4000)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Answer the pages of this origin, such as http://localhost:5173; may be repeated.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests for this host name too, such as a proxy's; may be repeated.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a limit, such as depth=30, or depth=off; may be repeated.",
)
@click.option(
    "--path", default=ENDPOINT, metavar="PATH", help="Path of the endpoint, instead of /graphql."
)
@click.option("--uds", metavar="FILE", help="Listen on this Unix socket, instead of a port.")
@click.option("--get", is_flag=True, help="Answer queries by GET too.")
@click.option("--health", is_flag=True, help="Answer GET /health, without a token.")
@click.option("--metrics", is_flag=True, help="Answer GET /metrics, for Prometheus.")
@click.option("--log", is_flag=True, help="Print a line for each request.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="Answer lists of up to N requests; without it none.",
)
@click.option("--uploads", is_flag=True, help="Accept files.")
@_negative_flag("page", "Serve no page to browsers.")
@_negative_flag("introspection", "Do not answer __schema and __type.")
@_negative_flag("hints", "Suggest no names in error messages.")
@click.option(
    "--profile",
    type=click.Choice(["audit", "draft"]),
    default="audit",
    show_default=True,
    help="HTTP statuses of the published audits, or of the newest draft.",
)
def serve(
    schema: str | None,
    *,
    host: str,
    port: int,
    token: str | None,
    limits: tuple[str, ...],
    path: str,
    uds: str | None,
    certfile: str | None,
    keyfile: str | None,
    **rules: Any,  # noqa: ANN401 - of Access, named by the options above
) -> int:
    """Serve a schema over HTTP until Ctrl-C.

    At /graphql, with a page for browsers. A module is looked for in the current folder too;
    without one the reference schema is served, which answers { hello }.

    \b
    Example:
      gqlnb serve shop:schema --port 8000
    """  # noqa: D301
    loaded = reference_schema() if schema is None else load_schema(schema)
    bounds, access = parse_limits(limits), Access(**rules)
    return serve_until_stopped(
        lambda: background_server.serve(
            loaded,
            port,
            host=host,
            token=token,
            limits=bounds,
            access=access,
            path=path,
            uds=uds,
            certfile=certfile,
            keyfile=keyfile,
        )
    )


def serve_until_stopped(start: Callable[[], Server], about: str = "") -> int:
    """Start a server, print its address, and return 0 when the process gets SIGTERM.

    Parameters
    ----------
    start
        Starts the server.
    about
        Text to print behind its address.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; the server is closed.
    """
    logging.basicConfig(format="%(message)s")  # exceptions that are masked for clients
    # A process manager or container stops a server with SIGTERM: no error.
    stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with start() as server:
        click.echo(f"Serving on {server.url}{about} (Ctrl-C stops it)")
        wait_for_event(stopped)
    return 0


def load_schema(target: str) -> object:
    """Import a schema by ``"module:name"``, from the working folder or an installed package.

    Raises
    ------
    OptionError
        If the text has another form, or there is no such module or name.
    GqlnbError
        If the module raises an exception, whose traceback is printed for its author.
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name or module_name.endswith(".py"):
        example = f"{module_name.removesuffix('.py') or 'app'}:{name or 'schema'}"
        msg = f"{target!r} does not name a schema. Write MODULE:NAME, for example {example}"
        raise OptionError(msg)
    sys.path.insert(0, "")  # as `python -m` does; the `gqlnb` script would not see the folder
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        # Otherwise the module exists, and one that it imports may be missing.
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            place = "in this folder or among the installed packages"
            msg = f"There is no module {module_name!r} {place}."
            raise OptionError(msg) from error
        _print_traceback(error)
        msg = f"Module {module_name!r} could not be imported: see the traceback above."
        raise GqlnbError(msg) from error
    try:
        return getattr(module, name)
    except AttributeError as error:
        msg = f"Module {module_name!r} has no name {name!r}."
        raise OptionError(msg) from error


def _print_traceback(error: Exception) -> None:
    """Print the traceback of a module that failed, from its own first frame on."""
    frames, own = error.__traceback__, (__file__, str(importlib.__file__), "<frozen importlib")
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(own):
        frames = frames.tb_next
    print_exception(error.with_traceback(frames))


def parse_limits(assignments: Iterable[str]) -> Limits:
    """Return the limits of ``--limit``; ``off`` switches one off.

    Raises
    ------
    OptionError
        If an assignment is not valid.
    """
    parser = _build_parser(_parse_limit, "a number above 0, or off")
    return Limits(**parse_assignments("--limit", assignments, dict.fromkeys(_LIMIT_NAMES, parser)))


def _build_parser(parse: Callable[[str], object], valid: str) -> Callable[[str], object]:
    """Return a function that parses a value, and whose error names the valid ones."""

    def parse_value(text: str) -> object:
        try:
            return parse(text)
        except (ValueError, KeyError):
            raise ValueError(valid) from None

    return parse_value


def _parse_limit(text: str) -> float | None:
    if text == "off":
        return None
    return int(text) if text.isdecimal() else float(text)


def _parse_repository_count(text: str) -> int:
    try:
        # 3,000,000 and 3_000_000 are the forms in which people read large numbers.
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        message = f"{text!r} is not a number of repositories"
        raise click.BadParameter(message) from None


@click.command()
@address_options(4001)
@click.option(
    "--viewer", default="demo", show_default=True, metavar="LOGIN", help="Owner of the token."
)
@click.option(
    "--population",
    type=_parse_repository_count,
    metavar="N",
    help="Generate N repositories (default: a snapshot of 3,449 real ones).",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the generated repositories and values, and of the simulated faults.",
)
@click.option(
    "--fill", is_flag=True, help="Generate values for fields that are missing from the data."
)
@click.option(
    "--schema",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Serve another schema, such as GitHub's newest; implies --fill.",
)
@click.option(
    "--simulate",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Simulate a fault of GitHub, such as restricted, or budget=5000; may be repeated.",
)
def github(
    *,
    host: str,
    port: int,
    token: str | None,
    certfile: str | None,
    keyfile: str | None,
    viewer: str,
    population: int | None,
    seed: int,
    fill: bool,
    schema: Path | None,
    simulate: tuple[str, ...],
) -> int:
    """Serve a stand-in for GitHub until Ctrl-C.

    It has the shape of GitHub's GraphQL API and answers from real repositories, or from generated
    ones. What the data do not contain is null or empty, or made up with --fill. On request it shows
    the faults that harvesters meet there, which gqlnb.github.Simulation explains.

    \b
    Examples:
      gqlnb github --fill --schema schema.graphql
      gqlnb github --population 3000000 --simulate ties --simulate gateway=0.01
    """  # noqa: D301
    standin = service(
        population=None if population is None else create_population(population, seed),
        viewer=viewer,
        simulation=parse_simulation(simulate, seed),
        fill=fill,
        sdl=None if schema is None else _read_schema(schema),
    )
    for note in standin.notes:
        click.echo(note, err=True)
    return serve_until_stopped(
        lambda: http_app.serve(
            standin, port, host=host, token=token, certfile=certfile, keyfile=keyfile
        ),
        f": {standin.source}",
    )


def _read_schema(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.FileError(str(path), str(error)) from None


def parse_simulation(assignments: Iterable[str], seed: int = 0) -> Simulation:
    """Return the simulation of ``--simulate``; the name of a switch alone turns it on.

    Raises
    ------
    OptionError
        If an assignment is not valid.
    """
    kinds = {
        item.name: str(item.type)
        for item in fields(Simulation)
        if item.name not in {"seed", "clock"}
    }
    # By the fields of the class: a new simulation needs no change of the command.
    parsers = {name: _VALUE_PARSERS.get(kind, _parse_int) for name, kind in kinds.items()}
    switches = [name for name, kind in kinds.items() if kind == "bool"]
    return Simulation(seed=seed, **parse_assignments("--simulate", assignments, parsers, switches))


_FLAGS = {"true": True, "false": False}
_VALUE_PARSERS = {
    "bool": _build_parser(lambda text: _FLAGS[text.lower()], "true or false"),
    "float": _build_parser(float, "a share, 0 to 1"),
}
_parse_int = _build_parser(int, "a whole number")
