"""``--map``, ``--batch`` and ``--resume``, in a real shell."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gqlnb import Client, OptionError
from tests.client.test_mapping import SDL, USER, Failing, Site, refuse
from tests.notebook.cells import beside, failure, run

USERS = "query($first: Int!, $kind: Kind) { users(first: $first, kind: $kind) { login } }"


@pytest.fixture
def site(shell):
    """Put a client, ids and a frame into the notebook."""
    site = Site()
    frame = pd.DataFrame({"first": [1, 2], "label": ["a", "b"]})
    shell.push({"site": Client(site.schema), "ids": ["1", "2"], "inputs": frame, "kind": "BIG"})
    return site


def test_a_cell_is_run_for_each_input(shell, site):
    """Other variables come from the notebook by name."""
    frame = run(shell, f"%%graphql site --map inputs\n{USERS}")
    assert list(frame["label"]) == ["a", "b", "b"]
    assert list(frame["login"]) == ["u0", "u0", "u1"]
    shell.push({"id": "not this one"})
    run(shell, f"%%graphql site --map ids -o users\n{USER}")
    assert list(shell.user_ns["users"]["user.login"]) == ["u1", "u2"]


@pytest.mark.parametrize(
    ("kind", "expected"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)]
)
def test_the_value_has_the_requested_type(shell, site, kind, expected):
    """With the rows of all inputs."""
    value = run(shell, f"%%graphql site --map ids -t {kind}\n{USER}")
    assert isinstance(value, expected)
    assert len(value) == 2


def test_errors_are_noted(shell, site):
    """Below the cell, also where the value is not shown."""
    shell.push({"ids": ["1", "7"]})
    shown = beside(shell, f"%%graphql site --map ids -o users\n{USER}")
    assert "1 of 2 inputs have errors" in str(shown)


def test_batches_are_mapped(shell, site):
    """``--batch`` is the number of inputs in a request."""
    shell.push({"rows": pd.DataFrame({"login": list("abcde")})})
    text = "mutation($rows: [NewUser!]!) { add(rows: $rows) { id } }"
    frame = run(shell, f"%%graphql site --map rows --batch 2\n{text}")
    assert list(frame["first_row"]) == [0, 0, 2, 2, 4]
    assert len(site.added) == 5


def test_answers_before_a_failure_are_kept(shell, site):
    """The message names them and the way to continue."""
    wire = Failing(site.schema, 2, refuse)
    shell.push({"wire": Client(wire, schema=SDL)})
    shown = failure(shell, f"%%graphql wire --map ids\n{USER}")
    assert "1 of 2 inputs were answered." in shown
    assert "add to the cell: --resume _mapped" in shown
    wire.instead = None
    with warnings.catch_warnings():
        frame = run(shell, f"%%graphql wire --map ids --resume _mapped\n{USER}")
    assert list(frame["user.login"]) == ["u1", "u2"]
    assert site.asked == {1: 1, 2: 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--map idss", "--map idss: the notebook has no such name. Did you mean 'ids'?"),
        ("--map ids --resume nothing", "--resume nothing: the notebook has no such name."),
        ("--map ids --paginate", "--map sends one request per input and excludes --paginate"),
        ("--map ids --dry-run", "excludes --dry-run"),
        ("--map ids --export-to a.csv", "excludes --export-to"),
        ("--map ids -t json", "-t result | frame | pandas | polars | arrow, not json"),
        ("--batch 3", "--batch is an option of --map NAME, which is missing"),
        ("--map ids --batch x", "takes a whole number above 0, not 'x'"),
    ],
)
def test_options_that_do_not_fit_are_refused(shell, site, line, message):
    """Before anything is sent."""
    with pytest.raises(OptionError) as caught:
        run(shell, f"%%graphql site {line}\n{USER}")
    assert message in str(caught.value)
    assert not site.asked
