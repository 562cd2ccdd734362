"""The REST service: every path, method and status; keys, limits and logins."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from gqlnb.errors import AuthError, ServerError
from gqlnb.github import rest
from gqlnb.github.repositories import Language, Owner, Repository, load_snapshot
from gqlnb.github.standin.repository_search import Population
from gqlnb.tokens import Token

if TYPE_CHECKING:
    pass

PASSWORDS = {"ada": Token("password-of-ada"), "bob": Token("password-of-bob")}
KEYS = {"one": Token("key-of-one"), "two": Token("key-of-two")}
HOME = "http://localhost"
METHODS = {
    "/": {"GET"},
    "/repositories": {"GET", "POST"},
    "/repository/1": {"GET", "PUT", "DELETE"},
    "/repository/1/star": {"POST", "DELETE"},
    "/login": {"POST"},
}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


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
        self.clock = 1_800_000_000.0
        defaults = {"data": make_rows(), "users": PASSWORDS, "clock": lambda: self.clock}
        self.app = rest.app(**(defaults | options))
        self.headers: dict[str, str] = {"host": "localhost"}

    def call(
        self, method: str, path: str, body: object = None, **headers: str | None
    ) -> SimpleNamespace:
        """Send a request; return status, headers, and the value of the body."""
        raw = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        merged = {"content-type": JSON, **self.headers, **named}
        path, _, query = path.removeprefix(HOME).partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(k.encode(), v.encode()) for k, v in merged.items() if v is not None],
        }
        sent: list[dict[str, Any]] = []

        async def run() -> None:
            async def receive() -> dict[str, Any]:
                return {"type": "http.request", "body": raw, "more_body": False}

            async def send(message: dict[str, Any]) -> None:
                sent.append(message)

            await self.app(scope, receive, send)

        asyncio.run(run())
        start, content = sent[0], sent[1]["body"]
        lines = {name.decode(): value.decode() for name, value in start["headers"]}
        value = json.loads(content) if content else None
        return SimpleNamespace(status=start["status"], headers=lines, value=value)

    def log_in(self, login: str) -> Caller:
        """Log in and keep the token."""
        body = {"login": login, "password": f"password-of-{login}"}
        token = self.call("POST", "/login", body).value["token"]
        self.headers["authorization"] = f"Bearer {token}"
        return self


@pytest.fixture
def anyone() -> Caller:
    """Return a caller who has not logged in, of a service of five repositories."""
    return Caller()


@pytest.fixture
def ada() -> Caller:
    """Return a caller logged in as ada, who owns the five repositories."""
    return Caller().log_in("ada")


def follow(answer: SimpleNamespace, rel: str) -> str | None:
    """Return the address of a relation in the ``Link`` header."""
    links = requests.utils.parse_header_links(answer.headers.get("link", ""))
    return next((it["url"] for it in links if it.get("rel") == rel), None)


# ---------------------------------------------------------------- reading


def test_every_resource_is_linked_from_the_index(anyone: Caller) -> None:
    """Links lead from ``/`` to the list, to an item, and back."""
    index = anyone.call("GET", "/").value
    assert index == {
        "repositories_url": f"{HOME}/repositories{{?page,per_page}}",
        "repository_url": f"{HOME}/repository/{{id}}",
        "star_url": f"{HOME}/repository/{{id}}/star",
        "login_url": f"{HOME}/login",
    }
    listed = anyone.call("GET", index["repositories_url"].partition("{")[0]).value
    assert listed[1] == {"id": 2, "name": "r1", "url": f"{HOME}/repository/2"}
    found = anyone.call("GET", listed[1]["url"]).value
    assert found == {
        "id": 2,
        "name": "r1",
        "owner": {"login": "ada", "type": "User"},
        "stars": 99,
        "forks": 1,
        "language": "Python",
        "pushed_at": "2026-08-01T00:00:00Z",
        "url": f"{HOME}/repository/2",
        "star_url": f"{HOME}/repository/2/star",
        "list_url": f"{HOME}/repositories",
    }
    assert anyone.call("GET", found["list_url"]).value == listed


def test_the_snapshot_is_the_default() -> None:
    """Without `data` the service has the rows of the GraphQL stand-in, by the same order."""
    caller = Caller(data=None)
    for number in (1, 100, len(load_snapshot())):
        row, found = load_snapshot()[number - 1], caller.call("GET", f"/repository/{number}").value
        assert (found["name"], found["stars"]) == (row.name, row.stars)
        assert found["owner"] == {"login": row.owner.login, "type": row.owner.kind}


def test_pages_lead_to_each_other(anyone: Caller) -> None:
    """Following rel=next from the first page lists every row once; the last page leads back."""
    answer, seen = anyone.call("GET", "/repositories?per_page=2"), []
    assert (follow(answer, "prev"), follow(answer, "first")) == (None, None)
    while True:
        seen += [row["id"] for row in answer.value]
        following = follow(answer, "next")
        if following is None:
            break
        answer = anyone.call("GET", following)
    assert seen == [1, 2, 3, 4, 5]
    assert follow(answer, "last") is None
    assert anyone.call("GET", follow(answer, "first")).value[0]["id"] == 1
    beyond = anyone.call("GET", "/repositories?page=99&per_page=2")
    assert (beyond.value, follow(beyond, "prev")) == ([], f"{HOME}/repositories?page=3&per_page=2")
    assert "link" not in anyone.call("GET", "/repositories").headers


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "page=", "page=1.5", "per_page=101", "page=" + "9" * 99, "q=x"]
)
def test_an_invalid_or_unknown_parameter_is_400(anyone: Caller, query: str) -> None:
    """The refusal names the parameter."""
    answer = anyone.call("GET", f"/repositories?{query}")
    assert answer.status == 400
    assert query.partition("=")[0] in answer.value["message"]
    assert anyone.call("GET", f"/repository/1?{query}").status == 400


def test_an_unchanged_item_is_304(ada: Caller) -> None:
    """With the ETag of an earlier answer nothing is sent again, until it has changed."""
    for path in ("/repository/1", "/repositories"):
        tag = ada.call("GET", path).headers["etag"]
        same = ada.call("GET", path, if_none_match=f'"other", W/{tag}')
        assert (same.status, same.value, same.headers["etag"]) == (304, None, tag)
        assert "content-length" not in same.headers
    tag = ada.call("GET", "/repository/1").headers["etag"]
    ada.call("POST", "/repository/1/star")
    changed = ada.call("GET", "/repository/1", if_none_match=tag)
    assert (changed.status, changed.value["stars"]) == (200, 101)


# ---------------------------------------------------------------- writing


def test_a_repository_is_created_replaced_and_deleted(ada: Caller) -> None:
    """GET shows what POST, PUT and DELETE did, and an id is never given twice."""
    made = ada.call("POST", "/repositories", {"name": "new"})
    assert (made.status, made.headers["location"]) == (201, f"{HOME}/repository/6")
    wanted = {"id": 6, "name": "new", "stars": 0, "forks": 0, "language": None, "pushed_at": None}
    assert wanted.items() <= made.value.items()
    assert ada.call("GET", made.headers["location"]).value == made.value
    assert ada.call("GET", "/repositories").value[-1]["name"] == "new"

    changed = ada.call("PUT", "/repository/6", {"name": "newer", "language": "Rust"})
    assert changed.value == {**made.value, "name": "newer", "language": "Rust"}
    # PUT replaces: a member that it does not name is gone.
    assert ada.call("PUT", "/repository/6", {"name": "newer"}).value["language"] is None

    assert ada.call("DELETE", "/repository/6").value["deleted"]["id"] == 6
    assert ada.call("GET", "/repository/6").status == 404
    assert ada.call("DELETE", "/repository/6").status == 404
    assert ada.call("POST", "/repositories", {"name": "new"}).value["id"] == 7


def test_a_form_is_read_as_json_is(ada: Caller) -> None:
    """By the ``Content-Type`` of the body."""
    made = ada.call("POST", "/repositories", b"name=new&language=C%2B%2B", content_type=FORM)
    assert (made.status, made.value["language"]) == (201, "C++")


def test_each_login_stars_once(ada: Caller) -> None:
    """POST .../star twice counts once, DELETE takes it back once, and the list follows."""
    for method, stars in [("POST", 97), ("POST", 97), ("DELETE", 96), ("DELETE", 96)]:
        answer = ada.call(method, "/repository/5/star")
        assert (answer.status, answer.value["stars"]) == (200, stars)
    ada.call("POST", "/repository/3/star")
    ada.log_in("bob").call("POST", "/repository/3/star")
    assert [row["id"] for row in ada.call("GET", "/repositories").value] == [1, 3, 2, 4, 5]


def test_services_share_no_rows(ada: Caller) -> None:
    """Writing to one changes neither another nor the snapshot."""
    ada.call("DELETE", "/repository/1")
    assert Caller().call("GET", "/repository/1").status == 200


ACTION = st.sampled_from(["POST /repositories", "PUT", "DELETE", "POST star", "DELETE star"])
STEP = st.tuples(
    ACTION, st.integers(1, 6), st.sampled_from("aBbc"), st.sampled_from(["ada", "bob"])
)


@given(st.lists(STEP, max_size=25))
def test_any_writes_leave_the_rows_of_a_plain_model(
    steps: list[tuple[str, int, str, str]],
) -> None:
    """Rows, order and statuses are those of a dict changed by hand."""
    caller, people = Caller(data=[]), {}
    for login in ("ada", "bob"):
        people[login] = caller.log_in(login).headers["authorization"]
    rows: dict[int, tuple[str, str, set[str]]] = {}
    last = 0
    for action, number, name, login in steps:
        method, _, end = action.partition(" ")
        path = end if end.startswith("/") else f"/repository/{number}{end and '/' + end}"
        body = {"name": name} if method in {"PUT", "POST"} and end != "star" else None
        found = caller.call(method, path, body, authorization=people[login]).status
        owner = rows[number][0] if number in rows else ""
        subject = owner if method == "PUT" else login
        own = None if path == "/repositories" else number
        taken = any(
            (who, it.lower()) == (subject, name.lower()) and place != own
            for place, (who, it, _) in rows.items()
        )
        if path == "/repositories":
            assert found == (400 if taken else 201)
            if not taken:
                last += 1
                rows[last] = (login, name, set())
        elif number not in rows:
            assert found == 404
        elif end == "star":
            (rows[number][2].add if method == "POST" else rows[number][2].discard)(login)
        elif owner != login:
            assert found == 403
        elif method == "DELETE":
            del rows[number]
        else:
            assert found == (400 if taken else 200)
            rows[number] = rows[number] if taken else (owner, name, rows[number][2])
    shown = [(it["id"], it["name"]) for it in caller.call("GET", "/repositories").value]
    ordered = sorted(rows.items(), key=lambda item: (-len(item[1][2]), item[0]))
    assert shown == [(number, name) for number, (_, name, _) in ordered]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (JSON, b"", "The body is not valid"),
        (JSON, b"\xff{}", "The body is not valid"),
        (JSON, b"[" * 60_000, "The body is not valid"),
        (JSON, b"[]", "Expected `object`, got `array`"),
        (JSON, b"{}", "missing required field `name`"),
        (JSON, b'{"name": 1}', "Expected `str`, got `int` - at `$.name`"),
        (JSON, b'{"name": ""}', "`name` takes 1 to 100 letters, digits, periods"),
        (JSON, b'{"name": "a/b"}', "`name` takes 1 to 100 letters, digits, periods"),
        (JSON, b'{"name": ".."}', "`name` takes 1 to 100 letters, digits, periods"),
        (JSON, b'{"name": "a\\n"}', "`name` takes 1 to 100 letters, digits, periods"),
        (
            JSON,
            b'{"name": "new", "language": "a\\u202eb"}',
            "`language` takes 1 to 40 ASCII characters",
        ),
        (JSON, b'{"name": "new", "stars": 9}', "unknown field `stars`"),
        (JSON, b'{"name": "R0"}', "ada has a repository R0 already."),
        (JSON, b'{"name": "' + b"a" * 70_000 + b'"}', "The body is too large"),
        (FORM, b"name=new&stars=9", "unknown field `stars`"),
        (FORM, b"name=\xff", "`name` takes 1 to 100 letters, digits, periods"),
        ("text/plain", b'{"name": "new"}', "Send JSON"),
        ("application/json; charset=utf-16", b"{}", "Send JSON"),
        (None, b'{"name": "new"}', "Send JSON"),
    ],
)
def test_an_invalid_body_is_400(ada: Caller, kind: str | None, body: bytes, reason: str) -> None:
    """Nothing is written, and the refusal says why."""
    for method, path in [("POST", "/repositories"), ("PUT", "/repository/2")]:
        answer = ada.call(method, path, body, content_type=kind)
        assert answer.status == 400
        assert reason in answer.value["message"]
        assert "regex" not in answer.value["message"]
        assert answer.value["message"].count("$") < 2  # JupyterLab shows text between two as TeX
    assert [row["name"] for row in ada.call("GET", "/repositories").value][:2] == ["r0", "r1"]


def test_writing_without_a_login_is_401(anyone: Caller) -> None:
    """Before it is said whether there is such a repository."""
    for path, methods in METHODS.items():
        for method in methods - {"GET"} if path != "/login" else ():
            for asked in (path, path.replace("1", "99")):
                answer = anyone.call(method, asked, {"name": "new"})
                assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
                assert answer.value["message"].startswith(
                    "Log in first: POST /login, then send its token"
                )


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_the_repository_of_another_is_403(method: str) -> None:
    """A star is for everybody."""
    bob = Caller().log_in("bob")
    answer = bob.call(method, "/repository/1", {"name": "mine"})
    assert (answer.status, answer.value["message"]) == (403, "ada/r0 belongs to ada, not to bob.")
    assert bob.call("POST", "/repository/1/star").status == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/x", "/graphql", "/repositories/", "/REPOSITORIES", "//repositories", "/repository"),
        *("/repository/", "/repository/1/", "/repository/1/forks", "/repository/0"),
        *("/repository/6", "/repository/x", "/repository/01", "/repository/" + "9" * 5000),
    ],
)
def test_another_path_or_id_is_404(ada: Caller, path: str) -> None:
    """There are no redirects."""
    answer = ada.call("GET", path)
    assert answer.status == 404
    assert "repositor" in answer.value["message"]


@pytest.mark.parametrize("path", METHODS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_another_method_is_405(ada: Caller, path: str, method: str) -> None:
    """``Allow`` names those that are answered."""
    answer = ada.call(method, path)
    allowed = METHODS[path] | ({"HEAD"} if "GET" in METHODS[path] else set())
    assert (answer.status == 405) == (method not in allowed)
    if answer.status == 405:
        assert set(answer.headers["allow"].split(", ")) == allowed


def test_an_internal_error_is_500_with_an_id(
    anyone: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets the id; the log has id, class and location, but no message."""

    def fail(*_: object) -> None:
        message = "the secret of the house"
        raise RuntimeError(message)

    monkeypatch.setattr(rest.RestApp, "_find_row", fail)
    answer = anyone.call("GET", "/repository/1")
    number = answer.value["message"].removeprefix("Internal error ")[:8]
    assert answer.status == 500
    assert f"REST {number}: RuntimeError (test_rest.py:" in caplog.text
    assert "secret of the house" not in str(answer) + caplog.text


