"""The answers of the kernel to JupyterLab's panel."""

from __future__ import annotations

import json
import re
import time

import pytest

import gqlnb
from gqlnb import config
from gqlnb.client import connections
from gqlnb.client.http_transport import HttpTransport
from gqlnb.http.messages import Request, Response
from gqlnb.notebook.panel import Panel
from tests.notebook.cells import SECRET, run

ADDRESS = "http://127.0.0.1:9/graphql"
USER_FILE = f"""# mine
version = 1

# the first
[connections.mine]
url = "{ADDRESS}"  # local
token = "env:MY_TOKEN"

# the second
[connections.other]
url = "{ADDRESS}"

[foreign]
kept = [ 1,2 ]
"""


@pytest.fixture
def ask(shell):
    """Return a function that asks the panel's questions, and waits for the answer."""
    panel = Panel(shell.magics_manager.magics["cell"]["graphql"].__self__.state)

    def ask_it(word: str, **message: object) -> dict:
        text = json.dumps({"do": word, "job": str(time.monotonic()), **message})
        while (answer := panel.answer(text)) == {"waiting": True}:
            time.sleep(0.01)
        return answer

    return ask_it


@pytest.fixture
def user_file(shell):
    """Write the user's connections, with another end of line in one of them."""
    path = config.get_user_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(USER_FILE.replace("# mine\n", "# mine\r\n").encode())
    return path


def endpoints(answer):
    """Return the endpoints by name."""
    return {it["name"]: it for it in answer["endpoints"]}


