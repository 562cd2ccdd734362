"""A server remembers its requests and what it kept from clients, in a bounded space."""

from __future__ import annotations

import threading
import traceback

import pandas as pd
import pytest
import requests

from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.errors import ServerError
from gqlnb.http.messages import Response
from gqlnb.server.background_server import serve
from gqlnb.server.request_log import (
    MAX_ENTRIES,
    MAX_ERROR_BYTES,
    MAX_ERRORS,
    MAX_NAME,
    RequestLog,
    read_clocks,
)
from gqlnb.tokens import Token


def fall(*_):
    """Raise what a client must not read."""
    message = "hunter2"
    raise OSError(message)


@pytest.fixture
def server():
    """Return a server with a resolver that fails."""
    schema = Schema(
        "type Query { hello(name: String): String fall: String }",
        {"Query": {"hello": lambda *_: "Hello!", "fall": fall}},
    )
    with serve(schema, port=0) as made:
        yield made


def post(server, query, **members):
    """Send a query and return the response."""
    return requests.post(server.url, json={"query": query, **members}, timeout=20)


def masked(server):
    """Return the id that a client gets of an exception."""
    return post(server, "{ fall }").json()["errors"][0]["message"].split()[2].rstrip(".")


def filled(count, *, fail=False):
    """Return a journal of so many requests, and the exceptions in it."""
    journal, faults = RequestLog(), []
    for number in range(count):
        faults.append(ValueError(number))
        kept = ((str(number), faults[-1]),) if fail else ()
        made = Response(200, body=b"12", operation=f"Q{number}", masked_errors=kept)
        journal.add_request(read_clocks(), made, 3)
    return journal, faults


def test_the_log_has_a_row_for_each_request(server):
    """Time, operation, status, seconds, sizes and error id, in request order."""
    before = pd.Timestamp.now("UTC")
    sent = post(server, "query Greet { hello }")
    post(server, "{ fall }")
    requests.post(server.url, data="x", timeout=20)
    log = server.log
    assert list(log.columns) == [
        *("time", "operation", "status", "seconds", "bytes_in", "bytes_out", "error_id")
    ]
    assert list(log["operation"].fillna("-")) == ["Greet", "-", "-"]
    assert list(log["status"]) == [200, 200, 415]
    assert (log["bytes_in"][0], log["bytes_out"][0]) == (len(sent.request.body), len(sent.content))
    assert list(log["error_id"].notna()) == [False, True, False]
    assert log["time"].between(before.floor("us"), pd.Timestamp.now("UTC")).all()
    assert log["seconds"].between(0, 20).all()


def test_an_empty_log_has_the_same_columns_and_dtypes(server):
    """Also before the first request."""
    empty = server.log
    post(server, "{ hello }")
    assert empty.empty
    assert {name: str(kind) for name, kind in empty.dtypes.items() if name != "time"} == {
        name: str(kind) for name, kind in server.log.dtypes.items() if name != "time"
    }
    assert str(empty["time"].dt.tz) == "UTC"


def test_the_log_contains_no_request_content():
    """Neither query, variables, headers nor data."""
    with serve(reference_schema(), port=0, token=Token("open-sesame")) as server:
        headers = {"authorization": "Bearer open-sesame"}
        text = {"query": "query Q($v: Int) { hello }", "variables": {"v": "hunter2"}}
        requests.post(server.url, json=text, headers=headers, timeout=20)
        log = server.log.to_csv()
    assert not [word for word in ("sesame", "hunter2", "hello", "Hello") if word in log]


def test_an_error_id_gives_the_original_exception(server):
    """With its traceback, also after closing."""
    number = masked(server)
    assert list(server.log["error_id"]) == [number]
    server.close()
    error = server.error(number)
    assert (type(error), str(error)) == (OSError, "hunter2")
    assert "in fall" in "".join(traceback.format_exception(error))


def test_raising_it_again_does_not_extend_its_traceback(server):
    """However often it is raised."""
    number = masked(server)
    first = len(traceback.extract_tb(server.error(number).__traceback__))
    for _ in range(3):
        with pytest.raises(OSError, match="hunter2"):
            raise server.error(number)
    assert len(traceback.extract_tb(server.error(number).__traceback__)) == first


def test_an_unknown_id_raises(server):
    """The message has the number of stored ids and the newest one."""
    with pytest.raises(ServerError, match="No exception has the id 'x'; the last 100 are kept"):
        server.error("x")
    number = masked(server)
    with pytest.raises(ServerError, match=f"newest id is '{number}'"):
        server.error("x")


def test_serving_again_keeps_the_log(server):
    """Exceptions from before a re-run stay available."""
    number = masked(server)
    again = serve(reference_schema(), port=server.port)
    post(again, "{ hello }")
    assert list(again.log["error_id"].fillna("-")) == [number, "-"]
    assert str(again.error(number)) == "hunter2"
    again.close()


def test_the_log_is_bounded():
    """The oldest requests and exceptions are dropped, and long names truncated."""
    journal, faults = filled(MAX_ENTRIES + 5, fail=True)
    assert list(journal.build_frame()["operation"])[:: MAX_ENTRIES - 1] == [
        "Q5",
        f"Q{MAX_ENTRIES + 4}",
    ]
    assert journal.find_error(str(MAX_ENTRIES + 5 - MAX_ERRORS)) is faults[-MAX_ERRORS]
    with pytest.raises(ServerError):
        journal.find_error(str(MAX_ENTRIES + 4 - MAX_ERRORS))
    journal.add_request(read_clocks(), Response(200, operation="x" * 10**6))
    assert len(journal.build_frame()["operation"].iloc[-1]) == MAX_NAME


def test_exceptions_of_large_requests_replace_older_ones():
    """Their tracebacks hold the variables of the requests."""
    journal, (small, large, larger) = RequestLog(), map(str, range(3))
    for name, size in ((small, 100), (large, MAX_ERROR_BYTES - 100), (larger, 10**9)):
        journal.keep_errors([(name, ValueError(name)), (f"{name}-again", ValueError(name))], size)
        assert str(journal.find_error(name)) == name
        if name == large:
            assert journal.find_error(small)
    with pytest.raises(ServerError, match=r"fewer where .* large. The newest id is '2-again'"):
        journal.find_error(large)
    with pytest.raises(ServerError):
        journal.find_error(small)


def test_the_log_can_be_read_while_it_is_written():
    """Concurrent writers lose no rows."""
    journal, start = RequestLog(), threading.Barrier(4)

    def write():
        start.wait()
        for _ in range(200):
            journal.add_request(read_clocks(), Response(200))

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    start.wait()
    while any(thread.is_alive() for thread in threads):
        assert len(journal.build_frame()) <= 600
    assert len(journal.build_frame()) == 600
