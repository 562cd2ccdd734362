"""Shapes of adopted schemas by chance: our executor answers and calls exactly as graphql-core does.

Each case is a list of rows long enough to be compiled at once. Most of its rows are of one kind,
with a few of any other kind, and most of its values are usual.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import OrderedDict, UserDict
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import graphql
import pytest
from graphql import build_schema, parse

from gqlnb import engine
from tests.engine.comparison import metered, seen, turn

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(8)
SDL = """
scalar JSON
enum Size { SMALL LARGE }
input Filter { text: String! size: Size = SMALL }
type Query { rows: [Row] sure: [Row!]! one: Row }
type Row { id: ID sized(size: Int): Int needed(size: Int!): Int!
  named(size: Int = 3, by: Size): String
  posts(first: Int = 2, filter: Filter, ids: [ID!]): [Post!]
  post(filter: Filter): Post data: JSON sureData: JSON! count: Int items: [JSON] }
type Post { title: String! }
"""


class Proxy:
    """An object that finds its attributes in a dict."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None


class Shouting(UserDict[str, Any]):
    """A mapping that computes and refuses items."""

    def __getitem__(self, name: str) -> Any:
        value = self.data[name]
        if value == 7:
            msg = "seven"
            raise ValueError(msg)
        return value


def select(**values: Any) -> Any:
    """Return a row of SQLAlchemy."""
    result = pytest.importorskip("sqlalchemy.engine.result")
    names = result.SimpleResultMetaData([*values])
    return result.IteratorResult(names, iter([(*values.values(),)])).one()


KINDS: list[Callable[..., Any]] = [
    dict,
    SimpleNamespace,
    OrderedDict,
    Proxy,
    lambda **values: UserDict(values),
    lambda **values: Shouting(values),
    lambda **values: MappingProxyType(values),
    select,
    lambda **values: select(**values)._mapping,
]


class World:
    """Values by chance, and what was called, in order."""

    def __init__(self, seed: int, calm: float = 0.9) -> None:
        self.random = Random(seed)
        self.calm = calm
        self.kind = self.random.choice(KINDS)
        self.calls: list[Any] = []

    def make_row(self, **members: Any) -> Any:
        """Return a row of most often the same kind, without some of its members."""
        chance = self.random
        kind = self.kind if chance.random() < self.calm else chance.choice(KINDS)
        return kind(**{k: v for k, v in members.items() if chance.random() < 0.97})

    def choose(self, usual: Any) -> Any:
        """Return a usual value; sometimes null, an exception, a function, or a wrong value."""
        chance = self.random
        if chance.random() < self.calm:
            return usual
        return chance.choice(
            [
                None,
                "text",
                float("nan"),
                ValueError("bad"),
                graphql.GraphQLError("worse", extensions={"code": 1}),
                object,
                self.note,
                self.fail,
                {"title": 1},
                [usual, None],
                7,
            ]
        )

    def note(self, info: Any, **arguments: Any) -> Any:
        """Answer as a method of a row."""
        self.calls.append((info.field_name, info.path.as_list(), arguments))
        return 5

    def fail(self, info: Any, **arguments: Any) -> Any:
        """Fail as a method of a row."""
        self.calls.append((info.field_name, info.path.as_list(), arguments))
        msg = "method"
        raise LookupError(msg)


def compare(
    schema: Any,
    query: str,
    make: Callable[[], tuple[World, Any]],
    wrap: Callable[[Any], Any] | None = None,
    **given: Any,
) -> None:
    """Assert that executions say and call the same, the first time and later."""
    document = parse(query)
    told = []
    for execute in (graphql.execute, engine.execute, engine.execute, metered, metered):
        world, root = make()
        world.calls.clear()
        executor = execute if wrap is None else wrap(execute)
        answer = seen(executor, schema, document, {"root_value": root, **given})
        told.append((answer, [*world.calls]))
    for other in told[1:]:
        assert other == told[0]


