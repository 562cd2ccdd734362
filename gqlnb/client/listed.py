"""Connections that are listed in files: where an endpoint is, and where its secrets are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

from gqlnb.client.addresses import checked_address, secret_segments, shown
from gqlnb.client.files import replace_file
from gqlnb.client.secrets import secret_name
from gqlnb.client.settings import (
    FORMAT,
    Salvage,
    Settings,
    guess,
    project,
    salvage_project,
    salvage_user,
    user,
    user_file,
)
from gqlnb.client.settings import shown as shown_path
from gqlnb.errors import OptionError, TargetError, plain
from gqlnb.leaks import looks_secret
from gqlnb.token import SOURCES

if TYPE_CHECKING:
    from pathlib import Path

    from gqlnb.client.client import Client

__all__ = ["Listed", "keep", "listed", "listing_fault", "made_by"]

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

    A connection with a mistake is among them, and its fault says what is wrong; the others of the
    file are read all the same.
    """
    return read_listed()[0]


def listing_fault() -> str:
    """Return what is wrong with a settings file beside its connections; "" if nothing is."""
    return read_listed()[1]


def read_listed() -> tuple[dict[str, Listed], str]:
    """Return the connections of both files, and what is wrong with a file."""
    found: dict[str, Listed] = {}
    faults = []
    for read, rescue in ((user, salvage_user), (project, salvage_project)):
        try:
            settings = read()
            added = entries(settings) if settings is not None else {}
        except OptionError as error:
            added, fault = salvaged_entries(rescue(), str(error))
            faults += [fault] if fault else []
        for name, one in added.items():
            found.pop(name, None)
            found[name] = one
    return found, " ".join(faults)


def entries(settings: Settings) -> dict[str, Listed]:
    """Return the connections of a file.

    Raises
    ------
    OptionError
        If they are not in a table.
    """
    return {name: entry(settings, name, table) for name, table in settings.part(TABLE).items()}


def salvaged_entries(salvage: Salvage | None, fault: str) -> tuple[dict[str, Listed], str]:
    """Return the connections of a file with a mistake, and the mistake if it is not in one.

    Parameters
    ----------
    salvage
        What could be read.
    fault
        What is wrong with the file as a whole.
    """
    if salvage is None or not isinstance(salvage.settings.values.get(TABLE, {}), Mapping):
        return {}, fault
    settings = salvage.settings
    if settings.values.get("version", FORMAT) != FORMAT:
        return {}, fault
    found = entries(settings)
    own = [keys for keys in salvage.broken if keys[0] == TABLE and len(keys) > 1]
    for keys in own:
        said = salvage.broken[keys]
        found[keys[1]] = Listed(keys[1], "", (), said, settings.where(TABLE, keys[1]))
    rest = salvage.fault or len(own) < len(salvage.broken) or not own
    return found, fault if rest else ""


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
    if not value.startswith("/"):
        try:
            checked_address(value)
        except TargetError as error:
            return str(error)
    queried = any(
        secret_name(name) or looks_secret(text) for name, text in parse_qsl(urlsplit(value).query)
    )
    if queried or secret_segments(value):
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
    import tomli_w

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
    # What the file has stays as it is, comments too: the new table is appended, and the whole is
    # parsed before it takes the place of the file.
    text = f"{text.rstrip()}\n\n{tomli_w.dumps({TABLE: {name: given}})}"
    check_kept(text, name, given)
    write(path, text)
    return shown_path(path)


def check_kept(text: str, name: str, given: Mapping[str, Any]) -> None:
    """Check that a settings file can be read again and has a new connection.

    Raises
    ------
    OptionError
        If not; the file was not written.
    """
    try:
        found = tomllib.loads(text)[TABLE][name]
        reason = "" if found == given else "it would be read as something else."
    except tomllib.TOMLDecodeError as error:
        reason = f"the settings file would not be valid TOML with it: {plain(error, 200)}."
    if reason:
        refuse(
            f"{name!r} was not kept: {reason} Write the connection into "
            f"{shown_path(user_file())} yourself; the file was left as it is."
        )


def refuse(message: str) -> NoReturn:
    """Raise.

    Raises
    ------
    OptionError
        Always.
    """
    raise OptionError(message)


def write(path: Path, text: str) -> None:
    """Replace a file in one step by one that its owner alone may read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path.resolve(), text.encode(), keep_mode=False)  # where a link leads, if it is one
