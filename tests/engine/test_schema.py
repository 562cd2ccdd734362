"""Schemas executed in this process."""

import asyncio
from pathlib import Path

import pytest

from gqlnb import QueryError, Schema, SchemaError

NESTED = """
type Query { user(id: ID!): User }
type User { id: ID! name: String! friends(first: Int = 2): [User!]! }
type Mutation { rename(id: ID!, name: String!): User }
"""


def test_resolvers_are_called_positionally_with_root_args_and_context():
    """A resolver may name its parameters as it likes."""
    seen = []

    def resolver(*given):
        seen.append(given)
        return "x"

    schema = Schema(
        "type Query { f(a: Int, info: Int, source: Int): String }", {"Query": {"f": resolver}}
    )
    schema.execute("{ f(a: 1, info: 2, source: 3) }", context="C", root="R")
    assert seen == [("R", {"a": 1, "info": 2, "source": 3}, "C")]


def test_parents_may_be_mappings_or_objects():
    """A key of a mapping, an attribute of any other object."""
    sdl = "type Query { a: P b: P } type P { x: Int }"
    point = type("Point", (), {"x": 2})()
    assert Schema(sdl).execute("{ a { x } b { x } }", root={"a": {"x": 1}, "b": point}).data == {
        "a": {"x": 1},
        "b": {"x": 2},
    }


def test_a_decorator_returns_the_function_unchanged_and_may_run_again():
    """Running the cell again takes effect at the next execution."""
    schema = Schema("type Query { n: Int }")

    def first(root, args, context):
        return 1

    assert schema.resolver("Query.n")(first) is first
    assert schema.execute("{ n }").data == {"n": 1}
    schema.resolver("Query.n")(lambda *_: 2)
    assert schema.execute("{ n }").data == {"n": 2}


def test_interface_types_are_resolved():
    """By `__resolveType`, by decorator, or by `__typename` in the value."""
    sdl = "interface Pet { name: String } type Dog implements Pet { name: String bark: Int } "
    sdl += "type Cat implements Pet { name: String } type Query { pets: [Pet] }"
    pets = [{"name": "a", "bark": 1}, {"name": "b"}]
    text = "{ pets { __typename name ... on Dog { bark } } }"
    expected = [{"__typename": "Dog", "name": "a", "bark": 1}, {"__typename": "Cat", "name": "b"}]

    def kind(value, context):
        return "Dog" if "bark" in value else "Cat"

    given = Schema(sdl, {"Pet": {"__resolveType": kind}})
    assert given.execute(text, root={"pets": pets}).data == {"pets": expected}
    decorated = Schema(sdl)
    assert decorated.type_resolver("Pet")(kind) is kind
    assert decorated.execute(text, root={"pets": pets}).data == {"pets": expected}
    named = [{**pet, "__typename": kind(pet, None)} for pet in pets]
    assert Schema(sdl).execute(text, root={"pets": named}).data == {"pets": expected}


def test_scalars_and_enums_convert_python_values():
    """Scalars are converted both ways, enum members map to values."""
    sdl = "scalar Cents enum Level { LOW HIGH } "
    sdl += "type Query { twice(x: Cents!, l: Level): Cents level: Level }"
    schema = Schema(
        sdl,
        {
            "Cents": {
                "__serialize": lambda v: f"{v / 100:.2f}",
                "__parseValue": lambda v: int(float(v) * 100),
            },
            "Level": {"LOW": 1, "HIGH": 2},
            "Query": {"twice": lambda r, args, c: args["x"] * args["l"], "level": lambda *_: 2},
        },
    )
    text = 'query ($x: Cents!) { twice(x: $x, l: HIGH) level also: twice(x: "0.5", l: LOW) }'
    assert schema.execute(text, {"x": "1.25"}).data == {
        "twice": "2.50",
        "level": "HIGH",
        "also": "0.50",
    }


def test_async_resolvers_run_from_a_plain_call_and_inside_a_running_loop():
    """A notebook has a loop running in its main thread."""

    async def slow(root, args, context):
        await asyncio.sleep(0)
        return args["n"]

    schema = Schema("type Query { f(n: Int): Int }", {"Query": {"f": slow}})
    text = "{ a: f(n: 1) b: f(n: 2) }"

    async def cell():
        return schema.execute(text).data, (await schema.aexecute(text)).data

    assert schema.execute(text).data == {"a": 1, "b": 2}
    assert asyncio.run(cell()) == ({"a": 1, "b": 2}, {"a": 1, "b": 2})


