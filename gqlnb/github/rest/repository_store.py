"""The rows of one running REST service: a writable copy, safe to use from any thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gqlnb.github.repositories import Repository

__all__ = ["RepositoryStore", "StoredRepository"]


class StoredRepository(NamedTuple):
    """One repository.

    Attributes
    ----------
    id
        1 or more; an id is never given to another repository.
    name
        The name without the owner.
    login, kind
        The owner's login, and ``"User"`` or ``"Organization"``.
    stars, forks
        The numbers of stars and forks.
    language
        The primary language; None if unknown.
    pushed_at
        The time of the last push, ISO 8601 in UTC; None if there was none.
    """

    id: int
    name: str
    login: str
    kind: str
    stars: int
    forks: int
    language: str | None
    pushed_at: str | None

    @property
    def key(self) -> tuple[str, str]:
        """Owner and name in lower case, unique among the rows."""
        return self.login.lower(), self.name.lower()

    def to_dict(self) -> dict[str, object]:
        """Return the body of the repository."""
        return {
            "id": self.id,
            "name": self.name,
            "owner": {"login": self.login, "type": self.kind},
            "stars": self.stars,
            "forks": self.forks,
            "language": self.language,
            "pushed_at": self.pushed_at,
        }


class RepositoryStore:
    """Rows that can be created, replaced, starred and deleted.

    Parameters
    ----------
    repositories
        The initial rows; they get the ids 1, 2, ... in their order.
    """

    def __init__(self, repositories: Iterable[Repository]) -> None:
        self._lock = threading.Lock()
        self._rows = {
            number: StoredRepository(
                number,
                row.name,
                row.owner.login,
                row.owner.kind,
                row.stars,
                row.forks,
                row.language.name if row.language else None,
                row.pushed_at or None,
            )
            for number, row in enumerate(repositories, start=1)
        }
        self._ids = {row.key: number for number, row in self._rows.items()}
        self._kinds = {row.login.lower(): row.kind for row in self._rows.values()}
        self._starred: set[tuple[str, int]] = set()
        self._last_id = len(self._rows)
        self._listing: tuple[StoredRepository, ...] | None = None

    def list_rows(self) -> tuple[StoredRepository, ...]:
        """Return all rows, most starred first, those of equal stars by id."""
        with self._lock:
            # Sorting 3,449 rows takes longer than answering a page, so the order is kept.
            if self._listing is None:
                rows = self._rows.values()
                self._listing = tuple(sorted(rows, key=lambda row: (-row.stars, row.id)))
            return self._listing

    def get(self, number: int) -> StoredRepository | None:
        """Return the row of an id, or None."""
        return self._rows.get(number)

    def create(self, login: str, name: str, language: str | None) -> StoredRepository:
        """Add a repository without stars and forks.

        Raises
        ------
        ValueError
            If the owner has a repository of that name.
        """
        with self._lock:
            kind = self._kinds.get(login.lower(), "User")
            row = StoredRepository(self._last_id + 1, name, login, kind, 0, 0, language, None)
            self._save_row(row)
            self._last_id = row.id
            return row

    def replace(self, number: int, name: str, language: str | None) -> StoredRepository:
        """Replace the name and the language of a repository.

        Raises
        ------
        KeyError
            If the id is unknown.
        ValueError
            If its owner has another repository of that name.
        """
        with self._lock:
            old = self._rows[number]
            row = self._save_row(old._replace(name=name, language=language))
            if row.key != old.key:
                del self._ids[old.key]
            return row

    def delete(self, number: int) -> StoredRepository:
        """Delete a repository and return it.

        Raises
        ------
        KeyError
            If the id is unknown.
        """
        with self._lock:
            row = self._rows.pop(number)
            del self._ids[row.key]
            # Ids are not reused, but the set would grow with every deleted repository.
            self._starred = {pair for pair in self._starred if pair[1] != number}
            self._listing = None
            return row

    def star(self, number: int, login: str, *, starred: bool) -> StoredRepository:
        """Star a repository for an account, or take its star back; repeating changes nothing.

        Raises
        ------
        KeyError
            If the id is unknown.
        """
        with self._lock:
            row, pair = self._rows[number], (login.lower(), number)
            if (pair in self._starred) == starred:
                return row
            (self._starred.add if starred else self._starred.remove)(pair)
            return self._save_row(row._replace(stars=row.stars + (1 if starred else -1)))

    def _save_row(self, row: StoredRepository) -> StoredRepository:
        # First of all, so that a refused write changes nothing.
        if self._ids.setdefault(row.key, row.id) != row.id:
            raise ValueError(row.name)
        self._rows[row.id] = row
        self._listing = None
        return row
