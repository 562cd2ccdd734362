"""Secrets: where they come from, and how they stay unseen."""

from __future__ import annotations

import os
import re
import stat
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import NoReturn, Protocol
from weakref import WeakSet

from gqlnb.errors import AuthError, GqlnbError, describe_exception, sanitize_text
from gqlnb.optional_imports import import_optional
from gqlnb.redact import MASK, hide_locals, redact_text, seal_text

__all__ = [
    "ACCEPTED_SCHEMES",
    "LITERAL_TOKEN_REFUSED",
    "TOKEN_SOURCES",
    "Token",
    "TokenHolder",
    "collect_secrets",
]

TOKEN_SOURCES = "'env:NAME', 'keyring:NAME', 'file:PATH', 'prompt'"  # noqa: S105
LITERAL_TOKEN_REFUSED = (
    f"token= takes {TOKEN_SOURCES} or a Token. A token typed into a cell would be saved with the "
    "notebook."
)
ACCEPTED_SCHEMES = frozenset({"bearer", "token"})
"""The words before a token, in lower case, that every server of ours takes, as GitHub does."""

_KEYRING_SERVICE = "gqlnb"  # the name under which the keyring of the system files our tokens
_PART_SEPARATORS = re.compile(
    r"[\s;,=\"]+"
)  # what stands between the parts of a cookie or of a digest
# RFC 9110, sections 11.1 and 5.6.2: the scheme is a token.
_SCHEME_PATTERN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
_MIN_HIDDEN_LENGTH = 4  # characters; to hide shorter words would make an error unreadable
_MAX_FILE_LENGTH = 1 << 16  # characters; no header of this length is read by anybody
_FINGERPRINT_KEY = os.urandom(32)  # of fingerprints: nobody can try words against them
_MAX_KEPT_VALUES = (
    32  # values a function gave last: answers to requests in flight may echo any of them
)
# Variables of the environment whose values are secrets by their names, and not paths of files.
_SECRET_VARIABLE_NAME = re.compile(
    r"(?:.*_)?(?:TOKEN|SECRET|PASSWORD|PASSWD|PAT|API_?KEY|ACCESS_KEY)"
)

_live_tokens: WeakSet[Token] = WeakSet()
_live_tokens_lock = threading.Lock()


