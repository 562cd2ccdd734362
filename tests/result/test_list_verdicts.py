"""Whether one answer holds a whole list: in the frame, in its caption, and with the evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
import strawberry

from gqlnb import Access, Client, LiveFrame, Result, ResultView, Schema, concat, serve
from gqlnb.result.paging_report import Report
from gqlnb.result.renderer import FETCH_ALL, describe_frame

SDL = """
type Query { numbers(limit: Int = 3, input: Input): [Row!]! plain: [Row!]! owned(id: ID!): [Row!]!
  page(first: Int, size: Big): Page! }
scalar Big
input Input { rows: Int = 4 }
type Row { n: Int! }
type Page { totalCount: Int hasMore: Boolean viewCount: Int items: [Row!]! }
"""


def build_client(**page: Any) -> Client:
    """Return a client of a schema whose lists have as many rows as their arguments say."""

    def make_rows(count: int) -> list[dict[str, int]]:
        return [{"n": number} for number in range(count)]

    def resolve_page(_root: Any, args: dict[str, Any], _context: Any) -> dict[str, Any]:
        return {"items": make_rows(args.get("first") or 7), **page}

    return Client(
        Schema(
            SDL,
            {
                "Query": {
                    "numbers": lambda _root, args, _context: make_rows(args["limit"]),
                    "plain": lambda *_: make_rows(10),
                    "owned": lambda *_: make_rows(3),
                    "page": resolve_page,
                }
            },
        )
    )


def judge(result: Result) -> tuple[str, bool, str]:
    """Return the verdict on the only list of a result, whether it is partial, and its caption."""
    frame = result.frame()
    return frame.attrs["completeness"], frame.attrs["partial"], str(result).splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("{ numbers { n } }", "limit: 3"),
        ("{ numbers(limit: 5) { n } }", "limit: 5"),
        ("query ($size: Int = 6) { numbers(limit: $size) { n } }", "limit: 6"),
        ("{ numbers(limit: 4, input: {}) { n } }", "limit: 4"),
        ("{ ...Some } fragment Some on Query { numbers(limit: 2) { n } }", "limit: 2"),
        ("{ some: page(first: 5) { items { n } } }", "first: 5"),
        ('{ page(size: "7") { items { n } } }', "size: 7"),
        ("{ page(first: 5) { totalCount items { n } } }", "first: 5"),
    ],
)
def test_a_reached_size_is_unknown(text, reached):
    """Literals, defaults and variables, at the list or at the object around it."""
    verdict, is_partial, caption = judge(build_client(totalCount=5).execute(text))
    assert verdict == f"unknown: `{reached}` is reached"
    assert not is_partial
    assert caption.endswith("rows, perhaps more")


@pytest.mark.parametrize(
    ("rows", "arguments", "state"),
    [
        (10, "", "unknown"),  # where no size can be given, WPGraphQL returns 10 rows
        (100, "", "unknown"),
        (7, "", "complete"),
        (37, "", "complete"),
        (64, "(name: String)", "complete"),
        (64, "(year: Int = 2026)", "unknown"),
        (97, "(first: Int = 1000)", "complete"),  # shorter than the size
        (100, "(first: Int = 1000)", "unknown"),  # Wagtail's Grapple returns 100 rows at most
        (100, "(year: Int = 2026)", "unknown"),
    ],
)
def test_a_length_at_which_services_cut_is_unknown(rows, arguments, state):
    """Also below a size, which many endpoints cut silently."""
    schema = Schema(
        f"type Query {{ rows{arguments}: [Int!]! }}",
        {"Query": {"rows": lambda *_: list(range(rows))}},
    )
    frame = Client(schema).execute("{ rows }").frame()
    verdict = frame.attrs["completeness"]
    assert verdict.startswith(f"{state}: ")
    if state == "unknown":
        assert verdict == f"unknown: services often return {rows} rows at most"


@pytest.mark.parametrize(
    ("lengths", "state"), [([99, 3], "unknown: 1 of 2 lists: one row less"), ([98], "complete")]
)
def test_a_list_of_one_row_less_than_its_size_is_unknown(lengths, state):
    """Balboa 2.0 leaves the row itself out of a page of related rows, after it has cut it."""
    text = "{ authors { id posts(first: 100) { nodes { id } } } }"
    frame = execute_authors(text, lengths).frame("authors.posts")
    assert frame.attrs["completeness"].startswith(state)


def test_a_default_limit_is_unknown_without_a_schema():
    """Strapi 5.54 returns 10 rows, and allows no introspection in production."""
    schema = build_client().schema
    with serve(schema, port=0, access=Access(introspection=False)) as server:
        frame = Client(server.url).frame("{ plain { n } }")
    assert frame.attrs["completeness"] == "unknown: services often return 10 rows at most"


@pytest.mark.parametrize(
    ("rows", "arguments", "untried"),
    [
        (37, "(first: Int)", "first"),
        (2, "(page: Int = 1, size: Int)", "page"),
        (37, "(first: Int = 100, page: Int = 0)", ""),  # shorter than the size
        (37, "(n: Int)", ""),  # a field of the rows: a filter
        (37, "(name: String, ids: [Int!])", ""),
        (1, "(first: Int)", ""),
        (37, "(paging: Paging)", "paging.offset"),
        (37, "(paging: Paging = {limit: 100})", ""),
        (37, "(where: Filter)", ""),
    ],
)
def test_an_argument_without_a_value_may_bring_more(rows, arguments, untried):
    """If it takes integers, and may be the size or the place of a page."""
    schema = Schema(
        f"type Query {{ rows{arguments}: [Row!]! }} type Row {{ n: Int! }}"
        "input Paging { offset: Int! = 0 limit: Int } input Filter { n: Int above: Int }",
        {"Query": {"rows": lambda *_: [{"n": number} for number in range(rows)]}},
    )
    verdict = Client(schema).execute("{ rows { n } }").frame().attrs["completeness"]
    if untried:
        assert verdict == f"unknown: `{untried}` may bring more rows"
    else:
        assert verdict == "complete: no sign suggests that rows are missing"


@pytest.mark.parametrize("ids", [[1], 1, ["1"]])
def test_identifiers_and_the_first_page_are_no_sizes(ids):
    """Monday has `boards(ids: [ID!], limit: Int = 25, page: Int = 1)`."""
    sdl = "type Query { boards(ids: [ID!], limit: Int = 25, page: Int = 1): [Int!] }"
    client = Client(Schema(sdl, {"Query": {"boards": lambda *_: [1]}}))
    for text in (
        "query ($ids: [ID!]) { boards(ids: $ids) }",
        f"{{ boards(ids: {json.dumps(ids)}) }}",
    ):
        frame = client.frame(text, {"ids": ids} if "$" in text else {})
        assert frame.attrs["completeness"] == "complete: no sign suggests that rows are missing"


def test_a_reached_size_beside_the_number_of_a_page_is_unknown():
    """Open Targets has `page: {index: Int!, size: Int!}`."""
    sdl = "type Query { rows(page: Page): [Int!] } input Page { index: Int! size: Int! }"
    client = Client(Schema(sdl, {"Query": {"rows": lambda *_: [1, 2, 3]}}))
    frame = client.frame("{ rows(page: {index: 0, size: 3}) }")
    assert frame.attrs["completeness"] == "unknown: `page.size: 3` is reached"


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ("limit: 3", "unknown: `limit: 3` is reached"),
        ("limit: 4", "complete: `pageInfo.hasNextPage` is false"),
        ("first: 3", "complete: `pageInfo.hasNextPage` is false"),
        ("first: 9, limit: 3", "unknown: `limit: 3` is reached"),
    ],
)
def test_a_limit_beside_first_bounds_what_page_info_speaks_of(arguments, verdict):
    """graphene-sqlalchemy-auto pages the rows that its `limit` leaves."""
    sdl = """type Query { tasks(first: Int, after: String, limit: Int, offset: Int): Tasks! }
    type Tasks { edges: [Edge!]! pageInfo: PageInfo! } type Edge { node: Int! }
    type PageInfo { hasNextPage: Boolean! endCursor: String }"""
    tasks = {
        "edges": [{"node": number} for number in range(3)],
        "pageInfo": {"hasNextPage": False, "endCursor": "2"},
    }
    client = Client(Schema(sdl, {"Query": {"tasks": lambda *_: tasks}}))
    text = f"{{ tasks({arguments}) {{ edges {{ node }} pageInfo {{ hasNextPage endCursor }} }} }}"
    assert client.frame(text).attrs["completeness"] == verdict


def test_a_default_that_is_no_value_of_its_type_is_none():
    """sqlmodel-graphql 0.14 writes Python's None in introspection as it is."""
    sdl = "type Query { rows(limit: Int): [Int!] }"
    schema = Schema(sdl, {"Query": {"rows": lambda *_: range(37)}})
    with serve(schema, port=0) as server:
        client = Client(server.url, schema=sdl.replace("limit: Int", "limit: Int = None"))
        verdict = client.execute("{ rows }").frame().attrs["completeness"]
    assert verdict == "unknown: `limit` may bring more rows"


