"""Several requests in one array, for endpoints that take it."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from gqlnb import (
    Access,
    AnswerError,
    BatchError,
    Client,
    OptionError,
    QueryError,
    Schema,
    TransportError,
    recorded,
    serve,
)
from gqlnb.client.response_cache import cached
from gqlnb.result.result import Result
from tests.client.faults import Close, Endpoint, json_answer
from tests.client.faults import answer as as_answer

SDL = "type Query { twice(n: Int!): Int hello: String } type Mutation { add(n: Int!): Int }"
TWICE = "query ($n: Int!) { twice(n: $n) }"
ADD = "mutation ($n: Int!) { add(n: $n) }"
MANY = {
    "execute_many": lambda client, *given, **options: client.execute_many(*given, **options),
    "aexecute_many": lambda client, *given, **options: asyncio.run(
        client.aexecute_many(*given, **options)
    ),
}


class ArrayEndpoint(Endpoint):
    """An endpoint that answers arrays of as many requests as it accepts.

    Attributes
    ----------
    bodies
        The requests that were sent to it.
    """

    def __init__(self, most: int | None = 10) -> None:
        resolvers = {
            "Query": {"twice": lambda _root, args, _context: 2 * args["n"]},
            "Mutation": {"add": lambda _root, args, _context: args["n"]},
        }
        self.server = serve(Schema(SDL, resolvers), port=0, access=Access(batch=most))
        super().__init__(self.pass_on)

    def pass_on(self, connection: Any, _over: Any) -> None:
        """Have the server answer."""
        import requests

        body = self.requests[-1].partition(b"\r\n\r\n")[2]
        headers = {"Content-Type": "application/json"}
        found = requests.post(self.server.url, body, headers=headers, timeout=20)
        connection.sendall(
            json_answer(found.json(), f"{found.status_code} {found.reason}", Connection="close")
        )

    @property
    def bodies(self) -> list[Any]:
        """The requests as JSON."""
        return [json.loads(it.partition(b"\r\n\r\n")[2]) for it in self.requests]

    def close(self) -> None:
        """Close the server too."""
        super().close()
        self.server.close()


@pytest.fixture
def endpoint():
    """Yield an endpoint that accepts arrays of ten."""
    with ArrayEndpoint() as made:
        yield made


@pytest.mark.parametrize("many", MANY)
def test_documents_share_arrays(endpoint, many):
    """Of the number that was given; the results are in the order of the documents."""
    with Client(endpoint.url, schema=SDL, batch=10) as client:
        documents = [(TWICE, {"n": n}) for n in range(25)]
        results = MANY[many](client, documents, concurrency=1, headers={"X-Trace": "7"})
    assert [result["twice"] for result in results] == [2 * n for n in range(25)]
    assert list(map(len, endpoint.bodies)) == [10, 10, 5]
    assert endpoint.bodies[1][3] == {"query": TWICE, "variables": {"n": 13}}
    assert all(b"x-trace: 7" in it.lower() for it in endpoint.requests)


@pytest.mark.parametrize("many", MANY)
def test_errors_of_documents_stay_with_them(endpoint, many):
    """Whether they are found before sending or by the endpoint; the others have results."""
    documents: list[Any] = ["{ twice(n: 1) }", "{ wrong", 7, "{ missing }", (TWICE, {"n": 4})]
    with Client(endpoint.url, batch=10) as client:
        found = MANY[many](client, documents, return_errors=True)
    assert [type(it) for it in found] == [Result, QueryError, OptionError, QueryError, Result]
    assert found[4]["twice"] == 8
    assert list(map(len, endpoint.bodies)) == [3]


def test_map_sends_arrays_of_queries(endpoint):
    """Mutations one after another, unless they are allowed to run at once; a rest of one alone."""
    with Client(endpoint.url, schema=SDL, batch=10) as client:
        frame = client.map(TWICE, list(range(21)), concurrency=1)
        assert frame["twice"].tolist() == [2 * n for n in range(21)]
        assert [type(it) for it in endpoint.bodies] == [list, list, dict]
        assert asyncio.run(client.amap(TWICE, [1, 2]))["twice"].tolist() == [2, 4]
        assert len(endpoint.bodies[-1]) == 2
        endpoint.requests.clear()
        client.map(ADD, [1, 2, 3])
        assert [type(it) for it in endpoint.bodies] == [dict] * 3
        client.map(ADD, [1, 2, 3], concurrency=4)
        assert len(endpoint.bodies[-1]) == 3


@pytest.mark.parametrize("most", [None, 4])
def test_an_endpoint_that_accepts_no_such_array_is_explained(most):
    """Nothing was executed; a map stops at once and can go on."""
    with ArrayEndpoint(most) as endpoint, Client(endpoint.url, schema=SDL, batch=5) as client:
        with pytest.raises(BatchError, match=r"does not accept an array of 5 requests.*batch="):
            client.execute_many(["{ hello }"] * 5)
        endpoint.requests.clear()
        with pytest.raises(OptionError, match="does not accept an array of 5 requests") as caught:
            client.map(ADD, range(50), concurrency=2)
        assert len(endpoint.requests) <= 2
        with Client(endpoint.url, schema=SDL) as without:
            frame = without.map(ADD, range(50), resume=caught.value)
        assert frame["add"].tolist() == list(range(50))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (json_answer({"data": {"hello": "x"}}), AnswerError),
        (json_answer([{"data": {"hello": "x"}}]), AnswerError),
        (json_answer({"errors": [{"message": "no"}]}, "401 Unauthorized"), "AuthError"),
        (json_answer({"errors": [{"message": "no"}]}, "500 Internal Server Error"), TransportError),
        (json_answer("<html>", "404 Not Found"), OptionError),
    ],
)
def test_other_answers_to_an_array_are_errors(answer, error):
    """Of all its requests, with the status of the answer."""
    with Endpoint(answer) as endpoint, Client(endpoint.url, batch=2) as client:
        found = client.execute_many(["{ hello }"] * 2, return_errors=True)
    name = error if isinstance(error, str) else error.__name__
    assert [type(it).__name__ for it in found] == [name] * 2
    assert "an array of 2 requests" in str(found[0])


FINE = {"data": {"add": 1}, "id": None, "status": 200}
INVALID = {
    "errors": [{"message": "Cannot query field 'helo'.", "locations": [{"line": 1, "column": 3}]}],
    "id": None,
    "status": 400,
}
NULL_BY_FIELD = {"data": None, "errors": [{"message": "boom", "path": ["add"]}]}
BAD = "400 Bad Request"


@pytest.mark.parametrize(
    ("status", "answers", "kinds"),
    [
        (BAD, [FINE, INVALID], [Result, QueryError]),  # graphene-django with batch=True
        (BAD, [INVALID, INVALID], [QueryError, QueryError]),
        ("422 Unprocessable Content", [NULL_BY_FIELD, FINE], [Result, Result]),
        ("500 Internal Server Error", [FINE, NULL_BY_FIELD], [Result, Result]),
        ("401 Unauthorized", [FINE, {"errors": [{"message": "no"}]}], [Result, "AuthError"]),
        ("207 Multi-Status", [INVALID, FINE], [QueryError, Result]),
    ],
)
def test_an_array_is_read_at_any_status(status, answers, kinds):
    """Each request has its own outcome; what was executed is not reported as refused."""
    with Endpoint(json_answer(answers, status)) as endpoint, Client(endpoint.url, batch=2) as it:
        found = it.execute_many(["mutation { add(n: 1) }"] * 2, return_errors=True)
        assert len(endpoint.requests) == 1
    expected = [kind if isinstance(kind, str) else kind.__name__ for kind in kinds]
    assert [type(outcome).__name__ for outcome in found] == expected


@pytest.mark.parametrize(
    ("answers", "refused"),
    [
        ([FINE], False),
        (FINE, False),
        (NULL_BY_FIELD, False),
        ([FINE, INVALID, INVALID], False),
        ([{"errors": [{"message": "Batching is disabled."}]}], True),
        ({"errors": [{"message": "Batching is disabled."}]}, True),
        (["loc", "msg"], True),  # no GraphQL responses
    ],
)
@pytest.mark.parametrize("status", [BAD, "413 Content Too Large"])
def test_arrays_are_called_refused_only_if_nothing_was_executed(answers, status, *, refused):
    """Otherwise the mutations may have been executed, and a map does not send them again."""
    with Endpoint(json_answer(answers, status)) as endpoint:
        client = Client(endpoint.url, schema=SDL, batch=2)
        pattern = (
            r"does not accept an array of 2 requests\. HTTP 4\d\d: [^H]"
            if refused
            else "mutations may have been executed"
        )
        with pytest.raises((BatchError, OptionError), match=pattern):
            client.execute_many([(ADD, {"n": 1})] * 2)
        outcomes = client.execute_many([(ADD, {"n": 1})] * 2, return_errors=True)
    assert {type(outcome) for outcome in outcomes} == {OptionError if refused else AnswerError}


def test_an_array_may_be_answered_in_parts():
    """In the order of the parts, or by the places that they name."""
    for numbers, added in (([0, 1], {}), ([1, 0], {"requestIndex": 0})):
        parts = [{"data": {"hello": str(at)}} | dict.fromkeys(added, at) for at in numbers]
        head = "--b\r\nContent-Type: application/json\r\n\r\n"
        body = "\r\n".join(head + json.dumps(part) for part in parts) + "\r\n--b--\r\n"
        said = as_answer(body, Content_Type='multipart/mixed; boundary="b"')
        with Endpoint(said) as endpoint, Client(endpoint.url, batch=2) as client:
            results = client.execute_many(["{ hello }"] * 2)
        assert [result["hello"] for result in results] == ["0", "1"]


REFUSAL = {"errors": [{"message": "Batch requests should receive a list, but received {}."}]}


class ArraysOnly(ArrayEndpoint):
    """An endpoint that refuses a request that is not in an array, as graphene-django can be."""

    def pass_on(self, connection: Any, over: Any) -> None:
        """Have the server answer arrays."""
        if isinstance(self.bodies[-1], list):
            super().pass_on(connection, over)
        else:
            connection.sendall(json_answer(REFUSAL, BAD, Connection="close"))


def test_single_requests_go_in_arrays_of_one_where_they_are_refused_alone():
    """From the refusal on, which is seen once: with introspection, hashes and call options."""
    with ArraysOnly() as endpoint:
        with Client(endpoint.url, batch=10, persisted_queries=True) as client:
            assert client.schema.query_type is not None
            assert client.execute("{ hello }", headers={"X-Trace": "7"}).data == {"hello": None}
            assert asyncio.run(client.aexecute("mutation { add(n: 3) }"))["add"] == 3
            with pytest.raises(QueryError, match="missing"):
                client.execute("{ missing }")
            assert [type(it) for it in endpoint.bodies].count(dict) == 1
        with Client(endpoint.url) as client, pytest.raises(QueryError, match="should receive"):
            client.execute("{ hello }")


@pytest.mark.parametrize(
    ("message", "is_wrapped"),
    [
        ("body must be array", True),
        ("Request body is not an array", True),
        ("Expected a list of operations", True),
        ("Only batched requests are supported", True),
        ("The body must not be an array", False),
        ("Operation batching disabled.", False),
        ("Variable '$list' is required", False),
    ],
)
def test_other_refusals_are_not_sent_again(message, *, is_wrapped):
    """Nor is one whose repetition in an array is refused remembered."""
    refusal = json_answer({"errors": [{"message": message}]}, BAD)
    fine = json_answer([{"data": {"add": 1}}])
    with Endpoint(refusal, fine if is_wrapped else refusal) as endpoint:
        client = Client(endpoint.url, batch=2)
        if is_wrapped:
            assert client.execute("mutation { add(n: 1) }").data == {"add": 1}
        else:
            with pytest.raises(QueryError, match=re.escape(message)):
                client.execute("mutation { add(n: 1) }")
        assert len(endpoint.requests) == 1 + is_wrapped
    placed = {"errors": [{"message": "must be a list", "locations": [{"line": 1, "column": 1}]}]}
    for said in (json_answer(placed, BAD), json_answer(REFUSAL, "500 Internal Server Error")):
        with Endpoint(said) as endpoint, Client(endpoint.url, batch=2) as client:
            with pytest.raises((QueryError, TransportError)):
                client.execute("{ hello }")
            assert len(endpoint.requests) == 1


def test_queries_are_sent_again_and_mutations_never():
    """A broken connection or a cut answer concerns the array; a transient error one request."""
    transient = {"data": None, "errors": [{"message": "Something went wrong"}]}
    fine = {"data": {"hello": "x"}}
    answers = [Close(), json_answer([transient, fine]), json_answer(fine)]
    with Endpoint(*answers) as endpoint, Client(endpoint.url, batch=2) as client:
        results = client.execute_many(["{ hello }"] * 2)
        assert [result["hello"] for result in results] == ["x", "x"]
        bodies = [json.loads(it.partition(b"\r\n\r\n")[2]) for it in endpoint.requests]
        assert [type(it) for it in bodies] == [list, list, dict]
    cut = json.dumps([fine, fine])[:-9]
    with Endpoint(as_answer(cut), json_answer([fine, fine])) as endpoint:
        with Client(endpoint.url, batch=2) as client:
            assert len(client.execute_many(["{ hello }"] * 2)) == 2
        assert len(endpoint.requests) == 2
    with Endpoint(Close()) as endpoint, Client(endpoint.url, batch=2) as client:
        found = client.execute_many(["{ hello }", "mutation { add }"], return_errors=True)
        assert all("may have been executed" in str(it) for it in found)
        assert len(endpoint.requests) == 1


def test_recordings_and_remembered_answers_hold_single_requests(endpoint, tmp_path):
    """So that a client without arrays finds them."""
    documents = [(TWICE, {"n": n}) for n in range(4)]
    with Client(endpoint.url, schema=SDL, batch=10) as client:
        with recorded(tmp_path / "calls.json"):
            client.execute_many(documents, concurrency=1)
        assert [type(it) for it in endpoint.bodies] == [dict] * 4
        endpoint.requests.clear()
        with cached("1h"):
            client.execute_many(documents[:3], concurrency=1)
            client.execute_many(documents, concurrency=1)
        assert [len(it) for it in endpoint.bodies] == [3, 2]  # the last one: a request alone
        assert isinstance(endpoint.bodies[1], dict)
    with Client(endpoint.url, schema=SDL) as single:
        endpoint.requests.clear()
        with recorded(tmp_path / "calls.json", mode="replay"):
            single.execute_many(documents)
        with cached("1h"):
            single.execute_many(documents)
    assert endpoint.requests == []


def test_files_are_sent_alone(endpoint, tmp_path):
    """An array is JSON; the others share it."""
    file = tmp_path / "file.txt"
    file.write_text("x")
    text = "mutation ($file: Upload) { add(n: 1, file: $file) }"
    documents = [(TWICE, {"n": 1}), (text, {"file": file.open("rb")}), (TWICE, {"n": 2})]
    with Client(endpoint.url, batch=10) as client:
        found = client.execute_many(documents, return_errors=True)
    assert [found[0]["twice"], found[2]["twice"]] == [2, 4]
    kinds = [b"multipart/form-data" in it for it in endpoint.requests]
    assert kinds == [False, True]
