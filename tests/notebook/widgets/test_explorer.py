"""The explorer without a browser: its messages in both directions."""

from __future__ import annotations

import json
import re
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_client_schema, print_schema

import gqlnb
from gqlnb import Explorer, GqlnbError, OptionError, QueryError, Schema, Token
from gqlnb.notebook.magic_options import get_cell_parser, read_line, write_cell
from gqlnb.notebook.widgets import explorer as explorer_module
from gqlnb.notebook.widgets.explorer import encode_error, encode_result
from tests.client.test_incremental_answers import ASK, FIRST, LAST, WHOLE, Speaker

if TYPE_CHECKING:
    from collections.abc import Iterator


SDL = """
scalar Any
type Query { hello(name: String = "world"): String  any: Any  many: [Row!]  wait: String }
type Row { id: ID! }
type Subscription { countdown(start: Int!): Int  forever: Int }
"""
IN_PARTS = """
directive @stream(initialCount: Int = 0) on FIELD
type Query { a: Int  row: [Int] }
"""
EVIL = "<img src=x onerror=alert(1)>"


class View:
    """A stand-in for a view that records received messages."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.told: list[tuple[dict[str, Any], list[bytes]]] = []
        self.done = Event()
        explorer.send = self._hear

    def _hear(self, message: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.told.append((message, buffers or []))
        if message.get("done") or message["kind"] in {"bundle", "failed"}:
            self.done.set()

    def say(self, **message: Any) -> None:
        """Send a message."""
        self.explorer._handle_custom_msg(message, [])

    def ask(self, query: str, variables: str = "", **more: Any) -> list[Any]:
        """Run an operation and return its answers, once the last one is there."""
        self.begin(query, variables, **more)
        assert self.done.wait(20)
        return self.answers

    def begin(self, query: str, variables: str = "", **more: Any) -> None:
        """Run an operation."""
        self.done.clear()
        self.told.clear()
        self.say(kind="run", run="a-1", query=query, variables=variables, **more)

    @property
    def answers(self) -> list[Any]:
        """The received answers."""
        return [json.loads(buffers[0]) for _, buffers in self.told if buffers]


@pytest.fixture
def waiting():
    """Return a schema whose field `wait` blocks until the end of the test."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def schema(waiting):
    """Return a schema with all that an explorer meets."""

    def countdown(_root: object, args: dict[str, Any], _context: object) -> Iterator[int]:
        yield from range(args["start"], 0, -1)

    def forever(*_: object) -> Iterator[int]:
        yield 1
        waiting.wait(30)
        yield 2

    query = {
        "hello": lambda _root, args, _context: f"Hello {args['name']}!",
        "any": lambda *_: {"fine": 1, "odd": object()},
        "many": lambda *_: [{"id": number} for number in range(3)],
        "wait": lambda *_: waiting.wait(30) and "over",
    }
    return Schema(
        SDL, {"Query": query, "Subscription": {"countdown": countdown, "forever": forever}}
    )


@pytest.fixture
def view(schema):
    """Return the view of an explorer of that schema."""
    return View(Explorer(schema))


def test_the_response_becomes_the_widgets_result(view):
    """As a full Result, and as a frame."""
    assert view.ask("{ many { id } }") == [
        {"data": {"many": [{"id": "0"}, {"id": "1"}, {"id": "2"}]}}
    ]
    assert list(view.explorer.frame["id"]) == ["0", "1", "2"]
    assert view.explorer.error is None


def test_variables_must_be_json(view):
    """Anything else is an error in the response."""
    query = "query ($name: String) { hello(name: $name) }"
    assert view.ask(query, '{"name": "you"}') == [{"data": {"hello": "Hello you!"}}]
    answers = view.ask(query, "{name: 1}")
    assert answers[0]["errors"][0]["message"].startswith("The variables are not JSON")
    assert view.explorer.result["hello"] == "Hello you!"  # of what came before nothing is lost
    assert "not JSON" in view.explorer.error


