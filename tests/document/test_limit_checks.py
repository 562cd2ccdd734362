"""Limits of documents: texts that exceed one are refused before they are validated."""

from __future__ import annotations

from dataclasses import fields, replace
from time import process_time
from typing import Any

import pytest
from graphql import build_schema, get_introspection_query

from gqlnb.document.document import Document
from gqlnb.errors import Problem, QueryError
from gqlnb.limits import Limits

SCHEMA = build_schema("type Query { a: Query hello: String l(x: [Int]): Int }")
LIMITS = Limits()
NONE = Limits(**{field.name: None for field in fields(Limits)})


def bomb(doublings: int, name: str = "a") -> str:
    """Return fragments that spread each other twice."""
    steps = (
        f"fragment F{n} on Query {{ a {{ ...F{n + 1} }} b: a {{ ...F{n + 1} }} }}"
        for n in range(doublings)
    )
    return f"{{ ...F0 }} {' '.join(steps)} fragment F{doublings} on Query {{ {name} }}"


def refused(text: str, limits: Limits = LIMITS, schema: Any = SCHEMA) -> Problem:
    """Assert that a text is refused, and return why."""
    with pytest.raises(QueryError) as caught:
        Document.parse(text, schema, limits=limits)
    (problem,) = caught.value.problems
    return problem


# Each passes one limit by one: the text, its limit, what is said, and where.
BEYOND = [
    ("{ hello }", {"text": 8}, "The document has 9 characters", None),
    ("{ hello }", {"tokens": 2}, "The document has more than 2 tokens", (1, 9)),
    ("{ hello #\n #\n }", {"tokens": 3}, "The document has more than 3 tokens", (2, 2)),
    ("{ a {\n hello } }", {"depth": 1}, "Fields nest 2 levels deep", (2, 2)),
    ("{ a { ... { ... on Query { hello } } } }", {"depth": 1}, "Fields nest 2 levels", (1, 28)),
    ("{ a { ...F } } fragment F on Query { a { hello } }", {"depth": 2}, "Fields nest 3", (1, 7)),
    ("{ hello ...F } fragment F on Query { long: hello }", {"name": 4}, "A name has 5", (1, 3)),
    ("{ long: hello longer: hello }", {"name": 5}, "A name has 6 characters", (1, 15)),
    ("{ x: hello y: hello }", {"aliases": 1}, "The document has 2 aliases", (1, 12)),
    ("query A { x: hello } query B { y: hello }", {"aliases": 1}, "The document has 2", (1, 32)),
    ("query A { hello }\nquery B { hello }", {"operations": 1}, "The document has 2 op", (2, 1)),
    ("{ hello @a @b }", {"directives": 1}, "2 directives stand at one place", (1, 3)),
    ("query @a @b { hello }", {"directives": 1}, "2 directives stand at one place", (1, 1)),
    ("query ($v: Int @a @b) { hello }", {"directives": 1}, "2 directives stand at one", (1, 8)),
    ("{ ... @a @b { hello } }", {"directives": 1}, "2 directives stand at one place", (1, 3)),
    ("{ ...F a { ...F } } fragment F on Query { hello }", {"selections": 2},
     "With its fragments unrolled, this query asks for 3 fields", (1, 1)),
    ("{ hello } fragment F on Query { a { hello } }", {"selections": 1},
     "With its fragments unrolled, fragment F asks for 2 fields", (1, 11)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "limit", "said", "place"), BEYOND, ids=[f"{b[0][:30]}-{b[1]}" for b in BEYOND]
)
def test_each_complexity_limit_is_exact(text, limit, said, place):
    """The error states the measure, its value, the limit, the location and the option."""
    ((name, most),) = limit.items()
    problem = refused(text, replace(NONE, **limit))
    assert problem.message.startswith(f"{said}")
    assert f"; the limit is {most}. Ask for less at once" in problem.message
    assert f"serve(schema, limits=Limits({name}=" in problem.message
    assert (problem.line, problem.column) == (place or (None, None))
    operation = "A" if " A " in text else None
    assert Document.parse(text, None, operation, replace(NONE, **{name: 2 * most + 100}))


def test_the_limit_suggested_by_the_error_is_sufficient():
    """The same document is accepted with it."""
    problem = refused("{ a { a { hello } } }", replace(NONE, depth=1))
    assert "Limits(depth=3)" in problem.message
    assert Document.parse("{ a { a { hello } } }", SCHEMA, limits=replace(NONE, depth=3))


def test_standard_introspection_passes_the_usual_limits():
    """Tools ask it first."""
    assert Document.parse(get_introspection_query(), SCHEMA, limits=LIMITS)
    problem = refused(get_introspection_query(), replace(LIMITS, depth=14))
    assert problem.message.startswith("Fields nest 15 levels deep; the limit is 14.")


def test_a_fragment_bomb_is_counted_without_expansion():
    """A kilobyte with four million leaves takes as long as any kilobyte."""
    text = bomb(22)
    assert len(text) < 2_000
    begun = process_time()
    problem = refused(text, replace(NONE, selections=20_000))
    assert process_time() - begun < 0.5
    assert "asks for 12,582,910 fields; the limit is 20,000." in problem.message


def test_very_large_numbers_are_not_printed_in_full():
    """A document can request a number of a hundred digits."""
    problem = refused(bomb(350), replace(NONE, selections=20_000))
    assert "asks for more than 1,000,000,000,000 fields" in problem.message


def test_an_error_does_not_retain_an_oversized_document():
    """The error of a large document is small."""
    with pytest.raises(QueryError) as caught:
        Document.parse("{ hello } # " + "x" * 200_000, SCHEMA, limits=LIMITS)
    assert caught.value.text is None


@pytest.mark.parametrize(
    "text",
    [
        "{ ...A } fragment A on Query { ...A }",
        "{ ...A } fragment A on Query { a { ...B } } fragment B on Query { ...A hello }",
        "{ ...A ...B } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A hello }",
    ],
)
def test_cycles_are_left_to_validation(text):
    """They are measured as if they were entered once."""
    with pytest.raises(QueryError, match="Cannot spread fragment 'A' within itself"):
        Document.parse(text, SCHEMA, limits=LIMITS)


@pytest.mark.parametrize("limits", [LIMITS, None], ids=["limits", "no limits"])
@pytest.mark.parametrize(
    "text",
    [
        "{" + "a{" * 3_000 + "hello" + "}" * 3_001,
        "{ ...F0 } "
        + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} }}" for n in range(600))
        + " fragment F600 on Query { hello }",
        "{ ...F0 } "
        + " ".join(f"fragment F{n} on Query {{ a {{ ...F{n + 1} }} }}" for n in range(400))
        + " fragment F400 on Query { hello }",
        "{ l(x: " + "[" * 2_000 + "]" * 2_000 + ") }",
        "query ($v: " + "[" * 2_000 + "Int" + "]" * 2_000 + ") { hello }",
        bomb(350),
    ],
    ids=["fields", "fragments", "fragments with fields", "values", "types", "bomb"],
)
def test_documents_of_any_depth_are_refused_with_a_query_error(text, limits):
    """For every kind of nesting."""
    with pytest.raises(QueryError):
        Document.parse(text, SCHEMA, limits=limits)
