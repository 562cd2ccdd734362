"""No telemetry: the one connection opened is to the endpoint that was named."""

from __future__ import annotations

import json
import subprocess
import sys

# Python tells of every name looked up, every socket bound and every connection, whoever asks.
WATCH = """
import json, os, sys
said, own = [], os.getpid()
def watch(event, args):
    if os.getpid() == own and event.startswith("socket.") and event != "socket.__new__":
        said.append((event, repr(args[1] if hasattr(args[0], "fileno") else args[0])))
sys.addaudithook(watch)
"""
WORK = """
from IPython.core.interactiveshell import InteractiveShell
import gqlnb
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "gqlnb")
server = gqlnb.serve(gqlnb.reference_schema(), port=0)
shell.run_cell("%%graphql " + server.url + "\\n{ hello }").raise_error()
shell.run_line_magic("graphql", "schema")
shell.run_line_magic("graphql", "stars >400000")
shell.run_line_magic("graphql", "connections")
shell.complete("%%graphql " + server.url + "\\n{ hel", None, 20)
client = gqlnb.connect("demo")
client.schema
client.execute("{ viewer { login } }").frame()
gqlnb.StarSearch(">400000", limit=2).run()
gqlnb.SchemaView("demo").search("stars")
gqlnb.Explorer("demo", query="{ viewer { login } }").run()
gqlnb.TokenBox("GitHub token")
server.close()
print(json.dumps({"port": server.port, "said": said}))
"""


def test_only_the_given_endpoint_is_contacted(tmp_path):
    """While loading, serving, querying, exploring and searching."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH + WORK],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        text=True,
        timeout=60,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    reached = {address for event, address in told["said"] if event == "socket.connect"}
    assert reached == {repr(("127.0.0.1", told["port"]))}
    bound = {address for event, address in told["said"] if event == "socket.bind"}
    # urllib3 tries once whether the system has IPv6.
    assert bound <= {repr(("127.0.0.1", 0)), repr(("::1", 0))}
    looked_up = {name for event, name in told["said"] if event == "socket.getaddrinfo"}
    assert looked_up <= {repr("127.0.0.1"), repr("localhost")}
