"""The REST service: every path, method and status."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests

from gqlnb.errors import AuthError
from gqlnb.github import rest
from gqlnb.github.repositories import Language, Owner, Repository, load_snapshot
from gqlnb.github.standin.repository_search import Population
from gqlnb.tokens import Token
from tests.asgi import Exchange, ask_app

KEYS = {"ada": Token("key-of-ada"), "bob": Token("key-of-bob")}
HOME = "http://localhost"
METHODS = {
    "/": {"GET"},
    "/repositories": {"GET", "POST"},
    "/repository/1": {"GET", "PUT", "DELETE"},
}


def make_rows(count: int = 5) -> Population:
    """Return repositories of one owner, ada, with 100, 99, ... stars."""
    ada, python = Owner("ada", "User"), Language("Python")
    day = "2026-08-01T00:00:00Z"
    return Population.from_repositories(
        Repository(f"r{it}", ada, 100 - it, it, python if it else None, day) for it in range(count)
    )


class Caller:
    """A caller of an application, without sockets; keeps its headers from call to call."""

    def __init__(self, **options: Any) -> None:
        self.app = rest.app(**({"data": make_rows(), "keys": KEYS} | options))
        self.headers: dict[str, str] = {"host": "localhost"}

    def call(self, method: str, path: str, body: object = None, **headers: str | None) -> Exchange:
        """Send a request; return its answer."""
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        path = path.removeprefix(HOME)
        return ask_app(self.app, method, path, {**self.headers, **named}, raw)


@pytest.fixture
def anyone():
    """Return a caller without a key, of a service of five repositories."""
    return Caller()


@pytest.fixture
def ada():
    """Return a caller with the key of ada, who owns the five repositories."""
    caller = Caller()
    caller.headers["x-api-key"] = "key-of-ada"
    return caller


def follow(answer: Exchange, rel: str) -> str | None:
    """Return the address of a relation in the ``Link`` header."""
    links = requests.utils.parse_header_links(answer.headers.get("link", ""))
    return next((it["url"] for it in links if it.get("rel") == rel), None)


def test_every_resource_is_linked_from_the_index(anyone):
    """Links lead from ``/`` to the list, and to an item."""
    index = anyone.call("GET", "/").json
    assert index == {
        "repositories_url": f"{HOME}/repositories{{?page,per_page}}",
        "repository_url": f"{HOME}/repository/{{id}}",
    }
    listed = anyone.call("GET", index["repositories_url"].partition("{")[0]).json
    assert listed[1] == {"id": 2, "name": "r1", "url": f"{HOME}/repository/2"}
    assert anyone.call("GET", listed[1]["url"]).json == {
        "id": 2,
        "name": "r1",
        "owner": {"login": "ada"},
        "stars": 99,
        "forks": 1,
        "language": "Python",
        "url": f"{HOME}/repository/2",
    }


def test_the_snapshot_is_the_default():
    """Without `data` the service has the rows of the GraphQL stand-in, by the same order."""
    caller = Caller(data=None)
    for number in (1, 100, len(load_snapshot())):
        row, found = load_snapshot()[number - 1], caller.call("GET", f"/repository/{number}").json
        assert (found["name"], found["stars"]) == (row.name, row.stars)


def test_pages_lead_to_each_other(anyone):
    """Following rel=next from the first page lists every row once, to the page of rel=last."""
    answer, seen = anyone.call("GET", "/repositories?per_page=2"), []
    last = anyone.call("GET", str(follow(answer, "last")))
    while True:
        seen += [row["id"] for row in answer.json]
        following = follow(answer, "next")
        if following is None:
            break
        answer = anyone.call("GET", following)
    assert seen == [1, 2, 3, 4, 5]
    assert last.json == answer.json
    assert anyone.call("GET", "/repositories?page=99&per_page=2").json == []
    assert "link" not in anyone.call("GET", "/repositories").headers


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "page=", "page=1.5", "per_page=101", "page=" + "9" * 99, "q=x"]
)
def test_an_invalid_or_unknown_parameter_is_400(anyone, query):
    """The refusal names the parameter."""
    answer = anyone.call("GET", f"/repositories?{query}")
    assert answer.status == 400
    assert query.partition("=")[0] in answer.json["message"]


def test_an_unchanged_item_is_304(ada):
    """With the ETag of an earlier answer nothing is sent again, until it has changed."""
    for path in ("/repository/1", "/repositories"):
        tag = ada.call("GET", path).headers["etag"]
        same = ada.call("GET", path, if_none_match=f'"other", W/{tag}')
        assert (same.status, same.json, same.headers["etag"]) == (304, None, tag)
    ada.call("PUT", "/repository/1", {"name": "renamed"})
    changed = ada.call("GET", "/repository/1", if_none_match=tag)
    assert (changed.status, changed.json["name"]) == (200, "renamed")


def test_a_repository_is_created_replaced_and_deleted(ada):
    """GET shows what POST, PUT and DELETE did, and an id is never given twice."""
    made = ada.call("POST", "/repositories", {"name": "new"})
    assert (made.status, made.headers["location"]) == (201, f"{HOME}/repository/6")
    wanted = {"id": 6, "name": "new", "stars": 0, "forks": 0, "language": None}
    assert wanted.items() <= made.json.items()
    assert ada.call("GET", made.headers["location"]).json == made.json
    assert ada.call("GET", "/repositories").json[-1]["name"] == "new"

    changed = ada.call("PUT", "/repository/6", {"name": "newer", "language": "Rust"})
    assert changed.json == {**made.json, "name": "newer", "language": "Rust"}
    # PUT replaces: a member that it does not name is gone.
    assert ada.call("PUT", "/repository/6", {"name": "newer"}).json["language"] is None

    assert ada.call("DELETE", "/repository/6").json["deleted"]["id"] == 6
    assert ada.call("GET", "/repository/6").status == 404
    assert ada.call("DELETE", "/repository/6").status == 404
    assert ada.call("POST", "/repositories", {"name": "new"}).json["id"] == 7
    assert Caller().call("GET", "/repository/7").status == 404  # services share no rows


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "truncated"),
        (b"\xff{}", "malformed"),
        (b"[" * 60_000, "not valid"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{}", "missing required field `name`"),
        (b'{"name": 1}', "Expected `str`, got `int` - at `$.name`"),
        (b'{"name": "a/b"}', "`name` takes 1 to 100 letters, digits, periods"),
        (b'{"name": ".."}', "`name` takes 1 to 100 letters, digits, periods"),
        (b'{"name": "a\\n"}', "`name` takes 1 to 100 letters, digits, periods"),
        (b'{"name": "new", "stars": 9}', "unknown field `stars`"),
        (b'{"name": "' + b"a" * 70_000 + b'"}', "The body is too large"),
    ],
)
def test_an_invalid_body_is_400(ada, body, reason):
    """Nothing is written, and the refusal says why."""
    for method, path in [("POST", "/repositories"), ("PUT", "/repository/2")]:
        answer = ada.call(method, path, body)
        assert answer.status == 400
        assert reason in answer.json["message"]
    assert [row["name"] for row in ada.call("GET", "/repositories").json][:2] == ["r0", "r1"]


@pytest.mark.parametrize("key", [None, "", "wrong", "key-of-ada2", "Bearer key-of-ada"])
def test_writing_without_a_key_is_401(key):
    """Before it is said whether there is such a repository, and also of a service without keys."""
    for caller in (Caller(), Caller(keys=None)):
        for method, path in [("POST", "/repositories"), ("PUT", "/repository/9")]:
            answer = caller.call(method, path, {"name": "new"}, x_api_key=key)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "X-API-Key")


def test_a_key_as_text_is_refused():
    """It would be saved with the notebook."""
    with pytest.raises(AuthError):
        rest.app(keys={"ada": "key-of-ada"})


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_the_repository_of_another_is_403(anyone, method):
    """The message says whose it is."""
    answer = anyone.call(method, "/repository/1", {"name": "mine"}, x_api_key="key-of-bob")
    assert (answer.status, answer.json["message"]) == (403, "r0 belongs to ada, not to bob.")


@pytest.mark.parametrize(
    "path",
    [
        *("/x", "/graphql", "/repositories/", "/REPOSITORIES", "//repositories", "/repository"),
        *("/repository/", "/repository/1/", "/repository/0", "/repository/6", "/repository/x"),
        *("/repository/01", "/repository/" + "9" * 5000),
    ],
)
def test_another_path_or_id_is_404(ada, path):
    """There are no redirects."""
    answer = ada.call("GET", path)
    assert answer.status == 404
    assert "repositor" in answer.json["message"].lower()


@pytest.mark.parametrize("path", METHODS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_another_method_is_405(ada, path, method):
    """``Allow`` names those that are answered."""
    answer = ada.call(method, path, {"name": "new"})
    assert (answer.status == 405) == (method not in METHODS[path])
    if answer.status == 405:
        assert set(answer.headers["allow"].split(", ")) == METHODS[path]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost, evil.example", 403),
        ("", 403),
    ],
)
def test_a_rebound_name_cannot_read(anyone, host, status):
    """A page of another site could have pointed its name at this machine."""
    assert anyone.call("GET", "/repositories", host=host).status == status


def test_a_rest_service_is_served_over_http():
    """A 304 has no body; no page of another site may send a key, as a preflight is refused."""
    with rest.serve(port=0, data=make_rows()) as server, requests.Session() as session:
        session.trust_env = False
        get = session.get(f"{server.url}/repository/1", timeout=20)
        known = {"If-None-Match": get.headers["etag"]}
        same = session.get(get.json()["url"], headers=known, timeout=20)
        assert (same.status_code, same.content) == (304, b"")
        assert session.post(f"{server.url}/repositories", json={"name": "x"}).status_code == 401
        preflight = session.options(f"{server.url}/repositories", timeout=20)
        assert preflight.status_code == 405
        assert "access-control-allow-headers" not in preflight.headers
        assert repr(server) == "RestServer(port=0)"


def test_uvicorn_finds_the_factory():
    """By the name that the documentation gives."""
    from uvicorn.importer import import_from_string

    assert import_from_string("gqlnb.github.rest:app") is rest.RestApp
