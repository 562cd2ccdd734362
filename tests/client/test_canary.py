"""A canary token is sent through every channel, and must not appear in any output.

The token has the shape of no service's, so that no list of prefixes can hide a leak; every spelling
of it differs from it, and each is looked for.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import inspect
import io
import json
import logging
import os
import pickle
import pprint
import subprocess
import sys
import textwrap
import traceback
import warnings
import zlib
from functools import partial
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from graphql import build_schema, introspection_from_schema, print_schema
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

import gqlnb
from gqlnb import Client, Token
from gqlnb.client import connections
from gqlnb.http.rate_limit_rules import MAX_ATTEMPTS
from gqlnb.server.app import App
from tests.client.faults import Endpoint, answer, json_answer
from tests.examples import select_combinations
from tests.named_connections import forget_connection

CANARY = "cAnary/Zx9+81=qq_77"
OPTIONS = {
    "token": lambda: {"token": Token(CANARY)},
    "function": lambda: {"token": Token(lambda: CANARY)},
    "environment": lambda: {"token": "env:CANARY_VARIABLE"},
    "authorization": lambda: {"headers": {"Authorization": Token(CANARY, "Basic")}},
    "cookie": lambda: {"headers": {"Cookie": Token.from_header(f"a=b; session={CANARY}")}},
    "key": lambda: {"headers": {"X-Api-Key": Token(CANARY, ""), "X-Plain": "plain"}},
    "header token": lambda: {"headers": {"X-Thing": Token(CANARY, "")}},
    "header variable": lambda: {"headers": {"X-Thing": "env:CANARY_VARIABLE"}},
}
ECHOES = {
    "plain": CANARY,
    "percent": quote(CANARY, safe=""),
    "json": "".join(f"\\u{ord(c):04x}" for c in CANARY),
    "base64": base64.b64encode(f"Bearer {CANARY}".encode()).decode(),
    "url-safe base64": base64.urlsafe_b64encode(CANARY.encode()).decode(),
    "html": "".join(f"&#{ord(c)};" for c in CANARY),
    "hexadecimal": CANARY.encode().hex(),
    "capitals": CANARY.upper(),
    "percent for all": "".join(f"%{ord(c):02x}" for c in CANARY),
}
EVERY_ECHO = pytest.mark.parametrize(("echo", "how"), select_combinations(ECHOES, OPTIONS))
BRIEF = gqlnb.Limits(wait=1)  # one repetition of an empty answer, or two
OK = json_answer({"data": {"hello": "Hi"}})


def echoing(echo: str) -> dict[str, bytes]:
    """Return answers that repeat the token, wherever a server may."""
    plain = partial(answer, Connection="close")
    errors = f'{{"errors": [{{"message": "no {echo}", "extensions": {{"a": ["{echo}"]}}}}]}}'
    page, seen = f"<pre>Authorization: Bearer {echo}</pre>", {"X_Seen": echo}
    return {
        "error": plain(errors),
        "refusal": plain(f'{{"message": "bad {echo}"}}', "401 Unauthorized"),
        "limit": plain(f'{{"message": "{echo}"}}', "429 Slow", Retry_After=86400),
        "bad request": plain(errors, "400 No", **seen),
        "page": plain(page, "500 No", Content_Type="text/html"),
        "no json": plain(f"{echo} is no JSON"),
        "wrong data": plain(f'{{"data": "{echo}"}}'),
        "status line": plain("", f"500 {echo}"),
        "header": plain("{}", **seen, Set_Cookie=f"a={echo}"),
        "redirect": plain("", "302 Found", Location=f"https://other.example/{echo}?a={echo}"),
        "redirect to a host": plain("", "307 No", Location=f"http://{echo}:99999/"),
        "no http": f"{echo}\r\n\r\n".encode(),
        "bad header": f"HTTP/1.1 200 OK\r\n{echo}\r\n\r\n".encode(),
        "bad length": f"HTTP/1.1 200 OK\r\nContent-Length: {echo}\r\n\r\n".encode(),
        "bad chunk": f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{echo}\r\n".encode(),
        "bad gzip": plain(echo, Content_Encoding="gzip"),
        "bad encoding": plain(echo, Content_Encoding=echo),
        "media type": plain(echo, Content_Type=f"text/{echo}"),
    }


@pytest.fixture
def assert_clean(spelled):
    """Return a function that fails if a token, in any spelling, is in what was left behind."""
    forms = spelled(CANARY)

    def check(*left: object) -> None:
        for thing in left:
            data = thing if isinstance(thing, bytes) else str(thing).encode("utf-8", "replace")
            found = [form for form in forms if form in data]
            assert not found, f"{found[0]!r} is in {data[:2000]!r}"

    check(b"the forms themselves are", [form for form in forms if len(form) < 8])
    return check


@pytest.fixture
def everything_logged(monkeypatch):
    """Log all that anybody says, with the debug output of the standard library's HTTP client."""
    monkeypatch.setattr("http.client.HTTPConnection.debuglevel", 2)
    monkeypatch.setenv("CANARY_VARIABLE", CANARY)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(1)
    with warnings.catch_warnings(action="always"):
        logging.captureWarnings(capture=True)
        yield stream
    logging.captureWarnings(capture=False)
    root.setLevel(before)
    root.removeHandler(handler)


