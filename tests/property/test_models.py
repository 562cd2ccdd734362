"""Model classes hold exactly what an answer holds, for any schema and any document.

Each case is made from a number: `MODEL_SEED=123` for one case, `MODEL_CASES=20000` for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from graphql import GraphQLError

from gqlnb import QueryError, Result, Schema, SchemaError, github
from gqlnb.engine.schema import get_adapter
from gqlnb.result.models import TYPENAME, TYPENAME_KEY, add_typenames
from tests.examples import make_blocks
from tests.property.differential import schemas
from tests.property.differential.chance import Chance
from tests.property.differential.requests import DOCUMENTS, make_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.document.document import Document

PARSERS: dict[type, Callable[[Any], Any]] = {  # of JSON values, by the type of their models
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    time: time.fromisoformat,
    Decimal: lambda value: Decimal(str(value)),
    timedelta: lambda text: msgspec.convert(text, timedelta),
    str: str,  # of an ID
    int: int,  # of a BigInt
}


@lru_cache(maxsize=4)
def mock(number: int) -> tuple[Schema, Any] | None:
    """Return a mock and what documents are made from: of GitHub's schema, or of a random one."""
    made = schemas.made(number, False)
    try:
        if number % 2:
            service = github.schema().graphql
            return Schema.mock(service, seed=number, nulls=0.2), made._replace(schema=service)
        return Schema.mock(made.schema, seed=number, nulls=0.2), made
    except SchemaError:  # it can't be written as SDL
        return None


def make_case(number: int) -> tuple[Schema, Document, dict[str, Any]] | None:
    """Return a mock, a document and variables that fit it; None where one of them is wrong."""
    found = mock(number // DOCUMENTS)
    if found is None:
        return None
    schema, made = found
    request = make_request(schema, made, Chance("models", number))
    return request and (schema, *request)


def compare(model: Any, data: Any, place: str = "") -> None:
    """Compare a model with JSON data: all of it is there, and absent fields are None."""
    if isinstance(model, msgspec.Struct):
        assert isinstance(data, Mapping), place
        kind = type(model)
        fields = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
        for key, value in data.items():
            if key == TYPENAME and key not in fields:
                if tag := kind.__struct_config__.tag:
                    assert value == getattr(model, fields.get(TYPENAME_KEY, "typename__"))
                    assert tag == value or str(tag).startswith("*")
                continue
            compare(getattr(model, fields[key]), value, f"{place}.{key}")
        for key in fields.keys() - data.keys() - {TYPENAME_KEY}:
            assert getattr(model, fields[key]) is None, f"{place}.{key}"
    elif isinstance(data, list):
        assert isinstance(model, list)
        assert len(model) == len(data), place
        for index, (one, other) in enumerate(zip(model, data, strict=True)):
            compare(one, other, f"{place}[{index}]")
    else:
        parse = PARSERS.get(type(model), lambda value: value)
        assert model == parse(data), place
        assert isinstance(model, bool) == isinstance(data, bool), place


@pytest.mark.parametrize("block", make_blocks("MODEL", 400, 100), ids=lambda block: str(block[0]))
def test_models_hold_all_values_of_the_answer(block):
    """Also where `__typename` is added to the text, as `Client.models()` does."""
    compared = 0
    for number in block:
        case = make_case(number)
        if case is None:
            continue
        schema, document, given = case
        adapter = get_adapter(schema)
        try:
            result = adapter.execute_document(document, given)
        except (QueryError, GraphQLError):
            continue
        assert isinstance(result, Result)
        if result.data is None or result.errors:
            continue
        try:
            compare(result.models(), result.data)
            typed = schema.parse_document(add_typenames(document), document.name)
            found = adapter.execute_document(typed, given)
            assert isinstance(found, Result)
            compare(found.models(), found.data)
        except Exception as error:
            error.add_note(f"MODEL_SEED={number}\n{document.text}\n{given}\n{result.data}")
            raise
        compared += 1
    assert compared >= len(block) // 2, compared
