"""Messages for failed requests; those of the libraries hold the address with its secrets."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
from typing import TYPE_CHECKING, TypeAlias

import requests
from urllib3 import exceptions as urllib3

from gqlnb.client.http_call import NOTHING_LISTENS, PROXY_LOGIN, InvalidLengthError
from gqlnb.errors import sanitize_text
from gqlnb.http.content_encoding import DecompressionError, TruncatedBodyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "CLIENT_CERTIFICATE",
    "explain_failure",
    "is_about_socks",
    "is_broken",
    "is_unsent",
    "iterate_causes",
]

INCOMPLETE = "the response is incomplete: it ended before the full body was received. Try again."

BUNDLE_ADVICE = "If you trust it, pass its CA bundle as verify=."
CLIENT_CERTIFICATE = (
    "Pass one with verify=context: context = ssl.create_default_context(); "
    "context.load_cert_chain(certificate_file, key_file)."
)
PROXY_ADVICE = (
    "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY in the environment, or list {host} in NO_PROXY."
)
NAME_ADVICE = "Connect to a name that the certificate is for."
# Advice on certificates, by OpenSSL's error codes (X509_V_ERR_*).
CERTIFICATE_ADVICE = {
    9: "It is not valid yet: check the clock of this machine.",
    10: "It has to be renewed at the endpoint; check the clock of this machine too.",
    62: NAME_ADVICE,
    64: NAME_ADVICE,
}
# The message of http.client for a proxy that refuses a tunnel.
TUNNEL_ANSWER = re.compile(r"Tunnel connection failed: (\d{3})(.*)")
MAX_CHAIN = 12  # exceptions wrapped around each other by requests, urllib3 and the library

Reason: TypeAlias = "str | Callable[[BaseException, str], str]"  # of an exception and a host
ReasonTable = tuple[tuple[tuple[type[BaseException], ...], Reason], ...]


# An exception of the HTTP library holds the request with its headers, and thus the token. Ours is
# raised outside the `except` block, so that it has neither cause nor context.
def explain_failure(
    error: BaseException, host: str, connect: float, read: float, *, begun: bool = False
) -> str:
    """Return the reason of a failed request, as the end of a sentence.

    Parameters
    ----------
    error
        The exception of requests.
    host
        The host of the endpoint.
    connect, read
        The time limits of connecting and of the whole response, in seconds.
    begun
        Whether some of the response had come.
    """
    chain = list(iterate_causes(error))
    # After the first byte the endpoint is known to be there: advice about addresses and proxies
    # would mislead.
    if begun and any(isinstance(found, ssl.SSLEOFError) for found in chain):
        return INCOMPLETE
    if begun and any(isinstance(found, TimeoutError) for found in chain):
        return (
            f"the answer was not complete within {read:g} s. "
            "Ask for less at a time. Try again, or pass a longer timeout=."
        )
    socks = next((found for found in chain if is_about_socks(found)), None)
    if socks is not None:
        return _explain_socks(socks, host)
    for kinds, reason in REASONS:
        for found in chain:
            if isinstance(found, kinds):
                if not isinstance(reason, str):
                    return reason(found, host)
                return reason.format(host=host, connect=f"{connect:g}", read=f"{read:g}")
    return f"the request failed ({type(chain[-1]).__name__})."


def is_broken(error: BaseException) -> bool:
    """Return whether an established connection ended before the end of the response."""
    chain = list(iterate_causes(error))
    return any(isinstance(found, ENDED_ERRORS) for found in chain) and not any(
        isinstance(found, (TimeoutError, urllib3.ProxyError)) for found in chain
    )


def is_unsent(error: BaseException) -> bool:
    """Return whether a request was not sent: another thread had closed the connections."""
    return isinstance(error, urllib3.ClosedPoolError)


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, outermost first."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_CHAIN:
        found = waiting.pop(0)
        if not isinstance(found, BaseException) or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        inner = getattr(found, "reason", None)
        waiting += [inner, *found.args, found.__cause__, found.__context__]


def _explain_certificate(error: BaseException, _host: str) -> str:
    detail = getattr(error, "verify_message", None) or getattr(error, "reason", None)
    why = f": {sanitize_text(detail, 120).rstrip('.')}" if isinstance(detail, str) else ""
    advice = CERTIFICATE_ADVICE.get(getattr(error, "verify_code", 0), BUNDLE_ADVICE)
    return f"the TLS certificate was not accepted{why}. {advice}"


def _explain_handshake(error: BaseException, _host: str) -> str:
    detail = getattr(error, "reason", None)
    reason = detail if isinstance(detail, str) else ""
    why = f" ({sanitize_text(reason, 60)})" if reason else ""
    if "CERTIFICATE_REQUIRED" in reason:
        return f"the endpoint asks for a client certificate{why}. {CLIENT_CERTIFICATE}"
    if any(word in reason for word in ("UNKNOWN_CA", "_CERTIFICATE", "CERTIFICATE_")):
        return f"the endpoint did not accept the client certificate{why}."
    if "HANDSHAKE_FAILURE" in reason or isinstance(error, ssl.SSLEOFError):
        return (
            f"TLS failed{why}. Does the endpoint speak https? It may also ask for a "
            f"client certificate. {CLIENT_CERTIFICATE}"
        )
    return f"TLS failed{why}. Does the endpoint speak https?"


def _explain_proxy(error: BaseException, host: str) -> str:
    """Return the reason why a proxy did not reach the endpoint."""
    found = next(
        (m for each in iterate_causes(error) if (m := TUNNEL_ANSWER.match(str(each)))), None
    )
    if found is None:
        return f"the proxy did not answer. {PROXY_ADVICE.format(host=host)}"
    if found[1] == "407":
        return PROXY_LOGIN
    words = sanitize_text(f"{found[1]} {found[2]}", 80)
    return f"the proxy did not connect (HTTP {words}). {PROXY_ADVICE.format(host=host)}"


def _explain_socks(error: BaseException, host: str) -> str:
    """Return the reason why a SOCKS proxy did not reach the endpoint."""
    if isinstance(error, (ImportError, requests.exceptions.InvalidSchema)):
        return (
            "the environment names a SOCKS proxy, and the library for that is not installed. "
            "Install it with: pip install 'gqlnb[socks]'"
        )
    detail = sanitize_text(getattr(error, "msg", None) or error, 120).rstrip(".")
    advice = PROXY_ADVICE.format(host=host)
    return f"the SOCKS proxy could not connect to the endpoint: {detail}. {advice}"


def is_about_socks(error: BaseException) -> bool:
    """Return whether an exception comes from a SOCKS proxy, or from a missing library for it."""
    if isinstance(error, (ImportError, requests.exceptions.InvalidSchema)):
        return "socks" in str(error).lower()
    return type(error).__module__.partition(".")[0] in ("socks", "python_socks")


def _explain_os_error(error: BaseException, _host: str) -> str:
    detail = getattr(error, "strerror", None)
    why = sanitize_text(detail, 120) if isinstance(detail, str) else type(error).__name__
    return f"the connection failed: {why}."


def _explain_decompression(error: BaseException, _host: str) -> str:
    return f"the answer could not be read: {error!s}"


CUT_ERRORS = (http.client.IncompleteRead, urllib3.IncompleteRead, TruncatedBodyError)
GONE_ERRORS = (
    http.client.RemoteDisconnected,
    ConnectionResetError,
    BrokenPipeError,
    ssl.SSLEOFError,
)
ENDED_ERRORS = (*GONE_ERRORS, *CUT_ERRORS)

# The first row that matches any exception in the chain counts: specific rows before general ones.
REASONS: ReasonTable = (
    ((urllib3.ProxyError, requests.exceptions.ProxyError), _explain_proxy),
    ((ConnectionRefusedError,), NOTHING_LISTENS),
    ((FileNotFoundError,), "there is no such socket. Is the server running?"),
    (
        (socket.gaierror, urllib3.NameResolutionError),
        "the name {host} was not found. Check the address, and the network.",
    ),
    ((ssl.SSLCertVerificationError,), _explain_certificate),
    (
        (urllib3.ConnectTimeoutError,),
        "no connection within {connect} s. Check the address, and the network.",
    ),
    (
        (requests.Timeout, urllib3.ReadTimeoutError, TimeoutError),
        "no answer within {read} s. Try again, or pass a longer timeout=.",
    ),
    ((ssl.SSLError,), _explain_handshake),
    (
        GONE_ERRORS,
        "the connection failed: it was closed before an answer came. Try again.",
    ),
    (
        CUT_ERRORS,
        INCOMPLETE,
    ),
    (
        (InvalidLengthError, urllib3.InvalidHeader),
        "the answer could not be read: it does not say what its length is.",
    ),
    ((DecompressionError,), _explain_decompression),
    (
        (http.client.HTTPException,),
        "the connection failed: the server there does not speak HTTP.",
    ),
    ((requests.exceptions.InvalidURL,), "the address could not be used."),
    ((OSError,), _explain_os_error),
)
