"""HTML pages, other JSON and other character sets, in words or as what they mean."""

from __future__ import annotations

import pytest

from gqlnb.errors import AnswerError, AuthError, QueryError, TransportError
from gqlnb.http.error_responses import describe_page, find_message, is_login_path
from tests.http.test_response_parser import answer

LOGIN = b"""<!-- x --><!DOCTYPE html>
<html lang=en><head><TITLE id=a>Welcome &middot;
 Example</TITLE></head><form><input name=p type='password'></form></html>"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html><title>Welcome to nginx!</title>", "an HTML page titled 'Welcome to nginx!'"),
        (b"  <!doctype HTML><p>Hi", "an HTML page"),
        (LOGIN, "an HTML page titled 'Welcome \u00b7 Example', perhaps a login page: pass a token"),
        (b"<html><title>Sign in</title>", "an HTML page titled 'Sign in', perhaps a login page"),
        (b"<html><title>a\x1b[31m" + b"x" * 999 + b"</title>", "an HTML page titled 'a [31mxxx"),
    ],
)
def test_an_html_page_is_described_by_its_title(body, words):
    """Truncated and without control characters."""
    said = describe_page(body)
    assert said.startswith(words)
    assert len(said) < 200
    with pytest.raises(AnswerError, match="HTTP 200, and the answer is an HTML page") as caught:
        answer(body, content_type="text/html")
    assert "Is this the address of a GraphQL endpoint?" in str(caught.value)
    with pytest.raises(TransportError, match=r"HTTP 404\. Expected .*, got an HTML"):
        answer(body, 404, content_type="text/html")


def test_a_token_echoed_in_a_page_is_masked():
    """For example in the title."""
    with pytest.raises(AnswerError) as caught:
        answer(b"<html><title>canary-77 is wrong</title>", content_type="text/html")
    assert "*** is wrong" in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"{}", b"<data/>", b"html", b"<script>"])
def test_other_bodies_are_not_html_pages(body):
    """XML and plain text."""
    assert describe_page(body) is None


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"message": "a", "error": "b"}, "a"),
        ({"error": {"message": "a"}}, "a"),
        ({"error": "invalid_token", "error_description": "It expired."}, "It expired."),
        ({"detail": "a"}, "a"),
        ({"errors": "a"}, "a"),
        ({"errors": ["", {"message": "a"}]}, "a"),
        ({"issue": [{"code": "invalid", "details": {"text": "a"}}]}, "a"),  # Medplum 4.5
        ({"status": 5}, None),
        ([], None),
        (None, None),
    ],
)
def test_error_messages_in_other_json_are_found(members, words):
    """In the members that services use for them."""
    assert find_message(members) == words


@pytest.mark.parametrize(
    ("body", "status", "kind", "words"),
    [
        (b'{"error": "Unauthorized"}', 401, AuthError, "HTTP 401: Unauthorized. Pass a token"),
        (b'{"detail": "Not found."}', 404, TransportError, "got the message: Not found."),
        (b'{"errors": "no such field"}', 200, AnswerError, "'no such field'"),
        (b'{"data": null, "errors": {"message": "x"}}', 200, AnswerError, "It says: x."),
        (b'{"errors": [["x"], "y"]}', 200, AnswerError, "not a list of objects. It says: x."),
        (b'{"errors": ["Too deep.", "y"]}', 200, QueryError, "Too deep."),
    ],
)
def test_they_are_part_of_the_error_message(body, status, kind, words):
    """Attributed to the endpoint."""
    with pytest.raises(kind) as caught:
        answer(body, status)
    assert words in str(caught.value)


def test_data_beside_malformed_errors_is_kept():
    """In the exception, with the message."""
    with pytest.raises(AnswerError, match="It says: broken canary") as caught:
        answer({"data": {"a": 1}, "errors": {"message": "broken canary"}})
    assert caught.value.result.data == {"a": 1}
    assert caught.value.result.errors == ({"message": "broken canary"},)


def test_errors_may_be_texts():
    """MLflow 3.17 sends them so, beside data and without."""
    result = answer({"data": {"a": 1}, "errors": ["broken"]})
    assert result.data == {"a": 1}
    assert result.errors == ({"message": "broken"},)


def test_indices_in_paths_may_be_texts():
    """Mercurius 16.10 writes them so."""
    errors = [{"message": "broken", "path": ["rows", "12", "parts"]}]
    result = answer({"data": {"rows": []}, "errors": errors})
    assert result.errors == ({"message": "broken", "path": ["rows", 12, "parts"]},)


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("ISO-8859-1", "latin-1"),
        ('"windows-1252"', "cp1252"),
        ("utf-16", "utf-16"),
        ("'utf-8'", "utf-8"),
        ("UTF8", "utf-8"),
        ("ISO-8859-1", "utf-8"),  # a wrong label
        ("no-such", "utf-8"),
    ],
)
def test_a_declared_character_set_is_used(charset, codec):
    """In any spelling; valid UTF-8 is decoded as UTF-8."""
    body = '{"data": {"a": "Z\u00fcrich"}}'.encode(codec)
    for media in ("application/json", "text/plain", "application/graphql-response+json"):
        result = answer(body, content_type=f"{media}; Charset={charset}")
        assert result.data == {"a": "Z\u00fcrich"}


@pytest.mark.parametrize("charset", ["no-such", "ascii", "utf-8"])
def test_an_unusable_character_set_is_an_error(charset):
    """An unknown one, or one that does not match the body."""
    body = '{"data": {"a": "Z\u00fcrich"}}'.encode("latin-1")
    with pytest.raises(AnswerError, match="not UTF-8"):
        answer(body, content_type=f"application/json; charset={charset}")


def test_login_urls_are_recognised():
    """Other URLs are not."""
    assert is_login_path("/login?next=/graphql")
    assert is_login_path("https://sso.example.com/")
    assert not is_login_path("/graphql/")
    assert not is_login_path("/blogin")
