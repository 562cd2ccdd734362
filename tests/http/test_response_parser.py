"""Reading responses: which are answers, and what the others mean."""

import pytest

from gqlnb.document.document import Document
from gqlnb.document.json_codec import dump_json
from gqlnb.errors import AnswerError, AuthError, QueryError, RateLimited, TransportError
from gqlnb.http.messages import Response
from gqlnb.http.response_parser import ResponseContext, find_refusal, parse_response
from gqlnb.tokens import Token

ASKED = ResponseContext(
    Document.parse("{ a }"), "http://host/graphql", Token("canary-77").redact, now=1000.0
)


def answer(members, status=200, **headers):
    """Read a response with these members, or these bytes."""
    body = members if isinstance(members, bytes) else dump_json(members)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return parse_response(Response(status, named, body), ASKED)


@pytest.mark.parametrize("status", [200, 294, 400, 500])
def test_a_body_with_data_is_a_result(status):
    """With any status, as both status profiles differ."""
    result = answer(
        {"data": {"a": 1}, "errors": [{"message": "m"}], "extensions": {"x": 1}}, status
    )
    assert result.data == {"a": 1}
    assert result.errors == ({"message": "m"},)
    assert result.extensions == {"x": 1}


def test_null_data_with_a_path_is_a_result():
    """A null propagated to the root comes from an execution."""
    assert answer({"data": None, "errors": [{"message": "m", "path": ["a"]}]}).data is None


@pytest.mark.parametrize("status", [200, 400, 422])
@pytest.mark.parametrize("path", [{}, {"path": None}, {"path": []}])
def test_null_data_without_error_paths_is_a_query_error(status, path):
    """As Mercurius, Strawberry and Ariadne respond; the body is in `result`."""
    error = {"message": "no a", "locations": [{"line": 1, "column": 3}], **path}
    with pytest.raises(QueryError, match="no a") as caught:
        answer({"data": None, "errors": [error]}, status)
    assert caught.value.problems[0].line == 1
    assert caught.value.result.errors == (error,)


def test_one_error_path_makes_null_data_a_result():
    """Another error may come from a middleware."""
    errors = [{"message": "m"}, {"message": "n", "path": ["a", 0]}]
    assert len(answer({"data": None, "errors": errors}).errors) == 2


def test_null_data_in_process_and_in_events_is_a_result():
    """In process, `data` is absent if nothing ran; an event was accepted before."""
    members = {"data": None, "errors": [{"message": "m"}]}
    assert parse_response(Response(200, members=members), ASKED).data is None
    asked = ResponseContext(
        Document.parse("subscription { a }"), "http://host/graphql", streaming=True
    )
    assert parse_response(Response(200, {}, dump_json(members)), asked).data is None


DATASETTE_ERRORS = [
    ("Cannot query field 'nme' on type 'repo'. Did you mean 'name'?", 3),
    ("Syntax Error: Expected Name, found <EOF>.", 5),
    ("Variable '$n' got invalid value 'x'; Int cannot represent non-integer value: 'x'", 1),
]


@pytest.mark.parametrize(("message", "column"), DATASETTE_ERRORS)
@pytest.mark.parametrize("data", [{"data": None}, {}])  # datasette-graphql 2.2, express-graphql
@pytest.mark.parametrize("status", [500, 404, 503])
def test_errors_of_the_document_are_query_errors_at_any_status(message, column, data, status):
    """They have places and no paths; one without a place may be of the server itself."""
    errors = [{"message": message, "locations": [{"line": 1, "column": column}]}]
    with pytest.raises(QueryError) as caught:
        answer({**data, "errors": errors}, status)
    assert str(caught.value).splitlines()[-1] == " " * (column + 8) + "^"
    placed = {"message": "boom", "locations": [{"line": 1, "column": 3}], "path": ["a"]}
    for others in ([placed], [*errors, {"message": "The database is gone."}]):
        with pytest.raises(TransportError):
            answer({**data, "errors": others}, status)


