"""Any path and any body gets an answer in JSON, and nothing is printed."""

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
    from collections.abc import Iterator

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