@pytest.mark.parametrize(("rows", "state"), [([10, 3], "unknown"), ([10, 3, 13], "complete")])
def test_a_longer_list_shows_that_another_is_not_cut(rows, state):
    """Of lists in rows; without arguments they are part of their row."""
    sdl = "type Query { all: [Row!]! } type Row { tags(first: Int): [Int!]! marks: [Int!]! }"
    row = {"tags": lambda row, *_: range(row), "marks": lambda row, *_: range(row)}
    schema = Schema(sdl, {"Query": {"all": lambda *_: rows}, "Row": row})
    result = Client(schema).execute("{ all { tags marks } }")
    assert result.frame("all.tags").attrs["completeness"].startswith(state)
    assert result.frame("all.marks").attrs["completeness"].startswith("complete")


def test_without_a_sign_a_list_is_complete():
    """The evidence says that there is none."""
    verdict, is_partial, caption = judge(build_client().execute('{ owned(id: "3") { n } }'))
    assert verdict == "complete: no sign suggests that rows are missing"
    assert not is_partial
    assert caption.endswith(" rows")


@pytest.mark.parametrize(
    ("beside", "verdict", "caption"),
    [
        ({"totalCount": 1067}, "more: `totalCount` counts 1,067", f"7 of 1,067 rows; {FETCH_ALL}"),
        ({"hasMore": True}, "more: `hasMore` is true", f"7 rows, more exist; {FETCH_ALL}"),
        ({"hasMore": False}, "complete: `hasMore` is false", "7 rows"),
        ({"totalCount": 7}, "complete: `totalCount` counts as many rows", "7 rows"),
        (
            {"hasMore": False, "totalCount": 9},
            "more: `totalCount` counts 9",
            f"7 of 9 rows; {FETCH_ALL}",
        ),
    ],
)
@pytest.mark.parametrize("alias", ["", "x{}: "])
def test_what_stands_beside_a_list_decides(beside, verdict, caption, alias):
    """A count that is larger counts more than a flag that says the end."""
    signs = " ".join(alias.format(n) + name for n, name in enumerate(beside))
    text = f"{{ {alias.format('p')}page {{ {signs} items {{ n }} }} }}"
    found = judge(build_client(**beside).execute(text))
    assert found == (verdict, verdict.startswith("more"), caption)


