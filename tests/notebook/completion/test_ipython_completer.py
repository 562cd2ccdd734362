"""Tab and Shift-Tab in cells: in a shell, and in a real kernel."""

from __future__ import annotations

import json
import threading
import time

import pytest
from graphql import build_schema, introspection_from_schema
from IPython.core.completer import provisionalcompleter

import gqlnb
from gqlnb.client import connections
from gqlnb.http.messages import Response
from gqlnb.notebook.completion.completion_context import CompletionProvider
from tests.client.faults import Endpoint, Wire
from tests.notebook.kernel import run_kernel


@pytest.fixture
def tab(shell):
    """Return a function that asks for completion at `|`, and gives the names."""

    def complete(marked):
        source, offset = marked.replace("|", "", 1), marked.index("|")
        shell.Completer.use_jedi = False  # it takes seconds to load; the kernel below has it
        with provisionalcompleter():
            found = list(shell.Completer.completions(source, offset))
        return [source[: it.start] + it.text + source[it.end :] for it in found], found

    def names(marked):
        return [it.text for it in complete(marked)[1]]

    names.texts = lambda marked: complete(marked)[0]
    names.types = lambda marked: {it.text: it.type for it in complete(marked)[1]}
    return names


def test_fields_of_a_schema_in_the_namespace(tab):
    """Proposals have types and replace the text around the cursor."""
    assert tab("%%graphql schema\n{ he|\n  rows { n } }") == ["hello"]
    assert tab.texts("%%graphql schema\n{ he|llo rows { n } }") == [
        "%%graphql schema\n{ hellollo rows { n } }"
    ]
    assert tab.types("%%graphql schema\n{ rows { | } }")["n"] == "Int"
    assert tab("%%graphql schema\n{ rows { | } }") == ["n", "__typename", "bad"]  # deprecated last


def test_non_ascii_characters_before_the_cursor_count_once(tab):
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
        ("\n  %%gql schema\n{ he|", ["hello"]),
        ("%%time\n%%graphql schema\n{ he|", ["hello"]),
        ("%%capture out\n%%timeit -n1\n\n%%gql schema\n{ he|", ["hello"]),
        ("%graphql schema { he| }", ["hello"]),
    ],
)
def test_proposals_fit_the_position(tab, marked, expected):
    """Arguments, values, types, variables, directives; in cells and lines."""
    assert tab(marked) == expected


@pytest.mark.parametrize(
    "marked",
    [
        "{ he|",
        "%%graphqls schema\n{ he|",
        "x = 1\n%%graphql schema\n{ he|",
        "%%sql\n%%graphql schema\n{ he|",
        "%%time\nx = 1\n%%graphql schema\n{ he|",
        "%time f(he|",
        "%%graph|ql\n{ hello }",
        "%%graphql|",
        "x = %graphql| schema",
    ],
)
def test_other_places_have_no_proposals_of_ours(tab, marked):
    """Python code, other magics, and the magic's own name."""
    assert not {"hello", "schema", "demo"} & {*tab(marked)}


@pytest.mark.parametrize(
    "marked",
    ["%%graphql schema\n{ zz|", '%%graphql schema\n{ say(s: "/et|', "%%graphql schema\n{ # im|"],
)
def test_no_file_names_or_python_names_are_proposed(tab, marked):
    """The list stays empty where GraphQL has no name to propose."""
    assert tab(marked) == []


def test_python_completion_is_unchanged(tab, shell):
    """Cells without the magic are completed by IPython."""
    shell.user_ns["number_of_stars"] = 3
    assert "number_of_stars" in tab("number_of|")


def test_options_and_targets_are_completed_on_the_line(tab, shell):
    """Options, their values, connections, and notebook names."""
    shell.user_ns["settings"] = {"n": 1}
    assert {"demo", "github", "schema", "--type"} <= {*tab("%%graphql |")}
    assert tab("%%graphql sch|") == ["schema"]
    assert tab("%%graphql schema --dr|") == ["--dry-run"]
    assert tab("%%graphql schema -t fr|") == ["frame", "frames"]
    assert tab("%%graphql schema --type=j|") == ["json"]
    assert tab("%%graphql schema --vars s|") == ["settings"]
    assert tab.types("%%graphql schema --dr|") == {"--dry-run": "option"}


