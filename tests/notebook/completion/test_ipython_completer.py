"""Tab and Shift-Tab in cells: in a shell, and in a real kernel."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from IPython.core.completer import provisionalcompleter
from jupyter_client.manager import start_new_kernel

import gqlnb
from gqlnb.client import connections


@pytest.fixture
def tab(shell):
    """Return a function that asks for completion at `|`, and gives the names."""

    def complete(marked):
        source, offset = marked.replace("|", "", 1), marked.index("|")
        with provisionalcompleter():
            found = list(shell.Completer.completions(source, offset))
        return [source[: it.start] + it.text + source[it.end :] for it in found], found

    def names(marked):
        return [it.text for it in complete(marked)[1]]

    names.texts = lambda marked: complete(marked)[0]
    names.types = lambda marked: {it.text: it.type for it in complete(marked)[1]}
    return names


def test_fields_of_a_schema_of_the_namespace(tab):
    """Proposals have types and replace the text around the cursor."""
    assert tab("%%graphql schema\n{ he|\n  rows { n } }") == ["hello"]
    assert tab.texts("%%graphql schema\n{ he|llo rows { n } }") == [
        "%%graphql schema\n{ hellollo rows { n } }"
    ]
    assert tab.types("%%graphql schema\n{ rows { | } }")["n"] == "Int"
    assert tab("%%graphql schema\n{ rows { | } }") == ["n", "__typename", "bad"]  # deprecated last


def test_umlauts_before_the_cursor_count_once(tab):
    """Offsets count characters, not bytes."""
    assert tab('%%graphql schema\n{ say(s: "größe 🎉") sor|') == ["sort"]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("%%graphql schema\n{ sort(b|", ["by"]),
        ("%%graphql schema\n{ sort(by: |", ["ASC", "DESC", "null"]),
        ("%%graphql schema\n{ sort(where: {l|", ["least"]),
        ("%%graphql schema\nquery($o: Ord|", ["Order"]),
        ("%%graphql schema\nquery($o: Order) { sort(by: $|", ["o"]),
        ("%%graphql schema\n{ hello @inc|", ["include"]),
        ("%%graphql schema\nmutation { p|", ["put"]),
        ("%graphql -c schema { he|", ["hello"]),
        ("x = 3\nr = %graphql -c schema { he|", ["hello"]),
        ("%%gql schema\n{ he|", ["hello"]),
        ("%%graphql kept << schema\n{ he|", ["hello"]),
        ("%%graphql -c schema\n{ he|", ["hello"]),
        ("%%graphql --connection=schema\n{ he|", ["hello"]),
    ],
)
def test_what_may_stand_there(tab, marked, expected):
    """Arguments, values, types, variables, directives; in cells and lines."""
    assert tab(marked) == expected


@pytest.mark.parametrize(
    "marked",
    ["%%graphql schema\n{ zz|", '%%graphql schema\n{ say(s: "/et|', "%%graphql schema\n{ # im|"],
)
def test_nothing_else_leaks_in(tab, marked):
    """Where GraphQL has no name, neither file names nor Python's stand in for it."""
    assert tab(marked) == []


def test_python_cells_are_python(tab, shell):
    """Completion of Python goes on as it was."""
    shell.user_ns["number_of_stars"] = 3
    assert "number_of_stars" in tab("number_of|")


def test_the_line(tab, shell):
    """Options, their values, connections, and names of the notebook."""
    shell.user_ns["settings"] = {"n": 1}
    assert {"demo", "github", "schema", "--type"} <= {*tab("%%graphql |")}
    assert tab("%%graphql sch|") == ["schema"]
    assert tab("%%graphql schema --dr|") == ["--dry-run"]
    assert tab("%%graphql schema -t fr|") == ["frame", "frames"]
    assert tab("%%graphql schema --type=j|") == ["json"]
    assert tab("%%graphql schema --vars s|") == ["settings"]
    assert tab.types("%%graphql schema --dr|") == {"--dry-run": "option"}


def test_subcommands(tab):
    """Subcommands and their arguments are proposed."""
    assert tab("%graphql conne|") == ["connections", "connect"]
    assert "demo" in tab("%graphql use |")
    assert tab("%graphql serve s|") == ["schema"]
    assert tab("%graphql stars >1000 --l|") == ["--limit"]
    assert tab("%graphql schema -c schema Ro|") == ["Row"]


def test_saved_fragments_are_proposed(tab, shell):
    """A fragment of another cell can be spread here."""
    shell.run_cell("%%graphql schema --save parts\nfragment Parts on Row { n }")
    shell.run_cell("%%graphql schema --save odd\nfragment,Odd # of rows\non Row{n}")
    assert tab("%%graphql schema\n{ rows { ...Pa|") == ["Parts"]
    assert tab.types("%%graphql schema\n{ rows { ...O|")["Odd"] == "on Row"


def test_the_stand_in_is_known_soon(tab):
    """Nobody has asked it anything yet."""
    connections.close_client("demo")
    wait_until(lambda: tab("%%graphql demo\n{ vie|") == ["viewer"])


def wait_until(true):
    """Wait for a condition that another thread sets."""
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


class Silent(BaseHTTPRequestHandler):
    """An endpoint that answers only after an event."""

    asked = threading.Event()
    leave = threading.Event()

    def do_POST(self):
        """Wait, and refuse."""
        self.asked.set()
        self.leave.wait(30)
        self.send_response(503)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


