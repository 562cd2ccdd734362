"""The kinds of Python types, which decide how compiled code reads the fields of a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from marshal import dumps
from types import CoroutineType, FunctionType, GeneratorType, GetSetDescriptorType
from typing import Any

from graphql import GraphQLField, Undefined

from gqlnb.engine.graphql_compat import Value

FIELD_KEY = "strawberry-definition"  # in the extensions of graphql-core's field
BASIC_RESOLVER = ("strawberry.schema.schema_converter", "_get_basic_result")


def find_attribute_field(definition: GraphQLField) -> Any | None:  # noqa: ANN401 - not imported
    """Return the Strawberry field of a definition if its resolver only reads an attribute.

    Its name is the ``python_name``. It does so while ``default_resolver`` is ``getattr``.
    """
    resolve = definition.resolve
    found = definition.extensions.get(FIELD_KEY)
    named = getattr(resolve, "__module__", None), getattr(resolve, "__name__", None)
    if found is None or named != BASIC_RESOLVER:
        return None
    own = type(found).get_result.__module__.startswith("strawberry.")  # subclasses may override it
    return found if own and found.is_basic_field and found.default_resolver is getattr else None


def find_user_function(definition: GraphQLField) -> Callable[..., Any] | None:
    """Return the function behind the resolver of a Strawberry field."""
    resolver = getattr(definition.extensions.get(FIELD_KEY), "base_resolver", None)
    return getattr(resolver, "wrapped_func", None)


MAX_TYPES = 1000  # Python types remembered; a program has few whose values it serves

# A dict; another object, whose attributes are its fields; a mapping with its own `get`; one whose
# `get` only reads an item, as that of dict and of Mapping; objects and mappings with a __getattr__,
# which may answer for __await__ too; and values left to graphql-core: null, exceptions, awaitables,
# callables, and types with their own __getattribute__ or __class__.
UNUSUAL, DICT, OBJECT, MAPPING, ITEM_MAPPING, COMPUTED_OBJECT, COMPUTED_MAPPING = range(7)
FIRST_COMPUTED = COMPUTED_OBJECT
# By kind: the one whose compiled functions read its values.
VARIANTS = (OBJECT, DICT, OBJECT, MAPPING, ITEM_MAPPING, COMPUTED_OBJECT, MAPPING)
NO_ATTRIBUTES: dict[str, Value] = {}
NEVER_OBJECTS = (BaseException, CoroutineType, GeneratorType, type, type(None), type(Undefined))


class TypeKinds(dict[type, int]):
    """The kinds of Python types; a type is classified when it is first looked up."""

    def __missing__(self, cls: type) -> int:
        if len(self) > MAX_TYPES:
            self.clear()
        kind = self[cls] = classify_type(cls)
        return kind


def classify_type(cls: Value) -> int:
    """Return the kind of a Python type."""
    if cls is dict:
        return DICT
    # Not hasattr: every class has __call__, through its metaclass.
    members = {name for base in cls.__mro__ if base is not object for name in vars(base)}
    reads: object = cls.__getattribute__
    # Methods in C, such as SimpleNamespace's, look attributes up like object's own.
    overridden = type(reads).__name__ != "wrapper_descriptor" or "__class__" in members
    if overridden or issubclass(cls, NEVER_OBJECTS) or members & {"__call__", "__await__"}:
        return UNUSUAL
    kind = MAPPING if issubclass(cls, Mapping) else OBJECT
    computed = "__getattr__" in members and not is_closed_model(cls)
    if computed and kind == OBJECT:
        return COMPUTED_OBJECT
    if computed and not is_sqlalchemy_row(cls):
        return COMPUTED_MAPPING
    if kind == MAPPING:
        reads_items = cls.get is Mapping.get
        if issubclass(cls, dict) and "__missing__" not in members:
            reads_items = cls.get is dict.get and cls.__getitem__ is dict.__getitem__
        return ITEM_MAPPING if reads_items else MAPPING
    return kind


def is_closed_model(cls: Value) -> bool:
    """Return whether a type is a pydantic model without extra attributes."""
    # Its `__getattr__` finds private and extra attributes only, never `__await__`; asking each
    # object would take ten times as long as reading its fields.
    if getattr(cls.__getattr__, "__module__", None) != "pydantic.main":
        return False
    return getattr(cls, "model_config", {}).get("extra") != "allow"


def is_sqlalchemy_row(cls: Value) -> bool:
    """Return whether a type is SQLAlchemy's row or mapping, whose `__getattr__` finds columns."""
    owner = next(base for base in cls.__mro__ if "__getattr__" in vars(base))
    return bool(owner.__name__ == "BaseRow" and owner.__module__.startswith("sqlalchemy."))


def copy_small_ints(values: Sequence[object]) -> list[object] | None:
    """Return a list of the values if each is an ``int`` of at most 32 bits; else None."""
    # A third of the time of a loop. In version 2 of the format a list is `[` and four bytes of its
    # length, then each such integer is `i` and four bytes, and no other value begins with `i`.
    copied = list(values)
    try:
        written = dumps(copied, 2)
    except ValueError:  # a value that has no such form
        return None
    return copied if written[5::5] == b"i" * len(copied) else None


# Python 3.11 takes eight times as long for an attribute that `__getattr__` computes as for a call
# of `__getattr__`: it first raises, formats and drops an AttributeError of its own.
def find_attribute_function(cls: Value, names: frozenset[str]) -> Callable[..., Value] | None:
    """Return the ``__getattr__`` of a class if only it and the instance have such attributes.

    For rows of SQLAlchemy, which never are awaitable, it is another function if the class has some.
    """
    members: dict[str, Value] = {}
    for base in reversed(cls.__mro__):
        members |= vars(base)
    function = members["__getattr__"]
    if is_sqlalchemy_row(cls):
        return function if names.isdisjoint(members) else getattr
    usual = (
        type(function) is FunctionType
        and type(members.get("__dict__")) is GetSetDescriptorType
        and cls.__getattribute__ is object.__getattribute__
    )
    return function if usual and names.isdisjoint(members) else None


def read_own_attributes(value: Value, function: Callable[..., Value]) -> dict[str, Value] | None:
    """Return the attributes of an instance itself; None if it may be awaitable."""
    if type(function) is not FunctionType:  # SQLAlchemy's
        return NO_ATTRIBUTES
    members = value.__dict__
    if type(members) is dict and "__await__" not in members:
        try:
            function(value, "__await__")
        except AttributeError:
            return members
    return None
