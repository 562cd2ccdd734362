"""Model classes of pydantic as Python source: the second style of generated modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from gqlnb.result.model_classes import TYPENAME, ModelClass, ModelField

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["PydanticClass"]

IMPORTS = """\
import datetime
import decimal
from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, Field

from gqlnb.result.pydantic_types import ByTypename, InputModel, JSONScalar
"""
# The members of pydantic.BaseModel: listed, since modules are written without pydantic, and all of
# its versions are to give the same.
MODEL_MEMBERS = frozenset(
    {"construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw"}
    | {"schema", "schema_json", "update_forward_refs", "validate"}
    | {"model_computed_fields", "model_config", "model_construct", "model_copy", "model_dump"}
    | {"model_dump_json", "model_extra", "model_fields", "model_fields_set", "model_json_schema"}
    | {"model_parametrized_name", "model_post_init", "model_rebuild", "model_validate"}
    | {"model_validate_json", "model_validate_strings"}
)


class PydanticClass(ModelClass):
    """A model class: a BaseModel of pydantic.

    It is strict, since JSON has the types of GraphQL: a number in the place of text is an error.
    """

    imports: ClassVar[str] = IMPORTS
    reserved: ClassVar[frozenset[str]] = frozenset(
        {"BaseModel", "ByTypename", "Field", "InputModel", "JSONScalar"}
    )
    members: ClassVar[frozenset[str]] = MODEL_MEMBERS
    private: ClassVar[str] = "_"
    absent: ClassVar[tuple[str, str]] = "None", "None"

    def format_bases(self, attributes: Mapping[str, str]) -> str:
        """Return the base class and the options of the class."""
        options = "InputModel" if self.is_input else "BaseModel"
        options += ", frozen=True, strict=True"
        keys = {each.key for each in self.fields} | ({TYPENAME} if self.tag else set())
        if any(attributes[key] != key for key in keys):
            options += ", populate_by_name=True"
        if any(attributes[key].startswith("model_") for key in keys):
            options += ", protected_namespaces=()"
        return options

    def format_typename(self, attribute: str) -> str:
        """Return the line of the attribute for the type of an object, of a class with a tag."""
        # With a default, as other places of the class may have no `__typename`.
        default = "" if self.is_shared else repr(self.tag)
        return self.format_field(attribute, ModelField(TYPENAME, self.typename_annotation, default))

    @staticmethod
    def format_alias(before: str, key: str) -> str:
        """Return the default of a field with another name than in the response."""
        # Not `alias`, which type checkers take for the name of the parameter.
        return f"Field({before}validation_alias={key!r}, serialization_alias={key!r})"

    @staticmethod
    def format_scalar(python_type: str, name: str, like: str) -> str:
        """Return the annotation of a scalar with conversions; `like` is "" for its own name."""
        return f"Annotated[{python_type}, JSONScalar({name!r}{f', {like!r}' if like else ''})]"

    @staticmethod
    def format_union(variants: Iterable[str]) -> str:
        """Return the annotation of a union of classes with tags."""
        return f"Annotated[{' | '.join(variants)}, ByTypename()]"