REASONS = [
    # graphql-ruby 1.13
    (
        "Variable $i of type Inp was provided invalid value",
        {"problems": [{"path": ["inner", 0, "n"], "explanation": 'Could not coerce "x" to Int'}]},
        'Variable $i of type Inp was provided invalid value (inner[0].n: Could not coerce "x" to '
        "Int)",
    ),
    (
        "Variable $i was provided invalid value for inner.0.n (Could not coerce value 1.5 to Int)",
        {"problems": [{"path": ["inner", 0], "explanation": "Could not coerce value 1.5 to Int"}]},
        "Variable $i was provided invalid value for inner.0.n (Could not coerce value 1.5 to Int)",
    ),
    ("Invalid value.", {"argumentName": "n"}, "Invalid value. (argument 'n')"),
    ("Argument 'n' is invalid", {"argumentName": "n"}, "Argument 'n' is invalid"),
    # PostGraphile, Nest, Lighthouse, Strapi
    ("duplicate key", {"exception": {"detail": "Key (x)=(1) exists.", "code": "23505"}},
     "duplicate key (Key (x)=(1) exists.)"),
    ("Bad Request", {"originalError": {"message": ["a is long", "b is short"], "statusCode": 400}},
     "Bad Request (a is long; b is short)"),
    ("Validation failed", {"validation": {"input.email": ["It must be an address."]}},
     "Validation failed (input.email: It must be an address.)"),
    ("1 error", {"error": {"details": {"errors": [{"path": ["email"], "message": "Not unique"}]}}},
     "1 error (email: Not unique)"),
    ("m", {"exception": "ValueError: x"}, "m (ValueError: x)"),
    ("m", {"details": ["a", "b", "c", "d", "e"]}, "m (a; b; c; and 2 more)"),
    # Nothing but code, places and traces; members of other kinds
    ("m", {"code": "X", "exception": {"stacktrace": ["Error: m", "  at x"]}}, "m"),
    ("m", {"problems": 5, "details": [None, 7], "exception": {"message": {"a": 1}}}, "m"),
    ("m", ["x"], "m"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "extensions", "shown"), REASONS)
def test_reasons_in_extensions_are_shown(message, extensions, shown):
    """In the error of a refused request and in the errors of a result."""
    error = {"message": message, "extensions": extensions}
    with pytest.raises(QueryError) as caught:
        answer({"errors": [error]}, 400)
    assert caught.value.problems[0].message == shown
    result = answer({"data": {"a": None}, "errors": [{**error, "path": ["a"]}]})
    assert result.errors_frame()["message"].tolist() == [shown]
    assert shown in repr(result)
    with pytest.raises(TransportError) as caught:
        answer({"errors": [error]}, 500)
    assert shown.rstrip(".") in str(caught.value)


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        ({"extensions": {"code": "undefinedField", "typeName": "Query"}}, "undefinedField", None),
        ({"type": "NOT_FOUND"}, None, "NOT_FOUND"),
        ({"extensions": {"classification": "DataFetching"}}, None, "DataFetching"),
        ({"extensions": {"exception": {"code": "23505"}}, "errorType": "Db"}, "23505", "Db"),
        ({"code": 7, "extensions": {"code": ["x"], "type": 5}}, "7", None),
        ({"extensions": "x"}, None, None),
    ],
)
def test_errors_have_columns_for_code_and_type(error, code, kind):
    """Where endpoints put them: in the error, its extensions, or an exception in these."""
    frame = answer({"data": {"a": None}, "errors": [{"message": "m", **error}]}).errors_frame()
    row = frame.astype(object).where(frame.notna(), None).iloc[0]
    assert (row["code"], row["type"]) == (code, kind)
    assert {str(frame[name].dtype) for name in ("code", "type")} == {"string"}


@pytest.mark.parametrize(("status", "error"), [(500, TransportError), (200, QueryError)])
def test_empty_data_beside_errors_are_no_data(status, error):
    """The controller that graphql-ruby generates for Rails answers an exception with both."""
    with pytest.raises(error, match="undefined method"):
        answer({"errors": [{"message": "undefined method"}], "data": {}}, status)


@pytest.mark.parametrize(("status", "kind"), [(401, AuthError), (500, TransportError)])
def test_null_data_beside_a_message_are_no_graphql_response(status, kind):
    """Strapi's errors outside GraphQL, such as missing credentials, are of this form."""
    error = {"status": status, "name": "Error", "message": "Missing or invalid", "details": {}}
    with pytest.raises(kind, match="Missing or invalid"):
        answer({"data": None, "error": error}, status)


