"""Keyword arguments of clients that do not exist."""

from __future__ import annotations

import inspect

import pytest

from gqlnb import Client, OptionError, connect, reference_schema
from gqlnb.client.arguments import CLIENT_KEYWORDS
from gqlnb.client.recording.session import RecordingOptions

URL = "http://127.0.0.1:9/graphql"


@pytest.mark.parametrize("make", [Client, connect])
@pytest.mark.parametrize("target", [URL, "demo", None])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("tokn", "Did you mean token=?"),
        ("time_out", "Did you mean timeout=?"),
        ("header", "Did you mean headers=?"),
        ("nothing_like_it", "It takes token=, headers=, schema=, timeout=, limits=, verify=, "),
    ],
)
def test_an_unknown_keyword_is_named(make, target, word, said):
    """With the function that was called, what there is, and not the value."""
    with pytest.raises(OptionError) as caught:
        make(target, **{word: "canary-value"})
    message = str(caught.value)
    assert message.startswith(f"{make.__name__}() has no argument {word}=. ")
    assert said in message
    assert "canary" not in message
    assert "recording_of" not in message
    assert isinstance(caught.value, TypeError)


def test_a_client_that_is_made_takes_no_unknown_keyword_either():
    """The keyword is wrong before it is without effect."""
    with pytest.raises(OptionError, match="Did you mean timeout="):
        connect(Client(reference_schema()), timeot=5)


def test_the_keywords_are_those_of_the_signature():
    """None is forgotten."""
    names = inspect.signature(Client).parameters
    own = [name for name, it in names.items() if it.kind is inspect.Parameter.KEYWORD_ONLY]
    assert [*own, *RecordingOptions.__annotations__] == list(CLIENT_KEYWORDS)
