"""The part of a schema that makes one up."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

from gqlnb.engine.documents import remembering

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLSchema

    from gqlnb.engine.adopting import Adoption
    from gqlnb.model.document import Document

__all__ = ["Mocking"]


class Mocking:
    """How a schema is made that answers with made-up data; :class:`gqlnb.Schema` is whole."""

    notes: tuple[str, ...] = ()
    _graphql: GraphQLSchema
    _adopted: Adoption | None
    _document: Callable[..., Document]
    _parse: Callable[..., Document]

    @classmethod
    def mock(
        cls,
        schema: Any,
        *,
        seed: int = 0,
        resolvers: Mapping[str, Mapping[str, Any]] | None = None,
        nulls: float = 0.1,
        lengths: tuple[int, int] = (1, 5),
        sizes: tuple[int, int] = (5, 50),
        scalars: Mapping[str, str | Callable[[int], Any]] | None = None,
    ) -> Self:
        """Return a Schema that answers with made-up data, so that a notebook can come first.

        Values are right by type and by format, and depend on the seed alone: the same question has
        the same answer everywhere. An object found again by its id is the same in every field, and
        the pages of a connection are those of one list. The module :mod:`gqlnb.engine.mocking`
        says what becomes of names, arguments, mutations and subscriptions.

        Parameters
        ----------
        schema
            SDL; the answer to an introspection query, as JSON text or as a mapping; or a schema
            object, as for :meth:`Schema.adopt`, of which a copy without its resolvers is made.
            What others publish is not always valid, GitHub's SDL is not: a mistake that can be
            passed over is, with a warning that names it, which is in ``notes`` of the Schema too.
        seed
            Another seed gives other data.
        resolvers
            Functions that answer instead, as for :class:`Schema`; also later, by
            :meth:`Schema.resolver`. They may return a part of an object.
        nulls
            The share of the values of nullable fields that are null, 0 to 1.
        lengths
            The fewest and the most items of a list.
        sizes
            The same of a connection, and of a list that is asked for in pages.
        scalars
            For scalars of one's own: the name of a known one with the same format, or a function
            that makes a value of a number of 64 bits.

        Raises
        ------
        SchemaError
            If there is no schema in it, an option has no such value, or a resolver fits no field.

        Examples
        --------
        >>> from gqlnb import Schema
        >>> sdl = "type Query { user(id: ID!): User } type User { id: ID! age: Int! }"
        >>> Schema.mock(sdl).execute('{ user(id: "7") { id age } }').data
        {'user': {'id': '7', 'age': 86}}
        """
        from gqlnb.engine.mocking.attaching import mocked
        from gqlnb.engine.mocking.world import Options

        options = Options(seed, nulls, lengths, sizes, scalars or {})
        self = cls.__new__(cls)
        self._graphql, self.notes = mocked(schema, options, resolvers)
        for note in self.notes:
            warnings.warn(note, stacklevel=2)
        self._adopted = None
        self._document = remembering(self._parse)
        return self
