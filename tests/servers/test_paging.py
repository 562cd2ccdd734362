"""All pages of everything that can be paged, on fresh clients: set-equal with the data, or told.

The report says `complete` only where everything came; where it can't be known, the report says why,
the frame is marked, and one warning names it.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from gqlnb import Client, GqlnbError
from tests.servers.paging import WAYS, page_through

SDL_FIRST = ("apollo", "yoga", "mercurius", "ariadne")
shared_schema = pytest.mark.parametrize("server", SDL_FIRST, indirect=True)
BOOKS = "{ books(first: 100) { edges { node { number title } } } }"
# The fields of plain lists, and their own word for the size of a page.
PLAIN = {
    "booksByOffset": "limit",
    "booksByFirst": "first",
    "booksBySkip": "take",
    "booksByPage": "perPage",
}


@pytest.fixture
def numbers(library: dict[str, Any]) -> list[int]:
    """Return the numbers of all books."""
    return [book["number"] for book in library["books"]]


def assert_complete(pages: Any) -> None:
    """Assert that everything came, and that all places say so."""
    assert pages.report.complete, str(pages.report)
    assert pages.warnings == []
    if pages.frame is not None:
        assert not pages.frame.attrs.get("partial")


def assert_incomplete(pages: Any) -> None:
    """Assert that all places say that something may be missing, and one warning does."""
    assert not pages.report.complete
    assert pages.report.notes or pages.report.ended != "complete"
    assert pages.frame.attrs["partial"] is True
    assert pages.frame.attrs["report"]
    assert len(pages.warnings) == 1


# -- Relay connections


@pytest.mark.parametrize("way", WAYS)
def test_a_connection_forward(client: Client, library: dict[str, Any], way: str) -> None:
    """In the order of the endpoint; ten pages, and some trials of bigger ones."""
    pages = page_through(client, BOOKS, way=way)
    assert [(it["number"], it["title"]) for it in pages.items] == [
        (book["number"], book["title"]) for book in library["books"]
    ]
    assert_complete(pages)
    assert pages.report.requests <= 15


def test_a_connection_without_a_size(client: Client, numbers: list[int]) -> None:
    """The query has neither a size nor a cursor."""
    pages = page_through(client, "{ books { edges { node { number } } } }")
    assert pages.numbers() == numbers
    assert_complete(pages)


def test_a_connection_backward(client: Client, numbers: list[int]) -> None:
    """By `last` and `before`."""
    pages = page_through(client, "{ books(last: 100) { edges { node { number } } } }", follow="all")
    assert sorted(pages.numbers()) == numbers
    assert_complete(pages)


def test_a_connection_from_a_cursor(client: Client, numbers: list[int]) -> None:
    """The cursor in the query is the start."""
    text = "{ books(first: 40) { edges { node { number } } pageInfo { endCursor } } }"
    cursor = client.execute(text)["books"]["pageInfo"]["endCursor"]
    fresh = Client(client.source)
    text = f'{{ books(first: 100, after: "{cursor}") {{ edges {{ node {{ number }} }} }} }}'
    pages = page_through(fresh, text)
    assert pages.numbers() == numbers[40:]
    assert pages.report.complete


def test_a_connection_with_variables(client: Client, name: str, numbers: list[int]) -> None:
    """Size and cursor are variables, the cursor of the server's own type."""
    cursor = "String" if name in ("apollo", "strawberry") else "Cursor"
    text = f"""query ($size: Int!, $after: {cursor}) {{
      books(first: $size, after: $after) {{
        edges {{ node {{ number }} }} pageInfo {{ hasNextPage endCursor }}
      }}
    }}"""
    pages = page_through(client, text, {"size": 100})
    assert pages.numbers() == numbers
    assert_complete(pages)


