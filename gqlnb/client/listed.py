"""Connections that are listed in files: where an endpoint is, and where its secrets are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

from gqlnb.client.addresses import checked_address, shown
from gqlnb.client.files import replace_file
from gqlnb.client.secrets import secret_name
from gqlnb.client.settings import FORMAT, Settings, guess, project, user, user_file
from gqlnb.client.settings import shown as shown_path
from gqlnb.errors import OptionError, TargetError, plain
from gqlnb.leaks import looks_secret
from gqlnb.token import SOURCES

if TYPE_CHECKING:
    from pathlib import Path

    from gqlnb.client.client import Client

__all__ = ["Listed", "keep", "listed", "made_by"]

TABLE = "connections"
SOURCE = re.compile(r"(?:env|keyring|file):\s*\S.*|prompt")
NAME = re.compile(r"[\w-]+")
HEAD = f"""# Connections of gqlnb, by name: addresses, and where their secrets are.
version = {FORMAT}
"""


_makers: list[Callable[..., Client]] = []


def made_by(maker: Callable[..., Client]) -> None:
    """Say what makes the clients of these connections; their class does, as it knows us."""
    _makers.append(maker)


@dataclass(frozen=True, slots=True)
class Listed:
    """A connection of a file; called with the options of a client, it makes one.

    Attributes
    ----------
    name
        What it is called.
    url
        The address.
    options
        Further arguments of :class:`~gqlnb.client.client.Client`: sources of secrets, no secrets.
    fault
        Why it cannot be used; empty if it can.
    place
        The file and the line.
    """

    name: str
    url: str
    options: tuple[tuple[str, Any], ...]
    fault: str
    place: str

    def __call__(self, **given: Any) -> Client:
        """Return a client.

        Raises
        ------
        TargetError
            If the file says something that cannot be.
        """
        if self.fault:
            raise TargetError(self.fault)
        options = {k: dict(v) if k == "headers" else v for k, v in self.options}
        return _makers[-1](self.url, **{**options, **given})

    @property
    def about(self) -> str:
        """One line that says what it is."""
        if self.fault:
            return f"cannot be used. {self.fault}"
        token = dict(self.options).get("token")
        return f"{shown(self.url)}, token {token}" if token else shown(self.url)


def listed() -> dict[str, Listed]:
    """Return the connections of both files by name; where both have a name, the project's.

    Raises
    ------
    OptionError
        If a file is no TOML.
    """
    found: dict[str, Listed] = {}
    for settings in (user(), project()):
        if settings is not None:
            for name, table in settings.part(TABLE).items():
                found.pop(name, None)
                found[name] = entry(settings, name, table)
    return found


def entry(settings: Settings, name: str, table: Any) -> Listed:
    """Return a connection of a file; what is wrong with it is told when it is used."""
    place, fault = settings.where(TABLE, name), ""
    given = table if isinstance(table, Mapping) else {}
    if not isinstance(table, Mapping):
        fault = f"{place}: write a table: [{'.'.join((*settings.table, TABLE))}.{name}]"
    elif "url" not in table:
        fault = f"{place}: the connection {name!r} has no address. Add: url = 'https://...'"
    for key, value in given.items():
        reason = checked(key, value)
        if reason and not fault:
            fault = f"{settings.where(TABLE, name, key)}: the connection {name!r}: {reason}"
    url = given.get("url")
    options = {} if fault else {key: value for key, value in given.items() if key != "url"}
    if "headers" in options:
        options["headers"] = tuple(options["headers"].items())
    return Listed(name, url if isinstance(url, str) else "", tuple(options.items()), fault, place)


def checked(key: str, value: Any) -> str:
    """Say what is wrong with a member of a connection; nothing if it is right."""
    check = CHECKS.get(key)
    return f"no such setting: {key!r}. {guess(key, CHECKS)}" if check is None else check(value)


def _url(value: Any) -> str:
    if not isinstance(value, str):
        return "url must be text."
    if value.startswith("/"):
        return ""
    try:
        checked_address(value)
    except TargetError as error:
        return str(error)
    if any(secret_name(name) for name, _ in parse_qsl(urlsplit(value).query)):
        return "its address holds a secret, which must not stand in a file. Use token or headers."
    return ""


def _token(value: Any) -> str:
    if isinstance(value, str) and SOURCE.fullmatch(value) and not looks_secret(value):
        return ""
    return f"token must say where the token is ({SOURCES}); no token may stand in a file."


def _headers(value: Any) -> str:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        return 'headers must be a table of texts: headers = { X-Api-Key = "env:NAME" }.'
    for name, text in value.items():
        sourced = re.fullmatch(r"(?:env|keyring):\s*\S.*", text) is not None
        if not sourced and (secret_name(name) or looks_secret(f"{name}: {text}")):
            return (
                f"the header {plain(name, 40)!r} must say where its value is ('env:NAME' or "
                "'keyring:NAME'); no secret may stand in a file."
            )
    return ""


def _timeout(value: Any) -> str:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return "" if right else "timeout must be a number of seconds above 0."


def _verify(value: Any) -> str:
    return "" if isinstance(value, (bool, str)) else "verify must be true, false or a path."


CHECKS: dict[str, Callable[[Any], str]] = {
    "url": _url,
    "token": _token,
    "headers": _headers,
    "timeout": _timeout,
    "verify": _verify,
}


def keep(name: str, url: str, token: str | None, headers: Mapping[str, str]) -> str:
    """Add a connection to the user's own file, which nobody else may read.

    Parameters
    ----------
    name, url
        What it is called, and its address.
    token, headers
        Where the secrets are.

    Returns
    -------
    str
        The file, as people write it.

    Raises
    ------
    OptionError
        If the file has one of that name already, or something in it could not be read again.
    """
    path, settings = user_file(), user()
    if settings is not None and name in settings.part(TABLE):
        refuse(f"{settings.where(TABLE, name)} has a connection {name!r}. Change it there.")
    if not NAME.fullmatch(name):
        refuse(f"{plain(name, 40)!r} is no name: write letters, digits, '-' and '_'.")
    given: dict[str, Any] = {"url": url, "token": token, "headers": dict(headers)}
    given = {key: value for key, value in given.items() if value}
    for key, value in given.items():
        if reason := checked(key, value):
            refuse(f"{name!r} was not kept: {reason}")
    text = HEAD if settings is None else settings.text
    write(path, f"{text.rstrip()}\n\n[{TABLE}.{name}]\n{lines(given)}")
    return shown_path(path)


def refuse(message: str) -> NoReturn:
    """Raise.

    Raises
    ------
    OptionError
        Always.
    """
    raise OptionError(message)


def lines(given: Mapping[str, Any]) -> str:
    """Return members of a connection as TOML."""
    made = []
    for key, value in given.items():
        if isinstance(value, Mapping):
            inner = ", ".join(f"{quoted(k)} = {quoted(v)}" for k, v in value.items())
            made.append(f"{key} = {{ {inner} }}\n")
        else:
            made.append(f"{key} = {quoted(value)}\n")
    return "".join(made)


def quoted(text: str) -> str:
    """Return text as a basic string of TOML, which takes JSON's escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write(path: Path, text: str) -> None:
    """Replace a file in one step by one that its owner alone may read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path.resolve(), text.encode(), keep_mode=False)  # where a link leads, if it is one
