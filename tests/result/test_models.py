"""Results as objects of model classes."""

from __future__ import annotations

import datetime
import pickle
import warnings
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import msgspec
import pydantic
import pytest

import gqlnb
from gqlnb import AnswerError, Client, PartialError, Result, Schema, SchemaError
from gqlnb.document.document import Document
from gqlnb.result.models import has_decimals
from gqlnb.result.result import attach_schema_loader

SDL = """
scalar DateTime
scalar Date
scalar Time
scalar Decimal
scalar BigInt
scalar Duration
scalar JSON
scalar Cost
scalar Instant @specifiedBy(url: "https://www.rfc-editor.org/rfc/rfc3339")
enum Color { RED GREEN }
interface Node { id: ID! }
interface Named { name: String! }
type Book implements Node & Named {
  id: ID! name: String! color: Color due: DateTime day: Date at: Time price: Decimal size: BigInt
  long: Duration json: JSON cost: Cost seen: Instant tags: [[String]!] next: Book
  class: String, _id: Int, str: String, field: Int
}
type Author implements Node & Named { id: ID! name: String! books: [Book!]! }
type Shop implements Node & Named { id: ID! name: String! city: String }
type Note implements Node { id: ID! }
type Hint implements Node { id: ID! }
union Found = Book | Author | Shop
type Query { book: Book! node: Node nodes: [Node] found: [Found!]! }
"""
SCHEMA = Schema(SDL)


def answer(text: str, data: Any, **variables: Any) -> Result:
    """Return a result as it came from an endpoint."""
    document = Document.parse(text, SCHEMA.graphql)
    body = msgspec.json.encode({"data": data})
    return Result.from_bytes(body, document, variables=variables)


def read(text: str, data: Any, **variables: Any) -> Any:
    """Return the models of a result."""
    return answer(text, data, **variables).models()


@pytest.mark.parametrize(
    ("field", "sent", "value"),
    [
        ("id", 7, "7"),
        ("color", "RED", "RED"),
        ("due", "2024-02-29T12:00:00Z", datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)),
        ("due", "2024-02-29T12:00:00", datetime.datetime(2024, 2, 29, 12)),
        ("seen", "2024-02-29T12:00:00Z", datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)),
        ("day", "2024-02-29", datetime.date(2024, 2, 29)),
        ("at", "12:30", datetime.time(12, 30)),
        ("price", "1.10", Decimal("1.10")),
        ("size", "123456789012345678901", 123456789012345678901),
        ("long", "PT90S", datetime.timedelta(seconds=90)),
        ("json", {"a": [1]}, {"a": [1]}),
        ("cost", "3 EUR", "3 EUR"),
        ("tags", [["a", None], []], [["a", None], []]),
        ("next", None, None),
    ],
)
def test_a_scalar_has_its_python_type(field, sent, value):
    """The types of frames, without pandas."""
    below = " { id }" if field == "next" else ""
    found = getattr(read(f"{{ book {{ {field}{below} }} }}", {"book": {field: sent}}).book, field)
    assert found == value
    assert type(found) is type(value)


def test_decimals_are_exact():
    """A JSON number with more digits than a float has."""
    body = b'{"data": {"book": {"price": 0.1234567890123456789}}}'
    document = Document.parse("{ book { price } }", SCHEMA.graphql)
    result = Result.from_bytes(body, document, variables={})
    assert result.models().book.price == Decimal("0.1234567890123456789")


def test_a_registered_scalar_is_parsed():
    """By `gqlnb.scalar`, also if it is registered after the first answer."""
    text, data = "{ book { cost } }", {"book": {"cost": "3"}}
    assert read(text, data).book.cost == "3"
    gqlnb.scalar("Cost", parse=lambda text: int(text) * 100)
    try:
        assert read(text, data).book.cost == 300
    finally:
        gqlnb.scalar("Cost")


def test_classes_are_named_after_the_document():
    """The operation, the path of a field with its alias, and a fragment."""
    text = "query Read { mine: book { next { ...Part } } book { next { ...Part } } }"
    fragment = " fragment Part on Book { name }"
    part = {"next": {"name": "x"}}
    model = read(text + fragment, {"mine": part, "book": part})
    assert [type(model).__name__, type(model.mine).__name__] == ["Read", "ReadMine"]
    assert type(model.mine.next) is type(model.book.next)
    assert type(model.book.next).__name__ == "Part"
    assert model.mine != model.book
    assert model.mine.next == model.book.next
    with pytest.raises(AttributeError):
        model.book.next.name = "y"