@shared_schema
def test_nodes_without_edges(client: Client, numbers: list[int]) -> None:
    """With a count, if the query selects it."""
    pages = page_through(client, "{ books(first: 100) { totalCount nodes { number } } }")
    assert pages.numbers() == numbers
    assert pages.report.expected == len(numbers)
    assert_complete(pages)


def test_a_maximum_number_of_results(client: Client, numbers: list[int]) -> None:
    """The result has as many rows, and is partial."""
    pages = page_through(client, BOOKS, max_results=250)
    assert pages.numbers() == numbers[:250]
    assert not pages.report.complete


def test_a_page_size_for_one_call(client: Client, numbers: list[int]) -> None:
    """Every page has this size."""
    pages = page_through(client, BOOKS, page_size=50)
    assert pages.numbers() == numbers
    assert_complete(pages)
    assert pages.report.requests in {20, 21}  # one verifies the end where there is no count


@shared_schema
@pytest.mark.parametrize("size", [100, 1000])
def test_a_long_connection(client: Client, library: dict[str, Any], size: int) -> None:
    """Pages grow from the text's size, so that 100,000 rows take few requests."""
    text = f"{{ measurements(first: {size}) {{ totalCount nodes {{ number value }} }} }}"
    pages = page_through(client, text)
    assert [(it["number"], it["value"]) for it in pages.items] == [
        (it["number"], it["value"]) for it in library["measurements"]
    ]
    assert_complete(pages)
    assert pages.report.requests <= 30


@shared_schema
@pytest.mark.parametrize("field", ["limitedBooks", "cappedBooks"])
@pytest.mark.parametrize("given", ["", "(first: 40)"])
def test_a_maximum_page_size(client: Client, numbers: list[int], field: str, given: str) -> None:
    """If larger pages are refused or truncated, every row is returned."""
    pages = page_through(client, f"{{ {field}{given} {{ nodes {{ number }} }} }}")
    assert pages.numbers() == numbers
    assert_complete(pages)
    assert pages.report.requests <= 30


# -- nested connections


def group_by(rows: list[dict[str, Any]], key: str) -> dict[int, set[int]]:
    """Return the numbers of rows by one of their values."""
    groups: dict[int, set[int]] = {}
    for row in rows:
        groups.setdefault(row[key], set()).add(row["number"])
    return groups


