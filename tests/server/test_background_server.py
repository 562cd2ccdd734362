"""The life of a server: opened, replaced, closed, forked, and gone with its interpreter."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import requests

from gqlnb import background
from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.errors import AuthError, PortInUseError, ServerError
from gqlnb.http.server_rules import LOOPBACK_HOSTS, Access
from gqlnb.limits import Limits
from gqlnb.server.app import App
from gqlnb.server.background_server import find_allowed_hosts, serve
from gqlnb.server.listener import Listener, bind_socket, resolve_address
from gqlnb.tokens import Token

ROOT = Path(__file__).resolve().parents[2]
HELLO = {"query": "{ hello }"}


def ask(server, query="{ hello }"):
    """Return the data that a server answers."""
    return requests.post(server.url, json={"query": query}, timeout=20).json()["data"]


def greeting(text):
    """Return a schema that greets with a text."""
    return Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: text}})


def listens(port):
    """Tell whether something accepts connections on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except ConnectionRefusedError:
        return False
    return True


def run(code, *, timeout=60):
    """Run a script in an interpreter of its own; return its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


# ---------------------------------------------------------------- opening


def test_in_a_script_port_0_always_starts_a_new_server():
    """On one line or several, in a loop or not: only cells replace servers."""
    opened = [serve(reference_schema(), port=0) for _ in range(3)]
    opened.append(serve(reference_schema(), port=0))
    assert [server.closed for server in opened] == [False] * 4
    assert len({server.port for server in opened}) == 4
    for server in opened:
        server.close()


def test_a_re_run_cell_in_plain_ipython_replaces_its_server():
    """Without a kernel, the execution count distinguishes the runs."""
    code = """
        from IPython.core.interactiveshell import InteractiveShell
        from gqlnb import background

        shell = InteractiveShell()
        shell.compile.get_code_name = lambda raw, code, number: f"cell {hash(raw)}"
        cell = "from gqlnb.engine.schema import reference_schema as r\\n"
        cell += "from gqlnb.server.background_server import serve\\n"
        cell += "s = [serve(r(), port=0) for _ in 'ab']"
        for _ in range(3):
            shell.run_cell(cell, store_history=True).raise_error()
            print(len(background.servers.list_open()), end=" ")
        shell.run_cell(cell + "# another", store_history=True).raise_error()
        print(len(background.servers.list_open()))
    """
    code = code.replace("\\\\n", "\\n")
    status, printed, said = run(code)
    assert (status, printed) == (0, "2 2 2 4\n"), said


def test_the_port_may_be_a_numpy_integer(free_port):
    """Computed ports are accepted."""
    with serve(reference_schema(), port=np.int64(free_port)) as server:
        assert server.port == free_port
        assert type(server.port) is int


def test_a_port_in_use_raises_immediately():
    """The error names the port and port=0, and is an OSError."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=rf"Port {port} .* in use .*port=0") as caught:
            serve(reference_schema(), port=port)
    assert isinstance(caught.value, (ServerError, OSError))
    assert background.servers.get_newest() is None


@pytest.mark.parametrize("port", [-1, 65536, 10**30, "4000", 4000.0, None, True, False])
def test_an_invalid_port_is_rejected(port):
    """The message shows the value and the valid range."""
    with pytest.raises(ServerError, match="A port is a number, 0 to 65535"):
        serve(reference_schema(), port=port)


@pytest.mark.parametrize("host", ["a" * 300, "ü" * 70, "localhost\0"])
def test_an_unknown_host_is_rejected(host):
    """The message shows the name."""
    with pytest.raises(ServerError, match="is not a name or address of this machine"):
        serve(reference_schema(), port=0, host=host)


