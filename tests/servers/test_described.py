"""The report of each installed server, checked against its data set without gqlnb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.describe import (
    describe_server,
    find_folder,
    load_database,
    read_version,
    run_server,
)
from tests.servers.described.data import write_rows
from tests.servers.described.table import SERVERS, DescribedServer
from tests.servers.postgraphile.postgres import run_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file with the data set."""
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.json")


@pytest.fixture
def database(server: DescribedServer, rows: Path) -> Iterator[str]:
    """Yield the address of PostgreSQL with the data set; empty for servers without it."""
    if not server.needs_database:
        yield ""
        return
    with run_postgres() as found:
        load_database(found, rows)
        yield found.url


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_each_line_of_the_report_is_right(
    server: DescribedServer, rows: Path, database: str
) -> None:
    """Requests without gqlnb find the same, and frames hold what the answers hold."""
    try:
        folder = find_folder(server)
    except LookupError as error:
        pytest.skip(str(error))
    with run_server(server, folder, rows, database) as process:
        found = describe_server(server, process.url, read_version(server, folder))
        assert found.faults == []
        assert found.report.requests <= 60
        assert {line.section for line in found.report} >= {"protocol", "schema", "lists"}
        for name in server.lists:
            assert found.report.find(f"{name}: default page").finding != "no rows"
