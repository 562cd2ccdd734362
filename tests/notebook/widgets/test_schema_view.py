"""Schema index, documentation pages, and the schema view."""

import gc
import json
import threading
import weakref

import pytest
from graphql import build_schema
from hypothesis import given
from hypothesis import strategies as st

import gqlnb
from gqlnb import Client, SchemaView, TargetError, serve
from gqlnb.notebook.schema_docs import LINKS, ROWS, SchemaDocs
from gqlnb.notebook.schema_search import SchemaIndex, get_index, split_search_words
from tests.benchmarks.big_schema import big_sdl

SDL = '''
"""
Where one begins. Has `code` and <b>markup</b>.

Second paragraph.
"""
type Query { users(first: Int = 10, order: Order = {by: NAME}): [User!]! node: Node any: Any }
"A person who stars repositories."
type User implements Node { id: ID! login: String! boss: User
  old: Int @deprecated(reason: "Use login.") }
type Repository implements Node { id: ID! stargazerCount: Int! owner: User! }
interface Node { "Names it." id: ID! }
union Any = User | Repository
enum By { "By name." NAME AGE @deprecated }
input Order { by: By! = NAME up: Boolean = true }
scalar Day @specifiedBy(url: "https://example.com/day")
directive @cost("How much." points: Int = 1) repeatable on FIELD | QUERY
type Subscription { day: Day }
'''
SCHEMA = build_schema(SDL)
ONE = "type Query { hello: String }"
TOKEN = "canary-sch3ma"


def places(words, schema=SCHEMA, limit=50):
    """Return the places that are found."""
    return [it.place for it in SchemaIndex(schema).search(split_search_words(words), limit)[0]]


def sheet(place, schema=SCHEMA):
    """Return a sheet."""
    return SchemaDocs(schema).build_message(place)


def text(pieces):
    """Return pieces as they are read."""
    return "".join(piece[0] for piece in pieces)


def rows(made, name):
    """Return the rows of a section, by place."""
    found = next(section for section in made["sections"] if section["name"] == name)
    return {row["place"]: row for row in found["rows"]}


