"""``gqlnb github``: serve the stand-in for GitHub in the foreground."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gqlnb.cli.options import address_options, parse_assignments
from gqlnb.cli.serve_command import serve_until_stopped
from gqlnb.github.standin import http_app
from gqlnb.github.standin.github_schema import service
from gqlnb.github.standin.simulation import Simulation
from gqlnb.github.standin.synthetic_data import population as create_population

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["github"]


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
    kinds = {it.name: str(it.type) for it in fields(Simulation) if it.name not in {"seed", "clock"}}
    # By the fields of the class: a new simulation needs no change of the command.
    parsers = {name: _VALUE_PARSERS.get(kind, _parse_int) for name, kind in kinds.items()}
    switches = [name for name, kind in kinds.items() if kind == "bool"]
    return Simulation(seed=seed, **parse_assignments("--simulate", assignments, parsers, switches))


def _parse_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        reason = "true or false"
        raise ValueError(reason)
    return text.lower() == "true"


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        reason = "a share, 0 to 1"
        raise ValueError(reason) from None


def _parse_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        reason = "a whole number"
        raise ValueError(reason) from None


_VALUE_PARSERS = {"bool": _parse_bool, "float": _parse_float}
