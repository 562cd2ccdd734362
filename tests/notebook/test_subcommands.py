"""The subcommands of ``%graphql``: values, text and HTML."""

from __future__ import annotations

import gc
import re
import stat
import weakref
from contextlib import ExitStack

import graphql
import pytest

import gqlnb
from gqlnb import config
from gqlnb.notebook.display import Listing, Note
from gqlnb.notebook.schema_docs import SHOWN, SchemaDocs
from gqlnb.notebook.schema_search import get_members, search_schema
from gqlnb.notebook.subcommands import SUBCOMMANDS
from tests.notebook.cells import SECRET, beside, failure, run

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def test_connections_are_listed_with_their_origin(shell):
    """Built-in connections, those of files and of the process, and notebook objects."""
    with open("pyproject.toml", "w") as opened:
        opened.write('[tool.gqlnb.connections.work]\nurl = "http://127.0.0.1:1/x"\n')
    run(shell, "%graphql connect mine schema")
    shell.user_ns["client"] = gqlnb.Client(shell.user_ns["schema"])
    shell.user_ns["core"] = graphql.build_schema("type Query { a: Int }")
    listing = run(shell, "%graphql connections")
    where = {name: where for name, _, where, _ in listing}
    assert where == {
        "demo": "built in",
        "github": "built in",
        "work": "pyproject.toml, line 1",
        "mine": "this process",
        "schema": "the notebook",
        "client": "the notebook",
        "core": "the notebook",
    }
    assert [name for name, *_, current in listing if current] == ["mine"]
    assert "✓" in repr(listing)
    assert "<table>" in listing._repr_html_()
    run(shell, "%graphql close mine")
    told = repr(run(shell, "%graphql connections")).splitlines()[-1]
    assert told.endswith("a bare cell asks http://127.0.0.1:4000/graphql.")


def test_a_notebook_object_is_used_by_its_name(shell):
    """By `use` and by `connect`."""
    for word in ("use", "connect"):
        run(shell, f"%graphql {word} schema")
        assert run(shell, "%%graphql\n{ hello }").data == {"hello": "Hello world!"}
        run(shell, "%graphql close schema")