# ---------------------------------------------------------------- keys and limits


@pytest.mark.parametrize("key", [None, "", "wrong", "key-of-one2", "Bearer key-of-one"])
def test_an_unknown_api_key_is_401(key: str | None) -> None:
    """On every path; it is not counted and not repeated."""
    caller = Caller(keys=KEYS)
    for path in [*METHODS, "/nowhere"]:
        answer = caller.call("GET", path, x_api_key=key)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "X-API-Key")
        assert "key-of" not in str(answer.value)
    assert caller.app.usage["one"] == {"requests": 0, "refused": 0}


def test_each_key_has_a_limit_of_its_own() -> None:
    """Over it the status is 403, with the time to wait; the headers are those of GitHub's v3."""
    caller = Caller(keys=KEYS, limit=2)
    left = [caller.call("GET", "/repositories", x_api_key="key-of-one").headers for _ in range(2)]
    assert [it["x-ratelimit-remaining"] for it in left] == ["1", "0"]
    caller.clock += 60.5
    refused = caller.call("GET", "/repositories", x_api_key="key-of-one")
    assert (refused.status, refused.headers["retry-after"]) == (403, "3540")
    assert refused.value == {"message": "API rate limit exceeded. Ask again in 3540 s."}
    told = {it: value for it, value in refused.headers.items() if it.startswith("x-ratelimit")}
    assert told == {
        "x-ratelimit-limit": "2",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": "2",
        "x-ratelimit-reset": "1800003600",
        "x-ratelimit-resource": "core",
    }
    assert caller.call("GET", "/repositories", x_api_key="key-of-two").status == 200
    caller.clock += 3539.5
    assert caller.call("GET", "/repositories", x_api_key="key-of-one").status == 200
    assert caller.app.usage["one"] == {"requests": 3, "refused": 1}
    unlimited = Caller(limit=None)
    assert "x-ratelimit-limit" not in unlimited.call("GET", "/").headers
    assert unlimited.app.usage == {"anonymous": {"requests": 1, "refused": 0}}


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "9"])
def test_an_invalid_limit_is_refused(limit: Any) -> None:
    """Before anything is served."""
    with pytest.raises(ServerError, match="limit= takes a positive whole number of requests"):
        rest.app(limit=limit)


