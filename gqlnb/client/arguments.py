"""Checks of the arguments of a client: its target, options and certificates."""

from __future__ import annotations

import inspect
import os
import ssl
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from gqlnb.errors import TargetError, sanitize_text
from gqlnb.limits import Limits
from gqlnb.option_checks import check_boolean, check_whole_number, raise_option_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = [
    "check_batch",
    "check_nan",
    "check_options",
    "check_persisted_queries",
    "is_asgi_app",
    "resolve_verify",
]

# In the order of precedence, as in requests, curl and OpenSSL.
BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


def resolve_verify(
    *,
    verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
) -> bool | str | ssl.SSLContext:
    """Return the ``verify`` argument of requests.

    Parameters
    ----------
    verify
        False for no check at all; the path of a CA bundle, or of a folder of certificates; an
        SSLContext, which may hold a client certificate and is used as it is; True or None for the
        bundle in ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``, ``SSL_CERT_FILE`` or
        ``SSL_CERT_DIR``, else the authorities that come with requests.

    Raises
    ------
    TargetError
        If there are no certificates at the path; the message names its source.
    """
    if verify is False:
        return False
    if isinstance(verify, ssl.SSLContext):
        return verify
    if verify is not None and verify is not True:
        return _check_bundle(os.fspath(verify), "verify=")
    for name in BUNDLE_VARIABLES:
        path = os.environ.get(name, "").strip()
        if path:
            return _check_bundle(path, f"The environment variable {name}")
    return True


def _check_bundle(path: str, origin: str) -> str:
    file = Path(path).expanduser()
    if not file.exists():
        msg = f"{origin} refers to a file that does not exist: {sanitize_text(path, 80)!r}."
        raise TargetError(msg)
    if file.is_file() and not _has_certificates(file):
        shown = sanitize_text(path, 80)
        msg = f"{origin} names a file without certificates in PEM form: {shown!r}."
        raise TargetError(msg)
    return str(file)


def _has_certificates(file: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError:  # the base class of ssl.SSLError
        return False
    return True


MAX_BATCH = 1_000  # requests in one array


def is_asgi_app(target: object) -> TypeGuard[Callable[..., Awaitable[None]]]:
    """Return whether an object is an ASGI application: ``async (scope, receive, send)``."""
    if not callable(target):
        return False
    if not any(map(inspect.iscoroutinefunction, (target, target.__call__))):
        return False
    # Three parameters: applications of ASGI 2 take the scope alone, and are not supported.
    return len(inspect.signature(target).parameters) == 3


def check_options(timeout: object, limits: object, verify: object) -> None:
    """Raise TargetError for a timeout, limits or certificates that a client can't have."""
    number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    msg = ""
    if not number or not isfinite(timeout) or timeout <= 0:  # type: ignore[arg-type, operator]
        msg = f"timeout= takes a number of seconds above 0, not {sanitize_text(repr(timeout), 40)}."
    elif limits is not None and not isinstance(limits, Limits):
        msg = f"limits= takes Limits(answer=..., wait=...), not {type(limits).__name__}."
    elif isinstance(verify, (str, os.PathLike)):
        if not Path(verify).exists():
            msg = f"verify= refers to a file that does not exist: {sanitize_text(verify, 80)!r}."
    elif verify is not None and not isinstance(verify, (bool, ssl.SSLContext)):
        msg = (
            "verify= takes True, False, the path of a CA bundle or an ssl.SSLContext, not "
            f"{type(verify).__name__}."
        )
    if msg:
        raise TargetError(msg)


def check_batch(batch: object) -> int | None:
    """Return ``batch=``; raise OptionError if it is no number of requests in an array."""
    if batch is None:
        return None
    return check_whole_number("batch", batch, least=1, most=MAX_BATCH, or_none=True)


def check_persisted_queries(value: object) -> bool:
    """Return ``persisted_queries=``; raise OptionError if it is neither True, False nor None."""
    return value is not None and check_boolean("persisted_queries", value)


def check_nan(value: object) -> str:
    """Return ``nan=``, "error" for None; raise OptionError for any other value."""
    if value not in (None, "error", "null"):
        raise_option_error("nan", value, '"error" or "null"')
    return str(value or "error")
