"""Schema objects of other libraries run as they are, and answer as under their own library."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import re
import weakref
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import graphql
import pytest
from graphql import GraphQLObjectType, GraphQLSchema, build_schema, parse
from IPython.core.interactiveshell import InteractiveShell

from gqlnb import Client, Limits, QueryError, Schema, SchemaError, TargetError, connect, serve
from gqlnb.client import connections
from gqlnb.engine import subscribe
from gqlnb.server.app import App
from tests.engine.libraries.world import CONTEXT, OPERATIONS, REFUSED
from tests.named_connections import forget_connection

NEW = graphql.version_info[:2] >= (3, 3)
ROUNDS = 4  # more often than the engine waits before it compiles a selection
NEEDS_OLD = pytest.mark.skipif(
    NEW, reason="Graphene needs graphql-core before 3.3; .ci/run tests it with 3.2."
)
LIBRARIES = ["core", "strawberry", "ariadne", pytest.param("graphene", marks=NEEDS_OLD)]
OPERATION = pytest.mark.parametrize(
    ("text", "variables"), OPERATIONS, ids=[text[:40] for text, _ in OPERATIONS]
)


class Library(NamedTuple):
    """A library's schema object, and how the library itself executes on it."""

    name: str
    schema: Any
    own: Any

    def answer(self, text: str, variables: Any = None, context: Any = CONTEXT) -> Any:
        """Return data and errors as the library gives them."""
        return asyncio.run(self.own(self.schema, text, variables, context))


def with_schema(name: str) -> Library:
    """Return a library with a new schema object."""
    module = import_module(f"tests.engine.libraries.with_{name}")
    return Library(name, module.schema(), module.own)


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Return each library."""
    return with_schema(request.param)


@pytest.fixture(params=["core", "ariadne", pytest.param("graphene", marks=NEEDS_OLD)])
def optional(request):
    """Return each library whose schema takes the options of graphql-core's execute."""
    return with_schema(request.param)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Yield a shell with the extension loaded."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "gqlnb")
    yield made
    connections.use_connection(None)
    InteractiveShell.clear_instance()


def pair(result: Any) -> tuple[Any, list[Any]]:
    """Return data and errors of a result, as plain values."""
    return result.data, [dict(error) for error in result.errors]


def shorten(message: str) -> str:
    """Cut a message about a variable after its name."""
    return re.sub(r"^(Variable '\$\w+').*", r"\1", message, flags=re.DOTALL)


def same(run: Any, wanted: tuple[Any, list[Any]], text: str) -> None:
    """Assert that an operation has the wanted answer; if that is a refusal, that it is refused.

    Ariadne's enums refuse variables under graphql-core 3.2.14. Our message about a variable leaves
    out its value, so that only the name is compared.
    """
    data, errors = wanted
    if data is None and not any("path" in error for error in errors):
        with pytest.raises(QueryError) as caught:
            run()
        found = [problem.message for problem in caught.value.problems]
        assert list(map(shorten, found)) == [shorten(e["message"]) for e in errors], text
    else:
        assert pair(run()) == wanted, text


def cell(shell: InteractiveShell, line: str, text: str, variables: Any = None) -> Any:
    """Run a cell of the magic with variables of the notebook, and return its value."""
    shell.user_ns.update(variables or {})
    return shell.run_cell_magic("graphql", line, text)


# -- every library, every operation


@OPERATION
def test_an_operation_is_answered_as_by_its_library(library, text, variables):
    """Data, errors, their places and extensions are equal, compiled or not yet, or awaited."""
    schema, wanted = Schema.adopt(library.schema), library.answer(text, variables)
    for _ in range(ROUNDS):
        same(lambda: schema.execute(text, variables, context=CONTEXT), wanted, text)
    same(lambda: asyncio.run(schema.aexecute(text, variables, context=CONTEXT)), wanted, text)


def test_every_operation_is_answered_alike_over_a_socket(library):
    """An adopted schema is served with the context it was adopted with."""
    with (
        serve(Schema.adopt(library.schema, context=CONTEXT), port=0) as server,
        Client(server.url) as client,
    ):
        for text, variables in OPERATIONS:
            wanted = library.answer(text, variables)
            same(partial(client.execute, text, variables), wanted, text)


