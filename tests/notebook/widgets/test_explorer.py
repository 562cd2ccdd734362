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
from gqlnb.notebook.magic_options import get_cell_parser, read_line
from gqlnb.notebook.widgets import explorer as explorer_module
from gqlnb.notebook.widgets.explorer import encode_error, encode_result, write_cell
from tests.client.test_incremental_answers import ASK, FIRST, LAST, WHOLE, Speaker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from IPython.core.interactiveshell import InteractiveShell

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
def waiting() -> Iterator[Event]:
    """Return a schema whose field `wait` blocks until the end of the test."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def schema(waiting: Event) -> Schema:
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
def view(schema: Schema) -> View:
    """Return the view of an explorer of that schema."""
    return View(Explorer(schema))


def test_an_answer_is_the_widgets_result_too(view: View) -> None:
    """In full, and as a frame."""
    assert view.ask("{ many { id } }") == [
        {"data": {"many": [{"id": "0"}, {"id": "1"}, {"id": "2"}]}}
    ]
    assert list(view.explorer.frame["id"]) == ["0", "1", "2"]
    assert view.explorer.error is None


def test_variables_are_json(view: View) -> None:
    """Variables are JSON text; anything else is an error in the answer."""
    query = "query ($name: String) { hello(name: $name) }"
    assert view.ask(query, '{"name": "you"}') == [{"data": {"hello": "Hello you!"}}]
    answers = view.ask(query, "{name: 1}")
    assert answers[0]["errors"][0]["message"].startswith("The variables are not JSON")
    assert view.explorer.result["hello"] == "Hello you!"  # of what came before nothing is lost
    assert "not JSON" in view.explorer.error


def test_an_error_says_what_where_and_what_instead(view: View) -> None:
    """As a response has it."""
    (answer,) = view.ask("{ helo }")
    (error,) = answer["errors"]
    assert "Did you mean 'hello'?" in error["message"]
    assert error["locations"] == [{"line": 1, "column": 3}]
    assert error["extensions"]["type"] == "QueryError"


def test_an_endpoint_that_is_gone_is_told_in_words() -> None:
    """The error of the client is the answer."""
    view = View(Explorer("http://127.0.0.1:1/graphql"))
    (answer,) = view.ask("{ hello }")
    assert "http://127.0.0.1:1/graphql" in answer["errors"][0]["message"]
    assert answer["errors"][0]["extensions"] == {"type": "TransportError"}
    assert view.explorer.result is None
    (answer,) = view.ask("{ __schema { queryType { name } } }", introspection=True)
    assert answer["errors"]


def test_a_value_without_a_json_form_costs_its_own_place(view: View) -> None:
    """A resolver of this process may return anything."""
    (answer,) = view.ask("{ any }")
    assert answer["data"] == {"any": {"fine": 1, "odd": None}}
    assert answer["errors"][0]["path"] == ["any", "odd"]


def test_a_subscription_comes_event_by_event(view: View) -> None:
    """The last event always, however fast they come."""
    text = "subscription { countdown(start: 400) }"
    answers = view.ask(text)
    assert answers[-1] == {"data": {"countdown": 1}}
    assert len(answers) < 200
    assert view.told[-1][0] == {"kind": "answer", "run": "a-1", "done": True}
    assert view.explorer.result["countdown"] == 1


def test_an_answer_in_parts_grows() -> None:
    """The last message has the whole answer, which is also the result."""
    app = Speaker("mixed", FIRST, LAST)
    explorer = Explorer(gqlnb.Client(app, schema=IN_PARTS))
    view = View(explorer)
    answers = view.ask(ASK)
    assert [answer["data"] for answer in (answers[0], answers[-1])] == [FIRST["data"], WHOLE]
    assert explorer.result.data == WHOLE
    assert explorer.error is None


def test_an_answer_that_breaks_off_is_told_with_what_had_come() -> None:
    """The view goes on showing it."""
    view = View(Explorer(gqlnb.Client(Speaker("mixed", FIRST, end=False), schema=IN_PARTS)))
    *_, answer = view.ask(ASK)
    assert "breaks off" in answer["errors"][0]["message"]
    assert answer["data"] == FIRST["data"]


def test_a_part_that_does_not_fit_is_told_with_what_had_come() -> None:
    """Nothing is lost."""
    view = View(Explorer(gqlnb.Client(Speaker("mixed", FIRST, []), schema=IN_PARTS)))
    *_, answer = view.ask(ASK)
    assert "part 2 of the answer does not fit" in answer["errors"][0]["message"]
    assert answer["data"] == FIRST["data"]
    assert view.explorer.result.data == FIRST["data"]


def test_a_subscription_is_stopped(view: View, waiting: Event) -> None:
    """At once, while nothing comes; the next operation runs."""
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


def test_a_query_that_was_stopped_changes_nothing(view: View, waiting: Event) -> None:
    """Its answer comes too late to be the result."""
    view.begin("{ wait }")
    view.say(kind="stop", run="a-1")
    waiting.set()
    assert view.ask("{ hello }") == [{"data": {"hello": "Hello world!"}}]
    assert view.explorer.result["hello"] == "Hello world!"


def test_the_schema_is_the_clients(view: View, schema: Schema) -> None:
    """Introspection is answered from the client's schema."""
    (answer,) = view.ask("query IntrospectionQuery { ignored }", introspection=True)
    told = build_client_schema(answer["data"])
    assert print_schema(told) == print_schema(schema.graphql)
    assert view.explorer.result is None