# ---------------------------------------------------------------- searching


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("user", ["User", "Query.users", "User.id"]),  # exactly, at the beginning, what it is in
        ("count", ["Repository.stargazerCount"]),
        ("stars", ["User"]),  # in a description
        ("user boss", ["User.boss"]),
        ("User.boss", ["User.boss"]),
        ("users first", ["Query.users(first)"]),
        ("@cost", ["@cost"]),
        ("points", ["@cost(points)"]),
        ("name", ["By.NAME", "Node.id"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_search_results_are_ranked(words, first):
    """Names before descriptions, whole names before parts."""
    found = places(words)
    if words == "user":
        assert found[:2] == first[:2]
    else:
        assert found[: len(first)] == first
        assert bool(found) == bool(first)


def test_type_dot_field_ranks_first():
    """Before descriptions with both words."""
    schema = build_schema('type User { name: ID } type Query { "One user by name." user: User }')
    assert places("User.name", schema) == ["User.name", "Query.user"]
    assert places("name user", schema) == ["User.name", "Query.user"]


def test_counts_are_singular_for_one():
    """In the note on the first page."""
    assert text(sheet("", build_schema(ONE))["notes"][0]).startswith("1 type, ")


def test_hits_are_sent_in_batches_and_counted():
    """Joined batches equal the full list of hits."""
    index = SchemaIndex(SCHEMA)
    all_of, total = index.search(["i"], 1000)
    assert len(all_of) == total > 10
    for size in (1, 3, 7):
        found = []
        while (part := index.search(["i"], size, len(found)))[0]:
            assert part[1] == total
            found += part[0]
        assert found == all_of


@given(st.text("aeinorst _.", max_size=8), st.integers(1, 60))
def test_a_limited_search_is_a_prefix_of_the_full_one(words, limit):
    """For any text."""
    index = get_index(SCHEMA)
    whole, total = index.search(split_search_words(words), 10_000)
    assert len(whole) == total
    assert index.search(split_search_words(words), limit) == (whole[:limit], total)


def test_a_mistyped_search_gets_a_suggestion():
    """Names with the same first letters are suggested."""
    assert get_index(SCHEMA).suggest_names("repositry") == ["Repository"]


def test_the_index_is_cached_for_the_life_of_its_schema():
    """It does not keep the schema alive."""
    schema = build_schema(SDL)
    assert get_index(schema) is get_index(schema)
    gone = weakref.ref(schema)
    del schema
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------- sheets


def test_a_type_page_has_fields_and_links():
    """Fields, deprecations with their reasons, links in both directions."""
    made = sheet("User")
    assert made["kind"] == "type"
    assert made["crumbs"] == [["Schema", ""], ["User", "User"]]
    assert text(made["notes"][0]) == "Implements Node"
    fields = rows(made, "Fields")
    assert fields["User.boss"]["code"] == [["boss", "User.boss"], [": "], ["User", "User"]]
    assert fields["User.old"]["deprecated"] == "Use login."
    users = {row["place"]: row["via"] for row in made["links"]["from"]["rows"]}
    member = "is one of"
    assert users == {"Any": member, "Node": member, "Query": "users", "Repository": "owner"}
    assert made["links"]["to"]["rows"] == []
    to = {row["place"]: row["via"] for row in sheet("Query")["links"]["to"]["rows"]}
    assert to == {"User": "users", "Node": "node", "Any": "any", "Order": "users(order)"}


def test_a_field_page_has_arguments_and_subfields():
    """With defaults; an argument found by the search is marked."""
    made = sheet("Query.users(order)")
    assert text(made["code"]) == "users: [User!]!"
    assert made["mark"] == "Query.users(order)"
    arguments = rows(made, "Arguments")
    assert text(arguments["Query.users(first)"]["code"]) == "first: Int = 10"
    order = text(arguments["Query.users(order)"]["code"])
    assert order.startswith(
        "order: Order = {"
    )  # graphql-core 3.2 writes it with what it defaults to
    assert "by: NAME" in order
    assert "User.login" in rows(made, "Fields of User")


def test_every_kind_of_type_has_a_page():
    """Enums, inputs, scalars, unions and directives, with their members."""
    enum = sheet("By.AGE")
    assert (enum["title"], enum["mark"]) == ("By", "By.AGE")
    assert rows(enum, "Values")["By.AGE"]["deprecated"] == "No longer supported"
    assert text(rows(sheet("Order"), "Fields")["Order.by"]["code"]) == "by: By! = NAME"
    assert text(sheet("Day")["notes"][0]) == "Specified by https://example.com/day"
    assert list(rows(sheet("Any"), "Is one of")) == ["User", "Repository"]
    cost = sheet("@cost(points)")
    assert text(cost["notes"][0]) == "Repeatable, on FIELD, QUERY"
    assert text(rows(cost, "Arguments")["@cost(points)"]["code"]) == "points: Int = 1"


def test_the_first_page_lists_the_whole_schema():
    """The root types, then types by kind."""
    made = sheet("")
    names = [section["name"] for section in made["sections"]]
    assert names[:2] == ["Query", "Subscription"]
    assert names[2:] == [
        "Types",
        "Interfaces",
        "Unions",
        "Enums",
        "Inputs",
        "Scalars",
        "Directives",
    ]
    assert "Second paragraph." in sheet("Query")["about"]


def test_long_pages_are_sent_in_batches():
    """Rows and links; a highlighted row is sent with the first batch."""
    values = " ".join(f"V{number}" for number in range(1000))
    users = " ".join(f"type T{number} {{ big: Big }}" for number in range(300))
    schema = build_schema(f"type Query {{ big: Big }} enum Big {{ {values} }} {users}")
    sheets = SchemaDocs(schema)
    made = sheets.build_message("Big.V900")
    (section,) = made["sections"]
    assert (section["total"], len(section["rows"])) == (1000, ROWS)
    assert [row["place"] for row in section["marked"]] == ["Big.V900"]
    assert [row["place"] for row in sheets.build_rows("Big", "Values", 60)][:1] == ["Big.V60"]
    assert sheets.build_rows("Big", "Values", 1000) == sheets.build_rows("Big", "none", 0) == []
    links = made["links"]["from"]
    assert (links["total"], len(links["rows"])) == (301, LINKS)
    assert len(sheets.build_links("Big", "from", LINKS)) == 200


def test_control_characters_are_removed():
    """Escape sequences and bidirectional marks; line breaks are preserved."""
    schema = build_schema('"one\\n\\u001b[31mtwo\\u202e" type Query { a: Int }')
    assert sheet("Query", schema)["about"] == "one\n [31mtwo "


def test_an_unknown_place_is_an_error():
    """As for the subcommand in a cell."""
    for place in ("Usr", "User.lgin", "@csot", "User.login.x", "("):
        with pytest.raises(TargetError, match="has no"):
            sheet(place)


# ---------------------------------------------------------------- the widget


class Front:
    """The messages a view would get."""

    def __init__(self, view):
        self.view, self.sent, self.news = view, [], threading.Condition()
        view.send = self._take

    def _take(self, message, buffers=None):
        with self.news:
            self.sent.append(message)
            self.news.notify_all()

    def ask(self, **message):
        """Send a message, and return its answer."""
        self.view._receive(self.view, {**message, "id": "1"}, None)
        with self.news:
            assert self.news.wait_for(lambda: self.sent, 30)
            return self.sent.pop()


def test_the_widget_answers_messages_of_its_views():
    """Pages, batches, hits and errors; other messages are ignored."""
    front = Front(SchemaView(SCHEMA, "User"))
    assert front.ask(kind="hello")["sheet"]["title"] == "User"
    assert front.ask(kind="open", place="Query.users")["sheet"]["place"] == "Query.users"
    assert (
        front.ask(kind="rows", place="User", section="Fields", at=1)["rows"][0]["place"]
        == "User.login"
    )
    assert front.ask(kind="links", place="User", side="from", at=0)["rows"]
    found = front.ask(kind="search", text="repositry", at=0)
    assert (found["total"], found["near"]) == (0, ["Repository"])
    assert front.ask(kind="search", text="boss", at=0)["rows"][0]["place"] == "User.boss"
    assert "has no type 'Usr'" in front.ask(kind="open", place="Usr")["text"]
    front.view._receive(front.view, {"kind": "open", "place": 3}, None)
    front.view._receive(front.view, "x", None)
    assert front.sent == []


def test_every_kind_of_target_is_accepted():
    """Schemas of this process, names, addresses, clients; also SDL and introspection."""
    own = gqlnb.Schema("type Query { hello: String }")
    with serve(own, port=0) as server:
        for target in (own, own.graphql, Client(own), Client(server.url), server.url, "demo"):
            assert "Query" in SchemaView(target).schema.type_map
    assert repr(SchemaView("type Query { hello: Kind } enum Kind { A }")) == "SchemaView(2 types)"
    with pytest.raises(TargetError, match="no type 'Usr'"):
        SchemaView(SCHEMA, "Usr")
    with pytest.raises(TargetError, match="No connection is called"):
        SchemaView("nobody")


def test_the_saved_state_is_small_and_escaped():
    """The first page is saved as shortened HTML, with a line of text and little state."""
    for view in (SchemaView(SCHEMA, "Query"), SchemaView(big_sdl())):
        bundle, _ = view._repr_mimebundle_()
        assert len(json.dumps([bundle, view.get_state()])) < 20_000 + 6_000
        assert len(bundle["text/html"].encode()) < 20_500
        assert "<b>markup" not in bundle["text/html"]
        assert bundle["text/plain"].startswith("SchemaView(")
    assert "&lt;b&gt;markup" in SchemaView(SCHEMA, "Query")._build_html()


def test_no_state_contains_a_token(spelled):
    """The client and its token stay in the kernel."""
    client = Client("http://127.0.0.1:9/graphql", token=gqlnb.Token(TOKEN), schema=SDL)
    view = SchemaView(client)
    front = Front(view)
    seen = [view.get_state(), view._repr_mimebundle_(), repr(view), vars(view)]
    seen += [front.ask(kind="hello"), front.ask(kind="search", text="user", at=0)]
    whole = repr(seen).encode()
    assert not [form for form in spelled(TOKEN) if form in whole]


def test_pages_and_hits_are_available_in_python():
    """As text and as HTML, the same as in a cell."""
    view = SchemaView(SCHEMA)
    assert "login: String!" in repr(view.page("User"))
    assert [row[0] for row in view.search("boss")] == ["User.boss"]
    assert "matches 'zzz'" in repr(view.search("zzz"))
    assert ("leads here", "Repository", "owner") in list(view.links("User"))
    assert ("leads to", "User", "users") in list(view.links("Query"))
    assert "and 3 more" in repr(view.links("Query", limit=1))
    with pytest.raises(TargetError, match="Did you mean 'User'"):
        view.links("Usr")


def test_a_type_shows_all_of_its_fields():
    """In a box that scrolls; text has the first ones in full, and the names of the others."""
    fields = SchemaView("demo").schema.type_map["Repository"].fields
    page = SchemaView("demo").page("Repository")
    html, text = page.to_html(), repr(page)
    assert 'class="gqlnb-box" role="group" aria-label="Fields" tabindex="0"' in html
    assert all(f">{name}" in html and name in text for name in fields)
    assert "… and 30 more: " in text


def test_a_saved_view_shows_all_root_fields():
    """Further sections are shortened first."""
    view = SchemaView("demo")
    html = view._build_html()
    assert all(f">{name}" in html for name in view.schema.query_type.fields)
