"""Serving from the cells of a running kernel, asked from outside."""

from __future__ import annotations

import socket
from textwrap import dedent

import pytest
import requests
from jupyter_client.manager import start_new_kernel

SERVE = """
from gqlnb.engine.schema import Schema
from gqlnb.server.thread import serve

def hello(*_):
    return {greeting!r}

schema = Schema("type Query {{ hello: String }}", {{"Query": {{"hello": hello}}}})
server = serve(schema, port={port})
server
"""


class Notebook:
    """A kernel and its client."""

    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=60)

    def start(self, code, cell=None):
        """Begin to run a cell, as JupyterLab if it has an id; return the id of its request."""
        if cell is None:
            return self.client.execute(code, allow_stdin=False)
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def outputs(self, request, *, until=None):
        """Return what a cell put out, up to its end or to the output that `until` accepts."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return found
            if kind in {"stream", "execute_result", "display_data", "error"}:
                found.append((kind, content))
                if until is not None and until(content):
                    return found

    def run(self, code, cell=None):
        """Run a cell to its end and return what it put out."""
        return self.outputs(self.start(code, cell))

    def value(self, code):
        """Run a cell and return the text of its value."""
        ((_, content),) = self.run(code)
        return content["data"]["text/plain"]


@pytest.fixture(scope="module")
def notebook():
    """Return a running kernel, shut down at the end."""
    made = Notebook()
    yield made
    made.client.stop_channels()
    made.manager.shutdown_kernel(now=True)


@pytest.fixture
def port():
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


def ask(port):
    """Ask from outside the kernel."""
    url = f"http://127.0.0.1:{port}/graphql"
    return requests.post(url, json={"query": "{ hello }"}, timeout=20).json()


def test_a_cell_serves_and_shows_a_link(notebook, port):
    """The cell ends with the server's link as its only output, and the world is answered."""
    ((kind, content),) = notebook.run(SERVE.format(greeting="Hello!", port=port))
    assert kind == "execute_result"
    assert content["data"]["text/plain"] == f"Server('http://127.0.0.1:{port}/graphql')"
    assert f'href="http://127.0.0.1:{port}/graphql"' in content["data"]["text/html"]
    assert ask(port) == {"data": {"hello": "Hello!"}}
    assert notebook.run("server.close()") == []


def test_the_cell_may_be_run_again(notebook, port):
    """Run again with another schema, it serves that one on the same port."""
    for greeting in ("Hello!", "Hello again!"):
        notebook.run(SERVE.format(greeting=greeting, port=port))
        assert ask(port) == {"data": {"hello": greeting}}
    notebook.run("server.close()")


@pytest.fixture
def shelf(notebook):
    """Return the notebook with what the tests of port 0 need; its servers are closed at the end."""
    notebook.run(
        """
        from gqlnb import runtime
        from gqlnb.engine.schema import reference_schema
        from gqlnb.server.thread import serve

        def helper():
            return serve(reference_schema(), port=0)

        kept = {}
        """
    )
    yield notebook
    notebook.run("runtime.servers.close()")


COUNT = "len(runtime.servers.all())"
ONE = "server = serve(reference_schema(), port=0)"


@pytest.mark.parametrize("cell", [None, "a-1"])
def test_a_cell_with_port_0_replaces_what_it_started(shelf, cell):
    """Run again it keeps one server and its port; the log goes on; the old server is closed."""
    for _ in range(3):
        shelf.run(f"{ONE}; kept[server] = server.port", cell)
    assert shelf.value(COUNT) == "1"
    assert shelf.value("len(kept), len(set(kept.values()))") == "(3, 1)"
    assert shelf.value("[old.closed for old in kept]") == "[True, True, False]"


def test_a_cell_that_was_edited_is_the_same_cell(shelf):
    """JupyterLab names its cells, so another text, and a server in a helper, change nothing."""
    for code in (ONE, f"# edited\n\n{ONE}", "server = helper()", f"import asyncio; {ONE}"):
        shelf.run(code, "a-1")
        assert shelf.value(COUNT) == "1"
    shelf.run(f"await asyncio.sleep(0)\n{ONE}", "a-1")
    assert shelf.value(COUNT) == "1"


@pytest.mark.parametrize("cells", [("a-1", "b-2"), (None, None)])
def test_another_cell_starts_another_server(shelf, cells):
    """Two cells have two servers, also where both call the same function."""
    for _ in range(2):
        shelf.run("one = helper()", cells[0])
        shelf.run("two = helper()", cells[1])
    assert shelf.value(f"{COUNT}, one.closed, two.closed") == "(2, False, False)"