def test_introspection_asks_the_endpoint_again_when_told_to(schema: Schema) -> None:
    """The first introspection uses the known schema."""
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        view = View(Explorer(server))
        assert "countdown" not in str(view.ask("", introspection=True))
        gqlnb.serve(schema, port=server.port)
        assert "countdown" not in str(view.ask("", introspection=True))
        assert "countdown" in str(view.ask("", introspection=True, again=True))


def test_a_view_begins_where_the_last_one_was(view: View) -> None:
    """The kernel has the edited text, which a later view shows."""
    view.say(kind="edited", query="{ many { id } }", variables='{"a": 1}')
    view.say(kind="hello")
    state = view.told[-1][0]
    assert (state["query"], state["variables"]) == ("{ many { id } }", '{"a": 1}')
    assert view.explorer.query == "{ many { id } }"
    assert view.explorer.variables == {"a": 1}
    assert len(view.explorer.run()["many"]) == 3


def test_the_bundle_is_sent_as_bytes(view: View, bundled: None) -> None:
    """One message, compressed; its JSON holds names alone."""
    del bundled
    view.say(kind="bundle")
    assert view.done.wait(20)
    message, buffers = view.told[-1]
    assert message["checksum"] == view.explorer.get_state()["_bundle"]  # known before hello
    assert message["names"][0] == "graphiql.js"
    assert all(buffer[:2] == b"\x1f\x8b" for buffer in buffers)
    assert 1_000_000 < sum(map(len, buffers)) < 3_000_000


def test_without_the_bundle_a_sentence_says_what_is_missing(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to get it; the rest works."""
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
def test_the_cell_asks_the_same(variables: dict[str, Any]) -> None:
    """Its line is read back to the same variables."""
    text = write_cell("{ hello }\n", variables, "demo")
    line, _, body = text.partition("\n")
    assert body == "{ hello }"
    read = read_line(get_cell_parser(), line.removeprefix("%%graphql"))
    assert read.target == "demo"
    found = dict(each.partition("=")[::2] for each in read.param)
    assert {name: eval(value) for name, value in found.items()} == variables


def test_the_cell_names_what_is_asked(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell names a connection, an object or an address; else it has advice."""
    assert Explorer("demo", query="{ hello }").cell_text == "%%graphql demo\n{ hello }"
    url = "http://127.0.0.1:1/graphql"
    assert Explorer(url, query="{ hello }").cell_text == f"%%graphql {url}\n{{ hello }}"
    assert "by its name in the notebook" in Explorer(schema).cell_text
    monkeypatch.setattr(
        explorer_module, "get_notebook_names", lambda: {"_": schema, "mine": schema}
    )
    assert Explorer(schema, query="{ hello }").cell_text == "%%graphql mine\n{ hello }"


def test_the_magic_that_the_cell_needs_is_loaded(shell: InteractiveShell) -> None:
    """The extension is loaded once, and the view is notified."""
    shell.run_line_magic("unload_ext", "gqlnb")
    view = View(Explorer("demo"))
    for entered in (True, False):
        view.say(kind="cell", id="b-1", query="{ hello }", variables="")
        assert view.told[-1][0]["entered"] is entered
        assert shell.find_cell_magic("graphql") is not None
    assert "gqlnb" in shell.extension_manager.loaded


def test_no_token_goes_into_a_cell(schema: Schema) -> None:
    """A variable that looks like one is refused, as the cell itself would be."""
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


def test_the_clients_token_is_nowhere(spelled: Callable[[str], list[bytes]]) -> None:
    """Not in state, reprs, the HTML beside the view, or any message; though it is sent."""
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


def test_the_static_twin_is_text(schema: Schema) -> None:
    """Without a kernel, the query and the result are shown as text."""
    explorer = Explorer(schema, query=f'{{ hello(name: "{EVIL}") }}')
    explorer.run()
    shown = explorer._build_html()
    assert EVIL not in shown
    assert shown.count("&lt;img src=x") == 2
    assert re.search(r"<(script|style|img)", shown) is None


def test_state_is_small(schema: Schema) -> None:
    """Widget state has a few kilobytes after any operation."""
    explorer = Explorer(schema, query="{ hello }" + 9_000 * " ")
    explorer.run()
    assert len(json.dumps(explorer.get_state(), default=str)) < 20_000


@pytest.mark.parametrize("options", [{"height": 10}, {"height": True}, {"variables": {"a": {1}}}])
def test_options_that_are_none_are_refused(schema: Schema, options: dict[str, Any]) -> None:
    """In words that name the option."""
    with pytest.raises(OptionError, match=f"^{next(iter(options))}="):
        Explorer(schema, **options)


def test_run_raises_as_a_client_does(schema: Schema) -> None:
    """The synchronous twin of a click."""
    with pytest.raises(QueryError):
        Explorer(schema, query="{ helo }").run()
    view = View(Explorer(schema))
    view.say(kind="edited", query="{ hello }", variables="[1]")
    with pytest.raises(GqlnbError, match="not JSON"):
        view.explorer.run()


def test_a_huge_answer_is_told_of(schema: Schema) -> None:
    """The editor of a browser would stand still for it; the notebook has it."""
    result = gqlnb.Result({"text": "x" * 5_000_000})
    (error,) = json.loads(encode_result(result))["errors"]
    assert "5.0 MB" in error["message"]
    assert ".result" in error["message"]


def test_what_came_before_an_error_is_shown_with_it(schema: Schema) -> None:
    """Partial data that an error carries."""
    error = GqlnbError("It broke.", result=gqlnb.Result({"rows": [1, 2]}))
    assert json.loads(encode_error(error)) == {
        "errors": [{"message": "It broke.", "extensions": {"type": "GqlnbError"}}],
        "data": {"rows": [1, 2]},
    }