def pickled(thing: object) -> bytes:
    """Return a pickle, or what is said instead."""
    try:
        return pickle.dumps(thing)
    except Exception as error:
        return str(error).encode()


def said(error: BaseException, client: Client) -> list[object]:
    """Return all that a debugger, a log or a person could keep of an exception."""
    shell_made = io.StringIO()
    shell = InteractiveShell.instance()
    shell.InteractiveTB.set_mode("Verbose")
    with contextlib.redirect_stdout(shell_made), contextlib.redirect_stderr(shell_made):
        # The frame that caught it is the person's own, and holds what they put there.
        shell.showtraceback((type(error), error, error.__traceback__.tb_next))
        sys.excepthook(type(error), error, error.__traceback__)
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    del frames.stack[0]
    result = getattr(error, "result", None)
    return [
        *("".join(frames.format()), shell_made.getvalue(), repr(error), str(error), error.args),
        *(vars(error), pickled(error), result, vars(result) if result is not None else ""),
        *(pickled(result), error.__cause__, error.__context__, repr(client)),
        *(getattr(error, "__notes__", ""), getattr(error, "problems", "")),
    ]


@EVERY_ECHO
def test_no_failure_exposes_a_token(canned, assert_clean, everything_logged, how, echo, capfd):
    """For any answer of an endpoint: in tracebacks with locals, results, logs and pickles."""
    for name, reply in echoing(ECHOES[echo]).items():
        canned.answers[:] = [reply] * MAX_ATTEMPTS
        client = Client(canned.url, **OPTIONS[how](), limits=BRIEF)
        try:
            client.execute("{ hello }")
        except gqlnb.GqlnbError as error:
            left = said(error, client)
        else:
            pytest.fail(f"{name} is no answer")
        client.close()
        assert_clean(*left, *capfd.readouterr(), everything_logged.getvalue())
    sent = [request for request in canned.requests if request]  # others may connect to the port
    assert CANARY.encode() in sent[0]


@EVERY_ECHO
def test_no_recording_contains_a_token(
    canned, assert_clean, everything_logged, how, echo, tmp_path
):
    """For any answer of an endpoint, including its data, and any request."""
    path, echo = tmp_path / "it.jsonl", ECHOES[echo]
    answers = echoing(echo)
    answers["data"] = answer(f'{{"data": {{"a": "{echo}", "{echo}": ["<{echo}>"]}}}}')
    text = f"query A($a: A) {{ a(b: {json.dumps(CANARY)}, a: $a) }} # {CANARY}"
    token = Token(CANARY)  # a secret is known as long as somebody has it
    ended: list[str] = []
    for mode in ("record", "replay"):
        for name, reply in answers.items():
            canned.answers[:] = [reply] * MAX_ATTEMPTS
            given = OPTIONS[how]() if mode == "record" else {}
            client = Client(canned.url, **given, limits=BRIEF, recording=path, mode=mode)
            asked = text.replace("query A", f"query {name.replace(' ', '_')}")
            ended.append("data")
            try:
                client.execute(asked, {"a": echo})
            except gqlnb.GqlnbError as error:
                ended[-1] = type(error).__name__
                assert_clean(str(error), repr(error))
            client.close()
    assert ended[: len(answers)] == ended[len(answers) :]
    written = path.read_bytes()
    assert written.count(b"\n") == len(answers) + 1
    assert_clean(written, everything_logged.getvalue())
    assert not gqlnb.scrub(path)
    with pytest.raises(gqlnb.ReplayError) as caught:
        client.execute(text, {"a": CANARY})
    assert token
    assert_clean(str(caught.value), repr(caught.value), caught.value.args)


