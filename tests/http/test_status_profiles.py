"""Two readings of GraphQL over HTTP, row by row: the published audits, and the draft."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.messages import GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE
from gqlnb.http.server_rules import Access, ServerRules
from tests.http.http_requests import GRAPHQL, ask, get, request, said

PLAIN = {"accept": "application/json"}
NEITHER = {"accept": "text/csv"}
PROFILES = {
    name: ServerRules(access=Access(profile=name, get=True, origins=["http://pages.example"]))
    for name in ("audit", "draft")
}


def members(**given):
    """Return a JSON body."""
    return json.dumps(given).encode()


TWO = "query A { hello } query B { hello }"
COERCED = members(query="query ($t: String!) { echo(text: $t) }", variables={"t": [1]})
UNKNOWN = members(query=TWO, operationName="C")
G, J = GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE
# What is asked, the status by the audits and by the draft, and the media type of the answer.
ROWS = {
    "fine, G": (request(headers=GRAPHQL), 200, 200, G),
    "fine, J": (request(headers=PLAIN), 200, 200, J),
    "fine, */*": (request(headers={"accept": "*/*"}), 200, 200, J),
    "fine, no Accept": (request(), 200, 200, J),
    "a field fails, G": (request("{ hello secret }", headers=GRAPHQL), 200, 294, G),
    "a field fails, J": (request("{ hello secret }", headers=PLAIN), 200, 200, J),
    "all is null, G": (request("{ must }", headers=GRAPHQL), 200, 294, G),
    "Accept excludes both": (request(headers=NEITHER), 200, 406, J),
    "Accept excludes both, wrong body": (request(body=b"x", headers=NEITHER), 400, 406, J),
    "Content-Type absent": (request(headers=GRAPHQL, drop=["content-type"]), 415, 415, J),
    "Content-Type other": (request(headers={"content-type": "text/plain"}), 415, 415, J),
    "not JSON, G": (request(body=b"{ hello }", headers=GRAPHQL), 400, 400, G),
    "not JSON, J": (request(body=b"{ hello }", headers=PLAIN), 400, 400, J),
    "empty": (request(body=b"", headers=GRAPHQL), 400, 400, G),
    "not UTF-8": (request(body=b'{"query":"\xff"}', headers=GRAPHQL), 400, 400, G),
    "query missing": (request(body=b"{}", headers=GRAPHQL), 400, 422, G),
    "query wrong": (request(body=members(query=1), headers=GRAPHQL), 400, 422, G),
    "variables wrong": (request(body=members(query="{a}", variables=[])), 400, 422, J),
    "extensions wrong": (request(body=members(query="{a}", extensions=[])), 400, 422, J),
    "operationName wrong": (request(body=members(query="{a}", operationName=1)), 400, 422, J),
    "null": (request(body=b"null", headers=GRAPHQL), 400, 422, G),
    "null members": (request(body=members(query="{ hello }", variables=None, operationName=None)),
     200, 200, J),
    "unknown members": (request(body=members(query="{ hello }", id=1)), 200, 200, J),
    "syntax, G": (request("{ hello", headers=GRAPHQL), 400, 400, G),
    "syntax, J": (request("{ hello", headers=PLAIN), 200, 400, J),
    "no text, G": (request("", headers=GRAPHQL), 400, 400, G),
    "validation, G": (request("{ helo }", headers=GRAPHQL), 400, 422, G),
    "validation, J": (request("{ helo }", headers=PLAIN), 200, 422, J),
    "coercion, G": (request(body=COERCED, headers=GRAPHQL), 400, 422, G),
    "coercion, J": (request(body=COERCED, headers=PLAIN), 200, 422, J),
    "ambiguous, G": (request(TWO, headers=GRAPHQL), 400, 422, G),
    "ambiguous, J": (request(TWO, headers=PLAIN), 200, 422, J),
    "unknown operation, G": (request(body=UNKNOWN, headers=GRAPHQL), 400, 422, G),
    "GET query, G": (get(query="{ hello }", headers=GRAPHQL), 200, 200, G),
    "GET query, J": (get(query="{ hello }", headers=PLAIN), 200, 200, J),
    "GET mutation, G": (get(query="mutation { count }", headers=GRAPHQL), 405, 405, J),
    "GET mutation, J": (get(query="mutation { count }", headers=PLAIN), 405, 405, J),
    "GET without a query": (get(b"x=1"), 400, 422, J),
    "PUT": (request(method="PUT", headers=GRAPHQL), 405, 405, J),
    "HEAD": (request(method="HEAD"), 405, 405, J),
    "OPTIONS": (request(method="OPTIONS"), 405, 405, J),
    "other path": (request(path="/", headers=GRAPHQL), 404, 404, J),
    "foreign Host": (request(headers={"host": "evil.example"}), 403, 403, J),
    "foreign Origin": (request(headers={"origin": "http://evil.example"}), 403, 403, J),
    "body too large": (request(body=b" " * (2**20 + 1), headers=GRAPHQL), 400, 413, J),
    "body too large, announced": (request(headers={"content-length": "1048577"}), 400, 413, J),
    "head too large": (request(headers={"x": "x" * 2**15}), 431, 431, J),
    "URI too long": (get(query="{ hello }" + " " * 2**15), 431, 431, J),
    "batch": (request(body=b'[{"query":"{ hello }"}]', headers=GRAPHQL), 400, 422, G),
    "byte order mark": (request(body=b'\xef\xbb\xbf{"query": "{ hello }"}'), 200, 200, J),
    "same origin": (request(headers={"origin": "http://127.0.0.1:4000"}), 200, 200, J),
    "same origin by fetch": (request(headers={"sec-fetch-site": "same-origin"}), 200, 200, J),
    "not compressed": (request(headers={"content-encoding": "Identity"}), 200, 200, J),
    "chunked": (request(headers={"transfer-encoding": "Chunked"}), 200, 200, J),
    "compressed on the way": (request(headers={"transfer-encoding": "gzip, chunked"}), 501, 501, J),
    "surrogate, G": (request(body=b'{"query":"{ hello }","variables":"\\ud800"}', headers=GRAPHQL),
     400, 400, G),
    "NaN": (request(body=b'{"query":"{ hello }","variables":{"x":NaN}}'), 400, 400, J),
    "nested deeply, G": (request(body=b"[" * 200_000, headers=GRAPHQL), 400, 400, G),
    "absurdly large, announced": (request(headers={"content-length": "9" * 5000}), 400, 413, J),
    "length below 0": (request(headers={"content-length": "-1"}), 400, 400, J),
    "length in other digits": (request(headers={"content-length": "٣"}), 400, 400, J),
    "Host that begins as ours": (request(headers={"host": "127.0.0.1.nip.io"}), 403, 403, J),
    "null Origin": (request(headers={"origin": "null"}), 403, 403, J),
    "other port's Origin": (request(headers={"origin": "http://127.0.0.1:8888"}), 403, 403, J),
    "same-site fetch": (request(headers={"sec-fetch-site": "same-site"}), 403, 403, J),
    "other case of the path": (request(path="/GraphQL"), 404, 404, J),
    "no asset without a page": (request(path="/graphql/assets/page.js", method="GET"), 404, 404, J),
    "made-up method": (request(method="post"), 405, 405, J),
    "exit() in a resolver, G": (request("{ leave }", headers=GRAPHQL), 500, 500, J),
    "a fault of ours": (request("{ endless }", headers=GRAPHQL), 500, 500, J),
}  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("wanted", "audit", "draft", "media"), ROWS.values(), ids=ROWS)
def test_every_row_of_the_profile_table_holds(wanted, audit, draft, media, profile):
    """Status and media type match the profile, and the body is always JSON."""
    response = ask(wanted, PROFILES[profile])
    assert response.status == {"audit": audit, "draft": draft}[profile]
    assert response.headers["content-type"] == media
    assert response.headers["x-content-type-options"] == "nosniff"
    answer = said(response)
    assert {"data", "errors"} & set(answer)
    assert all(error["message"] for error in answer.get("errors", ()))
    if response.status >= 400:
        assert set(answer) == {"errors"}