def test_every_operation_is_answered_alike_in_a_cell(library, shell):
    """`%%graphql` runs on the schema by its name in the notebook."""
    shell.user_ns["pets"] = Schema.adopt(library.schema, context=CONTEXT)
    for text, variables in OPERATIONS:
        wanted = library.answer(text, variables)
        same(partial(cell, shell, "pets", text, variables), wanted, text)


@pytest.mark.parametrize(("text", "variables", "message"), REFUSED)
def test_an_invalid_request_is_a_query_error(library, text, variables, message):
    """It is refused before execution, with every library."""
    with pytest.raises(QueryError) as caught:
        Schema.adopt(library.schema).execute(text, variables)
    assert any(part in str(caught.value) for part in message.strip("()").split("|"))


def test_without_a_context_there_is_none(library):
    """A resolver that reads it fails as under its library."""
    wanted = library.answer("{ whoami }", context=None)
    assert wanted[1]
    assert pair(Schema.adopt(library.schema).execute("{ whoami }")) == wanted


def test_unexpected_exceptions_are_masked_by_the_server(library):
    """In process the message is visible; over HTTP only an id is."""
    with serve(library.schema, port=0) as server, Client(server.url) as client:
        (shown,) = client.execute("{ whoami }").errors
    (error,) = library.answer("{ whoami }", context=None)[1]
    assert shown["message"].startswith("Internal error ")
    assert {**shown, "message": error["message"]} == error


@pytest.mark.parametrize("name", ["strawberry", "ariadne"])
def test_the_web_application_of_a_library_is_queried_unchanged(name):
    """Features of a web application require no adapter."""
    library = with_schema(name)
    app = import_module(f"{name}.asgi").GraphQL(library.schema)
    text = '{ greeting wrong later(word: "soon") }'
    assert pair(Client(app).execute(text)) == library.answer(text)


# -- adopted by themselves


def test_schema_objects_are_accepted_wherever_a_schema_is(library, shell):
    """`connect`, `Client`, `serve`, `App` and the magic take the object itself."""
    text, wanted = "{ greeting }", library.answer("{ greeting }")
    assert pair(connect(library.schema).execute(text)) == wanted
    assert pair(Client(library.schema).execute(text)) == wanted
    assert pair(Client(App(library.schema)).execute(text)) == wanted
    with serve(library.schema, port=0) as server:
        assert pair(Client(server, schema=library.schema).execute(text)) == wanted
    shell.user_ns["pets"] = library.schema
    assert pair(cell(shell, "pets", text)) == wanted
    shell.run_line_magic("graphql", "connect mine pets")
    assert pair(cell(shell, "", text)) == wanted
    forget_connection("mine")


def test_an_object_is_adopted_once(library):
    """Documents, and with them plans, are the same from cell to cell."""
    schema = Schema.adopt(library.schema)
    assert Schema.adopt(library.schema) is schema
    assert Schema.adopt(schema) is schema
    assert App(library.schema).schema is schema
    document = schema.parse_document("{ greeting }")
    assert Client(library.schema).parse_document("{ greeting }") is document
    assert connect(library.schema).parse_document("{ greeting }") is document


def test_an_adoption_of_its_own_is_not_remembered(library):
    """With a context or options, each is a Schema of its own."""
    plain, other = Schema.adopt(library.schema), Schema.adopt(library.schema, context=CONTEXT)
    assert other is not plain
    assert Schema.adopt(library.schema) is plain
    assert Schema.adopt(plain, context=CONTEXT).execute("{ whoami }")["whoami"] == "ada"


def test_a_schema_of_another_class_is_another_adoption(library):
    """A subclass gives its own."""

    class Mine(Schema):
        """A Schema of one's own."""

    plain = Schema.adopt(library.schema)
    assert type(Mine.adopt(library.schema)) is Mine
    assert type(plain) is Schema


def test_a_schema_object_is_collected_with_its_adapter(library):
    """The cache holds no strong reference."""
    made = with_schema(library.name).schema
    gone = weakref.ref(made), weakref.ref(Schema.adopt(made))
    del made
    gc.collect()
    assert [each() for each in gone] == [None, None]