def test_no_failed_connection_exposes_a_token(assert_clean, everything_logged, free):
    """Connection refused, and no TLS; sync and async."""
    for url in (
        f"http://127.0.0.1:{free}/graphql",
        f"https://127.0.0.1:{free}/graphql",
        f"http://127.0.0.1:{free}/graphql?access_token={quote(CANARY)}",
    ):
        for options in OPTIONS.values():
            client = Client(url, **options())
            for ask in (client.execute, lambda text, c=client: asyncio.run(c.aexecute(text))):
                with pytest.raises(gqlnb.TransportError) as caught:
                    ask("{ hello }")
                assert_clean(*said(caught.value, client))
    assert_clean(everything_logged.getvalue())


@pytest.fixture
def free():
    """Return a port nobody listens on."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        return server.port


def opened(thing: Any) -> list[object]:
    """Return what a debugger shows that opens a thing, then what is in it, and so on."""
    waiting, seen = [thing], {}
    while waiting:
        held = waiting.pop()
        if id(held) in seen or inspect.ismodule(held) or inspect.isclass(held):
            continue
        seen[id(held)] = held
        if isinstance(held, (list, tuple, set, frozenset)):
            waiting += held
        elif isinstance(held, dict):
            waiting += [*held, *held.values()]
        elif inspect.isfunction(held) or inspect.ismethod(held):
            cells = getattr(held, "__closure__", None) or ()
            waiting += [*(cell.cell_contents for cell in cells), getattr(held, "__self__", None)]
        elif type(held).__module__.startswith(("gqlnb", "requests", "urllib3")):
            slots = [
                name for kind in type(held).__mro__ for name in vars(kind).get("__slots__", ())
            ]
            waiting += [getattr(held, name, None) for name in slots if name != "__weakref__"]
            waiting += vars(held).values() if hasattr(held, "__dict__") else ()
    return list(seen.values())


@pytest.mark.filterwarnings("ignore:No schema is known")
def test_no_object_shows_a_token(assert_clean, monkeypatch):
    """Printed, opened in a debugger, copied, pickled, written as JSON, put into a table."""
    monkeypatch.setenv("CANARY_VARIABLE", CANARY)
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=Token(CANARY)) as server:
        client = gqlnb.connect(server.url, token=Token(CANARY))
        key = Client(server.url, headers={"Authorization": Token.from_header(f"Bearer {CANARY}")})
        app = Client(App(gqlnb.reference_schema(), token=Token(CANARY)), token=Token(CANARY))
        connections.register_connection(
            "canary", lambda **o: Client(server.url, token=Token(CANARY)), "x"
        )
        results = [each.execute("{ hello }") for each in (client, key, app, Client("canary"))]
        box = gqlnb.TokenBox()
        box._receive(box, {"kind": "token"}, [CANARY.encode()])
        search = gqlnb.StarSearch(">1000", client=client)
        frame = client.frame("{ hello }")
        things = [server, client, key, app, box, search, connections.list_connections(), frame]
        things += [*results, *(result.response for result in results)]
        for thing in things:
            copies = []
            with contextlib.suppress(Exception):  # refused, each in its own way
                copies += [copy.copy(thing), copy.deepcopy(thing)]
            assert_clean(repr(thing), f"{thing}", pprint.pformat(thing), copies)
            assert_clean(pickled(thing), json.dumps(thing, default=repr))
            bundle = getattr(thing, "_repr_mimebundle_", lambda: "")()
            assert_clean(bundle, getattr(thing, "_repr_html_", lambda: "")())
            assert_clean(*(f"{held!r}" for held in opened(thing)))
        assert len(opened(client)) > 50
        assert_clean(frame.attrs, frame.to_json(), pickle.dumps(frame))
        forget_connection("canary")


def test_a_server_stores_no_token(assert_clean, everything_logged):
    """Neither in its journal, log and answers, for right and wrong tokens."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=Token("another-one")) as server:
        for options in OPTIONS.values():
            with pytest.raises(gqlnb.AuthError) as caught:
                Client(server.url, **options()).execute("{ hello }")
            assert_clean(caught.value)
        assert_clean(
            repr(server.log), server.log.to_json() if hasattr(server.log, "to_json") else ""
        )
    assert_clean(everything_logged.getvalue())


