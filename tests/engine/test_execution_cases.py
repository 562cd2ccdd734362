"""Our executor and graphql-core's, side by side, on cases that are easily got wrong.

Each test executes the same thing with both and compares data, key order, leaf types, errors with
all they tell, and what is raised. Ours executes it more than once, since it remembers its plans.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    build_schema,
    parse,
)
from graphql.pyutils import Undefined

from tests.engine.comparison import rooted, same
from tests.property.differential import rows, values

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]


# Selections

PEOPLE = """
interface Named { name: String }
interface Aged implements Named { name: String age: Int }
type Cat implements Aged & Named { name: String age: Int lives: Int friend(of: Int = 1): Named }
type Dog implements Named { name: String barks: Boolean friend(of: Int = 1): Named }
union Pet = Cat | Dog
type Query {
  a: Int b: Int c: Int echo(x: Int): Int cat: Cat named: Named aged: Aged pet: Pet pets: [Pet!]
}
type Mutation { a: Int cat: Cat }
"""
CAT = {"__typename": "Cat", "name": "Tom", "age": 3, "lives": 9}
DOG = {"__typename": "Dog", "name": "Rex", "barks": True}
ROOT = {"a": 1, "b": 2, "c": 3, "cat": {**CAT, "friend": DOG}, "named": DOG, "aged": CAT}
ROOT |= {"pet": DOG, "pets": [CAT, DOG], "echo": lambda info, x=None: x}
SELECTIONS = {
    "order": "{ c a b }",
    "order of merged": "{ c ...F a c ...F b } fragment F on Query { b a }",
    "merged copies": "{ cat { name } cat { age } a cat { name lives } }",
    "merged through fragments": (
        "{ ...F cat { age } ... { cat { lives } } } fragment F on Query { cat { name } }"
    ),
    "aliases": "{ x: a y: a a x: a }",
    "aliases with arguments": "{ x: echo(x: 1) y: echo(x: 2) echo }",
    "alias that hides": "{ a: b b: a }",
    "conflicting copies": "{ x: a x: b x: echo(x: 5) }",
    "conflicting objects": "{ x: cat { name } x: named { name ... on Dog { barks } } }",
    "typename": "{ __typename t: __typename cat { __typename } pet { __typename } }",
    "typename only": "{ pets { __typename } named { n: __typename } }",
    "fragment on an interface": "{ pets { ... on Named { name } ... on Aged { age } } }",
    "fragment on a union": "{ named { ... on Pet { ... on Dog { barks } __typename } } }",
    "fragment that never fits": "{ cat { ... on Dog { barks } name } }",
    "fragment without type": "{ ... { a ... { b } } }",
    "fragments in fragments": (
        "{ ...A } fragment A on Query { a ...B } fragment B on Query { ...C b }"
        "fragment C on Query { c a }"
    ),
    "fragment twice": (
        "{ cat { ...F ...F friend { ...N ...N } } } fragment F on Cat { name ...N }"
        "fragment N on Named { name }"
    ),
    "fragment cycle": "{ cat { ...F } } fragment F on Cat { name ...F friend { ...F name } }",
    "unknown field": "{ nope a nope { x } cat { nope name } }",
    "unknown fragment": "{ ...Nope a ... on Nope { a } ... on Int { a } }",
    "selections of a leaf": "{ a { b } }",
    "no selections": "{ cat pets }",
    "nothing in the end": "{ cat { ... on Dog { barks } } pets { nope } }",
    "introspection in the middle": "{ cat { __schema { __typename } name } }",
    "schema": "{ __schema { queryType { name } mutationType { name } directives { name } } }",
    "type": (
        '{ __type(name: "Cat") { name fields { name args { name defaultValue } } } '
        'n: __type(name: "No") { name } }'
    ),
    "names of dict": "{ __typename }",
    "mutation": "mutation { a cat { name } }",
    "subscription that is not there": "subscription { a }",
    "several operations": "query A { a } query B { b }",
    "only fragments": "fragment F on Query { a }",
    "anonymous beside named": "{ a } query B { b }",
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_are_merged_as_in_the_reference(name: str) -> None:
    """Fields have the order of the document."""
    same(PEOPLE, SELECTIONS[name], lambda: {"root_value": ROOT})


@pytest.mark.parametrize("asked", [None, "A", "B", "C", ""])
def test_the_operation_is_chosen_by_name(asked: str | None) -> None:
    """A name picks the operation; a wrong one and a missing one are errors."""
    for text in ("query A { a } query B { b } mutation C { a }", "query A { a }", "{ a }"):
        same(PEOPLE, text, lambda: {"root_value": ROOT, "operation_name": asked})


CONDITIONS = (
    "true",
    "false",
    "$yes",
    "$no",
    "$null",
    "$missing",
    "$default",
    "$wrong",
    "1",
    "null",
)
DECLARED = (
    "$yes: Boolean!, $no: Boolean!, $null: Boolean, $missing: Boolean, $default: Boolean = true"
)


@pytest.mark.parametrize("place", ["a {}", "... {} {{ a }}", "... on Query {} {{ a }}", "...F {}"])
def test_skip_and_include_apply_at_every_position(place: str) -> None:
    """@skip takes precedence."""
    directives = [f"@{name}(if: {value})" for name in ("skip", "include") for value in CONDITIONS]
    directives += ["@skip", "@nope", "@nope(if: false)", "@skip(if: true) @skip(if: false)"]
    directives += [" ".join(pair) for pair in itertools.product(directives[:6], directives[10:16])]
    given = {"yes": True, "no": False, "null": None}
    for directive in directives:
        body = f"{{ b {place.format(directive)} cat {{ name }} }} fragment F on Query {{ a }}"
        text = f"query ({DECLARED}) {body}"
        same(PEOPLE, text, lambda: {"root_value": ROOT, "variable_values": dict(given)})


def test_directives_are_evaluated_for_each_set_of_variables() -> None:
    """Cached plans contain no variable values."""
    schema, document = (
        build_schema(PEOPLE),
        parse("query ($v: Boolean!) { a @include(if: $v) b @skip(if: $v) }"),
    )
    for value in (True, False, True, None):
        same(schema, document, lambda v=value: {"root_value": ROOT, "variable_values": {"v": v}})


# Arguments

KEYWORDS = ("class", "from", "self", "info", "source", "lambda", "None", "x")
BOX = GraphQLInputObjectType(
    "Box",
    lambda: {
        "a": GraphQLInputField(GraphQLInt, default_value=5),
        "from": GraphQLInputField(GraphQLString, out_name="from_"),
        "need": GraphQLInputField(GraphQLNonNull(GraphQLInt)),
        "boxes": GraphQLInputField(GraphQLList(GraphQLNonNull(BOX))),
    },
)
ONLY = GraphQLInputObjectType(
    "Only",
    {"x": GraphQLInputField(GraphQLInt), "y": GraphQLInputField(GraphQLString)},
    is_one_of=True,
)
DEPTH = GraphQLEnumType("Depth", {"ONE": 1, "LIST": [1, 2], "DICT": {"a": 1}, "NAME": None})


def echoing(**types: Any) -> GraphQLSchema:
    """Return a schema with a field that tells its arguments."""
    args = {
        name: kind if isinstance(kind, GraphQLArgument) else GraphQLArgument(kind)
        for name, kind in types.items()
    }
    field = GraphQLField(GraphQLString, args, resolve=lambda _s, _i, /, **given: repr(given))
    return GraphQLSchema(GraphQLObjectType("Query", {"echo": field}))


@pytest.mark.parametrize("name", KEYWORDS)
def test_arguments_may_have_any_name(name: str) -> None:
    """Names that are keywords of Python, or those of the resolver's parameters, are passed on."""
    schema = echoing(**{name: GraphQLInt, "other": GraphQLArgument(GraphQLInt, out_name="out")})
    same(schema, f"{{ echo({name}: 1, other: 2) }}")
    for resolve in (lambda source, info, **args: repr(args), lambda source, info: "none"):
        schema.query_type.fields["echo"].resolve = resolve
        same(schema, f"{{ echo({name}: 1) e: echo }}")


