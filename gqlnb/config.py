"""Settings files in TOML: reading, and atomic replacement."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from gqlnb.errors import OptionError, sanitize_text


@contextmanager
def open_replacement(path: Path, *, private: bool) -> Iterator[Path]:
    """Replace a file by a temporary one that the block writes; if it raises, nothing changes.

    Parameters
    ----------
    path
        The file; a symbolic link is replaced itself, so resolve it first to keep it.
    private
        Whether the mode is 600; otherwise that of the existing file, or the usual one.

    Yields
    ------
    Path
        The temporary file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    # In the folder of the file: renaming is atomic within one file system only.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 600
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # Before the renaming: a crash never leaves an empty file in the place of the old one.
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if not private:
            umask = os.umask(0)  # can only be read by setting it
            os.umask(umask)
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def replace_file(path: Path, data: bytes, *, private: bool) -> None:
    """Write a file atomically, as :func:`open_replacement`."""
    with open_replacement(path, private=private) as temporary:
        temporary.write_bytes(data)


PROJECT_FILE, PROJECT_TABLE = "pyproject.toml", ("tool", "gqlnb")
SETTINGS_FORMAT = 1  # the key `version` of the user's file
# tomllib does not tell the lines of keys, which error messages name: these patterns find them.
TABLE_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
KEY_LINE = re.compile(
    r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
KEY_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
# Before names were quoted, `connect --keep` wrote [connections.café], which is not valid TOML.
UNQUOTED_NAME = re.compile(
    r"^(\[connections\.)(?=[\w-]*[^\x00-\x7f])([\w-]+)(?=(?:\.headers)?\]\r?$)", re.MULTILINE
)
AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)")


class Settings(msgspec.Struct, frozen=True, eq=False):
    """The settings of this package in a TOML file.

    Attributes
    ----------
    path
        The file.
    text
        Its contents.
    table
        The keys of the table with our settings; empty for the whole file.
    values
        The settings in that table.
    """

    path: Path
    text: str
    table: tuple[str, ...]
    values: Mapping[str, Any]

    def locate_key(self, *keys: str) -> str:
        """Return the path of the file and the line of a key, as text."""
        return f"{shorten_path(self.path)}, line {find_line(self.text, (*self.table, *keys))}"

    def get_table(self, name: str) -> Mapping[str, Any]:
        """Return a table of the settings; empty if it is missing.

        Raises
        ------
        OptionError
            If the value is not a table.
        """
        value = self.values.get(name, {})
        if isinstance(value, Mapping):
            return value
        message = (
            f"{self.locate_key(name)}: {name!r} must be a table, not a {type(value).__name__}."
        )
        raise OptionError(message)


def list_project_files() -> list[Path]:
    """Return the possible paths of ``pyproject.toml``, from the current folder upward."""
    here = Path.cwd()
    return [folder / PROJECT_FILE for folder in (here, *here.parents)]


