"""Tokens: their sources, the header they are sent in, and the endpoint they belong to."""

# ruff: noqa: SLF001 - the functions of this module use the private state of its class
from __future__ import annotations

import getpass
import os
import re
import stat
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from typing import NoReturn, Protocol
from weakref import WeakSet

from gqlnb.errors import (
    AuthError,
    GqlnbError,
    LiteralSecretError,
    describe_exception,
    sanitize_text,
)
from gqlnb.option_checks import explain_keywords
from gqlnb.optional_imports import import_optional
from gqlnb.redact import MASK, hide_locals, redact_text, seal_text

TOKEN_SOURCES = "'env:NAME', 'keyring:NAME', 'file:PATH', 'prompt'"  # noqa: S105
LITERAL_TOKEN_REFUSED = (
    f"token= takes {TOKEN_SOURCES} or a Token. A token typed into a cell would be saved with the "
    "notebook."
)
#: The schemes, in lower case, that our servers accept; GitHub accepts the same two.
ACCEPTED_SCHEMES = frozenset({"bearer", "token"})

_KEYRING_SERVICE = "gqlnb"
_PART_SEPARATORS = re.compile(r"[\s;,=\"]+")  # between the parts of a cookie or a digest
# RFC 9110, sections 11.1 and 5.6.2: the scheme is a token.
_SCHEME_PATTERN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
_MIN_HIDDEN_LENGTH = 4  # characters; hiding shorter words would make error messages unreadable
_MAX_FILE_LENGTH = 1 << 16  # characters; servers reject headers of this length
_FINGERPRINT_KEY = os.urandom(32)  # per process, so that guesses cannot be checked elsewhere
_MAX_KEPT_VALUES = 32  # a response in flight may echo a value that was replaced meanwhile
# Environment variables whose names say that they hold a secret, not the path of a file.
_SECRET_VARIABLE_NAME = re.compile(
    r"(?:.*_)?(?:TOKEN|SECRET|PASSWORD|PASSWD|PAT|API_?KEY|ACCESS_KEY)"
)

# In requests that a function sends, too: their threads and tasks have a copy of the context.
_tokens_of_running_functions: ContextVar[frozenset[Token]] = ContextVar(
    "_tokens_of_running_functions", default=frozenset()
)
_live_tokens: WeakSet[Token] = WeakSet()
_live_tokens_lock = threading.Lock()


