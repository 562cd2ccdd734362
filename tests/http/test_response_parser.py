"""Reading responses: which are answers, and what the others mean."""

import pytest

from gqlnb.auth import Token
from gqlnb.document.document import Document
from gqlnb.document.json_codec import dump_json
from gqlnb.errors import AnswerError, AuthError, QueryError, RateLimited, TransportError
from gqlnb.http.messages import Response
from gqlnb.http.response_parser import ResponseContext, parse_response

ASKED = ResponseContext(
    Document.parse("{ a }"), "http://host/graphql", Token("canary-77").redact, now=1000.0
)


def answer(members, status=200, **headers):
    """Read a response with these members, or these bytes."""
    body = members if isinstance(members, bytes) else dump_json(members)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return parse_response(Response(status, named, body), ASKED)


@pytest.mark.parametrize("status", [200, 294, 400, 500])
def test_whatever_holds_data_is_an_answer(status):
    """The status does not matter then; both status profiles read right."""
    result = answer(
        {"data": {"a": 1}, "errors": [{"message": "m"}], "extensions": {"x": 1}}, status
    )
    assert result.data == {"a": 1}
    assert result.errors == ({"message": "m"},)
    assert result.extensions == {"x": 1}


def test_null_data_is_an_answer():
    """A null that reached the top still came from an execution."""
    assert answer({"data": None, "errors": [{"message": "m", "path": ["a"]}]}).data is None


@pytest.mark.parametrize("status", [200, 400, 422])
@pytest.mark.parametrize("path", [{}, {"path": None}, {"path": []}])
def test_null_data_whose_errors_have_no_path_are_about_the_query(status, path):
    """Mercurius, Strawberry and Ariadne refuse requests so; what came is in `result`."""
    error = {"message": "no a", "locations": [{"line": 1, "column": 3}], **path}
    with pytest.raises(QueryError, match="no a") as caught:
        answer({"data": None, "errors": [error]}, status)
    assert caught.value.problems[0].line == 1
    assert caught.value.result.errors == (error,)


def test_one_path_is_enough_for_null_data_of_an_execution():
    """An error beside it may be of a middleware."""
    errors = [{"message": "m"}, {"message": "n", "path": ["a", 0]}]
    assert len(answer({"data": None, "errors": errors}).errors) == 2


def test_null_data_of_this_process_and_of_an_event_stay_results():
    """The one leaves `data` out where nothing was executed, the other was accepted before."""
    members = {"data": None, "errors": [{"message": "m"}]}
    assert parse_response(Response(200, members=members), ASKED).data is None
    asked = ResponseContext(
        Document.parse("subscription { a }"), "http://host/graphql", streaming=True
    )
    assert parse_response(Response(200, {}, dump_json(members)), asked).data is None


@pytest.mark.parametrize("status", [200, 400, 422])
def test_errors_without_data_are_about_the_query(status):
    """The endpoint's words and places are kept, its members reachable."""
    with pytest.raises(QueryError) as caught:
        answer({"errors": [{"message": "no a", "locations": [{"line": 1, "column": 3}]}]}, status)
    assert str(caught.value).splitlines()[-1].endswith("^")
    assert caught.value.result.errors[0]["message"] == "no a"


@pytest.mark.parametrize("places", [None, [], [{}], "x", [{"line": 0, "column": 0}], [5], [None]])
def test_strange_locations_are_no_problem(places):
    """GitHub sends line 0, others send none."""
    with pytest.raises(QueryError, match="no a"):
        answer({"errors": [{"message": "no a", "locations": places}]})


