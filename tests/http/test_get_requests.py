"""Queries by GET: off unless asked for, as strict as a body, and for queries alone."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.messages import Request, parse_query_string
from gqlnb.http.server_rules import Access, ServerRules
from gqlnb.server.page import build_pages
from tests.http.http_requests import GRAPHQL, RULES, ask, get, said

OPEN = ServerRules(access=Access(get=True), pages=build_pages())
BROWSER = {"accept": "text/html,*/*;q=0.8", "sec-fetch-site": "none"}


def test_a_query_by_get_gets_405_unless_enabled():
    """The response names the method to use."""
    response = ask(get(query="{ hello }"), RULES)
    assert (response.status, response.headers["allow"]) == (405, "POST")
    response = ask(get(query="{ hello }"), OPEN)
    assert (response.status, said(response)) == (200, {"data": {"hello": "Hello world!"}})
    assert response.headers["cache-control"] == "no-store"


def test_a_405_names_both_methods_if_get_is_enabled():
    """For example for PUT."""
    assert ask(get(query="{ hello }", method="PUT"), OPEN).headers["allow"] == "GET, POST"


def test_all_parameters_are_parsed():
    """Variables and extensions as JSON, operationName as text."""
    query = "query A($t: String!) { echo(text: $t) } query B { hello }"
    variables, extensions = json.dumps({"t": "a+b & ü"}), json.dumps({"x": 1})
    wanted = get(query=query, operationName="A", variables=variables, extensions=extensions, id="7")
    assert said(ask(wanted, OPEN)) == {"data": {"echo": "a+b & ü"}}


@pytest.mark.parametrize("text", ["", "operationName=", "variables=null", "extensions=null"])
def test_optional_parameters_may_be_omitted(text):
    """Empty names and null count as omitted."""
    assert parse_query_string(f"query=%7Ba%7D&{text}".encode()) == Request("{a}", safe=True)


@pytest.mark.parametrize(
    ("query_string", "reason"),
    [
        (b"", "parameter 'query' must be there"),
        (b"q=%7Bhello%7D", "parameter 'query' must be there"),
        (b"query=%7Ba%7D&query=%7Bb%7D", "'query' is given more than once"),
        (b"query=%7Ba%7D&variables=%7B%7D&variables=%7B%7D", "'variables' is given more than once"),
        (b"query=%7Ba%7D&variables=[1]", "'variables' must be an object"),
        (b"query=%7Ba%7D&variables=", "'variables' is not JSON"),
        (b"query=%7Ba%7D&variables=x", "'variables' is not JSON"),
        (b"query=%7Ba%7D&variables=%22x%22", "'variables' must be an object"),
        (b"query=%7Ba%7D&variables=%7B%22a%22%3ANaN%7D", "'variables' is not JSON"),
        (b"query=%7Ba%7D&extensions=[]", "'extensions' must be an object"),
        (b"query=%7Ba%7D%FF", "not UTF-8"),
        (b"query=\xff", "not UTF-8"),
        (b"query=%7", "percent-encoded"),
        (b"query=%zz", "percent-encoded"),
        (b"query=%ED%A0%80", "not UTF-8"),
        (b"query=%7Ba%7D" + b"&x=1" * 200, "more than 100 parameters"),
        (b"query=%7Ba%7D&variables=" + b"[" * 11_000, "nested too deeply"),
    ],
)
def test_an_invalid_parameter_is_rejected(query_string, reason):
    """The response names it."""
    response = ask(get(query_string or b"&"), OPEN)
    assert response.status == 400
    assert reason in said(response)["errors"][0]["message"]


@pytest.mark.parametrize(
    "query",
    [
        "mutation { count }",
        "mutation M { count } ",
        "subscription { x }",
        "mutation { unknown }",
        "mutation { __typename }",
    ],
)
def test_only_queries_are_executed(query):
    """A mutation gets 405 even if it is invalid."""
    response = ask(get(query=query, headers=GRAPHQL), OPEN)
    assert (response.status, response.headers["allow"]) == (405, "POST")


def test_operation_name_selects_the_operation_to_check():
    """A document may contain a mutation if a query is executed."""
    both = "query Q { hello } mutation M { count }"
    assert ask(get(query=both, operationName="Q"), OPEN).status == 200
    assert ask(get(query=both, operationName="M"), OPEN).status == 405
    assert ask(get(query=both, headers=GRAPHQL), OPEN).status == 400


def test_a_browser_gets_the_page_even_with_a_query():
    """The page does not execute the query of a link by itself."""
    response = ask(get(query="{ hello }", headers=BROWSER), OPEN)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    alone = ServerRules(access=Access(get=True, page=False))
    assert said(ask(get(query="{ hello }", headers=BROWSER), alone))["data"]
