"""Repositories, their owners and languages, and the embedded snapshot.

The table is ``repositories.csv`` beside this file; NOTICE names its sources, and
``github.service().synthetic`` the fields that are not from them. It was compiled from lists of the
most starred repositories (overall, per language) and the most forked ones, so it is complete above
about 110,000 stars, for the larger languages above about 57,000, and holds a sample below: its
counts are not GitHub's.
"""

from __future__ import annotations

import csv
import threading
from base64 import urlsafe_b64decode
from binascii import b2a_base64
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The day of the star counts in the embedded table.
SNAPSHOT_DATE = "2026-08-22"
#: The time when GitHub opened to everybody; no repository is older.
GITHUB_LAUNCH = "2008-04-10T00:00:00Z"

# Of the 748 owners whose kind is known 433 are organizations.
_ORGANIZATION_SHARE = 0.58
_TABLE_FILE, _LANGUAGES_FILE = "repositories.csv", "languages.csv"
_EPOCH = date(1970, 1, 1)
_URLSAFE_ALPHABET = bytes.maketrans(b"+/", b"-_")
# The sources do not tell which repositories are archived; five years without a push stand for it.
_ARCHIVED_BEFORE = "2021-08-22T00:00:00Z"


class Owner(NamedTuple):
    """An account that owns repositories.

    Attributes
    ----------
    login
        The login in its own case.
    kind
        ``"User"`` or ``"Organization"``.
    """

    login: str
    kind: str

    @property
    def node_id(self) -> str:
        """The node id of the account."""
        return make_node_id(self.kind[0], self.login)

    @property
    def path(self) -> str:
        """The path of its page on GitHub."""
        return f"/{self.login}"


class Language(NamedTuple):
    """A programming language."""

    name: str

    @property
    def node_id(self) -> str:
        """The node id of the language."""
        return make_node_id("L", self.name)


class License(NamedTuple):
    """An open source licence: its key on GitHub, its name, and its identifier in the SPDX list."""

    key: str
    name: str
    spdx_id: str

    @property
    def node_id(self) -> str:
        """The node id of the licence."""
        return make_node_id("C", self.key)


class Repository(NamedTuple):
    """One repository at the time of the snapshot.

    Attributes
    ----------
    name
        The name without the owner.
    owner
        The account that owns it.
    stars, forks
        The numbers of stars and forks.
    language
        The primary language; None if unknown.
    pushed_at, created_at
        The times of the last push and of the creation; ISO 8601 in UTC, to the second.
    archived
        Whether it is read-only.
    """

    name: str
    owner: Owner
    stars: int
    forks: int
    language: Language | None
    pushed_at: str
    created_at: str = GITHUB_LAUNCH
    archived: bool = False

    @property
    def full_name(self) -> str:
        """``owner/name``."""
        return f"{self.owner.login}/{self.name}"

    @property
    def node_id(self) -> str:
        """The node id of the repository."""
        return make_node_id("R", self.full_name)

    @property
    def path(self) -> str:
        """The path of its page on GitHub."""
        return f"/{self.full_name}"


def make_node_id(letter: str, text: str) -> str:
    """Return the node id of an object: the first letter of its type, and its name in base64."""
    coded = b2a_base64(text.encode(), newline=False).translate(_URLSAFE_ALPHABET, b"=")
    return f"{letter}_{coded.decode()}"


def parse_node_id(text: str) -> tuple[str, str] | None:
    """Return the letter and the name of an id of :func:`make_node_id`, or None for another text."""
    letter, coded = text[:1], text[2:]
    try:
        name = urlsafe_b64decode((coded + "=" * (-len(coded) % 4)).encode("ascii")).decode()
    except ValueError:  # binascii.Error and the UnicodeErrors are subclasses
        return None
    # base64 has several spellings of some texts; only the one that we write is an id.
    return (letter, name) if make_node_id(letter, name) == text else None


