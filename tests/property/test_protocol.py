"""Whatever is sent gets an answer below 500: any bytes, any headers, any JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gqlnb.http.messages import GRAPHQL_CONTENT_TYPE, JSON_CONTENT_TYPE, HttpRequest
from gqlnb.http.server_rules import Access, ServerRules
from gqlnb.limits import Limits
from gqlnb.server.page import build_pages
from gqlnb.tokens import Token
from tests.http.http_requests import GRAPHQL, HEADERS, RULES, ask, get, request, said

PAGE = "http://localhost:5173"
DRAFT = ServerRules(access=Access(profile="draft", get=True, origins=[PAGE]))
EVERY_RULE = {
    "plain": RULES,
    "page": ServerRules(pages=build_pages()),
    "token": ServerRules(token=Token("open-sesame"), pages=build_pages()),
    "draft": DRAFT,
    "get": ServerRules(access=Access(get=True), pages=build_pages()),
    "pages": ServerRules(access=Access(origins=[PAGE], introspection=False, hints=False)),
    "any host": ServerRules(hosts=None),
    "strict": ServerRules(limits=Limits(body=40, head=300, depth=1, tokens=9, errors=1, message=9)),
}
ALLOWED = {200, 204, 294, 400, 401, 403, 404, 405, 406, 413, 415, 422, 431}
NAMES = st.sampled_from(
    [
        *(*HEADERS, *GRAPHQL, "access-control-request-headers", "access-control-request-method"),
        *("authorization", "content-encoding", "content-length", "origin", "sec-fetch-site"),
        *("transfer-encoding", "x-other"),
    ]
)
KNOWN = [
    *(*HEADERS.values(), *GRAPHQL.values(), "text/html", "localhost", "*/*;q=0.3", "same-origin"),
    *(PAGE, "null", "gzip", "Bearer open-sesame"),
]
WORDS = [*'{}()[]:!$@|&="#,', "...", "hello", "echo", "secret", "query", "mutation", "on", "Query"]
PARTS = [b"query=%7Bhello%7D", b"&", b"=", b"variables=", b"%7B%7D", b"%", b"+", b"query=", b"a"]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS)).map(" ".join))
VALUES = st.one_of(
    st.sampled_from(KNOWN), st.binary(max_size=40).map(lambda raw: raw.decode("latin-1"))
)
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
    | st.sampled_from(["{ hello }", "query", "variables", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["query", "variables", "operationName", "extensions", "t"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=9,
)
REQUEST_LIKE = st.fixed_dictionaries(
    {"query": TEXTS | ANY_JSON},
    optional={"variables": ANY_JSON, "operationName": ANY_JSON, "extensions": ANY_JSON},
)
BODIES = st.one_of(
    st.binary(max_size=200), REQUEST_LIKE.map(lambda members: json.dumps(members).encode())
)
QUERY_STRINGS = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PARTS)).map(b"".join))
REQUESTS = st.builds(
    HttpRequest,
    st.sampled_from(["POST", "GET", "HEAD", "OPTIONS", "BREW"]) | st.text(max_size=5),
    st.sampled_from(["/graphql", "/graphql/", *build_pages()]) | st.text(max_size=9),
    st.dictionaries(NAMES, VALUES).map(lambda drawn: HEADERS | drawn),
    BODIES,
    QUERY_STRINGS,
)
patient = settings(deadline=None)  # a worker thread may have to wait for its turn


def judge(response):
    """Check what holds for every answer, and return its members."""
    assert response.status in ALLOWED
    if response in build_pages().values() or response.status == 204:
        return {}
    assert response.headers["content-type"] in {JSON_CONTENT_TYPE, GRAPHQL_CONTENT_TYPE}
    members = said(response)
    assert isinstance(members, dict)
    assert {"data", "errors"} & set(members)
    assert "data" not in members or response.status in {200, 294}
    return members


@patient
@given(REQUESTS, st.sampled_from(sorted(EVERY_RULE)))
def test_any_request_gets_a_status_below_500(wanted, rules):
    """For any bytes and headers; the body is JSON unless it is the page."""
    judge(ask(wanted, EVERY_RULE[rules]))


@patient
@given(BODIES, st.sampled_from([{}, GRAPHQL]), st.sampled_from(["plain", "draft", "strict"]))
def test_any_body_with_valid_headers_gets_a_response(body, headers, rules):
    """No exception is raised."""
    judge(ask(request(body=body, headers=headers), EVERY_RULE[rules]))


@patient
@given(ANY_JSON)
@example([])
@example({"query": "{ hello }", "variables": {"\ud800": 1}})
@example({"query": "query ($t: String!) { echo(text: $t) }", "variables": {"t": "\ud800"}})
@example({"query": "{ hello }", "extensions": [1]})
@example({"query": "{ hello }", "operationName": "\x00"})
def test_any_json_body_gets_a_response(value):
    """Any JSON value is a request, or the error describes the missing part."""
    for rules in (RULES, DRAFT):
        judge(ask(request(body=json.dumps(value).encode()), rules))


@patient
@given(st.text(st.characters(max_codepoint=255), max_size=60) | st.sampled_from(KNOWN))
@example("application/graphql-response+json;q=1.0000")
@example("*/*;q=0")
@example(";q=;,;")
@example("application/json;q=" + "9" * 5000)
def test_any_accept_header_gets_a_response(accept):
    """The query is executed, or refused as not acceptable."""
    for rules, statuses in ((RULES, {200}), (DRAFT, {200, 406})):
        response = ask(request(headers={"accept": accept}), rules)
        assert response.status in statuses
        judge(response)


@patient
@given(QUERY_STRINGS)
def test_any_query_string_gets_a_response(query_string):
    """A GET request never raises."""
    members = judge(ask(get(query_string), DRAFT))
    assert members.get("data") in (None, {"hello": "Hello world!"})


@patient
@given(
    TEXTS,
    st.sampled_from([{}, GRAPHQL]),
    st.none() | st.text(min_size=1),
    st.none() | st.dictionaries(st.text(), st.integers() | st.text()),
)
def test_get_and_post_give_the_same_response(text, headers, operation, variables):
    """For any document except mutations and subscriptions."""
    members = {"query": text, "operationName": operation, "variables": variables}
    by_post = ask(request(body=json.dumps(members).encode(), headers=headers), DRAFT)
    given_ = {} if operation is None else {"operationName": operation}
    given_ |= {} if variables is None else {"variables": json.dumps(variables)}
    by_get = ask(get(query=text, headers=headers, **given_), DRAFT)
    if by_get.status != 405 and not by_post.masked_errors:
        assert (by_get.status, by_get.body) == (by_post.status, by_post.body)


@pytest.mark.parametrize("rules", EVERY_RULE)
def test_refused_headers_are_refused_with_any_body(rules):
    """Headers are checked independently of the body."""
    wanted = request(headers={"host": "evil.example:1", "content-length": "x"})
    for body in (b"", b"{}", b"\xff" * 99):
        assert ask(replace(wanted, body=body), EVERY_RULE[rules]).status in {400, 403}
