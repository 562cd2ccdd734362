"""Response paths and info objects of resolvers, built when they are read."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from graphql import GraphQLResolveInfo
from graphql.pyutils import Path

from gqlnb.engine.graphql_compat import Value

__all__ = [
    "Info",
    "LazyPath",
    "choose_info_classes",
    "new_tuple",
    "strip_list_indices",
    "to_path",
]

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


def choose_info_classes(library: type | None) -> dict[str, type[Info]]:
    """Return the classes of info objects by the names that compiled code has for them.

    `library` is an executor class that builds info objects of its own; None for graphql-core's.
    """
    if library is None:
        return {"Info": Info, "PathInfo": PathInfo}
    return {"Info": LibraryInfo, "PathInfo": LibraryPathInfo}


for _cls in (Info, PathInfo, LibraryInfo, LibraryPathInfo):
    _cls.__name__ = _cls.__qualname__ = GraphQLResolveInfo.__name__  # it is in error messages
