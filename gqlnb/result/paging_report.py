"""The report of paging: counts of items and requests, and the reason why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gqlnb.errors import sanitize_text

__all__ = ["COMPLETE", "MORE_PAGES_FOLLOW", "Report"]

COMPLETE = "complete"
MORE_PAGES_FOLLOW = "more pages follow"  # on all pages of an iterator but the last
NOTES_SHOWN = 5
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
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
    """

    got: int
    expected: int | None
    duplicates: int
    requests: int
    ended: str = COMPLETE
    notes: tuple[str, ...] = ()
    cursors: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    doubts: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether it is proved that all items were received."""
        return self.ended == COMPLETE and not self.doubts

    @property
    def counts(self) -> str:
        """The numbers of items and requests as text."""
        of = "" if self.expected is None else f" of {self.expected:,}"
        sent = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        return f"{self.got:,}{of} items in {sent}"

    def __str__(self) -> str:
        parts = [self.counts]
        if self.duplicates:
            parts.append(f"{self.duplicates:,} duplicates left out")
        if self.ended != COMPLETE:
            parts.append(f"ended: {sanitize_text(self.ended, 200)}")
        elif self.doubts:
            parts.append("not proved complete")
        return ", ".join(parts)

    def format_lines(self) -> list[str]:
        """Return the lines shown below a result."""
        more = len(self.notes) - NOTES_SHOWN
        rest = [f"  … and {more} more notes: see result.report"] if more > 0 else []
        return [
            f"Pages: {self}",
            *(f"  {sanitize_text(n, 300)}" for n in self.notes[:NOTES_SHOWN]),
            *rest,
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "got": self.got,
            "expected": self.expected,
            "duplicates": self.duplicates,
            "requests": self.requests,
            "ended": self.ended,
            "complete": self.complete,
            "notes": list(self.notes),
        }