@pytest.mark.parametrize("argument", ["keys", "users"])
@pytest.mark.parametrize(
    "given", ["env:NAME", {5: Token("x" * 9)}, {" ": Token("x" * 9)}, {"a": None}]
)
def test_secrets_are_a_mapping_from_names(argument: str, given: Any) -> None:
    """The message names the argument; a literal secret is refused as everywhere."""
    with pytest.raises(ServerError, match=f"^{argument}= takes a secret for each name"):
        rest.app(**{argument: given})
    with pytest.raises(AuthError, match="env:NAME"):
        rest.app(**{argument: {"me": "typed into a cell"}})


# ---------------------------------------------------------------- logins


def test_a_login_gives_a_token(anyone: Caller) -> None:
    """How to send it, how long it is valid, and for whom; no cache keeps it."""
    answer = anyone.call("POST", "/login", {"login": "ADA", "password": "password-of-ada"})
    token = answer.value.pop("token")
    assert answer.value == {"token_type": "Bearer", "expires_in": 3600, "login": "ada"}
    assert answer.headers["cache-control"] == "no-store"
    for word in ("Bearer", "bearer", "token"):
        found = anyone.call("POST", "/repository/1/star", authorization=f"{word} {token}")
        assert found.status == 200


@pytest.mark.parametrize("body", [("ada", "password-of-bob"), ("eve", "password-of-ada")])
def test_a_wrong_password_is_401(anyone: Caller, body: tuple[str, str]) -> None:
    """The message does not tell which of the two is wrong; without `users` nobody logs in."""
    for caller in (anyone, Caller(users=None)):
        answer = caller.call("POST", "/login", {"login": body[0], "password": body[1]})
        assert (answer.status, answer.value["message"]) == (
            401,
            "Login and password do not go together.",
        )


