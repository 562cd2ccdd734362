"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import click

from gqlnb.client.client import Client, connect
from gqlnb.client.connections import list_connections
from gqlnb.client.credentials import parse_header_options
from gqlnb.errors import OptionError, sanitize_text, suggest
from gqlnb.github.builtin_connections import register_connections

PORT = click.IntRange(0, 65535)
_TOKEN_SOURCES = "env:NAME, keyring:NAME, file:PATH or prompt"  # noqa: S105 - places of tokens

Command = TypeVar("Command", bound="Callable[..., Any]")


def parse_limit(text: str) -> int | Literal["all"]:
    """Return a number of rows from 1 on, or ``"all"``."""
    if text == "all":
        return "all"
    if text.isdecimal() and int(text) > 0:
        return int(text)
    message = f"{text!r} is not a limit; give a number from 1 on, or: all"
    raise click.BadParameter(message)


def parse_assignments(
    option: str,
    assignments: Iterable[str],
    parsers: Mapping[str, Callable[[str], object]],
    switches: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the values of an option that takes NAME=VALUE, by name.

    Parameters
    ----------
    option
        The option, for messages; "" for arguments.
    assignments
        The texts given to it.
    parsers
        By name: parse a value, or raise a ValueError with a description of the valid values.
    switches
        Names that stand for ``NAME=true`` where they are given alone.

    Raises
    ------
    OptionError
        If a text has another form, or a name or value is not valid.
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in parsers or not (equals or name in switches):
            meant = "" if name in parsers else suggest(name, parsers)
            advice = f"write NAME=VALUE with one of {', '.join(parsers)}.{meant}"
        else:
            try:
                values[name] = parsers[name](text if equals else "true")
                continue
            except ValueError as error:
                advice = f"the value must be {error}."
        message = f"{option} {sanitize_text(assignment, 80)!r}: {advice}".lstrip()
        raise OptionError(message)
    return values


# click has no mutually exclusive options: of several flags for one parameter the last one wins.
class OutputOption(click.Option):
    """An option for the form of the output, of which a command takes one at most."""

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Refuse the option beside another output option."""
        for other in ctx.command.params:
            if (
                isinstance(other, OutputOption)
                and other is not self
                and {self.name, other.name} <= set(opts)
            ):
                message = f"{self.opts[0]} is not allowed with {other.opts[0]}."
                raise click.UsageError(message, ctx)
        return super().handle_parse_result(ctx, opts, args)


def address_options(port: int) -> Callable[[Command], Command]:
    """Return a decorator that adds the options for the address of a server, and its secrets."""

    def add_options(command: Command) -> Command:
        about = "Its key, unless it is in the same file."
        command = click.option("--keyfile", metavar="FILE", help=about)(command)
        about = "Serve HTTPS with this certificate, as PEM."
        command = click.option("--certfile", metavar="FILE", help=about)(command)
        about = "TCP port; 0 for any free one."
        command = _token_option("Require this bearer token")(command)
        command = click.option("--port", type=PORT, default=port, show_default=True, help=about)(
            command
        )
        about = "Address to listen on."
        return click.option("--host", default="127.0.0.1", show_default=True, help=about)(command)

    return add_options


def connection_options(
    names: Sequence[str] = ("-c", "--connection"), default: str | None = None
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that adds the options of an endpoint.

    Parameters
    ----------
    names
        Names of the option for the connection.
    default
        The connection of commands without that option; None for the client's own default.

    Returns
    -------
    callable
        The command gets `open_client`, which returns the client of the endpoint.
    """
    about = "A connection (demo, github), or a URL" + (
        "." if default else "; by default GQLNB_URL, else http://127.0.0.1:4000/graphql."
    )

    def add_options(command: Callable[..., int]) -> Callable[..., int]:
        @click.option(
            *names,
            "connection",
            metavar="NAME|URL",
            default=default,
            show_default=default is not None,
            shell_complete=_complete_connection,
            help=about,
        )
        @_token_option("Send this bearer token")
        @click.option(
            "-H",
            "--header",
            "headers",
            multiple=True,
            metavar="NAME=env:VAR",
            help="Send this header; VAR is the environment variable that holds its value.",
        )
        @click.option(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            help="Longest time for an answer; by default 60.",
        )
        @functools.wraps(command)
        def run(
            connection: str | None,
            token: str | None,
            headers: tuple[str, ...],
            timeout: float | None,
            **options: object,
        ) -> int:
            parsed = parse_header_options(headers)

            # Called by the command, after its own checks: a wrong option must not prompt for a
            # token.
            def open_client(target: str | None = None) -> Client:
                if target is not None and connection is not None:
                    msg = "Name the endpoint once: as an argument, or with --connection."
                    raise OptionError(msg)
                register_connections()
                return connect(target or connection, token=token, headers=parsed, timeout=timeout)

            return command(open_client=open_client, **options)

        return run

    return add_options


def _token_option(about: str) -> Callable[[Command], Command]:
    return click.option("--token", metavar="SOURCE", help=f"{about}: {_TOKEN_SOURCES}.")


def _complete_connection(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    register_connections()
    return [entry.name for entry in list_connections() if entry.name.startswith(incomplete)]
