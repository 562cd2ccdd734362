"""``gqlnb.connect``: a client by the name of its connection, or by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.client import connections
from gqlnb.client.checks import check_keywords
from gqlnb.client.client import Client
from gqlnb.errors import TargetError
from gqlnb.sealing import unseen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.token import Token, TokenHolder

__all__ = ["connect"]


@unseen
def connect(
    target: Any = None,
    *,
    token: Token | TokenHolder | str | None = None,
    headers: Mapping[str, str | Token | TokenHolder] | None = None,
    **options: Any,
) -> Client:
    """Return a client for a connection by name, or for anything a :class:`Client` takes.

    Parameters
    ----------
    target
        ``"github"``, ``"demo"`` or a name of one's own; else as for :class:`Client`, or a Client.
    token, headers, **options
        As for :class:`Client`.

    Returns
    -------
    Client
        For a name without options, the same client each time.

    Raises
    ------
    TargetError
        If there is no such connection, `target` is nothing that can be asked, or it is a Client
        and there are options.
    OptionError
        If there is no keyword of that name; it is a TypeError too.
    AuthError
        If the token can't be found.

    Examples
    --------
    >>> import gqlnb
    >>> gqlnb.connect("demo").execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    is_name = isinstance(target, str) and not target.startswith("/") and "://" not in target
    own = connections.list_options(target) if is_name and options else ()
    check_keywords("connect", {name: it for name, it in options.items() if name not in own})
    first = {"token": token, "headers": headers or None}
    given: dict[str, Any] = {name: it for name, it in first.items() if it is not None} | options
    if isinstance(target, Client) and given:
        msg = (
            f"This client is made already, so {', '.join(f'{name}=' for name in given)} would have "
            "no effect. Make another one from its address or name."
        )
        raise TargetError(msg)
    if isinstance(target, Client):
        return target
    if is_name:
        return connections.named(target, **given)
    return Client(target, **given)
