"""API keys and their limits, logins and their tokens, and who is kept out."""

from __future__ import annotations

import base64
import json
import re
import secrets
from typing import TYPE_CHECKING

import pytest

from gqlnb.auth import Token
from gqlnb.errors import AuthError, ServerError
from gqlnb.github.rest.credentials import TOKEN_LIFETIME, WINDOW_SECONDS, ApiCallers
from gqlnb.github.rest.rest_app import app

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    from tests.github.rest.conftest import Asking, Clock

    Says = Callable[[requests.Response], tuple[int, str]]

KEYS = {"one": Token("key-of-one"), "two": Token("key-of-two")}
ONE, TWO = {"X-API-Key": "key-of-one"}, {"X-API-Key": "key-of-two"}
SECRET = secrets.token_urlsafe()


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize(
    "key", [None, "", "wrong", "key-of-one2", "key-of-on", "Bearer key-of-one"]
)
def test_without_a_key_of_ours_it_is_401(
    running: Callable[..., Asking], says: Says, key: str | None
) -> None:
    """On every path, and nothing of the key is said."""
    asking = running(keys=KEYS)
    for path in ("/repositories", "/repository/1", "/login", "/nowhere"):
        answer = asking.get(path, headers={} if key is None else {"X-API-Key": key})
        status, text = says(answer)
        assert (status, answer.headers["www-authenticate"]) == (401, "X-API-Key")
        assert "key-of" not in text
    assert set(asking.server.usage.values()) == {(0, 0)}


def test_a_key_tracks_its_caller(running: Callable[..., Asking]) -> None:
    """Each caller has a count of its own."""
    asking = running(keys=KEYS)
    for headers in (ONE, TWO, ONE):
        assert asking.get("/repositories", headers=headers).status_code == 200
    assert {name: it.requests for name, it in asking.server.usage.items()} == {"one": 2, "two": 1}


def test_a_key_limits_its_caller(running: Callable[..., Asking], says: Says, clock: Clock) -> None:
    """Over the limit it is 403 and says how long to wait; another caller goes on."""
    asking = running(keys=KEYS, limit=2)
    left = [
        asking.get("/repositories", headers=ONE).headers["x-ratelimit-remaining"] for _ in range(2)
    ]
    assert left == ["1", "0"]
    clock.now += 60.5
    refused = asking.get("/repositories", headers=ONE)
    assert says(refused) == (403, "API rate limit exceeded. Ask again in 3540 s.")
    told = {name: refused.headers[name] for name in ("retry-after", "x-ratelimit-remaining")}
    assert told == {"retry-after": "3540", "x-ratelimit-remaining": "0"}
    assert int(refused.headers["x-ratelimit-reset"]) == 1_800_000_000 + WINDOW_SECONDS
    assert asking.get("/repositories", headers=TWO).status_code == 200
    clock.now += 3539.5
    assert asking.get("/repositories", headers=ONE).status_code == 200
    assert asking.server.usage["one"] == (3, 1)


def test_without_keys_everyone_is_one_caller(running: Callable[..., Asking]) -> None:
    """The limit is then all there is."""
    asking = running(limit=1)
    assert [asking.get("/repositories").status_code for _ in range(2)] == [200, 403]
    assert asking.server.usage == {"anonymous": (1, 1)}


def test_without_a_limit_nothing_is_said_of_one(running: Callable[..., Asking]) -> None:
    """Counting goes on."""
    asking = running(limit=None)
    assert not [it for it in asking.get("/login").headers if it.startswith("x-ratelimit")]
    assert asking.server.usage == {"anonymous": (1, 0)}


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "9"])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    """Before anything is served."""
    with pytest.raises(ServerError, match="limit= takes a positive whole number of requests"):
        app(limit=limit)


@pytest.mark.parametrize("argument", ["keys", "users"])
def test_a_literal_secret_is_refused(argument: str) -> None:
    """It would be saved with the notebook."""
    with pytest.raises(AuthError, match="env:NAME"):
        app(**{argument: {"me": "typed into a cell"}})
    with pytest.raises(ServerError, match=f"{argument}= takes a secret for each name"):
        app(**{argument: {"me": None}})