def test_errors_within_an_error_are_shown():
    """Directus puts all errors of validation into one without a location."""
    inner = [{"message": 'Cannot query field "b".', "locations": [{"line": 1, "column": 3}]}]
    error = {"message": "GraphQL validation error.", "extensions": {"errors": inner}}
    with pytest.raises(QueryError, match='field "b"') as caught:
        answer({"errors": [error]}, 400)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (1, 3)
    for _ in range(2):  # one level is read, whatever an endpoint sends
        error = {"message": "m", "locations": [], "extensions": {"errors": [error]}}
    with pytest.raises(QueryError) as caught:
        answer({"errors": [error]}, 400)
    assert [problem.message for problem in caught.value.problems] == ["m"]


@pytest.mark.parametrize("places", [None, [], [{}], "x", [{"line": 0, "column": 0}], [5], [None]])
def test_unusual_locations_are_accepted(places):
    """GitHub sends line 0, others send no location."""
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
        (b'{"data": {}, "errors": [1]}', 200, AnswerError, "'errors' is not a list of objects"),
        (b'{"errors": []}', 200, AnswerError, "'errors' is empty"),
        (b'{"data": NaN}', 200, AnswerError, "not valid JSON"),
        (b'{"errors": [{"message": "gone"}]}', 404, TransportError, "HTTP 404: gone"),
        (b'{"errors": [{"message": "gone"}]}', 404, TransportError, "Is this the address"),
        (b"Method Not Allowed", 405, TransportError, "Allowed'. Is this the address"),
        (b'{"data": null, "errors": [{"message": "odd.", "path": ["a", 0, "b"]}]}', 500,
         TransportError, "HTTP 500: odd at a[0].b."),
        (b'{"errors": [{"message": "odd", "path": 3}]}', 500, TransportError, "HTTP 500: odd"),
        (b'{"data": "null"}', 502, TransportError, "HTTP 502. Not a GraphQL response: 'data' is"),
        (b'{"errors": []}', 503, TransportError, "HTTP 503. Not a GraphQL response"),
        (b'{"message": "Not here"}', 404, TransportError, "Not here"),
    ],
)  # fmt: skip
def test_other_bodies_are_described_in_the_error(body, status, kind, message):
    """HTML, empty bodies, other JSON and invalid members, with the status."""
    with pytest.raises(kind) as caught:
        answer(body, status)
    assert message in str(caught.value)
    assert getattr(caught.value, "status", status) == status


def test_a_rejected_token_gives_the_endpoints_message():
    """GitHub's 401 body has `message` and `documentation_url`."""
    body = {"message": "Bad credentials", "documentation_url": "https://docs.github.com/graphql"}
    with pytest.raises(AuthError, match="HTTP 401: Bad credentials") as caught:
        answer(body, 401)
    assert caught.value.status == 401
    assert str(caught.value).endswith(" See https://docs.github.com/graphql for help.")


@pytest.mark.parametrize("address", [7, "", "javascript:alert(1)", "http://host/"])
def test_only_an_https_address_is_shown_as_documentation(address):
    """Other members of that name are ignored."""
    with pytest.raises(AuthError) as caught:
        answer({"message": "Bad credentials", "documentation_url": address}, 401)
    assert " See " not in str(caught.value)


def test_a_token_without_scopes_is_not_called_unknown():
    """GitHub's message says where to add them, and is not cut before that."""
    message = (
        "Your token has not been granted the required scopes to execute this query. The 'email' "
        "field requires one of the following scopes: ['user:email', 'read:user'], but your token "
        "has only been granted the: ['public_repo'] scopes. Please modify your token's scopes at: "
        "https://github.com/settings/tokens."
    )
    with pytest.raises(AuthError) as caught:
        answer({"errors": [{"type": "INSUFFICIENT_SCOPES", "message": message}]})
    assert str(caught.value).endswith(message)


