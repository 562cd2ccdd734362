"""Harvests of issues, users and discussions, of a simulation of GitHub's search."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

import gqlnb
from gqlnb import AuthError, Client, OptionError, QueryError
from tests.github.harvester.github_search import Search

BEGIN = 1_500_000_000


def make_rows(count: int, seed: int = 1) -> dict[str, dict[str, int]]:
    """Return rows whose times crowd towards the end."""
    generator = random.Random(seed)
    rows = {}
    for number in range(count):
        created = BEGIN + int(generator.random() ** 0.3 * 10**8)
        rows[f"i{number}"] = {"created": created, "updated": created + generator.randint(0, 10**7)}
    return rows


@pytest.mark.parametrize(
    ("kind", "column"),
    [("ISSUE", "created"), ("ISSUE", "updated"), ("USER", "created"), ("DISCUSSION", "updated")],
)
def test_all_nodes_of_a_type_come(kind, column):
    """A search with more than 1,000 results is divided by time, and every node comes once."""
    search = Search(make_rows(2500))
    client = Client(search.build_schema())
    found = gqlnb.github.harvest_nodes("label:bug", type=kind, slice=column, client=client)  # type: ignore[call-overload]
    assert found.complete
    assert sorted(found.frame()["id"]) == sorted(search.rows)
    assert found.coverage.expected == 2500
    pages = 25 + found.coverage.windows  # the last page of a range is half empty on average
    verified = 0 if column == "created" else found.coverage.windows
    assert len(search.texts) <= pages + verified + 8


def test_the_search_is_divided_in_githubs_syntax():
    """Ranges are written as GitHub does, in whole seconds and sorted by their time."""
    search = Search(make_rows(1500))
    gqlnb.github.harvest_nodes("repo:a/b {x}", type="ISSUE", client=Client(search.build_schema()))
    first, *others = search.texts
    assert first == "repo:a/b {x} is:issue created:2007-10-01T00:00:00Z..* sort:created-asc"
    assert all(text.startswith("repo:a/b {x} is:issue created:20") for text in others)
    assert all("." not in text.replace("..", "") for text in others)


def test_a_range_in_the_query_bounds_the_harvest():
    """`created:` in the query becomes the whole that is divided."""
    search = Search(make_rows(2000))
    query = "created:>=2019-01-01 created:<2020-01-01 is:open is:issue"
    found = gqlnb.github.harvest_nodes(query, type="ISSUE", client=Client(search.build_schema()))
    inside = [k for k, row in search.rows.items() if 1546300800 <= row["created"] < 1577836800]
    assert sorted(found.frame()["id"]) == sorted(inside)
    assert search.texts[0].startswith(
        "is:open is:issue created:2019-01-01T00:00:00Z..2019-12-31T23:59:59Z"
    )


def test_own_fields_are_typed_columns():
    """`fields` replaces the default fields; the id and both times are always there."""
    search = Search(make_rows(20))
    found = gqlnb.github.harvest_nodes(
        "",
        type="ISSUE",
        fields="comments { totalCount } author { login }",
        client=Client(search.build_schema()),
    )
    frame = found.frame()
    assert list(frame.columns) == [
        "id",
        "createdAt",
        "updatedAt",
        "comments.totalCount",
        "author.login",
    ]
    assert str(frame["comments.totalCount"].dtype) == "Int64"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": "COMMIT"}, "type= is one of 'ISSUE', 'PULL_REQUEST'"),
        ({"type": "USER", "slice": "updated"}, "GitHub has no other qualifier"),
        ({"type": "ISSUE", "refresh": True}, "name it with out="),
    ],
)
def test_wrong_options_are_refused(options, message):
    """An option that cannot be used is named before a request."""
    search = Search({})
    with pytest.raises(OptionError, match=message):
        gqlnb.github.harvest_nodes("x", client=Client(search.build_schema()), **options)
    assert not search.texts


@pytest.mark.parametrize(
    "query", ["x sort:created-desc", "created:2020-01-01..2019-01-01", "created:soon", "x is:pr"]
)
def test_wrong_queries_are_refused(query):
    """A sort order, times that cannot be and another type are errors before a request."""
    search = Search({})
    with pytest.raises(QueryError):
        gqlnb.github.harvest_nodes(query, type="ISSUE", client=Client(search.build_schema()))
    assert not search.texts


def test_a_refresh_by_updated_finds_all_changes(tmp_path):
    """Nodes that were added, changed and deleted since are named, and the folder is right again."""
    rows = make_rows(1500)
    search = Search(rows)
    client = Client(search.build_schema())
    options: dict[str, Any] = {
        "type": "ISSUE",
        "slice": "updated",
        "client": client,
        "out": tmp_path,
    }
    first = gqlnb.github.harvest_nodes("x", **options)
    assert first.complete
    assert first.changes is None
    before = len(search.texts)
    now = int(time.time()) + 10
    rows["i5000"] = {"created": now, "updated": now}
    rows["i7"]["updated"] = rows["i8"]["updated"] = now
    del rows["i9"]
    again = gqlnb.github.harvest_nodes("x", **options, refresh=True)
    assert again.complete
    assert again.changes is not None
    assert again.changes.added == ["i5000"]
    assert sorted(again.changes.changed) == ["i7", "i8"]
    assert again.changes.removed == ["i9"]
    assert sorted(again.frame()["id"]) == sorted(rows)
    assert len(search.texts) - before < 40
    assert "1 added, 2 changed, 1 removed" in repr(again)


def test_the_type_is_selected_beside_other_terms():
    """`is:open` says nothing about the type; a term that selects it is not repeated."""
    search = Search(make_rows(5))
    client = Client(search.build_schema())
    for query in ("repo:a/b is:open", "is:issue is:open", "type:x"):
        gqlnb.github.harvest_nodes(query, type="ISSUE", client=client)
    texts = [text.partition(" created:")[0] for text in dict.fromkeys(search.texts)]
    assert texts == ["repo:a/b is:open is:issue", "is:issue is:open", "type:x is:issue"]


@pytest.mark.parametrize("fields", ["{ number }", "number # their numbers", " {\n number\n} "])
def test_own_fields_may_have_braces_and_comments(fields):
    """As those of repositories."""
    client = Client(Search(make_rows(5)).build_schema())
    frame = gqlnb.github.harvest_nodes("x", type="ISSUE", client=client, fields=fields).frame()
    assert list(frame.columns) == ["id", "createdAt", "updatedAt", "number"]


def test_wrong_own_fields_are_named():
    """The error suggests a name, and does not say that the endpoint is another service."""
    client = Client(Search(make_rows(5)).build_schema())
    with pytest.raises(QueryError, match=r"Did you mean .*title") as caught:
        gqlnb.github.harvest_nodes("x", type="ISSUE", client=client, fields="titel")
    assert "GitHub" not in str(caught.value)
    with pytest.raises(QueryError, match=r"fields= takes a selection on Issue.*, not \['title'\]"):
        gqlnb.github.harvest_nodes("x", type="ISSUE", client=client, fields=["title"])  # type: ignore[call-overload]


def test_a_wrong_token_is_named():
    """Without a schema the endpoint says why, not that the query has no list."""
    schema = Search(make_rows(5)).build_schema()
    token = gqlnb.Token("right-" + "x" * 20)
    with gqlnb.serve(schema, port=0, token=token) as server:
        client = Client(server.url, token=gqlnb.Token("wrong-" + "x" * 20))
        with pytest.raises(AuthError):
            gqlnb.github.harvest_nodes("x", type="ISSUE", client=client)
