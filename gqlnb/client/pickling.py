"""Pickles of clients, which make the same client again, in other processes too."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING, Any, TypeVar

from gqlnb.client import connections
from gqlnb.client.http_transport import HttpTransport
from gqlnb.document.schema_text import print_sdl
from gqlnb.tokens import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.client.endpoint import Endpoint

AnyClient = TypeVar("AnyClient", bound=connections.NamedClient)


def build_recipe(endpoint: Endpoint) -> dict[str, Any]:
    """Return the arguments of a client for another process; they can be pickled, without secrets.

    A token is given by its source, such as ``"env:NAME"``, and its scheme, and a secret value of a
    header by its source.
    """
    transport: Any = endpoint.transport
    recipe = {"target": transport.url, **endpoint.options.collect_given()}
    for name in ("recording", "cache"):
        recipe.pop(name, None)
    if isinstance(recipe.get("verify"), os.PathLike):
        recipe["verify"] = str(recipe["verify"])
    if "token" in recipe:
        recipe["token"] = str(recipe["token"].where), recipe["token"].scheme
    recipe["headers"] = {
        name: str(value.where) if isinstance(value, Token) else value
        for name, value in endpoint.credentials.headers.items()
    }
    return recipe


def find_local_dependency(endpoint: Endpoint) -> str:
    """Return the reason why a client works in this process alone, or ""."""
    if not isinstance(endpoint.transport, HttpTransport):
        return f"{endpoint.source} is in this process. Serve it, and ask its address."
    if isinstance(endpoint.options.verify, ssl.SSLContext):
        return "its verify= is an SSLContext of this process. Give the path of a CA bundle."
    credentials = endpoint.credentials
    # The value of a token never leaves the process; only its source does.
    by_value = [token for token in credentials.tokens if token.where is None]
    if by_value or credentials.address_tokens:
        return (
            "it has a secret that was passed as a value and is not sent to other processes. "
            "Pass a reference that each process can resolve: token='env:NAME', 'keyring:NAME' "
            "or 'file:PATH', or headers={'X-Api-Key': 'env:NAME'}."
        )
    return ""


def reduce_client(
    make: Callable[..., connections.NamedClient], endpoint: Endpoint, schema: GraphQLSchema | None
) -> tuple[Any, ...]:
    """Return the pickled form of a client, for its ``__reduce__``.

    Parameters
    ----------
    make
        The class of the client.
    endpoint
        Its endpoint.
    schema
        Its schema if that is known.

    Raises
    ------
    TypeError
        If the client works in this process alone.
    """
    # All options travel, or pickling is refused: a client that lost its token, its timeout or its
    # CA bundle on the way would fail, or trust others, far from here.
    given = endpoint.options.collect_given()
    extras: dict[str, Any]
    extras = {name: given[name] for name in ("recording", "cache") if name in given}
    if endpoint.explicit_schema is not None:
        extras["schema"] = export_schema(endpoint.explicit_schema, schema)
    name = endpoint.name
    if name is not None and endpoint.is_by_name and connections.can_open_unattended(name):
        # A fresh process has not loaded the package of the built-in connections.
        builtin = connections.get_builtin(name)
        return rebuild_client, (make, {"target": name}, name, extras, builtin)
    if reason := find_local_dependency(endpoint):
        msg = f"This client cannot be pickled: {reason}"
        raise TypeError(msg)
    return rebuild_client, (make, build_recipe(endpoint), name, extras)


def rebuild_client(
    make: Callable[..., AnyClient],
    recipe: Mapping[str, Any],
    name: str | None,
    extras: Mapping[str, Any],
    builtin: connections.NamedConnection | None = None,
) -> AnyClient:
    """Return the client of a pickle; raise AuthError if its token is not found in this process."""
    if builtin is not None:
        connections.provide_builtin(builtin.name, builtin.make_client, builtin.description)
    options = {**recipe, **extras}
    if "token" in recipe:
        options["token"] = Token.from_source(*recipe["token"])
    client = make(**options)
    client._set_connection_name(name, is_by_name="://" not in recipe["target"])
    return client


def export_schema(schema: object, built: GraphQLSchema | None) -> object:
    """Return the value of ``schema=`` in a form that can be pickled."""
    if isinstance(schema, (str, os.PathLike, dict)) or built is None:
        return schema
    return print_sdl(built)
