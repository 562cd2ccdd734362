"""The report on a harvest: its completeness, with the evidence, and its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import format_count
from gqlnb.result.answer_notes import MAX_NOTES, format_notes, summarize_notes
from gqlnb.result.list_verdicts import Verdict
from gqlnb.result.renderer import mark_rows, render_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PROBLEMS_SHOWN = 3
NOTES_PLACE = "coverage.notes"


class Gap(msgspec.Struct, frozen=True):
    """A window whose completeness could not be proved.

    Attributes
    ----------
    text
        The window: its search expression, or its ends.
    expected, got
        Number of rows that the endpoint counts, None if it does not say, and of those received.
    why
        The reason, as a sentence.
    lasts
        Whether another reading would have the same reason, as the endpoint does not count rows, or
        returns no more of them.
    """

    text: str
    expected: int | None
    got: int
    why: str
    lasts: bool = False

    def __str__(self) -> str:
        of = "" if self.expected is None else f" of {self.expected:,}"
        return f"{self.text}: {self.got:,}{of} rows. {self.why}"


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The differences to an earlier harvest, by id.

    Attributes
    ----------
    added, changed, removed
        Ids of the rows. Of rows without an id the whole text is the id, and none is changed.
    """

    added: list[str]
    changed: list[str]
    removed: list[str]

    def __repr__(self) -> str:
        return (
            f"{len(self.added):,} added, {len(self.changed):,} changed, "
            f"{len(self.removed):,} removed"
        )


class Counters(msgspec.Struct, kw_only=True):
    """The numbers and gaps in the state and in the report of a harvest, see :class:`Coverage`."""

    expected: int | None = None
    windows: int = 0
    pages: int = 0
    counts: int = 0
    repeated: int = 0
    agreed: int = 0
    gaps: tuple[Gap, ...] = ()


