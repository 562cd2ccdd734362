"""Response paths and info objects, made only when somebody looks at them."""

from __future__ import annotations

from typing import Any

from graphql import GraphQLResolveInfo
from graphql.pyutils import Path

__all__ = ["Info", "Lean", "to_path"]

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


class Info(GraphQLResolveInfo):  # type: ignore[type-arg]
    """graphql-core's info object whose path is made when it is read."""

    __slots__ = ()

    @property
    def path(self) -> Any:
        """The response path of the field."""
        return to_path(tuple.__getitem__(self, 4))

    def __getitem__(self, index: Any) -> Any:
        found = tuple(self)[index] if isinstance(index, slice) else tuple.__getitem__(self, index)
        return to_path(found) if index in (4, 4 - len(self)) else found

    def __iter__(self) -> Any:
        for index, value in enumerate(tuple.__iter__(self)):
            yield to_path(value) if index == 4 else value


Info.__name__ = Info.__qualname__ = GraphQLResolveInfo.__name__