VARIABLES: list[dict[str, Any]] = [
    {"size": 3, "first": 1, "filter": {"text": "x"}, "by": "LARGE", "ids": ["1"]},
    {"size": None, "first": None},
    {},
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variables", VARIABLES, ids=["given", "null", "missing"])
def test_fields_with_arguments_are_looked_up_alike(seed, variables):
    """By variables, and by literals that each call gets anew; an invalid one fails in each row."""
    query = """
    query ($size: Int, $first: Int, $filter: Filter, $by: Size, $ids: [ID!]) {
      rows {
        id sized(size: $size) needed(size: $size) named(by: $by) posts(first: $first) { title }
        listed: posts(ids: ["a", "b"]) { title } post(filter: {text: "y"}) { title }
        filtered: posts(filter: $filter, ids: $ids) { title } same: sized(size: $size)
      }
    }
    """

    def make() -> tuple[World, Any]:
        world = World(seed)
        rows = [
            world.make_row(
                id=n,
                sized=world.choose(n),
                needed=world.choose(n),
                named=world.choose("name"),
                posts=world.choose([world.make_row(title="a"), world.make_row(title="b")]),
                post=world.choose(world.make_row(title="c")),
            )
            for n in range(70)
        ]
        return world, {"rows": rows}

    compare(build_schema(SDL), query, make, variable_values=variables)


@pytest.mark.parametrize("seed", SEEDS)
def test_json_and_rows_of_libraries_are_answered_alike(seed):
    """JSON of dicts, lists and leaves; rows of SQLAlchemy, of which a column may be ``count``."""
    query = "{ rows { id data sureData count items } sure { id data } one { count data } }"
    samples: list[Any] = [{"a": [1, None]}, ["x"], OrderedDict(a=1), (1,), {1}, 1.5, None, "x"]

    def make() -> tuple[World, Any]:
        world = World(seed)
        usual = world.random.choice(samples[:2])

        def make_row(n: int) -> Any:
            return world.make_row(
                id=n,
                data=world.choose(world.random.choice([usual, usual, *samples])),
                sureData=world.choose(usual),
                count=world.choose(n),
                items=world.choose(samples),
            )

        rows = [make_row(n) for n in range(70)]
        return world, {"rows": rows, "sure": rows[:66], "one": rows[0]}

    compare(build_schema(SDL), query, make)


TYPED_SDL = """
interface Node { id: ID! }
union Any = A | B
type Query { rows: [A] sure: [A!]! one: A nodes: [Node!] named: [Node] anys: [Any] }
type A implements Node { id: ID! name: String next: A sure: A! later(size: Int): A }
type B implements Node { id: ID! other: B }
"""
TYPED_TEXT = """
query ($size: Int, $yes: Boolean = true) {
  rows { id name next { name later(size: $size) { id } } sure { id } }
  sure { id next { id @include(if: $yes) } } one { id next { next { id } } }
  nodes { id ... on A { name next { id } } ... on B { other { id } } }
  named { id ... on A { name } } anys { ... on A { id } ... on B { id other { id } } }
}
"""


class Predicate:
    """The ``is_type_of`` of a type: it has odd answers for some objects, and awaitable ones."""

    def __init__(self, name: str, calls: list[Any], odd: set[int], *, later: bool) -> None:
        self.name = name
        self.calls = calls
        self.odd = odd
        self.later = later

    def __call__(self, value: Any, info: Any) -> Any:
        """Answer, and note the call."""
        key = value["id"] if isinstance(value, dict) else value.id
        # graphql-core calls a predicate that has returned True in a resolution once more.
        call = (self.name, key, info.field_name, str(info.path.as_list()))
        if not self.calls or self.calls[-1] != call:
            self.calls.append(call)
        if key in self.odd and key % 4 == 3:
            raise ValueError(key)
        if key in self.odd:
            return (0, None, "yes")[key % 4]
        expected = "B" if info.field_name == "nodes" and key % 5 == 0 else "A"
        answer = self.name == expected
        return turn(answer) if self.later and key % 3 == 0 else answer


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
def test_types_with_predicates_are_answered_alike(seed, later):
    """Each predicate is called once for an object, in order; its answer may be any, or awaited."""
    schema: Any = build_schema(TYPED_SDL)
    calls: list[Any] = []
    chance = Random(seed)
    # The errors of objects that are awaited at once may come in any order.
    odd = set() if later else {chance.randrange(70) for _ in range(chance.choice([0, 3, 9]))}
    for name in "AB":
        schema.type_map[name].is_type_of = Predicate(name, calls, odd, later=later)
    schema.type_map["Any"].resolve_type = lambda *_: "B" if calls and odd else "A"

    def make() -> tuple[World, Any]:
        world = World(seed, calm=0.97)
        world.kind = (dict, SimpleNamespace, Proxy)[seed % 3]
        world.calls = [] if later else calls

        def make_row(n: int, depth: int = 2) -> Any:
            below = make_row(n + 1, depth - 1) if depth else None
            kind = world.kind if world.random.random() < world.calm else SimpleNamespace
            return kind(id=n, name=f"n{n}", next=below, sure=below, later=below, other=None)

        rows = [make_row(n) for n in range(70)]
        lists = dict.fromkeys(("rows", "nodes", "named", "anys"), rows)
        return world, {**lists, "sure": rows[:3], "one": rows[4]}

    wrap = await_alone if later else None
    compare(schema, TYPED_TEXT, make, wrap=wrap, variable_values={"size": 1})


def await_alone(execute: Callable[..., Any]) -> Callable[..., Any]:
    """Return an executor that awaits results in an event loop of its own."""

    def call(*given: Any, **options: Any) -> Any:
        async def wait() -> Any:
            found = execute(*given, **options)
            return await found if inspect.isawaitable(found) else found

        return asyncio.run(wait())

    return call


FAULTY_SDL = """
enum Size { SMALL LARGE }
type Query { rows: [Row] sure: [Row!] must: [Must] strict: [Must!]! }
type Row { id: ID name: String! count: Int size: Size ratio: Float open: Boolean tags: [String!]
  parts: [[Int]!] must: Must deep: Must! }
type Must { value: Int! name: String! below: Must tags: [Int!]! }
"""
FAULTY_TEXT = """
{
  rows { id name count size ratio open tags parts must { value below { name } } }
  sure { id deep { name value } } must { value name tags } strict { tags below { tags } }
}
"""


class Text(str):
    """Text of another class."""


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_in_rows_are_alike(seed):
    """Values that cannot be serialized, nulls, and exceptions, at nullable positions and others."""
    faults: list[Any] = [
        None,
        graphql.Undefined,
        "many",
        Text("x"),
        float("inf"),
        2**40,
        [],
        {},
        KeyError("k"),
        True,
    ]

    def make() -> tuple[World, Any]:
        world = World(seed, calm=0.97)
        chance = world.random

        def fail_at_times(usual: Any) -> Any:
            return chance.choice(faults) if chance.random() < 0.1 else world.choose(usual)

        def make_must(depth: int = 1) -> Any:
            below = make_must(depth - 1) if depth else None
            return world.make_row(
                value=fail_at_times(1),
                name=fail_at_times("x"),
                below=below,
                tags=fail_at_times([1]),
            )

        def make_row(n: int) -> Any:
            return world.make_row(
                id=fail_at_times(n),
                name=fail_at_times("name"),
                count=fail_at_times(n),
                size=fail_at_times("SMALL"),
                ratio=fail_at_times(0.5),
                open=fail_at_times(False),
                tags=fail_at_times(["a", fail_at_times("b")]),
                parts=fail_at_times([[1, fail_at_times(2)], fail_at_times([3])]),
                must=fail_at_times(make_must()),
                deep=fail_at_times(make_must()),
            )

        rows = [make_row(n) for n in range(70)]
        must = [make_must() for _ in range(70)]
        return world, {"rows": rows, "sure": rows, "must": must, "strict": must}

    compare(build_schema(FAULTY_SDL), FAULTY_TEXT, make)
