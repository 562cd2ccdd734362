"""Two readings of GraphQL over HTTP, row by row: the published audits, and the draft."""

from __future__ import annotations

import json
import logging

import pytest

from gqlnb.wire.access import Access
from gqlnb.wire.response import GRAPHQL_JSON, JSON
from gqlnb.wire.rules import Rules
from tests.wire.asking import GRAPHQL, WORDS, ask, get, request, said

PLAIN = {"accept": "application/json"}
NEITHER = {"accept": "text/csv"}
PROFILES = {
    name: Rules(access=Access(profile=name, get=True, origins=["http://pages.example"]))
    for name in ("audit", "draft")
}


def members(**given):
    """Return a JSON body."""
    return json.dumps(given).encode()


TWO = "query A { hello } query B { hello }"
COERCED = members(query="query ($t: String!) { echo(text: $t) }", variables={"t": [1]})
UNKNOWN = members(query=TWO, operationName="C")
# What is asked, the status by the audits and by the draft, and the media type of the answer.
ROWS = {
    "fine, G": (request(headers=GRAPHQL), 200, 200, GRAPHQL_JSON),
    "fine, J": (request(headers=PLAIN), 200, 200, JSON),
    "fine, */*": (request(headers={"accept": "*/*"}), 200, 200, JSON),
    "fine, no Accept": (request(), 200, 200, JSON),
    "a field fails, G": (request("{ hello secret }", headers=GRAPHQL), 200, 294, GRAPHQL_JSON),
    "a field fails, J": (request("{ hello secret }", headers=PLAIN), 200, 200, JSON),
    "all is null, G": (request("{ must }", headers=GRAPHQL), 200, 294, GRAPHQL_JSON),
    "Accept excludes both": (request(headers=NEITHER), 200, 406, JSON),
    "Accept excludes both, wrong body": (request(body=b"x", headers=NEITHER), 400, 406, JSON),
    "Content-Type absent": (request(headers=GRAPHQL, drop=["content-type"]), 415, 415, JSON),
    "Content-Type other": (request(headers={"content-type": "text/plain"}), 415, 415, JSON),
    "not JSON, G": (request(body=b"{ hello }", headers=GRAPHQL), 400, 400, JSON),
    "not JSON, J": (request(body=b"{ hello }", headers=PLAIN), 400, 400, JSON),
    "empty": (request(body=b"", headers=GRAPHQL), 400, 400, JSON),
    "not UTF-8": (request(body=b'{"query":"\xff"}', headers=GRAPHQL), 400, 400, JSON),
    "query missing": (request(body=b"{}", headers=GRAPHQL), 400, 422, JSON),
    "query wrong": (request(body=members(query=1), headers=GRAPHQL), 400, 422, JSON),
    "variables wrong": (request(body=members(query="{a}", variables=[])), 400, 422, JSON),
    "extensions wrong": (request(body=members(query="{a}", extensions=[])), 400, 422, JSON),
    "operationName wrong": (request(body=members(query="{a}", operationName=1)), 400, 422, JSON),
    "null": (request(body=b"null", headers=GRAPHQL), 400, 422, JSON),
    "null members": (
        request(body=members(query="{ hello }", variables=None, operationName=None)),
        200,
        200,
        JSON,
    ),
    "unknown members": (request(body=members(query="{ hello }", id=1)), 200, 200, JSON),
    "syntax, G": (request("{ hello", headers=GRAPHQL), 400, 400, GRAPHQL_JSON),
    "syntax, J": (request("{ hello", headers=PLAIN), 200, 400, JSON),
    "no text, G": (request("", headers=GRAPHQL), 400, 400, GRAPHQL_JSON),
    "validation, G": (request("{ helo }", headers=GRAPHQL), 400, 422, GRAPHQL_JSON),
    "validation, J": (request("{ helo }", headers=PLAIN), 200, 422, JSON),
    "coercion, G": (request(body=COERCED, headers=GRAPHQL), 400, 422, GRAPHQL_JSON),
    "coercion, J": (request(body=COERCED, headers=PLAIN), 200, 422, JSON),
    "ambiguous, G": (request(TWO, headers=GRAPHQL), 400, 422, GRAPHQL_JSON),
    "ambiguous, J": (request(TWO, headers=PLAIN), 200, 422, JSON),
    "unknown operation, G": (request(body=UNKNOWN, headers=GRAPHQL), 400, 422, GRAPHQL_JSON),
    "GET query, G": (get(query="{ hello }", headers=GRAPHQL), 200, 200, GRAPHQL_JSON),
    "GET query, J": (get(query="{ hello }", headers=PLAIN), 200, 200, JSON),
    "GET mutation, G": (get(query="mutation { count }", headers=GRAPHQL), 405, 405, JSON),
    "GET mutation, J": (get(query="mutation { count }", headers=PLAIN), 405, 405, JSON),
    "GET without a query": (get(b"x=1"), 400, 422, JSON),
    "PUT": (request(method="PUT", headers=GRAPHQL), 405, 405, JSON),
    "HEAD": (request(method="HEAD"), 405, 405, JSON),
    "OPTIONS": (request(method="OPTIONS"), 405, 405, JSON),
    "other path": (request(path="/", headers=GRAPHQL), 404, 404, JSON),
    "foreign Host": (request(headers={"host": "evil.example"}), 403, 403, JSON),
    "foreign Origin": (request(headers={"origin": "http://evil.example"}), 403, 403, JSON),
    "body too large": (request(body=b" " * (2**20 + 1), headers=GRAPHQL), 400, 413, JSON),
    "body too large, announced": (request(headers={"content-length": "1048577"}), 400, 413, JSON),
    "head too large": (request(headers={"x": "x" * 2**15}), 431, 431, JSON),
    "URI too long": (get(query="{ hello }" + " " * 2**15), 431, 431, JSON),
    "batch": (request(body=b'[{"query":"{ hello }"}]', headers=GRAPHQL), 400, 422, JSON),
    "a fault of ours": (request("{ endless }", headers=GRAPHQL), 500, 500, JSON),
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("wanted", "audit", "draft", "media"), ROWS.values(), ids=ROWS)
def test_every_row(wanted, audit, draft, media, profile):
    """Status and media type are those of the profile, and the body is always JSON."""
    response = ask(wanted, PROFILES[profile])
    assert response.status == {"audit": audit, "draft": draft}[profile]
    assert response.headers["content-type"] == media
    assert {"data", "errors"} & set(said(response))
    if response.status >= 400:
        assert "data" not in said(response)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_fault_of_ours_is_masked_by_either(profile, caplog):
    """500 tells an id, and the log has the exception under it."""
    with caplog.at_level(logging.ERROR, "gqlnb"):
        response = ask(request("{ hello secret }", headers=GRAPHQL), PROFILES[profile])
    ((number, fault),) = response.faults
    assert said(response)["errors"][0]["message"].startswith(f"Internal error {number}.")
    assert WORDS.encode() not in response.body
    assert str(fault) == WORDS


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("wanted", [request("{ hello"), request("{ helo }")])
def test_data_that_is_not_there_is_not_null(wanted, profile):
    """A request error has no entry of that name, where peers send null."""
    assert set(said(ask(wanted, PROFILES[profile]))) == {"errors"}