def test_a_schema_that_is_still_coming_is_not_waited_for(tab, shell):
    """The endpoint is asked in the background; until it answers, words of the text are proposed."""
    server = HTTPServer(("127.0.0.1", 0), Silent)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        shell.user_ns["slow"] = gqlnb.Client(f"http://127.0.0.1:{server.server_port}/graphql")
        text = "%%graphql slow\n{ a ...F| } fragment Fast on Query { b }"
        assert tab(text) == ["Fast"]
        assert Silent.asked.wait(10)
        assert tab(text) == ["Fast"]  # and here the answer is not there yet, or we would hang
    finally:
        Silent.leave.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_endpoint_is_asked_for_its_schema_once_in_the_background(tab, shell):
    """A server's fields are proposed as soon as it has answered."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        wait_until(lambda: tab("%%graphql server\n{ he|") == ["hello"])
        assert len(server.log) == 1


def test_unloading_takes_it_away(tab, shell):
    """Then a cell of GraphQL is completed as any other."""
    before = [*shell.Completer.custom_matchers]
    shell.run_line_magic("unload_ext", "gqlnb")
    assert len(shell.Completer.custom_matchers) == len(before) - 1
    assert "hello" not in tab("%%graphql schema\n{ he|")


@pytest.fixture(scope="module")
def kernel():
    """Return a client of a kernel with the extension and a schema."""
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60)
    sdl = 'type Query { "Greets." hello(name: String = "you"): String @deprecated(reason: "Why") }'
    client.execute_interactive(
        f"%load_ext gqlnb\nimport gqlnb\nhere = gqlnb.Schema({json.dumps(sdl)})", timeout=60
    )
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_kernel_completes(kernel):
    """As JupyterLab asks: the whole cell, and where the cursor is."""
    code = "%%graphql here\n{ he }"
    reply = kernel.complete(code, len(code) - 2, reply=True, timeout=60)["content"]
    assert reply["matches"] == ["hello"]
    assert code[reply["cursor_start"] : reply["cursor_end"]] == "he"


def test_shift_tab_shows_documentation(kernel):
    """Signature, description and deprecation, as Markdown and as text."""
    code = "%%graphql here\n{ hello }"
    reply = kernel.inspect(code, len(code) - 4, reply=True, timeout=60)["content"]
    assert reply["found"]
    shown = reply["data"]["text/markdown"]
    assert 'Query.hello(name: String = "you"): String' in shown
    assert "Greets." in shown
    assert "**Deprecated.** Why" in shown
    assert "Greets." in reply["data"]["text/plain"]


def test_shift_tab_on_an_option(kernel):
    """The line of the help that is about it."""
    code = "%%graphql here --dry-run\n{ hello }"
    reply = kernel.inspect(code, 20, reply=True, timeout=60)["content"]
    assert "show the request that would be sent" in reply["data"]["text/markdown"]


def test_shift_tab_in_python_is_pythons(kernel):
    """Other cells are asked about as before."""
    reply = kernel.inspect("len", 2, reply=True, timeout=60)["content"]
    assert reply["found"]
    assert "Return the number of items" in reply["data"]["text/plain"]


def test_a_name_of_python_is_not_explained_in_an_operation(kernel):
    """A field may be called as a function is, and the schema may not be there yet."""
    code = "%%graphql nobody\n{ id }"
    reply = kernel.inspect(code, len(code) - 2, reply=True, timeout=60)["content"]
    assert not reply["found"]
    assert reply["status"] == "ok"


@pytest.mark.parametrize(
    "line",
    [
        "--dry-run schema",
        "-o kept schema",
        "-t frame schema",
        "-q schema",
        '-c "schema"',
        "x<< schema",
    ],
)
def test_options_may_come_first(tab, line):
    """Completion reads the target like the magic."""
    assert tab(f"%%graphql {line}\n{{ he|") == ["hello"]


def test_a_line_proposes_no_second_connection(tab):
    """One is all that a cell takes; tabs divide words as blanks do."""
    assert "schema" not in tab("%%graphql schema -t frame |")
    assert "schema" in tab("%%graphql -t frame |")
    assert "schema" in tab("%%graphql kept << |")
    assert tab("%%graphql schema\t--dr|") == ["--dry-run"]


def test_a_connection_that_takes_long_to_open_is_not_waited_for(tab, monkeypatch):
    """A keyring may ask to be unlocked first."""
    connections.close_client("demo")
    opening, going_on = threading.Event(), threading.Event()
    opens = connections.NamedConnection.open_client

    def slow(self, **options):
        opening.set()
        assert going_on.wait(60), "completion waited"
        return opens(self, **options)

    monkeypatch.setattr(connections.NamedConnection, "open_client", slow)
    try:
        assert tab("%%graphql demo\n{ vie|") == []
        assert opening.is_set()
        assert "demo" in tab("%%graphql |")
        assert tab("%%graphql demo\n{ vie|") == []
    finally:
        going_on.set()
    wait_until(lambda: tab("%%graphql demo\n{ vie|") == ["viewer"])


class Elsewhere:
    """An object that cannot be asked for anything here, as proxies of web frameworks are."""

    def __getattr__(self, name):
        """Refuse."""
        raise RuntimeError(name)


def test_objects_of_the_notebook_may_refuse_everything(tab, shell):
    """They are no target, and nothing of Python stands in for GraphQL's names."""
    shell.user_ns |= {"strange": Elsewhere(), "settings": {"n": 1}}
    assert tab("%%graphql schema --vars |") == ["settings"]
    assert tab("%%graphql strange\n{ he|") == []
