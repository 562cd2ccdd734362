"""`gqlnb codegen`, and the modules that it writes."""

from __future__ import annotations

import ast
import asyncio
import pickle
import subprocess
import sys
from importlib import import_module, invalidate_caches
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from graphql import GraphQLSchema, introspection_from_schema

import gqlnb
from gqlnb import Client, PartialError, QueryError, Schema
from gqlnb.cli.main import main
from gqlnb.client.operation_module import write_module

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

SDL = """
scalar DateTime
scalar Cents
enum Color { RED GREEN }
input Filter {
  and: [Filter!], not: Filter, color: Color, since: DateTime, from: Int! = 3, to: Int!
}
interface Named { name: String! }
type Book implements Named { name: String! color: Color price: Cents due: DateTime }
type Shop implements Named { name: String! city: String }
union Found = Book | Shop
type Query {
  books(filter: Filter, first: Int = 2, class: String, ids: [ID!]): [Book!]!
  found: [Found]
  echo(filter: Filter!): String!
}
type Mutation { paint(color: Color!): Book! }
type Subscription { ticks(to: Int!): Int! }
"""
QUERIES = """
# The first books.
query Books($first: Int, $class: String, $client: [ID!]) {
  books(first: $first, class: $class, ids: $client) { ...Part }
}

query search { found { ...Part ... on Shop { city } } }
query Echo($filter: Filter!) { echo(filter: $filter) }
mutation Paint($color: Color!) { paint(color: $color) { name color } }
subscription Ticks($to: Int!) { ticks(to: $to) }
"""
PART = "fragment Part on Book { name price due }\nfragment Unused on Shop { city }\n"


def resolve_books(_root: Any, args: dict[str, Any], _context: Any) -> list[dict[str, Any]]:
    """Return books named after the arguments."""
    return [{"name": f"{name}={args[name]}"} for name in sorted(args)]


def echo(_root: Any, args: dict[str, Any], _context: Any) -> str:
    """Return the names of the fields that were given."""
    return ",".join(f"{key}={value}" for key, value in args["filter"].items())


async def ticks(_root: Any, args: dict[str, Any], _context: Any) -> Any:
    """Count."""
    for number in range(args["to"]):
        yield number


SCHEMA = Schema(
    SDL,
    {
        "Query": {
            "books": resolve_books,
            "found": lambda *_: [{"__typename": "Shop", "name": "s", "city": "c"}, None],
            "echo": echo,
        },
        "Mutation": {"paint": lambda _, args, __: {"name": "b", "color": args["color"]}},
        "Subscription": {"ticks": ticks},
    },
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a schema and operations, whose modules can be imported."""
    (tmp_path / "schema.graphql").write_text(SDL)
    (tmp_path / "queries.graphql").write_text(QUERIES)
    (tmp_path / "part.graphql").write_text(PART)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture(params=["msgspec", "pydantic"])
def written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> ModuleType:
    """Return the module of the operations, with classes of each library."""
    command = "codegen queries.graphql part.graphql --schema schema.graphql -o written.py"
    style = ["--pydantic"] if request.param == "pydantic" else []
    assert main([*command.split(), "--scalar", "Cents=Decimal", *style]) == 0
    invalidate_caches()
    monkeypatch.delitem(sys.modules, "written", raising=False)
    module = import_module("written")
    monkeypatch.delitem(sys.modules, "written")
    monkeypatch.setitem(sys.modules, "written", module)
    return module


def test_functions_execute_the_operations(written: ModuleType) -> None:
    """Sync and async; a variable that is not given is not sent, so its default holds."""
    client = Client(SCHEMA)
    names = [book.name for book in written.execute_books(client).books]
    assert names == ["first=2"]
    answer = asyncio.run(written.aexecute_books(client, first=None, class_="x", client_=["7"]))
    assert [it.name for it in answer.books] == ["class=x", "first=None", "ids=['7']"]
    assert type(answer.books[0]) is written.Part
    assert written.execute_paint(client, color="RED").paint.color == "RED"
    shop, nothing = written.execute_search(client).found
    assert (type(shop), shop.city, nothing) == (written.SearchFoundShop, "c", None)


def test_a_variable_of_python_is_checked(written: ModuleType) -> None:
    """Before it is sent, like those of `execute`."""
    with pytest.raises(QueryError, match="color"):
        written.execute_paint(Client(SCHEMA), color="BLUE")


def test_input_objects_may_contain_themselves(written: ModuleType) -> None:
    """Fields that are not given are not sent, so their defaults hold."""
    inner = written.Filter(to=1, color="RED")
    filter_ = written.Filter(to=9, and_=[inner], not_=written.Filter(to=2, from_=5))
    sent = written.execute_echo(Client(SCHEMA), filter=filter_).echo
    assert sent.startswith("and=[{'color': 'RED', 'from': 3, 'to': 1}],")
    assert "not={'from': 5, 'to': 2}" in sent


def test_events_of_a_subscription_are_models(written: ModuleType) -> None:
    """In a loop, and in an asynchronous one."""
    client = Client(SCHEMA)
    assert [event.ticks for event in written.subscribe_ticks(client, to=3)] == [0, 1, 2]

    async def read() -> list[int]:
        return [event.ticks async for event in written.asubscribe_ticks(client, to=2)]

    assert asyncio.run(read()) == [0, 1]


def test_models_of_a_module_are_pickled(written: ModuleType) -> None:
    """Unlike those of `result.models()`, they are in a module."""
    model = written.execute_search(Client(SCHEMA))
    assert pickle.loads(pickle.dumps(model)) == model


def test_a_result_at_hand_is_read(written: ModuleType) -> None:
    """`result.models(Class)`; a failed field is an error in the functions."""
    broken = Schema(SDL, {"Query": {"found": lambda *_: 1 / 0}})
    result = Client(broken).execute(written.SEARCH_TEXT)
    with pytest.warns(UserWarning, match="partial"):
        assert result.models(written.Search).found is None
    with pytest.raises(PartialError) as caught:
        written.execute_search(Client(broken))
    assert caught.value.result is not None


def test_the_text_keeps_its_comments_and_gets_typename(written: ModuleType) -> None:
    """The operation with its own fragments only; `__typename` where classes depend on it."""
    assert "{ __typename ...Part ... on Shop { city } }" in written.SEARCH_TEXT
    assert "Unused" not in written.SEARCH_TEXT
    assert "__typename" not in written.BOOKS_TEXT


def test_the_module_goes_to_stdout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same on each run, and for the introspection result of the schema."""
    command = ["codegen", "queries.graphql", "part.graphql", "--schema"]
    assert main([*command, "schema.graphql"]) == 0
    first = capsys.readouterr().out
    introspection = introspection_from_schema(SCHEMA.graphql)
    (folder / "schema.json").write_bytes(msgspec.json.encode(introspection))
    assert main([*command, "schema.json"]) == 0
    assert capsys.readouterr().out == first
    ast.parse(first)


def test_the_schema_of_an_endpoint(folder: Path) -> None:
    """A connection, as a process."""
    (folder / "q.graphql").write_text("query Rate { rateLimit { remaining } }")
    run = [sys.executable, "-m", "gqlnb", "codegen", "q.graphql", "-c", "demo", "-o", "rate.py"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "gqlnb: Wrote rate.py.\n")
    assert import_module("rate").execute_rate(gqlnb.connect("demo")).rateLimit.remaining > 0


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("query A { nope }", 1, "queries.graphql: Cannot query field 'nope' on type 'Query'."),
        ("query A {\n  found { ...Part }\n  foun\n}", 1, "line 3, column 3"),
        ("query A {", 1, "queries.graphql: Syntax Error"),
        ("fragment A on Book { name }", 1, "There is no operation."),
        ("type A { b: Int }", 1, "queries.graphql: only operations and fragments"),
        ("query A { found { ...Part } } query A { __typename }", 1, "A is defined twice"),
        ("{ __typename } { __typename }", 1, "An operation without a name is defined twice"),
        ("query A { __typename } fragment Part on Shop { city }", 1, "Part is defined twice"),
        ("query A { found { ...Lost } }", 1, "Unknown fragment 'Lost'"),
    ],
)
def test_a_wrong_document_is_an_error_with_its_file(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, message: str
) -> None:
    """Nothing is written."""
    (folder / "queries.graphql").write_text(text)
    command = "codegen queries.graphql part.graphql --schema schema.graphql -o out.py"
    assert main(command.split()) == code
    assert message in capsys.readouterr().err
    assert not (folder / "out.py").exists()


