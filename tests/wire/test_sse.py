"""Server-sent events: who wants them, and how they are written."""

import pytest

from gqlnb.wire import sse

GRAPHQL = "application/graphql-response+json"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (None, "never"),
        ("", "never"),
        ("*/*", "never"),
        ("text/*", "never"),
        ("application/json", "never"),
        ("text/event-stream;q=0", "never"),
        ("text/event-stream", "always"),
        ("TEXT/Event-Stream", "always"),
        ("text/event-stream, multipart/mixed", "always"),
        ("text/event-stream, application/json;q=0.5", "always"),
        (f"text/event-stream, {GRAPHQL};q=0.9", "always"),
        (f"{GRAPHQL}, application/json, text/event-stream, multipart/mixed", "subscriptions"),
        ("text/event-stream, */*", "subscriptions"),
        ("text/event-stream;q=0.1, application/json", "subscriptions"),
    ],
)
def test_events_are_sent_to_who_names_them(accept, wanted):
    """For every operation where they are preferred, else for what can't be had as JSON."""
    assert sse.welcome(accept) == wanted


def test_a_result_is_one_event_of_one_line():
    """As the specification of event streams cuts it."""
    assert sse.event(b'{"data":{}}') == b'event: next\ndata: {"data":{}}\n\n'


def test_the_end_is_an_event_that_a_browser_dispatches():
    """It has a data field, though an empty one."""
    assert sse.COMPLETE.splitlines() == [b"event: complete", b"data:", b""]


def test_what_keeps_a_connection_open_is_a_comment():
    """It dispatches nothing."""
    assert sse.KEEP_ALIVE.startswith(b":")
    assert sse.KEEP_ALIVE.endswith(b"\n\n")