def get_subtable(values: object, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the table at a path of keys; empty if it is missing."""
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values if isinstance(values, Mapping) else {}


def describe_toml_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    """Return an error message with the line of a TOML syntax error."""
    match = AT_LINE.search(str(error))
    line = int(match[1]) if match else text.count("\n") + 1
    reason = sanitize_text(AT_LINE.sub("", str(error)), 200)
    return f"{shorten_path(path)}, line {line}: invalid TOML. {reason}."


def load_project_settings() -> Settings | None:
    """Return ``[tool.gqlnb]`` of the nearest ``pyproject.toml``, from the current folder upward.

    Returns
    -------
    Settings or None
        None if the file or the table is missing.

    Raises
    ------
    OptionError
        If the file is not valid TOML.
    """
    for path in list_project_files():
        settings = read_settings(path, PROJECT_TABLE)
        if settings is not None:
            return settings if settings.values else None
    return None


def get_user_file() -> Path:
    """Return the path of the user's list of connections, which need not exist."""
    from platformdirs import user_config_path

    return user_config_path("gqlnb") / "connections.toml"


def load_user_settings() -> Settings | None:
    """Return the settings of the user's file; None if the file is missing.

    Raises
    ------
    OptionError
        If the file is not valid TOML, or has another format version.
    """
    settings = read_settings(get_user_file(), ())
    if settings and settings.values.get("version", SETTINGS_FORMAT) != SETTINGS_FORMAT:
        message = (
            f"{settings.locate_key('version')}: the format must be {SETTINGS_FORMAT}: "
            f"version = {SETTINGS_FORMAT}."
        )
        raise OptionError(message)
    return settings


def read_settings(path: Path, table: tuple[str, ...]) -> Settings | None:
    """Return the settings in a table of a TOML file; None if the file is missing.

    Raises
    ------
    OptionError
        If the file cannot be read, or is not valid TOML.
    """
    try:
        text = path.read_bytes().decode()  # with its ends of lines, for those who write it back
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        message = f"{shorten_path(path)} cannot be read: {reason}."
        raise OptionError(message) from None

    if not table:
        text = UNQUOTED_NAME.sub(r'\1"\2"', text)
    try:
        return Settings(path, text, table, get_subtable(tomllib.loads(text), table))
    except tomllib.TOMLDecodeError as error:
        message = describe_toml_error(path, text, error)
    raise OptionError(message)


def stamp_settings_files() -> tuple[object, ...]:
    """Return a key that changes whenever a settings file is written, appears or is removed."""
    stamps: list[object] = [Path.cwd()]  # error messages show paths relative to it
    for path in (get_user_file(), *list_project_files()):
        try:
            state = path.stat()
        except OSError:
            continue
        # The change time too: it is the only one that a change of permissions moves.
        stamps.append((path, state.st_mtime_ns, state.st_ctime_ns, state.st_size))
        if path.name == PROJECT_FILE:  # the nearest one counts
            break
    return tuple(stamps)


def shorten_path(path: Path) -> str:
    """Return a path relative to the current folder or, with ``~``, to the home folder."""
    for top, mark in ((Path.cwd(), ""), (Path.home(), f"~{os.sep}")):
        if path.is_relative_to(top):
            return f"{mark}{path.relative_to(top)}"
    return str(path)


def find_line(text: str, keys: tuple[str, ...]) -> int:
    """Return the line of a key, or of the innermost table found of it; counted from 1."""
    best, nearest = 1, 0
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        top, key = TABLE_HEADER.match(line), KEY_LINE.match(line)
        if top is not None:
            path = header = split_key(top[1])
        elif key is not None:
            path = header + split_key(key[1])
        else:
            continue
        alike = [a == b for a, b in zip(path, keys, strict=False)]
        common = [*alike, False].index(False)
        if common > nearest:
            best, nearest = number, common
    return best


def split_key(dotted: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    return tuple(part.strip("\"'") for part in KEY_PART.findall(dotted))


def edit_table(text: str, path: tuple[str, ...], new_name: str | None) -> str:
    """Rename the last key of a path in TOML, or remove its table; the caller checks the result.

    Parameters
    ----------
    text
        The file.
    path
        The keys that lead to the table.
    new_name
        The new last key; None removes the table.
    """
    lines: list[str] = []
    header: tuple[str, ...] = ()
    inside, above, below = False, list[str](), list[str]()  # blank lines and comments around it
    for line in text.splitlines(keepends=True):
        match = TABLE_HEADER.match(line) or KEY_LINE.match(line)
        if match is not None:
            keys, is_header = split_key(match[1]), match.re is TABLE_HEADER
            outer = () if is_header else header
            header = keys if is_header else header
            inside = (*outer, *keys)[: len(path)] == path
            at = len(path) - 1 - len(outer)
            if inside and new_name is not None and at >= 0:
                key = list(KEY_PART.finditer(line, match.start(1)))[at]
                name = new_name if new_name.isascii() else f'"{new_name}"'
                line = f"{line[: key.start()]}{name}{line[key.end() :]}"  # noqa: PLW2901
        if not inside or new_name is not None:
            lines += [*above, *below, line]
            above, below = [], []
        elif not line.strip() or line.lstrip().startswith("#"):
            below.append(line)
            if not line.strip():
                above = []  # one gap is enough
        else:
            while lines and not lines[-1].strip():
                above.insert(0, lines.pop())
            below = []
    return "".join([*lines, *(above if below else ()), *below])


def resolve_unix_path(uds: object) -> str:
    """Return the absolute path of ``uds=``, of a server or a client.

    Raises
    ------
    OptionError
        If it is not a path, or the system has no Unix sockets.
    """
    path = os.fspath(uds) if isinstance(uds, (str, os.PathLike)) else ""
    if not path or not isinstance(path, str) or "\0" in path:
        shown = sanitize_text(repr(uds), 80)
        msg = f"uds= takes the path of a socket, such as '/run/gqlnb.sock'; got {shown}."
        raise OptionError(msg)
    if not hasattr(socket, "AF_UNIX"):
        msg = "uds= needs Unix sockets, which this system does not have. Use a port instead."
        raise OptionError(msg)
    return os.path.abspath(path)