@pytest.mark.parametrize(
    "name", [*KEYWORDS, "__debug__", "not a name", "\N{GREEK SMALL LETTER MU}"]
)
def test_resolvers_get_arguments_by_any_python_name(name: str) -> None:
    """Also by one that no call in Python can have."""
    schema = echoing(a=GraphQLArgument(GraphQLInt, out_name=name), b=GraphQLInt)
    same(schema, "query ($v: Int = 2) { echo(a: 1, b: 2) e: echo(b: 3) v: echo(a: $v) }")


ARGUMENTS = {
    "nothing": "{ echo }",
    "null": "{ echo(a: null, d: null, b: null) }",
    "null where it may not be": "{ echo(n: null) }",
    "default replaced by null": "query ($v: Int) { echo(d: $v) }",
    "variable for a default": "query ($v: Int = 8) { echo(d: $v, a: $v) }",
    "variable that is missing": "query ($v: Int) { echo(n: $v, a: $v) }",
    "variable that is not declared": "{ echo(a: $v, n: $w, l: [$v], b: {need: 1, a: $v}) }",
    "variable in a list": "query ($v: Int, $w: Int = 3) { echo(l: [1, $v, $w, null]) }",
    "variable in an object": (
        "query ($v: Int, $w: Int = 3) { echo(b: {need: $w, a: $v, boxes: [{need: $w}]}) }"
    ),
    "list of one": "{ echo(l: 5, b: {need: 1, boxes: {need: 2}}) }",
    "wrong list": '{ echo(l: ["x"]) }',
    "object that lacks a field": "{ echo(b: {a: 1}) }",
    "object with another field": "{ echo(b: {need: 1, zz: 1}) }",
    "object as list": "{ echo(b: [{need: 1}]) }",
    "one of": '{ echo(o: {x: 1}) a: echo(o: {y: "s"}) }',
    "one of, wrong": '{ echo(o: {}) a: echo(o: {x: 1, y: "s"}) b: echo(o: {x: null}) }',
    "one of, by variables": (
        "query ($v: Int, $w: Int = 1) { a: echo(o: {x: $v}) b: echo(o: {x: $w}) }"
    ),
    "enum": "{ echo(e: ONE) a: echo(e: LIST) b: echo(e: DICT) c: echo(e: NAME) d: echo(e: NOPE) }",
    "enum by default": "query ($e: Depth = LIST) { echo(e: $e) x: echo }",
    "wrong kinds": '{ a: echo(a: "1") b: echo(a: 1.5) c: echo(a: 99999999999) d: echo(e: "ONE") }',
    "big": "{ echo(a: 2147483647) x: echo(a: -2147483648) y: echo(a: 2147483648) }",
    "argument twice": "{ echo(a: 1, a: 2) }",
    "argument that is not there": "{ echo(zz: 1, a: 2) }",
}
GIVEN: tuple[Any, ...] = (
    None,
    {},
    {"v": None},
    {"v": 1},
    {"v": "x"},
    {"v": 2**40},
    {"w": 7, "zz": 1},
)
GIVEN += ({"e": "ONE"}, {"e": "NOPE"}, {"e": None}, {"e": 1})


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_coerced_as_in_the_reference(name: str) -> None:
    """With defaults and errors, for all variables."""
    default = GraphQLArgument(GraphQLInt, default_value=42)
    never = GraphQLArgument(GraphQLNonNull(GraphQLInt), default_value=7)
    chosen = GraphQLArgument(DEPTH, default_value=[1, 2])
    schema = echoing(
        a=GraphQLInt, d=default, n=never, l=GraphQLList(GraphQLInt), b=BOX, o=ONLY, e=chosen
    )
    for given in GIVEN:
        same(schema, ARGUMENTS[name], lambda g=given: {"variable_values": g})
        same(
            schema,
            ARGUMENTS[name],
            lambda g=given: {"variable_values": g, "hide_suggestions": True},
        )