def test_a_token_expires(ada: Caller) -> None:
    """After an hour it is 401, and the message says what to do."""
    ada.clock += 3599
    assert ada.call("POST", "/repository/1/star").status == 200
    ada.clock += 1
    answer = ada.call("POST", "/repository/1/star")
    assert (answer.status, answer.value["message"]) == (
        401,
        "The token has expired. Log in again: POST /login.",
    )


def test_a_forged_token_is_401(ada: Caller) -> None:
    """Whatever is changed in a token."""
    token = ada.headers["authorization"].split()[1]
    claims, signature = token.split(".")
    later = {"login": "ada", "expires": 9e9}
    longer = base64.urlsafe_b64encode(json.dumps(later).encode()).decode().rstrip("=")
    forged = [f"{longer}.{signature}", f"{claims}=.{signature}", f"{claims}.", claims, "..", ""]
    forged += [
        f"{token[:place]}{'B' if character == 'A' else 'A'}{token[place + 1 :]}"
        for place, character in enumerate(token)
    ]
    for it in [f"Bearer {it}" for it in forged] + [f"Basic {token}"]:
        assert ada.call("POST", "/repository/1/star", authorization=it).status == 401


def test_services_of_one_secret_accept_each_others_logins() -> None:
    """The login lives in the token alone; a service that does not know it refuses it."""
    secret = Token("s" * 32)
    token = Caller(secret=secret).log_in("ada").headers["authorization"]
    for options, status in [
        ({"secret": secret}, 200),
        ({}, 401),
        ({"secret": secret, "users": {}}, 401),
    ]:
        answer = Caller(**options).call("POST", "/repository/1/star", authorization=token)
        assert answer.status == status
    with pytest.raises(ServerError, match="32 characters"):
        rest.app(secret=Token("short"))


