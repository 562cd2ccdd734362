"""Serving from the cells of a running kernel, asked from outside."""

from __future__ import annotations

import signal
import socket
from textwrap import dedent

import pytest
import requests
from jupyter_client.manager import start_new_kernel

SERVE = """
from gqlnb.engine.schema import Schema
from gqlnb.server.background_server import serve

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
                if kind == "stream" and found and found[-1][0] == "stream":
                    before = found[-1][1]  # a line may come in parts
                    if before["name"] == content["name"]:
                        found.pop()
                        content = {**content, "text": before["text"] + content["text"]}
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


def ask(port):
    """Ask from outside the kernel."""
    url = f"http://127.0.0.1:{port}/graphql"
    return requests.post(url, json={"query": "{ hello }"}, timeout=20).json()


def test_a_cell_serves_and_shows_a_link(notebook, free_port):
    """The link is the cell's only output, and the server answers."""
    ((kind, content),) = notebook.run(SERVE.format(greeting="Hello!", port=free_port))
    assert kind == "execute_result"
    assert content["data"]["text/plain"] == f"Server('http://127.0.0.1:{free_port}/graphql')"
    assert f'href="http://127.0.0.1:{free_port}/graphql"' in content["data"]["text/html"]
    assert ask(free_port) == {"data": {"hello": "Hello!"}}
    assert notebook.run("server.close()") == []


@pytest.fixture
def shelf(notebook):
    """Return the notebook with what the tests of port 0 need; its servers are closed at the end."""
    notebook.run(
        """
        from gqlnb import background
        from gqlnb.engine.schema import reference_schema
        from gqlnb.server.background_server import serve

        def helper():
            return serve(reference_schema(), port=0)

        kept = {}
        """
    )
    yield notebook
    notebook.run("background.servers.close()")


COUNT = "len(background.servers.list_open())"
ONE = "server = serve(reference_schema(), port=0)"


@pytest.mark.parametrize("cell", [None, "a-1"])
def test_a_re_run_cell_with_port_0_replaces_its_server(shelf, cell):
    """Port and log are kept; the old server is closed."""
    for _ in range(3):
        shelf.run(f"{ONE}; kept[server] = server.port", cell)
    assert shelf.value(COUNT) == "1"
    assert shelf.value("len(kept), len(set(kept.values()))") == "(3, 1)"
    assert shelf.value("[old.closed for old in kept]") == "[True, True, False]"


def test_an_edited_cell_replaces_its_server(shelf):
    """JupyterLab sends cell ids, so the text and helper functions don't matter."""
    for code in (ONE, f"# edited\n\n{ONE}", "server = helper()", f"import asyncio; {ONE}"):
        shelf.run(code, "a-1")
        assert shelf.value(COUNT) == "1"
    shelf.run(f"await asyncio.sleep(0)\n{ONE}", "a-1")
    assert shelf.value(COUNT) == "1"


@pytest.mark.parametrize("cells", [("a-1", "b-2"), (None, None)])
def test_another_cell_starts_another_server(shelf, cells):
    """Also where both cells call the same function."""
    for _ in range(2):
        shelf.run("one = helper()", cells[0])
        shelf.run("two = helper()", cells[1])
    assert shelf.value(f"{COUNT}, one.closed, two.closed") == "(2, False, False)"


def test_a_cell_may_start_several_servers(shelf):
    """Run again, a loop replaces as many servers as it starts."""
    code = "many = [serve(reference_schema(), port=0) for _ in range({})]"
    for count in (3, 2, 3):
        shelf.run(code.format(count), "a-1")
        assert shelf.value(f"{COUNT}, any(s.closed for s in many)") == f"({count}, False)"


def test_a_thread_started_by_a_cell_replaces_no_server(shelf):
    """Background threads belong to no cell."""
    for _ in range(2):
        shelf.run("import asyncio; await asyncio.to_thread(helper)", "a-1")
    assert shelf.value(COUNT) == "2"


def test_a_server_on_an_explicit_port_outlives_its_cell(shelf, free_port):
    """A re-run of the cell does not close it."""
    shelf.run(f"server = serve(reference_schema(), port={free_port})", "a-1")
    shelf.run(ONE, "a-1")
    assert shelf.value(COUNT) == "2"
    shelf.run("named = serve(reference_schema(), port=server.port)", "b-2")
    shelf.run(ONE, "a-1")
    assert shelf.value(f"{COUNT}, named.closed") == "(3, False)"


def test_a_masked_error_can_be_looked_up_in_a_cell(notebook, free_port):
    """The id in the response gives the traceback."""
    notebook.run(SERVE.format(greeting="Hello!", port=free_port))
    notebook.run("@schema.resolver('Query.hello')\ndef broken(*_):\n    raise OSError('hunter2')")
    url = f"http://127.0.0.1:{free_port}/graphql"
    answer = requests.post(url, json={"query": "{ hello }"}, timeout=20).json()
    typed = answer["errors"][0]["message"].split(" as ")[1].split(",")[0]
    ((kind, content),) = notebook.run(f"raise {typed}")
    assert (kind, content["ename"], content["evalue"]) == ("error", "OSError", "hunter2")
    assert "broken" in "".join(content["traceback"])
    notebook.run("server.close()")


