"""Python in a browser: Pyodide's core in Node, with the packages that PyPI has for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gqlnb

RUN = Path(__file__).with_name("pyodide") / "run.mjs"
PROGRAM = """
import sys
import gqlnb

schema = gqlnb.reference_schema()
print(schema.execute("{ hello }").data)
client = gqlnb.connect(schema)
print(client.execute("query ($n: Boolean!) { hello @include(if: $n) }", {"n": True}).data)
print((await schema.aexecute("{ hello }")).data)
print(gqlnb.Schema.mock("type Query { n: Int! }", seed=1).execute("{ n }").data)


def fail(work):
    try:
        work()
    except gqlnb.GqlnbError as error:
        print(type(error).__name__, str(error).splitlines()[0])


fail(lambda: client.execute("{ helo }"))
fail(lambda: gqlnb.serve(schema))
fail(lambda: gqlnb.connect("https://example.org/graphql", token=gqlnb.Token("canary-of-a-token")))
far = gqlnb.connect(URL)
print(far.execute("{ name }").data)
print((await far.aexecute("{ name }")).data)
fail(lambda: gqlnb.connect("http://127.0.0.1:1/graphql").execute("{ name }"))
print("numpy" in sys.modules, "requests" in sys.modules)
"""
EXPECTED = (
    "{'hello': 'Hello world!'}",
    "{'hello': 'Hello world!'}",
    "{'hello': 'Hello world!'}",
    "{'n': ",
    "QueryError Cannot query field 'helo' on type 'Query'. Did you mean 'hello'?",
    "ServerError Python in a browser has no sockets, so it cannot serve a schema.",
    "AuthError No token is sent to https://example.org/graphql from Python in a browser",
    "{'name': 'Zoë €'}",
    "{'name': 'Zoë €'}",
    "TransportError POST http://127.0.0.1:1/graphql: the browser could not send the request.",
    "False False",
)


@pytest.mark.front_end(
    "Pyodide, in Node", cells="engine and client", completion="no", widgets="no", explorer="no"
)
def test_pyodide(front_ends, root, tmp_path):
    """Schemas, clients and errors work; servers and tokens are refused with a reason."""
    schema = gqlnb.Schema(
        "type Query { name: String }", {"Query": {"name": lambda root, args, context: "Zoë €"}}
    )
    program = tmp_path / "program.py"
    node, pyodide = shutil.which("node"), front_ends.folder / "node_modules" / "pyodide"
    assert node is not None
    with gqlnb.serve(schema, port=0) as server:
        program.write_text(f"URL = {server.url!r}\n{PROGRAM}", "utf-8")
        paths = map(str, (RUN, pyodide, front_ends.folder / "site", root, program))
        done = subprocess.run([node, *paths], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert len(lines) == len(EXPECTED), done.stdout
    for line, expected in zip(lines, EXPECTED, strict=True):
        assert line.startswith(expected)


BLOCKED = ("httptools", "uvicorn", "uvloop", "websockets")
WITHOUT = """
import sys
BLOCKED = {blocked!r}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocker())
import gqlnb
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "gqlnb")
shell.run_cell_magic("graphql", "demo -o rows -t frame",
    '{{ search(query: "stars:>300000", type: REPOSITORY, first: 2) '
    '{{ nodes {{ ... on Repository {{ name }} }} }} }}')
assert list(shell.user_ns["rows"]["name"]) == ["build-your-own-x", "awesome"]
search = gqlnb.StarSearch(">300000", limit=2)
assert len(search.run()) == 2
here = gqlnb.reference_schema()
assert gqlnb.Explorer(here, query="{{ hello }}").run()["hello"] == "Hello world!"
assert "hello" in gqlnb.SchemaView(here)._repr_mimebundle_()[0]["text/html"]
"""


def test_all_but_serving_works_without_the_packages_of_servers(tmp_path):
    """Cells, widgets and stars need none of the packages that a browser's Python lacks."""
    code = WITHOUT.format(blocked=BLOCKED)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
