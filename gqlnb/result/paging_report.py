"""The report of paging: how many items came of how many, in how many requests, and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gqlnb.errors import sanitize_text

__all__ = ["COMPLETE", "MORE_PAGES_FOLLOW", "Report"]

COMPLETE = "complete"
MORE_PAGES_FOLLOW = "more pages follow"  # of the pages of an iterator, all but the last
NOTES_SHOWN = 5
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of paging.

    Attributes
    ----------
    got
        Items of the outermost lists, duplicates apart.
    expected
        How many there are, as the endpoint last said in a count such as ``totalCount``, which is
        asked for where the schema has one; None if there is none.
    duplicates
        Items left out because they had come already, nested ones included.
    requests
        Requests sent, those that failed included.
    ended
        ``"complete"`` if the endpoint said that there are no more, else why there may be more;
        ``"more pages follow"`` on the pages of an iterator but the last.
    notes
        A sentence for each thing worth knowing: which lists did not go on, and why.
    cursors
        Of the lists that did not come to their end, the position to go on from, by dotted path; at
        most some hundred.
    doubts
        The reasons why completeness is not proved, a sentence each; they are in `notes` too.
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
        """Whether it is proved that everything came."""
        return self.ended == COMPLETE and not self.doubts

    @property
    def counts(self) -> str:
        """The items that came, of how many, and the requests, as text."""
        of = "" if self.expected is None else f" of {self.expected:,}"
        sent = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        return f"{self.got:,}{of} items in {sent}"

    def __str__(self) -> str:
        said = [self.counts]
        if self.duplicates:
            said.append(f"{self.duplicates:,} duplicates left out")
        if self.ended != COMPLETE:
            said.append(f"ended: {sanitize_text(self.ended, 200)}")
        elif self.doubts:
            said.append("not proved complete")
        return ", ".join(said)

    def format_lines(self) -> list[str]:
        """Return what is shown below a result."""
        more = len(self.notes) - NOTES_SHOWN
        rest = [f"  … and {more} more notes: see result.report"] if more > 0 else []
        return [
            f"Pages: {self}",
            *(f"  {sanitize_text(n, 300)}" for n in self.notes[:NOTES_SHOWN]),
            *rest,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "got": self.got,
            "expected": self.expected,
            "duplicates": self.duplicates,
            "requests": self.requests,
            "ended": self.ended,
            "complete": self.complete,
            "notes": list(self.notes),
        }
