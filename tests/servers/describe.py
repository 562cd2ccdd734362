"""Describe real servers, check each report, and write ``docs/reference/servers.md``.

Usage: ``GQLNB_SERVERS=FOLDER python -m tests.servers.describe [NAME ...]``

What is missing in FOLDER is installed from npm and PyPI. With names the page is not written. The
exit code is 1 if a line of a report is wrong.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb import Client
from tests.servers.described.data import write_rows
from tests.servers.described.raw import RawEndpoint, list_faults
from tests.servers.described.table import SERVERS, DescribedServer
from tests.servers.described.values import COLUMNS, ColumnValues, compare_values
from tests.servers.install import NPM_SERVERS, find_node, install_described
from tests.servers.postgraphile.postgres import run_postgres
from tests.servers.processes import VARIABLE, ServerProcess, find_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gqlnb.client.endpoint_report.report import EndpointReport
    from tests.servers.postgraphile.postgres import Postgres

__all__ = ["Description", "describe_server", "main", "run_server"]

HERE = Path(__file__).parent / "described"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "servers.md"
LOAD = """
create table rows (id int primary key, name text, day date, local timestamp, moment timestamptz,
  price numeric, big bigint, ratio float8, extra jsonb);
create table parts (id int primary key, label text, row_id int references rows);
create index on parts (row_id);
create table numbers (id int primary key, nan float8);
insert into numbers values (1, 'NaN');
create temp table input (value json);
\\copy input from pstdin csv quote e'\\x01' delimiter e'\\x02'
insert into rows select r.* from input, json_populate_recordset(null::rows, value) r;
insert into parts select (p->>'id')::int, p->>'label', (r->>'id')::int
  from input, json_array_elements(value) r, json_array_elements(r->'parts') p;