def test_a_connection_is_saved_for_later_notebooks(shell, monkeypatch):
    """The user's file has the source of the token, not the token."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    address = "http://127.0.0.1:9/graphql"
    (note,) = beside(shell, f"%graphql connect mine {address} --token env:MY_TOKEN --keep")[:1]
    assert note["text/plain"].endswith("connections.toml.")
    text = config.get_user_file().read_text()
    assert 'token = "env:MY_TOKEN"' in text
    assert SECRET not in text
    assert stat.S_IMODE(config.get_user_file().stat().st_mode) == 0o600
    assert "has a connection 'mine'" in failure(shell, f"%graphql connect mine {address} --keep")
    assert "is not an address that can be saved" in failure(
        shell, "%graphql connect other schema --keep"
    )
    assert "connect NAME ADDRESS" in failure(shell, f"%graphql connect {address}")


def test_a_whole_schema_is_documented(shell):
    """The page has the root fields, and all types by kind."""
    shown = repr(run(shell, "%graphql schema -c schema")).splitlines()
    assert shown[0] == "schema of 4 types beside Query, Mutation"
    assert shown[2:7] == [
        "query: Query",
        "  hello: String",
        "      Greets whoever asks.",
        "  add(a: Int!, b: Int = 0): Int",
        "      Adds two numbers.",
    ]
    assert {"mutation: Mutation", "Types", "Enums", "Inputs", "Scalars"} <= set(shown)


def test_a_type_is_documented(shell):
    """A page has the description, fields, deprecations and uses of a type."""
    assert repr(run(shell, "%graphql schema Row -c schema")).splitlines() == [
        "type Row",
        "  A row of a table.",
        "",
        "Fields",
        "  n: Int",
        "  bad: Int",
        "      Deprecated: It fails.",
        "",
        "Found at",
        "  Query.rows: [Row]",
    ]
    enum = repr(run(shell, "%graphql schema Order -c schema"))
    assert "Values\n  ASC\n      Small ones first.\n  DESC" in enum
    assert "Query.sort(only: [Order!])" in enum
    assert "least: Int" in repr(run(shell, "%graphql schema Where -c schema"))
    assert "Is one of\n" in repr(run(shell, "%graphql schema SearchResultItem -c demo"))


def test_a_field_is_documented(shell):
    """A page has the arguments with defaults, and the fields of the returned type."""
    shown = repr(run(shell, "%graphql schema Query.add -c schema")).splitlines()
    assert shown[:8] == [
        "Query.add(a: Int!, b: Int = 0): Int",
        "  Adds two numbers.",
        "",
        "Arguments",
        "  a: Int!",
        "      The first.",
        "  b: Int = 0",
        "      The second.",
    ]
    assert "Fields of Row" in repr(run(shell, "%graphql schema Query.rows -c schema"))
    assert repr(run(shell, "%graphql schema rows -c schema")) == repr(
        run(shell, "%graphql schema Query.rows -c schema")
    ), "a root field is found without its type"
    assert repr(run(shell, "%graphql schema Order.ASC -c schema")) == (
        "Order.ASC\n  Small ones first."
    )


def test_the_schema_may_stand_behind_the_type(shell):
    """``Row schema`` is ``schema Row``; a page for narrow windows has no columns of a table."""
    page = run(shell, "%graphql schema Row schema")
    assert repr(page) == repr(run(shell, "%graphql schema schema Row"))
    assert "<table>" not in page._repr_html_()
    assert "flex-wrap:wrap" in page._repr_html_()
    assert "no type 'Rwo'" in failure(shell, "%graphql schema Rwo schema")
    assert "No connection is called 'dmo'" in failure(shell, "%graphql schema dmo Row")
    assert "%graphql search star" in failure(shell, "%graphql schema search star")


def test_code_in_descriptions_is_shown_as_code():
    """Descriptions are Markdown; what stands between backticks is escaped, too."""
    sdl = 'type Query { "Give `first: 3`, not `<b>`, or a ` alone." rows(first: Int): [Int] }'
    page = SchemaDocs(graphql.build_schema(sdl)).build_page("Query")
    html = page._repr_html_()
    assert re.findall(r"<code[^>]*>([^<]*)</code>", html)[2:] == ["first: 3", "&lt;b&gt;"]
    assert "or a ` alone." in html
    assert "`first: 3`" in repr(page)
    hits = Listing(["place"], [["see `x` & <b>`y`"]], "")._repr_html_()
    assert re.findall(r"<code[^>]*>([^<]*)</code>", hits) == ["x", "y"]
    assert "&amp; &lt;b&gt;" in hits


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("Rwo", "The schema has no type 'Rwo'. Did you mean 'Row'?"),
        ("query", "Did you mean 'Query'?"),
        ("Que", "Did you mean 'Query'?"),
        ("Row.m", "Row has no field 'm'. It has: n, bad."),
        ("Query.helo", "Did you mean 'hello'?"),
        ("Date.x", "Date has no field 'x'."),
    ],
)
def test_unknown_schema_names_get_similar_ones(shell, place, told):
    """For a type or a field."""
    assert told in failure(shell, f"%graphql schema {place} -c schema")


BEFORE = """type Query { shops(first: Int = 10): [Shop!] hello: String } enum Kind { A B }
type Shop { name: String city: String phone: String stars: Int kind: Kind }"""
AFTER = """type Query { shops(first: Int = 20): [Shop!] hello: String } enum Kind { A B C }
type Shop { name: String town: String stars: Float kind: Kind }"""


def test_schema_changes_that_affect_the_notebook_are_first(shell):
    """Changes since the session began, despite new connections; saved fragments count as uses."""
    with gqlnb.serve(gqlnb.Schema(BEFORE), port=0) as server:
        run(shell, f"%graphql connect shops {server.url}")
        run(shell, "%%graphql shops\nquery Towns { shops { name city } }")
        run(shell, "%%graphql shops --save Bits -N\nfragment Bits on Shop { phone }")
        run(shell, "%%graphql shops\nquery Calls { shops { ...Bits } }")
        assert len(run(shell, "%graphql schema --changes -c shops")) == 0
    with gqlnb.serve(gqlnb.Schema(AFTER), port=server.port):
        run(
            shell, "%%graphql shops\nquery New { shops { town } }"
        )  # refused, until it connects anew
        found = run(shell, "%graphql schema --changes -c shops")
        assert run(shell, "%graphql schema --changes -c shops").changes == found.changes
    lines = [" ".join(line.split()) for line in repr(found).splitlines()]
    assert lines == [
        "3 breaking changes and 2 dangerous changes in the schema of shops. "
        "3 of them touch operations of this session.",
        "Towns is wrong now: Cannot query field 'city' on type 'Shop'.",
        "Calls is wrong now: Cannot query field 'phone' on type 'Shop'.",
        "severity change touches",
        "Shop.city breaking Field Shop.city was removed. Towns",
        "Shop.phone breaking Field Shop.phone was removed. Calls",
        lines[6],
        "Shop.stars breaking Field Shop.stars changed type from Int to Float.",
        lines[8],
    ]
    assert lines[6].startswith("Query.shops(first:) dangerous")
    assert lines[6].endswith("Towns, Calls, New")
    assert lines[8].startswith("Kind.C dangerous")  # in other words by graphql-core 3.2 and 3.3
    html = found._repr_html_()
    assert html.index("Shop.city") < html.index("Shop.stars")


def test_a_schema_is_compared_with_a_file(shell):
    """Of any connection; all changes of the schema are listed."""
    with open("before.graphql", "w") as opened:
        opened.write("type Query { hello: String, gone: Int }")
    found = run(shell, "%graphql schema --changes before.graphql -c schema")
    assert [each.place for each in found if each.severity == "breaking"] == ["Query.gone"]
    assert "No breaking" in repr(run(shell, "%graphql schema -c schema --changes"))
    shown = failure(shell, "%graphql schema --changes no.graphql -c schema")
    assert "does not refer to a readable file" in shown
    assert "takes no type" in failure(shell, "%graphql schema Query --changes -c schema")
    assert "takes no type" in failure(shell, "%graphql schema -c schema --sdl --changes")


def list_coordinates(schema):
    """Return the coordinates of all elements of a schema."""
    for kind in schema.type_map.values():
        yield kind.name
        for name, member in get_members(kind).items():
            yield f"{kind.name}.{name}"
            yield from (f"{kind.name}.{name}({it}:)" for it in getattr(member, "args", ()))
    for directive in schema.directives:
        yield f"@{directive.name}"
        yield from (f"@{directive.name}({it}:)" for it in directive.args)


def test_schema_coordinates_are_those_of_graphql_core():
    """Each has a page of the element that graphql-core resolves it to."""
    schema = gqlnb.github.schema().graphql
    docs = SchemaDocs(schema)
    for coordinate in list_coordinates(schema):
        page = docs.build_page(coordinate)
        *_, element, _kind = graphql.resolve_schema_coordinate(schema, coordinate)
        # An argument is on the page of its field or directive, alone.
        if coordinate.endswith(")"):
            members = [it.definition for it in page.sections[0].members if it.place == page.mark]
            assert members == [element], coordinate
        else:
            assert page.definition is element, coordinate


def test_an_argument_is_shown_by_its_coordinate(shell):
    """Without the other arguments; a name that does not exist is an error."""
    shown = repr(run(shell, "%graphql schema Query.search(query:) -c demo"))
    assert "query: String!\n      A search expression" in shown
    assert "type: SearchType!\n" not in shown
    assert "no argument 'qury'. Did you mean 'query'?" in failure(
        shell, "%graphql schema Query.search(qury:) -c demo"
    )
    assert "no argument 'x'" in failure(shell, "%graphql schema Query(x:) -c demo")


def test_foreign_descriptions_are_shown_as_text(shell):
    """Without markup or control characters; long sections are cut."""
    fields = " ".join(f"f{number}: Int" for number in range(SHOWN + 5))
    schema = graphql.build_schema(f"type Query {{ {fields} }}")
    schema.query_type.description = HOSTILE
    schema.query_type.fields["f0"].description = HOSTILE
    made = SchemaDocs(schema).build_page("Query")
    for shown in (repr(made), made._repr_html_(), search_schema(schema, ["f0"], 5)._repr_html_()):
        assert "<script>" not in shown.replace("  <script>", "", 1) or shown == repr(made)
        assert "\x1b" not in shown
    assert "… and 5 more" in repr(made)


def test_the_connection_of_a_search_may_be_its_first_word(shell):
    """As in `%graphql schema`; alone, or if nothing has that name, it is searched for."""
    found = repr(run(shell, "%graphql search row -c schema"))
    assert repr(run(shell, "%graphql search schema row")) == found
    assert repr(run(shell, "%graphql search row n -c schema")) != found
    nothing = "Nothing in the schema matches 'demo'"
    assert repr(run(shell, "%graphql search demo -c schema")).startswith(nothing)


def test_the_page_of_a_large_schema_unfolds_what_is_behind_its_queries():
    """A click shows hundreds of mutations; in text they follow each other."""
    fields = " ".join(f"f{number}: Int" for number in range(20))
    schema = graphql.build_schema(
        f"type Query {{ {fields} }} type Mutation {{ {fields} }} scalar Own"
    )
    html = SchemaDocs(schema).build_page()._repr_html_()
    assert [part.partition("</b>")[0] for part in html.split("<summary><b>")[1:]] == [
        "mutation: Mutation"
    ]
    assert "<details>" not in SchemaDocs(schema).build_page("Mutation")._repr_html_()


def test_a_note_explains_a_search_with_no_or_many_hits(shell):
    """It suggests a name, or gives the number of hits."""
    assert repr(run(shell, "%graphql search helo -c schema")) == (
        "Nothing in the schema matches 'helo'. Did you mean hello?"
    )
    listing = run(shell, "%graphql search o -c demo --limit 3")
    assert len(listing) == 3
    assert repr(listing).splitlines()[-1].startswith("and ")


def test_the_history_lists_all_operations(shell):
    """With their text, failures included, and without variables."""
    run(shell, "%%graphql schema -p a=41\nquery Sum($a: Int!) { add(a: $a) }")
    run(shell, "%%graphql schema\n{ fail }")
    failure(shell, "%%graphql schema\nquery Lacks($z: Int!) { add(a: $z) }")
    listing = run(shell, "%graphql history")
    assert list(listing) == [
        (1, "schema", "query Sum", "data", "query Sum($a: Int!) { add(a: $a) }"),
        (2, "schema", "query", "1 error", "{ fail }"),
        (3, "schema", "query Lacks", "QueryError", "query Lacks($z: Int!) { add(a: $z) }"),
    ]
    assert "41" not in repr(listing)
    assert run(shell, "%graphql history 2") == "{ fail }"
    assert "no number 9; it has 1 to 3" in failure(shell, "%graphql history 9")


@pytest.mark.parametrize("line", ["%%graphql --help", "%%graphql -h\n{ hello }", "%graphql --help"])
def test_the_help_lists_all_options(shell, line):
    """Also for a cell without a body, which IPython itself refuses."""
    shown = run(shell, line)
    assert "--max-results N" in shown
    assert "``" not in shown


def test_the_help_of_a_subcommand_lists_its_options(shell):
    """Its summary and its options."""
    shown = run(shell, "%graphql stars --help")
    assert shown.startswith("Search repositories above a number of stars.")
    assert "--limit" in shown
    assert "NAME is missing; %graphql serve --help explains it" in failure(shell, "%graphql serve")


def test_a_schema_of_graphql_core_shows_its_root_fields(shell):
    """With its size they replace the default repr, until the extension is unloaded."""
    shell.user_ns["core"] = shell.user_ns["schema"].graphql
    shown = shell.display_formatter.format(shell.user_ns["core"])[0]["text/plain"]
    assert shown == (
        "GraphQLSchema(6 types, 11 fields)\n"
        "  query Query: hello, add, rows, fail, sort, say\n"
        "  mutation Mutation: put"
    )
    run(shell, "%unload_ext gqlnb")
    shown = shell.display_formatter.format(shell.user_ns["core"])[0]["text/plain"]
    assert "GraphQLSchema object at" in shown or "GraphQLSchema at" in shown


def test_the_schema_of_a_client_shows_where_it_is_from(shell):
    """The address that was asked, or for which it was given."""
    with gqlnb.serve(gqlnb.Schema("type Query { a: Int }"), port=0) as server:
        shell.user_ns["client"] = gqlnb.connect(server.url)
        assert repr_of(shell, "client.schema") == (
            f"GraphQLSchema(1 type, 1 field, from {server.url})\n  query Query: a"
        )
        shell.user_ns["sure"] = gqlnb.connect(server.url, schema="type Query { b: Int }")
        assert f"given for {server.url})" in repr_of(shell, "sure.schema")


def repr_of(shell, expression):
    """Return the text that the shell shows for an expression."""
    value = eval(expression, shell.user_ns)
    return shell.display_formatter.format(value)[0]["text/plain"]


def test_the_connection_of_a_schema_may_be_its_first_word(shell):
    """With or without a type; the option does the same."""
    page = run(shell, "%graphql schema -c schema Row")
    assert repr(run(shell, "%graphql schema schema Row")) == repr(page)
    assert "Query.hello" in repr(page) or "rows" in repr(run(shell, "%graphql schema schema"))
    assert "no type 'schema'" in failure(shell, "%graphql schema -c schema schema")
    assert "takes a connection and a type" in failure(shell, "%graphql schema schema Row n")
    assert "No connection is called 'nobody'" in failure(shell, "%graphql schema nobody Row")


def test_a_default_that_does_not_answer_names_the_targets_of_the_notebook(shell, monkeypatch):
    """The user may have meant one of them."""
    monkeypatch.setenv("GQLNB_URL", "http://127.0.0.1:9/graphql")
    text = failure(shell, "%graphql schema Row")
    assert "choose one with -c NAME; this notebook has: schema" in text
    assert "%graphql use schema" in text
    assert "this notebook has" not in failure(shell, "%graphql schema -c http://127.0.0.1:9/ Row")
    del shell.user_ns["schema"]
    assert "-c NAME, such as -c demo. For all cells: %graphql use demo" in failure(
        shell, "%graphql schema Row"
    )


def test_empty_listings_are_sentences(shell):
    """For the history and for saved cells."""
    assert repr(run(shell, "%graphql history")) == "No cell has run yet."
    assert "--save NAME keeps a cell" in repr(run(shell, "%graphql snippets"))
    assert "Saved: none" in failure(shell, "%graphql snippets nope")


def test_a_mistyped_subcommand_gets_a_suggestion(shell):
    """The error lists all subcommands, too."""
    assert "Did you mean 'search'?" in failure(shell, "%graphql serch x")


def test_a_cached_client_does_not_keep_its_server_alive(shell):
    """The server is collected after it is closed and its name is deleted."""
    server = gqlnb.serve(shell.user_ns["schema"], port=0)
    shell.user_ns["server"] = server
    run(shell, "%%graphql server -q\n{ hello }")
    server.close()
    gone = weakref.ref(server)
    del shell.user_ns["server"], server
    gc.collect()
    assert gone() is None


def test_output_is_escaped():
    """In listings and in notes."""
    for value in (Listing(["<b>"], [["<i>"]], "<u>"), Note(["<i>"])):
        html = value._repr_html_()
        assert "&lt;i&gt;" in html
        assert not {"<b>", "<i>", "<u>"} & set(html.split())


def test_stop_closes_the_server_that_is_named_and_says_so(shell):
    """By its variable, its port or its address; the newest without a name."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(gqlnb.serve(gqlnb.reference_schema(), port=0)) for _ in range(5)
        ]
        shell.user_ns["mine"], shell.user_ns["other"] = servers[1], "a text"
        by_name, by_port, by_address = servers[1], servers[0], servers[2]
        words = ["mine", by_port.port, f"{by_address.url}/", ""]
        for word, closed in zip(words, [by_name, by_port, by_address, servers[4]], strict=True):
            assert f"Closed {closed.url}. Still" in str(run(shell, f"%graphql stop {word}"))
            assert closed.closed
        assert not servers[3].closed
        for word in ("mine", "other", "80"):
            assert f"Open: {servers[3].url}." in failure(shell, f"%graphql stop {word}")
        assert str(run(shell, "%graphql stop")) == f"Closed {servers[3].url}."


