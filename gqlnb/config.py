"""Settings files in TOML: reading, and atomic replacement."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.errors import OptionError, sanitize_text

if TYPE_CHECKING:
    from tomlkit.container import Container


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
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask
            with suppress(OSError):  # a stick with exFAT has no modes
                temporary.chmod(mode)
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
# Comments at the end of a table, and the rest of it: they may belong to the next one.
REMOVED_PART = re.compile(r"(?s).*?((?m:^)[ \t]*+#[^\n]*+(?:\n\s*+(?:#[^\n]*+)?)*+)?\Z")
BORDER = "\0\n"
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
    import platformdirs

    return platformdirs.user_config_path("gqlnb") / "connections.toml"


def get_cache_folder(kind: str) -> Path:
    """Return the folder of one kind of cached files of the user, which need not exist."""
    import platformdirs

    return platformdirs.user_cache_path("gqlnb", appauthor=False) / kind


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
    try:
        return Settings(path, text, table, get_subtable(tomllib.loads(text), table))
    except tomllib.TOMLDecodeError as error:
        message = describe_toml_error(path, text, error)
    raise OptionError(message)


def find_settings(table: str, name: str) -> Settings | None:
    """Return the settings whose table has a name: the project's, else the user's; None if none."""
    files = (load_project_settings(), load_user_settings())
    return next((it for it in files if it is not None and name in it.get_table(table)), None)


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


def write_table(
    settings: Settings,
    path: tuple[str, ...],
    value: Mapping[str, Any] | None = None,
    *,
    new_name: str | None = None,
) -> str:
    """Add, replace, rename or remove a table of a settings file.

    All else in the file stays as it is, byte for byte, with the comments above and below.

    Parameters
    ----------
    settings
        The file.
    path
        The keys of the table in those settings.
    value
        The new table, for the end of the file; without it and `new_name` the table is removed.
    new_name
        A new last key.

    Returns
    -------
    str
        The path of the file, as it is shown.

    Raises
    ------
    OptionError
        If the table is written in a way that cannot be changed like this.
    """
    from tomlkit import exceptions

    keys, text = (*settings.table, *path), settings.text
    before, others = take_value(text, keys)
    try:
        changed = text if before is None else edit_table(text, keys, new_name)
        changed = changed if value is None else append_table(changed, keys, value)
        result = take_value(changed, (*keys[:-1], new_name or keys[-1]))
    except (exceptions.TOMLKitError, ValueError):  # which invalid TOML is, too
        result = None
    if result != (before if new_name is not None else value, others):
        place = settings.locate_key(*path)
        message = f"{place}: {'.'.join(path)} must be edited by hand; the file was left as it is."
        raise OptionError(message)
    replace_file(settings.path.resolve(), changed.encode(), private=not settings.table)
    return shorten_path(settings.path)  # of a symbolic link, whose target was replaced


def take_value(text: str, keys: tuple[str, ...]) -> tuple[object, object]:
    """Return a value of a TOML text, and all other values."""
    whole = table = tomllib.loads(text, parse_float=str)  # as text, because nan != nan
    for key in keys[:-1]:
        table = table.setdefault(key, {})
    return table.pop(keys[-1], None), whole


def split_at_table(text: str, keys: tuple[str, ...], new_name: str | None = None) -> list[str]:
    """Split a file at each part of a table, and rename it; its parts have odd indexes."""
    from tomlkit import items, key, parse

    def mark(container: Container, keys: tuple[str, ...]) -> None:
        """Mark the parts of a table: one that is continued further below has several."""
        for index, (old_key, item) in reversed([*enumerate(container.body)]):
            if old_key is None or old_key.key != keys[0]:
                continue
            if keys[1:]:
                mark(item.value, keys[1:])
                continue
            new_key: items.Key | None = old_key
            if new_name is not None:
                # Parsed, because no constructor of a key takes whether it is dotted.
                name = key(new_name).as_string() + ".x" * old_key.is_dotted()
                new_key = parse(f"{name}{' ' * bool(old_key.sep)}= 1").body[0][0]
                if isinstance(item, items.Table):
                    item.invalidate_display_name()
            container.body[index : index + 1] = [border, (new_key, item), border]

    # Not valid in TOML, and the end of a line: tomlkit begins a new one before a table otherwise.
    border = None, items.Whitespace(BORDER)
    document = parse(text)
    mark(document, keys)
    return document.as_string().split(BORDER)


def edit_table(text: str, keys: tuple[str, ...], new_name: str | None) -> str:
    """Rename a table, or remove it; raise ValueError if tomlkit does not keep all bytes."""
    parts = split_at_table(text, keys)
    if "".join(parts) != text:
        raise ValueError(text)
    if new_name is not None:
        parts[1::2] = split_at_table(text, keys, new_name)[1::2]
        return "".join(parts)
    parts[1::2] = [REMOVED_PART.sub(r"\0\1", part, count=1) for part in parts[1::2]]
    # Within an inline table, the comma after it, or before it if it is the last one.
    return re.sub(r"\0\s*,\s*|,\s*\0(?=\s*})|\0", "", "".join(parts))


def append_table(text: str, keys: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """Add a table at the end of a file, or within the inline table that it belongs to."""
    import tomlkit

    table = reduce(lambda table, key: {key: table}, reversed(keys), value)
    added = f"\n\n{tomlkit.dumps(table)}".replace("\n", "\r\n" if "\r\n" in text else "\n")
    changed = text.rstrip("\r\n") + added
    with suppress(tomllib.TOMLDecodeError):
        tomllib.loads(changed)
        return changed
    document = tomlkit.parse(text)
    reduce(getitem, keys[:-1], document)[keys[-1]] = value
    before, part, after = split_at_table(document.as_string(), keys)
    if not re.fullmatch(f"{re.escape(before.rstrip(', '))}[ ,]*{re.escape(after)}", text):
        raise ValueError(text)
    return f"{before}{part}{after}"


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
