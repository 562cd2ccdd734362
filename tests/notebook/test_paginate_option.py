"""``--paginate`` and ``--max-results``, in a real shell."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

import gqlnb
from gqlnb.http.messages import Response
from tests.notebook.cells import beside, failure, run

SDL = """
type Query { things(first: Int!, after: String): Things! }
type Mutation { put: Things }
type Things { nodes: [Thing!]! totalCount: Int! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Thing { n: Int! }
"""
TEXT = "{\n  things(first: 10) { nodes { n }\n    totalCount }\n}"
COUNT = 25


def things(root, args, context):
    """Return a page of 25 things."""
    start = int(args.get("after") or 0)
    stop = min(start + args["first"], COUNT)
    info = {"hasNextPage": stop < COUNT, "endCursor": str(stop)}
    nodes = [{"n": number} for number in range(start, stop)]
    return {"nodes": nodes, "totalCount": COUNT, "pageInfo": info}


class Wire:
    """A transport that does something else instead of answering with the page of one number."""

    source = "wire"

    def __init__(self):
        self.schema = gqlnb.Schema(SDL, {"Query": {"things": things}})
        self.number, self.instead = 0, None
        self.answered = threading.Semaphore(0)

    def send(self, request):
        """Answer, or call the substitute."""
        data = self.schema.execute(request.query, request.variables).data
        if self.number and data["things"]["nodes"][0]["n"] == 10 * (self.number - 1):
            if self.number > 1:  # the other pages are requested at once: fail after the two
                assert all(self.answered.acquire(timeout=20) for _ in range(2))
                time.sleep(0.5)  # the transport cannot see that its answers were processed
            return self.instead()
        self.answered.release()
        return Response(200, members={"data": data})

    async def asend(self, request):
        """Answer in the same way."""
        return self.send(request)

    def close(self):
        """Do nothing."""


@pytest.fixture
def wire(shell):
    """Return the transport that the cells ask."""
    shell.user_ns |= {"wire": Wire(), "gqlnb": gqlnb}
    return shell.user_ns["wire"]


def refused():
    """Return the answer of an endpoint that refuses a text, at a line of that text."""
    error = {"message": "Not today.", "locations": [{"line": 1, "column": 9}]}
    return Response(200, members={"errors": [error]})


def unauthorized():
    """Return the answer to a token that is no longer good."""
    return Response(401, members={"message": "Bad credentials"})


def interrupted():
    """Press the button."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "count", "sent"),
    [("", COUNT, 3), ("--max-results 12", 12, 2), ("--max-results 1_000", COUNT, 3)],
)
def test_all_pages_are_merged_into_one_result(shell, wire, options, count, sent):
    """For each kind of value, with one request per page."""
    run(shell, "%graphql -c wire -N { things(first: 1) { totalCount } }")
    frame = run(shell, f"%%graphql wire --paginate {options} -t frame\n{TEXT}")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["n"]) == list(range(count))
    shown = repr(run(shell, f"%%graphql wire --paginate {options}\n{TEXT}"))
    assert f"{count} of {COUNT} items in {sent} requests" in shown


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ("--max-results 5", TEXT, "Add --paginate"),
        ("--paginate --max-results 0", TEXT, "takes a whole number above 0, not '0'"),
        ("--paginate --max-results x", TEXT, "takes a whole number above 0, not 'x'"),
        ("--paginate --dry-run", TEXT, "--dry-run is about one request"),
        ("--paginate --profile", TEXT, "--profile is about one request"),
        ("--paginat", TEXT, "Did you mean '--paginate'?"),
        ("--paginate", "mutation { put { totalCount } }", "accepts a query, not a mutation"),
        ("--paginate -N", "mutation { put { totalCount } }", "accepts a query, not a mutation"),
    ],
)
def test_invalid_use_is_an_error_before_any_request(shell, wire, options, text, message):
    """The error has one line."""
    wire.number, wire.instead = 1, interrupted
    shell.user_ns["schema"] = wire.schema
    (line,) = failure(shell, f"%%graphql schema {options}\n{text}").splitlines()
    assert line.startswith("OptionError: ")
    assert message in line


