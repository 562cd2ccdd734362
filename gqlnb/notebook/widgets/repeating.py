"""What repeats a star search outside the widget: the text that was sent, and a line of Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gqlnb.errors import plain
from gqlnb.github.search import PAGE, REACH
from gqlnb.github.starsearch import sent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["code_of", "shown_client", "text_of"]


def text_of(frame: pd.DataFrame, limit: int | None) -> str:
    """Return a GraphQL text that asks for the same rows by itself: its variables have defaults.

    Parameters
    ----------
    frame
        What the search found.
    limit
        The rows that were asked for; None for all.
    """
    query = json.dumps(frame.attrs["query"], ensure_ascii=False)
    first = PAGE if limit is None else min(PAGE, limit)
    text = sent(frame).replace("$query: String!", f"$query: String! = {query}", 1)
    text = text.replace("$first: Int!", f"$first: Int! = {first}", 1)
    if len(frame) <= PAGE:
        return text
    if len(frame) > REACH:
        return f"# {REACH:,} of {len(frame):,} rows; one search gives no more\n{text}"
    most = "" if limit is None or limit >= REACH else f" --max-results {limit}"
    return f"# {len(frame):,} rows, {PAGE} a page: %%graphql --paginate{most}\n{text}"


def code_of(
    query: str, limit: int | None, client: Any, names: Mapping[str, Any] | None = None
) -> str:
    """Return the line of Python that repeats a search.

    Parameters
    ----------
    query, limit, client
        As for :func:`gqlnb.stars`.
    names
        What the notebook calls its objects; a client without a name there is ``client``.
    """
    asked = f"gqlnb.stars({query!r}, limit={limit!r}, client={written_client(client, names or {})})"
    return f"import gqlnb; {asked}"


def written_client(client: Any, names: Mapping[str, Any]) -> str:
    """Return an expression for a client: its text without secrets, or its name."""
    if isinstance(client, str):
        return shown_client(client)
    known = (name for name, value in names.items() if value is client and name[0] != "_")
    return next(known, "client")


def shown_client(client: Any) -> str:
    """Return a client as a repr shows it: of an address no user, password, query or fragment."""
    if not isinstance(client, str) or ("/" not in client and "@" not in client):
        return repr(client)  # the name of a connection; an object, which knows what to hide
    try:
        parts = urlsplit(client.strip())
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return repr("...")
    if "@" in parts.path:  # a password with a slash in it, or no scheme
        return repr("...")
    host = f"[{host}]" if ":" in host else host
    scheme = f"{parts.scheme}://" if parts.netloc else ""
    return repr(plain(f"{scheme}{host}{port}{parts.path}", 200))
