"""Connections are found by their shape in any schema, and their further pages are valid queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

import gqlnb
from gqlnb import QueryError
from gqlnb.document.document import Document
from gqlnb.document.paging_plan import PagingPlan, PlannedPage

INFO = """
type PageInfo {
  hasNextPage: Boolean! endCursor: String hasPreviousPage: Boolean! startCursor: String
}
"""
SWAPI = f"""{INFO}
schema {{ query: Root }}
interface Node {{ id: ID! }}
type Root {{
  node(id: ID!): Node
  allFilms(after: String, first: Int, before: String, last: Int): FilmsConnection
}}
type FilmsConnection {{ pageInfo: PageInfo! edges: [FilmsEdge] totalCount: Int films: [Film] }}
type FilmsEdge {{ node: Film cursor: String! }}
type Film implements Node {{
  id: ID! title: String
  characterConnection(after: String, first: Int, before: String, last: Int): FilmPeople
}}
type FilmPeople {{ pageInfo: PageInfo! edges: [PersonEdge] characters: [Person] }}
type PersonEdge {{ node: Person cursor: String! }}
type Person implements Node {{ id: ID! name: String }}
"""
SHOPIFY = f"""{INFO}
schema {{ query: QueryRoot }}
interface Node {{ id: ID! }}
type QueryRoot {{
  node("The ID." id: ID!): Node
  shop: Shop!
  products(first: Int, after: String, last: Int, before: String, query: String): Products!
}}
type Shop {{ name: String! products(first: Int, after: String): Products! }}
type Products {{ edges: [ProductEdge!]! nodes: [Product!]! pageInfo: PageInfo! }}
type ProductEdge {{ cursor: String! node: Product! }}
type Product implements Node {{
  id: ID! title: String! featured: Image variants(first: Int, after: String): Variants!
}}
type Image {{ url: String! uses(first: Int, after: String): Products! }}
type Variants {{ edges: [VariantEdge!]! nodes: [Variant!]! pageInfo: PageInfo! }}
type VariantEdge {{ cursor: String! node: Variant! }}
type Variant implements Node {{ id: ID! sku: String }}
"""
SALEOR = f"""{INFO}
type Query {{ products(first: Int, after: String, channel: String): ProductCountableConnection }}
type ProductCountableConnection {{
  pageInfo: PageInfo! edges: [ProductCountableEdge!]! totalCount: Int
}}
type ProductCountableEdge {{ node: Product! cursor: String! }}
type Product {{
  id: ID! name: String! media: [Media!] variants(first: Int, after: String): Variants
}}
type Media {{ id: ID! url: String! }}
type Variants {{ pageInfo: PageInfo! edges: [VariantEdge!]! }}
type VariantEdge {{ node: Variant! cursor: String! }}
type Variant {{ id: ID! sku: String }}
"""
HASURA = f"""{INFO.replace("Cursor: String", "Cursor: String!")}
interface Node {{ id: ID! }}
type query_root {{
  node(id: ID!): Node
  users_connection(after: String, first: Int): usersConnection!
}}
schema {{ query: query_root }}
type usersConnection {{ edges: [usersEdge!]! pageInfo: PageInfo! }}
type usersEdge {{ cursor: String! node: users! }}
type users implements Node {{ id: ID! name: String }}
"""
GITHUB = (Path(gqlnb.__file__).parent / "github" / "schema.graphql").read_text()
CASES = {
    "SWAPI": (
        SWAPI,
        """{ allFilms { totalCount films { title
        characterConnection { edges { node { name } } } } } }""",
        {"allFilms": True, "allFilms.films.characterConnection": False},
    ),
    "Shopify": (
        SHOPIFY,
        """query ($q: String) { shop { name products(first: 5) { nodes { title } } }
        products(first: 10, query: $q) { edges { node { ...P } } } }
        fragment P on Product { title featured { uses(first: 2) { nodes { title } } }
          variants(first: 3) { edges { node { sku } } } }""",
        {
            "shop.products": True,
            "products": True,
            "products.featured.uses": False,
            "products.variants": False,
        },
    ),
    "Saleor": (
        SALEOR,
        """{ products(first: 10, channel: "x") { edges { node { name
        variants { edges { node { sku } } } } } } }""",
        {"products": True, "products.variants": None},
    ),
    "Hasura": (
        HASURA,
        "{ users_connection { edges { node { name } } } }",
        {"users_connection": True},
    ),
    "GitHub": (
        GITHUB,
        """{ search(query: "x", type: REPOSITORY) { repositoryCount nodes { __typename
        ... on Repository { name stargazers(first: 5) { nodes { login } } } } } }""",
        {"search": True, "search.stargazers": False},
    ),
}


def schema_of(sdl: str) -> GraphQLSchema:
    """Return a schema without checking it."""
    return build_schema(sdl, assume_valid=True)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_connections_of_known_services_are_detected(case):
    """Each has its frame's name, its path, and valid page queries."""
    sdl, text, expected = case
    schema = schema_of(sdl)
    paging = PagingPlan(Document.parse(text, schema))
    ways = {
        each.name: True if each.rooted else (False if each.anchor is not None else None)
        for each in paging.fields
    }
    assert ways == expected
    sizes = dict.fromkeys(paging.fields, 7)
    assert validate(schema, parse(paging.write_first_request({})[0])) == []
    assert validate(schema, parse(paging.write_first_request(sizes)[0])) == []
    for each in paging.fields:
        if ways[each.name] is None:
            continue
        on = None if each.rooted or each.anchor is None else each.anchor.on
        for turns in (
            [PlannedPage(each, 3, on)],
            [PlannedPage(each, 3, on)] * (1 if each.rooted else 3),
        ):
            assert validate(schema, parse(paging.write_next_request(turns, sizes)[0])) == []


def paging_of(text: str, path: str | None = None) -> PagingPlan:
    """Return the pages of a query on Shopify's shape."""
    return PagingPlan(Document.parse(text, schema_of(SHOPIFY)), path)


def test_fields_already_selected_are_not_added():
    """A query with `pageInfo` and `id` is sent unchanged."""
    text = "{ products(first: 5) { pageInfo { hasNextPage endCursor } nodes { id title } } }"
    assert paging_of(text).write_first_request({})[0] == f"query {text}"


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
