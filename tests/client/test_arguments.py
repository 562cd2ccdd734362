"""Unknown keyword arguments of clients."""

from __future__ import annotations

import inspect

import pytest

from gqlnb import Client, OptionError, connect, reference_schema
from gqlnb.client.arguments import CLIENT_KEYWORDS
from gqlnb.client.base_client import FurtherOptions

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
    """The error has the function and its valid keywords, but not the value."""
    with pytest.raises(OptionError) as caught:
        make(target, **{word: "canary-value"})
    message = str(caught.value)
    assert message.startswith(f"{make.__name__}() has no argument {word}=. ")
    assert said in message
    assert "canary" not in message
    assert "recording_of" not in message
    assert isinstance(caught.value, TypeError)


def test_an_existing_client_refuses_unknown_keywords():
    """The error is the one for unknown keywords, not the one for unused options."""
    with pytest.raises(OptionError, match="Did you mean timeout="):
        connect(Client(reference_schema()), timeot=5)


def test_the_listed_keywords_match_the_signature():
    """None is missing."""
    names = inspect.signature(Client).parameters
    own = [name for name, it in names.items() if it.kind is inspect.Parameter.KEYWORD_ONLY]
    assert [*own, *FurtherOptions.__annotations__] == list(CLIENT_KEYWORDS)
