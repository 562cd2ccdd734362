"""Results as models of pydantic, of modules that `gqlnb codegen --pydantic` writes."""

from __future__ import annotations

import datetime
import sys
import warnings
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
import pydantic
import pytest

import gqlnb
from gqlnb import AnswerError, Client, Result, Schema
from gqlnb.client.operation_module import write_module
from gqlnb.document.document import Document
from tests.result.test_models import SCHEMA, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Load = Callable[..., Any]

UNION = "{ nodes { __typename id ... on Named { name } ... on Book { due } } }"
NODES: list[Any] = [
    {"__typename": "Book", "id": "1", "name": "a", "due": "2024-02-29T12:00:00Z"},
    {"__typename": "Shop", "id": "2", "name": "c"},
    {"__typename": "Hint", "id": "4"},
    {"__typename": "Comet", "id": "5"},
    None,
]


@pytest.fixture
def load() -> Iterator[Load]:
    """Return a function that loads the module of an operation and returns its class."""

    def load_class(text: str, schema: Schema = SCHEMA) -> Any:
        source = write_module({"file": text}, schema.graphql, {}, pydantic=True)
        module = ModuleType("written_for_pydantic")
        sys.modules[module.__name__] = module
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # pydantic warns of names that are its own
            exec(compile(source, module.__name__, "exec", dont_inherit=True), vars(module))
        return module.Query

    yield load_class
    sys.modules.pop("written_for_pydantic", None)


def test_a_union_is_chosen_by_typename(load: Load) -> None:
    """Types without a fragment share a class, also those that the schema does not have yet."""
    model = load(UNION)
    found = answer(UNION, {"nodes": NODES}).models(model).nodes
    assert [type(it).__name__.removeprefix("QueryNodes") for it in found] == (
        ["Book", "Named", "Other", "Other", "NoneType"]
    )
    assert [it.typename__ for it in found[:4]] == ["Book", "Shop", "Hint", "Comet"]
    assert found[0].due == datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        found[0].name = "b"


def test_the_data_come_back(load: Load) -> None:
    """From `model_dump` and its JSON; the classes validate both without a client."""
    model = load(UNION)
    found = answer(UNION, {"nodes": NODES}).models(model)
    assert found.model_dump(mode="json", by_alias=True, exclude_unset=True) == {"nodes": NODES}
    text = found.model_dump_json(by_alias=True)
    assert model.model_validate_json(text) == found
    assert model.model_validate(found.model_dump()) == found
    variants = model.model_json_schema(by_alias=True)["$defs"]
    assert variants["QueryNodesBook"]["properties"]["__typename"]["const"] == "Book"
    assert variants["QueryNodesNamed"]["properties"]["__typename"]["enum"] == ["Author", "Shop"]


@pytest.mark.parametrize(
    ("field", "sent", "value"),
    [
        ("id", 7, "7"),
        ("due", "2024-02-29T12:00:00", datetime.datetime(2024, 2, 29, 12)),
        ("day", "2024-02-29", datetime.date(2024, 2, 29)),
        ("at", "12:30", datetime.time(12, 30)),
        ("price", "1.10", Decimal("1.10")),
        ("price", 1, Decimal(1)),
        ("size", "123456789012345678901", 123456789012345678901),
        ("long", "PT90S", datetime.timedelta(seconds=90)),
        ("json", {"a": [1]}, {"a": [1]}),
        ("tags", [["a", None], []], [["a", None], []]),
    ],
)
def test_a_scalar_has_the_value_of_the_other_classes(
    load: Load, field: str, sent: object, value: object
) -> None:
    """Equal, and of the same type."""
    text = f"{{ book {{ it: {field} }} }}"
    result = answer(text, {"book": {"it": sent}})
    found = result.models(load(text)).book.it
    assert found == value == result.models().book.it
    assert type(found) is type(value)


def test_decimals_are_exact(load: Load) -> None:
    """A JSON number with more digits than a float has."""
    text = "{ book { next { price } } }"
    body = b'{"data": {"book": {"next": {"price": 0.1234567890123456789}}}}'
    result = Result.from_bytes(body, Document.parse(text, SCHEMA.graphql), variables={})
    assert result.models(load(text)).book.next.price == Decimal("0.1234567890123456789")


def test_a_registered_scalar_is_parsed(load: Load) -> None:
    """Also one that was registered after the module was written."""
    text = "{ book { cost } }"
    model, result = load(text), answer(text, {"book": {"cost": "3"}})
    gqlnb.scalar("Cost", parse=lambda text: int(text) * 100)
    try:
        assert result.models(model).book.cost == 300
    finally:
        gqlnb.scalar("Cost")
    assert result.models(model).book.cost == "3"