def test_secrets_come_from_the_environment(
    running: Callable[..., Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everywhere else."""
    monkeypatch.setenv("REST_KEY", "key-of-one")
    assert running(keys={"me": "env:REST_KEY"}).get("/repositories", headers=ONE).ok


# ---------------------------------------------------------------- logins


@pytest.mark.parametrize("kind", ["json", "data"])
def test_a_login_gives_a_token(anyone: Asking, kind: str) -> None:
    """JSON or form: the token, how to send it, and how long it is good."""
    answer = anyone.post("/login", **{kind: {"login": "ADA", "password": "password-of-ada"}})
    token = answer.json().pop("token")
    assert answer.status_code == 200
    assert answer.json() == {
        "token": token,
        "token_type": "Bearer",
        "expires_in": TOKEN_LIFETIME,
        "login": "ada",
    }
    assert answer.headers["cache-control"] == "no-store"
    for word in ("Bearer", "bearer", "token", "TOKEN"):
        headers = {"Authorization": f"{word} {token}"}
        assert anyone.post("/repository/1/star", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("login", "password"),
    [("ada", "password-of-bob"), ("eve", "password-of-ada"), ("", "x"), ("ada", "")],
)
def test_a_wrong_password_is_refused(anyone: Asking, says: Says, login: str, password: str) -> None:
    """The message does not tell which of the two was wrong."""
    answer = anyone.post("/login", json={"login": login, "password": password})
    assert says(answer) == (401, "Login and password do not go together.")


def test_without_users_nobody_writes(running: Callable[..., Asking]) -> None:
    """The default is a service to read from."""
    asking = running(users=None)
    login = {"login": "ada", "password": "password-of-ada"}
    assert asking.post("/login", json=login).status_code == 401


def test_a_token_expires(ada: Asking, says: Says, clock: Clock) -> None:
    """After its hour it is 401, and says what to do."""
    clock.now += TOKEN_LIFETIME - 1
    assert ada.post("/repository/1/star").status_code == 200
    clock.now += 1
    assert says(ada.post("/repository/1/star")) == (
        401,
        "The token has expired. Log in again: POST /login.",
    )


def b64(data: bytes) -> str:
    """Return URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_a_forged_token_is_refused(ada: Asking, says: Says) -> None:
    """Whatever is changed in a token, it is one no more."""
    token = ada.headers["Authorization"].split()[1]
    claims, signature = token.split(".")
    later = b64(json.dumps({"login": "ada", "expires": 9e9}).encode())
    other = b64(json.dumps({"login": "bob", "expires": 1_800_003_600}).encode())
    forged = [
        f"{later}.{signature}",
        f"{other}.{signature}",
        f"{claims}=.{signature}",
        f"{claims}.{signature.upper()}",
        f"{claims}.{signature}.",
        f"{claims}.",
        claims,
        "..",
        "",
        "é" * 10,
        "x" * 5000,
    ]
    for it in forged:
        ada.headers["Authorization"] = f"Bearer {it}".encode()
        assert says(ada.post("/repository/1/star")) == (401, "Bad credentials")
    ada.headers["Authorization"] = f"Basic {token}"
    assert says(ada.post("/repository/1/star")) == (401, "Bad credentials")


def test_each_character_of_a_token_counts(ada: Asking) -> None:
    """None can be another one."""
    token = ada.headers["Authorization"].split()[1]
    for place, character in enumerate(token):
        changed = "A" if character != "A" else "B"
        it = f"Bearer {token[:place]}{changed}{token[place + 1 :]}"
        assert ada.post("/repository/1/star", headers={"Authorization": it}).status_code == 401


def test_a_login_lives_in_the_token(running: Callable[..., Asking]) -> None:
    """Another service of the same secret takes it, one of another secret does not."""
    secret = Token(SECRET)
    ada, same, other = running(secret=secret).log_in("ada"), running(secret=secret), running()
    for asking, status in [(same, 200), (other, 401)]:
        asking.headers["Authorization"] = ada.headers["Authorization"]
        assert asking.post("/repository/1/star").status_code == status


def test_who_is_no_user_any_more_is_refused(running: Callable[..., Asking]) -> None:
    """A token of a login that the service does not know is none."""
    secret = Token(SECRET)
    ada, other = running(secret=secret).log_in("ada"), running(secret=secret, users=None)
    other.headers["Authorization"] = ada.headers["Authorization"]
    assert other.post("/repository/1/star").status_code == 401


def test_a_short_secret_is_refused() -> None:
    """Whoever has one token could find it by trying."""
    with pytest.raises(ServerError, match="32 characters or more"):
        app(secret=Token("short"))


# ---------------------------------------------------------------- foreign pages, leaks


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:1"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost, evil.example"}, 400),
        ({"Host": "local host"}, 400),
        ({"Host": ""}, 400),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
