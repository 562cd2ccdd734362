"""The environment of all tests and notebooks, without the settings and secrets of the user.

This file is at the top because the notebooks are tests too: their kernels inherit the environment
that is cleaned here.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

STRICT = pytest.StashKey[bool]()
HOMES = (
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
# Variables of the test run, which gqlnb does not read. They stay in the environment because the
# worker processes of pytest-xdist inherit it after it was cleaned.
KEPT = frozenset({"GQLNB_FRONTENDS", "GQLNB_REQUIRE", "GQLNB_SERVERS"})
LOOPBACK = ("localhost", "127.", "::1", "0.0.0.0")
outside: list[str] = []  # hosts that this process was about to reach


def forget_environment() -> None:
    """Remove the variables that change the behaviour of gqlnb, and those that are secret."""
    dropped = ("GH_", "GITHUB_ENTERPRISE_TOKEN", "GITHUB_TOKEN", "GQLNB_")
    secret = [name for name in os.environ if name.startswith(dropped) and name not in KEPT]
    for name in secret:
        del os.environ[name]


def watch_network(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse connections to other machines, as a machine without a network does."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host and not str(host).startswith(LOOPBACK):
        outside.append(str(host))
        raise socket.gaierror(socket.EAI_AGAIN, f"no test reaches the network: {host}")


def pytest_configure(config: pytest.Config) -> None:
    """Clean the environment before anything is imported or started."""
    # A shell starts background jobs with SIGINT ignored, and tests of interrupts would wait for
    # ever. Worker processes and kernels inherit the default handler from this process.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if is_ignored and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[STRICT] = os.environ.get("GQLNB_REQUIRE") == "all"
    forget_environment()
    home = tempfile.mkdtemp(prefix="gqlnb-tests-")
    # Registered first, it runs last: IPython closes its history in there when the process ends.
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name in HOMES:
        os.environ[name] = str(Path(home, name))
    sys.addaudithook(watch_network)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """With GQLNB_REQUIRE=all, fail a test that is skipped because the machine lacks something.

    So CI notices what it should have installed. Marks ``skipif``, about the platform, still skip.
    """
    report = yield
    if item.get_closest_marker("skipif") is None:
        fail_if_skipped(item.config, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, Any]:
    """Fail a file that is skipped as a whole likewise."""
    report = yield
    fail_if_skipped(collector.config, report)
    return report


def fail_if_skipped(
    config: pytest.Config, report: pytest.TestReport | pytest.CollectReport
) -> None:
    """Turn a skip into a failure if nothing may be skipped."""
    if config.stash[STRICT] and report.skipped and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (skipped, and GQLNB_REQUIRE=all)"


@pytest.fixture(scope="module", autouse=True)
def freeze_objects() -> None:
    """Exclude the objects that exist before a module's tests from garbage collection.

    A collection traverses all objects, thousands of tests and all imported modules among them, and
    IPython collects at the end of each shell: that took most of the time of its tests.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    """Give each test a clean environment, and close all servers afterwards."""
    forget_environment()
    outside.clear()
    yield
    forget_environment()
    if "gqlnb.background" in sys.modules:
        sys.modules["gqlnb.background"].servers.close()
    assert not outside, f"This test would have reached the network: {outside}"