def test_a_variable_without_a_value_is_noted(view):
    """Beside the answer: the filter that it should be filters nothing."""
    query = "query ($name: String) { hello(name: $name) }"
    note = "$name has no value, so it is left out (null). Set it in the variables."
    assert view.ask(query) == [{"data": {"hello": "Hello world!"}}]
    assert view.told[-1][0]["note"] == note
    view.ask(query, '{"name": null}')
    assert "note" not in view.told[-1][0]
    view.say(kind="edited", query=query, variables="")
    view.explorer.run()
    assert view.told[-1][0] == {"kind": "ran", "note": note}


def test_errors_have_the_form_of_a_response(view):
    """With message, locations and suggestion."""
    (answer,) = view.ask("{ helo }")
    (error,) = answer["errors"]
    assert "Did you mean 'hello'?" in error["message"]
    assert error["locations"] == [{"line": 1, "column": 3}]
    assert error["extensions"]["type"] == "QueryError"


def test_an_unreachable_endpoint_is_an_error_in_the_response():
    """The message is the client's."""
    view = View(Explorer("http://127.0.0.1:1/graphql"))
    (answer,) = view.ask("{ hello }")
    assert "http://127.0.0.1:1/graphql" in answer["errors"][0]["message"]
    assert answer["errors"][0]["extensions"] == {"type": "TransportError"}
    assert view.explorer.result is None
    (answer,) = view.ask("{ __schema { queryType { name } } }", introspection=True)
    assert answer["errors"]


def test_only_values_without_a_json_form_are_replaced(view):
    """Each becomes null with an error; resolvers in this process may return any object."""
    (answer,) = view.ask("{ any }")
    assert answer["data"] == {"any": {"fine": 1, "odd": None}}
    assert answer["errors"][0]["path"] == ["any", "odd"]


def test_a_subscription_shows_each_event(view):
    """Fast events may be skipped, but not the last one."""
    text = "subscription { countdown(start: 400) }"
    answers = view.ask(text)
    assert answers[-1] == {"data": {"countdown": 1}}
    assert len(answers) < 200
    assert view.told[-1][0] == {"kind": "answer", "run": "a-1", "done": True}
    assert view.explorer.result["countdown"] == 1


def test_an_incremental_response_is_merged():
    """The last message has the whole response, which is also the result."""
    app = Speaker("mixed", FIRST, LAST)
    explorer = Explorer(gqlnb.Client(app, schema=IN_PARTS))
    view = View(explorer)
    answers = view.ask(ASK)
    assert [answer["data"] for answer in (answers[0], answers[-1])] == [FIRST["data"], WHOLE]
    assert explorer.result.data == WHOLE
    assert explorer.error is None


def test_a_schema_of_the_notebook_answers_in_parts():
    """The view gets each part; with graphql-core 3.2 the whole answer."""
    rows = {"Query": {"a": lambda *_: 1, "row": lambda *_: [1, 2]}}
    explorer = Explorer(gqlnb.Client(gqlnb.Schema(IN_PARTS, rows)))
    answers = View(explorer).ask(ASK)
    assert answers[-1]["data"] == WHOLE
    assert explorer.result.data == WHOLE


def test_a_broken_incremental_response_keeps_its_data():
    """The error and the received parts are shown."""
    view = View(Explorer(gqlnb.Client(Speaker("mixed", FIRST, end=False), schema=IN_PARTS)))
    *_, answer = view.ask(ASK)
    assert "ended before it was complete" in answer["errors"][0]["message"]
    assert answer["data"] == FIRST["data"]


def test_stopping_ends_a_subscription(view, waiting):
    """At once, also between events; the next operation runs."""
    first = Event()
    hear = view.explorer.send
    view.explorer.send = lambda *given: (hear(*given), first.set())
    view.begin("subscription { forever }")
    assert first.wait(20)
    (running,) = view.explorer._operations.values()
    view.say(kind="stop", run="a-1")
    waiting.set()
    assert view.explorer._operations == {}
    assert running.stopped
    assert view.ask("{ hello }") == [{"data": {"hello": "Hello world!"}}]