def test_mistyped_words_of_the_line_are_corrected(tab, shell):
    """Without a word with that prefix: targets, options, their values, and subcommands."""
    assert tab("%%graphql shcema|") == ["schema"]
    assert tab("%%graphql schema --outptu|") == ["--output"]
    assert tab("%%graphql schema --type=fraem|") == ["frame", "frames"]
    assert tab("%graphql hsitory|") == ["history"]
    assert tab("%graphql schema -c schema Rowe|") == ["Row"]
    assert tab("%%graphql xy|") == []


def test_subcommands_are_completed(tab):
    """Subcommands and their arguments are proposed."""
    assert tab("%graphql conne|") == ["connections", "connect"]
    assert "demo" in tab("%graphql use |")
    assert tab("%graphql serve s|") == ["schema"]
    assert tab("%graphql stars >1000 --l|") == ["--limit"]
    assert tab("%graphql schema -c schema Ro|") == ["Row"]
    assert tab("%graphql schema schema Ro|") == ["Row"]
    assert tab("%graphql schema sch|") == ["schema"]
    assert tab("%graphql endpoint sch|") == ["schema"]
    assert tab("%graphql search sch|") == ["schema"]


def test_saved_fragments_are_proposed(tab, shell):
    """A fragment of another cell can be spread here."""
    shell.run_cell("%%graphql schema --save parts\nfragment Parts on Row { n }")
    shell.run_cell("%%graphql schema --save odd\nfragment,Odd # of rows\non Row{n}")
    assert tab("%%graphql schema\n{ rows { ...Pa|") == ["Parts"]
    assert tab.types("%%graphql schema\n{ rows { ...O|")["Odd"] == "on Row"


def test_stand_in_fields_are_proposed_before_any_request(tab):
    """The stand-in's schema needs no earlier request."""
    connections.close_client("demo")
    wait_until(lambda: tab("%%graphql demo\n{ vie|") == ["viewer"])


def wait_until(true):
    """Wait for a condition that another thread sets."""
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def silent():
    """Yield the address of an endpoint that does not answer, and the event of its first request."""
    asked = threading.Event()

    def wait(_connection, over):
        asked.set()
        over.wait(30)

    with Endpoint(wait) as endpoint:
        yield endpoint.url, asked


def test_the_first_tab_waits_for_a_schema_that_is_being_loaded(tab, shell, monkeypatch):
    """Most arrive within the time, and only JupyterLab would ask again.

    How long it waits at most is tested below; here a busy machine may take longer.
    """
    for name in ("TAB_TIMEOUT", "LONGEST_WAIT"):
        monkeypatch.setattr(f"gqlnb.notebook.completion.completion_context.{name}", 30)
    introspection = introspection_from_schema(build_schema("type Query { found: Int }"))

    def answer(_request):
        time.sleep(0.1)
        return Response(200, members={"data": introspection})

    shell.user_ns["soon"] = gqlnb.Client(Wire(answer))
    assert tab("%%graphql soon\n{ fou|") == ["found"]


def test_a_schema_that_does_not_come_delays_few_keys(provider, shell, silent):
    """Each Tab waits 0.3 s at most, all of them 1.5 s; then completion is as fast as without."""
    shell.user_ns["slow"] = gqlnb.Client(silent[0])
    started = time.monotonic()
    for _ in range(40):
        assert provider.load_schema("slow") is None
    assert 1.4 < time.monotonic() - started < 6


def test_the_embedded_schema_is_there_at_the_first_tab(tab, shell):
    """It is built when the extension is loaded in a kernel; no connection is opened for it."""
    was_open = connections.is_open("demo")
    shell._gqlnb.completer._provider.preload_demo()
    assert connections.is_open("demo") == was_open
    assert tab("%%graphql demo\n{ view|") == ["viewer"]


def test_the_first_tab_waits_longer_for_the_embedded_schema(provider, monkeypatch):
    """On a busy machine it is not there after 0.3 s, and it is sure to come."""
    connections.close_client("demo")
    open_now = connections.get_client

    def open_late(name):
        time.sleep(0.6)
        return open_now(name)

    monkeypatch.setattr(connections, "get_client", open_late)
    assert provider.load_schema("demo") is not None


