"""What lives around the execution of a Strawberry schema: it works, or is refused in words."""

# Strawberry reads the annotations of classes inside functions: they can't be text here.
import asyncio
import threading
from collections.abc import AsyncGenerator

import graphql
import pytest
import strawberry
from strawberry.dataloader import DataLoader
from strawberry.directive import DirectiveLocation, DirectiveValue
from strawberry.extensions import MaskErrors, QueryDepthLimiter, SchemaExtension
from strawberry.permission import BasePermission
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import Info
from strawberry.types.field import StrawberryField

from gqlnb import Client, QueryError, Schema, SchemaError, serve
from gqlnb.limits import Limits
from tests.engine.libraries.with_strawberry import Query as World
from tests.engine.libraries.with_strawberry import schema as world
from tests.engine.libraries.world import CONTEXT

NEW = graphql.version_info[:2] >= (3, 3)


def both(schema, text, variables=None):
    """Return our result and Strawberry's own, each data, errors and extensions."""
    ours = Schema.adopt(schema).execute(text, variables, context=CONTEXT)
    theirs = asyncio.run(schema.execute(text, variable_values=variables, context_value=CONTEXT))
    wanted = theirs.data, [error.formatted for error in theirs.errors or ()]
    got = ours.data, [dict(error) for error in ours.errors], dict(ours.extensions)
    return got, (*wanted, theirs.extensions or {})


def extension(**methods):
    """Return a schema extension of Strawberry's with these methods."""
    return type("Watching", (SchemaExtension,), methods)


def test_extensions_are_run_by_strawberry():
    """Hooks around the operation, middleware on fields, and what is sent beside the data."""
    seen = []

    def on_operation(self):
        seen.append("begin")
        yield
        seen.append(f"end {self.execution_context.operation_name}")

    def resolve(self, _next, root, info, *args, **kwargs):
        value = _next(root, info, *args, **kwargs)
        return value.upper() if isinstance(value, str) else value

    plain = extension(
        on_operation=on_operation, resolve=resolve, get_results=lambda self: {"took": 1}
    )
    schema = world(extensions=[plain])
    text = "query Q { greeting wrong whoami }"
    ours, theirs = both(schema, text)
    assert ours == theirs
    assert ours[0]["greeting"] == "HELLO WORLD NONE"
    assert ours[2] == {"took": 1}
    assert seen == ["begin", "end Q"] * 2
    reason = "Strawberry executes the schema extensions Watching"
    assert Schema.adopt(schema).explain(text).plan == f"query Q: {reason}."
    with serve(schema, port=0) as server:
        result = Client(server).execute("{ greeting }")
    assert (result.data, result.extensions) == ({"greeting": "HELLO WORLD NONE"}, {"took": 1})


@pytest.mark.parametrize("hook", ["on_operation", "on_parse", "on_validate", "on_execute"])
def test_async_hooks_are_awaited(hook):
    """The schema itself may be synchronous."""
    seen = []

    async def around(self):
        await asyncio.sleep(0)
        seen.append(hook)
        yield

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        def a(self) -> int:
            """Return one."""
            return 1

    schema = strawberry.Schema(Query, extensions=[extension(**{hook: around})])
    for run in (Schema.adopt(schema).execute, lambda text: asyncio.run(later(schema, text))):
        assert run("{ a }").data == {"a": 1}
    assert seen == [hook, hook]


async def later(schema, text):
    """Await a result on the running loop."""
    return await Schema.adopt(schema).aexecute(text)


def test_a_synchronous_schema_with_extensions_runs_in_the_calling_thread():
    """As with `execute_sync`."""

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        def thread(self) -> str:
            """Return the thread it runs in."""
            return threading.current_thread().name

    schema = strawberry.Schema(Query, extensions=[extension(get_results=lambda self: {})])
    assert Schema.adopt(schema).execute("{ thread }").data == {
        "thread": threading.current_thread().name
    }