class Coverage(Counters, frozen=True, kw_only=True):  # type: ignore[misc]  # msgspec allows it
    """The completeness of a harvest, and its cost.

    Attributes
    ----------
    expected
        Number of rows that the endpoint counts: of a search for repositories at the beginning, of
        other lists at the end. None if it does not say, or before its first answer.
    windows
        Number of windows that were read: ranges of a column.
    pages, counts
        Number of pages fetched, and of further requests or searches that only counted.
    repeated
        Number of windows that were read again, because counts and rows differed.
    agreed
        Number of windows whose counts vary from answer to answer, so that they prove nothing; two
        orders have shown the same rows. ``twice=True`` reads them in two more orders.
    gaps
        Windows whose completeness could not be proved.
    got
        Number of rows received, each counted once, with those that came as null.
    moved
        Ids of rows that came from several windows; each is kept once, as it came last.
    field_errors
        Number of own fields that are null because of an error, by field and reason.
    notes
        Notes of the endpoint on its answers, such as fields without data, as sentences.
    stopped
        Whether `progress` stopped the harvest.
    """

    got: int
    moved: tuple[str, ...] = ()
    field_errors: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether each window is proved to be complete."""
        return not (self.gaps or self.agreed or self.stopped)

    def judge_rows(self) -> Verdict:
        """Return the verdict on the rows, with the evidence."""
        total = self.expected or 0
        if self.complete:
            return Verdict("complete", "each window was proved complete", total)
        problems = " ".join(self.list_problems()) or "the harvest was stopped before its end"
        return Verdict("more" if total > self.got else "unknown", problems, total)

    def build_attrs(self, rows: int, source: str, warnings: list[str]) -> dict[Any, Any]:
        """Return the ``attrs`` of a frame of that many rows."""
        return {
            "total_count": self.expected,
            "source": source,
            "notes": warnings,
            "coverage": self.to_dict(),
            "partial": not self.complete,
            **mark_rows(rows, self.judge_rows()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values, with `complete`."""
        # msgspec.to_builtins() would leave tuples, which DataFrame.attrs should not hold.
        values: dict[str, Any] = msgspec.json.decode(dump_valid_json(self))
        return {"complete": self.complete, **values}

    def __repr__(self) -> str:
        lines = [f"Coverage: {'' if self.complete else 'not '}complete", *self.format_counts()]
        if self.gaps or self.field_errors or self.notes:
            lines.append(
                f"gaps: {len(self.gaps):,}, field_errors: {len(self.field_errors):,}, "
                f"notes: {len(self.notes):,}"
            )
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))

    def format_counts(self) -> list[str]:
        """Return the numbers of rows, and of windows, pages and counts, as two lines."""
        expected = "an unknown number" if self.expected is None else f"{self.expected:,}"
        windows, pages = format_count(self.windows, "window"), format_count(self.pages, "page")
        cost = f"{windows} in {pages}, with {format_count(self.counts, 'count')}"
        cost += f", {self.repeated:,} read again" if self.repeated else ""
        cost += f"; {len(self.moved):,} rows moved between windows" if self.moved else ""
        return [f"expected {expected}, got {self.got:,}", cost]

    def list_notes(self) -> list[str]:
        """Return the notes, without those that are the reason of a gap."""
        reasons = {gap.why for gap in self.gaps}
        return [note for note in self.notes if note not in reasons]

    def list_problems(self, hint: str = "") -> list[str]:
        """Return sentences about gaps, counts and failed fields.

        Parameters
        ----------
        hint
            A sentence that follows the gaps if another reading may close one of them.
        """
        lines = [f"The harvest is not proved complete. {gap}" for gap in self.gaps[:PROBLEMS_SHOWN]]
        if (more := len(self.gaps) - PROBLEMS_SHOWN) > 0:
            lines.append(f"{more:,} more windows are not proved complete; see coverage.gaps.")
        if hint and not all(gap.lasts for gap in self.gaps):
            lines[-1] += f" {hint}"
        if self.agreed:
            lines.append(
                f"Counts vary from answer to answer. Of {self.agreed:,} windows two orders show "
                "the same rows, which is not a proof; twice=True compares four."
            )
        errors = sorted(self.field_errors.items(), key=lambda pair: -pair[1])
        lines += [f"Null in {count:,} rows: {reason}" for reason, count in errors[:PROBLEMS_SHOWN]]
        if (more := len(errors) - PROBLEMS_SHOWN) > 0:
            lines.append(f"{more:,} more reasons for nulls; see coverage.field_errors.")
        return lines

    def list_warnings(self, hint: str = "", further: Iterable[str] = ()) -> list[str]:
        """Return the problems, further sentences, and one about all notes."""
        notes = summarize_notes(self.list_notes(), NOTES_PLACE)
        return [*self.list_problems(hint), *further, *notes]

    def describe_harvest(
        self,
        title: str,
        folder: Path | None,
        *,
        hint: str = "",
        cost: str = "",
        details: Iterable[str] = (),
    ) -> str:
        """Return a harvest as it is shown.

        Parameters
        ----------
        title
            Its rows, as text; whether they are complete is added.
        folder
            Its folder; None in memory.
        hint
            As of :meth:`list_problems`.
        cost
            What follows the numbers of windows, pages and counts.
        details
            Further lines.
        """
        lines = [f"{title}, {'' if self.complete else 'not '}complete", *self.format_counts()]
        lines[-1] += cost
        lines += details
        if self.stopped:
            again = "" if folder is None else " Run the same call again to continue."
            lines.append(f"It was stopped by progress= before its end.{again}")
        lines += [*self.list_problems(hint), *format_notes(self.list_notes(), NOTES_PLACE)]
        if folder is not None:
            lines.append(f"in {folder}")
        return "\n  ".join(lines)


class StoredState(Counters, kw_only=True):
    """The part of the state of a harvest that all have in common: a line of the log.

    Its gaps are those of windows that will not be read again.

    Attributes
    ----------
    parts
        Number of Parquet files.
    notes
        Notes of the endpoint on its answers, by a key that is the same for equal notes.
    doubt
        The reason why rows may be missing, if the accounts of a run see different rows.
    coverage
        The report; None while the harvest is not finished.
    """

    parts: int = 0
    notes: dict[str, str] = {}
    doubt: str = ""
    coverage: Coverage | None = None

    def add_notes(self, notes: Mapping[str, str]) -> None:
        """Add notes of the endpoint, up to a number of them."""
        new = {key: note for key, note in notes.items() if key not in self.notes}
        self.notes |= dict([*new.items()][: MAX_NOTES - len(self.notes)])

    def build_coverage(self, got: int, **about: Any) -> Coverage:  # noqa: ANN401 - of each attribute
        """Return the report for a number of rows; `about` has the attributes that differ."""
        counted = {name: getattr(self, name) for name in Counters.__struct_fields__}
        return Coverage(got=got, **counted | {"notes": (*self.notes.values(),)} | about)
