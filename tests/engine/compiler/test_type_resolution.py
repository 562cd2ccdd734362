"""How the object types of interfaces and unions are told, by our executor and graphql-core's."""

from __future__ import annotations

import pytest
from graphql import build_schema
from graphql.pyutils import Undefined

from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from tests.engine.comparison import rooted, same
from tests.property.differential import values

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.usefixtures("road"),
]


# Types told

FACES = """
interface F { x: Int } type A implements F { x: Int } type B implements F { x: Int }
type C { x: Int } union U = A | B
"""


TOLD = ("A", "B", "C", "F", "U", "Nope", "Int", None, "", 7, values.Words("A"), ValueError("told"))


@pytest.mark.parametrize("told", [*TOLD, Undefined], ids=range(len(TOLD) + 1))
def test_abstract_types_are_resolved_by_name(told):
    """The name comes from resolve_type, __typename or type_resolver."""
    schema = build_schema(f"{FACES} type Query {{ f: F u: U l: [F!] }}")
    text = "{ f { __typename x } u { __typename ... on F { x } } l { x } }"
    mangled = type("Row", (), {"x": 1, "_Row__typename": told})()
    for row in ({"x": 1, "__typename": told}, mangled, type("Heir", (type(mangled),), {})()):
        same(schema, text, rooted(f=row, u=row, l=[row]))
    row = {"x": 1}
    same(
        schema, text, lambda: {"root_value": {"f": row, "u": row}, "type_resolver": lambda *_: told}
    )
    for name in "FU":
        schema.type_map[name].resolve_type = lambda *_: told
    same(schema, text, rooted(f=row, u=row, l=[row, row]))


@pytest.mark.parametrize("answer", [True, False])
def test_is_type_of_precedes_the_fields(answer):
    """A document that was not validated may have fields that can't be collected.

    graphql-core 3.2 collects them first.
    """
    schema = build_schema(f"{FACES} type Query {{ f: F }}")
    schema.type_map["A"].is_type_of = lambda value, info: answer
    _, errors, _ = same(
        schema, "{ f { x @skip(unless: true) } }", rooted(f={"x": 1, "__typename": "A"})
    )
    assert ("'if'" in str(errors)) == (answer or not IS_GRAPHQL_33)