SHOWN = """
import os
import pytest
import gqlnb
CASES = [
    lambda: gqlnb.connect("http://127.0.0.1:1/", token="env:CANARY_VARIABLE").execute("{ a }"),
    lambda: gqlnb.Token(os.environ["CANARY_VARIABLE"] + " x"),
    lambda: gqlnb.Token(lambda: os.environ["CANARY_VARIABLE"] + " x").header(),
    lambda: gqlnb.Client(gqlnb.reference_schema(), token="env:CANARY_VARIABLE"),
    lambda: gqlnb.scrub(os.environ["CANARY_FILE"]),
]
@pytest.mark.parametrize("number", range(len(CASES)))
def test_it(number):
    CASES[number]()
"""


def test_pytest_shows_no_token_with_its_locals(assert_clean, tmp_path):
    """Each failure, with the locals of every frame."""
    (tmp_path / "test_it.py").write_text(SHOWN)
    (tmp_path / "a.bin").write_bytes(f"{CANARY}\0".encode())
    secret = {"CANARY_VARIABLE": CANARY, "CANARY_FILE": str(tmp_path / "a.bin")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-vv", "--showlocals", "--tb=long", "test_it.py"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **secret, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        text=True,
        timeout=120,
    )
    assert "5 failed" in done.stdout
    assert "function   = " in done.stdout or "kinds" in done.stdout  # it does show locals
    assert_clean(done.stdout, done.stderr)


@pytest.mark.slow
def test_the_command_line_shows_no_token(assert_clean, gqlnb, canned):
    """Neither on success nor on failure, and no argument contains it."""
    environment = {**os.environ, "CANARY_VARIABLE": CANARY}
    for reply in (OK, *echoing(CANARY).values()):
        canned.answers[:] = [reply] * MAX_ATTEMPTS
        how = ("--token", "env:CANARY_VARIABLE", "-H", "X-Key=env:CANARY_VARIABLE")
        done = gqlnb("query", "{ hello }", "-c", canned.url, *how, env=environment)
        assert CANARY.encode() in canned.requests[-1]
        assert f"X-Key: {CANARY}".encode() in canned.requests[-1]
        assert (done.returncode == 0) == (reply is OK)
        assert_clean(done.stdout, done.stderr)
        if reply is OK:
            canned.requests.clear()
        if done.returncode and "errors" in done.stderr:
            break


