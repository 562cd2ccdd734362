"""The box for tokens, without a browser: its messages in, its messages out."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import gqlnb
from gqlnb import AuthError, Client, Token, TokenBox
from tests.tracebacks import describe_frames

SECRET = "canary-b0x5"


class Wire:
    """A stand-in for the comm that records messages."""

    def __init__(self, box: TokenBox) -> None:
        self.sent: list[Any] = []
        box.send = self.sent.append


def typed(box: TokenBox, text: str) -> None:
    """Send a token like the front end."""
    box._handle_custom_msg({"kind": "token"}, [memoryview(text.encode())])


@pytest.fixture
def box():
    """Return an empty box."""
    return TokenBox("GitHub token")


def test_the_typed_text_becomes_the_token(box):
    """Surrounding blanks are removed."""
    typed(box, f" {SECRET}\n")
    assert isinstance(box.token, Token)
    assert box.token.build_header() == f"Bearer {SECRET}"


def test_an_empty_box_raises_with_advice(box):
    """When a token is needed."""
    for use in (
        lambda: box.token,
        lambda: Client("http://127.0.0.1:1", token=box),
        lambda: gqlnb.connect("github", token=box),
        lambda: Client("http://127.0.0.1:1", headers={"X-Key": box}),
    ):
        with pytest.raises(AuthError, match="in the box 'GitHub token' yet"):
            use()


def test_a_client_accepts_a_token_box():
    """As its token, or as the value of a header; with the scheme of the box."""
    box = TokenBox(scheme="token")
    typed(box, SECRET)
    with gqlnb.serve(gqlnb.reference_schema(), port=0, token=Token(SECRET)) as server:
        for options in ({"token": box}, {"headers": {"Authorization": box}}):
            assert Client(server.url, **options).execute("{ hello }").data
        assert gqlnb.connect(server.url, token=box).execute("{ hello }").data


def test_the_front_end_only_learns_if_a_token_is_set(box):
    """It never receives the token."""
    wire = Wire(box)
    box._handle_custom_msg({"kind": "hello"}, [])
    typed(box, SECRET)
    box.forget()
    states = [{"kind": "state", "held": held, "error": ""} for held in (False, True, False)]
    assert wire.sent == states


@pytest.mark.parametrize("text", ["two words", "", "\xe9", "a\nb"])
def test_an_invalid_token_is_refused_and_the_last_one_kept(box, text):
    """The error does not contain the typed text."""
    typed(box, SECRET)
    wire = Wire(box)
    typed(box, text)
    assert box.token.build_header().endswith(SECRET)
    (state,) = wire.sent
    assert state["held"]
    assert state["error"].startswith("The token ")
    assert not text or text not in state["error"]


@pytest.mark.parametrize(
    ("content", "buffers"),
    [
        ({"kind": "token"}, []),
        ({"kind": "token"}, None),
        ({"kind": "token", "value": SECRET}, []),
        ({"kind": "token", "buffers": [[65] * 20]}, []),  # no binary part
        ({}, [b"x"]),
        (None, []),
        ("x", []),
    ],
)
def test_unknown_messages_are_ignored(box, content, buffers):
    """Messages of unknown form are ignored."""
    box._receive(box, content, buffers)
    assert "empty" in repr(box)


def test_no_state_view_or_repr_contains_the_token(box):
    """Neither saved widget state nor a repr."""
    typed(box, SECRET)
    held = [box.get_state(), box._repr_mimebundle_(), repr(box), box.keys, vars(box), box.traits()]
    assert SECRET not in repr(held)
    assert repr(box) == "TokenBox('GitHub token', Token(***))"
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps(box)


def test_a_viewer_without_a_kernel_gets_a_sentence(box):
    """It is escaped, as a label may be any text."""
    data, _ = TokenBox("<b>")._repr_mimebundle_()
    assert "&lt;b&gt;: run this notebook" in data["text/html"]
    assert data["text/plain"] == "TokenBox('<b>', empty)"


def test_an_interrupt_while_reading_hides_the_token(box, monkeypatch):
    """The traceback does not show the message."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TokenBox, "_hold_token", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        box._receive(box, {"kind": "token"}, [SECRET.encode()])
    assert SECRET not in describe_frames(caught.value)


def test_a_closed_box_drops_its_token(box):
    """Clients keep the token that they were created with."""
    typed(box, SECRET)
    token = box.token
    box.close()
    with pytest.raises(AuthError):
        box.token  # noqa: B018
    assert token.build_header().endswith(SECRET)
