"""The errors of a run: graphql-core's GraphQLError, located without computing a line number twice.

An error in every row has the same nodes and locations. Graphql-core computes them anew for each,
which takes three times as long as the rest of the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import GraphQLError
from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import CollectedErrors, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import FieldNode

__all__ = ["ErrorLocation", "PlanErrors", "list_keys"]

Key = str | int
# The attributes of exceptions that graphql-core copies to its own error.
COPIED = frozenset({"message", "source", "positions", "nodes", "path", "extensions"})
HAS_CAUSE = "cause" in GraphQLError.__slots__  # in graphql-core 3.3


class PlainErrors(dict[type, bool]):
    """Whether exceptions of a class have only a text; a class is inspected when first seen."""

    def __missing__(self, cls: type) -> bool:
        names = {name for base in cls.__mro__ for name in vars(base)}
        reads: object = cls.__getattribute__
        own = reads is not BaseException.__getattribute__
        found = not own and not names & {*COPIED, "__getattr__"}
        self[cls] = found
        return found


def list_keys(path: Value) -> list[Key]:
    """Return the keys of a path, which is a nested tuple or graphql-core's."""
    keys = []
    while path is not None:
        keys.append(path[1])
        path = path[0]
    keys.reverse()
    return keys


class ErrorLocation:
    """The nodes of a field, for the errors of its values.

    Parameters
    ----------
    nodes
        The nodes of the field.
    """

    __slots__ = ("_sample", "nodes")

    def __init__(self, nodes: Sequence[FieldNode]) -> None:
        self.nodes = nodes
        self._sample: GraphQLError | None = None

    def locate(self, error: Exception, keys: list[Key]) -> GraphQLError | None:
        """Return graphql-core's error of an exception; None if graphql-core must build it.

        Parameters
        ----------
        error
            An exception, of a class without attributes that graphql-core would copy, or a
            GraphQLError that is not located yet.
        keys
            Its path.
        """
        extensions: Any = None
        if type(error) is GraphQLError:
            if error.path is not None or error.nodes or error.source or error.positions:
                return None
            message, extensions = error.message, error.extensions
            if type(message) is not str or type(extensions) is not dict:
                return None
        elif PLAIN_ERRORS[type(error)] and not error.__dict__:
            message = str(error)
        else:
            return None
        sample = self._sample
        if sample is None:
            sample = self._sample = GraphQLError("", self.nodes)
        located = GraphQLError.__new__(GraphQLError, message)
        located.message = message
        located.path = keys
        located.nodes = sample.nodes
        located.source = sample.source
        located.positions = sample.positions
        located.locations = None if sample.locations is None else sample.locations.copy()
        located.original_error = error
        if HAS_CAUSE:
            located.cause = error
        located.extensions = extensions or {}
        located.__traceback__ = error.__traceback__
        if error.__cause__:
            located.__cause__ = error.__cause__
        elif error.__context__:
            located.__context__ = error.__context__
        return located


PLAIN_ERRORS = PlainErrors()


class PlanErrors(CollectedErrors):  # type: ignore[misc]
    """The errors of a run; one below a position that is null already is dropped.

    Graphql-core compares paths, whose hashes take time in proportion to the square of their length.
    """

    __slots__ = ("_lengths", "_positions")

    def __init__(self) -> None:
        super().__init__()
        self._positions: set[tuple[Key, ...]] = set()
        self._lengths: set[int] = set()

    def add(self, error: GraphQLError, path: Path | None) -> None:
        """Collect an error at a path."""
        self.add_at(error, list_keys(path))

    def add_at(self, error: GraphQLError, keys: list[Key]) -> None:
        """Collect an error, given the keys of its path."""
        if self._is_null(keys):
            return
        self._lengths.add(len(keys))
        self._positions.add(tuple(keys))
        self._errors.append(error)

    def has_nulled_position(self, start_path: Path | None) -> bool:
        """Return whether a position or one above it is null by an error, for graphql-core."""
        return self._is_null(list_keys(start_path))

    def _is_null(self, keys: list[Key]) -> bool:
        # Most errors have paths of one length: a position is sought only where one may be.
        for length in self._lengths:  # noqa: SIM110 - a generator takes three times as long
            if tuple(keys[:length]) in self._positions:
                return True
        return False
