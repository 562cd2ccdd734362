"""Addresses of endpoints: which are some, and how they are shown without secrets."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from gqlnb.errors import TargetError, plain

__all__ = ["address", "checked_address", "loopback", "origin", "shown", "shown_origin"]

PORTS = {"http": 80, "https": 443}


def address(url: str) -> str:
    """Return a URL without user, password, query and fragment.

    Raises
    ------
    TargetError
        If it is no http or https address; the message shows it without these parts too.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        msg = (
            f"{shown(url)!r} is no address of an endpoint. "
            "Write it in full, such as http://127.0.0.1:4000/graphql."
        )
        raise TargetError(msg)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path}"


def checked_address(url: str) -> str:
    """Return what is shown of a URL that a client may ask.

    Raises
    ------
    TargetError
        If it is no http or https address, or holds a user name or password.
    """
    source = address(url)
    if "@" in urlsplit(url).netloc:
        msg = (
            f"The address of {source} holds a user name or a password, which would be saved with "
            "the notebook. Leave them out, and pass token= or headers={'Authorization': Token(...)}"
            " instead."
        )
        raise TargetError(msg)
    return source


def shown(text: str) -> str:
    """Return an address, a path or a name as text that may be shown: cut before secrets.

    Whatever stands before an ``@`` or after a ``?`` or ``#`` is left out.

    Examples
    --------
    >>> shown("ftp://me:password@host/graphql?key=1")
    'ftp://host/graphql'
    >>> shown("demo")
    'demo'
    """
    scheme, slashes, rest = text.rpartition("://") if "://" in text else ("", "", text)
    rest = rest.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return plain(f"{scheme.rpartition('@')[2]}{slashes}{rest}", 80)


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or PORTS.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def shown_origin(url: str) -> str:
    """Return scheme, host and port of a URL as text; a port of its own scheme is left out."""
    scheme, host, port = origin(url)
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" if port == PORTS.get(scheme) else f"{scheme}://{host}:{port}"


def loopback(url: str) -> bool:
    """Tell whether a URL leads to this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
