"""The report of paging: counts of items and requests, and the reason why it ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from reprlib import Repr
from types import MappingProxyType

from gqlnb.document.scalar_values import format_short_age
from gqlnb.document.selections import is_on_path
from gqlnb.errors import format_count, sanitize_text

COMPLETE = "complete"
MORE_PAGES_FOLLOW = "more pages follow"  # on all pages of an iterator but the last
STOPPED = "stopped by progress="  # which returned False
NO_CURSOR = "there are more items, but no cursor"
NO_LIST = "The query has no list with pages."
NOTES_SHOWN = 5
NOTE_LENGTH = 300
CURSORS_SHOWN = 3
MAX_DOUBTS_SHOWN = 3
# Ends of paging that the user has chosen; they do not explain other gaps, such as in inner lists.
LIMITS_REACHED = frozenset({"max_results", "max_requests", STOPPED})
# Ends without a warning: an exception tells the user, or the last page does.
ANNOUNCED_ENDS = frozenset({"failed", "interrupted", MORE_PAGES_FOLLOW})
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The outcome of paging.

    Attributes
    ----------
    got
        The number of items in the outermost lists, without duplicates.
    expected
        The total number according to the last count of the endpoint, such as ``totalCount``, which
        is requested if the schema has one; None otherwise.
    duplicates
        The number of items left out because they were received before, nested ones included.
    requests
        The number of requests sent, failed ones included.
    ended
        ``"complete"`` if the endpoint reported the end, else the reason why there may be more;
        ``"more pages follow"`` on all pages of an iterator but the last.
    notes
        Sentences: which lists were not continued, and why.
    cursors
        The position from which to continue each unfinished list, by dotted path; at most some
        hundred.
    doubts
        The reasons why completeness is not proved, as sentences; they are also in `notes`.
    left_out
        The doubts about lists of which `path` requested no further pages, as name and sentence.
    cached
        The number of the requests that remembered answers answered.
    cached_at
        The time of the oldest of them, in seconds since the epoch; None for none.
    kept
        The names of lists in rows that are as long as the query says, so that there may be more:
        none of their further items were requested.
    """

    got: int
    expected: int | None
    duplicates: int
    requests: int
    ended: str = COMPLETE
    notes: tuple[str, ...] = ()
    cursors: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    doubts: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    cached: int = field(default=0, repr=False)
    cached_at: float | None = field(default=None, repr=False)
    kept: tuple[str, ...] = field(default=(), repr=False)

    @property
    def complete(self) -> bool:
        """Whether it is proved that all items were received."""
        return self.ended == COMPLETE and not self.doubts

    @property
    def verdict(self) -> str:
        """``complete``, ``more`` or ``unknown``, and the evidence."""
        if self.complete:
            return "complete: all pages were received"
        if self.ended != COMPLETE:
            known = self.ended in {*LIMITS_REACHED, MORE_PAGES_FOLLOW, NO_CURSOR}
            is_more = known or (self.expected or 0) > self.got
            return f"{'more' if is_more else 'unknown'}: ended: {sanitize_text(self.ended, 200)}"
        return f"unknown: {' '.join(self.doubts[:MAX_DOUBTS_SHOWN])}"

    def narrow_to(self, name: str) -> Report:
        """Return the report on one list: without doubts about lists left out elsewhere."""
        # With ``path="a"`` the result is incomplete if it holds the first page of a list ``b``
        # alone. The frame of ``a`` is complete nevertheless, as no row of ``b`` is in it.
        elsewhere = {doubt for left, doubt in self.left_out if not is_on_path(left, name)}
        if not elsewhere:
            return self
        return replace(
            self,
            notes=tuple(note for note in self.notes if note not in elsewhere),
            doubts=tuple(doubt for doubt in self.doubts if doubt not in elsewhere),
            left_out=tuple(pair for pair in self.left_out if pair[1] not in elsewhere),
        )

    @property
    def counts(self) -> str:
        """The numbers of items and requests as text."""
        sent = format_count(self.requests, "request")
        if self.cached_at is not None:
            age = format_short_age(time.time() - self.cached_at)
            sent += f", {self.cached:,} of them cached up to {age} ago"
        if NO_LIST in self.notes:
            return f"nothing to page, {sent}"
        if self.expected is None:
            return f"{format_count(self.got, 'item')} in {sent}"
        return f"{self.got:,} of {format_count(self.expected, 'item')} in {sent}"

    @property
    def warning(self) -> str | None:
        """The warning that paging may have missed rows; None if it is known not to, or expected."""
        is_limited = self.ended in LIMITS_REACHED and not self.doubts
        if self.complete or is_limited or self.ended in ANNOUNCED_ENDS:
            return None
        reasons = self.doubts[:MAX_DOUBTS_SHOWN] or (f"It ended: {self.ended}",)
        text = " ".join(f"{reason.rstrip('.')}." for reason in reasons)
        return f"The result may be incomplete: {self.counts}. {text} See result.report."

    def __str__(self) -> str:
        parts = [self.counts]
        if self.duplicates:
            parts.append(f"{self.duplicates:,} duplicates left out")
        if self.ended != COMPLETE:
            parts.append(f"ended: {sanitize_text(self.ended, 200)}")
        elif self.doubts:
            parts.append("not proved complete")
        return ", ".join(parts)

    def __repr__(self) -> str:
        # Lists nested in others may have hundreds of cursors, and as many notes.
        short = Repr()
        short.maxdict, short.maxtuple, short.maxstring = CURSORS_SHOWN, NOTES_SHOWN, NOTE_LENGTH
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}
        shown["cursors"] = dict(self.cursors)
        members = ", ".join(f"{name}={short.repr(value)}" for name, value in shown.items())
        return f"Report({members})"

    def format_lines(self) -> list[str]:
        """Return the lines shown below a result."""
        more = len(self.notes) - NOTES_SHOWN
        rest = [f"  … and {more} more notes: see result.report"] if more > 0 else []
        return [
            f"Pages: {self}",
            *(f"  {sanitize_text(n, NOTE_LENGTH)}" for n in self.notes[:NOTES_SHOWN]),
            *rest,
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        names = ("got", "expected", "duplicates", "requests", "ended", "complete")
        return {name: getattr(self, name) for name in names} | {"notes": list(self.notes)}
