"""Settings files: the project's ``pyproject.toml``, and the user's own list of connections."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gqlnb.errors import OptionError, plain

__all__ = [
    "FORMAT",
    "Salvage",
    "Settings",
    "guess",
    "project",
    "salvage_project",
    "salvage_user",
    "shown",
    "user",
    "user_file",
]

PROJECT = "pyproject.toml"
FORMAT = 1  # of the user's file, which says it in `version`
HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")
KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
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

    def where(self, *keys: str) -> str:
        """Return the file, and the line that the value of `keys` begins in."""
        return f"{shown(self.path)}, line {line_of(self.text, (*self.table, *keys))}"

    def part(self, name: str) -> Mapping[str, Any]:
        """Return a table within our part; empty if there is none.

        Raises
        ------
        OptionError
            If there is something else of that name.
        """
        found = self.values.get(name, {})
        if isinstance(found, Mapping):
            return found
        message = f"{self.where(name)}: {name!r} must be a table, not a {type(found).__name__}."
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
    return salvage(user_file(), ())


def salvage_project() -> Salvage | None:
    """Return the valid tables of the project's file; None if it cannot be read as text."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / PROJECT).exists():
            return salvage(folder / PROJECT, ("tool", "gqlnb"))
    return None


def salvage(path: Path, table: tuple[str, ...]) -> Salvage | None:
    """Parse each table of a file by itself, so that a mistake in one does not hide the others."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    values: dict[str, Any] = {}
    broken: dict[tuple[str, ...], str] = {}
    fault = ""
    for line, section in sections(text):
        head = HEADER.match(section.partition("\n")[0])
        keys = names(head[1]) if head else ()
        ours = len(keys) > len(table) and keys[: len(table)] == table
        try:
            found: Any = tomllib.loads(section)
        except tomllib.TOMLDecodeError as error:
            said = toml_fault(path, section, error, line)
            if ours:
                broken[keys[len(table) :]] = said
            fault = fault or ("" if ours else said)
            continue
        for key in table:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        if isinstance(found, Mapping):
            merge(values, found)
    return Salvage(Settings(path, text, table, values), broken, fault)


def sections(text: str) -> Iterator[tuple[int, str]]:
    """Yield the tables of a file, each with the number of lines before it."""
    start, lines = 0, text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if number > start and HEADER.match(line):
            yield start, "".join(lines[start:number])
            start = number
    yield start, "".join(lines[start:])


def merge(values: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add the members of a table to those of other sections of the same file."""
    for key, value in found.items():
        if isinstance(value, Mapping) and isinstance(values.get(key), dict):
            merge(values[key], value)
        else:
            values[key] = value


def toml_fault(path: Path, text: str, error: tomllib.TOMLDecodeError, before: int = 0) -> str:
    """Return what is wrong with the TOML of a file, with the line."""
    said = str(error)
    place = AT_LINE.search(said)
    line = before + (int(place[1]) if place else text.count("\n") + 1)
    return f"{shown(path)}, line {line}: invalid TOML. {plain(AT_LINE.sub('', said), 200)}."


def project() -> Settings | None:
    """Return ``[tool.gqlnb]`` of the ``pyproject.toml`` nearest to the current folder, upward.

    None if there is no such file, or it has no such table.

    Raises
    ------
    OptionError
        If the file is no TOML; it names file and line.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = read(folder / PROJECT, ("tool", "gqlnb"))
        if found is not None:
            return found if found.values else None
    return None


def user_file() -> Path:
    """Return where the user's own connections are listed; the file need not exist."""
    from platformdirs import user_config_path

    return user_config_path("gqlnb") / "connections.toml"


def user() -> Settings | None:
    """Return the user's own file; None if there is none.

    Raises
    ------
    OptionError
        If it is no TOML, or of another format than ours.
    """
    found = read(user_file(), ())
    if found is not None and found.values.get("version", FORMAT) != FORMAT:
        message = f"{found.where('version')}: the format must be {FORMAT}: version = {FORMAT}."
        raise OptionError(message)
    return found


def read(path: Path, table: tuple[str, ...]) -> Settings | None:
    """Return a part of a TOML file; None if there is no such file.

    Raises
    ------
    OptionError
        If it cannot be read.
    """
    try:
        state = path.stat()
        return parsed(path, table, state.st_mtime_ns, state.st_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
    message = f"{shown(path)} cannot be read: {reason}."
    raise OptionError(message)


@lru_cache(maxsize=8)
def parsed(path: Path, table: tuple[str, ...], _written: int, _size: int) -> Settings:
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
        message = toml_fault(path, text, error)
    else:
        for key in table:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        return Settings(path, text, table, found if isinstance(found, Mapping) else {})
    raise OptionError(message)


def shown(path: Path) -> str:
    """Return a path as people write it: from here, or from their home."""
    for top, mark in ((Path.cwd(), ""), (Path.home(), f"~{os.sep}")):
        if path.is_relative_to(top):
            return f"{mark}{path.relative_to(top)}"
    return str(path)


def line_of(text: str, keys: tuple[str, ...]) -> int:
    """Return the line that comes nearest to the value of `keys`, counted from 1."""
    best, nearest = 1, 0
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        top, key = HEADER.match(line), KEY.match(line)
        if top is not None:
            path = header = names(top[1])
        elif key is not None:
            path = header + names(key[1])
        else:
            continue
        alike = [a == b for a, b in zip(path, keys, strict=False)]
        common = [*alike, False].index(False)
        if common > nearest:
            best, nearest = number, common
    return best


def names(dotted: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    return tuple(part.strip("\"'") for part in PART.findall(dotted))


def guess(word: str, known: Iterable[str]) -> str:
    """Return what was meant by a word that is not known, and what is known."""
    known = list(known)
    near = difflib.get_close_matches(word, known, 1)
    return f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
