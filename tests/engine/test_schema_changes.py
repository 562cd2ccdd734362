"""Schemas that change after their operations were executed: the next execution sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import GraphQLField, GraphQLInt, GraphQLObjectType, GraphQLString, build_schema, parse

import gqlnb
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from tests.engine.comparison import OURS, columnar, seen

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = """
scalar Word enum Color { RED GREEN } input Box { size: Int = 1 color: Color = RED word: Word }
interface Named { name: String } union Item = Cat | Dog
type Cat implements Named { name: String lives: Int } type Dog implements Named { name: String }
union Pet = Tom | Rex type Tom { name: String } type Rex { name: String }
type Query {
  hello: String word: Word color: Color text(n: Int = 1, s: String, c: Color = RED): String
  box(n: Int = 1, c: Color = RED, b: Box, d: Box = {size: 3}): String
  pet: Pet cat: Cat named: Named item: Item items: [Item] cats: [Cat] words: [Word] colors: [Color]
}
type Mutation { hello: String text(n: Int = 1): String }
"""
SERIALIZERS = ("serialize", "coerce_output_value")
PARSERS = ("parse_value", "coerce_input_value")
LITERAL_PARSERS = ("parse_literal", "coerce_input_literal")
CAT = {"__typename": "Cat", "name": "Tom", "lives": 7}
ROOT = {
    "hello": "hi",
    "word": "w",
    "words": ["v", "w"],
    "color": "RED",
    "colors": ["RED"] * 3,
    "pet": object(),
    "cat": CAT,
    "named": CAT,
    "item": CAT,
    "items": [CAT, CAT],
    "cats": [CAT] * 3,
}


def show(_source: Any, _info: Any, **given: Any) -> str:
    """Answer with the arguments."""
    return repr(given)


def greet(*_: Any) -> str:
    """Answer otherwise than the root value."""
    return "hey"


def make_schema() -> Any:
    """Return a new schema."""
    schema = build_schema(SDL)
    query: Any = schema.query_type
    mutation: Any = schema.mutation_type
    for field in (query.fields["text"], query.fields["box"], mutation.fields["text"]):
        field.resolve = show
    for name in ("Tom", "Rex"):
        kind: Any = schema.type_map[name]
        kind.is_type_of = lambda *_: True
    return schema


def replace_methods(owner: Any, names: tuple[str, ...], function: Any) -> None:
    """Set the methods of a leaf type under the names of both versions of graphql-core."""
    for name in names if IS_GRAPHQL_33 else names[:1]:
        setattr(owner, name, function)


def edit(place: str, statement: str) -> Callable[[Any], None]:
    """Return a function that changes a type or a field `it`, such as that of "Query.hello"."""
    name, _, member = place.partition(".")

    def change(schema: Any) -> None:
        kind = schema.type_map[name]
        found = kind.fields[member] if member else kind
        names = {"it": found, "schema": schema, "types": schema.type_map}
        exec(statement, {**vars(graphql), **globals()}, names)

    return change


def new_type(*names: str) -> GraphQLObjectType:
    """Return an object type with other fields."""
    fields = {name: GraphQLField(GraphQLString, resolve=greet) for name in names}
    return GraphQLObjectType("Query", fields)


def set_default(argument: Any) -> None:
    """Change the default of an argument that has one of SDL, or of an input field."""
    argument.default_value = 5
    if IS_GRAPHQL_33:
        argument.default = None


HELLO, CATS, TEXT = "{ hello }", "{ cat { name lives } cats { name lives } }", "{ text }"
ALL = """{ hello word color words colors text(n: 2, c: GREEN) named { name ... on Cat { lives } }
  item { __typename ... on Named { name } } items { ... on Cat { name } } cats { ...F } }
  fragment F on Cat { name lives }"""
GIVEN = "query ($n: Int, $c: Color = RED, $b: Box) { text(n: $n, c: $c) box(n: $n, c: $c, b: $b) }"
BOX = {"b": {"color": "GREEN"}}
RED = 'types["Color"].values["RED"]'
upper: Any = str.upper
# By name: text, variables, and the change.
CHANGES: dict[str, tuple[str, Any, Callable[[Any], None]]] = {
    "resolver": (HELLO, None, edit("Query.hello", "it.resolve = greet")),
    "field": (HELLO, None,
        edit("Query", "it.fields['hello'] = GraphQLField(GraphQLString, resolve=greet)")),
    "field of an object": (CATS, None,
        edit("Cat", "it.fields['name'] = GraphQLField(GraphQLInt, resolve=lambda *_: 3)")),
    "dict of fields": (HELLO, None,
        edit("Query", "it.fields = {'hello': GraphQLField(GraphQLString, resolve=greet)}")),
    "added field": ("{ hello later }", None,
        edit("Query", "it.fields['later'] = GraphQLField(GraphQLString, resolve=greet)")),
    "removed field": (CATS, None, edit("Cat", "del it.fields['lives']")),
    "type of a field": (HELLO, None, edit("Query.hello", "it.type = GraphQLInt")),
    "null is an error": ("{ cat { name lives } }", None,
        edit("Cat.lives", "it.type = GraphQLNonNull(GraphQLString)")),
    "list": (CATS, None, edit("Query.cats", "it.type = types['Cat']")),
    "object": ("{ cat { __typename name } }", None, edit("Query.cat", "it.type = types['Dog']")),
    "default": (TEXT, None, edit("Query.text", "set_default(it.args['n'])")),
    "default of a missing variable": (GIVEN, None, edit("Query.text", "set_default(it.args['n'])")),
    "default of an object": ("{ box }", None, edit("Query.box", "set_default(it.args['n'])")),
    "argument": (TEXT, None,
        edit("Query.text", "it.args['n'] = GraphQLArgument(GraphQLInt, default_value=9)")),
    "new argument": (TEXT, None,
        edit("Query.text", "it.args['m'] = GraphQLArgument(GraphQLInt, default_value=9)")),
    "removed argument": ("{ text(n: 2) }", None, edit("Query.text", "del it.args['n']")),
    "dict of arguments": (TEXT, None, edit("Query.text", "it.args = {}")),
    "type of an argument": ('{ text(n: 2, s: "2") }', None,
        edit("Query.text", "it.args['n'].type = GraphQLList(GraphQLInt)")),
    "required argument": (GIVEN, {"n": None},
        edit("Query.box", "it.args['n'].type = GraphQLNonNull(GraphQLInt)")),
    "Python name of an argument": ("{ text(n: 2) }", None,
        edit("Query.text", "it.args['n'].out_name = 'number'")),
    "enum value in a literal": ("{ text(c: RED) }", None, edit("Color", f"{RED}.value = 7")),
    "enum member in a literal": ("{ text(c: RED) }", None,
        edit("Color", "it.values['RED'] = GraphQLEnumValue('r')")),
    "enum value in a default": (GIVEN, None, edit("Color", f"{RED}.value = 7")),
    "enum value in a variable": (GIVEN, {"c": "RED"}, edit("Color", f"{RED}.value = 7")),
    "enum value in an input": (GIVEN, BOX, edit("Color", "it.values['GREEN'].value = 7")),
    "enum value in an answer": ("{ color colors }", None,
        edit("Color", f"vars(it).pop('_value_lookup', None); {RED}.value = 7")),
    "enum": ("{ color colors }", None,
        edit("Color", "replace_methods(it, SERIALIZERS, lambda _: 'BLUE')")),
    "literals of an enum": ("{ text(c: RED) }", None,
        edit("Color", "replace_methods(it, LITERAL_PARSERS, lambda *_: 'BLUE')")),
    "serializer": ("{ word words }", None, edit("Word", "replace_methods(it, SERIALIZERS, upper)")),
    "serializer of String": ("{ hello cats { name } }", None,
        edit("String", "replace_methods(it, SERIALIZERS, lambda value: value.upper())")),
    "literals of Int": ("{ text(n: 2) }", None,
        edit("Int", "replace_methods(it, LITERAL_PARSERS, lambda *_: 55)")),
    "variables of String": ("query ($s: String!) { text(s: $s) }", {"s": "s"},
        edit("String", "replace_methods(it, PARSERS, lambda value: value.upper())")),
    "field of an input": (GIVEN, BOX,
        edit("Box", "it.fields['size'] = GraphQLInputField(GraphQLInt, default_value=8)")),
    "new field of an input": (GIVEN, BOX,
        edit("Box", "it.fields['more'] = GraphQLInputField(GraphQLInt, default_value=8)")),
    "default of an input's field": (GIVEN, BOX, edit("Box.size", "set_default(it)")),
    "type of an input's field": (GIVEN, BOX, edit("Box.color", "it.type = GraphQLInt")),
    "required field of an input": (GIVEN, BOX,
        edit("Box.word", "it.type = GraphQLNonNull(GraphQLInt)")),
    "Python name of an input's field": (GIVEN, BOX, edit("Box.color", "it.out_name = 'tint'")),
    "Python type of an input": (GIVEN, BOX, edit("Box", "it.out_type = lambda v: [*v]")),
    "type resolver": (ALL, None, edit("Named", "it.resolve_type = lambda *_: 'Dog'")),
    "type resolver of a union": (ALL, None, edit("Item", "it.resolve_type = lambda *_: 'Dog'")),
    "type test": (ALL, None, edit("Cat", "it.is_type_of = lambda *_: False")),
    "types of a union": ("{ pet { __typename } }", None, edit("Pet", "it.types = (types['Rex'],)")),
    "type": (ALL, None, edit("Cat", "types['Cat'] = types['Dog']")),
    "type in a condition": ("{ cat { ... on Cat { name } } }", None,
        edit("Cat", "types['Cat'] = types['Dog']")),
    "type of a variable": ("query ($s: Word) { text(s: $s) }", {"s": "s"},
        edit("Word", "types['Word'] = GraphQLScalarType('Word', parse_value=upper)")),
    "query type": (HELLO, None, edit("Query", "schema.query_type = new_type('hello')")),
    "mutation": ("mutation { hello }", None, edit("Mutation.hello", "it.resolve = greet")),
    "default in a mutation": ("mutation { text }", None,
        edit("Mutation.text", "set_default(it.args['n'])")),
    "field of all": (ALL, None, edit("Cat.name", "it.type = GraphQLInt")),
}  # fmt: skip
STANDARD = ("serializer of String", "literals of Int", "variables of String")


@pytest.fixture
def standard_scalars(monkeypatch):
    """Restore the standard scalars, which all schemas share."""
    for kind in (GraphQLString, GraphQLInt):
        for name in (*SERIALIZERS, *PARSERS, *LITERAL_PARSERS):
            if name in vars(kind):
                monkeypatch.setattr(kind, name, vars(kind)[name])


@pytest.mark.usefixtures("standard_scalars")
@pytest.mark.parametrize("runs", [1, 2, 5])
@pytest.mark.parametrize("name", CHANGES)
def test_the_next_execution_sees_a_change(name, runs):
    """As graphql-core does, which executed the same operation as often."""
    text, variables, change = CHANGES[name]
    document = parse(text)
    options = {"root_value": ROOT, "variable_values": variables}
    executors = (graphql.execute, *OURS, columnar)
    schemas = [make_schema() for _ in executors]
    for schema, execute in zip(schemas, executors, strict=True):
        for _ in range(runs):
            before = seen(execute, schema, document, options)
    for number, schema in enumerate(schemas):
        if name not in STANDARD or not number:
            change(schema)
    want = seen(graphql.execute, schemas[0], document, options)
    for schema, execute in zip(schemas[1:], executors[1:], strict=True):
        for _ in range(5):
            assert seen(execute, schema, document, options) == want
    assert want != before


def test_refresh_forgets_what_graphql_core_keeps():
    """The names of enum values in answers, and the types of an abstract type."""
    schema = gqlnb.Schema.adopt(make_schema())
    text = "{ color pet { __typename } }"

    def execute(color: Any) -> Any:
        return schema.execute(text, root={**ROOT, "color": color}).data

    for _ in range(5):
        assert execute("RED")["color"] == "RED"
    core = schema.graphql
    core.type_map["Color"].values["RED"].value = 7
    core.type_map["Pet"].types = (core.type_map["Cat"],)
    core.type_map["Cat"].is_type_of = lambda *_: True
    assert execute(7)["color"] is None
    schema.refresh()
    for _ in range(5):
        found = execute(7)
        assert found["color"] == "RED"
        assert found["pet"] == {"__typename": "Cat"}


# -- schemas of gqlnb, whose documents were validated before the change


def change_rows(schema: Any) -> None:
    """Give the rows other fields: one is gone, one is new, one has another type."""
    fields = schema.type_map["Row"].fields
    del fields["gone"]
    fields["new"] = GraphQLField(GraphQLString, resolve=greet)
    fields["size"].type = GraphQLString


ROWS = "type Query { rows: [Row] } type Row { gone: String size: Int }"


def make_client(way: str) -> tuple[Any, Callable[[str], gqlnb.Result]]:
    """Return a schema of graphql-core, and the function that executes texts on it."""
    graphql_schema = build_schema(ROWS)
    graphql_schema.query_type.fields["rows"].resolve = lambda *_: [{"gone": "g", "size": 5}]  # type: ignore[union-attr]
    options = {"middleware": [lambda step, *given, **more: step(*given, **more)]}
    schema = gqlnb.Schema.adopt(graphql_schema, **options if way == "middleware" else {})
    if way == "client":
        return graphql_schema, gqlnb.Client(schema).execute
    if way == "limits":
        return graphql_schema, lambda text: schema.execute(text, limits=gqlnb.Limits())
    return graphql_schema, schema.execute


@pytest.mark.parametrize("runs", [0, 1, 6])
@pytest.mark.parametrize("way", ["schema", "limits", "client", "middleware"])
def test_documents_are_validated_again_after_a_change(way, runs):
    """A field that is gone is refused rather than left out; a new one is accepted."""
    changed, execute = make_client(way)
    gone, new, size = "{ rows { gone } }", "{ rows { new } }", "{ rows { size } }"
    with pytest.raises(gqlnb.QueryError, match="new"):
        execute(new)
    for _ in range(runs):
        assert execute(gone).data == {"rows": [{"gone": "g"}]}
        assert str(execute(size).df["size"].dtype) == "Int64"
    change_rows(changed)
    for _ in range(3):
        with pytest.raises(gqlnb.QueryError, match="gone"):
            execute(gone)
        assert execute(new).data == {"rows": [{"new": "hey"}]}
        assert execute(size).df["size"].tolist() == ["5"]


def test_documents_that_were_not_executed_are_validated_again():
    """Parsed before a change, by name or in the hands of the caller."""
    schema = gqlnb.Schema(ROWS)
    text = "{ rows { gone } }"
    document = schema.parse_document(text)
    assert schema.parse_document(text) is document
    change_rows(schema.graphql)
    for execute in (schema.execute, schema.explain, schema.profile, schema.parse_document):
        with pytest.raises(gqlnb.QueryError, match="gone"):
            execute(text)
    with gqlnb.Client(schema) as client, pytest.raises(gqlnb.QueryError, match="gone"):
        client.execute(document)


def test_parts_that_were_not_executed_are_validated_again():
    """An object was null until its type lost a field."""
    schema = gqlnb.Schema(ROWS)
    for _ in range(6):
        assert schema.execute("{ rows { gone } }").data == {"rows": None}
    change_rows(schema.graphql)
    with pytest.raises(gqlnb.QueryError, match="gone"):
        schema.execute("{ rows { gone } }", root={"rows": [{}]})
