"""A harvest that is killed again and again has the same rows, and repeats few requests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from random import Random
from threading import Event

import pytest

from gqlnb import Client, github, serve
from tests.github.harvester.logging_standin import Listening, rows

KILLS = int(os.environ.get("HARVEST_KILLS", "100"))
PART = 2_000
# Processes that are forked have imported everything, so that each is killed while it harvests.
FORKS = """
import os, sys
from gqlnb import github

github.harvest(">=1000000", client=sys.argv[1], out=sys.argv[2], progress=False)
print("ready", flush=True)
for folder in sys.stdin:
    process = os.fork()
    if not process:
        try:
            github.harvest(">=1", client=sys.argv[1], out=folder.strip(), part=2000, progress=False)
        finally:
            os._exit(0)
    print(process, flush=True)
    print(os.waitpid(process, 0)[1], flush=True)
"""


@contextmanager
def run_harvests(url, folder):
    """Yield a process that runs the harvest into each folder written to it."""
    command = [sys.executable, "-c", FORKS, url, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.stdin.close()
            process.wait()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_harvest_killed_at_random_moments_has_the_same_rows(people, truth, tmp_path):
    """At most one request is repeated for each time that it was killed."""
    standin, chance, never = Listening(people), Random(5), Event()
    kills, number = 0, 0
    with serve(standin, port=0) as server, run_harvests(server.url, tmp_path / "first") as process:
        while kills < KILLS:
            folder, here, begun = tmp_path / str(number), 0, len(standin.asked)
            number += 1
            while True:
                process.stdin.write(f"{folder}\n")
                process.stdin.flush()
                harvester = int(process.stdout.readline())
                asked = len(standin.asked)
                if chance.random() < 0.8:  # else perhaps before the first request
                    standin.wait_for(asked + chance.randint(1, 3), 5)
                never.wait(chance.random() * 0.05)
                with suppress(ProcessLookupError):  # it is finished
                    os.kill(harvester, signal.SIGKILL)
                if int(process.stdout.readline()) != signal.SIGKILL:
                    break
                here += 1
            with Client(server.url) as client:
                made = github.harvest(">=1", client=client, out=folder, part=PART)
            assert made.complete
            assert rows(made.frame()) == truth
            assert len(standin.asked) - begun - made.requests <= here
            kills += here
