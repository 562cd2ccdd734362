"""What a client wants to read, as plain values."""

from __future__ import annotations

import pytest

from gqlnb.http.messages import (
    GRAPHQL_CONTENT_TYPE,
    JSON_CONTENT_TYPE,
    is_response_acceptable,
    negotiate_media_type,
    prefers_html,
)

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, JSON_CONTENT_TYPE),
        ("", JSON_CONTENT_TYPE),
        ("*/*", JSON_CONTENT_TYPE),
        ("application/*", JSON_CONTENT_TYPE),
        ("application/json", JSON_CONTENT_TYPE),
        ("application/json; charset=utf-8", JSON_CONTENT_TYPE),
        ("application/graphql-response+json", GRAPHQL_CONTENT_TYPE),
        ("APPLICATION/GraphQL-Response+JSON", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json; charset=utf-8", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json, application/json", GRAPHQL_CONTENT_TYPE),
        ("application/json, application/graphql-response+json", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json, application/json;q=0.9", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json;q=0.8, application/json", JSON_CONTENT_TYPE),
        (
            "application/graphql-response+json ; q = 0.8 , application/json ; q=0.9",
            JSON_CONTENT_TYPE,
        ),
        ("application/graphql-response+json;q=0, */*", JSON_CONTENT_TYPE),
        ("application/json;q=0, */*", GRAPHQL_CONTENT_TYPE),
        ("application/json;q=0.1, application/*;q=0.5", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json, */*", GRAPHQL_CONTENT_TYPE),
        ("application/graphql-response+json;q=0", JSON_CONTENT_TYPE),
        ("application/graphql-response+json;q=nan", JSON_CONTENT_TYPE),
        ("application/graphql-response+json;q=2", JSON_CONTENT_TYPE),
        ("application/graphql-response+json;q=-1, text/html", JSON_CONTENT_TYPE),
        ("text/html", JSON_CONTENT_TYPE),
        (";;;,,,q=1", JSON_CONTENT_TYPE),
    ],
)
def test_accept_decides_the_media_type(accept, media):
    """The preferred of the two media types; JSON if neither is listed."""
    assert negotiate_media_type(accept) == media


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
def test_the_page_is_served_if_html_is_preferred(accept, wanted):
    """Browsers list HTML first; curl and other clients do not."""
    assert prefers_html(accept) is wanted


@pytest.mark.parametrize(
    ("accept", "takes"),
    [
        (None, True),
        ("", True),
        ("*/*", True),
        ("application/*;q=0.1", True),
        ("application/json", True),
        ("text/html, application/graphql-response+json;q=0.001", True),
        ("text/html", False),
        ("application/json;q=0", False),
        ("application/json;q=0, application/graphql-response+json;q=0, */*", False),
        ("image/*", False),
        ("text/event-stream", True),
        ("text/event-stream;q=0", False),
    ],
)
def test_an_accept_header_without_a_usable_type_is_detected(accept, takes):
    """A weight of 0 excludes a type, also with a wildcard."""
    assert is_response_acceptable(accept) is takes
