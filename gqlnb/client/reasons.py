"""Why no answer came, in our own words: the library's hold the address with its secrets."""

from __future__ import annotations

import http.client
import socket
import ssl
from typing import TYPE_CHECKING

import requests
from urllib3 import exceptions as urllib3

from gqlnb.errors import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NOTHING", "reason"]

NOTHING = "Nothing listens there."

DEPTH = 12  # exceptions that requests, urllib3 and the standard library wrap around each other

Words = tuple[tuple[tuple[type[BaseException], ...], "Callable[[BaseException], str]"], ...]


def reason(error: BaseException, host: str, connect: float, read: float) -> str:
    """Return why a request failed, as the end of a sentence.

    Parameters
    ----------
    error
        What requests raised.
    host
        The host that was asked.
    connect, read
        The time limits of connecting and of reading, in seconds.
    """
    chain = list(behind(error))
    for kinds, words in WORDS:
        for found in chain:
            if isinstance(found, kinds):
                return words(found).format(host=host, connect=f"{connect:g}", read=f"{read:g}")
    return f"the request failed ({type(chain[-1]).__name__})."


def behind(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those it was made from, outermost first."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < DEPTH:
        found = waiting.pop(0)
        if not isinstance(found, BaseException) or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        inner = getattr(found, "reason", None)
        waiting += [inner, *found.args, found.__cause__, found.__context__]


def _tls(error: BaseException) -> str:
    said = getattr(error, "verify_message", None) or getattr(error, "reason", None)
    why = f": {plain(said, 120)}." if isinstance(said, str) else "."
    return "the TLS certificate was not accepted" + literal(why)


def _handshake(error: BaseException) -> str:
    said = getattr(error, "reason", None)
    why = f" ({plain(said, 60)})" if isinstance(said, str) else ""
    return f"TLS failed{literal(why)}. Does the endpoint speak https?"


def _system(error: BaseException) -> str:
    said = getattr(error, "strerror", None)
    why = plain(said, 120) if isinstance(said, str) else type(error).__name__
    return f"the connection failed: {literal(why)}."


def literal(text: str) -> str:
    """Return foreign text with its braces doubled, for ``str.format``."""
    return text.replace("{", "{{").replace("}", "}}")


def _say(text: str) -> Callable[[BaseException], str]:
    return lambda _: text


# The first row that fits any of the exceptions behind a failure; special ones before general ones.
WORDS: Words = (
    ((urllib3.ProxyError, requests.exceptions.ProxyError), _say("the proxy did not answer.")),
    ((ConnectionRefusedError,), _say(NOTHING)),
    (
        (socket.gaierror, urllib3.NameResolutionError),
        _say("the name {host} was not found. Check the address, and the network."),
    ),
    ((ssl.SSLCertVerificationError,), _tls),
    (
        (urllib3.ConnectTimeoutError,),
        _say("no connection within {connect} s. Check the address, and the network."),
    ),
    (
        (requests.Timeout, urllib3.ReadTimeoutError, TimeoutError),
        _say("no answer within {read} s. Try again, or pass a longer timeout=."),
    ),
    ((ssl.SSLError,), _handshake),
    (
        (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError),
        _say("the connection failed: it was closed before an answer came. Try again."),
    ),
    (
        (http.client.IncompleteRead, urllib3.IncompleteRead, urllib3.InvalidChunkLength),
        _say("the answer could not be read: it breaks off before its end. Try again."),
    ),
    (
        (requests.exceptions.ContentDecodingError, urllib3.DecodeError),
        _say("the answer could not be read: it is not compressed as it says."),
    ),
    (
        (http.client.HTTPException,),
        _say("the connection failed: what answers there does not speak HTTP."),
    ),
    ((requests.exceptions.ChunkedEncodingError,), _say("the answer could not be read.")),
    ((requests.exceptions.InvalidURL,), _say("the address could not be used.")),
    ((OSError,), _system),
)