VARIABLES = """
query ($i: Int!, $l: [Int!]!, $b: Box, $o: Only, $e: Depth = ONE) {
  echo(a: $i, l: $l, b: $b, o: $o, e: $e)
}
"""


@pytest.mark.parametrize("name", ["i", "l", "b", "o", "e", "all"])
def test_invalid_variables_give_the_errors_of_the_reference(name: str) -> None:
    """The same messages, order and maximum number."""
    schema = echoing(a=GraphQLInt, l=GraphQLList(GraphQLInt), b=BOX, o=ONLY, e=DEPTH)
    document = parse(VARIABLES)
    right = {"i": 1, "l": [1], "b": {"need": 1}, "o": {"x": 1}, "e": "ONE"}
    for wrong in (*values.ODD, {"need": "x", "zz": [1]}, {"x": 1, "y": "s"}):
        given = dict.fromkeys(right, wrong) if name == "all" else {**right, name: wrong}
        for most in (0, 1, 2, 50):
            options = {"variable_values": given, "max_coercion_errors": most}
            same(schema, document, lambda o=options: o)


# Leaves and lists


@pytest.mark.parametrize("scalar", values.BUILTIN)
def test_leaves_are_serialised_as_in_the_reference(scalar: str) -> None:
    """Every scalar accepts and refuses the same unusual values."""
    schema = build_schema(f"type Query {{ x: {scalar} y: {scalar}! z: [{scalar}!] }}")
    pool = (*values.ODD, *itertools.chain(*values.GOOD.values(), *values.ODD_FOR.values()))
    pool += (None, Undefined, 2**31 - 1, 2**30, -(2**30) - 1, -(2**31), -(2**31) - 1)
    for value in pool:
        same(schema, "{ x y z }", rooted(x=value, y=value, z=[value, value]))


