"""A run of the tests that is interrupted leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

pytestmark = pytest.mark.slow
# What is tested, and a word in the command of the process that the tests start for it.
RUNS = {
    "a kernel": (["-n0", "notebooks/08_server.ipynb"], "ipykernel_launcher"),
    "JupyterLab, started by a worker": (
        ["-n1", "-m", "slow", "tests/cli/test_lab.py"],
        "jupyterlab",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal to the group on POSIX alone")
@pytest.mark.parametrize("name", RUNS)
def test_ctrl_c_ends_every_process(name, root, tmp_path):
    """Those of kernels, of JupyterLab and of the workers."""
    arguments, word = RUNS[name]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    with (tmp_path / "output").open("w") as output:
        run = subprocess.Popen(
            command, cwd=root, start_new_session=True, stdout=output, stderr=subprocess.STDOUT
        )
    started: set[psutil.Process] = set()
    end = time.monotonic() + 180
    try:
        while not any(word in " ".join(it.cmdline()) for it in started if it.is_running()):
            assert run.poll() is None, (tmp_path / "output").read_text()
            assert time.monotonic() < end
            time.sleep(0.2)
            started.update(psutil.Process(run.pid).children(recursive=True))
        os.killpg(run.pid, signal.SIGINT)
        run.wait(timeout=120)
        _, left = psutil.wait_procs(started, timeout=20)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
    assert [it.cmdline() for it in left if it.status() != psutil.STATUS_ZOMBIE] == []
