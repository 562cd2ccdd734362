"""Errors of compiled code are graphql-core's, and those of rows from iterators and mutations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import graphql
import pytest
from graphql import GraphQLError, Source, build_schema, parse

from gqlnb.engine.compiler import plans
from tests.engine.comparison import OURS, told

SDL = """
type Query { rows: [Row] sure: [Row!] deep: [[Row]] numbers: [Int!] }
type Row { id: Int fail: Int must: Int! }
type Mutation { first: Int second: Row third: Int! lookup(a: Int): Int }
"""


class OwnError(Exception):
    """An exception with members that graphql-core copies."""

    message = "from the class"


class SlyError(Exception):
    """An exception that answers to every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return {"extensions": {"code": 1}, "message": "sly"}.get(name)


class TextError(Exception):
    """An exception whose text can't be built."""

    def __str__(self) -> str:
        msg = "no text"
        raise ValueError(msg)


def with_members(**members: Any) -> Exception:
    """Return an exception with members of its own."""
    error = ValueError("text")
    vars(error).update(members)
    return error


def caused() -> Exception:
    """Return an exception with a cause."""
    error = KeyError("key")
    error.__cause__ = ValueError("cause")
    return error


ERRORS: dict[str, Callable[[], Exception]] = {
    "plain": lambda: LookupError("not found"),
    "empty": LookupError,
    "key": lambda: KeyError("key"),
    "operating system": lambda: OSError(2, "No such file", "name"),
    "cause": caused,
    "members": lambda: with_members(extensions={"code": "X"}, message=7),
    "path": lambda: with_members(path=["other"]),
    "nodes": lambda: with_members(nodes=[], positions=[1], source="text"),
    "class": OwnError,
    "sly": SlyError,
    "text": TextError,
    "graphql": lambda: GraphQLError("refused"),
    "extensions": lambda: GraphQLError("refused", extensions={"code": "X"}),
    "located": lambda: GraphQLError("refused", path=["a"]),
    "source": lambda: GraphQLError("refused", source=Source("{ a }"), positions=[2]),
}


@pytest.mark.parametrize("text", ["{ rows { id fail } }", "{ deep { must } }", "{ sure { must } }"])
@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_every_detail_of_graphql_core(name, raised, text):
    """Message, path, nodes, locations, original exception and extensions, and their order."""
    schema = build_schema(SDL)

    def fail(_source: Any, _info: Any) -> Any:
        error = ERRORS[name]()
        if raised:
            raise error
        return error

    for field in ("fail", "must"):
        schema.type_map["Row"].fields[field].resolve = fail  # type: ignore[attr-defined]
    rows = [{"id": n} for n in range(3)]
    root = {"rows": rows, "sure": rows, "deep": [rows, rows]}
    assert_same(schema, text, root)


def assert_same(schema: Any, text: str, root: Any) -> None:
    """Assert that three executions of both executors tell what graphql-core's tells."""
    document = parse(text)
    want = graphql.execute(schema, document, root)
    for execute in OURS:
        for _ in range(3):
            got = execute(schema, document, root)
            assert told(got) == told(want)
            for mine, theirs in zip(got.errors or (), want.errors or (), strict=True):
                assert type(mine.original_error) is type(theirs.original_error)
                assert (mine.__cause__ is None) == (theirs.__cause__ is None)
                assert (mine.__traceback__ is None) == (theirs.__traceback__ is None)
                assert str(mine) == str(theirs)


class Endless:
    """An iterable that is no iterator, and ends after three rows."""

    def __iter__(self) -> Iterator[Any]:
        return iter([{"id": 1}, None, {"id": 2, "must": 3}])


def broken(count: int) -> Iterator[Any]:
    """Yield rows, then fail."""
    for number in range(count):
        yield {"id": number, "must": number or None}
    msg = "broken"
    raise OSError(msg)


ROWS: dict[str, Callable[[], Any]] = {
    "generator": lambda: ({"id": n, "must": n} for n in range(4)),
    "empty": lambda: iter(()),
    "map": lambda: map(dict, [{"id": 1}, {"id": 2}]),
    "iterable": Endless,
    "broken at once": lambda: broken(0),
    "broken": lambda: broken(3),
    "mixed": lambda: iter([{"id": 1}, ValueError("row"), None, 7, Endless()]),
    "text": lambda: "text",
    "mapping": lambda: {"id": 1},
}


@pytest.mark.parametrize("hot", [0, plans.HOT])
@pytest.mark.parametrize("field", ["rows { id }", "sure { id must }", "deep { id }", "numbers"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_from_iterators_are_answered_like_by_graphql_core(name, field, hot, monkeypatch):
    """Item by item: each is completed before the next one is taken."""
    monkeypatch.setattr(plans, "HOT", hot)
    schema, taken = build_schema(SDL), []

    def rows(_source: Any, _info: Any) -> Any:
        made = ROWS[name]()
        if isinstance(made, Iterator):
            return (taken.append("row") or row for row in made)
        return made

    name_of_field = field.partition(" ")[0]
    schema.query_type.fields[name_of_field].resolve = rows  # type: ignore[union-attr]
    schema.type_map["Row"].fields["id"].resolve = (  # type: ignore[attr-defined]
        lambda row, info: taken.append("field") or row["id"]
    )
    document = parse(f"{{ {field} }}")
    want, order = told(graphql.execute(schema, document)), list(taken)
    for execute in OURS:
        for _ in range(3):
            taken.clear()
            assert told(execute(schema, document)) == want
            assert taken == order


MUTATIONS = (
    "mutation { first second { id must } third }",
    "mutation { second { must } first first }",
    "mutation { a: lookup(a: 1) b: lookup first __typename }",
    "mutation { first unknown second { unknown id } }",
    "mutation { third first }",
)


@pytest.mark.parametrize("hot", [0, plans.HOT])
@pytest.mark.parametrize("text", MUTATIONS)
def test_mutations_are_executed_in_order(text, hot, monkeypatch):
    """An error where null is not allowed ends the rest."""
    monkeypatch.setattr(plans, "HOT", hot)
    schema, called = build_schema(SDL), []
    root = {"first": 1, "second": {"id": 2}, "lookup": lambda info, a=0: a + 1}

    def first(source: Any, info: Any) -> Any:
        called.append(info.path.key)
        return source["first"]

    schema.mutation_type.fields["first"].resolve = first  # type: ignore[union-attr]
    document = parse(text)
    want, order = told(graphql.execute(schema, document, root)), list(called)
    for execute in OURS:
        for _ in range(3):
            called.clear()
            assert told(execute(schema, document, root)) == want
            assert called == order