@explain_keywords
class Token:
    """A secret that is sent in a header and never shown.

    It does not appear in a repr, an attribute, a pickle, a log or an error message. It is sent only
    to the first endpoint that a client sends it to (scheme, host and port of the URL);
    :meth:`unbound` returns a Token for another endpoint.

    Parameters
    ----------
    value
        The secret: printable ASCII without spaces; surrounding white space is removed, since a
        pasted token often ends in a newline. Or a function that returns it, for short-lived tokens:
        called before a request is sent, in a thread that may wait, so that it may send requests
        itself; and once more when the endpoint refuses the token with HTTP 401. The request is
        then sent again with the new token, a mutation only if nothing of it was executed.
    scheme
        The authentication scheme, such as ``"Bearer"``, ``"token"`` or ``"Basic"``; empty for none.
    lifetime
        Seconds for which a value returned by the function is used again; None to call the function
        for every request.

    Raises
    ------
    AuthError
        If the value is empty or contains a space, a control or a non-ASCII character; the message
        does not show it. If the scheme is not one word, or `lifetime` is given for a string. If the
        function fails, when the token is sent.

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
        get_token = value if callable(value) else None
        word: object = scheme  # callers without a type checker may pass anything
        if not isinstance(word, str) or not _SCHEME_PATTERN.fullmatch(word):
            msg = "The scheme of a token is one word such as 'Bearer', 'token' or 'Basic'."
            raise AuthError(msg)
        if get_token is None and lifetime is not None:
            msg = "lifetime= requires a function that returns tokens; this token is a string."
            raise AuthError(msg)
        sealed = [] if get_token else [seal_text(validate_token(value, "The token"))]
        self._initialize(get_token, sealed, scheme, lifetime or 0.0)

    def _initialize(
        self,
        get_token: Callable[[], str] | None,
        sealed: list[Callable[[], str]],
        scheme: str,
        lifetime: float,
    ) -> None:
        self._get_token = get_token
        self._sealed_values = deque(sealed, _MAX_KEPT_VALUES)
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
        """Return the token in an environment variable.

        Parameters
        ----------
        name
            The variable.
        scheme
            The authentication scheme.

        Returns
        -------
        Token
            The token of the variable, with this source.

        Raises
        ------
        AuthError
            If the variable is not set or empty, or its value is not a valid token.
        """
        value = os.environ.get(name, "")
        if not value.strip():
            msg = (
                f"Environment variable {sanitize_text(name, 80)} is not set, so there is no token "
                f"to send. Set it before Jupyter starts, or pass token='prompt'."
            )
            raise AuthError(msg)
        token = cls(validate_token(value, f"The token in environment variable {name}"), scheme)
        return record_source(token, f"env:{name}")

    @classmethod
    @hide_locals
    def from_keyring(cls, name: str, scheme: str = "Bearer") -> Token:
        """Return a token in the system's keyring, under the service name ``gqlnb``.

        Parameters
        ----------
        name
            The user name of the entry.
        scheme
            The authentication scheme.

        Returns
        -------
        Token
            The token of the entry, with this source.

        Raises
        ------
        AuthError
            If the keyring does not have the entry or cannot be read, or the entry is not a valid
            token.
        MissingExtraError
            If the optional dependency ``keyring`` is not installed.
        """
        keyring = import_optional("keyring", "keyring", "read a token from the system's keyring")
        try:
            value = keyring.get_password(_KEYRING_SERVICE, name)
        except Exception as error:  # each backend has its own exceptions
            msg = (
                f"The keyring could not be read ({type(error).__name__}). Unlock it, or set an "
                "environment variable and pass token='env:NAME'."
            )
            raise AuthError(msg) from None
        if not value:
            msg = (
                f"The keyring does not have a token {name!r}. Store it once in a terminal: "
                f"keyring set {_KEYRING_SERVICE} {name}"
            )
            raise AuthError(msg)
        token = cls(validate_token(value, f"The token {name!r} in the keyring"), scheme)
        return record_source(token, f"keyring:{name}")

    @classmethod
    @hide_locals
    def from_file(cls, path: str | os.PathLike[str], scheme: str = "Bearer") -> Token:
        """Return the token in a file that contains only the token.

        Parameters
        ----------
        path
            The file; ``~`` is the home folder. On POSIX systems its mode must be private to its
            owner, such as 600.
        scheme
            The authentication scheme.

        Returns
        -------
        Token
            The token of the file, with this source.

        Raises
        ------
        AuthError
            If other users may access the file, it cannot be read, or it does not contain a valid
            token.
        """
        file = Path(path).expanduser()
        shown, fault, value = sanitize_text(file, 120), "", ""
        try:
            with file.open(encoding="ascii", errors="replace") as opened:
                mode = os.fstat(opened.fileno()).st_mode  # not of a path that may be replaced
                permissions = stat.S_IMODE(mode)
                if not stat.S_ISREG(mode):
                    fault = f"The token file {shown} is not a regular file."
                elif os.name == "posix" and permissions & 0o077:
                    fault = (
                        f"The token file {shown} is open to others (mode {permissions:04o}). "
                        f"Keep it to yourself: chmod 600 {shown}"
                    )
                else:
                    value = opened.read(_MAX_FILE_LENGTH)
        except OSError as error:
            fault = f"The token file {shown} can't be read: {error.strerror}."
        if fault:
            raise AuthError(fault)
        token = cls(validate_token(value, f"The token in {shown}"), scheme)
        return record_source(token, f"file:{path}")

    @classmethod
    @hide_locals
    def prompt(cls, text: str = "Token: ", scheme: str = "Bearer") -> Token:
        """Prompt for the token; the input is not echoed and not saved.

        Parameters
        ----------
        text
            The text of the prompt.
        scheme
            The authentication scheme.

        Returns
        -------
        Token
            The token typed in; it has no source.

        Raises
        ------
        AuthError
            If a prompt is not possible: in a notebook run from the command line, or in a terminal
            that cannot turn off echo. If the input is not a valid token.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", getpass.GetPassWarning)  # the input would be echoed
                value = getpass.getpass(text)
        # RuntimeError: no stdin in a kernel
        except (EOFError, NotImplementedError, RuntimeError, getpass.GetPassWarning):
            msg = (
                "A token cannot be prompted for here. Set an environment variable and pass "
                "token='env:NAME'."
            )
            raise AuthError(msg) from None
        return cls(value, scheme)

    @classmethod
    @hide_locals
    def from_header(cls, line: str) -> Token:
        """Return a Token for a secret header value, such as ``"Bearer abc"`` or cookies.

        Parameters
        ----------
        line
            The header value: printable ASCII, not empty. Its parts of four or more characters, such
            as the values after ``=``, are masked in texts too.

        Returns
        -------
        Token
            A token whose :meth:`build_header` returns the line.

        Raises
        ------
        AuthError
            If the line is empty, or contains a character that is neither white space nor printable
            ASCII; the message does not show it.

        Examples
        --------
        >>> import os
        >>> headers = {"Cookie": Token.from_header("session=" + os.environ.get("SESSION", "none"))}
        >>> headers
        {'Cookie': Token(***)}
        """
        parts = {part for part in _PART_SEPARATORS.split(line) if len(part) >= _MIN_HIDDEN_LENGTH}
        word, _, value = line.partition(" ")
        if value and " " not in value and word[:1].isalpha() and _SCHEME_PATTERN.fullmatch(word):
            token, parts = cls(value, word), parts - {word}
        else:
            token = cls("".join(line.split()), "")
            # Validated without the white space that cookies and digests have between their parts;
            # each part is hidden on its own.
            token._sealed_values = deque([seal_text(line)])
        token._sealed_parts = tuple(map(seal_text, parts))
        return token

    @classmethod
    @hide_locals
    def from_source(cls, source: object, scheme: str = "Bearer") -> Token | None:
        """Return the token for a `token=` argument.

        Parameters
        ----------
        source
            A Token, ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"``, an object
            with a Token as its attribute ``token``, or None for no token.
        scheme
            The authentication scheme of a token given as text.

        Returns
        -------
        Token or None
            The token; None only for None.

        Raises
        ------
        AuthError
            If the source has no token, or is of another kind.
        LiteralSecretError
            If it is the text of a token, which would be saved with the notebook.
        MissingExtraError
            If the source is a keyring, and the optional dependency ``keyring`` is not installed.
        """
        if source is None or isinstance(source, Token):
            return source
        word, _, name = source.partition(":") if isinstance(source, str) else ("", "", "")
        build = {"env": cls.from_env, "keyring": cls.from_keyring, "file": cls.from_file}.get(word)
        if build is not None and name.strip():
            return build(name.strip(), scheme)
        if source == "prompt":
            return cls.prompt(scheme=scheme)
        held = getattr(source, "token", None)  # a TokenBox
        if isinstance(held, Token):
            return held
        raise LiteralSecretError(LITERAL_TOKEN_REFUSED)

    @property
    def scheme(self) -> str:
        """The authentication scheme."""
        return self._scheme

    @property
    def is_renewable(self) -> bool:
        """Whether a function returns it, which is asked again for a token that was refused."""
        return self._get_token is not None

    @property
    def where(self) -> str | None:
        """The source, such as ``"env:NAME"``; None for a token given as text or prompted for."""
        return self._source

    def build_header(self, refused: str | None = None) -> str:
        """Return the header value with the secret, to send it.

        Parameters
        ----------
        refused
            The header value that an endpoint has refused. A function is called for a new token,
            unless it was meanwhile; a string stays as it is.

        Returns
        -------
        str
            Scheme and secret, such as ``"Bearer abc"``; the secret alone without a scheme.

        Raises
        ------
        AuthError
            If the function that returns the token failed.
        """
        return self._add_scheme(self._reveal_value(refused))

    def _add_scheme(self, value: str) -> str:
        return f"{self._scheme} {value}" if self._scheme else value

    @hide_locals
    def _reveal_value(self, refused: str | None = None) -> str:
        if self._get_token is None:
            return self._sealed_values[-1]()
        # Before the lock: the request may run in another thread, and would wait for ever.
        if self in _tokens_of_running_functions.get():
            msg = (
                "The function that returns the token sends a request with the same token. Log in "
                "with a client without it."
            )
            raise AuthError(msg)
        with self._lock:
            known = self._sealed_values[-1]() if self._sealed_values else None
            is_old = time.monotonic() >= self._expires_at
            if refused is not None:  # of many requests at once, the first asks for a new token
                is_old = known is not None and self._add_scheme(known) == refused
            if known is None or is_old:
                self._sealed_values.append(seal_text(self._call_function(self._get_token)))
                self._expires_at = time.monotonic() + self._lifetime
            return self._sealed_values[-1]()

    @hide_locals
    def _call_function(self, get_token: Callable[[], str]) -> str:
        running = _tokens_of_running_functions.get()
        reset = _tokens_of_running_functions.set(running | {self})
        try:
            return call_token_function(get_token, self.redact)
        finally:
            _tokens_of_running_functions.reset(reset)

    def matches(self, header: str | None) -> bool:
        """Return, in constant time, whether an ``Authorization`` header carries this token.

        The schemes ``bearer`` and ``token``, in any case, are always accepted, as by GitHub.

        Parameters
        ----------
        header
            The header value, such as ``"Bearer abc"``; None if the request has no such header.

        Returns
        -------
        bool
            False also for a missing header.

        Raises
        ------
        AuthError
            If the function that returns the token failed.
        """
        word, _, value = (header or "").strip().partition(" ")
        known = word.lower() in ACCEPTED_SCHEMES or word.lower() == self._scheme.lower()
        # Compared also under an unknown scheme, so that the time says nothing about the scheme
        # either.
        same = compare_digest(
            value.strip().encode("utf-8", "replace"), self._reveal_value().encode()
        )
        return known and same

    def unbound(self) -> Token:
        """Return a Token of the same secret that is not bound to an endpoint.

        Returns
        -------
        Token
            A new Token with the same scheme, source, function and lifetime.
        """
        token = Token.__new__(Token)
        token._initialize(self._get_token, list(self._sealed_values), self._scheme, self._lifetime)
        token._sealed_parts = self._sealed_parts
        token._expires_at, token._source = self._expires_at, self._source
        return token

    @hide_locals
    def redact(self, text: str) -> str:
        """Return a text with the secret masked in any encoding.

        Encodings are percent-encoding, JSON and HTML escapes, base64 and hexadecimal digits; a
        secret of less than eight characters is only found as it is.

        Parameters
        ----------
        text
            Any text, such as an error message.

        Returns
        -------
        str
            The text with ``***`` for each occurrence.
        """
        # Earlier values too: a response in flight may echo the token that was replaced meanwhile.
        return redact_text(text, self._reveal_all())

    def _reveal_all(self) -> list[str]:
        return [reveal() for reveal in (*self._sealed_values, *self._sealed_parts)]

    def __repr__(self) -> str:
        return f"Token({MASK})"

    def __copy__(self) -> Token:
        return self

    def __deepcopy__(self, memo: object) -> Token:
        return self

    def __reduce__(self) -> NoReturn:
        msg = "A Token cannot be pickled: the secret must not leave this process."
        raise TypeError(msg)

    __getstate__ = __reduce__