@pytest.mark.parametrize("info", ["", "pageInfo", "paginationInfo", "meta.pagination"])
@pytest.mark.parametrize(
    ("flag", "value", "state"),
    [
        ("isLast", False, "more"),
        ("isLastPage", True, "complete"),
        ("last", False, "more"),
        ("hasMorePages", True, "more"),
        ("has_next_page", False, "complete"),
    ],
)
def test_flags_tell_wherever_they_stand_in_a_page(info, flag, value, state):
    """API Platform has `paginationInfo`, Strapi `meta { pagination }`, Spring's pages `last`."""
    sdl, selection, page = f"{flag}: Boolean!", flag, {flag: value}
    types = ""
    for name in reversed(info.split(".") if info else []):
        types += f" type T{name} {{ {sdl} }}"
        sdl, selection, page = f"{name}: T{name}!", f"{name} {{ {selection} }}", {name: page}
    sdl = f"type Query {{ a: Page! }} type Page {{ {sdl} rows: [Row!]! }} type Row {{ n: Int }}"
    rows = {"rows": [{"n": 1}, {"n": 2}]}
    client = Client(Schema(sdl + types, {"Query": {"a": lambda *_: page | rows}}))
    frame = client.execute(f"{{ a {{ {selection} rows {{ n }} }} }}").frame()
    said = f"`{info}.{flag}`" if info else f"`{flag}`"
    assert frame.attrs["completeness"] == f"{state}: {said} is {str(value).lower()}"
    assert frame.attrs["partial"] == (state == "more")


