"""The table of servers and capabilities."""

from __future__ import annotations

import pytest

from tests.servers.table import ServerTable, find_capability, find_server


@pytest.mark.parametrize(
    ("node_id", "server", "capability"),
    [
        ("tests/servers/test_scalars.py::test_rows[yoga]", "Yoga", "scalars"),
        (
            "tests/servers/test_paging.py::test_a_plain_list[booksByOffset-pages-apollo]",
            "Apollo",
            "offset",
        ),
        (
            "tests/servers/test_subscriptions.py::test_leaving_ends_it[ariadne (events)]",
            "Ariadne",
            "subscriptions",
        ),
        (
            "tests/servers/postgraphile/test_connect.py::test_completion[v5-x]",
            "PostGraphile 5",
            "completion",
        ),
        ("tests/servers/postgraphile/test_paging.py::test_order", "PostGraphile 4", "flat"),
        ("tests/servers/postgraphile/test_v5.py::test_extremes", "PostGraphile 5", "scalars"),
    ],
)
def test_a_test_has_a_cell(node_id: str, server: str, capability: str) -> None:
    """It is found by the name of the file, of the test, and of its parameters."""
    assert (find_server(node_id), find_capability(node_id)) == (server, capability)


def test_a_test_without_a_server_has_no_cell() -> None:
    """Tests of the installation are not counted."""
    assert find_server("tests/servers/test_install.py::test_the_lock_file[apollo]") is None
    assert find_server("tests/servers/test_table.py::test_a_cell") is None


def test_a_test_without_a_capability_is_an_error() -> None:
    """A new file must have a pattern in the table."""
    with pytest.raises(LookupError, match=r"CAPABILITIES has no pattern for test_new\.py::test_it"):
        find_capability("test_new.py::test_it")


def test_outcomes_are_counted() -> None:
    """A failed set-up is a failure; an unsupported capability is a dash."""
    table = ServerTable()
    for when, outcome in (("setup", "passed"), ("call", "passed"), ("setup", "failed")):
        report = pytest.TestReport(
            "tests/servers/test_batches.py::test_it[yoga]",
            ("", 0, ""),
            {},
            outcome,
            None,
            when,
        )
        table.pytest_runtest_logreport(report)
    assert "| batches | - | - | - | 1 (1 failed) | - | - | - |" in table.build_text()
