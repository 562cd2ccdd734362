"""Whatever is sent: an answer in JSON or a closed connection, soon, and nothing printed."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gqlnb.github.rest.rest_app import app
from gqlnb.github.rest.rest_server import RestServer
from tests.github.rest.conftest import PASSWORDS, Asking, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Raw = Callable[[Asking, bytes], bytes]

STATUSES = {200, 201, 400, 401, 403, 404, 405}  # 500 would be a fault of ours
SLOWLY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def target() -> Iterator[Asking]:
    """Return a session of ada on a service without a limit."""
    with RestServer(app(users=PASSWORDS, limit=None, data=rows()), 0) as server:
        asking = Asking(server.url)
        asking.server = server
        yield asking.log_in("ada")
        asking.close()


@pytest.fixture(autouse=True)
def silence(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fail where anything was printed, or logged as an error."""
    yield
    assert capfd.readouterr() == ("", "")
    assert [it.getMessage() for it in caplog.records if it.levelno >= logging.ERROR] == []


def answers(data: bytes) -> list[tuple[int, bytes]]:
    """Read what came as HTTP answers with whole bodies."""
    found = []
    while data:
        head, end, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        assert end
        assert first.startswith(b"HTTP/1.1 "), first
        headers = dict(line.lower().split(b": ", 1) for line in lines)
        length = int(headers[b"content-length"])
        assert headers[b"content-type"] == b"application/json"
        found.append((int(first.split()[1]), rest[:length]))
        data = rest[length:]
    return found


def judge(data: bytes) -> None:
    """Check that every answer is one of ours, in JSON."""
    for status, body in answers(data):
        assert status in STATUSES, body
        assert json.loads(body) is not None
        assert b"Traceback" not in body


@given(st.binary(max_size=300))
@SLOWLY
def test_any_bytes(target: Asking, raw: Raw, data: bytes) -> None:
    """What is no HTTP is refused as such."""
    judge(raw(target, data))


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"Host: localhost",
                b"Host: evil.example",
                b"Host: [::1",
                b"Content-Length: 5",
                b"Content-Length: -1",
                b"Content-Length: 99999999999999999999",
                b"Transfer-Encoding: chunked",
                b"Transfer-Encoding: gzip, chunked",
                b"Content-Type: application/json",
                b"Content-Type: application/x-www-form-urlencoded; charset=\xff",
                b"Authorization: Bearer v1.e30.x",
                b"Authorization: \xff",
                b"X-API-Key: \xe9",
                b"Expect: 100-continue",
                b"Upgrade: websocket",
                b"Connection: upgrade",
                b"Connection: close",
                b"Origin: \x80",
                b"Cookie: " + b"a" * 9000,
                b" folded",
                b"no colon",
            ]
        ),
        st.binary(max_size=30).map(lambda it: b"X: " + it.replace(b"\n", b"")),
    ),
    max_size=6,
)
FIRST = st.tuples(
    st.sampled_from([b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"get", b"CONNECT", b"X" * 50]),
    st.one_of(
        st.sampled_from(
            [
                b"/repositories",
                b"/repository/1",
                b"/repository/1/star",
                b"/login",
                b"*",
                b"http://evil.example/repositories",
                b"/repositories?page=%ff&per_page=%00",
                b"/repository/%ed%a0%80",
                b"//",
                b"/" + b"a" * 9000,
            ]
        ),
        st.binary(max_size=40).map(lambda it: b"/" + quote(it).encode()),
    ),
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b""]),
)


@given(FIRST, LINES, st.binary(max_size=60))
@settings(SLOWLY, max_examples=150)
def test_any_request(
    target: Asking, raw: Raw, first: tuple[bytes, ...], lines: list[bytes], body: bytes
) -> None:
    """Heads and bodies that nearly make sense, or do."""
    sent = raw(target, b"\r\n".join([b" ".join(first), *lines, b"", body]))
    if first[0] != b"HEAD":  # whose answers have a length and no body
        judge(sent)


@given(st.text(max_size=40), st.sampled_from(["GET", "POST", "PUT", "DELETE"]))
@SLOWLY
def test_any_path(target: Asking, path: str, method: str) -> None:
    """Paths as a client writes them."""
    answer = target.request(
        method, "/repository/" + quote(path.encode("utf-8", "replace"), safe="")
    )
    assert answer.status_code in STATUSES
    assert answer.json()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda it: st.lists(it, max_size=3) | st.dictionaries(st.text(max_size=9), it, max_size=3),
    max_leaves=6,
)
MEMBERS = st.dictionaries(
    st.sampled_from(["name", "language", "login", "password", "", "id"]) | st.text(max_size=4),
    JSON_VALUES,
    max_size=4,
)


@given(MEMBERS, st.sampled_from(["/repositories", "/repository/2/star", "/login"]))
@SLOWLY
def test_any_json(target: Asking, members: dict[str, object], path: str) -> None:
    """Members of any kind."""
    answer = target.post(
        path, data=json.dumps(members), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in STATUSES
    assert answer.json()


@given(st.binary(max_size=60))
@SLOWLY
def test_any_form(target: Asking, body: bytes) -> None:
    """Forms of any bytes."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = target.put("/repository/2", data=body, headers=headers)
    assert answer.status_code in STATUSES
    assert answer.json()


def test_a_long_head_is_refused(target: Asking, raw: Raw) -> None:
    """It is not held in memory."""
    line = b"X: " + b"a" * 60_000 + b"\r\n"
    ((status, _),) = answers(
        raw(target, b"GET /repositories HTTP/1.1\r\nHost: localhost\r\n" + line)
    )
    assert status == 400


def test_a_refused_upload_is_drained(target: Asking) -> None:
    """Who sends megabytes that nobody wants reads why, and the service answers on."""
    answer = target.post("/nowhere", data=b"x" * 5_000_000)
    assert answer.status_code == 404
    large = target.post(
        "/login", data=b"x" * 5_000_000, headers={"Content-Type": "application/json"}
    )
    assert (large.status_code, "too large" in large.text) == (400, True)
    assert target.get("/repositories").status_code == 200