def inner(item: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the nodes of a nested connection."""
    return [edge["node"] for edge in item[field]["edges"]]


@pytest.mark.parametrize("way", WAYS[:4])
def test_a_nested_connection(client: Client, library: dict[str, Any], way: str) -> None:
    """By `node(id:)`, or by the root field that takes the parent's key."""
    text = """{ authors(first: 10) { edges { node { number
        books(first: 10) { edges { node { number title } } } } } } }"""
    pages = page_through(client, text, way=way)
    expected = group_by(library["books"], "author")
    assert pages.numbers() == [author["number"] for author in library["authors"]]
    found = {it["number"]: [book["number"] for book in inner(it, "books")] for it in pages.items}
    assert found == {key: sorted(values) for key, values in expected.items()}
    assert_complete(pages)
    assert pages.report.requests <= 80


def test_connections_three_deep(client: Client, library: dict[str, Any]) -> None:
    """Authors, their books, and the reviews of those, with every page in small pieces."""
    text = """{ authors(first: 20) { edges { node { number books(first: 20) { edges { node {
        number reviews(first: 5) { edges { node { number stars } } } } } } } } } }"""
    pages = page_through(client, text, follow="all")
    assert len(pages.items) == len(library["authors"])
    reviews = {
        book["number"]: {review["number"] for review in inner(book, "reviews")}
        for author in pages.items
        for book in inner(author, "books")
    }
    assert len(reviews) == len(library["books"])
    assert {key: it for key, it in reviews.items() if it} == group_by(library["reviews"], "book")
    assert_complete(pages)
    assert pages.report.requests <= 200


@shared_schema
def test_a_connection_in_a_plain_list(client: Client, library: dict[str, Any]) -> None:
    """The list has no arguments; its objects are requested again by their key."""
    text = "{ users { number reviews(first: 20) { nodes { number stars book { title } } } } }"
    pages = page_through(client, text)
    found = {it["number"]: {r["number"] for r in it["reviews"]["nodes"]} for it in pages.items}
    assert found == group_by(library["reviews"], "user")
    assert_complete(pages)
    assert pages.report.requests <= 40


def test_requests_for_nested_pages_are_accepted(proxy: Any, library: dict[str, Any]) -> None:
    """The endpoint refuses none of them."""
    text = """{ authors(first: 10) { edges { node { number
        books(first: 10) { edges { node { number } } } } } } }"""
    pages = page_through(Client(proxy.url), text)
    assert sum(len(inner(it, "books")) for it in pages.items) == len(library["books"])
    assert proxy.statuses == [200] * len(proxy.statuses)


@shared_schema
def test_a_nested_connection_without_a_key_is_requested_with_a_larger_size(
    client: Client, library: dict[str, Any]
) -> None:
    """A genre cannot be requested again: its first page is."""
    pages = page_through(client, "{ genres { genre books(first: 10) { nodes { number } } } }")
    of_genre: dict[str, set[int]] = {}
    for row in library["books"]:
        of_genre.setdefault(row["genre"], set()).add(row["number"])
    found = {it["genre"]: {book["number"] for book in it["books"]["nodes"]} for it in pages.items}
    assert found == of_genre
    assert_complete(pages)


# -- plain lists


@pytest.mark.parametrize(
    ("field", "way"),
    [*(("booksByOffset", way) for way in WAYS), *((field, "execute_all") for field in PLAIN)][1:],
)
def test_a_plain_list(client: Client, field: str, way: str, numbers: list[int]) -> None:
    """By its own arguments, with the size that the text gives."""
    text = f"{{ {field}({PLAIN[field]}: 100) {{ number title }} }}"
    pages = page_through(client, text, way=way)
    assert pages.numbers() == numbers
    assert_complete(pages)
    assert pages.report.requests <= 14  # two experiments, ten pages, and the empty one


@shared_schema
@pytest.mark.parametrize("field", PLAIN)
def test_a_plain_list_without_a_size(client: Client, field: str, numbers: list[int]) -> None:
    """The schema shows how it is paged."""
    pages = page_through(client, f"{{ {field} {{ number }} }}")
    assert pages.numbers() == numbers
    assert_complete(pages)


@shared_schema
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ("booksByOffset(offset: 130, limit: 60)", 130),
        ("booksByFirst(offset: 130, first: 60)", 130),
        ("booksBySkip(skip: 130, take: 60)", 130),
        ("booksByPage(page: 3, perPage: 60)", 120),
    ],
)
def test_a_plain_list_from_an_offset(
    client: Client, arguments: str, first: int, numbers: list[int]
) -> None:
    """Paging begins at the offset in the query."""
    pages = page_through(client, f"{{ {arguments} {{ number }} }}")
    assert pages.numbers() == numbers[first:]


@shared_schema
def test_a_plain_list_with_variables(client: Client, library: dict[str, Any]) -> None:
    """Its other arguments are unchanged."""
    text = """query ($from: Int, $size: Int, $genre: Genre) {
      booksByOffset(offset: $from, limit: $size, genre: $genre) { number }
    }"""
    pages = page_through(client, text, {"size": 30, "genre": "POETRY"})
    assert pages.numbers() == [b["number"] for b in library["books"] if b["genre"] == "POETRY"]
    assert_complete(pages)


def test_a_plain_list_that_is_silently_truncated(client: Client, numbers: list[int]) -> None:
    """A page with fewer items than requested is not always the last one."""
    pages = page_through(client, "{ cappedByOffset(limit: 100) { number } }")
    assert pages.numbers() == numbers
    assert pages.report.complete


