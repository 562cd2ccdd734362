"""Validation: what graphql-core finds, in its order, with less work."""

from __future__ import annotations

import pytest
from graphql import (
    GraphQLError,
    NoSchemaIntrospectionCustomRule,
    build_schema,
    get_introspection_query,
    parse,
    validate,
)

from gqlnb.document.validation import validate_document
from tests.examples import count_examples
from tests.property.differential.case import Case

SDL = """
directive @twice repeatable on FIELD
interface Named { name: String }
type Dog implements Named { name: String barks(loud: Boolean!, times: Int = 1): Boolean }
type Cat implements Named { name: String meows: Int }
union Pet = Dog | Cat
enum Size { SMALL LARGE }
input Filter { size: Size! name: String }
type Query { pet: Pet dog: Dog named: Named pets(filter: Filter, first: Int): [Pet!] }
type Subscription { dog: Dog pet: Pet }
"""
SCHEMA = build_schema(SDL)
TEXTS = [
    "query ($a: Int, $a: Int, $b: Nope, $c: Dog) { dog { name } }",
    "{ pets(filter: {size: HUGE, more: 1}, first: 1.5, after: 2) { ... on Dog { barks } } }",
    "{ dog { ...A } } fragment A on Dog {...B} fragment B on Dog { ...A } fragment C on Cat { x }",
    "query B { dog { name @twice @twice @skip(if: true) @skip(if: true) } }",
    "subscription { dog { name } pet { __typename } } subscription B { __typename }",
    "type X { a: Int } { dog { barks(loud: true, loud: false) } }",
    get_introspection_query(),
    "{" + "".join(f" a{n}" for n in range(150)) + " }",
]


@pytest.mark.parametrize("text", TEXTS)
def test_errors_are_those_of_graphql_core(text):
    """The same errors, places and order, also where it stops."""
    document = parse(text)
    expected = [error.formatted for error in validate(SCHEMA, document)]
    assert [error.formatted for error in validate_document(SCHEMA, document)] == expected


def test_generated_documents_have_the_errors_of_graphql_core():
    """Random documents, some of them invalid, on random schemas."""
    wrong = 0
    count = count_examples(200)
    for number in range(count):
        case = Case(number, "sync")
        schema = case.made.schema
        try:
            expected = [error.formatted for error in validate(schema, case.document)]
        except GraphQLError as error:  # which 3.2 should rather have returned
            expected = [error.formatted]
        found = [error.formatted for error in validate_document(schema, case.document)]
        assert found == expected, case.text
        wrong += bool(expected)
    assert 0 < wrong < count


def test_custom_rules_run_after_the_standard_rules():
    """A further rule reports too, and few errors are enough."""
    document = parse("{ __schema { nope } }")
    found = validate_document(SCHEMA, document, more=[NoSchemaIntrospectionCustomRule])
    assert [error.message for error in found] == [
        "GraphQL introspection has been disabled,"
        " but the requested query contained the field '__schema'.",
        "Cannot query field 'nope' on type '__Schema'.",
    ]
    assert len(validate_document(SCHEMA, parse("{ a b c d }"), max_errors=2)) == 3
