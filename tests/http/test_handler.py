"""GraphQL over HTTP as a table: request in, response out, no socket."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from dataclasses import replace

import pytest

from gqlnb.http.handler import handle_request
from gqlnb.http.messages import GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE, Response
from gqlnb.http.preconditions import check_preconditions
from gqlnb.http.server_rules import ServerRules
from gqlnb.server.page import build_pages
from gqlnb.tokens import Token
from tests.http.http_requests import GRAPHQL, ODD, WORDS, ask, request, said

# ---------------------------------------------------------------- statuses

ROWS = {
    name: (wanted, status, set(members.split()))
    for (status, members), rows in {
        (200, "data"): {
            "mutation": request("mutation { count }"),
            "async resolver": request("{ later }"),
            "other case of the media type": request(
                headers={"content-type": "Application/JSON; Charset=UTF-8"}
            ),
            "byte order mark": request(body=b'\xef\xbb\xbf{"query": "{ hello }"}'),
            "same origin": request(headers={"origin": "http://127.0.0.1:4000"}),
            "same origin by fetch": request(headers={"sec-fetch-site": "same-origin"}),
            "localhost": request(headers={"host": "LOCALHOST:9"}),
            "IPv6": request(headers={"host": "[::1]:4000"}),
            "not compressed": request(headers={"content-encoding": "Identity"}),
            "chunked": request(headers={"transfer-encoding": "Chunked"}),
        },
        (200, "data errors"): {
            "a field fails": request("{ hello secret }"),
            "NaN from a resolver": request("{ anything }"),
        },
        (200, "errors"): {
            "empty query, JSON": request(""),
            "unknown operation, JSON": request(
                body=b'{"query":"query A { hello }","operationName":"B"}'
            ),
        },
        (400, "errors"): {
            "missing variable, GraphQL": request(
                "query ($t: String!) { echo(text: $t) }", headers=GRAPHQL
            ),
            "half JSON": request(body=b'{"query": "{ he'),
            "lone surrogate": request(body=b'{"query": "{ hello }", "variables": "\\ud800"}'),
            "NaN": request(body=b'{"query": "{ hello }", "variables": {"x": NaN}}'),
            "nested deeply": request(body=b"[" * 200_000),
            "a number": request(body=b"1"),
            "a string": request(body=b'"{ hello }"'),
            "query null": request(body=b'{"query":null}'),
            "absurdly large, announced": request(headers={"content-length": "9" * 5000}),
            "length no number": request(headers={"content-length": "-1"}),
            "length in other digits": request(headers={"content-length": "٣"}),
            "no Host": request(drop=("host",)),
            "two Hosts": request(headers={"host": "localhost, localhost"}),
        },
        (403, "errors"): {
            "Host that begins as ours": request(headers={"host": "127.0.0.1.nip.io"}),
            "null Origin": request(headers={"origin": "null"}),
            "other port's Origin": request(headers={"origin": "http://127.0.0.1:8888"}),
            "cross-site fetch": request(headers={"sec-fetch-site": "cross-site"}),
            "same-site fetch": request(headers={"sec-fetch-site": "same-site"}),
        },
        (404, "errors"): {
            "longer path": request(path="/graphql/"),
            "other case of the path": request(path="/GraphQL"),
            "no asset without a page": request(path="/graphql/assets/page.js", method="GET"),
        },
        (405, "errors"): {
            "GET": request(method="GET"),
            "GET from a browser, no page": request(method="GET", headers={"accept": "text/html"}),
            "PATCH": request(method="PATCH"),
            "DELETE": request(method="DELETE"),
            "made-up method": request(method="post"),
        },
        (415, "errors"): {
            "a form": request(headers={"content-type": "application/x-www-form-urlencoded"}),
            "multipart": request(headers={"content-type": "multipart/form-data"}),
            "other charset": request(headers={"content-type": "application/json; charset=utf-16"}),
            "compressed": request(headers={"content-encoding": "gzip"}),
        },
        (501, "errors"): {
            "compressed on the way": request(headers={"transfer-encoding": "gzip, chunked"})
        },
        (500, "errors"): {
            "exit() in a resolver": request("{ leave }"),
        },
    }.items()
    for name, wanted in rows.items()
}


@pytest.mark.parametrize(("wanted", "status", "members"), ROWS.values(), ids=ROWS)
def test_every_row_of_the_status_table_holds(wanted, status, members):
    """Status and members; further rows, with their media types, are in test_status_profiles.py."""
    response = ask(wanted)
    assert response.status == status
    assert set(said(response)) == members
    assert response.headers["x-content-type-options"] == "nosniff"
    assert all(error["message"] for error in said(response).get("errors", ()))


@pytest.mark.parametrize(("wanted", "status"), [row[:2] for row in ROWS.values()], ids=ROWS)
def test_only_requests_refused_by_their_head_have_plain_json(wanted, status):
    """Data, request errors and malformed bodies have the media type that was asked for."""
    asked = replace(wanted, headers=wanted.headers | GRAPHQL)
    response = ask(asked)
    is_refused = check_preconditions(asked, ServerRules()) is not None or status == 500
    is_refused |= "too large" in str(said(response).get("errors"))
    expected = JSON_CONTENT_TYPE if is_refused else GRAPHQL_CONTENT_TYPE
    assert response.headers["content-type"] == expected


def test_operation_name_selects_the_operation():
    """One of several in a document."""
    body = b'{"query":"query A { a: hello } query B { b: hello }","operationName":"B"}'
    assert said(ask(request(body=body))) == {"data": {"b": "Hello world!"}}


def test_big_integers_are_exact():
    """A variable of more than 64 bits is neither rounded nor rejected."""
    query = b"query ($v: Anything) { same(value: $v) }"
    body = b'{"query":"%b","variables":{"v":18446744073709551617}}' % query
    assert said(ask(request(body=body))) == {"data": {"same": 2**64 + 1}}


def test_a_request_error_has_a_location():
    """Line and column count from 1, and the message has a suggestion."""
    (error,) = said(ask(request("{\n  helo\n}")))["errors"]
    assert error["locations"] == [{"line": 2, "column": 3}]
    assert "Did you mean 'hello'" in error["message"]


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


def test_any_host_is_served_if_the_rules_allow_it():
    """A public server with a token may have any name."""
    rules = ServerRules(token=Token("open-sesame"), hosts=None)
    headers = {"host": "lab.example", "authorization": "Bearer open-sesame"}
    assert ask(request(headers=headers), rules).status == 200


# ---------------------------------------------------------------- the page

OPEN = ServerRules(pages=build_pages())
BROWSER = {"accept": "text/html,*/*;q=0.8", "sec-fetch-site": "cross-site"}


def test_a_browser_gets_the_page():
    """The HTML loads no resources of other origins."""
    response = ask(request(method="GET", headers=BROWSER, body=b""), OPEN)
    assert (response.status, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; " in policy
    assert "unsafe-eval" not in policy


@pytest.mark.parametrize("path", sorted(set(build_pages()) - {"/graphql"}))
def test_the_assets_of_the_page_are_served(path):
    """By GET only, for any Accept header."""
    assert ask(request(method="GET", path=path), OPEN).status == 200
    refused = ask(request(path=path), OPEN)
    assert (refused.status, refused.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/graphql-response+json"])
def test_a_client_that_is_not_a_browser_gets_405(accept):
    """Whether the page is enabled or not."""
    response = ask(request(method="GET", headers={"accept": accept}), OPEN)
    assert (response.status, response.headers["allow"]) == (405, "POST")


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


def test_every_masked_error_has_its_own_id():
    """Two failures have different ids."""
    errors = said(ask(request("{ a: secret b: secret }")))["errors"]
    assert len({error["message"] for error in errors}) == 2


def test_a_graphql_error_is_not_masked():
    """Its message and extensions are sent."""
    (error,) = said(ask(request("{ refused }")))["errors"]
    assert error["message"] == "Not for you."
    assert error["extensions"] == {"code": "FORBIDDEN"}


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


def test_a_masked_error_names_the_call_that_shows_the_exception():
    """For the person who runs the server."""
    response = ask(request("{ secret }"))
    ((number, fault),) = response.masked_errors
    assert f"server.error('{number}')" in said(response)["errors"][0]["message"]
    assert str(fault) == WORDS


def test_a_response_has_the_name_of_its_operation():
    """Whether operationName was given or not."""
    for body in (
        b'{"query": "query One { hello }"}',
        b'{"query": "query One { hello } query Two { hello }", "operationName": "One"}',
    ):
        response = ask(request(body=body))
        assert (response.operation, response.masked_errors) == ("One", ())


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


def test_ten_values_without_a_json_form_are_reported():
    """One more error has the number of the others."""
    errors = said(ask(request('{ odd(kind: "many") }')))["errors"]
    assert [error.get("path") for error in errors] == [*(["odd", n] for n in range(10)), None]
    assert errors[-1]["message"] == "15 more errors are not shown."


def test_extensions_without_a_json_form_are_dropped():
    """The rest of the error is sent."""

    async def execute(_request):
        error = {"message": "No.", "extensions": {"size": math.nan}}
        return Response(200, members={"errors": [error], "data": {"a": 1}})

    answered = said(asyncio.run(handle_request(request(), execute)))
    assert answered["data"] == {"a": 1}
    assert answered["errors"][0] == {"message": "No.", "extensions": {"size": None}}
    assert set(answered["errors"][1]) == {"message"}


def test_an_exception_of_the_executor_is_masked():
    """The client gets 500 without its message."""

    async def broken(_request):
        raise RuntimeError(WORDS)

    response = asyncio.run(handle_request(request(), broken))
    assert response.status == 500
    assert WORDS.encode() not in response.body