def test_a_failing_extension_is_an_execution_error():
    """It is not a query error; over HTTP the exception is masked."""

    def on_execute(self):
        message = "the password is canary-3"
        raise ValueError(message)
        yield

    schema = world(extensions=[extension(on_execute=on_execute)])
    result = Schema.adopt(schema).execute("{ greeting }")
    assert result.data is None
    assert [error["message"] for error in result.errors] == ["the password is canary-3"]
    with serve(schema, port=0) as server:
        shown = Client(server).execute("{ greeting }")
    assert shown.data is None
    assert "canary-3" not in str(shown.errors)


def test_validation_rules_of_extensions_raise_query_errors():
    """Extensions may add validation rules."""
    schema = world(extensions=[lambda: QueryDepthLimiter(max_depth=1)])
    text = "{ pets { ... on Dog { friend { friend { name } } } } }"
    with pytest.raises(QueryError, match="exceeds maximum operation depth of 1"):
        Schema.adopt(schema).execute(text)
    with serve(schema, port=0) as server, pytest.raises(QueryError, match="maximum operation"):
        Client(server).execute(text)
    assert Schema.adopt(schema).execute("{ greeting }")["greeting"] == "Hello world None"


def test_masked_errors_remain_masked():
    """Strawberry's MaskErrors takes precedence."""
    ours, theirs = both(world(extensions=[MaskErrors]), "{ wrong }")
    assert ours == theirs
    assert ours[1][0]["message"] == "Unexpected error."


@pytest.mark.parametrize("wait", [False, True])
def test_permissions_are_compiled_with_their_fields(wait):
    """They wrap a field's resolver, so no fallback is needed."""

    class Plain(BasePermission):
        """Asks the context."""

        message = "not you"

        def has_permission(self, source, info, **kwargs):
            return info.context["user"] != "ada"

    class Waiting(BasePermission):
        """Asks the context, later."""

        message = "not you"

        async def has_permission(self, source, info, **kwargs):
            await asyncio.sleep(0)
            return info.context["user"] != "ada"

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field(permission_classes=[Waiting if wait else Plain])
        def secret(self) -> str | None:
            """Return a secret."""
            return "canary"

    for options in ({}, {"extensions": [extension(get_results=lambda self: {})]}):
        schema = strawberry.Schema(Query, **options)
        assert Schema.adopt(schema).explain("{ secret }").compiled is not bool(options)
        ours, theirs = both(schema, "{ secret }")
        assert ours == theirs
        assert ours[1][0]["message"] == "not you"
        allowed = Schema.adopt(schema).execute("{ secret }", context={"user": "grace"})
        assert allowed.data == {"secret": "canary"}


def test_operation_directives_are_run_by_strawberry():
    """They transform resolved values."""

    @strawberry.directive(locations=[DirectiveLocation.FIELD])
    def loud(value: DirectiveValue[str], times: int = 1) -> str:
        return value.upper() * times

    schema = world(directives=[loud])
    text = "query ($n: Int!) { greeting @loud(times: $n) other: greeting }"
    ours, theirs = both(schema, text, {"n": 2})
    assert ours == theirs
    assert ours[0]["greeting"] == "HELLO WORLD NONE" * 2
    assert "operation directives" in Schema.adopt(schema).explain("{ greeting }").plan


def test_custom_executor_classes_are_run_by_strawberry():
    """The schema names its executor class."""
    seen = []

    class Watching(StrawberryGraphQLCoreExecutionContext):
        """Notes each field it executes."""

        def execute_field(self, parent, *rest, **more):
            seen.append(parent.name)
            return super().execute_field(parent, *rest, **more)

    schema = Schema.adopt(world(execution_context_class=Watching))
    assert schema.execute("{ greeting }")["greeting"] == "Hello world None"
    assert seen == ["Query"]
    assert "its execution context class" in schema.explain("{ greeting }").plan


