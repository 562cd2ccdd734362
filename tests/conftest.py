"""Fixtures for all tests: the checkout, the command line as a process, spellings of a secret."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from threading import Condition, Thread
from typing import Any
from urllib.parse import quote

import pytest
import requests
from hypothesis import HealthCheck, settings
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from gqlnb.engine.compiler import plans
from tests.examples import count_examples

# Other processes may hold up any example, and the making of it.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", **PATIENT)
settings.register_profile("quick", max_examples=count_examples(100), **PATIENT)
settings.load_profile("default")

# The second execution of an operation in any test is that of compiled code. By default it is one of
# the first that are not, since compiling repays later.
plans.HOT = 1

ROOT = Path(__file__).resolve().parents[1]
# Suites that take minutes. `pytest` leaves them out; `pytest -m slow` runs them, as .ci/run does.
SLOW_FOLDERS = ("benchmarks", "browser", "frontends", "property", "servers")
SLOW_FILES = (
    "notebooks/13_speed.ipynb",  # it measures, like tests/benchmarks
    "tests/cli/test_main.py",
    "tests/client/test_canary.py",
    "tests/client/test_network_faults.py",
    "tests/server/test_connections.py",
)
SMOKE_TESTS = (  # of those folders, what is part of every run
    "tests/browser/test_hello.py",
    "tests/property/test_engine_differential.py",
    "tests/property/test_frames.py",
    "tests/property/test_search.py",
)
COMMAND = (sys.executable, "-m", "gqlnb")


def pytest_configure(config: pytest.Config) -> None:
    """Generate fewer examples, but for the slow suites."""
    if config.option.markexpr == "not slow":
        settings.load_profile("quick")


def is_slow(path: Path) -> bool:
    """Return whether all tests of a file are slow."""
    place = path.relative_to(ROOT)
    name = place.as_posix()
    return name in SLOW_FILES or (place.parts[1] in SLOW_FOLDERS and name not in SMOKE_TESTS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of the slow suites where their tests would only be deselected.

    Each worker process would import them, which takes seconds. Files that are named on the command
    line are imported, so that pytest says that their tests are deselected.
    """
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    places = [config.invocation_params.dir / argument for argument in config.args]
    is_named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS and any(
        len(it.relative_to(ROOT).parts) > 1 for it in places if it.is_relative_to(ROOT)
    )
    return True if is_slow(collection_path) and not is_named else None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow suites."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


class Background:
    """A running command whose output, both streams in one, can be waited for.

    Attributes
    ----------
    process
        The process itself.
    output
        What it has written so far.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        env: dict[str, str] | None = None,
        program: tuple[str, ...] = COMMAND,
    ) -> None:
        self.output = ""
        self._ended = False
        self._news = Condition()
        self.process = subprocess.Popen(
            [*program, *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.output += line
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, pattern: str, seconds: float = 60) -> re.Match[str]:
        """Wait until the output matches, and return the match; fail if it never will."""
        with self._news:
            self._news.wait_for(lambda: self._ended or re.search(pattern, self.output), seconds)
            match = re.search(pattern, self.output)
        assert match, f"{pattern!r} did not come in {seconds} s. Output:\n{self.output}"
        return match

    def stop(self, seconds: float = 60) -> int:
        """Ask the process to end, wait, and return its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        finally:
            self.process.kill()
            self._reader.join(seconds)
            self.process.stdout.close()


@pytest.fixture(scope="session")
def root():
    """Return the top of the checkout."""
    return ROOT


@pytest.fixture
def gqlnb(tmp_path):
    """Return a function that runs the command line to its end, in an empty folder."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        options = {"cwd": tmp_path, "timeout": 60, "stdin": subprocess.DEVNULL} | options
        if "input" in options:
            del options["stdin"]
        return subprocess.run(
            [*COMMAND, *arguments], capture_output=True, text=True, check=False, **options
        )

    return run


@pytest.fixture(scope="session")
def background():
    """Return a function that starts a command; all of them end with the session."""
    started: list[Background] = []

    def start(*arguments: str, **options: Any) -> Background:
        started.append(Background(*arguments, **options))
        return started[-1]

    yield start
    for process in started:
        process.stop()


@pytest.fixture(scope="session")
def spelled():
    """Return a function that gives the ways in which a secret may stand in what is left behind."""

    def forms(secret: str) -> list[bytes]:
        data = secret.encode()
        found = [secret, secret.upper(), data.hex(), quote(secret, safe=""), repr(secret)[1:-1]]
        found += ["".join(f"%{byte:02x}" for byte in data), json.dumps(secret)[1:-1]]
        found += ["".join(f"\\u{byte:04x}" for byte in data), secret.replace("/", "\\/")]
        for before in range(3):  # of base64, the part that no neighbour changes
            coded = base64.b64encode(bytes(before) + data)[before + (before > 0) : -4].decode()
            found += [coded, coded.replace("+", "-").replace("/", "_")]
        return [form.encode() for form in dict.fromkeys(found)]

    return forms


@pytest.fixture(scope="session")
def bundled():
    """Skip where GraphiQL is not in this installation."""
    from gqlnb.server.page import read_checksum

    if read_checksum() is None:
        pytest.skip("GraphiQL was not built: npm could not be reached when gqlnb was installed")


@pytest.fixture(scope="session")
def patient():
    """Return a session that knocks again while nobody listens yet: Jupyter prints its URL first."""
    retry = Retry(total=None, connect=40, backoff_factor=0.05, backoff_max=1)
    with requests.Session() as session:
        session.mount("http://127.0.0.1", HTTPAdapter(max_retries=retry))
        yield session
