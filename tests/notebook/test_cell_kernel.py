"""Cells in a real kernel: interrupts, and notebooks that fail when a query does."""

from __future__ import annotations

import subprocess
import sys
from threading import Event

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import gqlnb
from tests.notebook.kernel import run_kernel

SETUP = """%load_ext gqlnb
import asyncio, gqlnb, threading
from threading import Event

schema = gqlnb.Schema("type Query { hello: String slow: String }")
ended = Event()

@schema.resolver("Query.hello")
def hello(root, args, context):
    return "Hello world!"

@schema.resolver("Query.slow")
async def slow(root, args, context):
    print("waiting", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()
"""


@pytest.fixture(scope="module")
def kernel():
    """Yield a kernel with the extension and a schema."""
    with run_kernel(SETUP) as kernel:
        yield kernel


def test_an_interrupt_cancels_the_running_resolver(kernel):
    """One line is shown, and the next cell runs."""
    found = kernel.start("%%graphql schema\n{ slow }")
    assert next(found)[1]["text"].startswith("waiting")
    kernel.manager.interrupt_kernel()
    ((kind, content),) = list(found)
    assert (kind, content["ename"]) == ("error", "KeyboardInterrupt")
    assert content["traceback"] == ["KeyboardInterrupt"]
    assert kernel.show("ended.wait(20)") == "True"
    assert kernel.show("%%graphql schema -t json\n{ hello }") == "{'hello': 'Hello world!'}"


def test_an_interrupt_ends_a_pending_request(kernel):
    """The next response belongs to the next request."""
    asked, let_go = Event(), Event()

    def slow(*_):
        asked.set()
        let_go.wait(60)
        return "late"

    sdl = "type Query { hello: String slow: String }"
    schema = gqlnb.Schema(sdl, {"Query": {"hello": lambda *_: "next", "slow": slow}})
    with gqlnb.serve(schema, port=0) as server:
        assert kernel.show(f"%%graphql {server.url} -t json\n{{ hello }}") == "{'hello': 'next'}"
        found = kernel.start(f"%%graphql {server.url}\n{{ slow }}")
        assert asked.wait(60)
        kernel.manager.interrupt_kernel()
        ((kind, content),) = list(found)
        assert (kind, content["traceback"]) == ("error", ["KeyboardInterrupt"])
        let_go.set()
        assert kernel.show(f"%%graphql {server.url} -t json\n{{ hello }}") == "{'hello': 'next'}"
        outcome = kernel.run("%graphql history")[0][1]["data"]["text/plain"]
        assert "interrupted" in outcome


def test_an_interrupt_keeps_the_received_pages(kernel):
    """The line shown continues from there."""
    asked, let_go = Event(), Event()

    def items(root, args, context):
        start = int(args.get("after") or 0)
        if start == 4 and not asked.is_set():
            asked.set()
            let_go.wait(60)
        page = {"hasNextPage": start < 8, "endCursor": str(start + 2)}
        return {"nodes": list(range(start, min(start + 2, 10))), "pageInfo": page}

    sdl = """type Query { items(first: Int!, after: String): Items }
        type Items { nodes: [Int] pageInfo: Info! }
        type Info { hasNextPage: Boolean! endCursor: String }"""
    schema = gqlnb.Schema(sdl, {"Query": {"items": items}})
    with gqlnb.serve(schema, port=0) as server:
        cell = f"%%graphql {server.url} --paginate\n{{ items(first: 2) {{ nodes }} }}"
        found = kernel.start(cell)
        assert asked.wait(60)
        kernel.manager.interrupt_kernel()
        ((_, content),) = list(found)
        let_go.set()
        first, came, onward = content["traceback"]
        assert first == "KeyboardInterrupt"
        assert came.startswith("  4 items in 2 requests, ended: interrupted.")
        go_on = onward.partition("To continue: ")[2]
        assert kernel.show(f"{go_on}.data['items']['nodes']") == str(list(range(10)))


def test_errors_are_error_outputs_in_the_notebook(kernel):
    """Each has a name and traceback lines, without stack frames."""
    ((kind, content),) = kernel.run("%%graphql schema\n{\n  helo }")
    assert kind == "error"
    assert content["ename"] == "QueryError"
    assert content["traceback"][1] == "  cell line 3, column 3"
    *_, (_, content) = kernel.run("%%time\n\n%%graphql schema\n{\n  helo }")
    assert content["traceback"][1] == "  cell line 5, column 3"
    ((kind, content),) = kernel.run("%%graphql schema --outptu x\n{ hello }")
    assert (kind, content["ename"]) == ("error", "OptionError")


def test_a_semicolon_suppresses_the_output(kernel):
    """On a cell, and on a line."""
    assert kernel.run("%%graphql schema\n{ hello };") == []
    assert kernel.run("%graphql -c schema { hello };") == []


@pytest.fixture
def failing(tmp_path):
    """Return a notebook without outputs that has one invalid query."""
    cells = [
        "%load_ext gqlnb\nimport gqlnb\nschema = gqlnb.reference_schema()",
        "%%graphql schema\n{ helo }",
    ]
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    path = tmp_path / "failing.ipynb"
    nbformat.write(made, path)
    return path


def test_nbclient_stops_at_a_failing_query(failing):
    """The error is saved in the notebook."""
    book = nbformat.read(failing, 4)
    with pytest.raises(CellExecutionError, match="Did you mean 'hello'"):
        NotebookClient(book, timeout=60).execute()
    (output,) = book.cells[1].outputs
    assert (output.output_type, output.ename) == ("error", "QueryError")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["nbconvert", "--execute", "--to", "notebook", "--stdout"],
        ["pytest", "--nbval-lax", "-p", "no:cacheprovider", "-o", "addopts="],
        ["pytest", "--nbval", "-p", "no:cacheprovider", "-o", "addopts="],
    ],
    ids=["nbconvert", "nbval-lax", "nbval"],
)
def test_tools_fail_at_a_failing_query(failing, command):
    """Their message has the query's error."""
    done = subprocess.run(
        [sys.executable, "-m", *command, failing.name],
        cwd=failing.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert "Cannot query field 'helo'" in done.stdout + done.stderr


@pytest.mark.slow
def test_an_expected_failure_is_marked_in_the_query(failing):
    """The mark is a GraphQL comment, since the magic must be the first line."""
    book = nbformat.read(failing, 4)
    book.cells[1].source = "%%graphql schema\n# NBVAL_RAISES_EXCEPTION\n{ helo }"
    nbformat.write(book, failing)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval-lax", "-p", "no:cacheprovider", failing.name],
        cwd=failing.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