def test_a_stopped_query_does_not_change_the_result(view, waiting):
    """Its response is discarded."""
    view.begin("{ wait }")
    view.say(kind="stop", run="a-1")
    waiting.set()
    assert view.ask("{ hello }") == [{"data": {"hello": "Hello world!"}}]
    assert view.explorer.result["hello"] == "Hello world!"


def test_introspection_uses_the_clients_schema(view, schema):
    """No request is sent."""
    (answer,) = view.ask("query IntrospectionQuery { ignored }", introspection=True)
    told = build_client_schema(answer["data"])
    assert print_schema(told) == print_schema(schema.graphql)
    assert view.explorer.result is None


def test_introspection_reloads_the_schema_on_request(schema):
    """The first introspection uses the known schema."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        view = View(Explorer(server))
        assert "countdown" not in str(view.ask("", introspection=True))
        gqlnb.serve(schema, port=server.port)
        assert "countdown" not in str(view.ask("", introspection=True))
        assert "countdown" in str(view.ask("", introspection=True, again=True))


def test_a_new_view_has_the_text_of_the_last_one(view):
    """The kernel stores the edited text."""
    view.say(kind="edited", query="{ many { id } }", variables='{"a": 1}')
    view.say(kind="hello")
    state = view.told[-1][0]
    assert (state["query"], state["variables"]) == ("{ many { id } }", '{"a": 1}')
    assert view.explorer.query == "{ many { id } }"
    assert view.explorer.variables == {"a": 1}
    assert len(view.explorer.run()["many"]) == 3


def test_the_bundle_is_sent_as_bytes(view, bundled):
    """One message, compressed; its JSON part has only names."""
    del bundled
    view.say(kind="bundle")
    assert view.done.wait(20)
    message, buffers = view.told[-1]
    assert message["checksum"] == view.explorer.get_state()["_bundle"]  # known before hello
    assert message["names"][0] == "graphiql.js"
    assert all(buffer[:2] == b"\x1f\x8b" for buffer in buffers)
    assert 1_000_000 < sum(map(len, buffers)) < 3_000_000


def test_a_missing_bundle_is_explained(view, monkeypatch):
    """With an installation command; the rest works."""
    monkeypatch.setattr(explorer_module, "read_checksum", lambda: None)
    monkeypatch.setattr(explorer_module, "load_bundle", lambda: None)
    view.say(kind="hello")
    state = view.told[-1][0]
    assert state["checksum"] is None
    assert "pip install" in state["missing"]
    view.say(kind="bundle")
    assert view.done.wait(20)
    assert view.told[-1][0]["kind"] == "failed"
    assert view.ask("{ hello }") == [{"data": {"hello": "Hello world!"}}]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"q": "stars:>1", "n": 3, "deep": {"a": [1, None, True, 2.5]}},
        {"quote": 'it\'s "so" \\ and\nnew', "big": 18446744073709551617, "e": ""},
    ],
)
def test_the_cell_has_the_same_operation_and_variables(variables):
    """Its line parses to the same variables."""
    text = write_cell("{ hello }\n", variables, "demo")
    line, _, body = text.partition("\n")
    assert body == "{ hello }"
    read = read_line(get_cell_parser(), line.removeprefix("%%graphql"))
    assert read.target == "demo"
    found = dict(each.partition("=")[::2] for each in read.param)
    assert {name: eval(value) for name, value in found.items()} == variables


def test_the_cell_names_the_target(schema, monkeypatch):
    """A connection, an object or an address; otherwise it has advice."""
    assert Explorer("demo", query="{ hello }").cell_text == "%%graphql demo\n{ hello }"
    url = "http://127.0.0.1:1/graphql"
    assert Explorer(url, query="{ hello }").cell_text == f"%%graphql {url}\n{{ hello }}"
    assert "the name of a schema or client of the notebook" in Explorer(schema).cell_text
    monkeypatch.setattr(
        explorer_module, "get_notebook_names", lambda: {"_": schema, "mine": schema}
    )
    assert Explorer(schema, query="{ hello }").cell_text == "%%graphql mine\n{ hello }"


def test_putting_a_cell_loads_the_magic(shell):
    """The extension is loaded once, and the view is notified."""
    shell.run_line_magic("unload_ext", "gqlnb")
    view = View(Explorer("demo"))
    for entered in (True, False):
        view.say(kind="cell", id="b-1", query="{ hello }", variables="")
        assert view.told[-1][0]["entered"] is entered
        assert shell.find_cell_magic("graphql") is not None
    assert "gqlnb" in shell.extension_manager.loaded


def test_no_token_is_written_into_a_cell(schema):
    """A variable that looks like a token is refused, as the magic would do."""
    variables = {"token": "ghp_" + 36 * "a"}
    explorer = Explorer(schema, variables=variables)
    with pytest.raises(OptionError, match="looks like a token"):
        _ = explorer.cell_text
    view = View(explorer)
    view.say(
        kind="cell", id="b-1", query="{ hello }", variables='{"token": "ghp_' + 36 * "a" + '"}'
    )
    message = view.told[-1][0]
    assert (message["kind"], message["id"]) == ("failed", "b-1")
    assert "ghp_" not in message["text"]


def test_the_clients_token_is_not_exposed(spelled):
    """Not in state, reprs, static HTML or messages, although requests carry it."""
    secret = "canary-3xpl0rer/x"
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=Token(secret)) as server:
        explorer = Explorer(gqlnb.connect(server.url, token=Token(secret)), query="{ hello }")
        view = View(explorer)
        view.say(kind="hello")
        told = str(view.told)
        assert view.ask("{ hello }") == [{"data": {"hello": "Hello world!"}}]
        told += str(view.ask("{ helo }")) + str(view.ask("", introspection=True))
    told += repr(explorer) + str(explorer.get_state()) + explorer._build_html() + explorer.cell_text
    told += str(vars(explorer))
    assert [form for form in spelled(secret) if form in told.encode()] == []


def test_the_static_html_shows_text(schema):
    """Without a kernel, the query and the result are shown as text."""
    explorer = Explorer(schema, query=f'{{ hello(name: "{EVIL}") }}')
    explorer.run()
    shown = explorer._build_html()
    assert EVIL not in shown
    assert shown.count("&lt;img src=x") == 2
    assert re.search(r"<(script|style|img)", shown) is None


def test_state_is_small(schema):
    """Widget state has a few kilobytes after any operation."""
    explorer = Explorer(schema, query="{ hello }" + 9_000 * " ")
    explorer.run()
    assert len(json.dumps(explorer.get_state(), default=str)) < 20_000


@pytest.mark.parametrize("options", [{"height": 10}, {"height": True}, {"variables": {"a": {1}}}])
def test_unknown_options_are_refused(schema, options):
    """The error names the option."""
    with pytest.raises(OptionError, match=f"^{next(iter(options))}="):
        Explorer(schema, **options)


def test_run_raises_the_clients_errors(schema):
    """`run` is the synchronous form of a click."""
    with pytest.raises(QueryError):
        Explorer(schema, query="{ helo }").run()
    view = View(Explorer(schema))
    view.say(kind="edited", query="{ hello }", variables="[1]")
    with pytest.raises(GqlnbError, match="not JSON"):
        view.explorer.run()


def test_a_huge_response_is_not_sent_to_the_view(schema):
    """A note says that the notebook has it; the browser's editor would freeze."""
    result = gqlnb.Result({"text": "x" * 5_000_000})
    (error,) = json.loads(encode_result(result))["errors"]
    assert "5.0 MB" in error["message"]
    assert ".result" in error["message"]


def test_partial_data_are_shown_with_the_error(schema):
    """The data that the exception carries."""
    error = GqlnbError("It broke.", result=gqlnb.Result({"rows": [1, 2]}))
    assert json.loads(encode_error(error)) == {
        "errors": [{"message": "It broke.", "extensions": {"type": "GqlnbError"}}],
        "data": {"rows": [1, 2]},
    }
