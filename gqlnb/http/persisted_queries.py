"""Persisted queries: a client sends the hash of a text, and the text only if it is unknown.

The protocol is that of Apollo's persisted-query link (``extensions.persistedQuery``, version 1). A
text is stored under its own SHA-256 hash, so no client can change the meaning of another's hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from gqlnb.document.sized_cache import SizedCache

__all__ = [
    "NOT_SUPPORTED",
    "UNKNOWN",
    "PersistedQueries",
    "PersistedQueryError",
    "build_hash_extension",
    "compute_hash",
    "find_query_hash",
]

MAX_TEXTS, MAX_CHARACTERS = 1_000, 1_000_000  # kept by one server; the oldest are dropped
_SHA256 = re.compile(r"[0-9a-f]{64}")

# Messages and codes of Apollo Server, for which Apollo's link looks.
UNKNOWN = "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND"
NOT_SUPPORTED = "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED"
_MISMATCH = "provided sha does not match query", "BAD_REQUEST"


class PersistedQueryError(Exception):
    """A hash is unknown or wrong.

    Parameters
    ----------
    message
        The message, which Apollo's link looks for.
    code
        The code in the error's extensions.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.error = {"message": message, "extensions": {"code": code}}


def find_query_hash(extensions: object) -> str | None:
    """Return the hash in the extensions of a request: None if missing, "" if invalid."""
    entry = extensions.get("persistedQuery") if isinstance(extensions, Mapping) else None
    if not isinstance(entry, Mapping):
        return None
    name = entry.get("sha256Hash")
    if entry.get("version") != 1 or not isinstance(name, str):
        return ""
    return name if _SHA256.fullmatch(name) else ""


def compute_hash(text: str) -> str:
    """Return the hash under which a text is persisted."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def build_hash_extension(name: str) -> dict[str, object]:
    """Return the member ``extensions`` of a request that names a text by its hash."""
    return {"persistedQuery": {"version": 1, "sha256Hash": name}}


class PersistedQueries:
    """The texts that clients of one schema have registered."""

    def __init__(self) -> None:
        self._texts: SizedCache[str, str] = SizedCache(MAX_TEXTS, MAX_CHARACTERS)

    def resolve(self, text: str, name: str | None) -> str:
        """Return the text of a request, and store a text that comes with its hash.

        Parameters
        ----------
        text
            The text in the request; empty for none.
        name
            The hash in the request: None if missing, "" if invalid.

        Raises
        ------
        PersistedQueryError
            If the hash is unknown, or not that of the text.
        """
        if name is None:
            return text
        if not name:
            raise PersistedQueryError(*NOT_SUPPORTED)
        if not text:
            known = self._texts.get(name)
            if known is None:
                raise PersistedQueryError(*UNKNOWN)
            return known
        if compute_hash(text) != name:
            raise PersistedQueryError(*_MISMATCH)
        self._texts.add(name, text, len(text))
        return text
