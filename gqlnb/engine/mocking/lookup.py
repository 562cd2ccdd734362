"""Objects that arguments name: by an id, by their fields, or by what a mutation is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import get_nullable_type, is_leaf_type
from graphql.type import is_input_object_type

from gqlnb.engine.mocking.chance import number
from gqlnb.engine.mocking.objects import IDENTITIES, Item

if TYPE_CHECKING:
    from graphql import GraphQLField

    from gqlnb.engine.mocking.objects import Kind, Said

__all__ = ["echoed", "identified", "inputs", "looked_up", "typed"]


def identified(kinds: Sequence[Kind], name: str, given: Any) -> Item | None:
    """Return the object with an id, of the type that the id names, if it names one.

    Parameters
    ----------
    kinds
        The types it may be of.
    name
        The argument that holds the id.
    given
        The id.

    Returns
    -------
    Item or None
        None where the argument does not tell objects apart.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    start = str(given).partition(":")[0]
    chosen = [kind for kind in kinds if kind.name == start]
    kind = chosen[0] if chosen else kinds[number(given) % len(kinds)]
    if kind.identity is None or name not in {"id", kind.identity, own_id(kind)}:
        return None
    return kind.with_id(given)


def typed(kinds: Sequence[Kind], args: Mapping[str, Any]) -> Kind | None:
    """Return the type that an argument asks for, as ``type: REPOSITORY``; None if none does."""
    said = args.get("type", args.get("kind"))
    if not isinstance(said, str) or len(kinds) < 2:
        return None
    wanted = said.lower().replace("_", "")
    return next((kind for kind in kinds if kind.name.lower() == wanted), None)


def own_id(kind: Kind) -> str:
    """Return what an id of a type is called elsewhere, ``userId`` for a ``User``."""
    return f"{kind.name[:1].lower()}{kind.name[1:]}Id"


def looked_up(
    kinds: Sequence[Kind], given: Mapping[str, Any], value: int, base: int
) -> Item | None:
    """Return the object that the arguments of a field name; None if they name none.

    Parameters
    ----------
    kinds
        The types it may be of.
    given
        The arguments that choose.
    value
        Decides the type, where nothing else does.
    base
        Tells apart what is looked up in different places; 0 for the root.
    """
    found = _by_id(kinds, given)
    if found is not None:
        return found
    kind = kinds[value % len(kinds)]
    return kind.with_fields(dict(given), base) if kind.held(given) else None


def _by_id(kinds: Sequence[Kind], given: Mapping[str, Any]) -> Item | None:
    """Return the object that is given by an id; None if none is."""
    for name in (*IDENTITIES, *(own_id(kind) for kind in kinds)):
        if name in given:
            found = identified(kinds, name, given[name])
            if found is not None:
                return found
    return None


def inputs(definition: GraphQLField, args: Mapping[str, Any]) -> Said:
    """Return what a mutation was given, the members of its input objects beside the rest."""
    said: dict[str, tuple[Any, Any]] = {}
    for name, value in args.items():
        argument = definition.args.get(name)
        if argument is not None and value is not None:
            said[name] = (value, argument.type)
    for value, type_ in list(said.values()):
        said.update(members(value, type_))
    return said


def members(value: Any, type_: Any) -> dict[str, tuple[Any, Any]]:
    """Return the members of an input object with their types; none of another value."""
    kind: Any = get_nullable_type(type_)
    if not is_input_object_type(kind) or not isinstance(value, Mapping):
        return {}
    return {
        name: (each, kind.fields[name].type)
        for name, each in value.items()
        if name in kind.fields and each is not None
    }


def echoed(kinds: Sequence[Kind], name: str, said: Said, value: int) -> Item:
    """Return an object that repeats the input of a mutation.

    Parameters
    ----------
    kinds
        The types it may be of.
    name
        The field that holds it, in what the mutation returns or as that itself.
    said
        The input.
    value
        Decides the type, where the input does not name an object.
    """
    if name in said:
        said = {**said, **members(*said[name])}
    found = _by_id(kinds, {each: given for each, (given, _) in said.items()})
    kind = kinds[value % len(kinds)] if found is None else found.kind
    fields = {each: said[each][0] for each in said if _fits(kind, each, *said[each])}
    if kind.identity is not None:
        fields.pop(kind.identity, None)
    if found is None:
        plain = kind.held(fields)
        made = kind.numbered(value, 0)
        found = kind.with_fields(plain, 0) if plain and kind.identity is not None else made
    found.known = {**(found.known or {}), **fields}
    found.said = said if kind.identity is None else None
    return found


def _fits(kind: Kind, name: str, value: Any, type_: Any) -> bool:
    """Tell whether a value that was given can be that of a field."""
    field = kind.type.fields.get(name)
    if field is None or str(field.type).replace("!", "") != str(type_).replace("!", ""):
        return False
    inner: Any = field.type
    while hasattr(inner, "of_type"):
        inner = inner.of_type
    return is_leaf_type(inner) and not (isinstance(value, list) and holds_null(value))


def holds_null(values: Any) -> bool:
    """Tell whether a null stands somewhere in a list."""
    return values is None or (isinstance(values, list) and any(map(holds_null, values)))
