"""``gqlnb serve``: a schema over HTTP in the foreground."""

from __future__ import annotations

import logging
import signal
import sys
from dataclasses import fields
from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING, Any

from gqlnb.document.limits import Limits
from gqlnb.engine.schema import reference_schema
from gqlnb.errors import GqlnbError, OptionError, sanitize_text
from gqlnb.http.server_rules import Access
from gqlnb.server.background_server import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from gqlnb.server.background_server import Server

__all__ = ["load_schema", "parse_limits", "run_server", "serve_until_stopped"]


def run_server(
    target: str | None,
    port: int,
    *,
    host: str,
    token: str | None,
    limits: Limits | None = None,
    access: Access | None = None,
) -> int:
    """Serve until the process is interrupted or asked to end.

    Parameters
    ----------
    target
        ``"module:name"`` of a schema, or None for the reference schema.
    port
        TCP port; 0 lets the system choose.
    host
        Address to listen on.
    token
        Where the token is that every request must send, or None to ask for none.
    limits, access
        As for :func:`gqlnb.serve`.

    Returns
    -------
    int
        0, once the process was asked to end (SIGTERM).

    Raises
    ------
    GqlnbError
        If there is no such schema, or the server cannot start.
    KeyboardInterrupt
        When a person presses Ctrl-C; the server is closed.
    """
    logging.basicConfig(format="%(message)s")  # what is masked for clients is told here
    schema = reference_schema() if target is None else load_schema(target)
    return serve_until_stopped(
        lambda: serve(schema, port, host=host, token=token, limits=limits, access=access)
    )


def serve_until_stopped(start: Callable[[], Server], about: str = "") -> int:
    """Start a server, say where it is, and return 0 when the process is asked to end (SIGTERM).

    Parameters
    ----------
    start
        Starts it.
    about
        What to say behind its address.

    Raises
    ------
    GqlnbError
        If it cannot start.
    KeyboardInterrupt
        When a person presses Ctrl-C; the server is closed.
    """
    ended = Event()

    def handle_sigterm(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, handle_sigterm)
    with start() as server:
        sys.stdout.write(f"Serving on {server.url}{about} (Ctrl-C stops it)\n")
        sys.stdout.flush()
        ended.wait()
    return 0


def load_schema(target: str) -> Any:
    """Import the schema that ``"module:name"`` names, from the working folder or what is installed.

    Raises
    ------
    GqlnbError
        If the text has another form, or there is no such module or name. What a module raises
        itself is not caught: its traceback is what its author needs.
    """
    module_name, _, name = target.partition(":")
    if not module_name or not name or module_name.endswith(".py"):
        example = f"{module_name.removesuffix('.py') or 'app'}:{name or 'schema'}"
        msg = f"{target!r} names no schema. Write MODULE:NAME, for example {example}"
        raise GqlnbError(msg)
    sys.path.insert(0, "")  # as `python -m` does; the `gqlnb` script would not see the folder
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is missing
        msg = f"There is no module {module_name!r} here or among what is installed."
        raise GqlnbError(msg) from error
    try:
        return getattr(module, name)
    except AttributeError as error:
        msg = f"Module {module_name!r} has no name {name!r}."
        raise GqlnbError(msg) from error


def parse_limits(bounds: Sequence[str]) -> Limits:
    """Return the limits that ``"name=value"`` texts give; ``off`` switches one off.

    Raises
    ------
    OptionError
        If a text has another form, names no limit, or gives no number.
    """
    given: dict[str, Any] = {}
    for bound in bounds:
        name, equals, text = bound.partition("=")
        if not equals or name not in LIMIT_NAMES:
            msg = f"--limit {sanitize_text(bound, 80)!r}: write NAME=VALUE with one of {', '.join(LIMIT_NAMES)}."
            raise OptionError(msg)
        try:
            given[name] = None if text == "off" else parse_number(text)
        except ValueError:
            msg = f"--limit {sanitize_text(bound, 80)!r}: the value is a number above 0, or off."
            raise OptionError(msg) from None
    return Limits(**given)


def parse_number(text: str) -> float:
    """Return a number as what it is: whole, or not."""
    try:
        return int(text)
    except ValueError:
        return float(text)


# Those of a client have no meaning here.
LIMIT_NAMES = tuple(field.name for field in fields(Limits) if field.name not in {"answer", "wait"})
