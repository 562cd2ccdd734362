"""One search of a sweep: which of its pages to ask for, and what came all in all."""

from __future__ import annotations

import msgspec

from gqlnb.github.harvesting.scope import Scope
from gqlnb.github.harvesting.values import Ask, Page, Row
from gqlnb.github.search import REACH
from gqlnb.model.offsets import offset_of

__all__ = ["Known", "Rows", "Window"]

Known = dict[str, int | None]  # ids, and when they were made
Rows = dict[str, Row]  # by their ids, in the order of a search


class Window(msgspec.Struct):
    """One search, the pages it waits for, and those that came.

    Attributes
    ----------
    number
        Its own.
    scope
        What it is about.
    order
        What its results are sorted by.
    check
        The number of the check that waits for it; 0 for none.
    repairs
        Whether it asks again for what a check misses; otherwise it goes on with the sweep.
    recent
        Ids that came before and may come again here.
    tries
        How often it came without a single result, though its count promised some.
    asks
        The requests that were not answered yet, by place.
    pages
        The answers, by place.
    """

    number: int
    scope: Scope
    order: str = "stars-desc"
    check: int = 0
    repairs: bool = False
    recent: Known = {}
    tries: int = 0
    asks: dict[int, Ask] = {}
    pages: dict[int, Page] = {}

    @property
    def text(self) -> str:
        """The search expression."""
        return self.scope.expression(self.order)

    @property
    def total(self) -> int:
        """How many matched when it began."""
        return self.pages[0].total

    @property
    def waiting(self) -> list[Ask]:
        """The requests that were not answered yet, in their order."""
        return [self.asks[start] for start in sorted(self.asks)]

    def begin(self, size: int) -> Ask:
        """Return the request of the first page."""
        self.asks[0] = Ask(self.number, 0, size, self.text)
        return self.asks[0]

    def take(self, ask: Ask, page: Page) -> list[Ask]:
        """Keep a page, and return what may be asked because of it."""
        del self.asks[ask.start]
        self.pages[ask.start] = page
        behind = ask.start + ask.first
        offset = offset_of(page.end, behind)
        if not ask.start and offset:
            reach = min(page.total, REACH)
            after = {start: offset.cursor(start) for start in range(behind, reach, ask.first)}
        elif page.more and page.end and behind < REACH and not self._known(behind):
            after = {behind: page.end}
        else:
            after = {}
        made = {
            start: Ask(self.number, start, min(ask.first, REACH - start), self.text, cursor)
            for start, cursor in after.items()
        }
        self.asks.update(made)
        return list(made.values())

    def parts(self, ask: Ask) -> list[Ask]:
        """Return a request that was too large as two, which take its place.

        The second needs a cursor; where none can be told, the first alone, and it goes on from
        there.
        """
        size = max(1, ask.first // 2)
        first = Ask(ask.window, ask.start, size, ask.text, ask.after)
        self.asks[ask.start] = first
        offset = offset_of(ask.after, ask.start)
        if offset is None:
            return [first]
        place = ask.start + size
        after = offset.cursor(place)
        self.asks[place] = Ask(ask.window, place, ask.first - size, ask.text, after)
        return [first, self.asks[place]]

    def _known(self, start: int) -> bool:
        return start in self.asks or start in self.pages

    def rows(self) -> Rows:
        """Return what came, each repository once, in the order of its first place."""
        found: Rows = {}
        for _, page in sorted(self.pages.items()):
            for row in page.rows:
                if row is not None:
                    found.setdefault(row.id, row)
        return found

    def missing(self) -> list[tuple[int, Scope]]:
        """Return where results are missing that should have come: how many, and in what range."""
        found = []
        pages = [page for _, page in sorted(self.pages.items())]
        places = [*sorted(self.pages), REACH]
        seen: set[str] = set()
        for number, page in enumerate(pages):
            new = {row.id for row in page.rows if row is not None} - seen
            seen |= new
            room = min(page.total, places[number + 1]) - places[number]
            if len(new) < room:
                scope = self._between(_last(pages[:number]), _first(pages[number + 1 :]))
                found.append((room - len(new), scope))
        return found

    def passed_over(self, rows: Rows) -> bool:
        """Tell whether some may have been passed over although each of its pages was full.

        Who leaves the search while it is read lets those behind move up, one of them from a page
        that is still to come to one that was there already. Pages tell by their counts that
        somebody left; that it was somebody seen before, nothing tells.
        """
        return len(rows) < min(REACH, max(page.total for page in self.pages.values()))

    def _between(self, before: int | None, behind: int | None) -> Scope:
        """Return the range of a page that stands between two numbers of stars; None for no page."""
        low, high = self.scope.low, self.scope.high
        if self.order == "stars-desc":
            low, high = low if behind is None else behind, high if before is None else before
        elif self.order == "stars-asc":
            low, high = low if before is None else before, high if behind is None else behind
        low, high = _ordered(low, high)
        return msgspec.structs.replace(self.scope, low=low, high=high)


def _last(pages: list[Page]) -> int | None:
    """Return the stars of the last result of pages."""
    return next((row.stars for page in reversed(pages) for row in reversed(page.rows) if row), None)


def _first(pages: list[Page]) -> int | None:
    """Return the stars of the first result of pages."""
    return next((row.stars for page in pages for row in page.rows if row), None)


def _ordered(low: int, high: int | None) -> tuple[int, int | None]:
    """Return two ends of a range, the lower first, whatever stars have done meanwhile."""
    return (low, high) if high is None or low <= high else (high, low)