@pytest.mark.parametrize(
    ("selection", "verdict"),
    [
        ("count active: count(active: true)", "more: `count` counts 9"),
        ("active: count(active: true) all: count", "more: `count` counts 9"),
        ("active: count(active: true)", "complete: no sign suggests that rows are missing"),
    ],
)
def test_a_count_with_arguments_of_its_own_counts_other_rows(selection, verdict):
    sdl = "type Query { users: Users! } type Users { count(active: Boolean): Int rows: [Row!]! }"
    resolvers = {
        "Query": {"users": lambda *_: {"rows": [{"n": n} for n in range(5)]}},
        "Users": {"count": lambda _users, args, _context: 7 if args.get("active") else 9},
    }
    client = Client(Schema(f"{sdl} type Row {{ n: Int }}", resolvers))
    frame = client.execute(f"{{ users {{ {selection} rows {{ n }} }} }}").frame()
    assert frame.attrs["completeness"] == verdict


def test_an_object_with_an_identifier_is_no_page():
    """Nothing says that a chapter's list goes on, if another chapter follows."""
    sdl = "type Query { a: Chapter! } type Chapter { id: ID! hasNext: Boolean parts: [Part!]! }"
    resolvers = {"Query": {"a": lambda *_: {"id": 1, "hasNext": True, "parts": [{"n": 1}]}}}
    client = Client(Schema(f"{sdl} type Part {{ n: Int }}", resolvers))
    text = "{ a { parts { n } } }"
    assert client.execute(text).frame().attrs["completeness"].startswith("complete: ")
    assert client.execute_all(text, progress=False).report.complete


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ("", "unknown: `info.hasMore` is not selected"),
        ("(words: String)", "unknown: `info.hasMore` is not selected"),
        ("(first: Int = 100)", "complete: no sign suggests that rows are missing"),
    ],
)
def test_a_flag_that_is_not_selected_may_say_more_where_no_size_shows_a_bound(arguments, verdict):
    sdl = f"type Query {{ a{arguments}: Page! }} type Info {{ hasMore: Boolean }}"
    sdl += " type Page { info: Info rows: [Row!]! } type Row { n: Int }"
    client = Client(Schema(sdl, {"Query": {"a": lambda *_: {"rows": [{"n": 1}, {"n": 2}]}}}))
    frame = client.execute("{ a { rows { n } } }").frame()
    assert frame.attrs["completeness"] == verdict


@pytest.mark.parametrize("flag", ["isLast", "last"])
def test_a_row_may_be_the_last_one_itself(flag):
    """Which says nothing of a list in it; in an object around that list it does."""
    sdl = f"type Query {{ rows: [Row!]! }} type Row {{ {flag}: Boolean parts: [Part!]!"
    sdl += " page: Page }"
    sdl += f" type Page {{ {flag}: Boolean nodes: [Part!]! }} type Part {{ n: Int }}"
    parts = [{"n": 1}, {"n": 2}]
    rows = [{flag: n == 2, "parts": parts, "page": {flag: n == 2, "nodes": parts}} for n in (1, 2)]
    client = Client(Schema(sdl, {"Query": {"rows": lambda *_: rows}}))
    frames = client.execute(f"{{ rows {{ {flag} parts {{ n }} }} }}").frames
    assert frames["rows.parts"].attrs["completeness"].startswith("complete: no sign")
    frames = client.execute(f"{{ rows {{ page {{ {flag} nodes {{ n }} }} }} }}").frames
    assert frames["rows.page"].attrs["completeness"].startswith("more: 1 of 2 lists: ")


