"""What one server lets through, as a value that every step of the protocol reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from gqlnb.model.limits import Limits
from gqlnb.wire.access import Access
from gqlnb.wire.response import Response

__all__ = ["ENDPOINT", "LOOPBACK", "STATUSES", "Documentation", "Rules", "Statuses", "Verifier"]

ENDPOINT = "/graphql"
# The names a browser on this machine uses for it. Any other name that leads here was rebound by
# someone's DNS, and the page that did so must not read an answer.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Statuses(NamedTuple):
    """What a reading of GraphQL over HTTP answers where the two readings differ.

    Attributes
    ----------
    partial
        Data beside errors, to who takes GraphQL's media type.
    malformed
        JSON that is no GraphQL request.
    too_large
        A body over the limit.
    legacy
        Whether a request error is 200 to who takes plain JSON only.
    refusing
        Whether who accepts neither media type is refused with 406.
    """

    partial: int
    malformed: int
    too_large: int
    legacy: bool
    refusing: bool


STATUSES: Mapping[str, Statuses] = {
    "audit": Statuses(200, 400, 400, legacy=True, refusing=False),
    "draft": Statuses(294, 422, 413, legacy=False, refusing=True),
}


class Verifier(Protocol):
    """Anything that knows the right ``Authorization`` header: a Token."""

    def matches(self, header: str | None) -> bool:
        """Tell whether the header carries the secret."""


class Documentation(NamedTuple):
    """Where a 401 sends its reader; by default where GitHub sends its own.

    Attributes
    ----------
    missing
        For who sends no token.
    wrong
        For who sends one that does not fit.
    """

    missing: str = (
        "https://docs.github.com/graphql/guides/forming-calls-with-graphql"
        "#authenticating-with-graphql"
    )
    wrong: str = "https://docs.github.com/graphql"


@dataclass(frozen=True, slots=True)
class Rules:
    """What one server lets through.

    Attributes
    ----------
    token
        What the ``Authorization`` header must match; None asks for none.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None allows any, for a
        server that a token protects.
    limits
        How much of anything.
    access
        Who else may ask, and for what; its hosts stand in `hosts` already.
    pages
        Ready-made answers to GET by path: the page a browser gets, and its assets. None of them
        is given where there is a token.
    documentation
        Where the 401 sends its reader.
    """

    token: Verifier | None = None
    hosts: frozenset[str] | None = LOOPBACK
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    pages: Mapping[str, Response] = field(default_factory=dict)
    documentation: Documentation = field(default_factory=Documentation)

    @property
    def statuses(self) -> Statuses:
        """The statuses of the profile."""
        return STATUSES[self.access.profile]
