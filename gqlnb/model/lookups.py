"""Root fields that return an object again by its key.

A list below the items of another list is continued by asking for its parent again: by the
``node(id:)`` of Relay's "GraphQL Global Object Identification Specification", by PostGraphile's
``node(nodeId:)``, or by a root field that takes the parent's key, such as ``user(id:)``,
``users_by_pk(id:)`` or ``membershipByUserIdAndTeamId(userId:, teamId:)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_required_argument,
)

if TYPE_CHECKING:
    from graphql import GraphQLSchema

__all__ = ["GUESSED_LOOKUP", "IDENTIFIERS", "Key", "Lookup", "find_identifier", "find_lookup"]

# Fields that identify an object, in the order in which they are preferred.
IDENTIFIERS = ("id", "nodeId", "_id", "rowId", "uuid", "guid", "pk")
MAX_KEYS = 4  # arguments of a composite key


@dataclass(frozen=True, slots=True)
class Key:
    """An argument of a lookup, its type as a variable, and the field that has its value."""

    argument: str
    type: str
    field: str

    def convert(self, value: Any) -> Any:
        """Return a field's value as the argument takes it: an ID may have to be sent as an Int."""
        if self.type == "Int!" and isinstance(value, str) and value.lstrip("-").isdigit():
            return int(value)
        return str(value) if self.type == "String!" and isinstance(value, int) else value


@dataclass(frozen=True, slots=True)
class Lookup:
    """A root field that returns an object by its key.

    Attributes
    ----------
    field
        The root field.
    keys
        Its arguments.
    fragment
        Whether the selections must stand in a fragment on the object's type.
    checked
        Whether the key of the returned object is compared with the one asked for: the meaning of
        an argument is known by its name alone.
    """

    field: str
    keys: tuple[Key, ...]
    fragment: bool
    checked: bool


# Without a schema an object with an `id` is taken to be a node.
GUESSED_LOOKUP = Lookup("node", (Key("id", "ID!", "id"),), fragment=True, checked=False)


def find_identifier(kind: Any) -> str | None:
    """Return the name of the field that identifies the objects of a type; None if none does."""
    fields = getattr(kind, "fields", {})
    for name in IDENTIFIERS:
        if name in fields and _is_plain_leaf(fields[name]):
            return name
    return None


def find_lookup(schema: GraphQLSchema, kind: Any) -> Lookup | None:
    """Return the best way to ask for objects of a type again; None if there is none."""
    root = schema.query_type
    if root is None or not hasattr(kind, "fields"):
        return None
    found = [
        lookup
        for name, declared in root.fields.items()
        if (lookup := _lookup_of(schema, name, declared, kind)) is not None
    ]
    return min(found, key=_rank, default=None)


def _rank(lookup: Lookup) -> tuple[Any, ...]:
    """Return the order of lookups: `node` first, then those by an identifier, then the shortest."""
    order = {name: number for number, name in enumerate(IDENTIFIERS)}
    keys = [order.get(each.field, len(order)) for each in lookup.keys]
    return lookup.checked, len(keys), keys, len(lookup.field), lookup.field


def _lookup_of(schema: GraphQLSchema, name: str, declared: Any, kind: Any) -> Lookup | None:
    """Return a root field as a lookup of objects of a type; None if it is none."""
    returned = get_named_type(declared.type)
    if not is_composite_type(returned) or is_list_type(get_nullable_type(declared.type)):
        return None
    required = [n for n, argument in declared.args.items() if is_required_argument(argument)]
    if returned is kind:
        names = required or [n for n in IDENTIFIERS if n in declared.args][:1]
        keys = [_key_of(n, declared.args[n], kind) for n in names[: MAX_KEYS + 1]]
        known = tuple(key for key in keys if key is not None)
        whole = 0 < len(known) == len(names) <= MAX_KEYS
        return Lookup(name, known, fragment=False, checked=True) if whole else None
    is_node = name == "node" and is_abstract_type(returned) and len(required) == 1
    if not is_node or not _possible(schema, kind) <= _possible(schema, returned):
        return None
    if required[0] not in getattr(returned, "fields", {}):
        return None
    key = Key(required[0], str(declared.args[required[0]].type), required[0])
    return Lookup(name, (key,), fragment=True, checked=False)


def _key_of(name: str, argument: Any, kind: Any) -> Key | None:
    """Return an argument as a key, if the objects have a field of its name and type."""
    named = get_named_type(argument.type)
    if is_input_object_type(named) or is_list_type(get_nullable_type(argument.type)):
        return None
    type_ = f"{str(argument.type).rstrip('!')}!"  # a key is never null
    for field in _names_for(name, kind):
        declared = kind.fields.get(field)
        if declared is not None and _is_plain_leaf(declared):
            same = get_named_type(declared.type) is named
            if same or {named.name, get_named_type(declared.type).name} <= {"ID", "String", "Int"}:
                return Key(name, type_, field)
    return None


def _names_for(name: str, kind: Any) -> Iterator[str]:
    """Yield the field names that an argument may mean: `id` also for `userId` of a `User`."""
    yield name
    own = kind.name[:1].lower() + kind.name[1:]
    if name.lower() in {f"{own}id".lower(), f"{own}_id".lower()}:
        yield "id"


def _is_plain_leaf(declared: Any) -> bool:
    """Return whether a field is a leaf, no list, and can be selected without arguments."""
    plain = is_leaf_type(get_named_type(declared.type))
    listed = is_list_type(get_nullable_type(declared.type))
    return plain and not listed and not any(map(is_required_argument, declared.args.values()))


def _possible(schema: GraphQLSchema, kind: Any) -> set[Any]:
    return {kind} if is_object_type(kind) else set(schema.get_possible_types(kind))
