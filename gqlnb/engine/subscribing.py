"""The part of a schema that streams: subscriptions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from gqlnb.engine.building import at_once
from gqlnb.engine.streaming import Given, Stream, check, compiled
from gqlnb.model.variables import bind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLSchema

    from gqlnb.engine.adopting import Adoption
    from gqlnb.engine.streaming import Place
    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits

__all__ = ["Subscribing"]


class Subscribing:
    """What a schema does with subscriptions; :class:`gqlnb.Schema` is whole."""

    _graphql: GraphQLSchema
    _adopted: Adoption | None

    @cached_property
    def _executed(self) -> GraphQLSchema:
        return at_once(self._graphql)

    def document(
        self, text: str, operation: str | None = None, *, limits: Limits | None = None
    ) -> Document:
        """Return the document of a text; the schema says how."""
        raise NotImplementedError

    def subscribe(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
    ) -> Stream:
        """Subscribe, and return the stream of results, one for each event.

        Parameters
        ----------
        text, variables, operation, context, root
            As for :meth:`execute`.
        limits
            How much the text may ask for, and the execution of each event take; None for no limit.

        Returns
        -------
        Stream
            For ``for`` and for ``async for``. The function of the subscription is called at the
            first step. What it raises then is an error of the one result; what it raises later
            ends the stream, as it is.

        Raises
        ------
        QueryError
            If the text or the variables are wrong, or it is no subscription; at the call, not at
            the first step.

        Examples
        --------
        >>> def countdown(root, args, context):
        ...     yield from range(args["start"], 0, -1)
        >>> from gqlnb import Schema
        >>> schema = Schema(
        ...     "type Query { hello: String } type Subscription { countdown(start: Int!): Int }",
        ...     {"Subscription": {"countdown": countdown}},
        ... )
        >>> stream = schema.subscribe("subscription { countdown(start: 3) }")
        >>> [result["countdown"] for result in stream]
        [3, 2, 1]
        """
        document = self.document(text, operation, limits=limits)
        given = bind(document, variables)
        return self.stream(document, given, context=context, root=root, limits=limits)

    def stream(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        place: Place | None = None,
    ) -> Stream:
        """Do as :meth:`subscribe` with a document of this schema and JSON-like variables.

        Parameters
        ----------
        place
            Calls the function it is given and awaits it, in a thread perhaps: the plain resolvers
            of an event run in it. None for the thread that iterates.
        """
        check(document, variables)
        given = Given(variables, context, root, limits, place)
        if self._adopted is not None:
            return Stream(self._adopted.subscribed(document, given), document)
        return Stream(compiled(self._executed, document, given, {}), document)