def test_a_refused_token_is_not_a_rate_limit():
    """Also if the refused request was the last one of the budget."""
    body = {"message": "Resource protected by organization SAML enforcement."}
    spent = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1030"}
    with pytest.raises(AuthError, match="SAML"):
        answer(body, 403, **spent)
    with pytest.raises(AuthError, match="Authorize the token at https://github"):
        answer({"message": "No"}, 403, x_github_sso="required; url=https://github.com/o", **spent)
    with pytest.raises(RateLimited):
        answer({"message": "No"}, 403, **spent)


def test_partial_results_have_a_warning():
    """GitHub leaves out organizations with single sign-on, and says so in a header alone."""
    headers = {"x_github_sso": "partial-results; organizations=1,2"}
    found = answer({"data": {"a": 1}, "extensions": {"warnings": [{"message": "old"}]}}, **headers)
    assert [each["message"][:20] for each in found.extensions["warnings"]] == [
        "old",
        "The answer leaves ou",
    ]
    assert answer({"data": {"a": 1}}, x_github_sso="required; url=https://x").extensions == {}
    (warning,) = answer({"data": {"a": 1}}, **headers).extensions["warnings"]
    assert "single sign-on" in warning["message"]


def test_another_403_is_a_transport_error():
    """For example of a firewall, which does not check tokens."""
    for body in ({"message": "Forbidden"}, b"<html><title>Blocked</title></html>"):
        with pytest.raises(TransportError) as caught:
            answer(body, 403)
        assert not isinstance(caught.value, AuthError)


def test_a_secret_echoed_in_advice_is_masked():
    """The address and the permissions in the headers of a refusal with status 200, too."""
    members = {"data": {"a": None}, "errors": [{"type": "FORBIDDEN", "message": "SAML"}]}
    refused = answer(
        members,
        x_github_sso="required; url=https://github.com/canary-77",
        x_accepted_github_permissions="canary-77=read",
    )
    assert find_refusal(refused) == (
        "SAML. Authorize the token at https://github.com/*** It needs these permissions: ***=read."
    )


def test_null_errors_count_as_absent():
    """Some servers send the member with null."""
    assert answer({"data": {}, "errors": None}).errors == ()


WENT_WRONG = "Something went wrong while executing your query. This may be a timeout."


