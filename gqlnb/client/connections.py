"""Named connections: the registry, the settings files, and the default target."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl, urlsplit

import msgspec

from gqlnb import background
from gqlnb.client.credentials import (
    DEFAULT_URL,
    VALUE_SOURCE,
    check_url,
    find_secret_segments,
    is_secret_name,
    redact_url,
)
from gqlnb.client.endpoint import (
    ListSettings,
    check_batch,
    check_lists,
    check_nan,
    check_persisted_queries,
    read_lists,
)
from gqlnb.client.recording.session import can_omit_token
from gqlnb.client.response_cache import resolve_cache
from gqlnb.config import (
    SETTINGS_FORMAT,
    Settings,
    find_settings,
    get_user_file,
    load_project_settings,
    load_user_settings,
    resolve_unix_path,
    stamp_settings_files,
    write_table,
)
from gqlnb.errors import OptionError, TargetError, sanitize_text, suggest, suggest_or_list
from gqlnb.option_checks import check_boolean
from gqlnb.redact import has_secret
from gqlnb.tokens import TOKEN_SOURCES

URL_VARIABLE = "GQLNB_URL"


class NamedClient(Protocol):
    """The part of a client that its connection uses; the class itself is defined above us."""

    @property
    def _lacks_token(self) -> bool:
        """Whether a token was not found, so that only a recording can answer."""

    def _set_connection_name(self, name: str | None, *, is_by_name: bool) -> None:
        """Take the name of a connection."""

    def _use_measured_lists(self, lists: Mapping[str, ListSettings]) -> None:
        """Page lists as it was measured."""

    def _replace_client(self, before: Self) -> None:
        """Take the place of another client of the same endpoint."""

    def close(self) -> None:
        """Close the connections that are kept alive."""


ClientFactory = Callable[..., NamedClient]


class NamedConnection(msgspec.Struct, frozen=True):
    """A connection: a name, and a function that makes its client.

    Attributes
    ----------
    name
        The name, as after ``-c``.
    make_client
        Called with the options of :func:`gqlnb.connect`; returns a client.
    description
        One line without secrets.
    location
        The file and line of its registration, or ``"this process"``.
    """

    name: str
    make_client: ClientFactory
    description: str
    location: str = "this process"

    def open_client(self, **options: object) -> NamedClient:
        """Return a new client that has the name, by which recordings know endpoints."""
        client = self.make_client(**options)
        client._set_connection_name(self.name, is_by_name=not options)
        return client


_lock = threading.RLock()
_registered: dict[str, NamedConnection] = {}
_builtin: dict[str, NamedConnection] = {}
_clients: dict[str, tuple[NamedConnection, NamedClient]] = {}
_current_names: list[str] = []
# Held while a connection is opened, by its name.
_open_locks: dict[str, threading.RLock] = {}


# Connections are registered instead of imported, because this module is below the packages that
# define them: `gqlnb.github` registers `demo` and `github`, the client registers its factory.
def register_connection(
    name: str, make: ClientFactory, about: str, client: NamedClient | None = None
) -> None:
    """Register a connection of this process; one of the same name is replaced and closed.

    Parameters
    ----------
    name, make, about
        As `name`, `make_client` and `description` of :class:`NamedConnection`.
    client
        Its client if that was made already.
    """
    with _lock:
        _registered[name] = connection = NamedConnection(name, make, about)
        close = _pop_client(name)
        if client is not None:
            _clients[name] = connection, client
    close()


def provide_builtin(name: str, make: ClientFactory, about: str) -> None:
    """Register a built-in connection; those of files and of this process take precedence."""
    with _lock:
        _builtin.setdefault(name, NamedConnection(name, make, about, "built in"))


def get_builtin(name: str) -> NamedConnection | None:
    """Return the built-in connection that a name means, if it means one.

    It can be pickled, and given to :func:`provide_builtin` where its package is not loaded yet.
    """
    with _lock:
        connection = _merge_connections().get(name)
        return connection if connection is not None and connection is _builtin.get(name) else None


def close_client(name: str) -> None:
    """Close the client of a connection, which is then not the current one; its next use opens it.

    Raises
    ------
    TargetError
        If no connection has that name.
    """
    with _lock:
        _find_connection(name)
        close = _pop_client(name)
        if name in _current_names:
            _current_names.remove(name)
    close()


def is_known(name: str) -> bool:
    """Return whether there is a connection of that name.

    Raises
    ------
    OptionError
        If there is not, and a settings file that may have one cannot be read.
    """
    with _lock:
        if name in _registered or name in _builtin:
            return True
    names, fault = read_connection_files()
    if fault and name not in names:
        raise OptionError(fault)
    return name in names


def list_connections() -> tuple[NamedConnection, ...]:
    """Return the connections: built in, of files, and of this process.

    For equal names the last of these counts. Those of an invalid settings file are missing;
    :func:`read_connection_files` returns the reason.
    """
    with _lock:
        return tuple(_merge_connections().values())


def _merge_connections() -> dict[str, NamedConnection]:
    return {**_builtin, **read_connection_files()[0], **_registered}


def use_connection(name: str | None) -> None:
    """Make a connection the current one; None for none.

    Raises
    ------
    TargetError
        If no connection has that name.
    """
    with _lock:
        if name is not None:
            _find_connection(name)
        _current_names[:] = [name] if name is not None else []


def get_current_name() -> str | None:
    """Return the name of the current connection."""
    with _lock:
        return _current_names[0] if _current_names else None


def get_client(name: str, **options: object) -> Any:  # noqa: ANN401 - a Client, which is defined above this module
    """Return the client of a connection; without options the same one each time.

    Raises
    ------
    TargetError
        If no connection has that name; the message lists the names.
    """
    with _lock:
        open_lock = _open_locks.setdefault(name, threading.RLock())
    # Not `_lock`: a keyring may be slow, and completion lists the names meanwhile.
    with open_lock:
        with _lock:
            connection = _find_connection(name)
            before, client = _clients.get(name, (None, None))
        if options:
            return connection.open_client(**options)
        # A client made without token, while a recording answered, may find its token now.
        lacking = client is not None and client._lacks_token and not can_omit_token()
        if client is None or lacking or before != connection:  # a file may have changed
            client = connection.open_client()
            with _lock:
                _clients[name] = connection, client
        return client


def reopen_client(name: str) -> Any:  # noqa: ANN401 - as above
    """Return a new client of a connection, in the place of the open one.

    It keeps the schema that the session began with, so that changes are reported since then.

    Raises
    ------
    TargetError
        If no connection has that name.
    """
    with _lock:
        _find_connection(name)
        opened = _clients.pop(name, None)
    client = get_client(name)
    if opened is not None:  # only now: if opening fails, the error is raised and nothing is closed
        client._replace_client(opened[1])
    return client


# Closing may take long, and other threads list the names meanwhile.
def _pop_client(name: str) -> Callable[[], None]:
    """Remove the client of a connection, and return its `close`, to be called without the lock."""
    opened = _clients.pop(name, None)
    return opened[1].close if opened is not None else lambda: None


def get_open_client(name: str) -> Any:  # noqa: ANN401 - as above
    """Return the client of a connection if it is open, else None; none is opened."""
    with _lock:
        return _clients.get(name, (None, None))[1]


def is_open(name: str) -> bool:
    """Return whether the client of a connection is open."""
    return get_open_client(name) is not None


def can_open_unattended(name: str) -> bool:
    """Return whether any process can make the client of a connection, without a prompt."""
    with _lock:
        connection = _merge_connections().get(name)
    options = dict(getattr(connection.make_client, "options", ())) if connection is not None else {}
    return connection is not None and name not in _registered and options.get("token") != "prompt"


def resolve_default_target() -> tuple[Any, str]:
    """Return the default target, and a description of its source, "" for an implicit one."""
    # In this order: the current connection, the address in `GQLNB_URL`, the newest open server of
    # this process, `/graphql` on the current host.
    name = get_current_name()
    if name is not None:
        return name, f"{name!r}, the current connection"
    url = os.environ.get(URL_VARIABLE, "").strip()
    if url:
        return url, f"{redact_url(url)}, which {URL_VARIABLE} names"
    return background.servers.get_newest() or DEFAULT_URL, ""


def check_connection(name: str, objects: Sequence[str] = ()) -> None:
    """Check that a connection has a name; an error also suggests the names of `objects`.

    Raises
    ------
    TargetError
        If no connection has that name.
    """
    with _lock:
        _find_connection(name, objects)


def _find_connection(name: str, objects: Sequence[str] = ()) -> NamedConnection:
    if name in _registered:  # without reading files
        return _registered[name]
    connections, fault = read_connection_files()
    if name in connections:
        return connections[name]
    if name in _builtin:
        return _builtin[name]
    if fault:
        raise OptionError(fault)
    names = [*_merge_connections(), *objects]
    listed = ", ".join(map(repr, names)) or "none"
    msg = (
        f"No connection is called {redact_url(name)!r}.{suggest(name, names)} "
        f"Known: {listed}. An address begins with http:// or https://."
    )
    raise TargetError(msg)


TABLE = "connections"
TOKEN_SOURCE = re.compile(r"(?:env|keyring|file):\s*\S.*|prompt")
CONNECTION_NAME = re.compile(r"[\w-]+")
FILE_HEADER = f"""# Connections of gqlnb, by name: addresses, and where their secrets are.
version = {SETTINGS_FORMAT}
"""


_client_factories: list[ClientFactory] = []


def set_client_factory(maker: ClientFactory) -> None:
    """Set the class that makes the clients of settings files."""
    # `gqlnb.client.client` calls this once; it imports this module, so not the other way round.
    _client_factories.append(maker)


class FileConnection(msgspec.Struct, frozen=True):
    """The address and options of a settings file; called with further options, it makes a client.

    Attributes
    ----------
    url
        The address.
    options
        Further arguments of :class:`gqlnb.Client`: sources of secrets, no secrets.
    fault
        The reason why it cannot be used; "" if it can.
    lists
        The paging of its lists, as it was measured.
    """

    url: str
    options: tuple[tuple[str, Any], ...]
    fault: str
    lists: Mapping[str, ListSettings] = msgspec.field(default_factory=dict)

    def __call__(self, **given: object) -> NamedClient:
        """Return a client; raise TargetError if the table in the file is not valid."""
        if self.fault:
            raise TargetError(self.fault)
        options = {k: dict(v) if k == "headers" else v for k, v in self.options}
        client = _client_factories[-1](self.url, **{**options, **given})
        client._use_measured_lists(self.lists)
        return client


def read_connection_files() -> tuple[dict[str, NamedConnection], str]:
    """Return the connections of both files by name, and the errors outside of connections.

    For equal names that of the project counts. An invalid connection is among them: it makes no
    client, and its description has the reason.
    """
    return _parse_connection_files(stamp_settings_files())


@lru_cache(maxsize=1)
def _parse_connection_files(_stamps: object) -> tuple[dict[str, NamedConnection], str]:
    """Read both files; cached, because every cell that names a connection looks it up."""
    named: dict[str, NamedConnection] = {}
    faults = []
    for load_settings in (load_user_settings, load_project_settings):
        try:
            settings = load_settings()
            if settings is None:
                continue
            tables = settings.get_table(TABLE)
        except OptionError as error:
            faults.append(str(error))
            continue
        for name, table in tables.items():
            named.pop(name, None)  # one that is replaced is listed among those of its new file
            named[name] = read_connection(settings, name, table)
    return named, " ".join(faults)


def read_connection(settings: Settings, name: str, table: object) -> NamedConnection:
    """Return a connection of a file, with its first error if it is not valid."""
    place, fault = settings.locate_key(TABLE, name), ""
    given = table if isinstance(table, Mapping) else {}
    if not isinstance(table, Mapping):
        fault = f"{place}: write a table: [{'.'.join((*settings.table, TABLE))}.{name}]"
    elif "url" not in table:
        fault = f"{place}: the connection {name!r} has no address. Add: url = 'https://...'"
    for key, value in given.items():
        reason = check_setting(key, value)
        if reason and not fault:
            fault = f"{settings.locate_key(TABLE, name, key)}: the connection {name!r}: {reason}"
    if fault:
        make = FileConnection("", (), fault)
        return NamedConnection(name, make, f"cannot be used. {fault}", place)
    options = {key: value for key, value in given.items() if key not in {"url", "lists"}}
    if "headers" in options:
        options["headers"] = tuple(options["headers"].items())
    lists = read_lists(given.get("lists", {}))
    make = FileConnection(given["url"], tuple(options.items()), "", lists)
    token, about = options.get("token"), redact_url(make.url)
    return NamedConnection(name, make, f"{about}, token {token}" if token else about, place)


def check_setting(key: str, value: object) -> str:
    """Return the error in a member of a connection; "" if it is valid."""
    check = SETTING_CHECKS.get(key)
    if check is not None:
        return check(value)
    return f"no such setting: {key!r}.{suggest_or_list(key, list(SETTING_CHECKS))}"


def _check_url(value: object) -> str:
    if not isinstance(value, str):
        return "url must be text."
    if not value.startswith("/"):
        try:
            check_url(value)
        except TargetError as error:
            return str(error)
    queried = any(
        is_secret_name(name) or has_secret(text) for name, text in parse_qsl(urlsplit(value).query)
    )
    if queried or find_secret_segments(value):
        return (
            "the URL contains a secret, which must not be saved in a file. "
            "Use token or headers instead."
        )
    return ""


def _check_token(value: object) -> str:
    if isinstance(value, str) and TOKEN_SOURCE.fullmatch(value) and not has_secret(value):
        return ""
    return (
        f"token must be a reference ({TOKEN_SOURCES}); "
        "the token itself must not be saved in a file."
    )


def _check_headers(value: object) -> str:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        return 'headers must be a table of texts: headers = { X-Api-Key = "env:NAME" }.'
    for name, text in value.items():
        sourced = VALUE_SOURCE.fullmatch(text) is not None
        if not sourced and (is_secret_name(name) or has_secret(f"{name}: {text}")):
            return (
                f"the header {sanitize_text(name, 40)!r} must be a reference "
                "('env:NAME', 'Bearer env:NAME', 'keyring:NAME' or 'file:PATH'); secrets must not "
                "be saved in a file."
            )
    return ""


def _check_timeout(value: object) -> str:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return "" if right else "timeout must be a number of seconds above 0."


def _check_verify(value: object) -> str:
    return "" if isinstance(value, (bool, str)) else "verify must be true, false or a path."


def _describe_refusal(check: Callable[[object], object], value: object) -> str:
    """Return the message of a check that raises OptionError; "" if it accepts the value."""
    try:
        check(value)
    except OptionError as error:
        return str(error)
    return ""


SETTING_CHECKS: dict[str, Callable[[Any], str]] = {
    "url": _check_url,
    "token": _check_token,
    "headers": _check_headers,
    "timeout": _check_timeout,
    "verify": _check_verify,
    "cache": partial(_describe_refusal, resolve_cache),
    "uds": partial(_describe_refusal, resolve_unix_path),
    "batch": partial(_describe_refusal, check_batch),
    "persisted_queries": partial(_describe_refusal, check_persisted_queries),
    "validate": partial(_describe_refusal, partial(check_boolean, "validate")),
    "nan": partial(_describe_refusal, check_nan),
    "lists": check_lists,  # no option of a client: a report writes it
}


def save_connection(name: str, url: str, token: str | None, headers: Mapping[str, str]) -> str:
    """Add a connection to the user's settings file, which only the user may read.

    Parameters
    ----------
    name, url
        Its name and address.
    token, headers
        Sources of the secrets.

    Returns
    -------
    str
        The path of the file, as it is shown.

    Raises
    ------
    OptionError
        If the file has one of that name already, or a value is not valid.
    """
    path, settings = get_user_file(), load_user_settings()
    table = {"url": url, "token": token, "headers": dict(headers)}
    table = {key: value for key, value in table.items() if value}
    errors = [reason for key, value in table.items() if (reason := check_setting(key, value))]
    msg = ""
    if settings is not None and name in settings.get_table(TABLE):
        place = settings.locate_key(TABLE, name)
        msg = f"{place} has a connection {name!r}. Change it there."
    elif not CONNECTION_NAME.fullmatch(name):
        quoted = sanitize_text(name, 40)
        msg = f"{quoted!r} is not a valid name: write letters, digits, '-' and '_'."
    elif errors:
        msg = f"{name!r} was not saved: {errors[0]}"
    if msg:
        raise OptionError(msg)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return write_table(settings or Settings(path, FILE_HEADER, (), {}), (TABLE, name), table)


def change_connection(name: str, new_name: str | None) -> str:
    """Rename a connection in the settings file that has it, or remove it.

    All other lines of the file stay as they are, byte for byte.

    Parameters
    ----------
    name
        Its name.
    new_name
        Its new name; None removes it.

    Returns
    -------
    str
        The path of the file, as it is shown.

    Raises
    ------
    OptionError
        If no file has it, the new name is taken or not valid, or the file must be edited by hand.
    """
    settings = find_settings(TABLE, name)
    if settings is None:
        msg = f"No settings file has a connection {sanitize_text(name, 40)!r}."
        raise OptionError(msg)
    if new_name is not None and (
        not CONNECTION_NAME.fullmatch(new_name) or new_name in _merge_connections()
    ):
        quoted = sanitize_text(new_name, 40)
        msg = f"{quoted!r} is taken, or not a valid name: write letters, digits, '-' and '_'."
        raise OptionError(msg)
    path = write_table(settings, (TABLE, name), new_name=new_name)
    with _lock:
        _registered.pop(name, None)  # `connect --keep` registers it too
        close = _pop_client(name)
        if name in _current_names:
            _current_names[:] = [new_name] if new_name is not None else []
    close()
    return path