def format_timestamp(moment: int) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC, as ``2026-08-22T04:07:00Z``."""
    day, rest = divmod(moment, 86_400)
    hour, rest = divmod(rest, 3_600)
    return f"{_format_date(day)}T{hour:02}:{rest // 60:02}:{rest % 60:02}Z"


@lru_cache(16_384)  # 44 years of days; formatting a date takes two thirds of the time
def _format_date(day: int) -> str:
    return (_EPOCH + timedelta(day)).isoformat()


def parse_timestamp(moment: str) -> int:
    """Return ISO 8601 with a zone as seconds since 1970.

    Raises
    ------
    ValueError, OverflowError
        If the text is not such a time.
    """
    return int(datetime.fromisoformat(moment).astimezone(UTC).timestamp())


def choose_owner_kind(login: str) -> str:
    """Return a kind for an account of unknown kind, always the same for a login.

    It is an organization if :func:`hash_to_fraction` is below 0.58, the share of organizations
    among the known owners.
    """
    return "Organization" if hash_to_fraction(login) < _ORGANIZATION_SHARE else "User"


def choose_creation_time(full_name: str, year: str, pushed_at: str) -> str:
    """Return a creation time for a repository, always the same for a name.

    :func:`hash_to_fraction` of owner and name divides the possible time: the year, where the
    sources have it, or else the time since GitHub opened; never after the last push.
    """
    begin, end = parse_timestamp(GITHUB_LAUNCH), parse_timestamp(pushed_at)
    if year:
        begin = parse_timestamp(f"{year}-01-01T00:00:00Z")
        end = min(end, parse_timestamp(f"{year}-12-31T23:59:59Z"))
    return format_timestamp(begin + int(hash_to_fraction(full_name) * max(0, end - begin)))


def hash_to_fraction(text: str) -> float:
    """Return the first four bytes of the SHA-256 of `text` in lower case as a fraction of 1."""
    return int.from_bytes(sha256(text.lower().encode()).digest()[:4], "big") / 2**32


def read_table(lines: Iterable[str]) -> tuple[Repository, ...]:
    """Return the repositories of a CSV file with a header, in the order of `load_snapshot`."""
    table = csv.reader(lines)
    next(table)
    owners: dict[str, Owner] = {}
    languages: dict[str, Language | None] = {"": None}
    rows = []
    for name, login, kind, stars, forks, language, pushed_at, *year in table:
        if login not in owners:
            owners[login] = Owner(login, kind or choose_owner_kind(login))
        if language not in languages:
            languages[language] = Language(language)
        row = Repository(
            name=name,
            owner=owners[login],
            stars=int(stars),
            forks=int(forks),
            language=languages[language],
            pushed_at=pushed_at,
            created_at=choose_creation_time(f"{login}/{name}", "".join(year), pushed_at),
            archived=pushed_at < _ARCHIVED_BEFORE,
        )
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: (-row.stars, row.full_name.lower())))


@lru_cache(1)
def read_languages() -> dict[str, list[str]]:
    """Return the color of each language, empty if it has none, and its aliases."""
    text = (files("gqlnb.github") / _LANGUAGES_FILE).read_text(encoding="utf-8")
    return {name: about for name, *about in csv.reader(text.splitlines()[1:])}


def find_language_color(name: str) -> str | None:
    """Return the color of a language on GitHub, ``"#3572A5"``, or None if it has none."""
    return read_languages().get(name, [""])[0] or None


def list_licenses() -> tuple[License, ...]:
    """Return the licences that GitHub proposes for new repositories, by key."""
    return tuple(
        License(key, name, spdx_id)
        for key, name, spdx_id in (
            ("agpl-3.0", "GNU Affero General Public License v3.0", "AGPL-3.0"),
            ("apache-2.0", "Apache License 2.0", "Apache-2.0"),
            ("bsd-2-clause", 'BSD 2-Clause "Simplified" License', "BSD-2-Clause"),
            ("bsd-3-clause", 'BSD 3-Clause "New" or "Revised" License', "BSD-3-Clause"),
            ("bsl-1.0", "Boost Software License 1.0", "BSL-1.0"),
            ("cc0-1.0", "Creative Commons Zero v1.0 Universal", "CC0-1.0"),
            ("epl-2.0", "Eclipse Public License 2.0", "EPL-2.0"),
            ("gpl-2.0", "GNU General Public License v2.0", "GPL-2.0"),
            ("gpl-3.0", "GNU General Public License v3.0", "GPL-3.0"),
            ("lgpl-2.1", "GNU Lesser General Public License v2.1", "LGPL-2.1"),
            ("mit", "MIT License", "MIT"),
            ("mpl-2.0", "Mozilla Public License 2.0", "MPL-2.0"),
            ("unlicense", "The Unlicense", "Unlicense"),
        )
    )


_snapshot_lock = threading.Lock()


def load_snapshot() -> tuple[Repository, ...]:
    """Return the embedded snapshot, most stars first, equal ones by owner and name."""
    with _snapshot_lock:  # so that threads that start together do not read it twice
        return _read_snapshot()


@lru_cache(1)
def _read_snapshot() -> tuple[Repository, ...]:
    text = (files("gqlnb.github") / _TABLE_FILE).read_text(encoding="utf-8")
    return read_table(text.splitlines())
