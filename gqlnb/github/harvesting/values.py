"""What goes into a sweep and what comes out: plain values, which msgspec takes both ways."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gqlnb.github.harvesting.scope import Scope
from gqlnb.github.search import PAGE

__all__ = ["Ask", "Coverage", "Gap", "Page", "Row", "Step"]


class Row(NamedTuple):
    """One repository.

    Attributes
    ----------
    id
        Its node id, by which a repository that comes again is known.
    stars
        How many people have starred it.
    created
        When it was made, in seconds since 1970; None if the endpoint does not say.
    name, owner
        What it and its owner are called.
    """

    id: str
    stars: int
    created: int | None = None
    name: str = ""
    owner: str = ""


class Ask(msgspec.Struct, frozen=True, array_like=True):
    """One request: a page of a search.

    Attributes
    ----------
    window
        The number of the window that it belongs to.
    start
        The place of its first result, from 0.
    first
        Most results of the page.
    text
        The search expression.
    after
        The cursor behind which it begins; None for the beginning.
    """

    window: int
    start: int
    first: int
    text: str
    after: str | None = None


class Page(msgspec.Struct, frozen=True, array_like=True):
    """What came for one request.

    Attributes
    ----------
    total
        How many match, whatever can be reached.
    rows
        In the order of the answer; None for what came as null.
    more
        Whether there is a page behind this.
    end
        The cursor of its last result.
    heavy
        Whether some are missing because the page was too large; it is then asked for in parts.
    """

    total: int
    rows: tuple[Row | None, ...]
    more: bool = False
    end: str | None = None
    heavy: bool = False


class Gap(msgspec.Struct, frozen=True):
    """A range that could not be completed.

    Attributes
    ----------
    text
        The search expression of the range.
    expected, got
        How many repositories its count promised, and how many came.
    why
        The reason, in words.
    """

    text: str
    expected: int
    got: int
    why: str


class Coverage(msgspec.Struct, frozen=True):
    """How complete a harvest is, and what it took.

    Attributes
    ----------
    scope
        What was wanted.
    expected
        How many repositories matched at the beginning; None before the first answer.
    got
        How many came, each counted once.
    duplicates
        How many results were repeated within one search, where another one should have stood.
    requests
        How many pages were fetched.
    bound
        How many pages as many repositories take at least.
    windows, splits, repairs
        How many searches there were; how often a slice of time was divided; how many searches
        were asked again because counts and results did not agree.
    shifts
        How many ranges changed while they were read, and were whole when they were read again.
    gaps
        The ranges that could not be completed.
    open
        How many windows are not finished.
    moved
        How many came again from another range, into which they had moved; each is kept once.
    """

    scope: Scope
    expected: int | None
    got: int
    duplicates: int
    requests: int
    bound: int
    windows: int
    splits: int
    repairs: int
    shifts: int
    gaps: tuple[Gap, ...]
    open: int
    moved: int = 0

    @property
    def complete(self) -> bool:
        """Whether all is fetched and no range is known to lack anything."""
        return not self.open and not self.gaps and self.expected is not None

    def kept(self, rows: int) -> Coverage:
        """Return it where so many rows were kept of those that came."""
        moved, bound = self.got - rows, -(-rows // PAGE)
        return msgspec.structs.replace(self, got=rows, moved=moved, bound=bound)


class Step(NamedTuple):
    """What follows from one page.

    Attributes
    ----------
    rows
        Repositories that were not known before.
    asks
        What may be asked now, too.
    notes
        What happened, a sentence each: a split, a range that is asked again, a gap.
    """

    rows: tuple[Row, ...] = ()
    asks: tuple[Ask, ...] = ()
    notes: tuple[str, ...] = ()