def test_an_address_of_another_machine_is_rejected():
    """The server can't listen on it (192.0.2.1 is reserved by RFC 5737)."""
    with pytest.raises(ServerError, match=r"Cannot listen on port 0 of 192\.0\.2\.1"):
        serve(reference_schema(), port=0, host="192.0.2.1", token=Token("open-sesame"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_serving_other_machines_requires_a_token(host):
    """With a token, requests under any host name are served."""
    with pytest.raises(ServerError, match="needs a token"):
        serve(reference_schema(), port=0, host=host)
    if host == "::" and not socket.has_ipv6:
        return
    with serve(reference_schema(), port=0, host=host, token=Token("open-sesame")) as server:
        assert requests.post(server.url, json=HELLO, timeout=20).status_code == 401
        headers = {"Authorization": "Bearer open-sesame", "Host": "lab.example"}
        answer = requests.post(server.url, json=HELLO, headers=headers, timeout=20)
        assert answer.json() == {"data": {"hello": "Hello world!"}}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.5", "::1"])
def test_every_loopback_address_can_be_served(host):
    """Each is reachable under its own name."""
    with serve(reference_schema(), port=0, host=host) as server:
        assert ask(server) == {"hello": "Hello world!"}


def test_a_literal_token_is_rejected():
    """No server starts, and the message does not show the token."""
    with pytest.raises(AuthError) as caught:
        serve(reference_schema(), port=0, token="open-sesame")
    assert "sesame" not in str(caught.value)
    assert background.servers.get_newest() is None


def test_an_invalid_schema_opens_no_port(free_port):
    """The schema is checked before the port is bound."""
    with pytest.raises(ServerError, match="Only a gqlnb"):
        serve("type Query { hello: String }", port=free_port)
    assert not listens(free_port)


def test_the_newest_open_server_is_registered():
    """The registry lists servers oldest first and drops closed ones."""
    with serve(reference_schema(), port=0) as first:
        with serve(reference_schema(), port=0) as second:
            assert background.servers.list_open() == (first, second)
            assert background.servers.get_newest() is second
        assert background.servers.get_newest() is first
        third = serve(reference_schema(), port=0)
        background.servers.close()
    assert (first.closed, third.closed, background.servers.list_open()) == (True, True, ())
    assert background.servers.get_newest() is None


def test_a_startup_failure_is_raised_in_the_caller(free_port):
    """Any exception of the server thread is raised by serve()."""
    listener = Listener(
        bind_socket(resolve_address("127.0.0.1", free_port)), App(reference_schema())
    )
    listener._sock.close()
    with pytest.raises(ServerError, match="The server did not start"):
        listener.start()


# ---------------------------------------------------------------- showing


def test_an_explicit_port_is_shown_as_a_link(free_port):
    """The repr is the URL; notebooks show a link."""
    with serve(reference_schema(), port=free_port) as server:
        url = f"http://127.0.0.1:{free_port}/graphql"
        assert repr(server) == f"Server('{url}')"
        assert f'<a href="{url}"' in server._repr_html_()
    assert repr(server) == f"Server('{url}', closed)"
    assert "<a" not in server._repr_html_()


def test_an_automatic_port_is_not_shown(server):
    """The output is the same in each run of a notebook."""
    assert repr(server) == "Server(port=0)"
    assert server._repr_html_() == '<code class="gqlnb">Server(port=0)</code>'


# ---------------------------------------------------------------- serving again


def test_serving_again_replaces_the_schema_and_keeps_the_port(free_port, wire):
    """A re-run cell: the old server is replaced, open connections see the new schema."""
    first = serve(greeting("first"), port=free_port)
    one = wire(free_port)
    one.post()
    assert b"first" in one.answer()[2]
    second = serve(greeting("second"), port=free_port)
    assert (first.closed, second.closed) == (True, False)
    one.post()
    assert b"second" in one.answer()[2]
    first.close()
    assert ask(second) == {"hello": "second"}
    assert second in background.servers.list_open()
    assert first not in background.servers.list_open()
    second.close()
    assert not listens(free_port)


def test_serving_again_with_a_token_requires_it(free_port):
    """The rules are replaced together with the schema."""
    with (
        serve(reference_schema(), port=free_port),
        serve(reference_schema(), port=free_port, token=Token("open-sesame")) as second,
    ):
        assert requests.post(second.url, json=HELLO, timeout=20).status_code == 401


def test_serving_again_with_other_limits_and_access_applies_them(free_port):
    """The new options apply from the next request."""
    with requests.Session() as session:

        def status(query="{ hello }", **headers):
            url = f"http://127.0.0.1:{free_port}/graphql"
            return session.post(url, json={"query": query}, headers=headers, timeout=20).status_code

        page = {"Origin": "http://localhost:5173"}
        serve(reference_schema(), free_port)
        assert (status(), status(**page), status(Host="lab.example")) == (200, 403, 403)
        serve(
            reference_schema(),
            free_port,
            limits=Limits(body=30),
            access=Access(origins="http://localhost:5173", hosts=["lab.example"]),
        )
        assert (status(), status(**page), status(Host="lab.example")) == (200, 200, 200)
        assert status("{ hello } " + "#" * 30) == 400
        serve(reference_schema(), free_port).close()


@pytest.mark.parametrize(
    ("access", "names"),
    [(None, None), (Access(get=True), None), (Access(hosts=["lab"]), LOOPBACK_HOSTS)],
)
def test_a_public_server_allows_any_host_name_by_default(access, names):
    """Given host names restrict it to those and loopback."""
    assert find_allowed_hosts("0.0.0.0", resolve_address("0.0.0.0", 0), "token", access) == names


def test_serving_another_address_of_the_same_port_replaces_too(free_port):
    """The first server is closed, and the port is not reported as in use."""
    first = serve(greeting("first"), port=free_port)
    with serve(
        greeting("second"), port=free_port, host="0.0.0.0", token=Token("open-sesame")
    ) as second:
        assert first.closed
        assert requests.post(second.url, json=HELLO, timeout=20).status_code == 401


def test_serving_an_invalid_schema_leaves_the_old_server_open(free_port):
    """A mistake in the re-run cell does not stop the server."""
    with serve(greeting("first"), port=free_port) as first:
        with pytest.raises(ServerError):
            serve(None, port=free_port)
        assert ask(first) == {"hello": "first"}


def test_threads_may_serve_and_close_concurrently(free_port):
    """The last one owns the port, and no server leaks."""
    made, gate = [], threading.Barrier(8)

    def one():
        gate.wait(20)
        made.append(serve(reference_schema(), port=free_port))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    (last,) = [server for server in made if not server.closed]
    assert background.servers.list_open() == (last,)
    assert ask(last) == {"hello": "Hello world!"}
    last.close()
    assert not listens(free_port)


# ---------------------------------------------------------------- closing


def test_closing_is_idempotent(server):
    """After closing, nothing listens."""
    server.close()
    server.close()
    assert server.closed
    assert not listens(server.port)


def test_closing_does_not_wait_for_incomplete_requests(loop, schema, wire):
    """Silent, partial head, partial body and idle connections are closed."""
    server = serve(schema, port=0)
    silent, head, body, idle = (wire(server.port) for _ in range(4))
    head.send(b"POST /graphql HTTP/1.1\r\nHost: loc")
    body.post(b'{"query":', length=50)
    idle.post()
    assert idle.answer()[0] == 200
    begun = time.monotonic()
    server.close(grace=60)
    assert time.monotonic() - begun < 30  # it took milliseconds; the grace is for running requests
    assert all(one.closed() for one in (silent, head, body, idle))


def test_without_grace_a_running_request_is_aborted(loop, schema, gate, wire):
    """An endless resolver does not delay closing."""
    server = serve(schema, port=0)
    one = wire(server.port)
    one.post(b'{"query":"{ wait }"}')
    assert gate.entered.wait(20)
    server.close(grace=0)
    assert one.closed()
    assert not listens(server.port)


def test_a_resolver_blocking_the_loop_does_not_hold_the_port():
    """A blocking async function keeps only its thread."""
    entered, leave = threading.Event(), threading.Event()

    async def block(*_):
        entered.set()
        leave.wait(20)

    schema = Schema("type Query { block: Int }", {"Query": {"block": block}})
    server = serve(schema, port=0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
        body = b'{"query":"{ block }"}'
        sock.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        assert entered.wait(20)
        server.close(grace=0)
        assert not listens(server.port)
        with serve(reference_schema(), port=server.port) as second:
            assert ask(second) == {"hello": "Hello world!"}
        leave.set()
        server._listener._thread.join(20)
    assert not server._listener.alive


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_resolver_may_close_its_own_server(kind):
    """There is no deadlock, in a worker thread or on the loop."""

    def plain(*_):
        server.close(grace=0)

    async def later(*_):
        server.close(grace=0)

    schema = Schema(
        "type Query { close: Int }", {"Query": {"close": plain if kind == "plain" else later}}
    )
    server = serve(schema, port=0)
    with suppress(requests.ConnectionError):  # whether the answer still leaves is not promised
        requests.post(server.url, json={"query": "{ close }"}, timeout=20)
    assert server._listener.stopped.wait(20)
    assert not listens(server.port)


def test_ctrl_c_closes_a_foreground_server():
    """An interrupt ends wait() and frees the port."""
    code = """
        import os, signal, sys, threading, traceback
        import requests
        from gqlnb.engine.schema import Schema
        from gqlnb.server.background_server import Server, serve

        def stop(*_):
            main = threading.main_thread().ident
            waiting = {Server.wait.__code__, threading.Event.wait.__code__}
            running = set()
            while not waiting <= running:  # an interrupt before wait() would end the program
                frames = traceback.walk_stack(sys._current_frames()[main])
                running = {frame.f_code for frame, _ in frames}
            os.kill(os.getpid(), signal.SIGINT)

        server = serve(Schema("type Query { stop: Int }", {"Query": {"stop": stop}}), port=0)
        wanted = {"json": {"query": "{ stop }"}, "timeout": 20}
        threading.Thread(target=requests.post, args=(server.url,), kwargs=wanted).start()
        server.wait()
        print(server.closed)
    """
    assert run(code) == (0, "True\n", "")


# ---------------------------------------------------------------- the end of a process


def test_the_interpreter_exits_with_its_own_code():
    """Open servers, half-sent requests and endless resolvers do not delay it."""
    code = """
        import socket, sys, threading
        from gqlnb.engine.schema import Schema
        from gqlnb.server.background_server import serve

        entered = threading.Event()

        def never(*_):
            entered.set()
            threading.Event().wait()

        server = serve(Schema("type Query { never: Int }", {"Query": {"never": never}}), port=0)
        half, whole = (socket.create_connection(("127.0.0.1", server.port)) for _ in range(2))
        half.sendall(b"POST /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Le")
        body = b'{"query":"{ never }"}'
        whole.sendall(
            b"POST /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: %d\\r\\n" % len(body)
            + b"Content-Type: application/json\\r\\n\\r\\n" + body
        )
        assert entered.wait(20)
        half.detach(), whole.detach()
        print(server.port, flush=True)
        sys.exit(7)
    """
    returned, printed, errors = run(code)
    assert (returned, errors) == (7, "")
    assert not listens(int(printed))


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
@pytest.mark.parametrize("without", ["", "import sys; sys.modules['uvloop'] = None"])
def test_a_forked_child_does_not_hold_the_port(without):
    """The parent closes and opens the port again while the child lives; the child exits cleanly."""
    code = f"""
        {without}
        import json, os, socket, sys
        import requests
        from gqlnb.engine.schema import reference_schema
        from gqlnb.server.background_server import serve

        server = serve(reference_schema(), port=0)
        kept = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        requests.post(server.url, json={{"query": "{{ hello }}"}}, timeout=20)
        there, here = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            kept.close()
            os.write(there[1], b"1" if server.closed else b"0")
            os.read(here[0], 1)
            with serve(reference_schema(), port=0) as own:  # a child may serve for itself
                answer = requests.post(own.url, json={{"query": "{{ hello }}"}}, timeout=20)
            sys.exit(answer.json()["data"]["hello"] != "Hello world!")
        closed_in_child = os.read(there[0], 1) == b"1"
        alive = requests.post(server.url, json={{"query": "{{ hello }}"}}, timeout=20).ok
        server.close()
        cut = kept.recv(1) == b""
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=20)
            refused = False
        except ConnectionRefusedError:
            refused = True
        with serve(reference_schema(), port=server.port) as again:
            served = requests.post(again.url, json={{"query": "{{ hello }}"}}, timeout=20).ok
            os.write(here[1], b"1")
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            still = requests.post(again.url, json={{"query": "{{ hello }}"}}, timeout=20).ok
        kept.close()
        print(json.dumps([closed_in_child, alive, cut, refused, served, status, still]))
    """
    returned, printed, errors = run(code)
    assert (returned, errors) == (0, "")
    assert json.loads(printed) == [True, True, True, True, True, 0, True]


def test_nothing_is_printed_and_no_logger_is_touched():
    """Cells show no output, and uvicorn's loggers are unchanged."""
    code = """
        import logging
        import requests
        from gqlnb.engine.schema import Schema
        from gqlnb.server.background_server import serve

        def state():
            found = map(logging.getLogger, ["", "uvicorn", "uvicorn.error", "uvicorn.access"])
            return [(one.level, one.propagate, list(one.handlers)) for one in found]

        before = state()
        schema = Schema("type Query { fails: Int }", {"Query": {"fails": lambda *_: 1 / 0}})
        with serve(schema, port=0) as server:
            assert requests.post(server.url, json={"query": "{ fails }"}, timeout=20).ok
            assert not requests.post(server.url, data=b"x", timeout=20).ok
        assert state() == before
    """
    assert run(code) == (0, "", "")


def test_the_same_port_on_another_address_is_independent(schema):
    """Both servers stay open."""
    with serve(schema, port=0) as one:
        try:
            other = serve(schema, port=one.port, host="::1")
        except ServerError:
            return  # no IPv6 on this machine
        with other:
            assert not one.closed
            assert not other.closed