class Token:
    """A secret that is sent in a header and shown nowhere.

    Its value stands in no repr, no attribute, no pickle, no log and no error. The first endpoint
    that a client sends it to is the only one it is ever sent to: the scheme, host and port of the
    address; :meth:`unbound` gives a Token for another.

    Parameters
    ----------
    value
        The secret: printable ASCII without spaces. White space around it is dropped, since a
        pasted token often ends in a newline. Or a function that returns it, for tokens that do not
        last: called whenever one is sent, in whichever thread sends.
    scheme
        The word before it in the header, such as ``"Bearer"``, ``"token"`` or ``"Basic"``; empty
        for none.
    lifetime
        Seconds for which what the function returned is used again; None to call it for every
        request.

    Raises
    ------
    AuthError
        If the value is empty or holds a space, a control or a non-ASCII character; the message
        does not show it. If the function fails, when the token is sent.

    Examples
    --------
    >>> Token("abc")
    Token(***)
    """

    __slots__ = (
        "__weakref__",
        "_expires_at",
        "_get_token",
        "_lifetime",
        "_lock",
        "_origin",
        "_scheme",
        "_sealed_parts",
        "_sealed_values",
        "_source",
    )

    @hide_locals
    def __init__(
        self,
        value: str | Callable[[], str],
        scheme: str = "Bearer",
        *,
        lifetime: float | None = None,
    ) -> None:
        ask = value if callable(value) else None
        if not _is_scheme(scheme):
            msg = "The scheme of a token is one word such as 'Bearer', 'token' or 'Basic'."
            raise AuthError(msg)
        if ask is None and lifetime is not None:
            msg = "lifetime= is for a function that returns tokens; this one is given as text."
            raise AuthError(msg)
        texts = [] if ask else [seal_text(validate_token(value, "The token"))]
        self._initialize(ask, texts, scheme, lifetime or 0.0)

    def _initialize(
        self,
        ask: Callable[[], str] | None,
        texts: list[Callable[[], str]],
        scheme: str,
        lifetime: float,
    ) -> None:
        self._get_token = ask
        self._sealed_values = deque(texts, _MAX_KEPT_VALUES)
        self._sealed_parts: tuple[Callable[[], str], ...] = ()
        self._scheme = scheme
        self._lifetime = lifetime
        self._expires_at = 0.0
        self._origin: str | None = None
        self._source: str | None = None
        self._lock = threading.RLock()
        with _live_tokens_lock:
            _live_tokens.add(self)

    @classmethod
    @hide_locals
    def from_env(cls, name: str, scheme: str = "Bearer") -> Token:
        """Take the token from an environment variable.

        Raises
        ------
        AuthError
            If the variable is not set or empty.
        """
        value = os.environ.get(name, "")
        if not value.strip():
            msg = (
                f"Environment variable {sanitize_text(name, 80)} is not set, so there is no token to send. "
                f"Set it before Jupyter starts, or pass token='prompt'."
            )
            raise AuthError(msg)
        made = cls(validate_token(value, f"The token in environment variable {name}"), scheme)
        return made.record_source(f"env:{name}")

    @classmethod
    @hide_locals
    def from_keyring(cls, name: str, scheme: str = "Bearer") -> Token:
        """Take the token from the keyring of the system, where it is filed under ``gqlnb``.

        Raises
        ------
        AuthError
            If the keyring holds no such entry, or cannot be read.
        MissingExtraError
            If the optional dependency ``keyring`` is not installed.
        """
        keyring = import_optional("keyring", "keyring", "read a token from the system's keyring")
        try:
            value = keyring.get_password(_KEYRING_SERVICE, name)
        except Exception as error:  # each backend has errors of its own
            reason = type(error).__name__
        else:
            if value:
                made = cls(validate_token(value, f"The token {name!r} in the keyring"), scheme)
                return made.record_source(f"keyring:{name}")
            msg = (
                f"The keyring holds no token {name!r}. Store it once in a terminal: "
                f"keyring set {_KEYRING_SERVICE} {name}"
            )
            raise AuthError(msg)
        msg = (
            f"The keyring could not be read ({reason}). Unlock it, or set an environment variable "
            "and pass token='env:NAME'."
        )
        raise AuthError(msg)

    @classmethod
    @hide_locals
    def from_file(cls, path: str | os.PathLike[str], scheme: str = "Bearer") -> Token:
        """Take the token from a file that holds nothing else.

        Parameters
        ----------
        path
            The file; ``~`` is the home folder. On POSIX systems nobody but its owner may have any
            right to it.

        Raises
        ------
        AuthError
            If others may read it, or it can't be read; the message says what to do.
        """
        file = Path(path).expanduser()
        shown = sanitize_text(file, 120)
        try:
            with file.open(encoding="ascii", errors="replace") as opened:
                mode = os.fstat(opened.fileno()).st_mode  # of what was opened, whatever is moved
                fault = _describe_file_fault(mode, shown)
                value = "" if fault else opened.read(_MAX_FILE_LENGTH)
        except OSError as error:
            fault, value = f"The token file {shown} can't be read: {error.strerror}.", ""
        if fault:
            raise AuthError(fault)
        return cls(validate_token(value, f"The token in {shown}"), scheme).record_source(
            f"file:{path}"
        )

    @classmethod
    @hide_locals
    def prompt(cls, text: str = "Token: ", scheme: str = "Bearer") -> Token:
        """Ask the person for the token; what is typed is not shown and not saved.

        Raises
        ------
        AuthError
            If nobody can be asked: a notebook run from the command line, a terminal that would show
            what is typed.
        """
        from getpass import GetPassWarning, getpass

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", GetPassWarning)  # it would be shown
                value: str | None = getpass(text)
        # RuntimeError: no stdin in a kernel
        except (EOFError, NotImplementedError, RuntimeError, GetPassWarning):
            value = None
        if value is None:
            msg = (
                "There is nobody to ask for a token here. Set an environment variable and pass "
                "token='env:NAME'."
            )
            raise AuthError(msg)
        return cls(value, scheme)

    @classmethod
    @hide_locals
    def from_header(cls, line: str) -> Token:
        """Take the value of a header that is a secret, such as ``"Bearer abc"`` or cookies.

        Parameters
        ----------
        line
            The value as it is sent: printable ASCII, not empty. Each of its words and of the values
            behind ``=`` in it is hidden too, where it has four characters or more.
        """
        found = {part for part in _PART_SEPARATORS.split(line) if len(part) >= _MIN_HIDDEN_LENGTH}
        word, _, value = line.partition(" ")
        if value and " " not in value and word[:1].isalpha() and _SCHEME_PATTERN.fullmatch(word):
            made, found = cls(value, word), found - {word}
        else:
            made = cls("".join(line.split()), "")
            made._sealed_values = deque([seal_text(line)])
        made._sealed_parts = tuple(map(seal_text, found))
        return made

    @classmethod
    @hide_locals
    def from_source(cls, source: object, scheme: str = "Bearer") -> Token | None:
        """Return the token that a `token=` argument means.

        Parameters
        ----------
        source
            A Token, ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, something
            that holds a Token as its ``.token``, or None for no token.
        scheme
            The word before it, where it is taken from a source.

        Raises
        ------
        AuthError
            If the source holds no token, or is something else; a literal token is refused
            because it would be saved with the notebook.
        """
        if source is None or isinstance(source, Token):
            return source
        word, _, name = str(source).partition(":") if isinstance(source, str) else ("", "", "")
        made = {"env": cls.from_env, "keyring": cls.from_keyring, "file": cls.from_file}.get(word)
        if made is not None and name.strip():
            return made(name.strip(), scheme)
        if source == "prompt":
            return cls.prompt(scheme=scheme)
        held = getattr(source, "token", None)  # a TokenBox
        if isinstance(held, Token):
            return held
        raise AuthError(LITERAL_TOKEN_REFUSED)

    @property
    def scheme(self) -> str:
        """The word before it in the header."""
        return self._scheme

    @property
    def where(self) -> str | None:
        """Where it was found, such as ``"env:NAME"``; None if it was given or typed in."""
        return self._source

    def record_source(self, where: str) -> Token:
        """Note where another process may find the same secret, and return the Token."""
        self._source = where
        return self

    def build_header(self) -> str:
        """Return the value of the header; call it only where it is sent.

        Raises
        ------
        AuthError
            If the token comes from a function, and that failed.
        """
        value = self._reveal_value()
        return f"{self._scheme} {value}" if self._scheme else value

    @hide_locals
    def _reveal_value(self) -> str:
        if self._get_token is None:
            return self._sealed_values[-1]()
        with self._lock:
            if not self._sealed_values or time.monotonic() >= self._expires_at:
                self._sealed_values.append(
                    seal_text(call_token_function(self._get_token, self.redact))
                )
                self._expires_at = time.monotonic() + self._lifetime
            return self._sealed_values[-1]()

    def matches(self, header: str | None) -> bool:
        """Tell, in constant time, whether an ``Authorization`` header carries this token.

        The words ``bearer`` and ``token`` count in any case, as GitHub takes them.
        """
        word, _, value = (header or "").strip().partition(" ")
        known = word.lower() in ACCEPTED_SCHEMES or word.lower() == self._scheme.lower()
        same = compare_digest(
            value.strip().encode("utf-8", "replace"), self._reveal_value().encode()
        )
        return known and same

    def compute_fingerprint(self) -> object:
        """Return what Tokens of the same secret share in this process, and what does not tell it.

        Where a function gives the secret, a Token shares it with nobody.
        """
        if self._get_token is not None:
            return self
        return blake2b(
            self._sealed_values[-1]().encode(), key=_FINGERPRINT_KEY, digest_size=16
        ).digest()

    def bind(self, origin: str) -> None:
        """Bind the token to the one endpoint it may be sent to; clients call this.

        Parameters
        ----------
        origin
            Scheme, host and port, such as ``"https://api.github.com"``.

        Raises
        ------
        AuthError
            If it is bound to another.
        """
        with self._lock:
            if self._origin is None:
                self._origin = origin
            bound = self._origin
        if bound != origin:
            msg = (
                f"This token was given to a client of {bound}, so it is not sent to {origin}. "
                "Make a Token for that endpoint; if both may have the same one, token.unbound() "
                "gives it once more."
            )
            raise AuthError(msg)

    def unbound(self) -> Token:
        """Return a Token of the same secret that no endpoint has been sent yet."""
        made = Token.__new__(Token)
        made._copy_from(self)  # noqa: SLF001 - the same class
        return made

    def _copy_from(self, other: Token) -> None:
        self._initialize(
            other._get_token, list(other._sealed_values), other._scheme, other._lifetime
        )
        self._sealed_parts, self._expires_at, self._source = (
            other._sealed_parts,
            other._expires_at,
            other._source,
        )

    @hide_locals
    def redact(self, text: str) -> str:
        """Return `text` with the secret replaced wherever it stands in it, however it is spelled.

        Percent-encoded, escaped as in JSON or HTML, in base64 or in hexadecimal digits; where it
        has less than eight characters, as it is alone.
        """
        return redact_text(text, self._reveal_all())

    def _reveal_all(self) -> list[str]:
        return [give() for give in (*self._sealed_values, *self._sealed_parts)]

    def __repr__(self) -> str:
        return f"Token({MASK})"

    def __copy__(self) -> Token:
        return self

    def __deepcopy__(self, memo: object) -> Token:
        return self

    def __reduce__(self) -> NoReturn:
        msg = "A Token is not pickled: it stays in this process."
        raise TypeError(msg)

    __getstate__ = __reduce__