@pytest.mark.parametrize("beside", [{"total": 230}, {"hasMore": True}])
@pytest.mark.parametrize("lists", ["items { n } facets { n }", "facets { n } items { n }"])
def test_what_says_more_is_said_of_the_longest_list(beside, lists):
    """The facets of a search stand beside its rows, and the count of all of those."""
    sdl = "type Query { page(limit: Int = 20): Page! } type Row { n: Int! }"
    sdl += (
        "type Page { total: Int hasMore: Boolean facetCount: Int items: [Row!]! facets: [Row!]! }"
    )
    page = {"items": [{"n": n} for n in range(20)], "facets": [{"n": 1}] * 3, "facetCount": 4}
    client = Client(Schema(sdl, {"Query": {"page": lambda *_: page | beside}}))
    text = f"{{ page {{ {' '.join(beside)} {lists} }} }}"
    frames = client.execute(text).frames
    assert frames["page.items"].attrs["completeness"].startswith("more: ")
    assert frames["page.facets"].attrs["completeness"].startswith("complete: ")
    own = client.execute(text.replace("facets", "facetCount facets")).frames["page.facets"]
    assert own.attrs["completeness"] == "more: `facetCount` counts 4"


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        (["rows", 0], "complete: no sign suggests that rows are missing"),
        (["other"], "complete: no sign suggests that rows are missing"),
        (["rows"], "unknown: an error may be of the list"),
        (None, "unknown: an error may be of the list"),
    ],
)
def test_an_error_of_a_list_leaves_rows_out(path, verdict):
    """One without a path may be of any list; one in a row is of a value."""
    resolvers = {"Query": {"rows": lambda *_: [1, 2]}}
    client = Client(Schema("type Query { rows: [Int] other: Int }", resolvers))
    result = client.execute("{ rows other }")
    errors = ({"message": "No", "path": path},)
    failed = Result(data=result.data, errors=errors, document=result.document)
    with pytest.warns(UserWarning, match="The answer is partial"):
        frame = failed.frame()
    assert frame.attrs["completeness"] == verdict


@pytest.mark.parametrize("text", ["{ rows { n inner(first: 3) { n } } }", "{ rows { n fails } }"])
def test_an_error_in_a_row_that_is_not_nullable_leaves_all_rows_out(text):
    """The null goes up to the data, and the path of the error leads to a row."""
    sdl = """type Query { rows: [Row!]! }
    type Row { n: Int! fails: Int! inner(first: Int): [Row!]! }"""

    def fail(*_: object) -> None:
        msg = "No"
        raise ValueError(msg)

    row = {"fails": fail, "inner": fail}
    client = Client(Schema(sdl, {"Query": {"rows": lambda *_: [{"n": 1}]}, "Row": row}))
    result = client.execute(text)
    assert result.data is None
    with pytest.warns(UserWarning, match="partial"):
        frame = result.frame("rows")
    assert frame.attrs["completeness"] == "unknown: an error may be of the list"


def test_all_pages_have_the_verdict_of_their_report():
    """It is that of the list, not that of a page."""
    client = build_client()
    whole = client.execute_all("{ owned(id: 3) { n } }", progress=False).frame()
    assert whole.attrs["completeness"] == "complete: all pages were received"
    with pytest.warns(UserWarning, match="usual limit"):
        doubted = client.execute_all("{ plain { n } }", progress=False).frame()
    assert doubted.attrs["completeness"].startswith("unknown: plain: 10 rows is a usual limit")


AUTHORS = """
type Query { authors: [Author!]! }
type Author { id: ID! tagCount: Int tags(limit: Int): [String!] posts(first: Int = 3): Posts! }
type Posts { totalCount: Int pageInfo: Info! edges: [Edge!]! nodes: [Post]! }
type Edge { node: Post }
type Info { hasNextPage: Boolean! } type Post { id: ID! tags(limit: Int = 9): [String!]! }
"""


def execute_authors(text: str, lengths: list[int], *, nulls: int = 0) -> Result:
    """Return the answer to a query of authors who have so many posts and tags."""

    def resolve_posts(author: int, args: dict[str, Any], _context: Any) -> dict[str, Any]:
        posts = [{"id": f"{author}-{number}"} for number in range(lengths[author])]
        shown: list[Any] = [*posts[: args["first"]], *[None] * (nulls if author == 0 else 0)]
        info = {"hasNextPage": len(posts) > args["first"]}
        edges = [{"node": post} for post in shown]
        return {"nodes": shown, "edges": edges, "totalCount": len(posts) + nulls, "pageInfo": info}

    def resolve_tags(author: int, args: dict[str, Any], _context: Any) -> list[str]:
        return [f"t{number}" for number in range(min(lengths[author], args.get("limit") or 99))]

    author = {
        "id": lambda author, *_: str(author),
        "posts": resolve_posts,
        "tags": resolve_tags,
        "tagCount": lambda author, *_: lengths[author],
    }
    resolvers = {
        "Query": {"authors": lambda *_: list(range(len(lengths)))},
        "Author": author,
        "Post": {"tags": lambda _post, args, _context: ["t"] * min(4, args["limit"])},
    }
    return Client(Schema(AUTHORS, resolvers)).execute(text)