@pytest.mark.parametrize("name", ["core", "strawberry"])  # copying Graphene's never ends
def test_a_copy_gets_its_own_adapter(name):
    """A copy may be changed, so its cache is empty."""
    made = with_schema(name).schema
    schema = Schema.adopt(made)
    assert Schema.adopt(copy.copy(made)) is not schema


def test_the_cached_adapter_is_not_pickled():
    """An adopted schema can still be pickled, if its library supports it."""
    core = build_schema("type Query { a: Int }")
    Schema.adopt(core)
    memory = vars(core)["_gqlnb_adoption"]
    assert pickle.loads(pickle.dumps(memory)).value is None


def test_a_context_function_is_called_for_each_operation(library):
    """A context given by the caller takes precedence."""
    made = []

    def context() -> dict[str, str]:
        made.append(f"user {len(made)}")
        return {"user": made[-1]}

    schema = Schema.adopt(library.schema, context=context)
    text = "{ whoami pets(first: 1) { ... on Dog { owner } } }"
    for n in range(2):
        data = schema.execute(text).data
        assert data == {"whoami": f"user {n}", "pets": [{"owner": f"user {n}"}]}
    assert schema.execute("{ whoami }", context=CONTEXT)["whoami"] == "ada"
    assert len(made) == 2
    profile = schema.profile("{ whoami }")
    assert profile.result["whoami"] == "user 2"


def test_a_subscription_streams_through_the_engine(library):
    """`engine.subscribe` accepts `.graphql`."""

    async def events() -> list[Any]:
        stream = subscribe(Schema.adopt(library.schema).graphql, parse("subscription { ticks }"))
        stream = await stream if asyncio.iscoroutine(stream) else stream
        return [event.data["ticks"] async for event in stream]

    assert asyncio.run(events()) == [0, 1, 2]


def test_a_subscription_is_a_stream_of_results(library):
    """`Schema.subscribe` calls the library's own sources and resolvers."""
    stream = Schema.adopt(library.schema).subscribe("subscription { ticks }", context=CONTEXT)
    assert [result["ticks"] for result in stream] == [0, 1, 2]


def test_explain_describes_operations_of_adopted_schemas(library):
    """No part is executed by graphql-core."""
    schema = Schema.adopt(library.schema)
    assert schema.explain("{ greeting }").compiled
    assert "Query.greeting" in schema.explain("{ greeting }").plan


def test_an_adopted_schema_knows_its_async_resolvers(library):
    """`is_async` looks at the functions themselves."""
    assert Schema.adopt(library.schema).is_async
    assert not Schema.adopt(build_schema("type Query { a: Int }")).is_async


# -- what is no schema


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (5, "got int"),
        (None, "got NoneType"),
        ("type Query { a: Int }", "got str"),
        (GraphQLObjectType, "got the class GraphQLObjectType"),
        (GraphQLSchema, "got the class GraphQLSchema"),
    ],
)
def test_an_invalid_schema_object_is_described_in_the_error(thing, shown):
    """The message names accepted types and the given type."""
    with pytest.raises(SchemaError, match=r"GraphQLSchema .* strawberry\.Schema .*" + shown):
        Schema.adopt(thing)


def test_a_class_of_the_same_name_is_not_taken():
    """A `Schema` of a library that we do not know is no schema object."""
    other = type("Schema", (), {"__module__": "elsewhere.schema", "_schema": None})
    with pytest.raises(SchemaError, match="got Schema"):
        Schema.adopt(other())
    with pytest.raises(TargetError, match="Cannot create a client for a Schema"):
        Client(other())


def test_a_library_object_without_a_graphql_schema_is_refused():
    """An object of a known library that contains no GraphQLSchema."""
    old = type("Schema", (), {"__module__": "graphene.types.schema"})
    with pytest.raises(
        SchemaError, match="graphene schema holds no schema of the installed graphql-core"
    ):
        Schema.adopt(old())


def test_an_invalid_schema_is_refused_on_adoption():
    """The error lists its problems."""
    empty = GraphQLSchema()
    for adopt in (Schema.adopt, Client, connect, App):
        with pytest.raises(SchemaError, match="Query root type must be provided"):
            adopt(empty)


