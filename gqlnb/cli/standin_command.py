"""``gqlnb github``: the stand-in for GitHub over HTTP in the foreground."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from gqlnb.cli.serve_command import serve_until_stopped
from gqlnb.errors import OptionError, sanitize_text
from gqlnb.github.standin.github_schema import service
from gqlnb.github.standin.http_app import serve
from gqlnb.github.standin.repository_columns import Population
from gqlnb.github.standin.simulation import Simulation
from gqlnb.github.standin.synthetic_data import population

__all__ = ["parse_simulation", "run_standin"]


def run_standin(
    *,
    port: int,
    host: str,
    token: str | None,
    viewer: str,
    size: int | None,
    seed: int,
    faults: Sequence[str],
) -> int:
    """Serve until the process is interrupted or asked to end.

    Parameters
    ----------
    port, host, token
        As for :func:`gqlnb.github.serve`.
    viewer
        The login that the token was issued to.
    size
        How many repositories to make up; None for the embedded snapshot.
    seed
        Of the population and of the faults.
    faults
        Members of a :class:`~gqlnb.github.standin.simulation.Simulation`, as ``"name=value"``.

    Returns
    -------
    int
        0, once the process was asked to end (SIGTERM).

    Raises
    ------
    GqlnbError
        If an option is wrong, or the server cannot start.
    KeyboardInterrupt
        When a person presses Ctrl-C; the server is closed.
    """
    logging.basicConfig(format="%(message)s")  # what is masked for clients is told here
    simulation = parse_simulation(faults, seed)
    made: Population | None = None if size is None else population(size, seed)
    standin = service(population=made, viewer=viewer, simulation=simulation)
    return serve_until_stopped(
        lambda: serve(standin, port, host=host, token=token), f": {standin.source}"
    )


def parse_simulation(faults: Sequence[str], seed: int = 0) -> Simulation:
    """Return the simulation that ``"name=value"`` texts give; a name alone is switched on.

    Raises
    ------
    OptionError
        If a text names no fault, or gives it a value that does not fit.
    """
    given: dict[str, Any] = {}
    for fault in faults:
        name, equals, text = fault.partition("=")
        if name not in _FAULT_KINDS:
            known = ", ".join(_FAULT_KINDS)
            msg = f"--simulate {sanitize_text(fault, 80)!r}: write NAME=VALUE with one of {known}."
            raise OptionError(msg)
        kind = _FAULT_KINDS[name]
        if not equals and kind != "bool":
            msg = f"--simulate {sanitize_text(fault, 80)!r}: give it a number, as in {name}=..."
            raise OptionError(msg)
        given[name] = _parse_fault_value(text.lower(), kind, fault) if equals else True
    return Simulation(seed=seed, **given)


def _parse_fault_value(text: str, kind: str, fault: str) -> Any:
    """Return the value of a fault, which is of the kind that its annotation says."""
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text]
        return float(text) if kind == "float" else int(text)
    except (KeyError, ValueError):
        wanted = {"bool": "true or false", "float": "a share, 0 to 1"}.get(kind, "a whole number")
    msg = f"--simulate {sanitize_text(fault, 80)!r}: the value is {wanted}."
    raise OptionError(msg)


_FAULT_KINDS = {
    each.name: str(each.type) for each in fields(Simulation) if each.name not in {"seed", "clock"}
}