@pytest.mark.parametrize(
    ("members", "status", "words"),
    [
        ({"data": None, "errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        ({"errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        ({"data": {"a": None}, "errors": [{"message": WENT_WRONG}]}, 504, "may be a timeout."),
        ({"data": {"__typename": "Query", "a": None}, "errors": [{"message": "timedout"}]}, 504,
         "failed: timedout."),
        ({"data": {}, "errors": [{"message": "timedout"}]}, 504, "failed: timedout."),
        ({"data": None, "errors": [{"type": "INTERNAL", "message": "canary-77 broke"}]}, 200,
         "failed: *** broke."),
        ({"data": {"a": None}, "errors": [{"type": "internal"}]}, 200, "failed: INTERNAL."),
        ({"data": None, "errors": [{"message": "x"}, {"message": "timedout"}]}, 504,
         "failed: timedout."),
        ({"data": "null"}, 504, "'data' is the text \"null\"."),
        ({"data": None}, 200, "'data' is null, and there are no errors."),
        ({"data": None, "errors": []}, 200, "'data' is null, and there are no errors."),
        ({"data": {"a": None}, "errors": [{"message": "Timeout on validation of query"}]}, 504,
         "Timeout on validation of query."),
        ({"data": {"a": None}, "errors": [{"type": "SERVICE_UNAVAILABLE"}]}, 200,
         "failed: SERVICE_UNAVAILABLE."),
        ({"data": "null", "errors": [{"message": "timedout"}]}, 504, "failed: timedout."),
        ({"message": "We couldn't respond to your request in time. Sorry about that."}, 504,
         "in time. Sorry about that."),
    ],
)  # fmt: skip
def test_a_transient_failure_is_a_transport_error(members, status, words):
    """For responses with status 200, too; message and body are kept."""
    with pytest.raises(TransportError) as caught:
        answer(members)
    error = caught.value
    assert type(error) is TransportError
    assert error.transient
    assert error.status == status
    assert str(error).startswith("http://host/graphql: HTTP 200, and the endpoint failed: ")
    assert str(error).endswith(words)
    if members.get("errors"):
        assert len(error.result.errors) == len(members["errors"])


@pytest.mark.parametrize(
    "members",
    [
        {"data": {"a": 1, "b": None}, "errors": [{"message": WENT_WRONG, "path": ["b"]}]},
        {"data": {"a": {"b": None}}, "errors": [{"type": "INTERNAL", "message": "m"}]},
        {"data": {"a": []}, "errors": [{"message": "timedout"}]},
        {"data": {"a": []}, "errors": [{"type": "RATE_LIMITED", "message": "exceeded",
         "path": ["a", 0]}]},
        {"data": {"a": None}, "errors": [{"message": "'secondary rate limit' was not found",
         "path": ["a"]}]},
        {"data": {"a": None}, "errors": [{"message": "Not found", "type": "NOT_FOUND"}]},
        {"data": {"a": None}, "errors": [{"message": "m",
         "extensions": {"code": "INTERNAL_SERVER_ERROR"}}]},
        {"data": {"a": None}, "errors": [{"message": "It has timed out, something went wrong"}]},
        {"data": {"a": None}},
    ],
)  # fmt: skip
def test_partial_data_and_other_failures_are_results(members):
    """Data below the root, and errors of resolvers."""
    result = answer(members)
    assert result.data == members["data"]
    assert len(result.errors) == len(members.get("errors", ()))


@pytest.mark.parametrize("text", ["{ a }", "mutation { a }"])
def test_a_limit_of_the_whole_request_is_no_result(text):
    """Its data are cut, whatever they hold; a mutation that has data was executed."""
    asked = ResponseContext(Document.parse(text), "http://host/graphql")
    members = {"data": {"a": []}, "errors": [{"type": "RATE_LIMITED", "message": "exceeded"}]}
    response = Response(200, {"retry-after": "7"}, dump_json(members))
    if text == "{ a }":
        with pytest.raises(RateLimited, match="exceeded") as caught:
            parse_response(response, asked)
        assert caught.value.wait == 7
        assert caught.value.result.data == {"a": []}
    else:
        assert parse_response(response, asked).data == {"a": []}


def test_a_failure_in_process_is_not_transient():
    """Retrying a local resolver would not help."""
    error = {"message": "timedout", "path": ["a"]}
    members = {"data": {"a": None}, "errors": [error]}
    for response in (
        Response(200, members=members, causes=(ValueError("timedout"),)),
        Response(200, members=members, replayed=True),
    ):
        assert parse_response(response, ASKED).errors == (error,)


def test_an_event_with_a_transient_error_is_a_result():
    """A subscription is not retried for one event."""
    asked = ResponseContext(Document.parse("subscription { a }"), "http://host/graphql")
    body = dump_json({"data": {"a": None}, "errors": [{"message": "timedout"}]})
    assert parse_response(Response(200, {}, body), asked).data == {"a": None}


def test_rate_limit_and_auth_errors_precede_transient_failures():
    """Their messages are more specific."""
    errors = [{"message": WENT_WRONG}, {"message": "m", "type": "RATE_LIMITED"}]
    with pytest.raises(RateLimited):
        answer({"data": None, "errors": errors})
    errors[1] = {"message": "m", "extensions": {"code": "UNAUTHENTICATED"}}
    with pytest.raises(AuthError):
        answer({"data": None, "errors": errors})
    with pytest.raises(TransportError, match="HTTP 503: m"):
        answer({"data": None, "errors": [{"message": "m"}]}, 503)


def test_the_failure_of_an_executed_subscription_names_subscribe():
    """Dagster answers status 500 to a subscription outside a WebSocket."""
    document = Document.parse("subscription { ticks }")
    response = Response(500, {"content-type": "text/plain"}, b"Internal Server Error")
    with pytest.raises(TransportError, match=r"use client\.subscribe"):
        parse_response(response, ResponseContext(document, "http://h"))
    with pytest.raises(TransportError) as caught:
        parse_response(response, ResponseContext(document, "http://h", streaming=True))
    assert "client.subscribe" not in str(caught.value)