def test_a_plain_list_without_arguments(client: Client, numbers: list[int]) -> None:
    """One request returns all, and a thousand rows may be a limit of the service."""
    pages = page_through(client, "{ allBooks { number } }")
    assert pages.numbers() == numbers
    assert_incomplete(pages)
    assert "1000 rows is a usual limit" in str(pages.report.doubts)
    assert pages.report.requests == 1


@shared_schema
def test_a_plain_list_without_arguments_or_signs(client: Client, library: dict[str, Any]) -> None:
    """Its length is no limit that services have, so one request returns all."""
    pages = page_through(client, "{ users { number } }")
    assert pages.numbers() == [user["number"] for user in library["users"]]
    assert_complete(pages)
    assert pages.report.requests == 1


def test_a_plain_list_with_a_limit_alone(client: Client, numbers: list[int]) -> None:
    """It may have more items, but there is no argument for the next page."""
    pages = page_through(client, "{ topBooks(limit: 10) { number } }")
    assert pages.numbers() == numbers[: len(pages.items)]
    assert_incomplete(pages)


def test_a_page_object_that_is_not_a_connection(client: Client, numbers: list[int]) -> None:
    """All its items are returned, or the report is not complete."""
    pages = page_through(client, "{ bookPage(limit: 100) { items { number } total hasMore } }")
    if pages.numbers() == numbers:
        assert_complete(pages)
    else:
        assert_incomplete(pages)


# -- endpoints that are wrong


@shared_schema
@pytest.mark.parametrize("field", ["overcounted", "undercounted"])
def test_a_count_that_differs_from_the_rows(client: Client, numbers: list[int], field: str) -> None:
    """All rows are returned, and the report is not complete."""
    pages = page_through(client, f"{{ {field}(first: 100) {{ totalCount nodes {{ number }} }} }}")
    assert pages.numbers() == numbers
    assert_incomplete(pages)


@shared_schema
def test_a_count_that_is_not_selected(client: Client, numbers: list[int]) -> None:
    """All rows are returned."""
    pages = page_through(client, "{ overcounted(first: 100) { nodes { number } } }")
    assert pages.numbers() == numbers


@shared_schema
def test_overlapping_pages(client: Client, numbers: list[int]) -> None:
    """Items with a key are identified by it, and returned once."""
    pages = page_through(client, "{ overlapping(first: 100) { nodes { number title } } }")
    assert pages.numbers() == numbers
    assert pages.report.duplicates > 0


@shared_schema
@pytest.mark.parametrize("items", ["nodes { value }", "edges { node { value } }"])
def test_overlapping_pages_of_items_without_a_key(
    client: Client, library: dict[str, Any], items: str
) -> None:
    """Cursors identify items; if they do not, the result is not complete."""
    pages = page_through(client, f"{{ overlappingMarks(first: 50) {{ totalCount {items} }} }}")
    if pages.items == library["marks"]:
        assert pages.report.complete
    else:
        assert_incomplete(pages)


@shared_schema
def test_a_cursor_loop_ends_paging(client: Client, numbers: list[int]) -> None:
    """Each row is returned once."""
    pages = page_through(client, "{ looping(first: 100) { nodes { number } } }")
    assert pages.numbers() == numbers[:100]
    assert_incomplete(pages)
    assert pages.report.requests <= 10


@shared_schema
def test_a_failing_page_makes_the_result_partial(client: Client, numbers: list[int]) -> None:
    """It has the rows of earlier pages and the reason."""
    text = "{ breaking(first: 100) { nodes { number } } }"
    with warnings.catch_warnings(record=True):
        try:
            result = client.execute_all(text)
            reason = str(result.errors)
        except GqlnbError as error:
            result, reason = error.result, str(error)
    found = [it["number"] for it in result.data["breaking"]["nodes"]]
    assert found == numbers[: len(found)]
    assert len(found) >= 300
    assert "The shelf broke down" in reason
    assert not result.report.complete
