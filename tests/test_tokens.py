"""Tokens are sent and never shown."""

import copy
import gc
import getpass
import inspect
import json
import logging
import pickle
import pprint
import sys
import threading
import warnings
from types import SimpleNamespace

import pytest

from gqlnb import AuthError, MissingExtraError, Token
from gqlnb.tokens import bind_token, collect_secrets, compute_fingerprint
from tests.tracebacks import describe_frames

SECRET = "canary-5f1e"


def test_a_token_does_not_show_its_value():
    """Not in repr, str, format, logs, JSON or object printers."""
    token = Token(SECRET)
    record = logging.makeLogRecord({"msg": "%s %r", "args": (token, [token])})
    shown = [repr(token), str(token), f"{token}", repr([token]), str(token.__slots__)]
    shown += [
        record.getMessage(),
        pprint.pformat({"t": token}),
        json.dumps({1: token}, default=str),
    ]
    assert not any(SECRET in text for text in shown)
    assert not hasattr(token, "__dict__")


def test_no_attribute_gives_the_value():
    """A debugger that expands a token finds at most two numbers."""
    token = Token(SECRET)
    seen, waiting = [], [token]
    for _ in range(3):
        waiting = [
            value
            for held in waiting
            for _, value in [*inspect.getmembers_static(held), *enumerate(gc.get_referents(held))]
            if not inspect.isclass(value) and not inspect.ismodule(value)
        ]
        seen += waiting
    texts = [value for value in seen if isinstance(value, (str, bytes))]
    assert len(seen) > 100
    assert not any(SECRET in str(text) for text in texts)


@pytest.mark.parametrize(
    "dump",
    [
        pytest.param(pickle.dumps, id="alone"),
        pytest.param(lambda token: pickle.dumps({"t": token}), id="within"),
        pytest.param(lambda token: pickle.dumps(token, 0), id="oldest protocol"),
        pytest.param(lambda token: token.__getstate__(), id="state"),
        pytest.param(lambda token: token.__reduce_ex__(4), id="reduced"),
    ],
)
def test_a_token_cannot_be_pickled(dump):
    """A pickle would contain the secret."""
    with pytest.raises(TypeError, match="cannot be pickled"):
        dump(Token(SECRET))


def test_a_copy_is_the_token_itself():
    """Copying does not duplicate the secret."""
    token = Token(SECRET)
    assert copy.copy(token) is token
    assert copy.deepcopy([token])[0] is token


@pytest.mark.parametrize(
    "value", ["", "  \n", "two words", "a\nb", "a\r\nX-Evil: 1", "töken", "a\0b"]
)
def test_an_invalid_value_is_rejected_without_showing_it(value):
    """Empty values, and those with spaces, control or non-ASCII characters."""
    with pytest.raises(AuthError) as caught:
        Token(value)
    assert not value.strip() or value not in str(caught.value)
    assert not value.strip() or repr(value)[1:-1] not in describe_frames(caught.value)


@pytest.mark.parametrize("value", [None, 5, b"canary-5f1e", ["canary-5f1e"]])
def test_a_value_of_another_type_is_rejected_without_showing_it(value):
    """For example bytes of a file opened in binary mode."""
    with pytest.raises(AuthError, match="must be text or a function") as caught:
        Token(value)
    assert SECRET not in describe_frames(caught.value)


@pytest.mark.parametrize("scheme", ["two words", "Bearer\r\nX-Evil:", "Bearer:", None, 5])
def test_an_invalid_scheme_is_rejected(scheme):
    """It would change the header."""
    with pytest.raises(AuthError, match="one word") as caught:
        Token(SECRET, scheme)
    assert SECRET not in describe_frames(caught.value)


def test_white_space_around_a_token_is_stripped():
    """A trailing newline is common after pasting."""
    assert Token(f" {SECRET}\n").build_header() == f"Bearer {SECRET}"


def test_the_header_starts_with_the_scheme():
    """An empty scheme gives the value alone."""
    assert Token(SECRET, "token").build_header() == f"token {SECRET}"
    assert Token(SECRET, "").build_header() == SECRET