def test_process_errors_of_a_subclass_is_called():
    """With the arguments of Strawberry."""
    seen = []

    class Mine(strawberry.Schema):
        """Notes errors."""

        def process_errors(self, errors, execution_context=None):
            seen.extend((error.message, execution_context.query) for error in errors)

    schema = Schema.adopt(Mine(World))
    assert schema.execute("{ wrong }").data == {"wrong": None}
    assert seen == [("broken on purpose", "{ wrong }")]


def test_a_subclass_without_overrides_is_compiled():
    """It is recognised by its base class."""
    schema = Schema.adopt(type("Mine", (strawberry.Schema,), {})(World))
    assert schema.explain("{ greeting }").compiled
    assert schema.execute("{ greeting }")["greeting"] == "Hello world None"


@pytest.mark.parametrize("options", [{}, {"extensions": True}])
def test_disabled_field_suggestions_are_respected(options):
    """`disable_field_suggestions` also disables our hints."""
    if options:
        options = {"extensions": [extension(get_results=lambda self: {})]}
    config = StrawberryConfig(disable_field_suggestions=True)
    schema = Schema.adopt(world(config=config, **options))
    for text in ("{ greting }", "{ greting pets }"):
        with pytest.raises(QueryError) as caught:
            schema.execute(text)
        assert "greeting" not in str(caught.value)
        assert "Cannot query field 'greting' on type 'Query'." in str(caught.value)
        assert "Pet has: name" not in str(caught.value)
    with pytest.raises(QueryError, match="The query is empty"):
        schema.execute(" ")


def test_strawberry_validation_rules_apply():
    """Maybe and one-of inputs are checked before execution."""

    @strawberry.input
    class Change:
        """What to change."""

        name: strawberry.Maybe[str] = None

    @strawberry.input(one_of=True)
    class By:
        """How to find."""

        id: strawberry.Maybe[str] = None
        name: strawberry.Maybe[str] = None

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        def change(self, change: Change) -> str:
            """Return what is to change."""
            return "nothing" if change.name is None else change.name.value

        @strawberry.field
        def find(self, by: By) -> str:
            """Return how to find."""
            return "id" if by.id else "name"

    schema = strawberry.Schema(Query)
    for text in ("{ change(change: {}) }", '{ change(change: { name: "a" }) }'):
        ours, theirs = both(schema, text)
        assert ours == theirs
    for text in ("{ change(change: { name: null }) }", '{ find(by: { id: "1", name: "2" }) }'):
        theirs = asyncio.run(schema.execute(text))
        with pytest.raises(QueryError) as caught:
            Schema.adopt(schema).execute(text)
        assert [problem.message for problem in caught.value.problems] == [
            error.message for error in theirs.errors
        ]


def test_a_data_loader_works_in_an_async_resolver():
    """Its keys are collected over the fields that run side by side."""
    asked = []

    async def load(keys: list[int]) -> list[str]:
        asked.append(keys)
        return [f"name {key}" for key in keys]

    @strawberry.type
    class Item:
        """What has a name, found by its number."""

        n: int

        @strawberry.field
        async def name(self, info: Info) -> str:
            """Return its name."""
            return await info.context.load(self.n)

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        def items(self) -> list[Item]:
            """Return items."""
            return [Item(n=n) for n in range(12)]

    schema = Schema.adopt(strawberry.Schema(Query), context=lambda: DataLoader(load))
    for run in (schema.execute, lambda text: asyncio.run(schema.aexecute(text))):
        assert [row["name"] for row in run("{ items { name } }")] == [
            f"name {n}" for n in range(12)
        ]
    # Nothing promises the order in which resolvers of different rows begin to wait.
    assert [sorted(keys) for keys in asked] == [list(range(12))] * 2
    with serve(schema, port=0) as server:
        assert len(Client(server).execute("{ items { name } }")) == 12
    assert len(asked) == 3


