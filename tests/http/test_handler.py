"""GraphQL over HTTP: request in, response out, no socket."""

from __future__ import annotations

import asyncio
import json
import logging
import math

import pytest

from gqlnb.http.handler import handle_request
from gqlnb.http.messages import JSON_CONTENT_TYPE, Response
from gqlnb.http.server_rules import ServerRules
from gqlnb.server.page import build_pages
from gqlnb.tokens import Token
from tests.http.http_requests import GRAPHQL, ODD, WORDS, ask, request, said


def test_big_integers_are_exact():
    """A variable of more than 64 bits is neither rounded nor rejected."""
    query = b"query ($v: Anything) { same(value: $v) }"
    body = b'{"query":"%b","variables":{"v":18446744073709551617}}' % query
    assert said(ask(request(body=body))) == {"data": {"same": 2**64 + 1}}


# ---------------------------------------------------------------- tokens

GUARDED = ServerRules(token=Token("open-sesame"), pages=build_pages())


@pytest.mark.parametrize("word", ["Bearer", "bearer", "BEARER", "token", "Token"])
def test_the_correct_token_is_accepted(word):
    """The schemes Bearer and token are case-insensitive, as on GitHub."""
    assert ask(request(headers={"authorization": f"{word} open-sesame"}), GUARDED).status == 200


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "open-sesame",
        "Bearer open-sesam",
        "Bearer open-sesame2",
        "Bearer Open-Sesame",
        "Basic open-sesame",
        "Bearer open-sesame, Bearer open-sesame",
        "Bearer ÿþ",
    ],
)
def test_any_other_token_gets_401(header):
    """The response has message, documentation_url and the scheme to use."""
    given_headers = {} if header is None else {"authorization": header}
    response = ask(request(headers=given_headers), GUARDED)
    assert response.status == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert {"message", "documentation_url", "errors"} == set(said(response))
    section = "3.1" if header else "2.1"
    guide = f"https://www.rfc-editor.org/rfc/rfc6750#section-{section}"
    assert said(response)["documentation_url"] == guide
    assert b"sesame" not in response.body


def test_a_foreign_host_is_rejected_before_the_token_check():
    """A rebound page cannot test tokens."""
    headers = {"host": "evil.example", "authorization": "Bearer wrong"}
    assert ask(request(headers=headers), GUARDED).status == 403


# ---------------------------------------------------------------- the page

OPEN = ServerRules(pages=build_pages())
BROWSER = {"accept": "text/html,*/*;q=0.8", "sec-fetch-site": "cross-site"}


@pytest.mark.parametrize("path", sorted(set(build_pages()) - {"/graphql"}))
def test_the_assets_of_the_page_are_served(path):
    """By GET only, for any Accept header."""
    assert ask(request(method="GET", path=path), OPEN).status == 200
    refused = ask(request(path=path), OPEN)
    assert (refused.status, refused.headers["allow"]) == (405, "GET")


def test_the_page_is_not_served_to_a_foreign_host():
    """A rebound name gets no page either."""
    wanted = request(method="GET", headers=BROWSER | {"host": "evil.example"})
    assert ask(wanted, OPEN).status == 403


def test_the_page_is_disabled_with_a_token():
    """A browser gets 401 without the token, and no page with it."""
    assert ask(request(method="GET", headers=BROWSER), GUARDED).status == 401
    headers = BROWSER | {"authorization": "Bearer open-sesame"}
    assert ask(request(method="GET", headers=headers), GUARDED).status == 405


# ---------------------------------------------------------------- masking


def test_exception_messages_are_masked(caplog):
    """The client gets an id with location and path; the log has the exception."""
    with caplog.at_level(logging.ERROR, "gqlnb"):
        response = ask(request("{ hello secret }"))
    (error,) = said(response)["errors"]
    assert said(response)["data"] == {"hello": "Hello world!", "secret": None}
    assert set(error) == {"message", "path", "locations"}
    assert (error["path"], error["locations"]) == (["secret"], [{"line": 1, "column": 9}])
    (record,) = caplog.records
    number = record.args[0]
    assert error["message"].startswith(f"Internal error {number}.")
    assert WORDS.encode() not in response.body
    assert str(record.exc_info[1]) == WORDS


def test_a_non_null_violation_is_not_masked():
    """The message describes the schema only."""
    (error,) = said(ask(request("{ must }")))["errors"]
    assert error["message"] == "Cannot return null for non-nullable field Query.must."


def test_an_internal_error_is_masked(caplog):
    """A response that cannot be written is 500 with the id of the logged exception."""
    with caplog.at_level(logging.ERROR, "gqlnb"):
        response = ask(request("{ endless }", headers=GRAPHQL))
    assert (response.status, response.headers["content-type"]) == (500, JSON_CONTENT_TYPE)
    assert caplog.records[0].args[0] in said(response)["errors"][0]["message"]
    assert isinstance(caplog.records[0].exc_info[1], RecursionError)


def test_the_repr_of_a_request_has_no_headers():
    """Tracebacks with local variables show no token."""
    assert "sesame" not in repr(request(headers={"authorization": "Bearer sesame"}))


# ---------------------------------------------------------------- values without a JSON form


def test_a_value_without_a_json_form_becomes_null(caplog):
    """An error has its type and path, and all other data is kept."""
    with caplog.at_level(logging.ERROR, "gqlnb"):
        response = ask(request("{ anything hello }", headers=GRAPHQL))
    assert response.status == 200
    assert said(response) == {
        "errors": [
            {
                "message": "nan has no JSON form. Send null, or a finite number.",
                "path": ["anything", "list", 0],
            }
        ],
        "data": {"anything": {"list": [None]}, "hello": "Hello world!"},
    }
    assert "anything.list.0" in caplog.text


@pytest.mark.parametrize("kind", sorted(set(ODD) - {"many"}))
def test_arbitrary_scalar_values_keep_the_rest_of_the_data(kind):
    """Unusable values are null with an error, beside data and earlier errors."""
    variables = {"kind": kind}
    query = "query ($kind: String!) { odd(kind: $kind) hello refused }"
    body = json.dumps({"query": query, "variables": variables}).encode()
    response = ask(request(body=body))
    assert response.status == 200
    assert said(response)["data"] == {"odd": None, "hello": "Hello world!", "refused": None}
    first, second = said(response)["errors"]
    assert (first["path"], second["path"]) == (["refused"], ["odd"])


def test_extensions_without_a_json_form_are_dropped():
    """The rest of the error is sent."""

    async def execute(_request):
        error = {"message": "No.", "extensions": {"size": math.nan}}
        return Response(200, members={"errors": [error], "data": {"a": 1}})

    answered = said(asyncio.run(handle_request(request(), execute)))
    assert answered["data"] == {"a": 1}
    assert answered["errors"][0] == {"message": "No.", "extensions": {"size": None}}
    assert set(answered["errors"][1]) == {"message"}