CELLS = """
import os, gqlnb
%load_ext gqlnb
box = gqlnb.TokenBox("Canary")
box._receive(box, {"kind": "token"}, [os.environ["CANARY_VARIABLE"].encode()])
box
---
%xmode Verbose
client = gqlnb.connect(URL, token=box)
other = gqlnb.Client(URL, token="env:CANARY_VARIABLE")
---
%%graphql client result <<
{ hello }
---
result
---
%%graphql client -t frame frame <<
{ hello }
---
frame.attrs, frame
---
%graphql connect mine URL_TEXT --token env:CANARY_VARIABLE
---
%graphql connections
---
import json, time
from gqlnb.notebook.panel import Panel
panel = Panel(get_ipython().find_cell_magic("graphql").__self__.state)
answers = []
for question in (
    {"do": "state"}, {"do": "use", "name": "mine"}, {"do": "load", "target": "mine"},
    {"do": "test", "target": "client"}, {"do": "children", "target": "mine", "path": []},
    {"do": "sample", "target": "mine", "path": ["Query.hello"]}, {"do": "state"},
    {"do": "add", "name": "x", "url": URL, "token": os.environ["CANARY_VARIABLE"]},
):
    text = json.dumps({**question, "job": str(len(answers))})
    while "waiting" in panel.answer(text):
        time.sleep(0.01)
    answers.append(panel.answer(text))
answers
---
%%graphql URL_TEXT -H Authorization=env:CANARY_HEADER
{ hello }
---
%%graphql mine
{ helo }
---
client.execute("{ helo }")
---
gqlnb.connect("http://127.0.0.1:1/graphql", token="env:CANARY_VARIABLE").execute("{ hello }")
---
gqlnb.connect("github", token=os.environ["CANARY_VARIABLE"])
---
gqlnb.Token(os.environ["CANARY_VARIABLE"] + " x")
---
gqlnb.Client("http://127.0.0.1:1/graphql", token=box.token)
---
[client, other, box, box.token, vars(client), vars(box), box.get_state(), vars(box.token.__class__)]
---
%whos
---
get_ipython().parent_header, get_ipython().kernel.get_parent(), Out
---
def fail(held, secret):
    held.execute("{ hello }")
    1 / 0
fail(client, box.token)
---
import pickle
pickle.dumps(client), gqlnb.scrub
"""


@pytest.mark.slow
def test_an_executed_and_saved_notebook_contains_no_token(assert_clean, tmp_path, monkeypatch):
    """With widget state, failures in Verbose mode, and its HTML page."""
    monkeypatch.setenv("CANARY_VARIABLE", CANARY)
    monkeypatch.setenv("CANARY_HEADER", f"Bearer {CANARY}")
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=Token(CANARY)) as server:
        text = CELLS.replace("URL_TEXT", server.url).replace("URL", repr(server.url))
        cells = [new_code_cell(textwrap.dedent(cell).strip()) for cell in text.split("---\n")]
        notebook = new_notebook(cells=cells)
        runner = NotebookClient(
            notebook, allow_errors=True, store_widget_state=True, kernel_name="python3"
        )
        runner.execute(cwd=str(tmp_path))
    nbformat.write(notebook, tmp_path / "a.ipynb")
    page = HTMLExporter().from_notebook_node(notebook)[0]
    assert "Hello world!" in page
    assert "Token(***)" in page
    failures = [
        output.ename
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert failures == [
        *("QueryError", "QueryError", "TransportError", "LiteralSecretError", "AuthError"),
        *("AuthError", "ZeroDivisionError", "TypeError"),  # the last one: a secret is not pickled
    ]
    outputs = str([cell.outputs for cell in notebook.cells])
    assert "env:CANARY_VARIABLE" in outputs  # as the panel names the source of a token
    assert "Answered in" in outputs
    assert "Canary" in outputs  # the label of the box, which is saved without its model
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert "a.ipynb" in {file.name for file in files}
    assert_clean(page, *(file.read_bytes() for file in files))


@EVERY_ECHO
def test_the_schema_cache_contains_no_token(assert_clean, tmp_path, monkeypatch, how, echo):
    """Nor does the schema, even if the endpoint writes the token into a description."""
    monkeypatch.setenv("CANARY_VARIABLE", CANARY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GQLNB_CACHE", "1")
    schema = build_schema("type Query { hello: String }")
    assert schema.query_type is not None
    schema.query_type.description = f"You sent {ECHOES[echo]}."
    with Endpoint(json_answer({"data": introspection_from_schema(schema)})) as endpoint:
        client = Client(endpoint.url, **OPTIONS[how]())
        assert_clean(print_schema(client.schema), *client.schema_notes)
        assert CANARY.encode() in endpoint.requests[0]
        assert_clean(client.schema_changes(), vars(client._schema_store))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) == 1
    head, _, packed = files[0].read_bytes().partition(b"\n")
    assert_clean(files[0].name, head, packed, zlib.decompress(packed))