def test_extensions_apply_to_subscriptions():
    """Strawberry subscribes itself where required; a refusal is an error."""
    seen = []

    def on_operation(self):
        seen.append(self.execution_context.operation_name)
        yield

    text = "subscription S { ticks }"
    schema = Schema.adopt(world(extensions=[extension(on_operation=on_operation)]))
    assert [result["ticks"] for result in schema.subscribe(text, context=CONTEXT)] == [0, 1, 2]
    assert set(seen) == {"S"}

    def refuse(self):
        message = "not today"
        raise PermissionError(message)
        yield

    refusing = Schema.adopt(world(extensions=[extension(on_operation=refuse)]))
    with pytest.raises((QueryError, PermissionError), match="not today"):
        next(refusing.subscribe(text, context=CONTEXT))


@pytest.mark.skipif(not NEW, reason="graphql-core before 3.3 knows no incremental delivery.")
def test_incremental_delivery_of_strawberry_schemas():
    """The compiled engine executes all other operations; `execute` refuses these."""
    config = StrawberryConfig(enable_experimental_incremental_execution=True)
    schema = world(config=config)
    ours, theirs = both(schema, "{ greeting pets { name } }")
    assert ours == theirs
    text = "{ greeting ... @defer { pets { name } } }"
    adopted = Schema.adopt(schema)
    assert adopted.explain("{ greeting }").compiled
    results = [result.data for result in adopted.subscribe(text, context=CONTEXT)]
    assert [list(data) for data in results] == [["greeting"], ["greeting", "pets"]]
    with pytest.raises(QueryError, match="@defer asks for a response in parts") as caught:
        adopted.execute(text)
    assert caught.value.problems[0].column == 16
    extended = Schema.adopt(world(config=config, extensions=[extension()]))
    with pytest.raises(QueryError, match="Strawberry executes the schema extensions"):
        extended.subscribe(text)


@pytest.mark.skipif(not NEW, reason="Strawberry itself has them since graphql-core 3.3 only.")
@pytest.mark.parametrize("extensions", [[], [extension(get_results=lambda self: {})]])
def test_extensions_of_requests_reach_resolvers(extensions):
    """A client's, by HTTP and in a subscription; without any there are none."""
    seen = []

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        async def a(self, info: Info) -> int:
            """Record the extensions."""
            seen.append(info.input_extensions)
            return 1

    @strawberry.type
    class Subscription:
        """What can be listened to."""

        @strawberry.subscription
        async def b(self, info: Info) -> AsyncGenerator[int, None]:
            """Record the extensions."""
            seen.append(info.input_extensions)
            yield 1

    schema = strawberry.Schema(Query, subscription=Subscription, extensions=extensions)
    given = {"tenant": {"id": 7}}
    with serve(schema, port=0) as server:
        client = Client(server.url)
        for _ in range(12):  # more often than the server waits before it runs it on its loop
            assert client.execute("{ a }", extensions=given).data == {"a": 1}
        assert client.execute("{ a }").data == {"a": 1}
        assert [event["b"] for event in client.subscribe("subscription { b }", extensions=given)]
    assert seen == [*[given] * 12, None, given]


def test_strawberry_schemas_accept_no_options():
    """Execution is configured in the schema."""
    with pytest.raises(SchemaError, match="own execution options, so middleware can"):
        Schema.adopt(world(), middleware=[print])


def watched(self):
    """Do nothing around an operation."""
    yield


@pytest.mark.parametrize("extensions", [[], [extension(on_operation=watched)]])
def test_limits_apply_in_every_executor(extensions):
    """Compiled, or by Strawberry for its extensions; its schema is unchanged."""

    @strawberry.type
    class Query:
        """What can be asked."""

        @strawberry.field
        async def later(self) -> int:
            """Wait for ever."""
            return await asyncio.Event().wait()

        @strawberry.field
        def a(self) -> int:
            """Return one."""
            return 1

    made = strawberry.Schema(Query, extensions=extensions)
    before = dict(vars(made))
    schema = Schema.adopt(made)
    for _ in range(2):
        assert schema.execute("{ a b: a c: a }", limits=Limits(fields=3)).data["c"] == 1
        (error,) = schema.execute("{ a b: a c: a }", limits=Limits(fields=2)).errors
        assert error["message"].startswith("Execution stopped after 2 fields")
        (error,) = schema.execute("{ later a }", limits=Limits(seconds=0.05)).errors
        assert error["message"].startswith("Execution stopped after 0.05 s")
    assert {name: vars(made)[name] for name in before} == before


