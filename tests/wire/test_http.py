"""The headers a GraphQL server reads, as plain values."""

from __future__ import annotations

import pytest

from gqlnb.wire.http import fields, host_name, is_json, negotiate, same_origin, wants_page
from gqlnb.wire.response import GRAPHQL_JSON, JSON

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("application/json; charset=utf-8", JSON),
        ("application/graphql-response+json", GRAPHQL_JSON),
        ("APPLICATION/GraphQL-Response+JSON", GRAPHQL_JSON),
        ("application/graphql-response+json; charset=utf-8", GRAPHQL_JSON),
        ("application/graphql-response+json, application/json", GRAPHQL_JSON),
        ("application/json, application/graphql-response+json", GRAPHQL_JSON),
        ("application/graphql-response+json, application/json;q=0.9", GRAPHQL_JSON),
        ("application/graphql-response+json;q=0.8, application/json", JSON),
        ("application/graphql-response+json ; q = 0.8 , application/json ; q=0.9", JSON),
        ("application/graphql-response+json;q=0, */*", JSON),
        ("application/json;q=0, */*", GRAPHQL_JSON),
        ("application/json;q=0.1, application/*;q=0.5", GRAPHQL_JSON),
        ("application/graphql-response+json, */*", GRAPHQL_JSON),
        ("application/graphql-response+json;q=0", JSON),
        ("application/graphql-response+json;q=nan", JSON),
        ("application/graphql-response+json;q=2", JSON),
        ("application/graphql-response+json;q=-1, text/html", JSON),
        ("text/html", JSON),
        (";;;,,,q=1", JSON),
    ],
)
def test_accept_decides_the_media_type(accept, media):
    """The preferred of the two media types is taken; JSON where neither is named."""
    assert negotiate(accept) == media


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json;charset=utf-8",
        'application/json; charset="UTF-8"',
        "application/json; charset=utf8; profile=x",
        "application/json;",
    ],
)
def test_json_in_utf_8_is_json(content_type):
    """Case and other parameters do not matter."""
    assert is_json(content_type)


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "application/jsonp",
        "application/json; charset=iso-8859-1",
        "application/json; charset=utf-8; charset=utf-16",
        "application/json, text/plain",
    ],
)
def test_what_a_form_can_send_is_not_json(content_type):
    """What a browser sends without asking first is refused, and so are other charsets."""
    assert not is_json(content_type)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:4000", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:4000", "[::1]"),
        ("[::1]", "[::1]"),
        ("evil.example:4000", "evil.example"),
        (None, None),
        ("", None),
        (":4000", None),
        ("localhost:", None),
        ("localhost:4000:5", None),
        ("localhost:x", None),
        ("a b", None),
        ("localhost, localhost", None),
        ("user@localhost", None),
        ("localhost/", None),
        ("::1", None),
    ],
)
def test_host_is_read_without_its_port(host, name):
    """The name stands alone and in lower case; what is no Host header gives nothing."""
    assert host_name(host) == name


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://localhost:4000", "localhost:4000", True),
        ("https://localhost:4000", "localhost:4000", True),
        ("HTTP://LOCALHOST:4000", "localhost:4000", True),
        ("http://localhost", "localhost:80", True),
        ("https://localhost", "localhost:443", True),
        ("http://localhost:3000", "localhost:4000", False),
        ("http://127.0.0.1:4000", "localhost:4000", False),
        ("http://localhost:4000.evil.example", "localhost:4000", False),
        ("http://evil.example", "localhost:4000", False),
        ("http://localhost:4000/", "localhost:4000", False),
        ("file://localhost:4000", "localhost:4000", False),
        ("null", "localhost:4000", False),
        ("", "localhost:4000", False),
    ],
)
def test_an_origin_is_ours_only_if_it_names_the_very_host(origin, host, same):
    """Origins are compared whole: port, name and scheme, never by their beginning."""
    assert same_origin(origin, host) is same


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (BROWSER, True),
        ("text/html", True),
        (None, False),
        ("*/*", False),
        ("application/json", False),
        ("application/json, text/html;q=0.5", False),
        ("text/html;q=0", False),
    ],
)
def test_a_page_is_for_who_names_html(accept, wanted):
    """A browser names HTML first; curl and clients do not."""
    assert wants_page(accept) is wanted


def test_repeated_headers_are_joined():
    """Names are lowered, and a second value cannot hide behind the first."""
    pairs = [(b"Host", b"localhost"), (b"HOST", b"evil.example"), (b"X-Caf\xe9", b"\xff")]
    assert fields(pairs) == {"host": "localhost, evil.example", "x-café": "ÿ"}
