"""The identity of a client: tokens with names, and functions that verify a token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from gqlnb.errors import OptionError, sanitize_text
from gqlnb.http.handler import RESOLVER_EXCEPTIONS, RETRY_AFTER
from gqlnb.http.preconditions import add_cors_headers, build_error_response, build_token_error
from gqlnb.server.worker_pool import HangingError, NoThreadError, is_cancelled
from gqlnb.tokens import ACCEPTED_SCHEMES, Token

if TYPE_CHECKING:
    from gqlnb.http.messages import HttpRequest, Response
    from gqlnb.server.request_executor import RequestExecutor

T = TypeVar("T")
TokenOption = Token | str | Mapping[str, "Token | str"] | Callable[[str], object] | None
_LOG = logging.getLogger("gqlnb")


def _create_verifier(tokens: Mapping[str, Token | str]) -> Callable[[str], Awaitable[str | None]]:
    """Return a function that returns the name for a token, or None.

    Parameters
    ----------
    tokens
        A token, or its source, by the name of its holder.
    """
    if not tokens:
        msg = "token= takes a mapping with at least one name, such as {'anna': 'env:ANNA'}."
        raise OptionError(msg)
    by_name = {name: Token.from_source(source) for name, source in tokens.items()}

    async def find_name(text: str) -> str | None:  # async: it needs no thread
        # Every token is compared, in constant time.
        header = f"Bearer {text}"
        names = [
            name for name, token in by_name.items() if token is not None and token.matches(header)
        ]
        return names[0] if names else None

    return find_name


def read_token_option(token: object) -> tuple[Token | None, Callable[[str], object] | None]:
    """Return the single token and the function of a `token=` argument; one of them is None.

    Raises
    ------
    OptionError
        If a mapping is empty.
    AuthError
        If a source has no token, or is of another kind.
    """
    if isinstance(token, Mapping):
        return None, _create_verifier(token)
    if callable(token) and not isinstance(token, Token):
        return None, cast("Callable[[str], object]", token)
    return Token.from_source(token), None


def find_bearer(header: str | None) -> str | None:
    """Return the token in an ``Authorization`` header, or None."""
    word, _, text = (header or "").strip().partition(" ")
    return text.strip() or None if word.lower() in ACCEPTED_SCHEMES else None


async def authenticate(
    request: HttpRequest, execute: RequestExecutor, header: str | None
) -> tuple[HttpRequest, Response | None]:
    """Verify the token of a request by the function of ``token=``.

    Parameters
    ----------
    request
        The request.
    execute
        The executor, with the rules of the server. Its threads run a function that is not
        ``async``.
    header
        The ``Authorization`` header, which a WebSocket may send in its first message.

    Returns
    -------
    (HttpRequest, Response or None)
        The request with the identity, and the response that refuses it.
    """
    rules, text = execute.rules, find_bearer(header)
    verify = rules.verify
    if verify is None:
        return request, None
    refusal: Response | None = None
    identity: object = None
    try:
        if text is not None:
            identity = await execute.pool.call_function(verify, text)
        if identity is None or identity is False:
            refusal = build_token_error(header, rules)
    except PermissionError as error:
        refusal = build_error_response(403, sanitize_text(error) or "Forbidden")
    except (HangingError, NoThreadError) as error:
        refusal = build_error_response(503, str(error), {"retry-after": RETRY_AFTER})
    except (*RESOLVER_EXCEPTIONS, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise
        # Libraries raise for invalid tokens.
        # Without its text, which may contain the token.
        _LOG.warning("The function of token= raised %s; the request was refused.", type(error))
        refusal = build_token_error(header, rules)
    if refusal is not None:
        return request, add_cors_headers(refusal, request, rules)
    return replace(request, identity=identity), None