def test_a_client_validates_against_any_schema_object(library):
    """The schema need not be executable."""
    client = Client("http://127.0.0.1:9/graphql", schema=library.schema)
    with pytest.raises(QueryError, match="Did you mean 'greeting'"):
        client.execute("{ greting }")
    assert client.schema is Schema.adopt(library.schema).graphql
    with pytest.raises(SchemaError, match="got int"):
        Client("http://127.0.0.1:9/graphql", schema=5)


# -- options of graphql-core's execute


def shouting(resolve: Any, source: Any, info: Any, **arguments: Any) -> Any:
    """Change what a field gives: middleware as Graphene and Ariadne take it."""
    value = resolve(source, info, **arguments)
    return value.upper() if isinstance(value, str) else value


def test_middleware_is_run_by_graphql_core(optional):
    """It is an argument of execution, and an option of adopting."""
    schema = Schema.adopt(optional.schema, middleware=[shouting], context=CONTEXT)
    text = '{ whoami later(word: "soon") wrong }'
    for _ in range(3):
        result = schema.execute(text)
        assert result.data == {"whoami": "ADA", "later": "soon", "wrong": None}
        assert [error["message"] for error in result.errors] == ["broken on purpose"]
    assert schema.execute("{ greeting }").data == {"greeting": "HELLO WORLD NONE"}
    with serve(schema, port=0) as server:
        assert Client(server).execute("{ whoami }").data == {"whoami": "ADA"}
    with pytest.raises(QueryError, match=r"Variable '\$n'"):
        schema.execute("query ($n: Int!) { pets(first: $n) { name } }", {"n": "x"})
    with pytest.raises(QueryError, match=r"(?i)subscription"):
        schema.execute("subscription { ticks }")


def test_custom_executor_classes_are_run_by_graphql_core(optional):
    """So are custom execution context classes."""
    name = "executor_class" if NEW else "execution_context_class"
    home = graphql.execution.Executor if NEW else graphql.execution.ExecutionContext
    seen = []

    class Watching(home):
        """Notes each field it executes."""

        def execute_field(self, parent, *rest, **more):
            seen.append(parent.name)
            return super().execute_field(parent, *rest, **more)

    schema = Schema.adopt(optional.schema, **{name: Watching})
    assert schema.execute("{ greeting }").data == {"greeting": "Hello world None"}
    assert seen == ["Query"]


def test_frames_use_the_variables_in_every_executor():
    """A column excluded by `@include` is absent, compiled or not, limited or not."""
    core = build_schema("type Query { a: Int b: Int }")
    text = "query ($all: Boolean!) { a b @include(if: $all) }"
    for options in ({}, {"middleware": [shouting]}):
        schema = Schema.adopt(core, **options)
        for limits in (None, Limits()):
            result = schema.execute(text, {"all": False}, root={"a": 1, "b": 2}, limits=limits)
            assert list(result.frame().columns) == ["a"]
            assert result.variables == {"all": False}


def test_explain_reports_operations_executed_by_graphql_core(optional):
    """The report gives the reason, and there is no profile."""
    schema = Schema.adopt(optional.schema, middleware=[shouting])
    explained = schema.explain("query Q { greeting }")
    assert not explained.compiled
    assert explained.plan == "query Q: graphql-core executes with middleware."
    with pytest.raises(QueryError, match="can be profiled: graphql-core executes with middleware"):
        schema.profile("{ greeting }")


@pytest.mark.parametrize("name", ["core", "ariadne"])  # Graphene's fields all have a resolver
def test_resolvers_given_as_an_option_are_compiled(name):
    """The engine takes `field_resolver` itself."""
    schema = Schema.adopt(with_schema(name).schema, field_resolver=lambda source, info: True)
    assert schema.execute("{ ready }").data == {"ready": True}
    assert schema.explain("{ ready }").compiled


def test_an_unknown_option_is_named_in_the_error():
    """The message lists the valid options."""
    core = build_schema("type Query { a: Int }")
    with pytest.raises(SchemaError, match=r"takes no 'midleware'.*middleware"):
        Schema.adopt(core, midleware=[])
    with pytest.raises(SchemaError, match="takes no 'root_value'"):
        Schema.adopt(core, root_value=1)


def test_an_async_context_is_refused():
    """A context is made where the operation begins, without a loop."""

    async def context() -> None: ...

    with pytest.raises(SchemaError, match="can't be async"):
        Schema.adopt(build_schema("type Query { a: Int }"), context=context)
