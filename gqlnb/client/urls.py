"""URLs of endpoints: validation, and masking of secrets."""

from __future__ import annotations

import re
from ipaddress import ip_address
from itertools import pairwise
from urllib.parse import quote, unquote, urlsplit

from gqlnb.errors import TargetError, sanitize_text
from gqlnb.redact import MASK, has_token_prefix

DEFAULT_URL = "http://127.0.0.1:4000/graphql"  # the port of most servers' examples
SERVE_HINT = """To serve a schema from this notebook:
  import gqlnb
  server = gqlnb.serve(gqlnb.reference_schema())"""
SOCKET_SCHEME = "+unix"  # as of requests-unixsocket: http+unix://%2Frun%2Fgql.sock/graphql
DEFAULT_PORTS = {"http": 80, "https": 443}
# Services that take their key in the path (Infura, Alchemy, The Graph) use 32 characters or more.
# Shorter segments are names: versions, tenants, project ids such as Hygraph's of 25 characters.
MIN_KEY_LENGTH = 32
HEX_KEY = re.compile(r"[0-9a-fA-F]{32,}")
KEY_CHARACTERS = re.compile(r"[A-Za-z0-9._~=-]{32,}")
KEY_RUN = re.compile(r"[A-Za-z0-9]{20,}")
# Shown in full: RFC 9562, section 8, warns against UUIDs as secrets, and many services have one per
# project, which distinguishes their endpoints; IPFS names public content by its hash.
PUBLIC_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,}",
    re.IGNORECASE,
)
MIN_KIND_CHANGES = 4  # between upper case, lower case and digits: names in words have fewer


def strip_url(url: str) -> str:
    """Return a URL without user, password, query and fragment, and without keys in its path.

    Raises
    ------
    TargetError
        If it is not an http or https URL; the message shows it without these parts too.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        advice = "Write it in full, such as http://127.0.0.1:4000/graphql."
        if url.startswith("http+unix:"):
            advice = "Give the socket apart: url 'http://localhost/graphql' and uds '/run/x.sock'."
        msg = f"{redact_url(url)!r} is not a valid address. {advice}"
        raise TargetError(msg)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{mask_path(parts.path)}"


def is_key(segment: str) -> bool:
    """Return whether a segment of a path has a known token prefix, or the form of a key."""
    text = unquote(segment)
    if has_token_prefix(text):
        return True
    if len(text) < MIN_KEY_LENGTH or PUBLIC_ID.fullmatch(text):
        return False
    if HEX_KEY.fullmatch(text):
        return True
    if not KEY_CHARACTERS.fullmatch(text):
        return False
    # Digits and both cases alternate in a key; words, even long ones, change at their borders
    # alone.
    kinds = [classify_character(character) for character in text if character.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    if "digit" not in kinds or changes < MIN_KIND_CHANGES:
        return False
    return KEY_RUN.search(text) is not None or (
        len(set(kinds)) == 3 and changes >= 2 * MIN_KIND_CHANGES
    )


def classify_character(character: str) -> str:
    """Return the kind of a character: ``"digit"``, ``"capital"`` or ``"small"``."""
    if character.isdigit():
        return "digit"
    return "capital" if character.isupper() else "small"


def find_secret_segments(url: str) -> list[str]:
    """Return the segments of a URL's path that are keys or tokens, percent-encoded as they are."""
    path = urlsplit(url).path
    return [segment for segment in path.split("/") if is_key(segment)]


def mask_path(path: str) -> str:
    """Return a path with each key or token replaced."""
    # Addresses that differ in such a segment alone look the same then, in recordings too. The
    # alternative, a part or a hash of the key, would disclose something about it.
    return "/".join(MASK if is_key(segment) else segment for segment in path.split("/"))


def check_url(url: str) -> str:
    """Return the URL of an endpoint without secrets, as it is shown.

    Raises
    ------
    TargetError
        If it is not an http or https URL, or holds a user name or password.
    """
    source = strip_url(url)
    if "@" in urlsplit(url).netloc:
        msg = (
            f"The address of {source} holds a user name or a password, which would be saved with "
            "the notebook. Leave them out, and pass token= or headers={'Authorization': Token(...)}"
            " instead."
        )
        raise TargetError(msg)
    return source


def redact_url(text: str) -> str:
    """Return an address, a path or a name without secrets, as it is shown.

    The parts before an ``@`` and after a ``?`` or ``#`` are left out; keys in the path are masked.

    Examples
    --------
    >>> redact_url("ftp://me:password@host/graphql?key=1")
    'ftp://host/graphql'
    >>> redact_url("demo")
    'demo'
    """
    scheme, slashes, rest = text.rpartition("://") if "://" in text else ("", "", text)
    rest = mask_path(rest.rpartition("@")[2].partition("?")[0].partition("#")[0])
    return sanitize_text(f"{scheme.rpartition('@')[2]}{slashes}{rest}", 80)


def parse_origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port


def format_origin(url: str, uds: str | None = None) -> str:
    """Return scheme, host and port of a URL as text, without the default port of its scheme.

    Behind a Unix socket, of which each belongs to another program, with the path of the socket.
    """
    scheme, host, port = parse_origin(url)
    host = f"[{host}]" if ":" in host else host
    text = f"{scheme}://{host}"
    text = text if port == DEFAULT_PORTS.get(scheme) else f"{text}:{port}"
    return text if uds is None else f"{text} at {uds}"


def split_socket_url(url: str) -> tuple[str, str | None]:
    """Return an address, and the path of the socket that one such as `Server.url` names.

    Examples
    --------
    >>> split_socket_url("http+unix://%2Frun%2Fgql.sock/graphql")
    ('http://localhost/graphql', '/run/gql.sock')
    """
    scheme, is_socket, rest = url.partition(f"{SOCKET_SCHEME}://")
    if not is_socket or scheme not in DEFAULT_PORTS:
        return url, None
    path, slash, rest = rest.partition("/")
    return f"{scheme}://localhost{slash}{rest}", unquote(path)


def format_socket_url(source: str, uds: str) -> str:
    """Return an address without secrets as it is shown behind a Unix socket."""
    parts = urlsplit(source)
    # Whoever asks for localhost names no host; another one tells virtual hosts apart.
    host = "" if is_loopback(source) else f"?host={parts.netloc}"
    return f"{parts.scheme}{SOCKET_SCHEME}://{quote(uds, safe='')}{parts.path}{host}"


def is_loopback(url: str) -> bool:
    """Return whether a URL leads to this machine."""
    if urlsplit(url).scheme.endswith(SOCKET_SCHEME):
        return True
    host = urlsplit(url).hostname or ""
    # Reserved for this machine, with all names below: RFC 6761, section 6.3.
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
