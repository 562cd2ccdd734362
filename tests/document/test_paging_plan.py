"""Queries that are paged unchanged or not at all; tests/client/paging has the others."""

from __future__ import annotations

import pytest
from graphql import build_schema

from gqlnb import QueryError
from gqlnb.document.document import Document
from gqlnb.document.paging_plan import PagingPlan

SDL = """
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Query { products(first: Int, after: String): Products! }
type Products { nodes: [Product!]! pageInfo: PageInfo! }
type Product { id: ID! title: String! }
"""


def paging_of(text: str) -> PagingPlan:
    """Return the pages of a query."""
    return PagingPlan(Document.parse(text, build_schema(SDL)))


def test_fields_already_selected_are_not_added():
    """A query with `pageInfo` and `id` is sent unchanged."""
    text = "{ products(first: 5) { pageInfo { hasNextPage endCursor } nodes { id title } } }"
    assert paging_of(text).write_first_request({})[0] == f"query {text}"


@pytest.mark.parametrize(
    ("selected", "sent"),
    [
        ("pageInfo { endCursor }", "pageInfo { endCursor hasNextPage }"),
        ("info: pageInfo { hasNextPage }", "info: pageInfo { hasNextPage endCursor }"),
        (
            "pageInfo { endCursor: hasNextPage }",
            "gqlnb_pageInfo: pageInfo { hasNextPage endCursor }",
        ),
    ],
)
def test_page_info_is_selected_once(selected, sent):
    """Of two selections sqlalchemy-relay-pagination 0.1 reads one: `hasNextPage` is then false."""
    text = f"{{ products(first: 5) {{ {selected} nodes {{ id title }} }} }}"
    assert sent in paging_of(text).write_first_request({})[0]


def test_a_connection_without_items_is_not_paged():
    """Selecting `pageInfo` alone needs no pages."""
    assert paging_of("{ products { pageInfo { hasNextPage } } }").fields == []


def test_recursive_fragments_are_refused():
    """Without a schema they were not validated before."""
    with pytest.raises(QueryError, match="contains itself"):
        PagingPlan(Document.parse("{ ...A } fragment A on X { b { ...A } }"))
    bomb = " ".join(
        f"fragment F{n} on X {{ a: x {{ ...F{n + 1} }} b: x {{ ...F{n + 1} }} }}" for n in range(20)
    )
    with pytest.raises(QueryError, match="expand to more than"):
        PagingPlan(Document.parse(f"{{ ...F0 }} {bomb} fragment F20 on X {{ y }}"))


def test_introspection_is_not_paged():
    """Fields of the schema itself are excluded."""
    made = paging_of("{ __schema { types { name fields { name } } } products { nodes { title } } }")
    assert [each.name for each in made.fields] == ["products"]