def record_source(token: Token, where: str) -> Token:
    """Record the source that another process can read the secret from; return the token."""
    token._source = where
    return token


def bind_token(token: Token, origin: str) -> None:
    """Bind a token to the one endpoint it may be sent to.

    Parameters
    ----------
    token
        The token.
    origin
        Scheme, host and port, such as ``"https://api.github.com"``.

    Raises
    ------
    AuthError
        If it is bound to another origin.
    """
    with token._lock:
        if token._origin is None:
            token._origin = origin
        bound = token._origin
    if bound != origin:
        msg = (
            f"This token was given to a client of {bound}, so it is not sent to {origin}. "
            "Make a Token for that endpoint; if both may have the same one, token.unbound() "
            "gives it once more."
        )
        raise AuthError(msg)


def compute_fingerprint(token: Token) -> object:
    """Return a hashable object that is equal for tokens of the same secret in this process.

    Returns
    -------
    object
        The secret cannot be derived from it. A token with a function is equal to itself only.
    """
    # A function may return another token each time, and calling it here could prompt or cost a
    # request.
    if token._get_token is not None:
        return token
    return blake2b(
        token._sealed_values[-1]().encode(), key=_FINGERPRINT_KEY, digest_size=16
    ).digest()


class TokenHolder(Protocol):
    """An object with a Token, such as :class:`gqlnb.TokenBox`."""

    @property
    def token(self) -> Token:
        """The Token."""


