"""Secrets: where they come from, and how they stay unseen."""

from __future__ import annotations

import os
import re
from hmac import compare_digest
from typing import NoReturn, TypeVar

from gqlnb.errors import AuthError
from gqlnb.extras import need

__all__ = ["NO_LITERAL", "Token", "bare"]

NO_LITERAL = (
    "token= takes 'env:NAME', 'keyring:NAME', 'prompt' or a Token. "
    "A token typed into a cell would be saved with the notebook."
)

E = TypeVar("E", bound=BaseException)

_SERVICE = "gqlnb"  # the name under which the keyring of the system files our tokens
_BREAKS = re.compile(r"[\s;,=\"]+")  # what stands between the parts of a cookie or of a digest
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9-]*")
_SHORTEST = 4  # characters; to hide shorter words would make an error unreadable
_WORDS = frozenset({"bearer", "token"})  # GitHub takes both, in any case


class Token:
    """A secret that is sent in a header and shown nowhere.

    Its value stands in no repr, no pickle, no log and no error; only :meth:`header`, called at the
    moment of sending, and :meth:`matches` read it.

    Parameters
    ----------
    value
        The secret: printable ASCII without spaces. White space around it is dropped, since a
        pasted token often ends in a newline.
    scheme
        The word before it in the ``Authorization`` header.

    Raises
    ------
    AuthError
        If the value is empty or holds a space, a control or a non-ASCII character; the message
        does not show it.

    Examples
    --------
    >>> Token("abc")
    Token(***)
    """

    __slots__ = ("_parts", "_scheme", "_value")

    def __init__(self, value: str, scheme: str = "Bearer") -> None:
        value = value.strip()
        if not value:
            msg = "The token is empty, so there is nothing to send."
            raise AuthError(msg)
        if any(not "!" <= character <= "~" for character in value):
            msg = (
                "The token holds a space, a line break or a non-ASCII character. "
                "Copy it again without what surrounds it."
            )
            raise AuthError(msg)
        self._value = value
        self._parts: tuple[str, ...] = (value,)
        self._scheme = scheme

    @classmethod
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
                f"Environment variable {name} is not set, so there is no token to send. "
                f"Set it before Jupyter starts, or pass token='prompt'."
            )
            raise AuthError(msg)
        return cls(value, scheme)

    @classmethod
    def from_keyring(cls, name: str, scheme: str = "Bearer") -> Token:
        """Take the token from the keyring of the system, where it is filed under ``gqlnb``.

        Raises
        ------
        AuthError
            If the keyring holds no such entry.
        MissingExtraError
            If the optional dependency ``keyring`` is not installed.
        """
        keyring = need("keyring", "keyring", "read a token from the system's keyring")
        value = keyring.get_password(_SERVICE, name)
        if not value:
            msg = (
                f"The keyring holds no token {name!r}. Store it once in a terminal: "
                f"keyring set {_SERVICE} {name}"
            )
            raise AuthError(msg)
        return cls(value, scheme)

    @classmethod
    def prompt(cls, text: str = "Token: ", scheme: str = "Bearer") -> Token:
        """Ask the person for the token; what is typed is not shown and not saved.

        Raises
        ------
        AuthError
            If nobody can be asked: a notebook run from the command line.
        """
        from getpass import getpass

        try:
            value: str | None = getpass(text)
        except (EOFError, NotImplementedError, RuntimeError):  # RuntimeError: no stdin in a kernel
            value = None
        if value is None:
            msg = (
                "There is nobody to ask for a token here. Set an environment variable and pass "
                "token='env:NAME'."
            )
            raise AuthError(msg)
        return cls(value, scheme)

    @classmethod
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
        if value and " " not in value and _SCHEME.fullmatch(word):
            made, found = cls(value, word), found - {word}
        else:
            made = cls("".join(line.split()), "")
            made._value = line
        made._parts = (made._value, *sorted(found, key=len, reverse=True))
        return made

    @classmethod
    def of(cls, source: Token | str | None) -> Token | None:
        """Return the token that a `token=` argument means.

        Parameters
        ----------
        source
            A Token, ``"env:NAME"``, ``"keyring:NAME"``, ``"prompt"``, or None for no token.

        Raises
        ------
        AuthError
            If the source holds no token, or is something else; a literal token is refused
            because it would be saved with the notebook.
        """
        if source is None or isinstance(source, Token):
            return source
        word, _, name = str(source).partition(":")
        if word == "env" and name:
            return cls.from_env(name)
        if word == "keyring" and name:
            return cls.from_keyring(name)
        if source == "prompt":
            return cls.prompt()
        raise AuthError(NO_LITERAL)

    def header(self) -> str:
        """Return the value of the ``Authorization`` header; call it only where it is sent."""
        return f"{self._scheme} {self._value}" if self._scheme else self._value

    def matches(self, header: str | None) -> bool:
        """Tell, in constant time, whether an ``Authorization`` header carries this token.

        The words ``bearer`` and ``token`` count in any case, as GitHub takes them.
        """
        word, _, value = (header or "").strip().partition(" ")
        known = word.lower() in _WORDS or word.lower() == self._scheme.lower()
        same = compare_digest(value.strip().encode("utf-8", "replace"), self._value.encode())
        return known and same

    def hide(self, text: str) -> str:
        """Return `text` with the secret replaced wherever it stands in it."""
        for part in self._parts:
            text = text.replace(part, "***")
        return text

    def __repr__(self) -> str:
        return "Token(***)"

    def __copy__(self) -> Token:
        return self

    def __deepcopy__(self, memo: object) -> Token:
        return self

    def __reduce__(self) -> NoReturn:
        msg = "A Token is not pickled: it stays in this process."
        raise TypeError(msg)


def bare(error: E) -> E:
    """Return an exception without its frames and those it came from, whose locals hold secrets.

    Raise it where no other exception is being handled, and from a frame that holds none.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
