"""Tokens are sent and never shown."""

import copy
import getpass
import pickle
import sys
from types import SimpleNamespace

import pytest

from gqlnb import AuthError, MissingExtraError, Token

SECRET = "canary-5f1e"


def test_a_token_shows_nothing():
    """Neither repr, str, format nor its attributes hold the value."""
    token = Token(SECRET)
    shown = [repr(token), str(token), f"{token}", repr([token]), str(token.__slots__)]
    assert not any(SECRET in text for text in shown)
    assert not hasattr(token, "__dict__")


@pytest.mark.parametrize("dump", [pickle.dumps, lambda token: pickle.dumps({"t": token})])
def test_a_token_refuses_pickling(dump):
    """A pickle would carry the secret out of the process."""
    with pytest.raises(TypeError, match="not pickled"):
        dump(Token(SECRET))


def test_a_copy_is_the_token_itself():
    """Copying makes no second secret."""
    token = Token(SECRET)
    assert copy.copy(token) is token
    assert copy.deepcopy([token])[0] is token


@pytest.mark.parametrize(
    "value", ["", "  \n", "two words", "a\nb", "a\r\nX-Evil: 1", "töken", "a\0b"]
)
def test_a_value_that_is_no_token_is_refused_without_showing_it(value):
    """Empty, spaced, broken and non-ASCII values raise; the message does not hold them."""
    with pytest.raises(AuthError) as caught:
        Token(value)
    assert not value.strip() or value not in str(caught.value)


def test_white_space_around_a_pasted_token_is_dropped():
    """A trailing newline is the usual accident of pasting."""
    assert Token(f" {SECRET}\n").header() == f"Bearer {SECRET}"


def test_the_header_carries_the_scheme():
    """The scheme stands before the value; an empty one leaves the value alone."""
    assert Token(SECRET, "token").header() == f"token {SECRET}"
    assert Token(SECRET, "").header() == SECRET


@pytest.mark.parametrize("word", ["bearer", "Bearer", "BEARER", "token", "Token"])
def test_a_header_matches_in_any_usual_spelling(word):
    """GitHub takes `bearer` and `token` in any case; so do we."""
    assert Token(SECRET).matches(f"{word} {SECRET}")


@pytest.mark.parametrize(
    "header", [None, "", SECRET, f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer", "Bearer é"]
)
def test_other_headers_do_not_match(header):
    """A missing, bare, foreign or wrong value is no match and no error."""
    assert not Token(SECRET).matches(header)


def test_a_token_comes_from_the_environment(monkeypatch):
    """`env:NAME` reads the variable."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    assert Token.of("env:MY_TOKEN").header().endswith(SECRET)


def test_a_variable_that_is_not_set_is_named():
    """The message names the variable and what to do."""
    with pytest.raises(AuthError, match="Environment variable NOT_SET is not set"):
        Token.of("env:NOT_SET")


def test_a_token_comes_from_the_keyring(monkeypatch):
    """`keyring:NAME` asks the keyring for the entry filed under gqlnb."""
    asked = SimpleNamespace(get_password=lambda service, name: f"{service}-{name}")
    monkeypatch.setitem(sys.modules, "keyring", asked)
    assert Token.of("keyring:work").header() == "Bearer gqlnb-work"


def test_an_entry_that_the_keyring_lacks_is_named(monkeypatch):
    """The message holds the command that stores it."""
    asked = SimpleNamespace(get_password=lambda service, name: None)
    monkeypatch.setitem(sys.modules, "keyring", asked)
    with pytest.raises(AuthError, match="keyring set gqlnb work"):
        Token.from_keyring("work")


def test_a_missing_keyring_library_says_how_to_install_it(monkeypatch):
    """The optional dependency is named with its extra."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtraError, match=r"gqlnb\[keyring\]"):
        Token.from_keyring("work")


def test_a_token_is_asked_for(monkeypatch):
    """`prompt` reads it without showing it."""
    monkeypatch.setattr(getpass, "getpass", lambda text: SECRET)
    assert Token.of("prompt").header().endswith(SECRET)


def test_without_anybody_to_ask_the_error_says_what_to_do(monkeypatch):
    """A notebook run from the command line has no standard input."""

    def nobody(text):
        raise EOFError

    monkeypatch.setattr(getpass, "getpass", nobody)
    with pytest.raises(AuthError, match="env:NAME"):
        Token.prompt()


@pytest.mark.parametrize("source", ["ghp_abcdefgh", "env:", "Bearer x", 5])
def test_a_literal_token_is_refused_without_showing_it(source):
    """A token typed into a cell would be saved with the notebook."""
    with pytest.raises(AuthError, match="saved with the notebook") as caught:
        Token.of(source)
    assert "ghp_abcdefgh" not in str(caught.value)


def test_a_secret_is_hidden_in_text():
    """What a server echoes back is masked."""
    assert Token(SECRET).hide(f"bad token {SECRET}!") == "bad token ***!"


@pytest.mark.parametrize(
    ("line", "echo", "hidden"),
    [
        (f"Bearer {SECRET}", f"Bearer {SECRET}", "Bearer ***"),
        (SECRET, SECRET, "***"),
        (f"a=b; session={SECRET}; t=dark", f"a=b {SECRET} dark", "a=b *** ***"),
        (f'Digest realm="x", response="{SECRET}"', SECRET, "***"),
    ],
)
def test_a_header_becomes_a_token_that_is_sent_unchanged(line, echo, hidden):
    """Each part of it that is long enough is hidden, and the word before it is not."""
    token = Token.from_header(line)
    assert token.header() == line
    assert token.hide(echo) == hidden
    assert repr(token) == "Token(***)"
