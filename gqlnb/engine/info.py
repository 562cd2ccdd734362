"""Response paths and info objects, made only when somebody looks at them."""

from __future__ import annotations

from typing import Any

from graphql import GraphQLResolveInfo
from graphql.pyutils import Path

__all__ = ["Info", "Lean", "above", "to_path"]

# A path as compiled code makes it: nested (previous, key, type name), which is the layout of
# graphql-core's Path; only what leaves the compiled code becomes one.
Lean = tuple[Any, Any, Any] | None


def to_path(path: Lean) -> Any:
    """Return graphql-core's Path of a nested tuple."""
    if path is None or type(path) is Path:
        return path
    keys = []
    while path is not None and type(path) is not Path:
        keys.append(path)
        path = path[0]
    made = path
    for _, key, name in reversed(keys):
        made = Path(made, key, name)
    return made


def above(path: Lean) -> Lean:
    """Return the path of the field that a place in its list belongs to."""
    while path is not None and type(path[1]) is int:
        path = path[0]
    return path


# A reader of a tuple's member that ``__getitem__`` does not come between.
_member: Any = type(GraphQLResolveInfo.path)


def _of_field(index: int) -> property:
    return property(lambda self: self._field.head[index])


class Info(tuple[Any, ...]):
    """The info object of a resolver, in the place of graphql-core's and taken for one.

    It holds a field, a path and a run, and looks everything up when it is read: most resolvers
    read one member or none.
    """

    __slots__ = ()
    _field: Any = _member(0, "")
    _path: Any = _member(1, "")
    _run: Any = _member(2, "")
    _fields = GraphQLResolveInfo._fields

    field_name = _of_field(0)
    field_nodes = _of_field(1)
    return_type = _of_field(2)
    parent_type = _of_field(3)
    path = property(lambda self: to_path(self._path))
    schema = property(lambda self: self._run.plan.schema)
    fragments = property(lambda self: self._run.plan.fragments)
    root_value = property(lambda self: self._run.root_value)
    operation = property(lambda self: self._run.plan.operation)
    variable_values = property(lambda self: self._run.variable_values)
    context = property(lambda self: self._run.context_value)
    is_awaitable = property(lambda self: self._run.plan.awaits)
    abort_signal = None  # an execution with one is graphql-core's own
    async_helpers = property(lambda self: self._run.async_helpers)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class it stands for, so that ``isinstance`` agrees."""
        return GraphQLResolveInfo

    def __iter__(self) -> Any:
        return iter([getattr(self, name) for name in self._fields])

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, index: Any) -> Any:
        return tuple(iter(self))[index]

    def __eq__(self, other: object) -> bool:
        return tuple(iter(self)) == other

    def __hash__(self) -> int:
        return hash(tuple(iter(self)))  # an error, as with graphql-core's: it holds lists

    def __repr__(self) -> str:
        return repr(self._real())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def _real(self) -> Any:
        return GraphQLResolveInfo(*iter(self))


Info.__name__ = Info.__qualname__ = GraphQLResolveInfo.__name__  # error messages say it