@pytest.mark.parametrize(
    ("body", "status", "kind", "message"),
    [
        (b"<html>Bad gateway</html>", 502, TransportError, "HTTP 502. Expected a GraphQL response"),
        (b"<html>Hello</html>", 200, AnswerError, "Is this the address of a GraphQL endpoint"),
        (b"", 200, AnswerError, "not valid JSON"),
        (b"[]", 200, AnswerError, "JSON, but not an object"),
        (b'{"a": 1}', 200, AnswerError, "neither 'data' nor 'errors'"),
        (b'{"data": "no"}', 200, AnswerError, "'data' is a str"),
        (b'{"data": [1]}', 200, AnswerError, "'data' is a list"),
        (b'{"data": {}, "errors": {}}', 200, AnswerError, "'errors' is not a list of objects"),
        (b'{"data": {}, "errors": ["x"]}', 200, AnswerError, "'errors' is not a list of objects"),
        (b'{"errors": []}', 200, AnswerError, "'errors' is empty"),
        (b'{"data": NaN}', 200, AnswerError, "not valid JSON"),
        (b'{"errors": [{"message": "gone"}]}', 404, TransportError, "HTTP 404: gone"),
        (b'{"data": "null"}', 502, TransportError, "HTTP 502. Not a GraphQL response: 'data' is"),
        (b'{"errors": []}', 503, TransportError, "HTTP 503. Not a GraphQL response"),
        (b'{"message": "Not here"}', 404, TransportError, "Not here"),
    ],
)
def test_what_is_no_answer_says_what_it_is(body, status, kind, message):
    """HTML, empty bodies, other JSON, wrong members: each in words, with the status."""
    with pytest.raises(kind) as caught:
        answer(body, status)
    assert message in str(caught.value)
    assert getattr(caught.value, "status", status) == status


def test_a_refused_token_gives_the_endpoints_words():
    """GitHub's 401 body has `message` and `documentation_url`."""
    body = {"message": "Bad credentials", "documentation_url": "https://docs.github.com/graphql"}
    with pytest.raises(AuthError, match="HTTP 401: Bad credentials") as caught:
        answer(body, 401)
    assert caught.value.status == 401


