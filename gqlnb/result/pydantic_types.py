"""The parts of pydantic classes that `gqlnb codegen --pydantic` writes, imported by its modules.

Modules that were written before import them from here, too: their names and arguments stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from pydantic import BaseModel
from pydantic_core import core_schema

from gqlnb.result.model_classes import SHARED_TAG, TYPENAME
from gqlnb.result.models import convert_scalar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

__all__ = ["ByTypename", "InputModel", "JSONScalar"]

JSON_TYPES = (str, int, float, Decimal, list, dict)


class InputModel(BaseModel, frozen=True):
    """The base of input objects; fields that are not given are not sent."""

    omits_unset: ClassVar[bool] = True  # read by gqlnb.document.input_records


@dataclass(frozen=True, slots=True)
class JSONScalar:
    """The conversion of a scalar's JSON values, as that of frames and other models.

    Parameters
    ----------
    name
        The name of the scalar.
    like
        The known scalar with such values; "" for that of the name.
    """

    name: str
    like: str = ""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        def convert(value: object) -> object:
            # Values of Python, given to the class, are left to pydantic.
            if not isinstance(value, JSON_TYPES):
                return value
            return convert_scalar(value, self.name, self.like, source)

        return core_schema.no_info_before_validator_function(convert, handler(source))


class ByTypename:
    """The choice of a class of a union, by ``__typename``; one may be for all other types."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        choices: dict[Any, core_schema.CoreSchema] = {}
        tags: dict[object, str] = {}
        other, keys = None, [TYPENAME]  # and the attributes for it
        for model in get_args(source):
            # The asterisk tells it from the keys in the path of an error.
            tag = f"{SHARED_TAG}{model.__name__}"
            choices[tag], tags[model] = handler(model), tag
            fields = model.model_fields.items()
            (key,) = (name for name, it in fields if it.validation_alias == TYPENAME)
            keys.append(key)
            names = get_args(model.model_fields[key].annotation)  # of a Literal, or of str
            tags |= dict.fromkeys(names, tag)
            other = other if names else tag

        def choose(value: object) -> str | None:
            if isinstance(value, Mapping):
                value = next((value[key] for key in keys if key in value), None)
                return tags.get(value, other) if isinstance(value, str) else None
            return tags.get(type(value))

        return core_schema.tagged_union_schema(
            choices,
            choose,
            custom_error_type="typename",
            custom_error_message=f"Expected an object with a {TYPENAME} of the schema",
        )
