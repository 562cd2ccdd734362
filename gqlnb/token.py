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

from gqlnb.errors import AuthError, GqlnbError, blame, plain
from gqlnb.extras import need
from gqlnb.leaks import MASK, masked
from gqlnb.sealing import sealed, unseen

__all__ = ["NO_LITERAL", "SCHEMES", "SOURCES", "Token", "TokenHolder", "words"]

SOURCES = "'env:NAME', 'keyring:NAME', 'file:PATH', 'prompt'"
NO_LITERAL = (
    f"token= takes {SOURCES} or a Token. A token typed into a cell would be saved with the "
    "notebook."
)
SCHEMES = frozenset({"bearer", "token"})
"""The words before a token, in lower case, that every server of ours takes, as GitHub does."""

_SERVICE = "gqlnb"  # the name under which the keyring of the system files our tokens
_BREAKS = re.compile(r"[\s;,=\"]+")  # what stands between the parts of a cookie or of a digest
# RFC 9110, sections 11.1 and 5.6.2: the scheme is a token.
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]*")
_SHORTEST = 4  # characters; to hide shorter words would make an error unreadable
_LONGEST = 1 << 16  # characters; no header of this length is read by anybody
_KEY = os.urandom(32)  # of fingerprints: nobody can try words against them
_KEPT = 32  # values a function gave last: answers to requests in flight may echo any of them
# Variables of the environment whose values are secrets by their names, and not paths of files.
_VARIABLE = re.compile(r"(?:.*_)?(?:TOKEN|SECRET|PASSWORD|PASSWD|PAT|API_?KEY|ACCESS_KEY)")