# ---------------------------------------------------------------- pages of other sites, servers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "localhost:1"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": "localhost, evil.example"}, 400),
        ({"host": ""}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 200),
    ],
)
def test_requests_from_another_site_cannot_read(headers: dict[str, str], status: int) -> None:
    """A rebound name and another origin are refused, not counted; a link may be followed."""
    caller = Caller()
    assert caller.call("GET", "/repositories", **headers).status == status
    assert caller.app.usage["anonymous"]["requests"] == (status == 200)


def test_requests_from_another_site_cannot_write(ada: Caller) -> None:
    """A form that a browser sends is refused."""
    answer = ada.call(
        "POST", "/repositories", b"name=x", content_type=FORM, sec_fetch_site="same-site"
    )
    assert answer.status == 403


def test_a_rest_service_is_served_over_http() -> None:
    """HEAD has the headers of GET, and a 304 no body; usage is the application's."""
    with rest.serve(port=0, data=make_rows()) as server, requests.Session() as session:
        session.trust_env = False
        get = session.get(f"{server.url}/repository/1", timeout=20)
        head = session.head(f"{server.url}/repository/1", timeout=20)
        assert (head.content, head.headers["content-length"]) == (b"", str(len(get.content)))
        known = {"If-None-Match": get.headers["etag"]}
        same = session.get(get.json()["url"], headers=known, timeout=20)
        assert (same.status_code, same.content) == (304, b"")
        made = session.post(f"{server.url}/repositories", data={"name": "x"}, timeout=20)
        assert made.status_code == 401
        assert server.usage == {"anonymous": {"requests": 4, "refused": 0}}
        assert repr(server) == "RestServer(port=0)"


def test_uvicorn_finds_the_factory() -> None:
    """By the name that the documentation gives."""
    from uvicorn.importer import import_from_string

    assert import_from_string("gqlnb.github.rest:app") is rest.RestApp


def test_importing_github_does_not_load_the_rest_service() -> None:
    """Neither it nor uvicorn."""
    code = (
        "import sys; from gqlnb import github; before = {*sys.modules}; github.rest.app; "
        "print([name for name in ('gqlnb.github.rest', 'uvicorn') if name in before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