@pytest.mark.parametrize(
    ("text", "data", "message"),
    [
        ("{ book { id } }", {"book": None}, "should be a valid dictionary .* at book\\."),
        ("{ book { name } }", {"book": {"name": 1}}, "should be a valid string at book.name"),
        ("{ book { field } }", {"book": {"field": True}}, "a valid integer at book.field"),
        ("{ book { color } }", {"book": {"color": "BLUE"}}, "'RED' or 'GREEN' at book.color"),
        ("{ book { tags } }", {"book": {"tags": [["a"], None]}}, r"list at book.tags\[1\]"),
        (
            "{ nodes { __typename ... on Book { Book: due } } }",
            {"nodes": [None, {"__typename": "Book", "Book": "soon"}]},
            r"the value at nodes\[1\].Book is 'soon', which is not a DateTime \(it is not a time",
        ),
        (
            "{ found { __typename ... on Book { name } ... on Author { id } ... on Shop { id } } }",
            {"found": [{"__typename": ["Book"], "name": "a"}]},
            r"Expected an object with a __typename of the schema at found\[0\]",
        ),
    ],
)
def test_a_wrong_value_is_an_error_with_its_path(
    load: Load, text: str, data: Any, message: str
) -> None:
    """No text becomes a number, and the classes of a union are not in the path."""
    with pytest.raises(AnswerError, match=message):
        Result(data, document=Document.parse(text, SCHEMA.graphql)).models(load(text))


def test_names_of_pydantic_get_an_underscore(load: Load) -> None:
    """Its methods, and private names; those that begin with `model_` stay."""
    schema = Schema("type Query { model_id: Int, model_fields: Int, copy: Int, _: Int, _id: Int }")
    text = "{ model_id model_fields copy _ _id Field: _ class: _ model_dump_x: _ }"
    keys = ["model_id", "model_fields", "copy", "_", "_id", "Field", "class", "model_dump_x"]
    data = {key: number for number, key in enumerate(keys)}
    result = Result(data, document=Document.parse(text, schema.graphql))
    found = result.models(load(text, schema))
    assert list(found.model_dump().values()) == list(range(8))
    assert found.model_dump(by_alias=True) == data
    assert (found.model_id, found.model_fields_, found.copy_, found.id_) == (0, 1, 2, 4)


def test_fields_of_an_input_object_that_are_not_given_are_not_sent(load: Load) -> None:
    """With and without the schema; null is sent where None is given."""
    schema = Schema(
        "type Query { f(in: In): String } input In { from: Int! = 3, at: DateTime, to: [In!] } "
        "scalar DateTime",
        {"Query": {"f": lambda _, args, __: repr(args["in"])}},
    )
    text = "query ($in: In) { f(in: $in) }"
    load(text, schema)
    kind: Any = sys.modules["written_for_pydantic"].In  # type: ignore[attr-defined]
    inner = kind(from_=5, at=datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC))
    given = {"in": kind(to=[inner, kind(at=None)])}
    expected = (
        "{'from': 3, 'to': [{'from': 5, 'at': '2024-02-29T00:00:00Z'}, {'from': 3, 'at': None}]}"
    )
    assert Client(schema).execute(text, given)["f"].replace("+00:00", "Z") == expected
    assert kind.model_validate_json('{"to": [{"from": 5, "at": "2024-02-29T00:00:00Z"}]}').to == [
        inner
    ]


def test_classes_of_the_user_are_accepted() -> None:
    """By pydantic's own rules."""

    class Book(pydantic.BaseModel):
        name: str

    class Answer(pydantic.BaseModel):
        book: Book
        at: datetime.date | None = None

    result = answer("{ book { name id } }", {"book": {"name": "a", "id": 1}})
    assert result.models(Answer) == Answer(book=Book(name="a"))
    with pytest.raises(AnswerError, match=r"Answer: Field required at book.name\."):
        answer("{ book { id } }", {"book": {"id": 1}}).models(Answer)


def test_models_are_equal_to_those_of_msgspec(load: Load) -> None:
    """Where both have all fields."""
    text = "{ book { name class: id next { _id } } }"
    data = {"book": {"name": "a", "class": "b", "next": {"_id": 1}}}
    result = answer(text, data)
    found = result.models(load(text)).model_dump(by_alias=True)
    assert found == msgspec.to_builtins(result.models()) == data