def test_a_union_has_a_class_for_each_type():
    """With `__typename`; a class without fields for the types that no fragment names."""
    text = "{ found { __typename ... on Book { name } ... on Author { books { name } } } }"
    data = [
        {"__typename": "Book", "name": "a"},
        {"__typename": "Author", "books": []},
        {"__typename": "Shop"},
    ]
    book, author, shop = read(text, {"found": data}).found
    assert [type(it).__name__ for it in (book, author, shop)] == [
        "QueryFoundBook",
        "QueryFoundAuthor",
        "QueryFoundShop",
    ]
    assert [it.typename__ for it in (book, author, shop)] == ["Book", "Author", "Shop"]
    assert not hasattr(shop, "name")


def test_types_without_a_fragment_share_a_class():
    """So do those of a fragment on an interface, and types that the schema does not have yet."""
    text = "{ nodes { __typename id ... on Named { name } ... on Book { class } } }"
    data = [
        {"__typename": "Book", "id": 1, "name": "a", "class": "b"},
        {"__typename": "Shop", "id": 2, "name": "c"},
        {"__typename": "Author", "id": 3, "name": "d"},
        {"__typename": "Hint", "id": 4},
        {"__typename": "Comet", "id": 5},
        None,
    ]
    found = read(text, {"nodes": data}).nodes
    assert [type(it).__name__.removeprefix("QueryNodes") for it in found] == (
        ["Book", "Named", "Named", "Other", "Other", "NoneType"]
    )
    assert [it.typename__ for it in found[:5]] == ["Book", "Shop", "Author", "Hint", "Comet"]
    assert [it.id for it in found[:5]] == ["1", "2", "3", "4", "5"]
    assert found[0].class_ == "b"


def test_without_typename_one_class_has_all_fields():
    """Those of the other types are None."""
    text = "{ found { ... on Book { name } ... on Shop { city } } }"
    book, author = read(text, {"found": [{"name": "a"}, {}]}).found
    assert type(book) is type(author)
    assert (book.name, book.city, author.name) == ("a", None, None)


@pytest.mark.parametrize("show", [True, False])
def test_a_conditional_field_may_be_none(show):
    """By the variables that were sent."""
    text = "query ($show: Boolean!) { book { id name @include(if: $show) } }"
    data = {"book": {"id": "1"} | ({"name": "a"} if show else {})}
    book = read(text, data, show=show).book
    assert hasattr(book, "name") == show
    unknown = Result.from_bytes(
        msgspec.json.encode({"data": data}), Document.parse(text, SCHEMA.graphql)
    )
    assert unknown.models().book.name == ("a" if show else None)


def test_names_of_python_get_an_underscore():
    """Keywords, and names with two underscores first."""
    text = "{ book { class _id str field __typename None: name __init__: name a: id a_: id } }"
    data = {"class": "x", "_id": 1, "str": "y", "field": 2, "__typename": "Book", "None": "n"}
    book = read(text, {"book": data | {"__init__": "i", "a": "1", "a_": "2"}}).book
    assert (book.class_, book._id, book.str, book.field) == ("x", 1, "y", 2)
    assert (book.typename__, book.None_, book.init__, book.a, book.a_) == (
        ("Book", "n", "i", "1", "2")
    )


