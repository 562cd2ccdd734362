"""The deployment of a server: its path, Unix socket and certificate; names are uvicorn's."""

from __future__ import annotations

import os
import re
import socket
import ssl
import stat
from contextlib import suppress
from typing import NamedTuple, NoReturn

from gqlnb.errors import OptionError, PortInUseError, ServerError, sanitize_text
from gqlnb.http.server_rules import HEALTH_PATH, METRICS_PATH
from gqlnb.option_checks import raise_option_error

PathLike = str | os.PathLike[str]
# Segments of RFC 3986's unreserved characters, which are never percent-encoded and need no escaping
# in HTML. None begins with a dot: browsers and proxies remove "." and "..".
_PATH_PATTERN = re.compile(r"/|(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+")
# Also the names in JupyterHub's paths, such as "/user/ann%40example.com/proxy/4000".
_ROOT_PATH_PATTERN = re.compile(r"(/[A-Za-z0-9_~%@-][A-Za-z0-9_.~%@-]*)*")


def check_path(path: object) -> str:
    """Return the path of an endpoint.

    Raises
    ------
    OptionError
        If it is not one.
    """
    if not isinstance(path, str) or _PATH_PATTERN.fullmatch(path) is None:
        valid = (
            "a path such as '/api/graphql': a slash at the beginning and none at the end, and "
            "letters, digits, '-', '_', '.' and '~' between slashes"
        )
        raise_option_error("path", path, valid)
    if path in {HEALTH_PATH, METRICS_PATH}:
        raise_option_error("path", path, f"a path other than {HEALTH_PATH} and {METRICS_PATH}")
    return path


def check_root_path(root_path: object) -> str:
    """Return the path under which a proxy shows the server, without a slash at the end.

    Raises
    ------
    OptionError
        If it is not one.
    """
    if not isinstance(root_path, str) or not _ROOT_PATH_PATTERN.fullmatch(root_path.rstrip("/")):
        raise_option_error("root_path", root_path, "a path such as '/user/ann/proxy/4000'")
    return root_path.rstrip("/")


class Certificate(NamedTuple):
    """The files of a certificate and its key."""

    certfile: PathLike
    keyfile: PathLike | None

    def create_context(self) -> ssl.SSLContext:
        """Return a server's context with the files; raises as :meth:`load_into`."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.set_alpn_protocols(["http/1.1"])
        self.load_into(context)
        return context

    def load_into(self, context: ssl.SSLContext) -> None:
        """Load the files into a context; connections that are open keep the former certificate.

        Raises
        ------
        ServerError
            If a file cannot be read, or they do not fit together.
        """
        files = [file for file in self if file is not None]
        quoted = " and ".join(sanitize_text(repr(os.fspath(file))) for file in files)
        try:
            # Without the function, OpenSSL would ask for a password in the terminal.
            context.load_cert_chain(self.certfile, self.keyfile, _refuse_password)
        except ssl.SSLError as error:
            message = (
                f"{quoted}: not a certificate in PEM format with its private key "
                f"({error.reason or 'no reason given'}). Give the chain as certfile=, and the key "
                f"as keyfile= unless it is in the same file."
            )
            raise ServerError(message) from error
        except OSError as error:
            missing = next((file for file in files if not os.access(file, os.R_OK)), files[0])
            message = (
                f"Cannot read the certificate: {sanitize_text(repr(os.fspath(missing)))}: "
                f"{error.strerror}. Check certfile= and keyfile=."
            )
            raise ServerError(message) from error


def _refuse_password() -> NoReturn:
    message = (
        "The key of certfile= is encrypted. Decrypt it, for example with openssl pkey -in KEY -out "
        "PLAIN, into a file that only you can read."
    )
    raise ServerError(message)


def read_certificate(certfile: PathLike | None, keyfile: PathLike | None) -> Certificate | None:
    """Return the certificate of ``certfile=`` and ``keyfile=``, after a test; None for neither.

    Raises
    ------
    OptionError
        If there is a key without a certificate.
    ServerError
        If the files are not valid.
    """
    if certfile is None:
        if keyfile is not None:
            message = "keyfile= needs the certificate of the key: certfile=."
            raise OptionError(message)
        return None
    certificate = Certificate(certfile, keyfile)
    certificate.create_context()  # before anything is opened or replaced
    return certificate


def remove_stale_socket(path: str) -> None:
    """Remove the file of a Unix socket that a killed process left.

    Raises
    ------
    PortInUseError
        If another program listens there.
    ServerError
        If there is another file.
    """
    with suppress(FileNotFoundError):
        quoted = sanitize_text(repr(path))
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            message = f"{quoted} exists and is not a socket. Give another path as uds=."
            raise ServerError(message)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
                return
        message = f"Another program listens on {quoted}. Close it, or give another path as uds=."
        raise PortInUseError(message)