LOOPS = """
def loops():
    policy = asyncio.get_event_loop_policy()
    return policy, type(policy), asyncio.get_running_loop(), threading.active_count()
"""


def test_the_kernels_event_loop_is_unchanged(notebook, free_port):
    """Cells run on the same loop and policy before, during and after serving."""
    notebook.run(f"import asyncio, threading\n{LOOPS}\nbefore = loops()")
    notebook.run(SERVE.format(greeting="Hello!", port=free_port))
    notebook.run("import requests")
    ((_, answer),) = notebook.run(
        "(await asyncio.to_thread(requests.post, server.url, json={})).status_code"
    )
    assert answer["data"]["text/plain"] == "400"
    assert notebook.value("loops()[:3] == before[:3]") == "True"
    notebook.run("server.close()")
    assert notebook.value("loops()[:3] == before[:3]") == "True"


def test_a_cell_can_query_the_server_it_started(notebook):
    """Both with blocking calls and with await."""
    code = SERVE.format(greeting="Hello!", port=0) + dedent("""
        import asyncio, requests
        wanted = {"json": {"query": "{ hello }"}, "timeout": 20}
        blocking = requests.post(server.url, **wanted).json()
        awaited = await asyncio.to_thread(requests.post, server.url, **wanted)
        blocking == awaited.json() == {"data": {"hello": "Hello!"}}
    """)
    ((kind, content),) = notebook.run(code)
    assert (kind, content.get("data", content)["text/plain"]) == ("execute_result", "True")
    assert notebook.run("server.close()") == []


def test_a_client_stays_connected_while_the_cell_is_run_again(notebook, free_port):
    """The schema is replaced behind the open connection."""
    ends = []
    with requests.Session() as session:
        for greeting in ("Hello!", "Hello again!"):
            notebook.run(SERVE.format(greeting=greeting, port=free_port))
            url, query = f"http://127.0.0.1:{free_port}/graphql", {"query": "{ hello }"}
            with session.post(url, json=query, timeout=20, stream=True) as response:
                ends.append(response.raw.connection.sock.getsockname())
                assert response.json() == {"data": {"hello": greeting}}
    assert ends[0] == ends[1]
    notebook.run("server.close()")


def test_interrupting_a_cell_keeps_the_server_running(notebook, free_port):
    """The server answers before, during and after the interrupt."""
    notebook.run(SERVE.format(greeting="Hello!", port=free_port))
    busy = notebook.start("print('busy', flush=True)\nwhile True: pass")
    notebook.outputs(busy, until=lambda content: "busy" in content.get("text", ""))
    assert ask(free_port) == {"data": {"hello": "Hello!"}}
    notebook.manager.interrupt_kernel()
    ((kind, content),) = notebook.outputs(busy)
    assert (kind, content["ename"]) == ("error", "KeyboardInterrupt")
    assert ask(free_port) == {"data": {"hello": "Hello!"}}
    notebook.run("server.close()")


PRINTING = """
@schema.resolver("Query.hello")
def hello(*_):
    print("resolved", flush=True)
    return "Hello!"
"""


def test_print_in_a_resolver_shows_under_the_current_cell(notebook, free_port):
    """Output of a resolver appears in the running or last cell."""
    notebook.run(SERVE.format(greeting="Hello!", port=free_port))
    notebook.run(PRINTING)
    printed = ("stream", {"name": "stdout", "text": "resolved\n"})
    asking = """
        import requests
        requests.post(server.url, json={"query": "{ hello }"}).status_code
    """
    assert printed in notebook.run(dedent(asking))
    busy = notebook.start("print('busy', flush=True)\nwhile 'gone on' not in globals(): pass")
    notebook.outputs(busy, until=lambda content: "busy" in content.get("text", ""))
    ask(free_port)
    assert printed in notebook.outputs(busy, until=lambda content: "resolved\n" in content["text"])
    notebook.manager.interrupt_kernel()
    notebook.outputs(busy)
    last = notebook.start("'the last cell'")
    notebook.outputs(last)
    ask(free_port)
    assert notebook.outputs(last, until=lambda content: "resolved\n" in content["text"]) == [
        printed
    ]
    notebook.run("server.close()")


def test_a_killed_kernel_frees_its_port(free_port):
    """The next kernel can serve on it."""
    made = Notebook()
    try:
        made.run(SERVE.format(greeting="Hello!", port=free_port))
        half = socket.create_connection(("127.0.0.1", free_port), timeout=20)
        half.sendall(b"POST /graphql HTTP/1.1\r\n")
        assert ask(free_port) == {"data": {"hello": "Hello!"}}
        made.manager.signal_kernel(signal.SIGKILL)
        assert half.recv(1) == b""
        made.manager.restart_kernel(now=True)
        made.client.wait_for_ready(timeout=60)
        made.run(SERVE.format(greeting="Hello again!", port=free_port))
        assert ask(free_port) == {"data": {"hello": "Hello again!"}}
    finally:
        made.client.stop_channels()
        made.manager.shutdown_kernel(now=True)
