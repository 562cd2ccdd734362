"""Why no answer came, in our own words: the library's hold the address with its secrets."""

from __future__ import annotations

import http.client
import socket
import ssl
from typing import TYPE_CHECKING

import requests
from urllib3 import exceptions as urllib3

from gqlnb.errors import plain
from gqlnb.wire.decompress import DecompressionError, TruncatedBodyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["MAYBE", "NOTHING", "MisstatedError", "broken", "reason"]

NOTHING = "Nothing listens there."
MAYBE = "It may have been executed all the same: look before you send it again."
BREAKS_OFF = "the answer could not be read: it breaks off before its end. Try again."

DEPTH = 12  # exceptions that requests, urllib3 and the standard library wrap around each other

Words = tuple[tuple[tuple[type[BaseException], ...], "Callable[[BaseException], str]"], ...]


class MisstatedError(Exception):
    """An answer gives no length that it could have, or several."""


def reason(
    error: BaseException, host: str, connect: float, read: float, *, begun: bool = False
) -> str:
    """Return why a request failed, as the end of a sentence.

    Parameters
    ----------
    error
        What requests raised.
    host
        The host that was asked.
    connect, read
        The time limits of connecting and of the whole answer, in seconds.
    begun
        Whether some of the answer had come.
    """
    chain = list(behind(error))
    if begun and any(isinstance(found, ssl.SSLEOFError) for found in chain):
        return BREAKS_OFF
    if begun and any(isinstance(found, TimeoutError) for found in chain):
        return (
            f"the answer was not complete within {read:g} s. "
            "Ask for less at a time. Try again, or pass a longer timeout=."
        )
    for kinds, words in WORDS:
        for found in chain:
            if isinstance(found, kinds):
                return words(found).format(host=host, connect=f"{connect:g}", read=f"{read:g}")
    return f"the request failed ({type(chain[-1]).__name__})."


def broken(error: BaseException) -> bool:
    """Tell whether a connection that stood has ended before the whole answer had come."""
    chain = list(behind(error))
    return any(isinstance(found, ENDED) for found in chain) and not any(
        isinstance(found, (TimeoutError, urllib3.ProxyError)) for found in chain
    )


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
    why = f": {plain(said, 120).rstrip('.')}" if isinstance(said, str) else ""
    return (
        f"the TLS certificate was not accepted{literal(why)}. If you trust it, pass its CA "
        "bundle as verify=."
    )


def _handshake(error: BaseException) -> str:
    said = getattr(error, "reason", None)
    why = f" ({plain(said, 60)})" if isinstance(said, str) else ""
    return f"TLS failed{literal(why)}. Does the endpoint speak https?"


def _system(error: BaseException) -> str:
    said = getattr(error, "strerror", None)
    why = plain(said, 120) if isinstance(said, str) else type(error).__name__
    return f"the connection failed: {literal(why)}."


def _describe_decompression(error: BaseException) -> str:
    return f"the answer could not be read: {literal(str(error))}"


def literal(text: str) -> str:
    """Return foreign text with its braces doubled, for ``str.format``."""
    return text.replace("{", "{{").replace("}", "}}")


def _say(text: str) -> Callable[[BaseException], str]:
    return lambda _: text


CUT = (http.client.IncompleteRead, urllib3.IncompleteRead, TruncatedBodyError)
GONE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)
ENDED = (*GONE, *CUT)

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
        GONE,
        _say("the connection failed: it was closed before an answer came. Try again."),
    ),
    (
        CUT,
        _say(BREAKS_OFF),
    ),
    (
        (MisstatedError, urllib3.InvalidHeader),
        _say("the answer could not be read: it does not say what its length is."),
    ),
    ((DecompressionError,), _describe_decompression),
    ((requests.exceptions.InvalidProxyURL,), _say("the proxy's address could not be used.")),
    (
        (http.client.HTTPException,),
        _say("the connection failed: what answers there does not speak HTTP."),
    ),
    ((requests.exceptions.InvalidURL,), _say("the address could not be used.")),
    ((OSError,), _system),
)