"""


class Description(NamedTuple):
    """What was found about a server.

    Attributes
    ----------
    server
        The server.
    version
        The version of the package that is described.
    report
        The report.
    values
        How it writes the columns of the data set.
    nan
        How it writes a Float that is NaN.
    size_null
        What an explicit null as the size does, by list.
    faults
        The lines that are wrong, and the values that a frame changed.
    """

    server: DescribedServer
    version: str
    report: EndpointReport
    values: list[ColumnValues]
    nan: str
    size_null: dict[str, str]
    faults: list[str]


def find_folder(server: DescribedServer) -> Path | None:
    """Return the folder with the packages of a server; None for those of this environment.

    Raises
    ------
    LookupError
        If they are not installed.
    """
    name = server.folder or server.name
    if server.script.endswith(".rb") and shutil.which("ruby") is None:
        msg = "Ruby is not installed. Install it with: apt-get install ruby-graphql ruby-webrick"
        raise LookupError(msg)
    if name in NPM_SERVERS:
        return find_packages(name)[1]
    if not server.packages:
        return None
    folder = Path(os.environ.get(VARIABLE, ""), f"described-{name}").resolve()
    if VARIABLE not in os.environ or not folder.is_dir():
        msg = f"{name} is not installed. Run: {VARIABLE}=FOLDER python -m tests.servers.describe"
        raise LookupError(msg)
    return folder


def read_version(server: DescribedServer, folder: Path | None) -> str:
    """Return the version of the package that is described."""
    if server.is_npm and folder is not None:
        path = folder / "node_modules" / server.title / "package.json"
        return str(json.loads(path.read_text(encoding="utf-8"))["version"])
    if server.script.endswith(".rb"):
        command = ("ruby", "-e", "require 'graphql'; print GraphQL::VERSION")
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if folder is None:
        return importlib.metadata.version(server.title)
    found = importlib.metadata.distributions(name=server.title, path=[str(folder)])
    return next(iter(found)).version


@contextmanager
def run_server(
    server: DescribedServer, folder: Path | None, data: Path, database: str = ""
) -> Iterator[ServerProcess]:
    """Run a server on the data set."""
    options = {"name": server.name, "packages": str(folder), "data": str(data)}
    command = [str(HERE / server.script), json.dumps({**options, "database": database})]
    env = {} if folder is None else {"PYTHONPATH": str(folder)}
    program = sys.executable
    if server.is_npm:
        program = find_node(Path(os.environ[VARIABLE]), "postgraphile-v5") or "node"
    if server.script.endswith(".rb"):
        program = "ruby"
    with ServerProcess([program, *command], env=env) as process:
        yield process


def describe_server(server: DescribedServer, url: str, version: str) -> Description:
    """Return the report of a running server, and what is wrong with it."""
    with warnings.catch_warnings(), Client(url) as client:
        warnings.simplefilter("ignore", UserWarning)
        report = client.describe(list(server.lists) or None)
        faults = list(list_faults(report, url, server.lists))
        values: list[ColumnValues] = []
        for name, known in server.lists.items():
            columns = list(compare_values(client, known))
            faults += [f"{name}.{it.column}: {it.fault}" for it in columns if it.fault]
            values = values or columns
            whole = client.execute_all(known.text.replace("()", ""))
            rows = collect(whole.data, known.path)
            if whole.report.complete and rows != known.length:
                faults.append(f"{name}: execute_all has {rows} of {known.length} rows as complete")
    raw = RawEndpoint(url)
    size_null = {
        name: raw.describe_null(known, subject.strip("`"))
        for name, known in server.lists.items()
        for subject, finding in get_lines(report, f"{name}: ").items()
        if finding == "size"
    }
    nan = raw.read_nan(server.nan)
    return Description(server, version, report, values, nan, size_null, faults)


def collect(data: Any, path: Sequence[str]) -> int:
    """Return the number of rows in an answer."""
    for step in path:
        data = data[step] if isinstance(data, dict) else data
    return len(data)


def load_database(database: Postgres, data: Path) -> None:
    """Write the rows into a PostgreSQL database."""
    before, _, after = LOAD.partition("\\copy")
    head, _, rest = after.partition("\n")
    text = data.read_text(encoding="utf-8")
    database.run_script(f"{before}\\copy{head}\n{text}\n\\.\n{rest}")


def main(*names: str) -> int:
    """Describe the servers, all by default; return the exit code."""
    wrong = 0
    found: list[Description] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data = write_rows(folder / "rows.json")
        url = ""
        for server in SERVERS:
            if names and server.name not in names:
                continue
            if server.needs_database and not url:
                database = stack.enter_context(run_postgres())
                load_database(database, data)
                url = database.url
            try:
                install_described(Path(os.environ[VARIABLE]), server)
                place = find_folder(server)
                version = read_version(server, place)
                with run_server(server, place, data, url) as process:
                    found.append(describe_server(server, process.url, version))
            except (LookupError, RuntimeError, subprocess.CalledProcessError, OSError) as error:
                sys.stdout.write(f"{server.name}: not described: {error!s:.1500}\n")
                wrong += 1
                continue
            faults = found[-1].faults
            wrong += len(faults)
            report = found[-1].report
            sys.stdout.write(
                f"{server.name} {version}: {len(report)} lines, {report.requests} requests, "
                f"{report.seconds:.1f} s, {len(faults)} wrong\n"
            )
            sys.stdout.writelines(f"  {fault}\n" for fault in faults)
            sys.stdout.flush()
    if not names:
        PAGE.write_text(build_page(found), encoding="utf-8")
    return 1 if wrong else 0


# -- the page

PROTOCOL = {
    "introspection": "introspection",
    "GET": "GET",
    "media type asked for": "media type",
    "syntax error": "syntax error",
    "invalid document": "invalid document",
    "unknown operation": "unknown operation",
    "wrong variable": "wrong variable",
    "arrays of requests": "arrays",
    "persisted queries": "persisted queries",
    "WebSocket": "WebSocket",
    "server-sent events": "events",
    "@defer": "@defer",
    "@stream": "@stream",
}
LISTS = ("default page", "largest page", "above it", "count", "size 0", "bad cursor")
INTRODUCTION = (
    "# How servers behave",
    "Each server holds the same 2,350 rows, and `client.describe()` was run on it: "
    "{doc}`describe an endpoint <../howto/describe-an-endpoint>`. Each line on a list and on the "
    "protocol was checked by requests without gqlnb, and the columns of frames were compared with "
    "the answers. `python -m tests.servers.describe` writes this page, and fails if a line is "
    "wrong.",
    "Where the schema is written by hand, as that with `rows`, `stars` and `sheet`, its pages are "
    "ours, and the protocol is the library's. NaN comes from what the server reads: a resolver, a "
    "column of PostgreSQL or Arrow, or a table of JavaScript.",
)


def build_page(found: Sequence[Description]) -> str:
    """Return the page in Markdown."""
    count = sum(len(it.report) for it in found)
    date = f"Written on {datetime.now(UTC):%Y-%m-%d}, from {count:,} lines of reports."
    parts = ["\n\n".join([*INTRODUCTION, date]), "\n## Lists\n"]
    header = ("server", "list", "paging", *LISTS, "size null")
    parts += [format_row(header), format_row(["---"] * len(header))]
    for it in found:
        for name in it.server.lists:
            lines = get_lines(it.report, f"{name}: ")
            roles = [
                f"{subject} is the {finding}"
                for subject, finding in lines.items()
                if finding in {"size", "offset", "page", "cursor"}
            ]
            paging = ", ".join(roles) or "none"
            cells = [*(lines.get(subject, "") for subject in LISTS), it.size_null.get(name, "")]
            parts.append(format_row([format_server(it), name, paging, *cells]))
    parts.append("\n## Protocol\n")
    parts += [format_row(("server", *PROTOCOL.values())), format_row(["---"] * (len(PROTOCOL) + 1))]
    for it in found:
        lines = get_lines(it.report, "")
        parts.append(format_row([format_server(it), *(lines.get(s, "") for s in PROTOCOL)]))
    parts.append("\n## Values\n")
    header = ("server", *COLUMNS.values(), "Float that is NaN")
    parts += [format_row(header), format_row(["---"] * len(header))]
    for it in found:
        written = {column.column: column.describe() for column in it.values}
        cells = [written.get(column, "") for column in COLUMNS]
        parts.append(format_row([format_server(it), *cells, it.nan]))
    return "\n".join([*parts, ""])


def get_lines(report: EndpointReport, prefix: str) -> dict[str, str]:
    """Return the findings by subject, of the subjects with a prefix."""
    return {
        line.subject.removeprefix(prefix): line.finding
        for line in report
        if line.subject.startswith(prefix)
    }


def format_server(description: Description) -> str:
    """Return the name and version of a server."""
    return f"{description.server.title} {description.version}"


def format_row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
