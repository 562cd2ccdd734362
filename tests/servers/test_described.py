"""The report of each installed server, checked against its data set without gqlnb."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from gqlnb import Client
from tests.servers.describe import (
    describe_server,
    find_folder,
    load_database,
    read_version,
    run_server,
)
from tests.servers.described.data import write_rows
from tests.servers.described.raw import list_faults
from tests.servers.described.table import SERVERS, DescribedServer
from tests.servers.described.values import find_difference
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


def has_ruby() -> bool:
    """Return whether Ruby has the package graphql; Debian's is ruby-graphql."""
    ruby = shutil.which("ruby")
    command = [str(ruby), "-e", "require 'graphql'; require 'webrick'"]
    if ruby is None:
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


NO_RUBY = pytest.mark.skipif(not has_ruby(), reason="Ruby has no package graphql")


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(it, id=it.name, marks=[NO_RUBY] if it.script.endswith(".rb") else [])
        for it in SERVERS
    ],
)
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


WRONG = {
    "syntax error": "HTTP 200, errors",
    "GET": "answered",
    "arrays of requests": "answered",
    "@defer": "in parts, multipart/mixed",
    "@stream": "in one answer",
    "rows: default page": "31 rows",
    "rows: `skip`": "page",
    "rows: `top`": "offset",
    "rows: largest page": "2000 rows",
    "rows: size 0": "30 rows",
    "rows: `skip` beyond the end": "error",
}


@pytest.mark.parametrize("subject", WRONG)
def test_a_wrong_line_is_noticed(subject: str, rows: Path) -> None:
    """The check fails for each of these lines."""
    (server,) = [it for it in SERVERS if it.name == "ariadne"]
    with run_server(server, None, rows) as process, Client(process.url) as client:
        report = client.describe(["rows"])
        assert report.find(subject).finding != WRONG[subject]
        lines = [
            line._replace(finding=WRONG[subject]) if line.subject == subject else line
            for line in report
        ]
        faults = list(list_faults(replace(report, lines=lines), process.url, server.lists))
    assert faults


def test_a_changed_value_is_noticed() -> None:
    """A frame that rounds, or loses a value, differs from the answer."""
    assert find_difference("big", [2**60 + 1], [float(2**60 + 1)])
    assert find_difference("day", ["2024-02-29"], [None])
    assert find_difference("moment", ["2024-02-29T10:00:00Z"], ["2024-02-29T10:00:01Z"])
    assert not find_difference("price", ["1.50"], [Decimal("1.5")])
