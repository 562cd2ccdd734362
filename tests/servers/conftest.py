"""The servers of third parties, started once per process that runs tests, and fresh clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gqlnb import Client
from gqlnb.client import connections
from tests.named_connections import forget_connection
from tests.servers.data import make_library, write_library
from tests.servers.processes import NAMES, start_server
from tests.servers.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from tests.servers.processes import ServerProcess


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, Any]:
    """Report the tests that lack the same server as skipped in one line, not in one for each."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        _, _, reason = report.longrepr
        report.longrepr = (__file__, 0, reason)
    return report


@pytest.fixture(scope="session")
def library() -> dict[str, Any]:
    """Return the data that all servers hold."""
    return make_library()


@pytest.fixture(scope="session")
def data_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that the servers read."""
    return write_library(tmp_path_factory.mktemp("library") / "library.json")


@pytest.fixture
def start(data_file: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Return a function that starts a server for one test alone."""
    started: list[ServerProcess] = []

    def start_one(name: str, **options: Any) -> ServerProcess:
        try:
            started.append(start_server(name, data_file, **options))
        except LookupError as error:
            pytest.skip(str(error))
        return started[-1]

    yield start_one
    for process in started:
        process.stop()


@pytest.fixture(scope="session")
def shared_server(data_file: Path) -> Iterator[Callable[[str], ServerProcess]]:
    """Return a function that gives the running server of a name."""
    running: dict[str, ServerProcess] = {}

    def find(name: str) -> ServerProcess:
        if name not in running:
            try:
                running[name] = start_server(name, data_file)
            except LookupError as error:
                pytest.skip(str(error))
        return running[name]

    yield find
    for process in running.values():
        process.stop()


@pytest.fixture(params=NAMES)
def server(
    request: pytest.FixtureRequest, shared_server: Callable[[str], ServerProcess]
) -> ServerProcess:
    """Return a running server; each of them in turn, or those that a test names."""
    return shared_server(request.param)


@pytest.fixture
def name(request: pytest.FixtureRequest, server: ServerProcess) -> str:
    """Return the name of the server."""
    return request.node.callspec.params["server"]


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache, so that no schema is known from a test before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def client(server: ServerProcess) -> Iterator[Client]:
    """Yield a fresh client of the server."""
    with Client(server.url) as made:
        yield made


@pytest.fixture
def proxy(server: ServerProcess) -> Iterator[Proxy]:
    """Yield a proxy in front of the server that keeps the requests."""
    with Proxy(server.port) as made:
        yield made


@pytest.fixture
def complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Client, str], list[str]]]:
    """Yield a function that completes a cell on a client at its mark."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"hist_file": ":memory:"}))
    shell.run_line_magic("load_ext", "gqlnb")

    def names(client: Client, marked: str) -> list[str]:
        shell.user_ns["library"] = client
        assert client.schema.query_type
        source = f"%%graphql library\n{marked}"
        with provisionalcompleter():
            found = shell.Completer.completions(source.replace("|", "", 1), source.index("|"))
            return [it.text for it in found]

    yield names
    shell.run_line_magic("unload_ext", "gqlnb")
    connections.use_connection(None)
    forget_connection("library")
    shell._atexit_once()
    InteractiveShell.clear_instance()
