"""Response paths, info objects of resolvers and located errors, built when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from graphql import FieldNode, GraphQLError, GraphQLResolveInfo
from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import CollectedErrors, Value

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


# A path in compiled code: nested (previous, key, type name), the layout of graphql-core's Path.
# A plain tuple takes half the time to build; only paths that leave compiled code become a Path.
LazyPath = tuple[Any, Any, Any] | None

new_tuple: Any = tuple.__new__  # half the time of the constructor of a named tuple


def to_path(path: LazyPath) -> Value:
    """Return graphql-core's Path of a nested tuple."""
    keys = []
    while path is not None and type(path) is not Path:
        keys.append(path)
        path = path[0]
    for _, key, name in reversed(keys):
        path = new_tuple(Path, (path, key, name))
    return path


def strip_list_indices(path: LazyPath) -> LazyPath:
    """Return the path of a list's field, given that of an item."""
    while path is not None and type(path[1]) is int:
        path = path[0]
    return path


# The descriptor type of named tuples: it reads a member without calling ``__getitem__``.
_member: Any = type(GraphQLResolveInfo.path)


# An info holds a field, a path and an executor, and computes members when they are read: most
# resolvers read one member or none.
class Info(tuple[Any, ...]):
    """The info object of a resolver, a stand-in for graphql-core's GraphQLResolveInfo."""

    __slots__ = ()
    _field: Any = _member(0, "")
    _path: LazyPath = _member(1, "")
    _run: Any = _member(2, "")
    _fields = GraphQLResolveInfo._fields

    # Getters in C take half the time of a function.
    field_name = property(attrgetter("_field.field_name"))
    field_nodes = property(attrgetter("_field.nodes"))
    return_type = property(attrgetter("_field.type"))
    parent_type = property(attrgetter("_field.parent"))
    schema = property(attrgetter("_run.plan.schema"))
    fragments = property(attrgetter("_run.plan.fragments"))
    root_value = property(attrgetter("_run.root_value"))
    operation = property(attrgetter("_run.plan.operation"))
    variable_values = property(attrgetter("_run.variable_values"))
    context = property(attrgetter("_run.context_value"))
    is_awaitable = property(attrgetter("_run.plan.awaits"))
    abort_signal = None  # graphql-core itself executes if there is one
    async_helpers = property(attrgetter("_run.async_helpers"))

    @property
    def path(self) -> Value:
        """The response path; the rows of a list share the part above them."""
        place: Value = self._path
        above, key, name = place
        if above is None:
            return new_tuple(Path, (None, key, name))
        run = self._run
        top, path = run.list_path
        if top is not above[0]:
            if type(above[1]) is not int:
                return new_tuple(Path, (to_path(above), key, name))
            path = to_path(above[0])
            run.list_path = (above[0], path)
        return new_tuple(Path, (new_tuple(Path, (path, above[1], above[2])), key, name))

    @property  # type: ignore[misc]
    def __class__(self) -> Value:
        """GraphQLResolveInfo, for ``isinstance``."""
        return GraphQLResolveInfo

    def __iter__(self) -> Value:
        return iter([getattr(self, name) for name in self._fields])

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: Value) -> Value:
        return tuple(iter(self))[index]

    def __eq__(self, other: object) -> bool:
        return tuple(iter(self)) == other

    def __hash__(self) -> int:
        return hash(tuple(iter(self)))  # raises, like graphql-core's: it holds lists

    def __repr__(self) -> str:
        return repr(self._build())

    def __getattr__(self, name: str) -> Value:
        return getattr(self._build(), name)

    def _build(self) -> Value:
        return GraphQLResolveInfo(*iter(self))


class PathInfo(Info):
    """The info object of a resolver whose code reads the path, which is graphql-core's Path."""

    __slots__ = ()
    path: Any = _member(1, "")


# Strawberry's executor hands resolvers a tuple of its own on graphql-core 3.3: its variables are a
# plain dict, and it has a member more. Packages built on Strawberry rely on both.
class LibraryInfo(Info):
    """The info object of a library whose executor class builds its own."""

    __slots__ = ()
    variable_values = property(attrgetter("_built.variable_values"))
    _fields = property(attrgetter("_built._fields"))

    @property
    def _built(self) -> Value:
        run, field = self._run, self._field
        build = run.plan.library.build_resolve_info
        return build(run, field.definition, field.nodes, field.parent, self.path)

    @property  # type: ignore[misc]
    def __class__(self) -> Value:
        return type(self._built)

    def _build(self) -> Value:
        return self._built


class LibraryPathInfo(LibraryInfo):
    """The same for a resolver whose code reads the path."""

    __slots__ = ()
    path: Any = _member(1, "")


# The classes of info objects by the names that compiled code has for them: graphql-core's, and
# those of a library whose executor class builds its own.
INFO_CLASSES: tuple[dict[str, type[Info]], ...] = (
    {"Info": Info, "PathInfo": PathInfo},
    {"Info": LibraryInfo, "PathInfo": LibraryPathInfo},
)
for _cls in (Info, PathInfo, LibraryInfo, LibraryPathInfo):
    _cls.__name__ = _cls.__qualname__ = GraphQLResolveInfo.__name__  # it is in error messages
