"""The report of an endpoint: its lines, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.errors import format_count, sanitize_text
from gqlnb.result.renderer import HTML_CLASSES, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from gqlnb.client.measured_lists import ListSettings

NOT_TRIED = "not tried"
SECTIONS = ("protocol", "schema", "lists", "scalars", "advice")
COLUMNS = ("section", "subject", "finding", "evidence")
IN_TEXT, IN_HTML = 100, 400  # characters of a cell


class ReportLine(NamedTuple):
    """A line of a report.

    Attributes
    ----------
    section
        ``"protocol"``, ``"schema"``, ``"lists"``, ``"scalars"`` or ``"advice"``.
    subject
        The property that was examined.
    finding
        The result; ``"not tried"`` if it would have been a guess.
    evidence
        The request and the answer that show it, in words.
    """

    section: str
    subject: str
    finding: str
    evidence: str


class ReportWriter:
    """Collects the lines of one section.

    Parameters
    ----------
    section
        The section.
    lines
        The lines of the report, to which those of the section are added.
    """

    def __init__(self, section: str, lines: list[ReportLine]) -> None:
        self._section, self._lines = section, lines

    def add(self, subject: str, finding: object, evidence: str = "") -> None:
        """Add a line."""
        texts = (sanitize_text(text, 400) for text in (subject, finding, evidence))
        self._lines.append(ReportLine(self._section, *texts))

    def skip(self, subject: str, reason: str) -> None:
        """Add a line about something that was not tried."""
        self.add(subject, NOT_TRIED, reason)


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The properties of an endpoint, found by experiment.

    Attributes
    ----------
    source
        The endpoint, as it is shown.
    lines
        The lines.
    requests
        The number of requests that were sent; of a dry run, the most that would be.
    seconds
        The time that it took.
    is_planned
        Whether nothing was sent.
    lists
        The paging of the lists, as in the settings of a connection.
    """

    source: str
    lines: Sequence[ReportLine]
    requests: int
    seconds: float = 0.0
    is_planned: bool = False
    lists: Mapping[str, ListSettings] = field(default_factory=dict, repr=False)

    def find(self, subject: str) -> ReportLine:
        """Return the line about a subject.

        Raises
        ------
        KeyError
            If there is none.
        """
        for line in self.lines:
            if line.subject == subject:
                return line
        raise KeyError(subject)

    def frame(self) -> pd.DataFrame:
        """Return the lines as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self.lines), columns=list(COLUMNS), dtype="string")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "endpoint": self.source,
            "requests": self.requests,
            "seconds": round(self.seconds, 2),
            "lines": [line._asdict() for line in self.lines],
        }

    def __iter__(self) -> Iterator[ReportLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return self.format_text(IN_TEXT)

    def format_text(self, width: int = IN_HTML) -> str:
        """Return the report as aligned text, with at most `width` characters of a cell."""
        parts = [self._summarize()]
        for section, grid in self._iterate_grids(width):
            body = "\n".join(line[2:] for line in grid.to_text().splitlines()[1:])
            parts.append(f"{section}\n{body}")
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self._summarize())}</p>"]
        parts += [f"<h4>{name}</h4>{it.to_html()}" for name, it in self._iterate_grids(IN_HTML)]
        return f'<div class="{HTML_CLASSES}">{"".join(parts)}</div>'

    def _summarize(self) -> str:
        count = format_count(self.requests, "request")
        if self.is_planned:
            return f"{self.source}: a report would send at most {count}, only queries."
        return f"{self.source}: {count} in {self.seconds:.1f} s, only queries."

    def _iterate_grids(self, width: int) -> Iterator[tuple[str, Grid]]:
        for section in SECTIONS:
            lines = [line[1:] for line in self.lines if line.section == section]
            rows = [[sanitize_text(cell, width) for cell in line] for line in lines]
            if rows:
                yield section, Grid(list(COLUMNS[1:]), [False] * 3, rows, [""] * len(rows), [])