def test_a_cell_may_start_several(shelf):
    """A loop in a cell starts as many as it says; run again there are as many, not twice."""
    code = "many = [serve(reference_schema(), port=0) for _ in range({})]"
    for count in (3, 2, 3):
        shelf.run(code.format(count), "a-1")
        assert shelf.value(f"{COUNT}, any(s.closed for s in many)") == f"({count}, False)"


def test_a_thread_of_a_cell_replaces_nothing(shelf):
    """What runs beside the cells belongs to none of them."""
    for _ in range(2):
        shelf.run("import asyncio; await asyncio.to_thread(helper)", "a-1")
    assert shelf.value(COUNT) == "2"


def test_a_named_port_is_no_business_of_the_cell(shelf, port):
    """A server on a port that was named stays, whatever the cell does when it runs again."""
    shelf.run(f"server = serve(reference_schema(), port={port})", "a-1")
    shelf.run(ONE, "a-1")
    assert shelf.value(COUNT) == "2"
    shelf.run("named = serve(reference_schema(), port=server.port)", "b-2")
    shelf.run(ONE, "a-1")
    assert shelf.value(f"{COUNT}, named.closed") == "(3, False)"


def test_a_masked_error_is_found_from_a_cell(notebook, port):
    """The id in the answer leads, in the notebook, to the traceback."""
    notebook.run(SERVE.format(greeting="Hello!", port=port))
    notebook.run("@schema.resolver('Query.hello')\ndef broken(*_):\n    raise OSError('hunter2')")
    url = f"http://127.0.0.1:{port}/graphql"
    answer = requests.post(url, json={"query": "{ hello }"}, timeout=20).json()
    typed = answer["errors"][0]["message"].split(" with ")[1].split(",")[0]
    ((kind, content),) = notebook.run(f"raise {typed}")
    assert (kind, content["ename"], content["evalue"]) == ("error", "OSError", "hunter2")
    assert "broken" in "".join(content["traceback"])
    notebook.run("server.close()")


def test_the_loop_of_the_kernel_is_left_alone(notebook, port):
    """Before and after serving, the cells' own event loop is the same and runs."""
    notebook.run("import asyncio; before = asyncio.get_running_loop()")
    notebook.run(SERVE.format(greeting="Hello!", port=port))
    notebook.run("import requests")
    ((_, answer),) = notebook.run(
        "(await asyncio.to_thread(requests.post, server.url, json={})).status_code"
    )
    assert answer["data"]["text/plain"] == "400"
    ((_, same),) = notebook.run("asyncio.get_running_loop() is before")
    assert same["data"]["text/plain"] == "True"
    notebook.run("server.close()")


def test_interrupting_a_cell_leaves_it_serving(notebook, port):
    """A busy cell is interrupted; the server answers before, during and after."""
    notebook.run(SERVE.format(greeting="Hello!", port=port))
    busy = notebook.start("print('busy', flush=True)\nwhile True: pass")
    notebook.outputs(busy, until=lambda content: "busy" in content.get("text", ""))
    assert ask(port) == {"data": {"hello": "Hello!"}}
    notebook.manager.interrupt_kernel()
    ((kind, content),) = notebook.outputs(busy)
    assert (kind, content["ename"]) == ("error", "KeyboardInterrupt")
    assert ask(port) == {"data": {"hello": "Hello!"}}
    notebook.run("server.close()")


def test_print_in_a_resolver_shows_in_a_cell(notebook, port):
    """What a resolver prints appears in the notebook."""
    notebook.run(SERVE.format(greeting="Hello!", port=port))
    code = """
        @schema.resolver("Query.hello")
        def hello(*_):
            print("resolved")
            return "Hello!"

        import requests
        requests.post(server.url, json={"query": "{ hello }"}).status_code
    """
    outputs = notebook.run(dedent(code))
    assert ("stream", {"name": "stdout", "text": "resolved\n"}) in outputs
    notebook.run("server.close()")


def test_a_restarted_kernel_serves_on_the_same_port(port):
    """A kernel restarted or shut down leaves no port behind."""
    made = Notebook()
    try:
        made.run(SERVE.format(greeting="Hello!", port=port))
        assert ask(port) == {"data": {"hello": "Hello!"}}
        made.manager.restart_kernel(now=True)
        made.client.wait_for_ready(timeout=60)
        made.run(SERVE.format(greeting="Hello again!", port=port))
        assert ask(port) == {"data": {"hello": "Hello again!"}}
    finally:
        made.client.stop_channels()
        made.manager.shutdown_kernel()
    with pytest.raises(requests.ConnectionError):
        ask(port)
