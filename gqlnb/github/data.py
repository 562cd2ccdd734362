"""The embedded snapshot: repositories, their owners and languages, with the indexes to find them.

The table stands in ``repositories.csv`` beside this file; NOTICE names its sources. It was compiled
from lists of the most starred repositories (overall, per language) and the most forked ones, so it
is complete above about 110,000 stars, for the larger languages above about 57,000, and holds a
sample below: its counts are not GitHub's.
"""

from __future__ import annotations

import csv
import threading
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["SNAPSHOT", "Language", "Owner", "Repositories", "Repository", "embedded"]

SNAPSHOT = "2026-08-22"
"""The day whose star counts the embedded table holds."""

# Of the 748 owners whose kind is known 433 are organizations.
_ORGANIZATIONS = 0.58
_TABLE = "repositories.csv"


class Owner(NamedTuple):
    """An account that owns repositories.

    Attributes
    ----------
    login
        Its name, as it is written.
    kind
        ``"User"`` or ``"Organization"``.
    """

    login: str
    kind: str

    @property
    def node_id(self) -> str:
        """The id of this account as a node."""
        return node_id(self.kind[0], self.login)

    @property
    def path(self) -> str:
        """Its address without the host."""
        return f"/{self.login}"


class Language(NamedTuple):
    """A language that code is written in."""

    name: str

    @property
    def node_id(self) -> str:
        """The id of this language as a node."""
        return node_id("L", self.name)


class Repository(NamedTuple):
    """One repository as it was on the day of the snapshot.

    Attributes
    ----------
    name
        Its name without the owner.
    owner
        The account that owns it.
    stars, forks
        How many people have starred and forked it.
    language
        What most of it is written in; None if unknown.
    pushed_at
        When something was last pushed, ISO 8601 in UTC, to the second.
    """

    name: str
    owner: Owner
    stars: int
    forks: int
    language: Language | None
    pushed_at: str

    @property
    def full_name(self) -> str:
        """Owner and name with a slash between."""
        return f"{self.owner.login}/{self.name}"

    @property
    def node_id(self) -> str:
        """The id of this repository as a node."""
        return node_id("R", self.full_name)

    @property
    def path(self) -> str:
        """Its address without the host."""
        return f"/{self.full_name}"


Node = Repository | Owner | Language


@dataclass(frozen=True, eq=False, repr=False)
class Repositories:
    """An immutable set of repositories.

    Attributes
    ----------
    rows
        The repositories, most starred first, those of equal stars by owner and name.
    """

    rows: tuple[Repository, ...]

    @classmethod
    def of(cls, rows: Iterable[Repository]) -> Repositories:
        """Sort `rows` and hold them."""
        return cls(tuple(sorted(rows, key=lambda row: (-row.stars, row.full_name.lower()))))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Repositories: {len(self.rows):,}>"

    @cached_property
    def by_name(self) -> Mapping[str, Repository]:
        """The repositories by owner and name, in lower case with a slash between."""
        return {row.full_name.lower(): row for row in self.rows}

    @cached_property
    def by_owner(self) -> Mapping[str, tuple[Repository, ...]]:
        """The repositories of each owner, most starred first, by login in lower case."""
        found: dict[str, list[Repository]] = {}
        for row in self.rows:
            found.setdefault(row.owner.login.lower(), []).append(row)
        return {login: tuple(rows) for login, rows in found.items()}

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Repositories, owners and languages by their node ids."""
        nodes: dict[str, Node] = {}
        for row in self.rows:
            nodes[row.node_id] = row
            nodes[row.owner.node_id] = row.owner
            if row.language:
                nodes[row.language.node_id] = row.language
        return nodes

    def owner(self, login: str) -> Owner | None:
        """Return the account of that login, in any case, or None."""
        rows = self.by_owner.get(login.lower())
        return rows[0].owner if rows else None


def node_id(letter: str, text: str) -> str:
    """Return the id of the object called `text`, of the kind that begins with `letter`."""
    return f"{letter}_{urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def owner_kind(login: str) -> str:
    """Choose a kind for an account whose kind is unknown: the same one for ever.

    The first four bytes of the SHA-256 of the login in lower case, read as a fraction of 1, make
    it an organization below 0.58, the share of organizations among the owners that are known.
    """
    fraction = int.from_bytes(sha256(login.lower().encode()).digest()[:4], "big") / 2**32
    return "Organization" if fraction < _ORGANIZATIONS else "User"


def read(lines: Iterable[str]) -> Repositories:
    """Read the table from the lines of a CSV file with a header."""
    table = csv.reader(lines)
    next(table)
    owners: dict[str, Owner] = {}
    languages: dict[str, Language | None] = {"": None}
    rows = []
    for name, login, kind, stars, forks, language, pushed_at in table:
        if login not in owners:
            owners[login] = Owner(login, kind or owner_kind(login))
        if language not in languages:
            languages[language] = Language(language)
        row = Repository(
            name, owners[login], int(stars), int(forks), languages[language], pushed_at
        )
        rows.append(row)
    return Repositories.of(rows)


_lock = threading.Lock()
_loaded: list[Repositories] = []


def embedded() -> Repositories:
    """Return the embedded snapshot, read from the package once."""
    with _lock:
        if not _loaded:
            text = (files("gqlnb.github") / _TABLE).read_text(encoding="utf-8")
            _loaded.append(read(text.splitlines()))
        return _loaded[0]
