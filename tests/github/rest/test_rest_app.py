"""Every path, every method, every status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gqlnb.github.repositories import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    from tests.github.rest.conftest import Asking

    Says = Callable[[requests.Response], tuple[int, str]]

EVERY = ["/repositories", "/repository/1", "/repository/1/star", "/login"]
ALLOWED = {
    "/repositories": {"GET", "POST"},
    "/repository/1": {"GET", "PUT", "DELETE"},
    "/repository/1/star": {"POST", "DELETE"},
    "/login": {"POST"},
}
R0 = {
    "id": 1,
    "name": "r0",
    "owner": {"login": "ada", "type": "User"},
    "stars": 100,
    "forks": 0,
    "language": None,
}


# ---------------------------------------------------------------- reading


def test_the_list_holds_names_and_identifiers(anyone: Asking) -> None:
    """GET /repositories gives these two members alone, most starred first."""
    answer = anyone.get("/repositories")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [{"id": it + 1, "name": f"r{it}"} for it in range(5)]


def test_one_repository_is_all_of_it(anyone: Asking) -> None:
    """GET /repository/<id> gives every member."""
    answer = anyone.get("/repository/1")
    assert answer.status_code == 200
    found = answer.json()
    assert R0.items() <= found.items()
    assert found["pushed_at"] == "2026-08-01T00:00:00Z"


def test_the_embedded_rows_are_the_default(running: Callable[..., Asking]) -> None:
    """Without `data` the service answers what the GraphQL stand-in answers."""
    asking = running(data=None)
    for number in (1, 100, len(load_snapshot())):
        row, found = load_snapshot()[number - 1], asking.get(f"/repository/{number}").json()
        owner = {"login": row.owner.login, "type": row.owner.kind}
        assert (found["name"], found["stars"], found["owner"]) == (row.name, row.stars, owner)


def test_pages_lead_to_each_other(anyone: Asking) -> None:
    """Following rel=next from the first page sees every row once."""
    seen, answer = [], anyone.get("/repositories", params={"per_page": 2})
    assert set(answer.links) == {"next", "last"}
    while True:
        seen += [row["id"] for row in answer.json()]
        if "next" not in answer.links:
            break
        answer = anyone.get(answer.links["next"]["url"])
    assert seen == [1, 2, 3, 4, 5]
    assert set(answer.links) == {"prev", "first"}
    assert anyone.get(answer.links["first"]["url"]).json()[0]["id"] == 1
    assert anyone.get(answer.links["prev"]["url"]).json()[0]["id"] == 3


def test_a_page_past_the_end_is_empty(anyone: Asking) -> None:
    """It is no error, and it leads back."""
    answer = anyone.get("/repositories?page=99&per_page=2")
    assert (answer.status_code, answer.json()) == (200, [])
    assert "page=3" in answer.links["prev"]["url"]


def test_a_list_on_one_page_has_no_links(anyone: Asking) -> None:
    """Where there is nowhere to go, nothing is said."""
    assert "link" not in anyone.get("/repositories").headers


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=1.5",
        "page=٣",
        "per_page=101",
        "page=" + "9" * 99,
    ],
)
def test_a_page_that_is_no_number_is_400(anyone: Asking, says: Says, query: str) -> None:
    """The refusal names the parameter."""
    status, text = says(anyone.get(f"/repositories?{query}"))
    assert status == 400
    assert text.startswith(query.partition("=")[0])


def test_head_is_a_get_without_its_body(anyone: Asking) -> None:
    """HEAD has the headers of GET."""
    head, get = anyone.head("/repository/1"), anyone.get("/repository/1")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("kind", ["json", "data"])
def test_a_repository_lives_and_dies(ada: Asking, kind: str) -> None:
    """POST, PUT and DELETE take JSON and forms alike, and GET shows what they did."""
    made = ada.post("/repositories", **{kind: {"name": "new"}})
    assert made.status_code == 201
    assert made.headers["location"] == "/repository/6"
    wanted = {"id": 6, "name": "new", "stars": 0, "forks": 0, "language": None, "pushed_at": None}
    assert wanted.items() <= made.json().items()
    assert ada.get(made.headers["location"]).json() == made.json()
    assert ada.get("/repositories").json()[-1] == {"id": 6, "name": "new"}

    changed = ada.put("/repository/6", **{kind: {"name": "newer", "language": "Rust"}})
    assert changed.status_code == 200
    assert changed.json() == {**made.json(), "name": "newer", "language": "Rust"}
    # What PUT does not name is gone: it replaces.
    assert ada.put("/repository/6", **{kind: {"name": "newer"}}).json()["language"] is None

    gone = ada.delete("/repository/6")
    assert (gone.status_code, gone.json()["deleted"]["id"]) == (200, 6)
    assert ada.get("/repository/6").status_code == 404
    assert ada.delete("/repository/6").status_code == 404
    assert len(ada.get("/repositories").json()) == 5


def test_an_identifier_is_never_given_twice(ada: Asking) -> None:
    """Whoever kept the id of a deleted repository does not read another one."""
    first = ada.post("/repositories", json={"name": "new"}).json()["id"]
    ada.delete(f"/repository/{first}")
    assert ada.post("/repositories", json={"name": "new"}).json()["id"] == first + 1


def test_a_star_is_given_once(ada: Asking) -> None:
    """POST .../star twice counts once, and DELETE takes it back once."""
    for method, stars in [("POST", 97), ("POST", 97), ("DELETE", 96), ("DELETE", 96)]:
        answer = ada.request(method, "/repository/5/star")
        assert (answer.status_code, answer.json()["stars"]) == (200, stars)


def test_stars_move_a_repository_up(running: Callable[..., Asking]) -> None:
    """The list is in the order of what the stars are now."""
    asking = running().log_in("ada")
    asking.post("/repository/3/star")  # 98, as many as the one before has less one
    asking.log_in("bob").post("/repository/3/star")
    assert [row["id"] for row in asking.get("/repositories").json()] == [1, 3, 2, 4, 5]


def test_services_do_not_share_what_is_written(running: Callable[..., Asking]) -> None:
    """Each has rows of its own, and the snapshot stays as it was."""
    one, other = running(data=None, users={"microsoft": _password()}), running(data=None)
    answer = one.post("/login", json={"login": "microsoft", "password": "password-of-all"})
    one.headers["Authorization"] = f"Bearer {answer.json()['token']}"
    number = next(it for it, row in enumerate(load_snapshot(), 1) if row.owner.login == "microsoft")
    assert one.delete(f"/repository/{number}").status_code == 200
    assert other.get(f"/repository/{number}").status_code == 200
    assert load_snapshot()[number - 1].owner.login == "microsoft"


def _password() -> object:
    from gqlnb.auth import Token

    return Token("password-of-all")


# ---------------------------------------------------------------- refusals


JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (JSON, b"", "The body is not valid"),
        (JSON, b"{", "The body is not valid"),
        (JSON, b"\xff{}", "The body is not valid"),
        (JSON, b"[" * 60_000, "The body is not valid"),
        (JSON, b"[]", "Expected `object`, got `array`"),
        (JSON, b"{}", "missing required field `name`"),
        (JSON, b'{"name": 1}', "Expected `str`, got `int` - at `$.name`"),
        (JSON, b'{"name": ""}', "name is 1 to 100"),
        (JSON, b'{"name": "a/b"}', "name is 1 to 100"),
        (JSON, b'{"name": ".."}', "name is 1 to 100"),
        (JSON, b'{"name": "a\\n"}', "name is 1 to 100"),
        (JSON, b'{"name": "' + b"a" * 101 + b'"}', "name is 1 to 100"),
        (JSON, b'{"name": "new", "language": 1}', "at `$.language`"),
        (JSON, b'{"name": "new", "language": "a\\u202eb"}', "language is one line"),
        (JSON, b'{"name": "new", "stars": 9}', "unknown field `stars`"),
        (JSON, b'{"name": "R0"}', "ada has a repository R0 already."),
        (JSON, b'{"name": "' + b"a" * 70_000 + b'"}', "The body is too large"),
        (FORM, b"name", "The body is not valid"),
        (FORM, b"name=\xff", "The body is not valid"),
        (FORM, b"name=new&stars=9", "unknown field `stars`"),
        ("text/plain", b'{"name": "new"}', "Send JSON"),
        ("multipart/form-data; boundary=x", b"--x--", "Send JSON"),
        ("application/json; charset=utf-16", b"{}", "Send JSON"),
        (None, b'{"name": "new"}', "Send JSON"),
    ],
)
def test_a_body_that_makes_no_sense_is_400(
    ada: Asking, says: Says, kind: str | None, body: bytes, reason: str
) -> None:
    """Nothing is written, and the refusal says why."""
    headers = {"Content-Type": kind} if kind else {}
    for method, path in [("POST", "/repositories"), ("PUT", "/repository/2")]:
        status, text = says(ada.request(method, path, data=body, headers=headers))
        assert status == 400
        assert reason in text
    assert len(ada.get("/repositories").json()) == 5
    assert ada.get("/repository/2").json()["name"] == "r1"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/repositories"),
        ("PUT", "/repository/1"),
        ("DELETE", "/repository/1"),
        ("POST", "/repository/1/star"),
        ("DELETE", "/repository/1/star"),
    ],
)
def test_writing_without_a_login_is_401(anyone: Asking, says: Says, method: str, path: str) -> None:
    """Nobody is told whether there is such a repository before it is known who asks."""
    answer = anyone.request(method, path, json={"name": "new"})
    assert says(answer) == (
        401,
        "Log in first: POST /login, then send Authorization: Bearer ...",
    )
    assert answer.headers["www-authenticate"] == "Bearer"
    missing = anyone.request(method, path.replace("1", "99"), json={"name": "new"})
    assert missing.status_code == 401


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_anothers_repository_is_403(
    running: Callable[..., Asking], says: Says, method: str
) -> None:
    """Who is known, and not the owner, may not; a star is for everybody."""
    bob = running().log_in("bob")
    answer = bob.request(method, "/repository/1", json={"name": "mine"})
    assert says(answer) == (403, "ada/r0 belongs to ada, not to bob.")
    assert bob.get("/repository/1").json()["name"] == "r0"
    assert bob.post("/repository/1/star").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/x",
        "/graphql",
        "/repositories/",
        "/REPOSITORIES",
        "//repositories",
        "/repository",
        "/repository/",
        "/repository/1/",
        "/repository/1/forks",
        "/repository/%2e%2e/repositories",
    ],
)
def test_another_path_is_404(anyone: Asking, says: Says, path: str) -> None:
    """No redirect, no page: the refusal says where repositories are."""
    status, text = says(anyone.get(path, allow_redirects=False))
    assert status == 404
    assert text.endswith("Repositories are at /repositories.") or "no repository" in text


@pytest.mark.parametrize("number", ["0", "6", "-1", "x", "1.0", "01", "%20", "٣", "9" * 5000])
def test_an_unknown_repository_is_404(ada: Asking, says: Says, number: str) -> None:
    """By every method."""
    for method in ("GET", "PUT", "DELETE"):
        status, text = says(ada.request(method, f"/repository/{number}", json={"name": "x"}))
        assert status == 404
        assert text.startswith("There is no repository ")
    assert ada.post(f"/repository/{number}/star").status_code == 404


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_another_method_is_405(ada: Asking, says: Says, path: str, method: str) -> None:
    """`Allow` names those that are answered, and they are."""
    answer = ada.request(method, path)
    assert (answer.status_code == 405) == (method not in ALLOWED[path])
    if answer.status_code == 405:
        assert says(answer)[1] == f"{method} is not answered here. Use {answer.headers['allow']}."
        assert set(answer.headers["allow"].split(", ")) - {"HEAD"} == ALLOWED[path]


def test_a_fault_of_ours_is_500_without_its_words(
    anyone: Asking, says: Says, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The client gets an id; the log has id, class and place, and not the words either."""

    def broken(*_: object) -> None:
        msg = "the secret of the house"
        raise RuntimeError(msg)

    monkeypatch.setattr("gqlnb.github.rest.repository_store.RepositoryStore.get", broken)
    status, text = says(anyone.get("/repository/1"))
    assert status == 500
    number = text.removeprefix("Internal error ")[:8]
    assert f"REST {number}: RuntimeError (test_rest_app.py:" in caplog.text
    assert "secret of the house" not in text + caplog.text
    monkeypatch.undo()
    assert anyone.get("/repository/1").status_code == 200