@pytest.mark.parametrize(
    "header", [None, "", SECRET, f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer", "Bearer é"]
)
def test_other_headers_do_not_match(header):
    """Missing, incomplete, foreign or wrong values are no match and no error."""
    assert not Token(SECRET).matches(header)


def test_a_token_is_read_from_the_environment(monkeypatch):
    """`env:NAME` reads the variable."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    assert Token.from_source("env:MY_TOKEN").build_header().endswith(SECRET)


def test_an_unset_variable_is_named_in_the_error():
    """`env:NAME` does not fall back to an empty token."""
    with pytest.raises(AuthError, match="Environment variable NOT_SET is not set"):
        Token.from_source("env:NOT_SET")


def test_a_token_is_read_from_the_keyring(monkeypatch):
    """`keyring:NAME` reads the entry of the service gqlnb."""
    asked = SimpleNamespace(get_password=lambda service, name: f"{service}-{name}")
    monkeypatch.setitem(sys.modules, "keyring", asked)
    assert Token.from_source("keyring:work").build_header() == "Bearer gqlnb-work"


def test_a_missing_keyring_entry_is_named_in_the_error(monkeypatch):
    """The message has the command that stores it."""
    asked = SimpleNamespace(get_password=lambda service, name: None)
    monkeypatch.setitem(sys.modules, "keyring", asked)
    with pytest.raises(AuthError, match="keyring set gqlnb work"):
        Token.from_keyring("work")


def test_an_unreadable_keyring_is_an_auth_error(monkeypatch):
    """Its own exceptions are dropped: their frames may contain secrets."""

    def locked(service, name):
        held = SECRET
        raise OSError(held)

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=locked))
    with pytest.raises(AuthError, match=r"could not be read \(OSError\)") as caught:
        Token.from_keyring("work")
    assert SECRET not in describe_frames(caught.value)


def test_a_token_is_read_from_a_private_file(tmp_path, monkeypatch):
    """`file:PATH` expands ~ and strips the final line break."""
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Token.from_file(file).build_header() == f"Bearer {SECRET}"
    assert Token.from_file(str(file), "token").build_header() == f"token {SECRET}"
    assert Token.from_source("file:~/token").build_header() == f"Bearer {SECRET}"


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are those of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604, 0o610, 0o666, 0o777])
def test_a_file_readable_by_others_is_rejected(tmp_path, mode):
    """The message has the chmod command, and the file is not read."""
    file = tmp_path / "token"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(AuthError, match=f"open to others .mode {mode:04o}.*chmod 600 ") as caught:
        Token.from_file(file)
    assert SECRET not in describe_frames(caught.value)


def test_an_unreadable_file_is_named_in_the_error(tmp_path):
    """A folder, a missing file, binary data."""
    (tmp_path / "empty").touch(0o600)
    (tmp_path / "bytes").touch(0o600)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, reason in {
        "": "directory|no regular file",
        "missing": "No such file",
        "empty": "is empty",
        "bytes": "non-ASCII",
    }.items():
        with pytest.raises(AuthError, match=reason) as caught:
            Token.from_file(tmp_path / name)
        assert name in str(caught.value)
        assert caught.value.__context__ is None


def test_a_missing_keyring_library_is_explained(monkeypatch):
    """The error names the package to install."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtraError, match="pip install keyring"):
        Token.from_keyring("work")


def test_prompt_reads_a_token(monkeypatch):
    """Without echo."""
    monkeypatch.setattr(getpass, "getpass", lambda text: SECRET)
    assert Token.from_source("prompt").build_header().endswith(SECRET)


def test_prompt_without_standard_input_is_explained(monkeypatch):
    """As in a notebook run from the command line."""

    def nobody(text):
        raise EOFError

    monkeypatch.setattr(getpass, "getpass", nobody)
    with pytest.raises(AuthError, match="env:NAME"):
        Token.prompt()


def test_prompt_is_rejected_if_input_would_be_echoed(monkeypatch):
    """A terminal that cannot disable echo is not used."""

    def careless(text):
        warnings.warn("Password input may be echoed.", getpass.GetPassWarning, stacklevel=2)
        return SECRET

    monkeypatch.setattr(getpass, "getpass", careless)
    with pytest.raises(AuthError, match="cannot be prompted for"):
        Token.prompt()


@pytest.mark.parametrize("source", ["ghp_abcdefgh", "env:", "Bearer x", 5])
def test_a_literal_token_is_rejected_without_showing_it(source):
    """A token typed into a cell would be saved with the notebook."""
    with pytest.raises(AuthError, match="saved with the notebook") as caught:
        Token.from_source(source)
    assert "ghp_abcdefgh" not in describe_frames(caught.value)


def test_an_object_with_a_token_can_be_passed():
    """Such as an input widget."""
    token = Token(SECRET)
    assert Token.from_source(SimpleNamespace(token=token)) is token
    with pytest.raises(AuthError, match="saved with the notebook"):
        Token.from_source(SimpleNamespace(token=SECRET))


def test_a_secret_is_masked_in_text():
    """For responses that echo it."""
    assert Token(SECRET).redact(f"bad token {SECRET}!") == "bad token ***!"


@pytest.mark.parametrize(
    ("line", "echo", "hidden"),
    [
        (f"Bearer {SECRET}", f"Bearer {SECRET}", "Bearer ***"),
        (SECRET, SECRET, "***"),
        (f"a=b; session={SECRET}; t=dark", f"a=b {SECRET} dark", "a=b *** ***"),
        (f'Digest realm="x", response="{SECRET}"', SECRET, "***"),
        (f" {SECRET}", SECRET, "***"),  # as a parameter of an address may begin
    ],
)
def test_a_header_becomes_a_token_that_is_sent_unchanged(line, echo, hidden):
    """Its parts are masked if long enough, except for the scheme."""
    token = Token.from_header(line)
    assert token.build_header() == line
    assert token.redact(echo) == hidden
    assert repr(token) == "Token(***)"


def test_a_value_of_a_function_is_cached_for_its_lifetime(monkeypatch):
    """The function is called again afterwards."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    given = iter(["first-1234", "second-1234"])
    token = Token(lambda: next(given), lifetime=60)
    assert token.build_header() == "Bearer first-1234"
    now[0] += 59.9
    assert token.build_header() == "Bearer first-1234"
    now[0] += 0.2
    assert token.build_header() == "Bearer second-1234"


def test_threads_call_a_function_once_within_its_lifetime():
    """A refresh does not run twice concurrently."""
    asked = []
    token = Token(lambda: asked.append(1) or SECRET, lifetime=3600)
    threads = [threading.Thread(target=token.build_header) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == [1]


def test_a_function_may_return_a_token():
    """Its source is read again at each call."""
    assert Token(lambda: Token(SECRET, "x")).build_header() == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(lambda: f"{SECRET} {SECRET}", "contains a space", id="words"),
        pytest.param(lambda: "", "is empty", id="nothing"),
        pytest.param(lambda: None, "not NoneType", id="none"),
        pytest.param(lambda: {}[SECRET], "failed: KeyError", id="error"),
        pytest.param(lambda: Token.from_env("NOT_SET"), "NOT_SET is not set", id="error of ours"),
    ],
)
def test_an_invalid_value_of_a_function_is_not_shown(given, reason):
    """It raises an AuthError when a request is sent."""
    token = Token(given)
    with pytest.raises(AuthError, match=reason) as caught:
        token.build_header()
    assert f"{SECRET} {SECRET}" not in describe_frames(caught.value)
    assert caught.value.__context__ is None


def test_tokens_in_exceptions_of_a_function_are_masked():
    """Its last value, and known token prefixes."""
    given = iter([SECRET])

    def give():
        for value in given:
            return value
        msg = f"expired: {SECRET}, ghp_abcdefgh1234"
        raise ValueError(msg)

    token = Token(give)
    token.build_header()
    with pytest.raises(AuthError, match=r"expired: \*\*\*, \*\*\*"):
        token.build_header()


def test_a_lifetime_requires_a_function():
    """A constant value does not expire."""
    with pytest.raises(AuthError, match="lifetime= requires a function"):
        Token(SECRET, lifetime=60)


def test_a_token_is_bound_to_the_first_endpoint():
    """Another endpoint is rejected by name."""
    token = Token(SECRET)
    bind_token(token, "https://api.github.com")
    bind_token(token, "https://api.github.com")
    with pytest.raises(
        AuthError, match=r"client of https://api\.github\.com.*not sent to http://127\.0\.0\.1:9"
    ):
        bind_token(token, "http://127.0.0.1:9")


def test_an_unbound_token_has_the_same_secret():
    """It may be used with another endpoint."""
    token = Token.from_header(f"Digest a={SECRET}, b=other-part")
    bind_token(token, "https://one")
    other = token.unbound()
    bind_token(other, "https://two")
    assert other.build_header() == token.build_header()
    assert other.redact("other-part") == "***"


def test_a_fingerprint_identifies_equal_tokens():
    """Independent of the scheme; for a function it is the Token, and no call is made."""
    token = Token(SECRET)
    same = [Token(SECRET), Token(SECRET, "token"), Token.from_header(f"Bearer {SECRET}")]
    assert {compute_fingerprint(each) for each in same} == {compute_fingerprint(token)}
    assert compute_fingerprint(Token("another")) != compute_fingerprint(token)
    assert SECRET.encode() not in compute_fingerprint(token)
    called = Token(lambda: pytest.fail("it was called"))
    assert compute_fingerprint(called) is called


def test_secrets_are_registered_while_they_exist(monkeypatch):
    """Those of tokens, and of environment variables with telling names."""
    monkeypatch.setenv("MY_API_KEY", "canary-of-variable")
    monkeypatch.setenv("A_TOKEN", "short")
    monkeypatch.setenv("B_TOKEN", "/run/secrets/token")
    monkeypatch.setenv("KEYBOARD", "canary-of-keys")
    token = Token.from_header(f"session={SECRET}")
    known = collect_secrets()
    assert {SECRET, f"session={SECRET}", "canary-of-variable"} <= set(known)
    assert not {"short", "/run/secrets/token", "canary-of-keys"} & set(known)
    del token
    gc.collect()
    assert SECRET not in collect_secrets()