def test_an_empty_line_lists_the_subcommands(shell):
    """An extra word is an error."""
    listing = run(shell, "%graphql")
    assert [row[0] for row in listing] == [f"%graphql {word}" for word in SUBCOMMANDS]
    assert listing.note == "An operation: %graphql { hello }. All options: %%graphql --help"
    assert "``" not in str(list(listing))  # markup of docstrings
    run(shell, "%graphql schema { hello }")
    run(shell, "%graphql use schema")
    assert run(shell, "%graphql").note.startswith(
        "The current connection is schema. 1 operation in %graphql history."
    )
    assert "'x' is one word too many." in failure(shell, "%graphql connections x")
    assert "unknown option '-x'. It takes none." in failure(shell, "%graphql stop -x")


def test_an_endpoint_is_described(shell):
    """The report is a table; with the options of the method."""
    report = run(shell, "%graphql endpoint schema --max-requests 30")
    assert report.find("queries").finding == "6"
    assert "<table" in report._repr_html_()
    planned = run(shell, "%graphql endpoint -c schema --dry-run")
    assert planned.is_planned
    assert "lists= 'hullo'" in failure(shell, "%graphql endpoint schema --list hullo")
    assert "not a connection of a settings file" in failure(
        shell, "%graphql endpoint schema --keep"
    )