@pytest.mark.parametrize(
    ("text", "data", "message"),
    [
        ("{ book { id } }", {"book": None}, "Expected `object`, got `null` at book"),
        ("{ book { color } }", {"book": {"color": "BLUE"}},
         "Invalid enum value 'BLUE' at book.color"),
        ("{ book { id } }", {"book": {"id": None}}, "Expected `str`, got `null` at book.id"),
        ("{ nodes { __typename ... on Named { name } ... on Book { due } } }",
         {"nodes": [{"__typename": "Book", "name": "a", "due": "soon"}]},
         "the value at nodes[0].due is 'soon', which is not a DateTime (it is not a timestamp"),
        ("{ book { due } }", {"book": {"due": "2024-02-29T12:00:00.123456789Z"}},
         "which is not a DateTime (it has nanoseconds)"),
        ("{ book { due } }", {"book": {"due": 5}},
         "is 5, which is not a DateTime (it is a number)"),
        (
            "{ book { due } }",
            {"book": {"due": "10:11:12"}},  # Directus has times in its scalar Date
            "gqlnb.scalar(NAME, like='String')",
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_with_its_path(text, data, message):
    """In both passes."""
    document = Document.parse(text, SCHEMA.graphql)
    with pytest.raises(AnswerError) as caught:
        Result(data, document=document, variables={}).models()
    assert message in str(caught.value)


def test_errors_beside_the_data_are_a_warning():
    """Once; without data they are raised."""
    document = Document.parse("{ book { name } node { id } }", SCHEMA.graphql)
    error = {"message": "down", "path": ["node"]}
    result = Result({"book": {"name": "a"}, "node": None}, (error,), document=document)
    with pytest.warns(UserWarning, match="The answer is partial: 1 error"):
        assert result.models().node is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result.models().book.name == "a"
    with pytest.raises(PartialError) as caught:
        Result(None, (error,), document=document).models()
    assert isinstance(caught.value.result, Result)


def test_without_a_schema_it_says_so():
    """The names and types of the classes are from the schema."""
    with pytest.raises(SchemaError, match="The schema of this answer is not known"):
        Result({"a": 1}, document=Document.parse("{ a }")).models()
    with pytest.raises(SchemaError, match="The schema of this answer is not known"):
        Result({"a": 1}).models()


def test_client_models_asks_for_the_types():
    """`client.models` adds `__typename` where classes depend on it."""
    root = {"found": [{"__typename": "Shop", "name": "x", "city": "y"}]}
    text = "{ found { ... on Shop { city } ... on Named { name } } }"
    schema = Schema(SDL, {"Query": {"found": lambda *_: root["found"]}})
    (shop,) = Client(schema).models(text).found
    assert (type(shop).__name__, shop.city, shop.name) == ("QueryFoundShop", "y", "x")
    with pytest.raises(PartialError):
        Client(Schema(SDL, {"Query": {"node": lambda *_: 1 / 0}})).models("{ node { id } }")


def test_merged_pages_have_models():
    """The names that paging adds are not in them."""
    query = 'query: "stars:>100000", type: REPOSITORY'
    text = f"{{ search({query}) {{ nodes {{ ... on Repository {{ name }} }} }} }}"
    result = Client("demo").execute_all(text)
    search = result.models().search
    assert [node.name for node in search.nodes] == [it["name"] for it in result["search"]["nodes"]]


def test_classes_of_a_document_are_not_pickled():
    """They are in no module; the result they were read from is, and has equal models."""
    result = answer("{ book { name } }", {"book": {"name": "a"}})
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(result.models())
    again = pickle.loads(pickle.dumps(result)).models()
    assert msgspec.to_builtins(again) == {"book": {"name": "a"}}


@pytest.mark.parametrize("base", [pydantic.BaseModel, msgspec.Struct])
def test_decimals_of_a_class_of_the_user_are_exact(base):
    """A JSON number with more digits than a float has, and a schema that is loaded for it."""
    book = type("Book", (base,), {"__annotations__": {"price": Decimal}})
    model = type("Answer", (base,), {"__annotations__": {"book": book}})
    body = b'{"data": {"book": {"price": 0.1234567890123456789}}}'
    document = Document.parse("{ book { price } }", SCHEMA.graphql)
    typed = Result.from_bytes(body, document, variables={})
    result = Result(
        msgspec.json.decode(body)["data"],
        document=Document.parse(document.text),
        response=SimpleNamespace(body=body),
        variables={},
    )
    attach_schema_loader(result, lambda _: typed)
    assert result.models(model).book.price == Decimal("0.1234567890123456789")


def test_classes_of_the_user_are_accepted():
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


@pydantic.dataclasses.dataclass
class PricedBook:
    """A data class of pydantic, with an alias and a limit."""

    title: str = pydantic.Field(alias="name")
    price: Decimal = pydantic.Field(gt=0)


@pydantic.dataclasses.dataclass
class PricedAnswer:
    """A data class of pydantic with another one."""

    book: PricedBook


def test_data_classes_of_pydantic_keep_their_rules():
    """Msgspec, which converts other data classes, knows neither limits nor aliases."""

    def read(price):
        data = {"book": {"name": "a", "price": price}}
        return answer("{ book { name price } }", data).models(PricedAnswer).book

    assert has_decimals(PricedAnswer)
    assert (read("0.10").title, read("0.10").price) == ("a", Decimal("0.10"))
    with pytest.raises(AnswerError, match=r"greater than 0 at book.price\."):
        read("-1")