def test_endpoints_are_listed_without_their_secrets(ask, shell, user_file, monkeypatch):
    """Of files, built in, and of the notebook; nothing is opened."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    shell.user_ns["client"] = gqlnb.Client(ADDRESS, token="env:MY_TOKEN")
    state = ask("state")
    found = endpoints(state)
    assert {"demo", "github", "mine", "other", "client", "schema"} <= set(found)
    assert found["mine"]["about"] == f"{ADDRESS}, token env:MY_TOKEN"
    assert found["mine"]["editable"]
    assert not found["client"].get("editable")
    assert found["client"]["token"] == "env:MY_TOKEN"
    assert found["schema"]["local"]
    assert "MY_TOKEN" in state["variables"]
    assert not connections.is_open("mine")
    assert SECRET not in json.dumps(state)


def test_an_open_endpoint_is_described_without_opening_it_again(ask, user_file, monkeypatch):
    """Its token may be gone since then, and its changed settings may ask for one."""
    monkeypatch.setenv("MY_TOKEN", SECRET)
    client = connections.get_client("mine")
    monkeypatch.delenv("MY_TOKEN")
    user_file.write_text(USER_FILE.replace("env:MY_TOKEN", "prompt"))
    assert endpoints(ask("state"))["mine"]["token"] == "env:MY_TOKEN"
    assert connections.get_open_client("mine") is client


def test_an_endpoint_is_added_renamed_and_removed(ask, user_file):
    """All other bytes of the file stay."""
    before = user_file.read_bytes()
    assert "third" in endpoints(
        ask("add", name="third", url=ADDRESS, token="keyring:third") and ask("state")
    )
    assert 'token = "keyring:third"' in user_file.read_text()
    assert "last" in endpoints(ask("change", name="third", new_name="last") and ask("state"))
    assert "last" not in endpoints(ask("change", name="last", new_name=None) and ask("state"))
    assert user_file.read_bytes().rstrip() == before.rstrip()
    user_file.write_bytes(before)
    ask("change", name="mine", new_name="first")
    assert user_file.read_bytes() == before.replace(b"[connections.mine]", b"[connections.first]")
    ask("change", name="first", new_name=None)
    table = before[before.index(b"[connections.mine]") : before.index(b"# the second")]
    assert user_file.read_bytes().replace(b"\n", b"") == before.replace(table, b"").replace(
        b"\n", b""
    )


def test_an_endpoint_of_the_project_is_renamed_in_its_file(ask, shell):
    """With a table of headers, quoted keys, and dots."""
    text = (
        '[tool.other]\na=1\n\n[tool.gqlnb.connections."work"]\nurl = "http://127.0.0.1:1/x"\n'
        '[tool.gqlnb.connections.work.headers]\nX-A = "env:A"\n'
    )
    with open("pyproject.toml", "w") as opened:
        opened.write(text)
    ask("use", name="work")
    assert ask("change", name="work", new_name="job") == {"path": "pyproject.toml"}
    assert ask("state")["current"] == "job"
    with open("pyproject.toml") as opened:
        assert opened.read() == text.replace('"work"', "job").replace("work", "job")
    ask("use", name="demo")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"name": "mine", "new_name": "other"}, "'other' is taken"),
        ({"name": "mine", "new_name": "a b"}, "not a valid name"),
        ({"name": "demo", "new_name": "x"}, "No settings file has"),
    ],
)
def test_a_change_that_cannot_be_made_is_an_error(ask, user_file, message, words):
    """And leaves the file as it was."""
    before = user_file.read_bytes()
    assert words in ask("change", **message)["error"]
    assert user_file.read_bytes() == before


def test_a_file_whose_other_tables_would_change_is_left_to_a_person(ask, shell):
    """Where tomlkit moves the array of tables behind the headers."""
    path = config.get_user_file()
    path.parent.mkdir(parents=True)
    text = f"[connections.mine]\nurl = '{ADDRESS}'\n[[x]]\n[connections.mine.headers]\nA = 'b'\n"
    path.write_text(text)
    for new_name in (None, "renamed"):
        assert "edited by hand" in ask("change", name="mine", new_name=new_name)["error"]
    assert path.read_text() == text


def test_a_typed_text_is_never_a_token(ask, user_file):
    """Only sources from the list are taken."""
    for token in (SECRET, f"env:{SECRET}", "ghp_" + "a" * 36, "file:/etc/passwd"):
        assert "from the list" in ask("add", name="x", url=ADDRESS, token=token)["error"]
    assert SECRET not in user_file.read_text()


def test_an_endpoint_is_tested_only_when_asked(ask, shell):
    """It tells the time, or the error."""
    assert ask("test", target="schema")["text"].startswith("Answered in ")
    assert "127.0.0.1:9" in ask("test", target=ADDRESS)["error"]


def test_an_endpoint_that_asks_for_its_token_is_opened_in_a_cell(ask, user_file):
    """No thread can prompt."""
    user_file.write_text(USER_FILE.replace("env:MY_TOKEN", "prompt"))
    assert endpoints(ask("state"))["mine"]["asks"]
    for word in ("test", "load"):
        assert "asks for its token" in ask(word, target="mine")["error"]


def test_the_tree_opens_by_paths(ask):
    """Root types, fields, members of a union; leaves do not open."""
    ask("load", target="demo")
    rows = ask("children", target="demo", path=[])["rows"]
    assert [it["place"] for it in rows] == ["Query"]
    rows = ask("children", target="demo", path=["Query"])["rows"]
    assert "Query.search" in [it["place"] for it in rows]
    rows = ask("children", target="demo", path=["Query.search", "SearchResultItemConnection.nodes"])
    assert {"place": "Repository", "opens": True} in [
        {key: it[key] for key in ("place", "opens")} for it in rows["rows"]
    ]
    rows = {it["place"]: it for it in ask("children", target="schema", path=["Query.rows"])["rows"]}
    assert rows["Row.bad"]["deprecated"]
    assert not rows["Row.n"]["opens"]


def test_a_schema_that_is_not_loaded_is_not_asked_for(ask, user_file):
    """The panel offers to load it."""
    assert "is not loaded" in ask("children", target="other", path=[])["error"]
    assert not connections.is_open("other")


def test_search_documentation_and_cells(ask, shell):
    """Of a schema of the notebook."""
    found = ask("search", target="schema", text="fails")
    assert [(it["place"], it["deprecated"]) for it in found["rows"]] == [("Row.bad", True)]
    shell.user_ns["long"] = gqlnb.Schema(
        f'type Query {{ "{"long " * 90}" a: Int @deprecated(reason: "No.") b: Int }}'
    )
    assert [it["deprecated"] for it in ask("search", target="long", text="Query.a")["rows"]] == [
        True
    ]
    assert ask("search", target="schema", text="hallo")["note"] == "0 hits. Did you mean hello?"
    assert "Adds two numbers." in ask("document", target="schema", place="Query.add")["html"]
    assert ask("insert", target="schema", path=["Query.add"]) == {"text": "add(a: 0)"}
    assert ask("write", target="schema", path=["Query.add"]) == {
        "cell": "%%graphql schema -p a=1\nquery ($a: Int!) {\n  add(a: $a)\n}"
    }
    assert ask("paths", target="schema", path=["Row.bad"])["rows"] == [
        {"path": ("Query.rows",), "text": "rows"}
    ]
    assert "no field 'nothing'" in ask("document", target="schema", place="Query.nothing")["error"]


def test_a_new_cell_runs(ask, shell):
    """With the values of its variables."""
    cell = ask("write", target="schema", path=["Query.add"])["cell"]
    assert run(shell, cell).data == {"add": 1}


def test_a_sample_has_five_rows_and_changes_nothing(ask):
    """A mutation is not sent."""
    path = ["Query.search", "SearchResultItemConnection.nodes", "Repository"]
    ask("load", target="demo")
    html = ask("sample", target="demo", path=path)["html"]
    assert html.count("<tr") == 6
    assert "build-your-own-x" in html
    assert "Only a query" in ask("sample", target="schema", path=["Mutation.put"])["error"]
    assert "hello" in ask("sample", target="schema", path=["Query.hello"])["html"]


def test_only_load_sample_and_test_send_requests(ask, shell, monkeypatch):
    """One each; nothing else does, whatever is looked at."""
    sent, send = [], HttpTransport.send

    def note(transport: HttpTransport, request: Request) -> Response:
        sent.append(request)
        return send(transport, request)

    monkeypatch.setattr(HttpTransport, "send", note)
    sdl = "type Query { rows: [Row!]! } type Row { id: ID! }"
    with gqlnb.serve(gqlnb.Schema(sdl, {"Query": {"rows": lambda *_: [{"id": 1}]}}), port=0) as it:
        shell.user_ns["near"] = gqlnb.Client(it.url)
        path = ["Query.rows"]
        ask("state")
        assert not sent
        for word, given in (
            ("load", {}),
            ("search", {"text": "id"}),
            ("children", {"path": ["Query"]}),
            ("document", {"place": "Row.id"}),
            ("insert", {"path": path}),
            ("write", {"path": path}),
            ("paths", {"path": ["Row"]}),
            ("sample", {"path": path}),
            ("test", {}),
        ):
            before = len(sent)
            answer = ask(word, target="near", **given)
            assert "error" not in answer, answer
            assert len(sent) - before == (word in {"load", "sample", "test"}), word


def test_the_history_has_rows_time_and_completeness(ask, shell):
    """The latest first, each as a cell; saved cells beside it."""
    search = '%%graphql demo --save two\n{ search(query: "", type: REPOSITORY, first: 2) {'
    run(
        shell, f"{search} nodes {{ ... on Repository {{ name }} }} pageInfo {{ hasNextPage }} }} }}"
    )
    run(shell, "%%graphql schema\n{ fail }")
    run(shell, "%%graphql schema -t frame\n{ rows { n } }")
    state = ask("state")
    latest, failed, first = state["history"]
    assert re.fullmatch(r"schema · 2 rows · complete · \d+ ms", latest["about"])
    assert re.match(r"schema · 1 error\b", failed["about"])
    assert re.fullmatch(r"demo · 2 rows · more exist · \d+ ms", first["about"])
    assert first["cell"].startswith("%%graphql demo\n{ search")
    assert state["snippets"][0]["name"] == "two"
    assert state["snippets"][0]["cell"].startswith("%%graphql\n{ search")


def test_edits_use_the_schema_that_the_cell_names(ask, shell):
    """Or that of the endpoint that a bare cell asks."""
    code = "%%graphql schema\n{ rows { n } }"
    at = code.index("n }")
    answer = ask("edit", action="fragment", code=code, start=at, end=at + 1, text="Parts")
    assert answer["code"].endswith("fragment Parts on Row {\n  n\n}")
    answer = ask("edit", action="document", code=code, start=at, end=at)
    assert answer == {"target": "schema", "place": "Row.n"}
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        shell.user_ns["server"] = server
        ask("load", target="server")
        answer = ask("edit", action="document", code="%%graphql\n{ hello }", start=13, end=13)
    assert answer == {"target": "server", "place": "Query.hello"}
    code = "%%graphql\n{ a: b }"
    answer = ask("edit", action="rename", code=code, start=12, end=12, text="c")
    assert answer == {"code": "%%graphql\n{ c: b }"}


def test_a_formatted_text_must_say_the_same(ask):
    """Spaces and commas do not count, those within a text do."""
    code = '\n%%graphql demo\n{f(a:"""\nx  \ny\n""",b:1)}'
    formatted = '%%graphql demo\n{\n  f(\n    a: """\n    x  \n    y\n    """\n    b: 1\n  )\n}'
    edit = {"action": "format", "code": code, "start": 0, "end": 0}
    assert ask("edit", **edit, text=formatted) == {"code": formatted}
    error = ask("edit", **edit, text=formatted.replace("x  ", "x"))["error"]
    assert "the cell stays as it was" in error


def test_an_unknown_question_is_answered_by_an_error(ask):
    """As every other exception is."""
    assert ask("nothing")["error"].startswith("AttributeError")
    assert ask("children", target=1, path=[])["error"]
