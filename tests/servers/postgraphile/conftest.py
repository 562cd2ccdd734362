"""One PostgreSQL cluster and one process of each PostGraphile version, shared by the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gqlnb import Client
from tests.servers.postgraphile.database import load_database
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.postgres import MISSING, find_programs, run_postgres
from tests.servers.processes import find_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    """Yield a cluster with the tests' tables; no test may change them, except ``tasks``."""
    require_postgraphile("v4")  # nothing else needs the database, which takes seconds to start
    if find_programs() is None:
        pytest.skip(MISSING)
    with run_postgres() as cluster:
        load_database(cluster)
        yield cluster


def require_postgraphile(version: str) -> None:
    """Skip where a version of PostGraphile is not installed."""
    try:
        find_packages(f"postgraphile-{version}")
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def v4(database: Postgres) -> Iterator[dict[str, PostGraphile]]:
    """Yield the variants of PostGraphile 4 by name."""
    require_postgraphile("v4")
    variants = ("plain", "lists", "only", "classic", "keys", "older")
    with run_postgraphile(database, "v4", *variants) as servers:
        yield servers


@pytest.fixture(scope="session")
def v5(database: Postgres) -> Iterator[dict[str, PostGraphile]]:
    """Yield the variants of PostGraphile 5 by name."""
    require_postgraphile("v5")
    with run_postgraphile(database, "v5", "compatible", "amber") as servers:
        yield servers


@pytest.fixture(scope="session")
def plain(v4: dict[str, PostGraphile]) -> PostGraphile:
    """Return PostGraphile 4 with connections only, as its command line starts it."""
    return v4["plain"]


@pytest.fixture(scope="session")
def lists(v4: dict[str, PostGraphile]) -> PostGraphile:
    """Return PostGraphile 4 with plain lists beside the connections."""
    return v4["lists"]


@pytest.fixture(scope="session")
def compatible(v5: dict[str, PostGraphile]) -> PostGraphile:
    """Return PostGraphile 5 with the names of version 4, and plain lists."""
    return v5["compatible"]


@pytest.fixture(scope="session")
def amber(v5: dict[str, PostGraphile]) -> PostGraphile:
    """Return PostGraphile 5 with its own defaults."""
    return v5["amber"]


@pytest.fixture
def server(variant: str, request: pytest.FixtureRequest) -> PostGraphile:
    """Return the variant that a test names."""
    version = "v5" if variant in {"compatible", "amber"} else "v4"
    servers: dict[str, PostGraphile] = request.getfixturevalue(version)
    return servers[variant]


@pytest.fixture(params=["v4", "v5"])
def forum(request: pytest.FixtureRequest) -> PostGraphile:
    """Return each version with the names of version 4, and plain lists."""
    name = {"v4": "lists", "v5": "compatible"}[request.param]
    server: PostGraphile = request.getfixturevalue(name)
    return server


@pytest.fixture(autouse=True)
def _fresh_schema_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find a schema that another has left in the cache of this machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def tasks(database: Postgres) -> Iterator[Postgres]:
    """Yield the cluster with an empty table `tasks`, which is emptied again after the test."""
    empty = "TRUNCATE forum.tasks RESTART IDENTITY;"
    database.run_script(empty)
    yield database
    database.run_script(empty)


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Return a function that makes a client of a server; all are closed after the test."""
    clients: list[Client] = []

    def make(server: PostGraphile, **options: Any) -> Client:
        clients.append(Client(server.url, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
