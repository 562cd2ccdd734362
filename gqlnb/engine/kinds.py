"""What a Python type is to a selection set, found once per type."""

from __future__ import annotations

from collections.abc import Mapping
from types import CoroutineType, GeneratorType
from typing import Any

from graphql import Undefined

__all__ = ["HELD", "OBJECT", "UNUSUAL", "is_mapping", "kind_of", "kinds", "mappings"]

HELD = 1000  # Python types remembered; a program has few whose values it serves

# A dict; another object whose attributes are its fields; what graphql-core must look at: null,
# exceptions, awaitables, callables, other mappings, and objects that make up their attributes.
DICT, OBJECT, UNUSUAL = 1, 2, 3
NEVER = (BaseException, Mapping, CoroutineType, GeneratorType, type, type(None), type(Undefined))

kinds: dict[type, int] = {dict: DICT}
mappings: dict[type, bool] = {dict: True}


def kind_of(cls: type) -> int:
    """Tell how values of a Python type are completed as objects, and remember it in `kinds`."""
    if len(kinds) > HELD:
        kinds.clear()
        kinds[dict] = DICT
    kinds[cls] = UNUSUAL if issubclass(cls, NEVER) or is_special(cls) else OBJECT
    return kinds[cls]


def is_special(cls: type) -> bool:
    """Tell whether values of a type can be called or awaited, or make up attributes."""
    # Not hasattr: every class has __call__, through its metaclass.
    members = {name for base in cls.__mro__ for name in vars(base)}
    reads: Any = cls.__getattribute__
    made_up = reads is not object.__getattribute__ and not is_slot(reads)
    return made_up or bool(members & {"__getattr__", "__call__", "__await__"})


def is_slot(function: Any) -> bool:
    """Tell whether a method is written in C, as SimpleNamespace's look-up of attributes is."""
    return type(function).__name__ == "wrapper_descriptor"


def is_mapping(cls: type) -> bool:
    """Tell whether the fields of a source are its keys, and remember it in `mappings`."""
    if len(mappings) > HELD:
        mappings.clear()
    mappings[cls] = issubclass(cls, Mapping)
    return mappings[cls]