def _is_scheme(scheme: object) -> bool:
    return isinstance(scheme, str) and _SCHEME_PATTERN.fullmatch(scheme) is not None


class TokenHolder(Protocol):
    """What has a Token: a box that it was typed into."""

    @property
    def token(self) -> Token:
        """The Token."""


def validate_token(value: object, what: str) -> str:
    """Return the text of a token without the white space around it.

    Raises
    ------
    AuthError
        If it can be none; the message does not show it.
    """
    if not isinstance(value, str):
        msg = f"{what} must be text or a function that returns it, not {type(value).__name__}."
        raise AuthError(msg)
    value = value.strip()
    if not value:
        msg = f"{what} is empty, so there is nothing to send."
        raise AuthError(msg)
    if any(not "!" <= character <= "~" for character in value):
        msg = (
            f"{what} holds a space, a line break or a non-ASCII character. "
            "Copy it again without what surrounds it."
        )
        raise AuthError(msg)
    return value


def call_token_function(ask: Callable[[], object], hide: Callable[[str], str]) -> str:
    """Return the token that a function of the user's gives.

    Raises
    ------
    AuthError
        If the function fails, or what it gives can be no token; the message shows none.
    """
    what = "The token that the function returned"
    try:
        given = ask()
    except GqlnbError as error:
        reason = str(error)
    except Exception as error:  # whatever the user's code raises
        reason = describe_exception(error)
    else:
        if isinstance(given, Token):
            return given._reveal_value()  # noqa: SLF001 - the same class
        return validate_token(given, what)
    msg = f"The function that returns the token failed: {redact_text(hide(reason))}"
    raise AuthError(msg)


def _describe_file_fault(mode: int, shown: str) -> str:
    """Say what is wrong with the kind and the permissions of a token file."""
    if not stat.S_ISREG(mode):
        return f"The token file {shown} is no regular file."
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        return (
            f"The token file {shown} is open to others (mode {stat.S_IMODE(mode):04o}). "
            f"Keep it to yourself: chmod 600 {shown}"
        )
    return ""


def collect_secrets() -> list[str]:
    """Return the secrets this process knows, to look for them in files.

    Those of the living Tokens, and those of environment variables whose names say that they are.
    """
    with _live_tokens_lock:
        tokens = list(_live_tokens)
    found = {word for token in tokens for word in token._reveal_all()}  # noqa: SLF001 - its own module
    found |= {
        value for name, value in os.environ.items() if _SECRET_VARIABLE_NAME.fullmatch(name.upper())
    }
    return sorted(word for word in found if len(word) >= 8 and not re.search(r"^[/~]|\s", word))
