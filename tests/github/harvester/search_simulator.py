"""A second simulation of GitHub's search, which shares no code with the stand-in.

It keeps its repositories in NumPy arrays, reads the few qualifiers that a harvest sends with its
own regular expressions, and changes its data before every request. It knows which repositories
matched from the first request to the last, so a test can tell which ones a harvest had to find.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from gqlnb.github.harvester.storage import RepositoryRow
from gqlnb.lists.window_harvest import Page

if TYPE_CHECKING:
    from gqlnb.github.harvester.requests import SearchRequest

FIRST_SECOND = 1_230_768_000  # 2009
LAST_SECOND = 1_780_000_000
SPARE = 4_000  # rows for repositories that appear during a run
REPLICA_AGE = 40  # requests
ABSENCE = 20  # requests


@dataclass(frozen=True, kw_only=True)
class Changes:
    """How the data and the answers change.

    Attributes
    ----------
    moves
        Star changes before each request.
    falls
        Share of them that take a star away.
    jumps
        Share of requests before which a repository gains 5 to 300 stars at once.
    deletions, creations, publications
        Share of requests before which a repository disappears, is created now, or appears with an
        old creation time.
    lag
        Number of requests after which the index shows a change of stars; rows show it at once.
    wobble
        Each count is wrong by a random number up to this.
    offset
        Each count is wrong by a number up to this, the same for the same text.
    drops, flicker
        Share of results that a text, or a single request, leaves out, though counted.
    hidden
        Number of repositories that are counted and never shown.
    repeats
        Share of results shown in the place of their successor.
    nulls
        Share of results that are null in a single answer.
    ties
        Whether the order of equal stars depends on the text; else on the id.
    shuffle
        Whether it changes with every request.
    bursts
        Share of requests before which 5 to 40 repositories disappear at once, as of one owner.
    swings
        Share of requests before which a repository disappears; it is back after 20 requests.
    replicas
        Share of requests answered by a replica that shows the data of up to 40 requests before.
    short
        Share of results missing in a single answer, whose places are not filled up.
    rounded
        Whether counts above 1,000 have three digits only.
    highest
        Largest number that a count gives; 0 for any.
    lies
        Share of answers with the wrong ``hasNextPage``.
    cap
        Number of results that a search shows.
    plateau
        Share of the repositories with the least number of stars.
    cut_texts, cut_answers
        Share of texts, and of single answers, that neither show nor count a fifth of the results.
    """

    moves: int = 0
    falls: float = 0.1
    jumps: float = 0.0
    deletions: float = 0.0
    creations: float = 0.0
    publications: float = 0.0
    lag: int = 0
    wobble: int = 0
    offset: int = 0
    drops: float = 0.0
    flicker: float = 0.0
    hidden: int = 0
    repeats: float = 0.0
    nulls: float = 0.0
    ties: bool = False
    shuffle: bool = False
    bursts: float = 0.0
    swings: float = 0.0
    replicas: float = 0.0
    short: float = 0.0
    rounded: bool = False
    highest: int = 0
    lies: float = 0.0
    cap: int = 1000
    plateau: float = 0.0
    cut_texts: float = 0.0
    cut_answers: float = 0.0


class SearchSimulator:
    """Answers search requests over changing repositories.

    Parameters
    ----------
    size
        Number of repositories with at least `low` stars.
    low
        Least stars of a harvest; there are others below.
    changes
        How they change.
    seed
        Seed of everything random.
    """

    def __init__(self, size: int, low: int, changes: Changes, seed: int) -> None:
        self.low, self.changes = low, changes
        self.random = np.random.default_rng(seed)
        below = size // 3
        shape = low / self.random.random(size)
        shape[: int(size * changes.plateau)] = low
        under = low * self.random.random(below)
        stars = np.concatenate([shape, under]).astype(np.int64)
        total = len(stars) + SPARE
        self.index = np.full(total, -1, np.int64)
        self.index[: len(stars)] = stars
        self.live = self.index.copy()
        self.created = self.random.integers(FIRST_SECOND, LAST_SECOND, total)
        self.exists = np.arange(total) < len(stars)
        self.always = self.exists & (self.index >= low)
        self.tie_key = self.random.permutation(total)
        self.next_row = len(stars)
        self.now = LAST_SECOND
        self.pending: list[tuple[int, int]] = []  # request at which the index shows it, row
        self.absent: list[tuple[int, int]] = []  # request before which it is back, row
        self.replica = self.index.copy(), self.exists.copy()
        self.requests = 0
        matching = np.flatnonzero(self.always)
        self.hidden = set(self.random.choice(matching, changes.hidden, replace=False).tolist())

    @property
    def required(self) -> set[str]:
        """Ids of repositories that matched all the time and can be found."""
        return {f"R{row}" for row in np.flatnonzero(self.always).tolist()}

    def __call__(self, ask: SearchRequest) -> Page:
        """Change the data, then answer a request."""
        self.requests += 1
        changes = self.changes
        self._change_data()
        if changes.replicas and self.requests % REPLICA_AGE == 0:
            self.replica = self.index.copy(), self.exists.copy()
        is_late = changes.replicas and self.random.random() < changes.replicas
        stars, exists = self.replica if is_late else (self.index, self.exists)
        rows = self._search(ask.text, stars, exists)
        noise = np.random.default_rng(crc32(f"{ask.text}|{self.tie_key[0]}".encode()))
        rows = rows[self._cut(len(rows), noise)]
        total = len(rows)
        if changes.offset:
            total += int(noise.integers(-changes.offset, changes.offset + 1))
        if changes.wobble:
            total += int(self.random.integers(-changes.wobble, changes.wobble + 1))
        if changes.rounded and total > 1000:
            total = int(float(f"{total:.3g}"))
        if changes.highest:
            total = min(total, changes.highest)
        keep = np.ones(len(rows), bool)
        if changes.drops:
            salt = crc32(ask.text.encode())
            draw = ((self.tie_key[rows] * 2654435761 + salt * 40503) % 1_000_003) / 1_000_003
            keep &= draw >= changes.drops
        if changes.flicker:
            keep &= self.random.random(len(rows)) >= changes.flicker
        if self.hidden:
            keep &= ~np.isin(rows, list(self.hidden))
        shown = rows[keep][: changes.cap]
        start = int(ask.after or 0)
        end = min(start + ask.first, len(shown))
        page = shown[start:end].tolist()
        more = (end < len(shown)) != bool(self.random.random() < changes.lies)
        return Page(max(0, total), self._show_rows(page), more, str(end) if page else None)

    def _cut(self, count: int, noise: np.random.Generator) -> np.ndarray:
        """Return which results an answer has, for want of time."""
        left = np.ones(count, bool)
        for share, chance in (
            (self.changes.cut_texts, noise),
            (self.changes.cut_answers, self.random),
        ):
            if share and chance.random() < share:
                left &= chance.random(count) < 0.8
        return left

    def _show_rows(self, page: list[int]) -> tuple[RepositoryRow | None, ...]:
        """Return the rows of a page as the answer shows them."""
        changes, draw = self.changes, self.random.random
        found: list[RepositoryRow | None] = []
        for place, number in enumerate(page):
            row = number
            if changes.nulls and draw() < changes.nulls:
                found.append(None)
                continue
            if changes.short and draw() < changes.short:
                continue
            if place and changes.repeats and draw() < changes.repeats:
                row = page[place - 1]
            made = int(self.created[row])
            found.append(RepositoryRow(f"R{row}", int(self.live[row]), made, f"r{row}", "o"))
        return tuple(found)

    def _search(self, text: str, stars: np.ndarray, exists: np.ndarray) -> np.ndarray:
        """Return the matching rows in order."""
        mask = exists.copy()
        for key, values in (("stars", stars), ("created", self.created)):
            for low, high in _read_ranges(text, key):
                mask &= (values >= low) & (values <= high)
        rows = np.flatnonzero(mask)
        sort = re.search(r"sort:(\w+)-(asc|desc)", text)
        assert sort is not None, text
        key = {
            "stars": stars[rows],
            "forks": self.tie_key[rows] % 97,
            "updated": self.tie_key[rows] % 9973,
        }[sort[1]]
        ties = self.tie_key[rows]
        if self.changes.ties:
            ties = (ties * 7919 + crc32(text.encode())) % 1_000_003
        if self.changes.shuffle:
            ties = self.random.permutation(len(rows))
        keys = np.stack([key if sort[2] == "asc" else -key, ties], axis=1).astype(float)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        return rows[order]

    def _change_data(self) -> None:
        changes, draw = self.changes, self.random.random
        while self.pending and self.pending[0][0] <= self.requests:
            self._show_stars(self.pending.pop(0)[1])
        if changes.moves:
            rows = np.flatnonzero(self.exists)
            for row in self.random.choice(rows, changes.moves).tolist():
                self._add_stars(row, -1 if draw() < changes.falls else 1)
        if draw() < changes.jumps:
            self._add_stars(self._choose_row(), int(self.random.integers(5, 300)))
        self._add_and_remove()

    def _add_and_remove(self) -> None:
        changes, draw = self.changes, self.random.random
        if draw() < changes.deletions:
            row = self._choose_row()
            self.exists[row] = self.always[row] = False
        if draw() < changes.creations:
            self.now += 1
            self._create(self.now)
        if draw() < changes.publications:
            self._create(None)
        if draw() < changes.bursts:
            count = int(self.random.integers(5, 41))
            for row in {self._choose_row() for _ in range(count)}:
                self.exists[row] = self.always[row] = False
        while self.absent and self.absent[0][0] <= self.requests:
            self.exists[self.absent.pop(0)[1]] = True
        if draw() < changes.swings:
            row = self._choose_row()
            self.exists[row] = self.always[row] = False
            self.absent.append((self.requests + ABSENCE, row))

    def _choose_row(self) -> int:
        return int(self.random.choice(np.flatnonzero(self.exists & (self.index >= self.low))))

    def _add_stars(self, row: int, gain: int) -> None:
        self.live[row] = max(0, self.live[row] + gain)
        if self.live[row] < self.low:
            self.always[row] = False
        if self.changes.lag:
            self.pending.append((self.requests + self.changes.lag, row))
        else:
            self._show_stars(row)

    def _show_stars(self, row: int) -> None:
        self.index[row] = self.live[row]
        if self.index[row] < self.low:
            self.always[row] = False

    def _create(self, created: int | None) -> None:
        if self.next_row < len(self.index):
            row = self.next_row
            self.next_row += 1
            self.exists[row] = True
            self.live[row] = self.index[row] = int(self.low / (1 - self.random.random()))
            if created is not None:
                self.created[row] = created


def _read_ranges(text: str, key: str) -> list[tuple[int, int]]:
    """Return the ranges of all terms of one qualifier."""
    found = []
    for value in re.findall(rf"(?:^|\s){key}:(\S+)", text):
        low, high = -(2**62), 2**62
        if ".." in value:
            left, _, right = value.partition("..")
            low = low if left == "*" else _read_number(left)
            high = high if right == "*" else _read_number(right)
        elif value.startswith(">="):
            low = _read_number(value[2:])
        elif value.startswith("<="):
            high = _read_number(value[2:])
        else:
            low = high = _read_number(value)
        found.append((low, high))
    return found


def _read_number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return int(moment.timestamp())