def test_a_foreign_page_reads_nothing(
    running: Callable[..., Asking], headers: dict[str, str], status: int
) -> None:
    """A rebound name and another origin are refused, and not counted."""
    asking = running()
    answer = asking.get("/repositories", headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert asking.server.usage["anonymous"].requests == (status == 200)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_page_writes_nothing(ada: Asking, site: str) -> None:
    """A form that a page of another site sends is refused, whatever it carries."""
    answer = ada.post("/repositories", data={"name": "x"}, headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 403


def test_secrets_are_nowhere(
    running: Callable[..., Asking],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not in the log, not in what is printed, not in any repr, not in any other answer."""
    caplog.set_level(0)
    asking = running(keys=KEYS, limit=50)
    asking.headers.update(ONE)
    asking.log_in("ada")
    token = asking.headers["Authorization"].split()[1]
    said = [asking.get("/repositories"), asking.post("/repository/1/star"), asking.get("/nowhere")]
    said += [asking.post("/login", data=b"login=ada&password=password-of-eve&x=1")]
    state = asking.server._app.state
    seen = repr((asking.server, state, vars(asking.server), state.logins, state.callers))
    seen += caplog.text + "".join(capfd.readouterr())
    seen += "".join(answer.text + str(answer.headers) for answer in said)
    assert re.findall("key-of|password-of", seen) == []
    assert token not in seen


def test_counts_hold_under_threads(clock: Clock) -> None:
    """However many ask at once, exactly `limit` of them are let through."""
    from concurrent.futures import ThreadPoolExecutor

    callers = ApiCallers(None, 100, clock)
    with ThreadPoolExecutor(8) as pool:
        tickets = list(pool.map(lambda _: callers.admit_request("anonymous"), range(500)))
    assert sum(it.is_admitted for it in tickets) == 100
    assert sorted(it.remaining for it in tickets if it.is_admitted) == list(range(100))
    assert callers.usage == {"anonymous": (100, 400)}


# ---------------------------------------------------------------- mistakes of who serves


@pytest.mark.parametrize("argument", ["keys", "users"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("env:NAME", "got str"),
        (["env:NAME"], "got list"),
        ({5: Token("open-sesame")}, "5 is not a name"),
        ({" ": Token("open-sesame")}, "' ' is not a name"),
        ({"me": None}, "'me' has no secret"),
    ],
)
def test_names_and_secrets_are_a_mapping(argument: str, given: object, said: str) -> None:
    """What is none is refused with the argument, an example, and what is wrong with it."""
    with pytest.raises(ServerError, match=rf"^{argument}= takes .*'env:NAME'.*; {said}"):
        app(**{argument: given})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [5, "typed-in", b"x" * 40])
def test_a_source_that_holds_no_secret_is_named(given: object) -> None:
    """The message says whose secret it is, and shows nothing of a literal one."""
    for options, place in (
        ({"keys": {"me": given}}, r"keys\['me'\]"),
        ({"users": {"me": given}}, r"users\['me'\]"),
        ({"secret": given}, "secret"),
    ):
        with pytest.raises(AuthError, match=f"^{place}: it takes 'env:NAME'") as caught:
            app(**options)  # type: ignore[arg-type]
        assert "typed-in" not in str(caught.value)
        assert caught.value.__context__ is None


def test_keys_that_let_nobody_in_are_a_mistake() -> None:
    """None lets everyone ask; an empty mapping would let nobody, and is refused."""
    with pytest.raises(ServerError, match=r"^keys= takes"):
        app(keys={})
    app(users={})  # nobody may log in, as by default


@pytest.mark.parametrize("hosts", ["localhost", ["a b"], [""]])
def test_hosts_are_names(hosts: object) -> None:
    """A text alone would allow each of its parts."""
    with pytest.raises(ServerError, match=r"^hosts= takes names"):
        app(hosts=hosts)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [[1, 2], "snapshot", {"rows": ()}])
def test_data_of_another_kind_is_refused(data: object) -> None:
    """The message says what makes some."""
    with pytest.raises(ServerError, match=r"^data= takes a population, such as github\.popul"):
        app(data=data)  # type: ignore[arg-type]