@pytest.mark.parametrize(
    ("selection", "path", "more"),
    [
        ("posts(first: 2) { totalCount nodes { id } }", "authors.posts", "`totalCount` counts 5"),
        ("posts(first: 2) { totalCount edges { node { id } } }", "authors.posts", "counts 5"),
        ("posts(first: 2) { n: totalCount nodes { id } }", "authors.posts", "counts 5"),
        ("posts { pageInfo { hasNextPage } nodes { id } }", "authors.posts", "is true"),
        ("tags(limit: 4) tagCount", "authors.tags", "`tagCount` counts 5"),
    ],
)
def test_lists_in_rows_have_a_verdict(selection, path, more):
    """By what counts each of them, in the frame of the list and in that which joins it."""
    text = f"{{ authors {{ id {selection} }} }}"
    result = execute_authors(text, [1, 5, 0, 2])
    for frame in (
        result.frame(path),
        result.tables()[path],
        result.frame("authors", explode=path.partition(".")[2]),
    ):
        verdict = frame.attrs["completeness"]
        assert verdict.startswith("more: 1 of 4 lists: ")
        assert more in verdict
        assert frame.attrs["partial"]
    assert repr(result).endswith(f'nested lists: .frames["{path}"] (more exist)')
    short = execute_authors(text, [1, 1, 0])
    assert repr(short).endswith(f'nested lists: .frames["{path}"]')
    whole = short.frame(path)
    assert whole.attrs["completeness"].startswith("complete: ")
    assert not whole.attrs["partial"]
    assert result.frame("authors").attrs["completeness"].startswith("complete: ")
    assert len(result.frame(path).columns) == len(whole.columns)


@pytest.mark.parametrize("size", ["first: 2", "first: $size"])
def test_a_reached_size_of_a_list_in_rows_is_unknown(size):
    """Of each list by itself; the size of the outer list is not theirs."""
    text = f"query ($size: Int = 2) {{ authors {{ id posts({size}) {{ nodes {{ id }} }} }} }}"
    text = text.replace("query ($size: Int = 2) ", "") if "$" not in size else text
    result = execute_authors(text, [1, 5, 0, 2])
    assert repr(result).endswith("(perhaps more)")
    frame = result.frame("authors.posts")
    assert frame.attrs["completeness"] == "unknown: 2 of 4 lists: `first: 2` is reached"
    assert not frame.attrs["partial"]
    short = execute_authors(text, [1, 0, 1]).frame("authors.posts")
    assert short.attrs["completeness"].startswith("complete: ")


@strawberry.input
class Paging:
    take: int = 10
    skip: int = 0


@strawberry.type
class Shelf:
    name: str

    @strawberry.field
    def books(self, paging: Paging | None = None) -> list[str]:
        paging = paging or Paging()
        return [str(n) for n in range(24)][paging.skip :][: paging.take]


@strawberry.type
class Library:
    @strawberry.field
    def shelves(self) -> list[Shelf]:
        return [Shelf(name="a"), Shelf(name="b")]


def test_the_default_of_a_class_may_cut_lists_without_its_object():
    frame = (
        Client(strawberry.Schema(Library)).execute("{ shelves { books } }").frame("shelves.books")
    )
    assert frame.attrs["completeness"] == "unknown: 2 of 2 lists: `paging.take: 10` is reached"


@pytest.mark.parametrize("last", [0, 3, 4, 5])
@pytest.mark.parametrize("count", ["", "totalCount "])
def test_lists_that_one_limit_may_have_cut_are_unknown(count, last):
    """nestjs-query 9.5 limits the query for all objects, or has one row more."""
    selection = f"posts(first: 20) {{ {count}pageInfo {{ hasNextPage }} nodes {{ id }} }}"
    result = execute_authors(f"{{ authors {{ id {selection} }} }}", [9, 8, 0, last])
    verdict = result.frame("authors.posts").attrs["completeness"]
    is_shared = last in {3, 4} and not count
    assert ("`first: 20` may bound all lists together" in verdict) == is_shared
    assert verdict.startswith("unknown: 4 of 4" if is_shared else "complete")


