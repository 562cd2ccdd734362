"""Which certificates are trusted: those asked for, else those the environment names."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from gqlnb.errors import TargetError, plain

__all__ = ["trusted"]

# In the order of requests, curl and OpenSSL; the first that is set counts.
VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


def trusted(
    verify: bool | str | os.PathLike[str] | ssl.SSLContext | None = None,
) -> bool | str | ssl.SSLContext:
    """Return what the TLS certificate of an endpoint is checked against, as requests takes it.

    Parameters
    ----------
    verify
        False for no check at all; the path of a CA bundle, or of a folder of certificates; an
        SSLContext, which may hold a client certificate and is used as it is; True or None for what
        the environment names in ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``, ``SSL_CERT_FILE`` or
        ``SSL_CERT_DIR``, else the authorities that requests brings along.

    Raises
    ------
    TargetError
        If the path leads to no certificates; the message says where it was named.
    """
    if verify is False:
        return False
    if isinstance(verify, ssl.SSLContext):
        return verify
    if verify is not None and verify is not True:
        return _bundle(os.fspath(verify), "verify=")
    for name in VARIABLES:
        path = os.environ.get(name, "").strip()
        if path:
            return _bundle(path, f"The environment variable {name}")
    return True


def _bundle(path: str, said: str) -> str:
    file = Path(path).expanduser()
    if not file.exists():
        msg = f"{said} names no file: {plain(path, 80)!r}."
        raise TargetError(msg)
    if file.is_file() and not _readable(file):
        msg = f"{said} names a file without certificates in PEM form: {plain(path, 80)!r}."
        raise TargetError(msg)
    return str(file)


def _readable(file: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError:  # ssl.SSLError is one
        return False
    return True
