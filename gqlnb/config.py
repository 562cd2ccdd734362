"""Files that are replaced in one step: who reads one finds it as it was, or as it is now."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gqlnb.errors import OptionError, sanitize_text, suggest

__all__ = [
    "SETTINGS_FORMAT",
    "Salvage",
    "Settings",
    "get_user_file",
    "load_project_settings",
    "load_user_settings",
    "replace_file",
    "salvage_project",
    "salvage_user",
    "shorten_path",
    "suggest_name",
]


def replace_file(path: Path, data: bytes, *, keep_mode: bool) -> None:
    """Put bytes in the place of a file, at once or not at all.

    Parameters
    ----------
    path
        The file; a link is replaced itself, so resolve it first to keep it.
    data
        What it is to hold.
    keep_mode
        Whether to keep the permissions it has; else its owner alone may read it.

    Raises
    ------
    OSError
        If it cannot be written; it is then as it was.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 600
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if keep_mode:
            shutil.copymode(path, made)
        made.replace(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise


PROJECT_FILE = "pyproject.toml"
SETTINGS_FORMAT = 1  # of the user's file, which says it in `version`
TABLE_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
KEY_LINE = re.compile(
    r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
KEY_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What a settings file says to us.

    Attributes
    ----------
    path
        The file.
    text
        All of it.
    table
        The keys that lead to our part of it.
    values
        That part.
    """

    path: Path
    text: str
    table: tuple[str, ...]
    values: Mapping[str, Any]

    def locate_key(self, *keys: str) -> str:
        """Return the file, and the line that the value of `keys` begins in."""
        return f"{shorten_path(self.path)}, line {find_line(self.text, (*self.table, *keys))}"

    def get_table(self, name: str) -> Mapping[str, Any]:
        """Return a table within our part; empty if there is none.

        Raises
        ------
        OptionError
            If there is something else of that name.
        """
        found = self.values.get(name, {})
        if isinstance(found, Mapping):
            return found
        message = (
            f"{self.locate_key(name)}: {name!r} must be a table, not a {type(found).__name__}."
        )
        raise OptionError(message)


@dataclass(frozen=True, slots=True, eq=False)
class Salvage:
    """The tables of a file that is not valid TOML as a whole.

    Attributes
    ----------
    settings
        Those that are valid by themselves.
    broken
        Why others are not, by their keys within our part.
    fault
        What is wrong with the file, if that is not in a table of ours.
    """

    settings: Settings
    broken: Mapping[tuple[str, ...], str]
    fault: str


def salvage_user() -> Salvage | None:
    """Return the valid tables of the user's own file; None if it cannot be read as text."""
    return salvage_tables(get_user_file(), ())


def salvage_project() -> Salvage | None:
    """Return the valid tables of the project's file; None if it cannot be read as text."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).exists():
            return salvage_tables(folder / PROJECT_FILE, ("tool", "gqlnb"))
    return None


def salvage_tables(path: Path, table: tuple[str, ...]) -> Salvage | None:
    """Parse each table of a file by itself, so that a mistake in one does not hide the others."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    values: dict[str, Any] = {}
    broken: dict[tuple[str, ...], str] = {}
    fault = ""
    for line, section in split_tables(text):
        head = TABLE_HEADER.match(section.partition("\n")[0])
        keys = split_key(head[1]) if head else ()
        ours = len(keys) > len(table) and keys[: len(table)] == table
        try:
            found: Any = tomllib.loads(section)
        except tomllib.TOMLDecodeError as error:
            said = describe_toml_error(path, section, error, line)
            if ours:
                broken[keys[len(table) :]] = said
            fault = fault or ("" if ours else said)
            continue
        for key in table:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        if isinstance(found, Mapping):
            merge_tables(values, found)
    return Salvage(Settings(path, text, table, values), broken, fault)


def split_tables(text: str) -> Iterator[tuple[int, str]]:
    """Yield the tables of a file, each with the number of lines before it."""
    start, lines = 0, text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if number > start and TABLE_HEADER.match(line):
            yield start, "".join(lines[start:number])
            start = number
    yield start, "".join(lines[start:])


def merge_tables(values: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add the members of a table to those of other sections of the same file."""
    for key, value in found.items():
        if isinstance(value, Mapping) and isinstance(values.get(key), dict):
            merge_tables(values[key], value)
        else:
            values[key] = value


def describe_toml_error(
    path: Path, text: str, error: tomllib.TOMLDecodeError, before: int = 0
) -> str:
    """Return what is wrong with the TOML of a file, with the line."""
    said = str(error)
    place = AT_LINE.search(said)
    line = before + (int(place[1]) if place else text.count("\n") + 1)
    return f"{shorten_path(path)}, line {line}: invalid TOML. {sanitize_text(AT_LINE.sub('', said), 200)}."


def load_project_settings() -> Settings | None:
    """Return ``[tool.gqlnb]`` of the ``pyproject.toml`` nearest to the current folder, upward.

    None if there is no such file, or it has no such table.

    Raises
    ------
    OptionError
        If the file is no TOML; it names file and line.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = read_settings(folder / PROJECT_FILE, ("tool", "gqlnb"))
        if found is not None:
            return found if found.values else None
    return None


def get_user_file() -> Path:
    """Return where the user's own connections are listed; the file need not exist."""
    from platformdirs import user_config_path

    return user_config_path("gqlnb") / "connections.toml"


def load_user_settings() -> Settings | None:
    """Return the user's own file; None if there is none.

    Raises
    ------
    OptionError
        If it is no TOML, or of another format than ours.
    """
    found = read_settings(get_user_file(), ())
    if found is not None and found.values.get("version", SETTINGS_FORMAT) != SETTINGS_FORMAT:
        message = f"{found.locate_key('version')}: the format must be {SETTINGS_FORMAT}: version = {SETTINGS_FORMAT}."
        raise OptionError(message)
    return found


def read_settings(path: Path, table: tuple[str, ...]) -> Settings | None:
    """Return a part of a TOML file; None if there is no such file.

    Raises
    ------
    OptionError
        If it cannot be read.
    """
    try:
        state = path.stat()
        return parse_settings(path, table, state.st_mtime_ns, state.st_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
    message = f"{shorten_path(path)} cannot be read: {reason}."
    raise OptionError(message)


@lru_cache(maxsize=8)
def parse_settings(path: Path, table: tuple[str, ...], _written: int, _size: int) -> Settings:
    """Parse a file; remembered until it is written again.

    Raises
    ------
    OptionError
        If it is no TOML.
    """
    text = path.read_text(encoding="utf-8")
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = describe_toml_error(path, text, error)
    else:
        for key in table:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        return Settings(path, text, table, found if isinstance(found, Mapping) else {})
    raise OptionError(message)


def shorten_path(path: Path) -> str:
    """Return a path as people write it: from here, or from their home."""
    for top, mark in ((Path.cwd(), ""), (Path.home(), f"~{os.sep}")):
        if path.is_relative_to(top):
            return f"{mark}{path.relative_to(top)}"
    return str(path)


def find_line(text: str, keys: tuple[str, ...]) -> int:
    """Return the line that comes nearest to the value of `keys`, counted from 1."""
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


def suggest_name(word: str, known: Iterable[str]) -> str:
    """Return what was meant by a word that is not known, and what is known."""
    known = list(known)
    return suggest(word, known).strip() or f"There are: {', '.join(known)}."
