"""The report on a harvest: its completeness, with the evidence, and its cost."""

from __future__ import annotations

import msgspec

from gqlnb.errors import format_count
from gqlnb.result.renderer import render_lines

__all__ = ["Coverage", "Gap"]


class Gap(msgspec.Struct, frozen=True):
    """A window whose completeness could not be proved.

    Attributes
    ----------
    text
        The window, such as a search expression.
    expected, got
        Number of rows that the endpoint counted, and that were received.
    why
        The reason, as a sentence.
    """

    text: str
    expected: int
    got: int
    why: str


class Coverage(msgspec.Struct, frozen=True):
    """The completeness of a harvest, and its cost.

    Attributes
    ----------
    expected
        Number of matching rows at the beginning; None before the first answer.
    got
        Number of rows received, each counted once.
    windows
        Number of windows that were read.
    pages, counts
        Number of pages fetched, and of further searches that only counted.
    repeated
        Number of windows that were read again, because counts and rows differed.
    agreed
        Number of windows whose counts vary from answer to answer, so that they prove nothing; two
        orders have shown the same rows. ``twice=True`` reads them in two more orders.
    gaps
        Windows whose completeness could not be proved.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    notes
        Notes of the endpoint on its answers, such as fields without data, as sentences.
    stopped
        Whether `progress` stopped the harvest.
    twice
        Whether everything was read a second time.
    """

    expected: int | None
    got: int
    windows: int = 0
    pages: int = 0
    counts: int = 0
    repeated: int = 0
    agreed: int = 0
    gaps: tuple[Gap, ...] = ()
    field_errors: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    stopped: bool = False
    twice: bool = False

    @property
    def complete(self) -> bool:
        """Whether each window is proved to be complete."""
        return not (self.gaps or self.agreed or self.stopped) and self.expected is not None

    def __repr__(self) -> str:
        lines = [
            f"Coverage: {'' if self.complete else 'not '}complete",
            f"expected {self.expected or 0:,} at the beginning, got {self.got:,}",
            self.format_cost(),
        ]
        if self.gaps or self.field_errors or self.notes:
            lines.append(
                f"gaps: {len(self.gaps):,}, field_errors: {len(self.field_errors):,}, "
                f"notes: {len(self.notes):,}"
            )
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))

    def format_cost(self) -> str:
        """Return the numbers of windows, pages and counts as text."""
        again = f", {self.repeated:,} read again" if self.repeated else ""
        again += "; everything was read twice" if self.twice and self.complete else ""
        windows, pages = format_count(self.windows, "window"), format_count(self.pages, "page")
        return f"{windows} in {pages}, planned by {format_count(self.counts, 'count')}{again}"