_living: WeakSet[Token] = WeakSet()
_living_lock = threading.Lock()


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
        "_ask",
        "_lifetime",
        "_lock",
        "_origin",
        "_parts",
        "_scheme",
        "_sent",
        "_until",
        "_where",
    )

    @unseen
    def __init__(
        self,
        value: str | Callable[[], str],
        scheme: str = "Bearer",
        *,
        lifetime: float | None = None,
    ) -> None:
        ask = value if callable(value) else None
        if not _is_word(scheme):
            msg = "The scheme of a token is one word such as 'Bearer', 'token' or 'Basic'."
            raise AuthError(msg)
        if ask is None and lifetime is not None:
            msg = "lifetime= is for a function that returns tokens; this one is given as text."
            raise AuthError(msg)
        texts = [] if ask else [sealed(checked(value, "The token"))]
        self._begin(ask, texts, scheme, lifetime or 0.0)

    def _begin(
        self,
        ask: Callable[[], str] | None,
        texts: list[Callable[[], str]],
        scheme: str,
        lifetime: float,
    ) -> None:
        self._ask = ask
        self._sent = deque(texts, _KEPT)
        self._parts: tuple[Callable[[], str], ...] = ()
        self._scheme = scheme
        self._lifetime = lifetime
        self._until = 0.0
        self._origin: str | None = None
        self._where: str | None = None
        self._lock = threading.RLock()
        with _living_lock:
            _living.add(self)

    @classmethod
    @unseen
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
                f"Environment variable {plain(name, 80)} is not set, so there is no token to send. "
                f"Set it before Jupyter starts, or pass token='prompt'."
            )
            raise AuthError(msg)
        made = cls(checked(value, f"The token in environment variable {name}"), scheme)
        return made.found_at(f"env:{name}")

    @classmethod
    @unseen
    def from_keyring(cls, name: str, scheme: str = "Bearer") -> Token:
        """Take the token from the keyring of the system, where it is filed under ``gqlnb``.

        Raises
        ------
        AuthError
            If the keyring holds no such entry, or cannot be read.
        MissingExtraError
            If the optional dependency ``keyring`` is not installed.
        """
        keyring = need("keyring", "keyring", "read a token from the system's keyring")
        try:
            value = keyring.get_password(_SERVICE, name)
        except Exception as error:  # each backend has errors of its own
            reason = type(error).__name__
        else:
            if value:
                made = cls(checked(value, f"The token {name!r} in the keyring"), scheme)
                return made.found_at(f"keyring:{name}")
            msg = (
                f"The keyring holds no token {name!r}. Store it once in a terminal: "
                f"keyring set {_SERVICE} {name}"
            )
            raise AuthError(msg)
        msg = (
            f"The keyring could not be read ({reason}). Unlock it, or set an environment variable "
            "and pass token='env:NAME'."
        )
        raise AuthError(msg)

    @classmethod
    @unseen
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
        shown = plain(file, 120)
        try:
            with file.open(encoding="ascii", errors="replace") as opened:
                mode = os.fstat(opened.fileno()).st_mode  # of what was opened, whatever is moved
                fault = _too_open(mode, shown)
                value = "" if fault else opened.read(_LONGEST)
        except OSError as error:
            fault, value = f"The token file {shown} can't be read: {error.strerror}.", ""
        if fault:
            raise AuthError(fault)
        return cls(checked(value, f"The token in {shown}"), scheme).found_at(f"file:{path}")

    @classmethod
    @unseen
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
    @unseen
    def from_header(cls, line: str) -> Token:
        """Take the value of a header that is a secret, such as ``"Bearer abc"`` or cookies.

        Parameters
        ----------
        line
            The value as it is sent: printable ASCII, not empty. Each of its words and of the values
            behind ``=`` in it is hidden too, where it has four characters or more.
        """
        found = {part for part in _BREAKS.split(line) if len(part) >= _SHORTEST}
        word, _, value = line.partition(" ")
        if value and " " not in value and word[:1].isalpha() and _SCHEME.fullmatch(word):
            made, found = cls(value, word), found - {word}
        else:
            made = cls("".join(line.split()), "")
            made._sent = deque([sealed(line)])
        made._parts = tuple(map(sealed, found))
        return made

    @classmethod
    @unseen
    def of(cls, source: object, scheme: str = "Bearer") -> Token | None:
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
        raise AuthError(NO_LITERAL)

    @property
    def scheme(self) -> str:
        """The word before it in the header."""
        return self._scheme

    @property
    def where(self) -> str | None:
        """Where it was found, such as ``"env:NAME"``; None if it was given or typed in."""
        return self._where

    def found_at(self, where: str) -> Token:
        """Note where another process may find the same secret, and return the Token."""
        self._where = where
        return self

    def header(self) -> str:
        """Return the value of the header; call it only where it is sent.

        Raises
        ------
        AuthError
            If the token comes from a function, and that failed.
        """
        value = self._value()
        return f"{self._scheme} {value}" if self._scheme else value

    @unseen
    def _value(self) -> str:
        if self._ask is None:
            return self._sent[-1]()
        with self._lock:
            if not self._sent or time.monotonic() >= self._until:
                self._sent.append(sealed(asked(self._ask, self.hide)))
                self._until = time.monotonic() + self._lifetime
            return self._sent[-1]()

    def matches(self, header: str | None) -> bool:
        """Tell, in constant time, whether an ``Authorization`` header carries this token.

        The words ``bearer`` and ``token`` count in any case, as GitHub takes them.
        """
        word, _, value = (header or "").strip().partition(" ")
        known = word.lower() in SCHEMES or word.lower() == self._scheme.lower()
        same = compare_digest(value.strip().encode("utf-8", "replace"), self._value().encode())
        return known and same

    def fingerprint(self) -> object:
        """Return what Tokens of the same secret share in this process, and what does not tell it.

        Where a function gives the secret, a Token shares it with nobody.
        """
        if self._ask is not None:
            return self
        return blake2b(self._sent[-1]().encode(), key=_KEY, digest_size=16).digest()

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
        made._become(self)  # noqa: SLF001 - the same class
        return made

    def _become(self, other: Token) -> None:
        self._begin(other._ask, list(other._sent), other._scheme, other._lifetime)
        self._parts, self._until, self._where = other._parts, other._until, other._where

    @unseen
    def hide(self, text: str) -> str:
        """Return `text` with the secret replaced wherever it stands in it, however it is spelled.

        Percent-encoded, escaped as in JSON or HTML, in base64 or in hexadecimal digits; where it
        has less than eight characters, as it is alone.
        """
        return masked(text, self._words())

    def _words(self) -> list[str]:
        return [give() for give in (*self._sent, *self._parts)]

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


def _is_word(scheme: object) -> bool:
    return isinstance(scheme, str) and _SCHEME.fullmatch(scheme) is not None


class TokenHolder(Protocol):
    """What has a Token: a box that it was typed into."""

    @property
    def token(self) -> Token:
        """The Token."""


def checked(value: object, what: str) -> str:
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


def asked(ask: Callable[[], object], hide: Callable[[str], str]) -> str:
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
        reason = blame(error)
    else:
        if isinstance(given, Token):
            return given._value()  # noqa: SLF001 - the same class
        return checked(given, what)
    msg = f"The function that returns the token failed: {masked(hide(reason))}"
    raise AuthError(msg)


def _too_open(mode: int, shown: str) -> str:
    """Say what is wrong with the kind and the permissions of a token file."""
    if not stat.S_ISREG(mode):
        return f"The token file {shown} is no regular file."
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        return (
            f"The token file {shown} is open to others (mode {stat.S_IMODE(mode):04o}). "
            f"Keep it to yourself: chmod 600 {shown}"
        )
    return ""


def words() -> list[str]:
    """Return the secrets this process knows, to look for them in files.

    Those of the living Tokens, and those of environment variables whose names say that they are.
    """
    with _living_lock:
        tokens = list(_living)
    found = {word for token in tokens for word in token._words()}  # noqa: SLF001 - its own module
    found |= {value for name, value in os.environ.items() if _VARIABLE.fullmatch(name.upper())}
    return sorted(word for word in found if len(word) >= 8 and not re.search(r"^[/~]|\s", word))