@pytest.mark.parametrize(
    ("body", "status", "headers", "wait"),
    [
        ({"errors": [{"type": "RATE_LIMITED", "message": "exceeded"}]}, 200, {}, None),
        ({"errors": [{"type": "RATE_LIMIT", "message": "exceeded"}]}, 200, {}, None),
        ({"message": "You have exceeded a secondary rate limit."}, 403, {}, None),
        ({"message": "Slow down"}, 403, {"retry_after": "60"}, 60.0),
        ({"message": "Slow down"}, 429, {"retry_after": "7"}, 7.0),
        (b"<html>Too many</html>", 429, {}, None),
        (
            {"errors": [{"type": "RATE_LIMITED", "message": "exceeded"}]},
            200,
            {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1030"},
            31.0,
        ),
        (
            {"errors": [{"type": "RATE_LIMIT", "message": "exceeded"}]},
            200,
            {"x_ratelimit_remaining": "12", "x_ratelimit_reset": "1030"},
            31.0,
        ),
        (
            {"message": "You have exceeded a secondary rate limit."},
            403,
            {"x_ratelimit_remaining": "12", "x_ratelimit_reset": "1030"},
            None,
        ),
    ],
)
def test_every_spelling_of_a_rate_limit_is_one_error(body, status, headers, wait):
    """Its wait comes from Retry-After or from the reset time."""
    with pytest.raises(RateLimited) as caught:
        answer(body, status, **headers)
    assert caught.value.wait == wait


def test_a_secret_that_is_echoed_back_is_hidden():
    """No server can put our token into our error."""
    for body in (
        b"<html>canary-77</html>",
        b'{"errors": [{"message": "canary-77"}]}',
        b'{"message": "bad canary-77"}',
    ):
        for status in (200, 400, 401, 403, 404, 500):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - each kind is tested above
                answer(body, status)
            assert "canary-77" not in str(caught.value)


def test_a_null_of_errors_counts_as_none():
    """Some servers send the member with null."""
    assert answer({"data": {}, "errors": None}).errors == ()


WENT_WRONG = "Something went wrong while executing your query. This may be a timeout."


@pytest.mark.parametrize(
    ("members", "status", "words"),
    [
        ({"data": None, "errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        ({"errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        ({"data": {"a": None}, "errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        (
            {"data": {"__typename": "Query", "a": None}, "errors": [{"message": "timedout"}]},
            504,
            "failed: timedout.",
        ),
        ({"data": {}, "errors": [{"message": "timedout"}]}, 504, "failed: timedout."),
        (
            {"data": None, "errors": [{"type": "INTERNAL", "message": "canary-77 broke"}]},
            200,
            "failed: *** broke.",
        ),
        ({"data": {"a": None}, "errors": [{"type": "internal"}]}, 200, "failed: INTERNAL."),
        (
            {"data": None, "errors": [{"message": "x"}, {"message": "timedout"}]},
            504,
            "failed: timedout.",
        ),
        ({"data": "null"}, 504, "'data' is the text \"null\"."),
        ({"data": "null", "errors": [{"message": "timedout"}]}, 504, "failed: timedout."),
        (
            {"message": "We couldn't respond to your request in time. Sorry about that."},
            504,
            "in time. Sorry about that.",
        ),
    ],
)
def test_a_failure_that_may_pass_is_a_transport_error(members, status, words):
    """The endpoint says so with status 200; its words are kept, and what came."""
    with pytest.raises(TransportError) as caught:
        answer(members)
    error = caught.value
    assert type(error) is TransportError
    assert error.transient
    assert error.status == status
    assert str(error).startswith("http://host/graphql: HTTP 200, and the endpoint failed: ")
    assert str(error).endswith(words)
    if "errors" in members:
        assert len(error.result.errors) == len(members["errors"])


@pytest.mark.parametrize(
    "members",
    [
        {"data": {"a": 1, "b": None}, "errors": [{"message": WENT_WRONG, "path": ["b"]}]},
        {"data": {"a": {"b": None}}, "errors": [{"type": "INTERNAL", "message": "m"}]},
        {"data": {"a": []}, "errors": [{"message": "timedout"}]},
        {"data": {"a": None}, "errors": [{"message": "Not found", "type": "NOT_FOUND"}]},
        {
            "data": {"a": None},
            "errors": [{"message": "m", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}],
        },
        {"data": {"a": None}, "errors": [{"message": "It has timed out, something went wrong"}]},
        {"data": {"a": None}},
    ],
)
def test_partial_data_and_other_failures_stay_results(members):
    """Data below the root count, and so do errors of resolvers."""
    result = answer(members)
    assert result.data == members["data"]
    assert len(result.errors) == len(members.get("errors", ()))


def test_a_failure_of_this_process_is_not_transient():
    """Nobody would ask a resolver again."""
    error = {"message": "timedout", "path": ["a"]}
    members = {"data": {"a": None}, "errors": [error]}
    for response in (
        Response(200, members=members, causes=(ValueError("timedout"),)),
        Response(200, members=members, replayed=True),
    ):
        assert parse_response(response, ASKED).errors == (error,)


def test_an_event_with_such_an_error_is_a_result():
    """A subscription is not asked again for one of its events."""
    asked = ResponseContext(Document.parse("subscription { a }"), "http://host/graphql")
    body = dump_json({"data": {"a": None}, "errors": [{"message": "timedout"}]})
    assert parse_response(Response(200, {}, body), asked).data == {"a": None}


def test_a_limit_and_a_refusal_come_before_a_transient_failure():
    """They say what to do."""
    errors = [{"message": WENT_WRONG}, {"message": "m", "type": "RATE_LIMITED"}]
    with pytest.raises(RateLimited):
        answer({"data": None, "errors": errors})
    errors[1] = {"message": "m", "extensions": {"code": "UNAUTHENTICATED"}}
    with pytest.raises(AuthError):
        answer({"data": None, "errors": errors})
    with pytest.raises(TransportError, match="HTTP 503: m"):
        answer({"data": None, "errors": [{"message": "m"}]}, 503)