def test_completion_does_not_wait_long_for_a_loading_schema(tab, shell, silent):
    """The schema loads in the background; until then, words of the text are proposed."""
    address, asked = silent
    shell.user_ns["slow"] = gqlnb.Client(address)
    text = "%%graphql slow\n{ a ...F| } fragment Fast on Query { b }"
    assert tab(text) == ["Fast"]
    assert asked.wait(10)
    assert tab(text) == ["Fast"]  # and here the answer is not there yet, or we would hang


@pytest.fixture
def provider(shell):
    """Return the source of schemas for completion in a shell."""
    return CompletionProvider(shell._gqlnb.magic.state, "")


def test_a_loading_schema_is_reported(provider, shell, silent, monkeypatch):
    """With the name of the target, also of the default one; without secrets."""
    address, asked = silent
    shell.user_ns["slow"] = gqlnb.Client(address)
    assert provider.get_loading_target("slow") == "slow"
    assert asked.wait(10)
    assert provider.get_loading_target("schema") == ""
    assert provider.get_loading_target("nothing") == ""
    monkeypatch.setenv("GQLNB_URL", f"{address}?token=s3cr3t")
    shown = provider.get_loading_target("")
    assert shown.startswith(address)
    assert "s3cr3t" not in shown


def test_no_schema_is_loading_if_endpoints_are_not_asked(provider, shell, silent):
    """With the setting `introspect = 'never'`."""
    address, asked = silent
    shell.user_ns["slow"] = gqlnb.Client(address)
    shell.run_line_magic("config", "GraphQLMagic.introspect = 'never'")
    assert provider.get_loading_target("slow") == ""
    assert not asked.is_set()


def test_a_schema_is_requested_once_in_the_background(tab, shell):
    """A server's fields are proposed as soon as it has answered."""
    with gqlnb.serve(shell.user_ns["schema"], port=0) as server:
        shell.user_ns["server"] = server
        wait_until(lambda: tab("%%graphql server\n{ he|") == ["hello"])
        assert len(server.log) == 1


class LiteKernel:
    """A kernel with the methods of JupyterLite's, which lack ipykernel's prefix."""

    def complete(self, code, cursor_pos):
        """Answer a completion request."""
        return {"matches": ["python"]}

    def inspect(self, code, cursor_pos, detail_level):
        """Answer an inspection request."""
        return {"found": False}


def test_a_kernel_may_have_other_methods_or_none(shell, monkeypatch):
    """JupyterLite's kernel completes GraphQL too; a kernel without methods is left as it is."""
    for kernel in (LiteKernel(), object()):
        monkeypatch.setattr(shell, "kernel", kernel, raising=False)
        shell.run_line_magic("reload_ext", "gqlnb")
    shell.run_line_magic("unload_ext", "gqlnb")
    kernel = LiteKernel()
    monkeypatch.setattr(shell, "kernel", kernel, raising=False)
    shell.run_line_magic("load_ext", "gqlnb")
    cell = "%%graphql schema\n{ he"
    assert kernel.complete(cell, len(cell))["matches"] == ["hello"]
    assert kernel.complete("pri", 3) == {"matches": ["python"]}
    assert kernel.inspect(cell + "llo", len(cell), 0)["found"]
    assert not kernel.inspect("x", 1, 0)["found"]
    shell.run_line_magic("unload_ext", "gqlnb")
    assert kernel.complete(cell, len(cell)) == {"matches": ["python"]}
    shell.run_line_magic("load_ext", "gqlnb")


def test_unloading_the_extension_removes_completion(tab, shell):
    """GraphQL cells are then completed like any other cell."""
    before = [*shell.Completer.custom_matchers]
    shell.run_line_magic("unload_ext", "gqlnb")
    assert len(shell.Completer.custom_matchers) == len(before) - 1
    assert "hello" not in tab("%%graphql schema\n{ he|")


@pytest.fixture(scope="module")
def kernel():
    """Return a client of a kernel with the extension and a schema."""
    sdl = 'type Query { "Greets." hello(name: String = "you"): String @deprecated(reason: "Why") }'
    setup = f"%load_ext gqlnb\nimport gqlnb\nhere = gqlnb.Schema({json.dumps(sdl)})"
    with run_kernel(setup) as kernel:
        yield kernel.client