@pytest.mark.parametrize(
    ("name", "option", "instead"),
    [
        ("kept", "-o kept", unauthorized),
        ("kept", "-t frame -o kept", refused),
        ("_pages", "", interrupted),
        ("_pages", "", unauthorized),
    ],
)
def test_received_pages_are_kept_after_a_failure(shell, wire, name, option, instead):
    """The error names the kept pages and a line that continues from them."""
    shell.user_ns["wired"] = gqlnb.Client(wire, schema=wire.schema)
    wire.number, wire.instead = 3, instead
    shown = failure(shell, f"%%graphql wired --paginate {option}\n{TEXT}")
    assert "cell line" not in shown  # the text of a further page is nobody's
    *_, came, onward = shown.splitlines()
    assert came.startswith("  20 of 25 items in ")
    assert came.endswith(f"They are kept as {name}.")
    kept = shell.user_ns[name]
    assert [row["n"] for row in kept] == list(range(20))
    wire.number = 0
    whole = run(shell, onward.partition("To continue: ")[2])
    assert len(whole) == COUNT
    assert whole.report.ended == "complete"


def test_an_interrupt_shows_one_line_and_keeps_the_pages(shell, wire):
    """The line has the amount, the name and a way to continue; the history records it."""
    shell.user_ns["wired"] = gqlnb.Client(wire, schema=wire.schema)
    wire.number, wire.instead = 2, interrupted
    shown = failure(shell, f"%%graphql wired --paginate\n{TEXT}").splitlines()
    assert shown[0] == "KeyboardInterrupt"
    assert shown[-2:] == [
        "  10 of 25 items in 2 requests, ended: interrupted. They are kept as _pages.",
        "  To continue: gqlnb.connect(wired).resume(_pages)",
    ]
    assert "interrupted" in repr(run(shell, "%graphql history"))


def test_paging_that_ended_early_is_reported(shell):
    """A repeated cursor ends paging; the returned frame alone would not show it."""

    def stuck(root, args, context):
        page = things(root, args, context)
        return page | {"pageInfo": {"hasNextPage": True, "endCursor": "10"}}

    shell.user_ns["schema"] = gqlnb.Schema(SDL, {"Query": {"things": stuck}})
    (note, *_) = beside(shell, f"%%graphql schema --paginate -t frame\n{TEXT}")
    assert note["text/plain"].startswith("Pages: 20 of 25 items in 2 requests, ended: ")
    cell = f"%%graphql schema --paginate --max-results 5 -t frame -o kept\n{TEXT}"
    assert beside(shell, cell) == []
    assert len(shell.user_ns["kept"]) == 5


def test_a_limit_does_not_hide_other_gaps(shell):
    """Of each row an inner list may be cut, which `--max-results` does not explain."""

    def tagged(root, args, context):
        start = args.get("offset") or 0
        return [
            {"tags": list("abcdefghij")} for _ in range(start, min(start + args["limit"], COUNT))
        ]

    sdl = """
    type Query { rows(limit: Int!, offset: Int): [Row!]! }
    type Row { tags(limit: Int): [String!]! }
    """
    shell.user_ns["schema"] = gqlnb.Schema(sdl, {"Query": {"rows": tagged}})
    text = "{ rows(limit: 5) { tags(limit: 10) } }"
    (note,) = beside(shell, f"%%graphql schema --paginate --max-results 5 -o kept\n{text}")
    assert "rows.tags: 10 rows is a usual limit" in note["text/plain"]


@pytest.mark.parametrize(
    "cell",
    [
        "%%graphql short --paginate -o kept\n{}",
        "%%graphql short kept << --paginate\n{}",
        "%%graphql short --paginate -o kept -t frame\n{}",
        "%%graphql short --paginate -t frame\n{}",
        "%%graphql short --paginate -q\n{}",
        "%%graphql short --paginate -q -o kept -t json\n{}",
        "%%graphql short --paginate\n{};",
        "%graphql short --paginate {};",
    ],
)
def test_an_incomplete_result_is_always_reported(shell, cell):
    """Also if the result is assigned to a name, or the output is silenced."""
    page = {"nodes": [{"n": 0}] * 3, "totalCount": 4, "pageInfo": {"hasNextPage": False}}
    shell.user_ns["short"] = gqlnb.Schema(SDL, {"Query": {"things": lambda *_: page}})
    text = "{ things(first: 10) { nodes { n } totalCount } }"
    notes = [shown["text/plain"] for shown in beside(shell, cell.format(text))]
    assert len([note for note in notes if "Pages: 3 of 4 items" in note]) == 1


def test_a_complete_result_has_no_note(shell):
    """There is nothing to add to it; without a cursor it begins with the first page."""
    full = {"nodes": [], "totalCount": 0, "pageInfo": {"hasNextPage": False}}
    shell.user_ns["full"] = gqlnb.Schema(SDL, {"Query": {"things": lambda *_: full}})
    body = "{ things(first: 10, after: $after) { nodes { n } totalCount } }"
    text = f"query ($after: String) {body}"
    for line in ("--paginate -o kept", "-o kept"):
        assert beside(shell, f"%%graphql full {line}\n{text}") == []
