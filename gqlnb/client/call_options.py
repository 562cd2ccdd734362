"""Options of one call: token, headers, extensions and a timeout beside those of the client."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.client.arguments import check_options
from gqlnb.client.credentials import Credentials, bind_credentials
from gqlnb.client.gql_interop import GqlClientTransport
from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.recording_transport import resolve_secrets
from gqlnb.client.transports import AsgiTransport, InProcessTransport
from gqlnb.document.json_codec import JSONError, dump_json
from gqlnb.errors import OptionError, TargetError
from gqlnb.redact import hide_locals

if TYPE_CHECKING:
    from gqlnb.client.endpoint import Endpoint
    from gqlnb.tokens import Token, TokenHolder

__all__ = ["apply_call_options"]


@hide_locals
def apply_call_options(
    endpoint: Endpoint,
    *,
    token: Token | TokenHolder | str | None,
    headers: Mapping[str, str | Token | TokenHolder] | None,
    extensions: Mapping[str, Any] | None,
    timeout: float | None,
) -> Endpoint:
    """Return an endpoint for one call, which shares the connections of another one.

    Parameters
    ----------
    endpoint
        The endpoint of the client.
    token, headers, extensions, timeout
        As for :meth:`gqlnb.Client.execute`; None for those of the endpoint.

    Raises
    ------
    OptionError
        If the extensions are not a mapping of JSON values.
    TargetError, AuthError
        If the token, a header or the timeout is not valid, or an option would have no effect.
    """
    transport, settings = endpoint.transport, endpoint.options
    # First: a secret given as text is refused before another error can show the arguments.
    given, missing = resolve_secrets(token, headers, settings.recording)
    timeout = settings.timeout if timeout is None else timeout
    check_options(timeout, None, None)
    extensions = check_extensions(extensions)
    # Refused, not dropped: a call that names another token must not be sent with the client's.
    if not isinstance(transport, (HttpTransport, AsgiTransport)):
        options = {"token": token, "headers": headers, "extensions": extensions}
        unused = [name for name, value in options.items() if value]
        is_custom = not isinstance(transport, (InProcessTransport, GqlClientTransport))
        if unused and not (is_custom and unused == ["extensions"]):
            listed = " and ".join(f"{name}=" for name in unused)
            msg = (
                f"{listed} would have no effect: only requests over HTTP and to ASGI applications "
                f"have them, and this client executes on {endpoint.source!r}. Leave them out."
            )
            raise TargetError(msg)
        settings = replace(settings, timeout=timeout, extensions=extensions)
        return replace(endpoint, options=settings)
    credentials = settings.credentials
    if given.token is not None or given.headers or missing is not None:
        names = {name.lower() for name in given.headers}
        kept = {name: it for name, it in credentials.headers.items() if name.lower() not in names}
        # A request has one Authorization header, so either takes the place of the client's token.
        replaced = "authorization" in names or token is not None
        token = given.token if replaced else credentials.token
        credentials = Credentials(token, {**kept, **given.headers})
        if isinstance(transport, HttpTransport):
            bind_credentials(transport.url, credentials, transport.uds)
        # A client that lacks its token can still make calls that bring their own.
        missing = missing or (None if replaced else settings.missing_token_error)
        settings = replace(settings, missing_token_error=missing)
    settings = replace(settings, credentials=credentials, timeout=timeout, extensions=extensions)
    derived = copy(transport)  # it shares the connections
    derived.credentials = credentials
    if isinstance(derived, HttpTransport):
        derived.timeout = float(timeout)
    return replace(endpoint, transport=derived, options=settings)


def check_extensions(extensions: object) -> dict[str, Any] | None:
    """Return the extensions of a request; raise OptionError if they are not JSON values."""
    if extensions is None:
        return None
    if not isinstance(extensions, Mapping):
        msg = f"extensions= takes a mapping of JSON values, not a {type(extensions).__name__}."
        raise OptionError(msg)
    members = dict(extensions)
    try:
        # Here, so that the error is about the option, and comes before anything is sent.
        dump_json(members)
    except JSONError as error:
        msg = f"extensions= takes a mapping of JSON values: {error}"
        raise OptionError(msg) from None
    return members
