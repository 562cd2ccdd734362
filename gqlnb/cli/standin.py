"""``gqlnb github``: the stand-in for GitHub over HTTP in the foreground."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from gqlnb.cli.serving import until_ended
from gqlnb.errors import OptionError, plain
from gqlnb.github.finding import Population
from gqlnb.github.generation import population
from gqlnb.github.serving import serve
from gqlnb.github.simulation import Simulation
from gqlnb.github.standin import service

__all__ = ["run", "simulated"]


def run(
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
        Members of a :class:`~gqlnb.github.simulation.Simulation`, as ``"name=value"``.

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
    simulation = simulated(faults, seed)
    made: Population | None = None if size is None else population(size, seed)
    standin = service(population=made, viewer=viewer, simulation=simulation)
    return until_ended(lambda: serve(standin, port, host=host, token=token), f": {standin.source}")


def simulated(faults: Sequence[str], seed: int = 0) -> Simulation:
    """Return the simulation that ``"name=value"`` texts give; a name alone is switched on.

    Raises
    ------
    OptionError
        If a text names no fault, or gives it a value that does not fit.
    """
    given: dict[str, Any] = {}
    for fault in faults:
        name, equals, text = fault.partition("=")
        if name not in _NAMES:
            known = ", ".join(_NAMES)
            msg = f"--simulate {plain(fault, 80)!r}: write NAME=VALUE with one of {known}."
            raise OptionError(msg)
        kind = _NAMES[name]
        if not equals and kind != "bool":
            msg = f"--simulate {plain(fault, 80)!r}: give it a number, as in {name}=..."
            raise OptionError(msg)
        given[name] = _value(text.lower(), kind, fault) if equals else True
    return Simulation(seed=seed, **given)


def _value(text: str, kind: str, fault: str) -> Any:
    """Return the value of a fault, which is of the kind that its annotation says."""
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text]
        return float(text) if kind == "float" else int(text)
    except (KeyError, ValueError):
        wanted = {"bool": "true or false", "float": "a share, 0 to 1"}.get(kind, "a whole number")
    msg = f"--simulate {plain(fault, 80)!r}: the value is {wanted}."
    raise OptionError(msg)


_NAMES = {
    each.name: str(each.type) for each in fields(Simulation) if each.name not in {"seed", "clock"}
}