def test_a_resolver_error_returns_partial_data():
    """The failed field is null, the other fields are present."""
    schema = Schema("type Query { bad: Int good: Int }", {"Query": {"bad": lambda *_: [].pop()}})
    result = schema.execute("{ bad good }", root={"good": 1})
    assert result.data == {"bad": None, "good": 1}
    assert [error["path"] for error in result.errors] == [["bad"]]
    assert isinstance(result.causes[0], IndexError)


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        ("{ user(id: 1) }", None, "must have a selection of subfields"),
        ("query ($i: ID!) { user(id: $i) { id } }", None, r"Variable '\$i' of required type 'ID!'"),
        ("query ($i: ID!) { user(id: $i) { id } }", {"i": [1]}, r"Variable '\$i'"),
        ("query ($i: ID!) { user(id: $i) { id } }", [1], "variables must be a mapping"),
        (["{ user }"], None, "A query must be a string, not list"),
        (None, None, "A query must be a string, not NoneType"),
        ("subscription { a }", None, "(?i)subscription"),
    ],
)
def test_a_wrong_query_raises_before_anything_runs(text, variables, message):
    """Validation and coercion errors are QueryErrors."""
    with pytest.raises(QueryError, match=message):
        Schema(NESTED).execute(text, variables)


@pytest.mark.parametrize(
    ("sdl", "message"),
    [
        ("type Query {", "Syntax Error: Expected Name, found <EOF>."),
        ("type Query { a: Foo }", "Unknown type 'Foo'"),
        ("type A { b: Int }", "Query root type must be provided."),
        ("type Query { a: Int a: Int }", "can only be defined once"),
        ("interface I { a: Int } type Query implements I { b: Int }", "expected but Query"),
        ("{ hello }", "an operation, not a schema"),
        ("", "The SDL is empty"),
        (None, "SDL is text; got NoneType.$"),
        (Path("schema.graphql"), r"got \w*Path. Give its text: path.read_text\(\)"),
        ("schemas/shop.graphqls", "the name of a file. Give its text"),
        ("type Query { a: " + "[" * 100_000, "nested too deeply|Syntax Error"),
    ],
)
def test_invalid_sdl_raises_schema_error(sdl, message):
    """For every kind of fault."""
    with pytest.raises(SchemaError, match=message):
        Schema(sdl)


def test_wrong_sdl_has_a_caret():
    """Line, column and the line itself are shown."""
    with pytest.raises(SchemaError) as caught:
        Schema("type Query {\n  a: Foo\n}")
    assert str(caught.value).splitlines()[1:] == [
        "  line 2, column 6",
        "     2 |   a: Foo",
        "              ^",
    ]


@pytest.mark.parametrize(
    ("resolvers", "message"),
    [
        ({"Query": {"usr": print}},
         "Resolver for 'Query.usr': no such field. Did you mean 'user'?"),
        ({"Qury": {"user": print}}, "Resolver for 'Qury': no such type. Did you mean 'Query'?"),
        ({"Query.user": print}, "no such type. Write {'Query': {'user': ...}}."),
        ({"Query": {"user": 5}}, "must be a function .root, args, context.; got int"),
        ({"Query": {"user": lambda root: 1}},
         r"is called with \(root, args, context\); this one takes \(root\)"),
        ({"Query": print}, "must be a mapping of field name to function"),
        ({"User": {"__resolveType": lambda v, c: ""}}, "only an interface or a union"),
        ({"ID": {"serialize": str}}, "__serialize and __parseValue"),
    ],
)  # fmt: skip
def test_an_unknown_resolver_raises_with_a_suggestion(resolvers, message):
    """Unknown types and fields, and values that are not callable, raise at once."""
    with pytest.raises(SchemaError, match=message):
        Schema(NESTED, resolvers)


def test_a_resolver_of_an_instance_or_partial_is_fine():
    """Anything that takes three positional arguments will do."""

    class Greeter:
        def __call__(self, root, args, context):
            return "called"

        def method(self, root, args, context, extra=None):
            return "method"

    schema = Schema(
        "type Query { a: String b: String }", {"Query": {"a": Greeter(), "b": Greeter().method}}
    )
    assert schema.execute("{ a b }").data == {"a": "called", "b": "method"}


def test_its_repr_names_the_root_fields():
    """No address, and short."""
    schema = Schema(NESTED)
    assert repr(schema) == "Schema(query: user; mutation: rename)"
    assert "type Query" in schema.sdl