def validate_token(value: object, what: str) -> str:
    """Return the text of a token without surrounding white space.

    Parameters
    ----------
    value
        The token, of any type.
    what
        The subject of the error message, such as ``"The token"``.

    Returns
    -------
    str
        The token.

    Raises
    ------
    AuthError
        If it is not a valid token; the message does not show it.
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
            f"{what} contains a space, a line break or a non-ASCII character. "
            "Copy it again without the surrounding text."
        )
        raise AuthError(msg)
    return value


def call_token_function(get_token: Callable[[], object], redact: Callable[[str], str]) -> str:
    """Return the token of a user's function.

    Parameters
    ----------
    get_token
        The function; it returns a string or a Token.
    redact
        Masks earlier values of the token in the message of its exception.

    Returns
    -------
    str
        The token.

    Raises
    ------
    AuthError
        If the function fails or returns an invalid token; the message does not show a token.
    """
    try:
        token = get_token()
    except Exception as error:  # of a function of the user; the caller hides the frames
        reason = str(error) if isinstance(error, GqlnbError) else describe_exception(error)
        msg = f"The function that returns the token failed: {redact_text(redact(reason))}"
        raise AuthError(msg) from None
    if isinstance(token, Token):
        return token._reveal_value()
    return validate_token(token, "The token that the function returned")


def collect_secrets() -> list[str]:
    """Return the secrets known to this process, to find them in files.

    These are the secrets of all live Tokens, and of environment variables with names such as
    ``API_KEY``.

    Returns
    -------
    list of str
        Secrets of at least eight characters, sorted, without paths.
    """
    with _live_tokens_lock:
        tokens = list(_live_tokens)
    found = {word for token in tokens for word in token._reveal_all()}
    # Tokens of other tools count as well: a recording may hold what an endpoint echoed of them.
    found |= {
        value for name, value in os.environ.items() if _SECRET_VARIABLE_NAME.fullmatch(name.upper())
    }
    return sorted(word for word in found if len(word) >= 8 and not re.search(r"^[/~]|\s", word))
