#!/usr/bin/env bash
# Buildbot: a page of changes comes in the opposite of the order that was asked for.
#
# Guessed before: `order=-changeid&limit=3` gives the three latest changes, the latest first, and
# pages in a row (`limit`, `offset`) give the rows in the order of the whole list.
# What happens: the right rows are chosen, and then each answer is reversed: the latest three come
# with the oldest of them first. Pages put together are in neither order. The list without a limit
# is reversed as well, so that its first rows are not those of its first page.
# Met in the GraphQL API of Buildbot 3.11.9, `changes(limit: 3)`; REST reads the same way.
# Versions: buildbot 4.3.0, Twisted 26.10.0, SQLAlchemy 2.1.9, SQLite, Python 3.11.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet buildbot==4.3.0 Twisted==26.10.0 \
  SQLAlchemy==2.1.9 'setuptools<80' 2>/dev/null
"$folder/venv/bin/buildbot" create-master "$folder/master" >"$folder/log"
cat >"$folder/master/master.cfg" <<'PYTHON'
from buildbot.plugins import schedulers, util, worker

BuildmasterConfig = {
    "workers": [worker.Worker("one", "secret")],
    "protocols": {"pb": {"port": "tcp:0:interface=127.0.0.1"}},
    "builders": [util.BuilderConfig("main", workernames=["one"], factory=util.BuildFactory())],
    "schedulers": [schedulers.ForceScheduler("force", builderNames=["main"])],
    "db": {"db_url": "sqlite:///state.sqlite"},
    "buildbotNetUsageData": None,
}
PYTHON
cat >"$folder/run.py" <<'PYTHON'
import sys

from buildbot.data import resultspec
from buildbot.master import BuildMaster
from twisted.internet import defer, reactor

found: list[list[int]] = []


@defer.inlineCallbacks
def ask(master, **page):
    spec = resultspec.ResultSpec(**page)
    rows = yield master.data.get_with_resultspec(("changes",), spec)
    found.append([row["changeid"] for row in rows])


@defer.inlineCallbacks
def run():
    master = BuildMaster(sys.argv[1], "master.cfg")
    yield master.startService()
    for number in range(1, 7):
        yield master.data.updates.addChange(revision=str(number), when_timestamp=number, author="a")
    yield ask(master)
    yield ask(master, limit=3)
    yield ask(master, limit=3, offset=3)
    yield ask(master, order=("changeid",), limit=3)
    yield ask(master, order=("-changeid",), limit=3)
    yield master.stopService()


def stop(result):
    if result is not None:
        result.printTraceback()
    reactor.stop()


reactor.callWhenRunning(lambda: run().addBoth(stop))
reactor.run()
print(*found, sep="\n")
expected = [[6, 5, 4, 3, 2, 1], [3, 2, 1], [6, 5, 4], [3, 2, 1], [4, 5, 6]]
assert found == expected, found
PYTHON
cd "$folder/master"
"$folder/venv/bin/python" "$folder/run.py" "$folder/master"
