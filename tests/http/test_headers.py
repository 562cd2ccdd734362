"""The headers a GraphQL server reads, as plain values."""

from __future__ import annotations

import pytest

from gqlnb.http.messages import (
    MAX_RANGES,
    is_json,
    is_same_origin,
    parse_accept,
    parse_headers,
    parse_host,
    parse_parameters,
    split_accept,
)


@pytest.mark.parametrize(
    ("content_type", "is_right"),
    [
        ("application/json", True),
        ("APPLICATION/JSON", True),
        ('application/json; charset="UTF-8"', True),
        ("application/json; charset=utf8; profile=x", True),
        ("application/json;", True),
        (None, False),
        ("", False),
        ("text/plain; application/json", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        ("application/graphql", False),
        ("application/jsonp", False),
        ("application/json; charset=iso-8859-1", False),
        ("application/json; charset=utf-8; charset=utf-16", False),
        ("application/json, text/plain", False),
    ],
)
def test_only_json_in_utf_8_is_json(content_type, is_right):
    """Case and other parameters do not matter; types that need no preflight are rejected."""
    assert is_json(content_type) is is_right


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
def test_the_port_of_a_host_is_dropped(host, name):
    """The name is lower-cased; an invalid header gives None."""
    assert parse_host(host) == name


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
def test_same_origin_compares_scheme_name_and_port(origin, host, same):
    """Prefixes do not match."""
    assert is_same_origin(origin, host) is same


def test_repeated_headers_are_joined():
    """Names are lower-cased, and no value is dropped."""
    pairs = [(b"Host", b"localhost"), (b"HOST", b"evil.example"), (b"X-Caf\xe9", b"\xff")]
    assert parse_headers(pairs) == {"host": "localhost, evil.example", "x-café": "ÿ"}


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("form-data", {}),
        ("Form-Data ; NAME = f ; name=g", {"name": "f"}),
        ('form-data; name="a;b=c"; filename="x\\"y\\\\z"', {"name": "a;b=c", "filename": 'x"y\\z'}),
        ('form-data; filename="C:\\folder\\file"', {"filename": "C:\\folder\\file"}),
        ("form-data; filename*=UTF-8''na%C3%AFve; filename=naive", {"filename": "naïve"}),
        ("form-data; filename*=iso-8859-1'en'%A3", {"filename": "£"}),
        ("form-data; filename*=no-such''a; filename=b", {"filename": "b"}),
        ("form-data; a; b=; =c; d=e", {"b": "", "d": "e"}),
        ('form-data; name="open', {"name": '"open'}),
    ],
)
def test_parameters_of_a_header(text, parameters):
    """Of RFC 9110, as browsers and libraries write them, and malformed ones."""
    assert parse_parameters(text) == ("form-data", parameters)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (";" * 2**20, 0),
        (';a="' + ";" * 2**20, 1),
        (';a="' + '\\"' * 2**20, 1),
        ("; a" + " " * 2**20, 0),
        (';a="b' * 2**18, 1),
    ],
)
def test_long_parameters_take_linear_time(text, count):
    """A quadratic number of steps would take minutes."""
    assert len(parse_parameters(f"form-data{text}")[1]) == count


def test_the_first_media_ranges_are_read():
    """A flood of them costs no more than a few."""
    known = [f"a/{number}" for number in range(MAX_RANGES)]
    assert list(parse_accept(",".join([*known, "b/b"]))) == known
    assert parse_accept("," * 2**20 + "a/b") == {}


def test_entries_of_accept_have_weights_and_parameters():
    """A malformed weight leaves out its entry."""
    text = 'Text/HTML;Level=1 ; Q=0.5, */*;q=2, a/b;q="1.0";c="D, \\"e", ;q=1, a/c;d="f'
    assert list(split_accept(text)) == [
        ("text/html", 0.5, {"level": "1"}),
        ("a/b", 1.0, {"c": 'D, "e'}),
        ("a/c", 1.0, {"d": '"f'}),
    ]
