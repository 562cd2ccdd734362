"""The memory of a harvest with ten own fields into a folder, for populations of several sizes.

A stand-in in a process of its own answers over HTTP, and each harvest runs in a new process, whose
largest resident memory is printed: it should not grow with the number of rows.

    python -m tests.benchmarks.harvest_memory 100000 500000 3000000
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time

FIELDS = (
    "nameWithOwner forkCount pushedAt isArchived visibility url description "
    "primaryLanguage { name } licenseInfo { spdxId } "
    "languages(first: 2) { edges { size node { name } } }"
)
SERVER = """
import sys
from gqlnb import github
population = github.population(int(sys.argv[1]), seed=1)
with github.serve(github.service(population=population), port=0) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
HARVEST = """
import json, resource, sys
from gqlnb import github
url, fields, folder = sys.argv[1:]
made = github.harvest(">=1", client=url, fields=fields, out=folder, progress=False)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps([made.complete, len(made), made.requests, peak]))
"""


def measure(size: int) -> None:
    """Harvest a population, and print rows, seconds and memory."""
    serve = [sys.executable, "-c", SERVER, str(size)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(serve, stdin=-1, stdout=-1, text=True) as server,
    ):
        assert server.stdout is not None
        url, begun = server.stdout.readline().strip(), time.perf_counter()
        harvest = [sys.executable, "-c", HARVEST, url, FIELDS, folder]
        done = subprocess.run(harvest, check=True, stdout=-1, text=True)
        seconds = time.perf_counter() - begun
        server.communicate("")
    complete, rows, requests, peak = json.loads(done.stdout)
    sys.stdout.write(
        f"{rows:>9,} rows in {seconds:,.0f} s, {requests:,} requests, "
        f"{peak:,} MiB at most{'' if complete else ', not complete'}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    for text in sys.argv[1:] or ["100000", "500000", "3000000"]:
        measure(int(text))