@pytest.mark.parametrize("pair", ["Cents", "Cents=Nope", "=Decimal"])
def test_a_wrong_scalar_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], pair: str
) -> None:
    """It names the form."""
    assert main(["codegen", "queries.graphql", "--scalar", pair]) == 2
    assert "write NAME=LIKE" in capsys.readouterr().err


def test_a_missing_file_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of operations, or of the schema."""
    assert main(["codegen", "lost.graphql", "--schema", "schema.graphql"]) == 1
    assert "lost.graphql: No such file" in capsys.readouterr().err
    assert main(["codegen", "queries.graphql", "--schema", "lost.graphql"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("gqlnb: --schema does not refer to a readable file: 'lost.graphql' (No")
    assert error.endswith(" --schema takes the path of a file with SDL or introspection JSON.\n")
    both = ["codegen", "queries.graphql", "--schema", "schema.graphql", "-c", "demo"]
    assert main(both) == 2
    assert "both name a schema" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["A" * length for length in range(8, 40)])
def test_signatures_of_any_length_are_python(name: str) -> None:
    """Wrapped where they are long, also where an operation has no variables."""
    schema = Schema(SDL).graphql
    for head in (name, f"{name}($to: Int!)"):
        field = "ticks(to: $to)" if "$" in head else "found { __typename }"
        kind = "subscription" if "$" in head else "query"
        ast.parse(write_module({"a": f"{kind} {head} {{ {field} }}"}, schema, {}))


@pytest.mark.parametrize("pydantic", [False, True])
def test_names_of_a_schema_never_become_code(pydantic: bool) -> None:
    """Of types, fields, enum values and scalars of a schema that was made by hand."""
    evil = '"""\n); import os; os.abort() #\'\n'
    schema = GraphQLSchema(**Schema(SDL).graphql.to_kwargs())
    kinds: dict[str, Any] = schema.type_map
    kinds["Color"].values[evil] = kinds["Color"].values.pop("GREEN")
    kinds["Filter"].fields[evil] = kinds["Filter"].fields["color"]
    for name in ("Book", "Cents", "Color", "Filter"):
        kinds[name].name = f"{name}{evil}"
    text = """query A($f: Filter!) {
      books { __typename color price } found { ... on Book { name } } echo(filter: $f)
    }"""
    source = write_module({evil: text}, schema, {}, pydantic=pydantic)
    tree = ast.parse(source)
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {evil, f"Book{evil}", f"Cents{evil}"} <= texts
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "os" not in names
    imports = [node.names[0].name for node in tree.body if isinstance(node, ast.Import)]
    assert set(imports) <= {"datetime", "msgspec"}
