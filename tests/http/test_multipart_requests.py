"""Bodies with files: read as they are sent by our client, and refused if they are malformed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gqlnb import Upload
from gqlnb.document.json_codec import JSONError
from gqlnb.http.messages import BadRequestError, Request
from gqlnb.http.multipart_requests import build_multipart_body, find_boundary, parse_upload_body

names = st.text(
    st.characters(codec="utf-8", exclude_characters='\\"', exclude_categories=["C", "Z"]),
    min_size=1,
    max_size=20,
)


@given(st.lists(st.tuples(names, st.binary(max_size=200)), min_size=1, max_size=5))
def test_files_of_our_client_arrive_unchanged(files):
    """Names, and contents with any bytes."""
    uploads = [Upload(content, name, "text/x-y") for name, content in files]
    request = Request("query", {"files": uploads, "n": 1})
    body = build_multipart_body(request, JSONError("no files"))
    boundary = find_boundary(body.headers["Content-Type"])
    read = parse_upload_body(b"".join(body), boundary)
    assert read["query"] == "query"
    assert read["variables"]["n"] == 1
    found = read["variables"]["files"]
    assert [(it.filename, it.content_type, it.read()) for it in found] == [
        (name, "text/x-y", content) for name, content in files
    ]


def build_form(*parts: tuple[str, str], tail: str = "--") -> bytes:
    """Return a body with boundary B."""
    sections = [
        f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{content}\r\n'
        for name, content in parts
    ]
    return ("".join(sections) + f"--B{tail}\r\n").encode()


OPERATIONS = ("operations", '{"query": "q", "variables": {"f": null, "g": [null], "h": 1}}')


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "incomplete"),
        (b"--B--", "does not begin with operations"),
        (build_form(OPERATIONS, ("map", "{}"), tail=""), "incomplete"),
        (build_form(("map", "{}"), OPERATIONS), "does not begin with operations"),
        (build_form(("operations", "{"), ("map", "{}")), "'operations' is not JSON"),
        (build_form(OPERATIONS, ("map", "[]")), "must be an object"),
        (build_form(OPERATIONS, ("map", '{"0": ["variables.f"]}')), "'0' of the field 'map' is"),
        (build_form(OPERATIONS, ("map", '{"0": "x"}'), ("0", "")), "list of paths"),
        (build_form(OPERATIONS, ("map", "{}"), ("0", ""), ("0", "")), "the same name"),
        (build_form(OPERATIONS, ("map", '{"0": ["variables.x"]}'), ("0", "")), "leads nowhere"),
        (build_form(OPERATIONS, ("map", '{"0": ["variables.g.1"]}'), ("0", "")), "leads nowhere"),
        (build_form(OPERATIONS, ("map", '{"0": ["variables.g.01"]}'), ("0", "")), "leads nowhere"),
        (build_form(OPERATIONS, ("map", '{"0": ["variables.h"]}'), ("0", "")), "null variable"),
        (build_form(OPERATIONS, ("map", '{"0": ["query"]}'), ("0", "")), "null variable"),
        (build_form(OPERATIONS, ("map", "{}"), *[("x", "")] * 70), "more than 64 parts"),
        (b"--B\r\nX: y\r\n\r\n1\r\n--B--", "has no name"),
        (b"--B x\r\n\r\n1\r\n--B--", "malformed"),
    ],
)
def test_malformed_forms_are_refused_with_the_reason(body, message):
    """By a BadRequestError, whatever is wrong."""
    with pytest.raises(BadRequestError, match=message):
        parse_upload_body(body, "B")


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_read_or_refused(noise, is_inside):
    """There is no other exception."""
    body = build_form(OPERATIONS, ("map", '{"0": ["variables.f"]}'), ("0", "abc"))
    body = body[:60] + noise + body[60:] if is_inside else noise
    with suppress(BadRequestError):
        assert isinstance(parse_upload_body(body, "B"), dict)


@pytest.mark.parametrize("header", ["multipart/form-data", "multipart/form-data; boundary=\x00"])
def test_a_form_needs_a_boundary(header):
    """RFC 2046, 5.1.1."""
    with pytest.raises(BadRequestError, match="boundary"):
        find_boundary(header)
    assert find_boundary("application/json") is None
