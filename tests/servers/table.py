"""Run the tests of third-party servers, and print a table of servers and capabilities.

Usage: ``GQLNB_SERVERS=FOLDER python -m tests.servers.table [pytest's arguments]``

A cell has the number of tests that passed, with those that failed or were skipped behind it; a dash
where the server has no such capability.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CAPABILITIES", "ServerTable", "find_capability", "find_server"]

HERE = Path(__file__).parent
# The first pattern that is found in "file::test[parameters]" names the capability.
CAPABILITIES = {
    "report": r"test_described\.py",
    "subscriptions": r"test_subscriptions\.py|_subscription_",
    "@defer, @stream": r"test_incremental\.py",
    "uploads": r"test_uploads\.py",
    "batches": r"test_batches\.py|_batch_",
    "schema drift": r"test_drift\.py|changes_of_the_schema|new_column_is_found",
    "record, replay": r"test_recordings\.py|_replay",
    "schema untouched": r"test_schema_untouched\.py|touching_the_schema",
    "scalars": r"test_scalars\.py|test_v5\.py::test_(a_column|extremes)|is_stored|are_stored"
    r"|test_changes\.py::test_(rows_of_a_frame|a_frame)",
    "completion": r"complet(ed|ion)\b",
    "schema": r"the_schema_is_fetched_once|hides_its_schema|every_variant_answers",
    "nested": r"nested|three_deep|connection_in_a_plain_list|paging_nested",
    "100,000 rows": r"hundred_thousand|take_fewer_requests|long_connection",
    "offset": r"booksBy(Offset|Skip|First|Page)\b|plain_list_(from|with_var|that_is)|\boffset",
    "plain lists": r"plain_list|paging_lists|not_a_connection",
    "flat": r"test_paging\.py|test_page_size\.py|flat_connections",
    "errors": r"error|mistake|wrong|invalid|fail|unknown_field|token|is_gone|warning|no_endpoint"
    r"|constraint",
    "connect": r"test_connect\.py|mutation_is_sent_once",
}
SERVERS = {
    "apollo": "Apollo",
    "yoga": "Yoga",
    "mercurius": "Mercurius",
    "strawberry": "Strawberry",
    "ariadne": "Ariadne",
}
POSTGRAPHILE = ("PostGraphile 4", "PostGraphile 5")


def find_capability(node_id: str) -> str:
    """Return the capability that a test is about.

    Raises
    ------
    LookupError
        If no pattern fits.
    """
    for name, pattern in CAPABILITIES.items():
        if re.search(pattern, node_id):
            return name
    msg = f"CAPABILITIES has no pattern for {node_id}"
    raise LookupError(msg)


def find_server(node_id: str) -> str | None:
    """Return the title of the server that a test runs against; None for another test."""
    if "test_install.py" in node_id:
        return None
    if "/postgraphile/" in node_id:
        return POSTGRAPHILE["test_v5.py" in node_id or bool(re.search(r"[\[-]v5\b", node_id))]
    if "test_apollo_has" in node_id:
        return SERVERS["apollo"]
    parameters = re.split(r"[\[\]-]", node_id)[1:]
    named = (SERVERS.get(word.partition(" ")[0]) for word in parameters)
    return next(filter(None, named), None)


class ServerTable:
    """A plugin of pytest that counts the outcomes of tests by server and capability."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it was called, or could not be."""
        server = find_server(report.nodeid)
        if server is not None and (report.when == "call" or not report.passed):
            self._counts[server, find_capability(report.nodeid), report.outcome] += 1

    def build_text(self) -> str:
        """Return the table in Markdown, with totals."""
        titles = [*POSTGRAPHILE, *SERVERS.values()]
        lines = [f"| | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
        for capability in CAPABILITIES:
            cells = [self._format_cell(title, capability) for title in titles]
            if set(cells) != {"-"}:
                lines.append(f"| {capability} | {' | '.join(cells)} |")
        totals = [str(self._count_outcome(title, "passed")) for title in titles]
        return "\n".join([*lines, f"| all | {' | '.join(totals)} |"])

    def _format_cell(self, server: str, capability: str) -> str:
        counts: Mapping[tuple[str, str, str], int] = self._counts
        passed, failed, skipped = (
            counts[server, capability, outcome] for outcome in ("passed", "failed", "skipped")
        )
        notes = [f"{failed} failed"] * bool(failed) + [f"{skipped} skipped"] * bool(skipped)
        if not passed and not notes:
            return "-"
        return f"{passed} ({', '.join(notes)})" if notes else str(passed)

    def _count_outcome(self, server: str, outcome: str) -> int:
        return sum(n for (s, _, o), n in self._counts.items() if (s, o) == (server, outcome))


def main(*arguments: str) -> int:
    """Run the tests in this process, one after another, and print the table."""
    table = ServerTable()
    code = pytest.main([*arguments, "-n0", "-q", "-m", "", str(HERE)], plugins=[table])
    sys.stdout.write(f"\n{table.build_text()}\n")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
