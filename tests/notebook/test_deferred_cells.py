"""Cells with incremental answers."""

from __future__ import annotations

import time
from threading import Event

import pytest

from gqlnb import Client, GqlnbError, Schema
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33
from gqlnb.notebook.subscription_cell import follow_parts
from tests.client.faults import Endpoint
from tests.client.test_deferred import DEFERRED, FAULTS, FIRST, LAST, SDL, mixed
from tests.client.test_incremental_answers import Speaker


@pytest.mark.parametrize("fault", ["406", "mixed, cut", "first part as JSON", "Apollo"])
def test_an_answer_that_breaks_is_an_error(shell, fault):
    """A cell reads the parts, so that the error names the fault alone."""
    with Endpoint(FAULTS[fault][0]) as endpoint:
        shell.user_ns["client"] = Client(endpoint.url)
        done = shell.run_cell(f"%%graphql -c client\n{DEFERRED}")
    assert not done.success
    assert isinstance(done.error_in_exec, GqlnbError)


def test_a_cell_returns_the_merged_answer(shell):
    """Of an endpoint that answers in parts; with every option of results."""
    with Endpoint(mixed(FIRST, LAST)) as endpoint:
        shell.user_ns["client"] = Client(endpoint.url)
        assert shell.run_cell(f"%%graphql -c client -o kept\n{DEFERRED}").success
    assert shell.user_ns["kept"].data == {"a": 1, "b": 2}


@pytest.mark.parametrize("target", ["schema", "ignoring"])
def test_a_cell_on_a_schema_of_the_notebook(shell, target):
    """Also on one that executes in one piece, as with graphql-core 3.2."""
    shell.user_ns["schema"] = Schema(SDL, {"Query": {"a": lambda *_: 1, "b": lambda *_: 2}})
    shell.user_ns["ignoring"] = Client(Speaker("json", {"data": {"a": 1, "b": 2}}), schema=SDL)
    done = shell.run_cell(f"%%graphql {target} -t json\n{DEFERRED}")
    assert done.success
    assert done.result == {"a": 1, "b": 2}


@pytest.mark.skipif(not IS_GRAPHQL_33, reason="graphql-core before 3.3 executes nothing in parts.")
def test_parts_are_shown_in_a_kernel_and_cleared_at_the_end(monkeypatch):
    """Each with the number of parts; the value of the cell is shown as always."""
    shown = []

    class Handle:
        def update(self, bundle, *, raw):
            shown.append(bundle["text/plain"])

    monkeypatch.setattr("gqlnb.notebook.subscription_cell.is_in_kernel", lambda: True)
    monkeypatch.setattr("gqlnb.notebook.display.display", lambda *_, **__: Handle())
    turn = Event()

    def wait(*_):
        return turn.wait(20) and 2

    schema = Schema(SDL, {"Query": {"a": lambda *_: 1, "b": wait}})

    def release():
        for result in schema.subscribe(DEFERRED):
            yield result
            while not any(shown):  # the first part is on the screen
                time.sleep(0.01)
            turn.set()

    result = follow_parts(release(), quiet=False)
    assert result.data == {"a": 1, "b": 2}
    assert "1 part received. More parts follow" in next(filter(None, shown))
    assert not shown[-1]