# -- fields that only read an attribute


@strawberry.type
class Book:
    """A row whose fields have no resolver."""

    title: str
    page_count: int | None = None
    pass_: str = strawberry.field(name="pass", default="keyword")
    loaded: str | None = strawberry.field(default=None)

    @strawberry.field
    def label(self, prefix: str = "The ") -> str:
        """Return the title with a prefix."""
        return prefix + self.title


class Shouting(StrawberryField):
    """A field with a result of its own."""

    def get_result(self, source, info, args, kwargs):
        """Return the attribute in capitals."""
        return super().get_result(source, info, args, kwargs).upper()


@strawberry.type
class Loud:
    """A row with a field of another class."""

    title: str = Shouting()


async def load():
    """Return a value later."""
    await asyncio.sleep(0)
    return "later"


class Partial:
    """A row without attributes, one of which raises."""

    title = "partial"

    @property
    def page_count(self):
        """Raise."""
        msg = "torn"
        raise ValueError(msg)


def library(rows, config=None, kind=Book):
    """Return a Strawberry schema with these rows."""

    @strawberry.type
    class Query:
        @strawberry.field
        def books(self) -> list[kind]:
            return rows()

    return strawberry.Schema(Query, config=config)


def read_books(schema, fields="title pageCount pass loaded"):
    """Assert that ours and Strawberry's results are equal three times; return the data."""
    text = f"{{ books {{ {fields} }} }}"
    for _ in range(3):
        ours, theirs = both(schema, text)
        assert ours == theirs
    return ours[0]


ROWS = {
    "usual": lambda: Book(title="Emma", page_count=1),
    "wrong type": lambda: Book(title="Emma", page_count="many"),
    "null": lambda: Book(title=None),
    "coroutine": lambda: Book(title="Emma", loaded=load()),
    "exception": lambda: Book(title="Emma", loaded=ValueError("lost")),
    "function": lambda: Book(title="Emma", loaded=load),
    "no attribute": Partial,
    "dict": lambda: {"title": "a dict"},
    "no row": lambda: None,
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("size", [1, 100])
def test_attributes_are_read_as_by_strawberry(name, size):
    """Values of every kind, missing attributes and exceptions, also in long lists."""
    read_books(library(lambda: [ROWS[name]() for _ in range(size)]))


def test_attribute_fields_are_explained_as_look_ups():
    """A field with a resolver is explained by the user's function."""
    schema = library(lambda: [Book(title="Emma")])
    plan = Schema.adopt(schema).explain('{ books { title label(prefix: "A ") } }').plan
    title, label = plan.splitlines()[2:]
    assert title.endswith("Book.title: String!  looked up in its parent")
    assert "Book.label(self, prefix) line " in label
    assert read_books(schema, "label") == {"books": [{"label": "The Emma"}]}


def test_a_default_resolver_of_the_schema_is_called():
    """Also if a later schema with the same types sets it: Strawberry stores it in the field."""
    rows = [Book(title="Emma")]
    schema = library(lambda: rows)
    assert read_books(schema, "title") == {"books": [{"title": "Emma"}]}
    other = library(lambda: [{"title": "dict"}], StrawberryConfig(default_resolver=dict.get))
    assert read_books(other, "title") == {"books": [{"title": "dict"}]}
    rows[0] = {"title": "both"}
    assert read_books(schema, "title") == {"books": [{"title": "both"}]}


def test_a_field_class_with_its_own_result_is_called():
    """Subclasses of Strawberry's field may do anything."""
    rows = [Loud(title="emma")]
    assert read_books(library(lambda: rows, kind=Loud), "title") == {"books": [{"title": "EMMA"}]}