def custom(**functions: Any) -> GraphQLSchema:
    """Return a schema with a scalar of one's own."""
    scalar = GraphQLScalarType("Own", **functions)
    fields = {"x": GraphQLField(scalar), "y": GraphQLField(GraphQLNonNull(GraphQLList(scalar)))}
    return GraphQLSchema(GraphQLObjectType("Query", fields))


def refuse(value: Any) -> Any:
    """Fail in one of many ways."""
    if isinstance(value, int):
        raise values.ERRORS[value]()
    return value


SERIALIZERS: dict[str, Callable[[Any], Any]] = {
    "raises": refuse,
    "returns None": lambda value: None,
    "returns Undefined": lambda value: Undefined,
    "returns an exception": lambda value: ValueError("returned"),
    "returns what it likes": lambda value: {"tuple": (1,), "set": {2}, "list": [None]},
    "takes nothing": lambda: 1,
}


@pytest.mark.parametrize("name", SERIALIZERS)
def test_custom_scalar_errors_equal_the_reference(name: str) -> None:
    """A scalar that raises or returns None."""
    schema = custom(serialize=SERIALIZERS[name])
    for value in range(len(values.ERRORS)):
        same(schema, "{ x y }", rooted(x=value, y=["fine", value]))


@pytest.mark.parametrize("names_as_values", [False, True, None])
def test_enums_with_values_that_can_not_be_hashed(names_as_values: bool | None) -> None:
    """Enums find their names by value, also for lists and dicts, and by equality."""
    planet = GraphQLEnumType("Planet", values.Planet, names_as_values=names_as_values)
    fields = {"x": GraphQLField(DEPTH), "y": GraphQLField(planet)}
    schema = GraphQLSchema(GraphQLObjectType("Query", fields))
    for value in (*values.ODD, *values.ODD_FOR["Depth"], [1, 2], {"a": 1}, "EARTH", "earth"):
        same(schema, "{ x y }", rooted(x=value, y=value))


MAKERS = (*values.LISTS, *values.ODD_LISTS)


@pytest.mark.parametrize("make", MAKERS, ids=range(len(MAKERS)))
@pytest.mark.parametrize("kind", ["[Int]", "[Int!]", "[Int!]!", "[[Int]]", "[A]", "[A!]!"])
def test_lists(make: Callable[[list[Any]], Any], kind: str) -> None:
    """Any iterable is a list, strings and mappings are none, and an iterator may fail midway."""
    schema = build_schema(f"type Query {{ x: {kind} }} type A {{ i: Int! }}")
    text = "{ x { i } }" if "A" in kind else "{ x }"
    for items in (
        [1, 2, 3],
        [],
        [None, 1],
        [[1], [2]],
        [{"i": 1}, {"i": None}],
        [ValueError("in")],
    ):
        same(schema, text, lambda i=items: {"root_value": {"x": make(list(i))}})


# Objects


@pytest.mark.parametrize("kind", [*rows.MAPPINGS, *rows.ATTRIBUTES])
def test_rows_of_every_kind(kind: str) -> None:
    """Dicts, mappings and objects of all kinds are read alike, one after another in one list."""
    schema = build_schema(
        "type Query { row: Row! rows: [Row] }"
        "type Row { name: String get: Int items: [Int] m(x: Int): Int no: Int }"
    )

    def make() -> dict[str, Any]:
        def row(kind: str) -> Any:
            method = lambda info, x=0: x + 1  # noqa: E731
            data: dict[str, Any] = {"name": "n", "get": 1, "items": [1, 2], "m": method}
            if kind == "methods":
                data = {key: lambda info, value=value: value for key, value in data.items()}
            return rows.build(kind, data, {}, None)[0]

        mixed = [row("dict"), row(kind), row("plain"), row("slots"), row(kind), row("dict")]
        return {"root_value": {"row": row(kind), "rows": mixed}}

    same(schema, "{ row { name get items m(x: 4) no } rows { no m name items } }", make)