def test_a_list_in_the_rows_of_a_cut_list_is_not_whole():
    """Its own lists are whole, but those of other rows did not come."""
    text = "{ authors { posts(first: 2) { totalCount nodes { id tags } } } }"
    frame = execute_authors(text, [1, 5]).frame("authors.posts.tags")
    assert frame.attrs["completeness"] == "more: 1 of 2 lists: `totalCount` counts 5"
    assert frame.attrs["partial"]


def test_null_items_of_a_list_in_rows_do_not_make_it_longer():
    """They count among all items, and were dropped."""
    text = "{ authors { posts { totalCount nodes { id } } } }"
    frame = execute_authors(text, [1, 0], nulls=1).frame("authors.posts")
    assert not frame.attrs["completeness"].startswith("more")


def test_mapped_answers_have_the_weakest_verdict():
    """With the number of answers it is of; so has a frame that joins frames."""
    text = "query ($n: Int!) { page(first: $n) { totalCount items { n } } }"
    client = build_client(totalCount=7)
    frame = client.map(text, [{"n": 9}, {"n": 7}, {"n": 3}])
    assert frame.attrs["completeness"] == "more: 1 of 3 answers: `totalCount` counts 7"
    assert frame.attrs["partial"]
    frame = client.map(text, [{"n": 7}])
    assert frame.attrs["completeness"] == "unknown: 1 of 1 answers: `first: 7` is reached"
    assert not frame.attrs["partial"]
    frames = [client.frame(text, {"n": number}) for number in (3, 7)]
    joined = concat(frames)
    assert joined.attrs["completeness"] == "more: 1 of 2 frames: `totalCount` counts 7"
    assert joined.attrs["partial"]


def test_all_tables_of_a_list_have_the_same_words():
    """The text, the HTML, `attrs`, a view of the result and one of the frame; not a part of it."""
    result = build_client(totalCount=1067).execute("{ page { totalCount items { n } } }")
    frame, words = result.frame(), f"7 of 1,067 rows; {FETCH_ALL}"
    assert str(result).endswith(words)
    assert words in result._repr_mimebundle_()[0]["text/html"]
    assert frame.attrs["caption"] == words
    assert frame.attrs["all_rows"] == 1067
    for view in (ResultView(result), ResultView(frame)):
        assert words in view._build_html()
        assert view._get_source(0).answer({"ask": "about"})["caption"] == words
    assert describe_frame(frame.head(3)) == "3 rows"


def test_pages_that_are_not_proved_complete_say_so_in_the_table():
    """With the count of the endpoint, in the words of the report."""
    client = build_client(totalCount=1067)
    report = Report(7, 1067, 0, 1, doubts=("Pages overlap.",))
    one = client.execute("{ page { items { n } } }")
    result = Result(one.data, document=one.document, report=report)
    assert "7 of 1,067 rows, not proved complete" in str(result).splitlines()
    with pytest.warns(UserWarning, match="may be incomplete"):
        frame = result.frame()
    assert frame.attrs["caption"] == "7 of 1,067 rows, not proved complete"
    assert frame.attrs["completeness"] == "unknown: Pages overlap."
    assert frame.attrs["partial"]


def test_a_mutation_is_not_paged():
    """So no option is named that would fetch the other rows."""
    sdl = "type Query { a: Int } type Mutation { page: Page } type Page { total: Int rows: [Int] }"
    schema = Schema(sdl, {"Mutation": {"page": lambda *_: {"total": 9, "rows": [1, 2]}}})
    result = schema.execute("mutation { page { total rows } }")
    assert str(result).endswith("\n2 of 9 rows")


def test_an_event_with_an_incomplete_list_is_named():
    """Its rows look like all rows of the event."""
    event = {"page": {"totalCount": 9, "rows": [{"n": 1}, {"n": 2}]}}
    live = LiveFrame([event, {"page": {"totalCount": 1, "rows": [{"n": 3}]}}])
    live.wait()
    assert live.status.endswith("3 rows; incomplete list in 1 event, the last: 2 of 9 rows.")
    assert live.frame.attrs["partial"]
