"""Checks of the arguments of a client and of a request: options, certificates, variables, files."""

from __future__ import annotations

import inspect
import os
import ssl
from dataclasses import replace
from math import isfinite
from numbers import Real
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.recording_transport import RecordingTransport
from gqlnb.client.recording.session import build_unrecordable_error
from gqlnb.client.transports import AsgiTransport, InProcessTransport
from gqlnb.document.json_codec import iter_faults
from gqlnb.document.upload import Upload, has_file, is_file
from gqlnb.errors import (
    MAX_PROBLEMS_SHOWN,
    OptionError,
    QueryError,
    TargetError,
    sanitize_text,
)
from gqlnb.limits import Limits
from gqlnb.option_checks import check_boolean, check_whole_number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gqlnb.client.transports import Transport
    from gqlnb.document.document import Document

__all__ = [
    "CLIENT_KEYWORDS",
    "add_target_hint",
    "check_batch",
    "check_json",
    "check_options",
    "check_persisted_queries",
    "is_asgi_app",
    "prepare_files",
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


CLIENT_KEYWORDS = (
    *("token", "headers", "schema", "timeout", "limits", "verify", "recording", "mode", "cache"),
    *("uds", "batch", "persisted_queries"),
)
MAX_BATCH = 1_000  # requests in one array


def is_asgi_app(target: object) -> TypeGuard[Callable[..., Awaitable[None]]]:
    """Return whether an object is an ASGI application: ``async (scope, receive, send)``."""
    if not callable(target):
        return False
    if not any(map(inspect.iscoroutinefunction, (target, target.__call__))):
        return False
    # Three parameters: applications of ASGI 2 take the scope alone, and are not supported.
    return len(inspect.signature(target).parameters) == 3


def check_json(variables: Mapping[str, Any]) -> bool:
    """Check that variables are JSON values, except for files; return whether there are files.

    Raises
    ------
    QueryError
        If one is not; the message names the variable and the place in it, never the value.
    """
    files = False
    for name, value in variables.items():
        fault = next(iter_faults(value, ()), None)
        if fault is not None:  # files are searched for only then
            rest = strip_files(value)
            files, fault = files or rest is not value, next(iter_faults(rest, ()), None)
        if fault is not None:
            msg = f"Variable '${name}': {fault}"
            raise QueryError(msg)
    return files


def strip_files(value: object) -> object:
    """Return a value with null for each file in it; the same object if there is none."""
    if is_file(value):
        return None
    if isinstance(value, dict):
        members = {key: strip_files(item) for key, item in value.items()}
        return value if all(members[key] is value[key] for key in members) else members
    if isinstance(value, list):
        rows = list(map(strip_files, value))
        return value if all(map(is_, rows, value)) else rows
    return value


def add_target_hint(error: QueryError, description: str) -> None:
    """Add the description of the default endpoint to an error, if the caller named no endpoint."""
    if not description:
        return
    text = f"Target: {description}."  # most of these errors are found before a request is sent
    if not error.problems:
        error.args = (f"{error.args[0]} {text}",)
        return
    # With the last problem that is shown: a hint on a later one would be cut off with it.
    last = min(len(error.problems), MAX_PROBLEMS_SHOWN) - 1
    shown = error.problems[last]
    hint = f"{shown.hint}\n  {text}" if shown.hint else text
    error.problems = (
        *error.problems[:last],
        replace(shown, hint=hint),
        *error.problems[last + 1 :],
    )


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


def prepare_files(
    values: dict[str, Any], document: Document, transport: Transport
) -> dict[str, Any]:
    """Return variables with files in the form that a transport sends.

    Parameters
    ----------
    values
        Variables with files in them.
    document
        Their document.
    transport
        In this process resolvers get the objects themselves, over HTTP each becomes an Upload.

    Raises
    ------
    QueryError
        If the transport sends nothing but JSON, or a file can't be read.
    ReplayError
        If the request would be recorded or replayed.
    """
    if isinstance(transport, RecordingTransport):
        why = "file contents are not recorded, so the request could not be matched on replay."
        raise build_unrecordable_error(transport.recording, "requests with files", why)
    if isinstance(transport, InProcessTransport):
        return values
    if isinstance(transport, HttpTransport) and document.kind != "subscription":
        # By identity: a file given twice is sent once, and a stream can be read only once.
        uploads: dict[int, Upload] = {}
        return {name: wrap_files(name, value, uploads) for name, value in values.items()}
    name = next(name for name, value in values.items() if has_file(value))
    where = "a custom transport"
    if isinstance(transport, (AsgiTransport, HttpTransport)):
        where = transport.source if isinstance(transport, AsgiTransport) else "a subscription"
    msg = (
        f"Variable '${name}' contains a file, which {where} does not support. Files can only be "
        "uploaded in queries and mutations sent over HTTP."
    )
    raise QueryError(msg)


def wrap_files(name: str, value: Any, uploads: dict[int, Upload]) -> object:  # noqa: ANN401 - a JSON value or a file
    """Return a value with an Upload for each file in it, the same for the same file."""
    if isinstance(value, dict):
        dotted = next((key for key in value if "." in key and has_file(value[key])), None)
        if dotted is not None:  # the multipart form separates the keys of a path by dots
            shown = sanitize_text(dotted, 80)
            msg = (
                f"Variable '${name}': files are not supported under the key {shown!r}, because it "
                "contains a dot."
            )
            raise QueryError(msg)
        return {key: wrap_files(name, item, uploads) for key, item in value.items()}
    if isinstance(value, list):
        return [wrap_files(name, item, uploads) for item in value]
    if not is_file(value) or isinstance(value, Upload):
        return value
    try:
        return uploads.setdefault(id(value), Upload(value))
    except OptionError as error:
        reason = str(error)
    msg = f"Variable '${name}': {reason}"
    raise QueryError(msg)