@pytest.mark.parametrize("kind", rows.THORNY)
def test_rows_that_raise(kind: str) -> None:
    """An attribute that raises fails its field only; AttributeError may mean: not there."""
    schema = build_schema("type Query { rows: [Row] } type Row { a: Int b: Int! }")
    for error in (
        ValueError("v"),
        AttributeError("a"),
        KeyError("k"),
        GraphQLError("g"),
        StopIteration(1),
    ):

        def make(error: Exception = error) -> dict[str, Any]:
            thorny = [rows.build(kind, {"a": 1, "b": 2}, {name: error}, None)[0] for name in "ab"]
            return {"root_value": {"rows": thorny}}

        same(schema, "{ rows { a } }", make)
        same(schema, "{ rows { a b } }", make)


def test_objects_that_are_none() -> None:
    """A number, a string or a function in place of an object has no fields, or those it has."""
    schema = build_schema(
        "type Query { x: Row } type Row { real: Int title: String count: Int name: String }"
    )
    for wrong in (*values.WRONG_OBJECTS, object, print, ...):
        same(schema, "{ x { real title count name __typename } }", rooted(x=wrong))


# Errors and nulls

NESTED = """
type Query { a: A b: A! list: [A] sure: [A!] strict: [[A!]!]! }
type A { x: Int y: Int! a: A b: A! list: [A] sure: [A!] strict: [[A!]!]! e: String! }
"""


@pytest.mark.parametrize("number", range(len(values.ERRORS)))
def test_errors_raised_and_returned(number: int) -> None:
    """Every exception makes the reference's error, raised or returned, above and below nulls."""
    schema = build_schema(NESTED)

    def make() -> dict[str, Any]:
        def fail(info: Any, **_: Any) -> Any:
            raise values.ERRORS[number]()

        leaf = {"x": 1, "y": fail, "e": values.ERRORS[number]()}
        row = {
            "x": fail,
            "y": 2,
            "a": leaf,
            "b": {"x": fail, "y": 1},
            "list": [leaf, {"y": 1}, fail],
        }
        return {"root_value": {"a": row, "b": row, "list": [row, values.ERRORS[number](), None]}}

    for body in ("x", "y a { x y } b { x y }", "list { x y } x", "a { e } b { y x } x"):
        same(schema, f"{{ a {{ {body} }} list {{ {body} }} }}", make)
        same(schema, f"{{ a {{ x }} b {{ {body} }} }}", make)


ROWS: tuple[Any, ...] = (None, {"y": None}, {"y": 1}, 5)
SHAPES = ("a", "b", "list", "sure", "strict")


@pytest.mark.parametrize(("outer", "inner"), [*itertools.product(SHAPES, SHAPES)])
def test_null_propagates_to_the_nearest_nullable_parent(outer: str, inner: str) -> None:
    """Through lists and objects, with one error."""

    def wrapped(shape: str, row: Any) -> Any:
        right = {"y": 1, "a": {"y": 1}, "b": {"y": 1}, "list": [], "sure": [], "strict": [[]]}
        rows_ = [right, row, right]
        return {"a": row, "b": row, "list": rows_, "sure": rows_, "strict": [[right], rows_]}[shape]

    text = f"{{ {outer} {{ y {inner} {{ x y }} z: y }} }}"
    for row in ROWS:
        inside = {"y": 1, inner: wrapped(inner, row)}
        same(NESTED, text, rooted(**{outer: wrapped(outer, inside)}))


def test_one_exception_in_many_places() -> None:
    """An exception that is raised again and again is located anew each time."""
    for error in (
        ValueError("one"),
        GraphQLError("two", extensions={"a": 1}),
        GraphQLError("3", path=["p"]),
    ):
        shared = {"a": error, "list": [error, error, {"y": error}], "b": {"y": 1, "x": error}}
        same(NESTED, "{ a { x } list { y } b { x y } }", rooted(**shared))


def test_errors_have_the_order_of_the_reference() -> None:
    """3.2 sorts errors by location, 3.3 does not sort."""
    rows_ = [{"x": ValueError(f"{n}"), "y": n, "e": f"{n}"} for n in range(12)]
    text = "{ z: list { e ...F } a: list { y x } } fragment F on A { x }"
    same(NESTED, text, rooted(list=rows_))


class Stop(BaseException):
    """Not an exception."""


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_base_exceptions_are_not_caught(error: type[BaseException]) -> None:
    """A KeyboardInterrupt ends the execution."""

    def fail(info: Any) -> Any:
        raise error

    assert same(NESTED, "{ a { x } }", rooted(a={"x": fail})) == (error, "")
