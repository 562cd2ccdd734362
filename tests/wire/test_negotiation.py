"""What a client wants to read, as plain values."""

from __future__ import annotations

import pytest

from gqlnb.wire.negotiation import acceptable, negotiate, wants_page
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
def test_who_can_read_no_answer_is_told_apart(accept, takes):
    """A weight of 0 is a no, also against a wildcard."""
    assert acceptable(accept) is takes