def test_the_kernel_completes_a_whole_cell(kernel):
    """The request has the cell's code and cursor position, as JupyterLab sends it."""
    code = "%%graphql here\n{ he }"
    reply = kernel.complete(code, len(code) - 2, reply=True, timeout=60)["content"]
    assert reply["matches"] == ["hello"]
    assert code[reply["cursor_start"] : reply["cursor_end"]] == "he"


def test_completion_entries_have_metadata(kernel):
    """Label, text to insert, kind and deprecation, which the JupyterLab extension shows."""
    code = "%%graphql here\n{ he }"
    reply = kernel.complete(code, len(code) - 2, reply=True, timeout=60)["content"]
    (entry,) = reply["metadata"]["gqlnb"]["items"]
    assert entry == {
        "name": "hello",
        "label": "hello(name)",
        "text": "hello",  # no argument is required
        "kind": "field",
        "type": "String",
        "deprecated": True,
    }
    assert reply["metadata"]["gqlnb"]["loading"] == ""


def test_python_cells_have_no_graphql_entries(kernel):
    """Cells without the magic have only the kernel's own entries."""
    reply = kernel.complete("impor", 5, reply=True, timeout=60)["content"]
    assert "import" in reply["matches"]
    assert "gqlnb" not in reply["metadata"]


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


def test_documentation_has_no_characters_that_turn_text_around(kernel):
    """Neither as text nor as Markdown, in which MathJax reads no formulas."""
    kernel.execute(
        "odd = gqlnb.Schema('type Query { \"A \\u202egpj.exe $x$\" hello: String }')", reply=True
    )
    code = "%%graphql odd\n{ hello }"
    data = kernel.inspect(code, len(code) - 4, reply=True, timeout=60)["content"]["data"]
    for shown in data.values():
        assert "A  gpj.exe $x$" in shown
    assert data["text/markdown"].startswith(
        '<div class="gqlnb tex2jax_ignore mathjax_ignore">\n\n`'
    )


def test_shift_tab_on_an_option_shows_its_help(kernel):
    """The entry of the help about that option is shown, to its end."""
    code = "%%graphql here --dry-run\n{ hello }"
    reply = kernel.inspect(code, 20, reply=True, timeout=60)["content"]
    assert "show the request that would be sent" in reply["data"]["text/markdown"]
    assert reply["data"]["text/plain"].rstrip() == (
        "option --dry-run: show the request that would be sent: text, variables, depth, nodes, and "
        "the cost at GitHub"
    )


def test_shift_tab_in_python_is_unchanged(kernel):
    """Other cells are inspected by IPython."""
    reply = kernel.inspect("len", 2, reply=True, timeout=60)["content"]
    assert reply["found"]
    assert "Return the number of items" in reply["data"]["text/plain"]


def test_python_names_are_not_inspected_in_an_operation(kernel):
    """A field may have the name of a function, and the schema may not be loaded yet."""
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
def test_options_may_precede_the_target(tab, line):
    """Completion reads the target like the magic."""
    assert tab(f"%%graphql {line}\n{{ he|") == ["hello"]


def test_a_second_connection_is_not_proposed(tab):
    """A cell takes one connection; tabs separate words as blanks do."""
    assert "schema" not in tab("%%graphql schema -t frame |")
    assert "schema" in tab("%%graphql -t frame |")
    assert "schema" in tab("%%graphql kept << |")
    assert tab("%%graphql schema\t--dr|") == ["--dry-run"]


def test_completion_does_not_wait_for_a_slow_connection(tab, monkeypatch):
    """Opening a connection may wait for a keyring to be unlocked."""
    monkeypatch.setattr("gqlnb.notebook.completion.completion_context.DEMO_WAIT", 0.3)
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


def test_objects_that_raise_on_attribute_access_are_skipped(tab, shell):
    """They are not proposed as targets, and no Python names replace GraphQL's names."""
    shell.user_ns |= {"strange": Elsewhere(), "settings": {"n": 1}}
    assert tab("%%graphql schema --vars |") == ["settings"]
    assert tab("%%graphql strange\n{ he|") == []
