"""Parsing a response: a GraphQL answer becomes a result, anything else the matching error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from gqlnb.document.document import Document, build_problems
from gqlnb.document.error_details import explain_message
from gqlnb.document.json_codec import JSONError, load_json, load_repaired_json, split_json_array
from gqlnb.document.variables import describe_integer_forms
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    RateLimited,
    ResultLike,
    TransportError,
    describe_path,
    format_path,
    sanitize_text,
)
from gqlnb.http.error_responses import (
    NULL_AS_TEXT,
    TransientFailure,
    describe_page,
    find_message,
    find_transient_failure,
    is_empty,
    is_transient_message,
    list_errors,
    load_members,
    nullify_response,
    transcode_response,
)
from gqlnb.http.incremental import (
    INCREMENTAL_ADVICE,
    assemble_response,
    is_incremental,
    is_incremental_error,
    iter_parts,
    take_first_part,
)
from gqlnb.http.rate_limit_rules import compute_restore_wait, read_cost_extension, read_retry_after
from gqlnb.redact import strip_traceback
from gqlnb.result.answer_notes import WARNINGS, InvalidPartError, count_nullified
from gqlnb.result.checked_decoder import CheckedDecoder, Misfit, iter_misfits, read_lazily
from gqlnb.result.column_batch import ColumnMembers
from gqlnb.result.result import (
    Result,
    add_errors,
    attach_lazy_data,
    attach_schema_loader,
    keep_exact_bytes,
    release_data,
)
from gqlnb.result.shape import Shape, build_response_shape, get_conditions

if TYPE_CHECKING:
    from gqlnb.http.messages import Response
    from gqlnb.result.result import SchemaLoader

# Error types and codes of rate limits. GitHub uses the first two, without a special HTTP status;
# Shopify and others use the rest.
RATE_LIMIT_CODES = frozenset(
    {"RATE_LIMITED", "RATE_LIMIT", "GRAPHQL_RATE_LIMIT", "THROTTLED", "TOO_MANY_REQUESTS"}
)
# GitHub's secondary limit has only a message, with status 200 or 403; "abuse" is its former name.
RATE_LIMIT_WORDS = re.compile(r"rate limit|abuse detection", re.IGNORECASE)
# It may occur while most of the budget remains, so the reset time of the budget does not apply.
SECONDARY_LIMIT_WORDS = re.compile(r"secondary rate limit|abuse detection", re.IGNORECASE)
# Of Apollo, for a missing or wrong token; of GitHub, for a token without the scopes of a field.
UNAUTHENTICATED_CODES = frozenset({"UNAUTHENTICATED", "INSUFFICIENT_SCOPES"})
# GitHub's reasons to refuse a valid token with status 403, which no retry repairs: SAML single
# sign-on, fine-grained permissions, a list of allowed addresses. Source: GitHub documentation,
# "Troubleshooting the REST API"; cli/cli:api/client.go reads the same headers.
PERMISSION_WORDS = re.compile(
    r"\bSAML\b|not accessible by|IP allow list|forbids access via a", re.IGNORECASE
)
# Reasons of a proxy or a framework in front of an endpoint, for a missing or unknown key.
DENIAL_WORDS = re.compile(
    r"unauthori[sz]ed|not authori[sz]ed|unauthenticated|(?:access|permission) denied"
    r"|(?:api|access)[ -]?key|authentication credentials|invalid token",
    re.IGNORECASE,
)
# "Batch requests should receive a list" (graphene-django), "expected a sequence" (serde), "Input
# should be a valid list" (pydantic). The opposite, such as "must not be an array", has a negation.
_ARRAY = r"(?:lists?|arrays?|sequences?|batch(?:es|ed)?)\b"
ARRAY_WORDS = re.compile(
    rf"\b(?:should|must|only|valid|expect|require|need)(?:(?!\bnot?\b)[^{{}}\"]){{0,60}}?\b{_ARRAY}"
    rf"|\bnot an? {_ARRAY}|\b{_ARRAY}[^{{}}\"]{{0,30}}\b(?:expected|only)\b",
    re.IGNORECASE,
)
# Source: GitHub documentation, "Troubleshooting the REST API", lists of organizations.
PARTIAL_RESULTS = {
    "type": "SSO_PARTIAL_RESULTS",
    "message": (
        "The answer leaves out organizations with SAML single sign-on for which the token is not "
        "authorized."
    ),
    "link": "https://github.com/settings/tokens",
}
SSO_HEADER, PERMISSIONS_HEADER = "x-github-sso", "x-accepted-github-permissions"
REFUSAL_STATUSES = frozenset({401, 403, 429})
# Statuses of addresses that are not an endpoint's; 405 is of a file server or a page.
NOT_FOUND_STATUSES = frozenset({404, 405})
# Statuses beside 2xx of responses to an executed request, or to one refused for its content.
QUERY_ERROR_STATUSES = frozenset({400, 422})
NO_CONTENT = 204  # a status without a body
# Media types of JSON in practice; those of HTML pages, forms and streams are excluded.
JSON_TYPE = re.compile(
    r"|(?:application|text)/(?:[\w.-]+\+)?json|text/plain|application/octet-stream", re.IGNORECASE
)
INDEX = re.compile(r"[0-9]{1,9}")  # of a list, in the path of an error; no name begins so
SUBSCRIBE_ADVICE = "A subscription is answered with a stream: use client.subscribe(text)."
TOKEN_ADVICE = "Pass a token the endpoint knows: token='env:NAME' or 'prompt'."  # noqa: S105
SMALLER_ADVICE = "Try again, or request fewer fields at a time to find the one at fault."
NAN_ADVICE = 'Some endpoints write such numbers. A client with nan="null" reads them as null.'
EXCERPT_LENGTH = 80  # characters of a foreign body
REASON_LENGTH = 500  # GitHub names the missing scopes, then the address where to grant them
ENDPOINT_HINT = "Is this the address of a GraphQL endpoint?"
MISFITS_SHOWN = 3
VIOLATION_CODE = "SCHEMA_VIOLATION"  # of errors that are added to those of the endpoint
MAX_VIOLATIONS = 100  # errors about the schema on one result; further ones are counted
REDACTED_BYTES = 1 << 16  # bytes of a foreign body that are redacted before it is cut
MAX_ERROR_DEPTH = 32  # levels of an error; GitHub's have four


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """The request that a response answers, and the means to describe errors.

    Attributes
    ----------
    document
        The document that was sent.
    source
        The origin of the answer for messages: the URL without secrets, or a name.
    redact
        Replaces known secrets in text from the endpoint.
    now
        Seconds since the epoch, to convert a reset time into a wait.
    expected
        The decoder that checks the data; None for an answer of this process.
    variables
        The variables that were sent, on which ``@skip`` and ``@include`` depend.
    learn
        Loads the schema when a frame needs it; None if it is known or must not be fetched.
    streaming
        Whether several responses may answer the request.
    note_answer
        Called when there is an answer with data; None for nothing to note.
    nan_as_null
        Whether NaN and infinities, which JSON does not have, are read as null.
    """

    document: Document
    source: str
    redact: Callable[[str], str] = str
    now: float = 0.0
    expected: CheckedDecoder | None = None
    variables: Mapping[str, Any] | None = None
    learn: SchemaLoader | None = None
    streaming: bool = False
    note_answer: Callable[[], None] | None = None
    nan_as_null: bool = False

    def clean_text(self, text: object, limit: int = 400) -> str:
        """Return text of the endpoint without secrets and control characters, cut to `limit`."""
        return sanitize_text(self.redact(str(text)), limit)

    def cut_excerpt(self, body: bytes, at: int | None = None) -> str:
        """Return an excerpt of a foreign body without secrets.

        Parameters
        ----------
        body
            The body.
        at
            The offset to show the surroundings of; None for the beginning.
        """
        text = body[:REDACTED_BYTES].decode("utf-8", "replace")
        if at is None or at < EXCERPT_LENGTH // 2:
            return self.clean_text(text, EXCERPT_LENGTH)
        # A wide piece is redacted before it is cut, so that no part of a secret remains.
        near = body[max(0, at - REDACTED_BYTES) : at].decode("utf-8", "replace")
        rest = body[at : at + REDACTED_BYTES].decode("utf-8", "replace")
        whole = sanitize_text(self.redact(near + rest), 2 * REDACTED_BYTES)
        middle = len(sanitize_text(self.redact(near), 2 * REDACTED_BYTES))
        return f"…{whole[max(0, middle - EXCERPT_LENGTH // 2) :][:EXCERPT_LENGTH]}"

    def redact_value(self, value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - JSON values
        """Return a JSON-like value of the endpoint with redacted texts."""
        if isinstance(value, str):
            return self.redact(value)
        if depth > MAX_ERROR_DEPTH and isinstance(value, (dict, list)):
            return "…"
        if isinstance(value, dict):
            return {self.redact(k): self.redact_value(v, depth + 1) for k, v in value.items()}
        return (
            [self.redact_value(v, depth + 1) for v in value] if isinstance(value, list) else value
        )


def parse_response(response: Response, asked: ResponseContext) -> Result:
    """Return the result in a response.

    Parameters
    ----------
    response
        The response.
    asked
        The request that it answers.

    Raises
    ------
    QueryError
        If the endpoint reports that the text or the variables are wrong.
    AuthError, RateLimited, TransportError
        If the endpoint refused the request, demands to wait, or failed.
    AnswerError
        If it is not a GraphQL response, or does not fit the document. Data that fit the document
        and not the schema have an error each in the result.
    """
    try:
        result = _parse_response(response, asked)
    except GqlnbError as error:
        failure = strip_traceback(error)
    else:
        if asked.note_answer is not None:
            asked.note_answer()
        return result
    if isinstance(failure, (TransportError, AnswerError)):
        failure.replayed = response.replayed
    if not asked.streaming:
        _advise_streaming(failure, response, asked.document)
    del response  # tracebacks may show these locals, and a foreign body may contain our token
    raise failure


def parse_array(response: Response, asked: Sequence[ResponseContext]) -> list[Result | GqlnbError]:
    """Return the result or the error of each request of an array.

    Raises
    ------
    OptionError
        If the endpoint accepts no such array, and executed nothing.
    AuthError, RateLimited, TransportError, AnswerError
        If it refused the whole, failed, or gave no array of as many answers.
    """
    items = _split_array(response)
    count = f"an array of {len(asked)} requests"
    source, status = asked[0].source, response.status
    # At any status: graphene-django answers 400 if one of them is invalid, beside data of others.
    if items is not None and len(items) == len(asked):
        succeeded = 200 <= status < 300
        if succeeded or any(_is_graphql_response(load_members(item.body)) for item in items):
            answers = items if succeeded else map(_correct_item_status, items)
            return [_try_parse(item, one) for item, one in zip(answers, asked, strict=True)]
    given = "a single answer" if items is None else f"{len(items)} answers"
    is_executed = any(_shows_execution(item.body) for item in items or [response])
    is_complete = items is not None and status < 400
    refusal = _try_parse(response, asked[0])
    del response, items  # as in `parse_response`
    if is_executed or is_complete or not isinstance(refusal, GqlnbError):
        msg = f"{source}: {count} was answered with {given}. Leave batch= out."
        if any(one.document.kind != "query" for one in asked):
            msg += " Its mutations may have been executed. Check before sending them again."
        raise AnswerError(msg)
    if isinstance(refusal, (AuthError, RateLimited)) or not 400 <= status < 500:
        advice = f"It was asked for {count}; if it accepts none, leave batch= out."
        refusal.args = (f"{refusal.args[0]} {advice}", *refusal.args[1:])
        raise refusal
    reason = " ".join(problem.message for problem in getattr(refusal, "problems", ()))
    reason = end_sentence(reason or str(refusal.args[0]).removeprefix(f"{source}: "))
    msg = (
        f"{source}: the endpoint does not accept {count}. HTTP {status}: "
        f"{reason.removeprefix(f'HTTP {status}').lstrip('.: ')} Leave batch= out, or give the "
        "number that it accepts."
    )
    raise OptionError(msg)


def _split_array(response: Response) -> list[Response] | None:
    """Return the responses in an array, or in the parts of a stream; None for a single one."""
    bodies = split_json_array(response.body)
    if bodies is not None:
        return [replace(response, body=body) for body in bodies]
    # Hot Chocolate sends a part for each request as it ends, with its place in `requestIndex`.
    parts = list(iter_parts(response))
    places = [load_members(item.body).get("requestIndex") for item in parts]
    if sorted(map(str, places)) == sorted(map(str, range(len(parts)))):
        parts = [parts[places.index(place)] for place in range(len(parts))]
    return parts or None


def _correct_item_status(item: Response) -> Response:
    """Return an answer in an array with a status of its own, as far as its members show it."""
    # The status of an array is that of its worst request, so it says nothing of one that was
    # executed; only a refused token and a rate limit concern all.
    is_own = item.status in REFUSAL_STATUSES or "data" not in load_members(item.body)
    return item if is_own else replace(item, status=200)


def _is_graphql_response(members: Mapping[str, Any]) -> bool:
    """Return whether members are those of a GraphQL response."""
    return "data" in members or isinstance(members.get("errors"), list)


def _shows_execution(body: bytes) -> bool:
    """Return whether a body shows that a request was executed: data, or an error with a path."""
    members = load_members(body)
    has_data = members.get("data") not in (None, {})
    return has_data or any(error.get("path") for error in list_errors(members))


def demands_array(response: Response) -> bool:
    """Return whether a response refuses a request because it is not in an array of requests."""
    # The beginning alone: some quote the request behind their reason.
    beginning = response.body[:REASON_LENGTH].decode("utf-8", "replace")
    if response.status >= 500 or ARRAY_WORDS.search(beginning) is None:
        return False
    members = load_members(response.body)
    if not members:
        return response.status >= 400
    return members.get("data") is None and not any(
        error.get("path") or error.get("locations") for error in list_errors(members)
    )


def _try_parse(response: Response, asked: ResponseContext) -> Result | GqlnbError:
    """Return the result in a response, or its error."""
    try:
        return parse_response(response, asked)
    except GqlnbError as error:
        return strip_traceback(error)


def _advise_streaming(error: GqlnbError, response: Response, document: Document) -> None:
    """Add advice to the error of an operation that is answered in several parts."""
    incremental = is_incremental(response)
    # Some endpoints fail for a subscription that did not come over a WebSocket, as Dagster does.
    failed = isinstance(error, TransportError) and (error.status or 0) >= 500
    if document.kind == "subscription" and (incremental or failed):
        error.args = (f"{error.args[0]} {SUBSCRIBE_ADVICE}", *error.args[1:])
    elif document.incremental_directives and incremental:
        error.args = (f"{error.args[0]} {INCREMENTAL_ADVICE}", *error.args[1:])
    elif document.incremental_directives and isinstance(error, QueryError):
        error.problems = tuple(
            replace(problem, hint=INCREMENTAL_ADVICE)
            if is_incremental_error(problem.message)
            else problem
            for problem in error.problems
        )


def _parse_response(response: Response, asked: ResponseContext) -> Result:
    if isinstance(response.members, ColumnMembers):
        result = _build_result(response.members.outline, response, asked)
        return attach_lazy_data(result, response.members.columns)
    checked, decoder = None, None
    if response.members is None:
        response, is_json = _normalize_response(response, asked)
        # Parts of `@defer` and `@stream` leave fields out.
        decoder = asked.expected if is_json and not asked.document.incremental_directives else None
    if decoder is not None:
        # Most answers fit their shape, and then need no check in Python.
        lazy = read_lazily(response.body, decoder, asked.document)
        if lazy is not None:
            result = _build_result(lazy.members, response, asked)
            return attach_lazy_data(result, lazy.envelope)
        checked = decoder.decode_response(response.body)
    members = checked or response.members or _read_members(response, asked)
    result = _build_result(members, response, asked)
    if members.get("hasNext") is True and not asked.streaming:
        msg = (
            f"{asked.source}: this is the first part of an answer, and no further part was "
            f"received. It is in error.result. {INCREMENTAL_ADVICE}"
        )
        raise AnswerError(msg, result=result)
    transient, limited = _find_reported_failure(result, response, asked)
    if result.data is None or transient is not None or limited:
        has_data = members.get("data", {}) != {}
        return _resolve_failure(result, transient, response, asked, has_data=has_data)
    if response.members is None:
        if checked is None or decoder is None:
            _check_expected_data(result, asked)
        elif not result.errors:
            release_data(result, response.body, decoder)
        keep_exact_bytes(result)
    return result


def _resolve_failure(
    result: Result,
    transient: TransientFailure | None,
    response: Response,
    asked: ResponseContext,
    *,
    has_data: bool,
) -> Result:
    """Raise the error of a response without data; return the result if it is null by a field."""
    # The result becomes an attribute of an exception, which is shown and logged more widely than
    # a result: it holds no raw body, and no secret that the endpoint echoes in headers.
    refused = replace(
        result,
        extensions=asked.redact_value(result.extensions),
        response=replace(response, headers=asked.redact_value(dict(response.headers)), body=b""),
    )
    status = response.status
    # In this order: a refusal comes with advice of its own, a transient failure is tried again, any
    # other status is an error; only what remains may be a result.
    _raise_if_refused(response, asked, result.errors, refused)
    if transient is not None:
        raise _build_transient_error(transient, response, asked, refused)
    # Errors of the document have places and no paths: Datasette and express-graphql send them with
    # status 500, as Dagster does those of its resolvers.
    is_refusal = all(e.get("locations") and not e.get("path") for e in result.errors)
    if not (200 <= status < 300 or status in QUERY_ERROR_STATUSES or is_refusal):
        reason = "; ".join(_describe_error(error, asked) for error in result.errors[:MISFITS_SHOWN])
        msg = end_sentence(f"{asked.source}: HTTP {status}: {reason}")
        raise _build_transport_error(msg, response, asked, refused)
    if has_data and not _is_request_error(result, response, asked):
        return result
    problems = build_problems(result.errors)
    for name, scalar, advice in describe_integer_forms(asked.document, asked.variables or {}):
        problems = [
            replace(problem, hint=problem.hint or advice)
            if re.search(rf"\${name}\b|\b{scalar}\b", problem.message)
            else problem
            for problem in problems
        ]
    raise QueryError(text=asked.document.text, problems=problems, result=refused)


def _is_request_error(result: Result, response: Response, asked: ResponseContext) -> bool:
    """Return whether null data mean that the request was refused before execution."""
    # A response to a refused request has no `data` (GraphQL specification, 7.1.2), yet Mercurius,
    # Strawberry and Ariadne send null. The errors differ: an error of a field has a `path`, which
    # a request that was not executed cannot have; a refusal has `locations` or a status of 4xx,
    # which a failure inside the server has not. The engine of this process leaves `data` out, and
    # an event of a subscription belongs to a request that was accepted.
    is_event = asked.document.kind == "subscription" and response.status == 200
    if response.members is not None or is_event:
        return False
    refused = 400 <= response.status < 500 or any(e.get("locations") for e in result.errors)
    return refused and not any(error.get("path") for error in result.errors)


def _find_reported_failure(
    result: Result, response: Response, asked: ResponseContext
) -> tuple[TransientFailure | None, bool]:
    """Return the failure that the endpoint reports as temporary; and whether a limit stopped it.

    All fields are null then, or an error has no path: a limit with a path beside other data is that
    of one field, and a mutation with data was executed.
    """
    # Errors with causes are of resolvers in this process; errors of an event concern that event.
    local = bool(response.causes) or (response.members is not None and response.replayed)
    if local or asked.document.kind == "subscription" or not result.errors:
        return None, False
    succeeded = 200 <= response.status < 300
    transient = find_transient_failure(result.data, result.errors) if succeeded else None
    # GitHub's fields that may be null stay beside the error, as `{"data": {"repository": null}}`.
    is_null = is_empty(result.data)
    is_limited = (is_null or asked.document.kind == "query") and any(
        is_limit_error(error) for error in result.errors if is_null or not error.get("path")
    )
    return transient, is_limited


def is_limit_error(error: Mapping[str, object]) -> bool:
    """Return whether an error of an answer is a rate limit."""
    message = error.get("message")
    return not RATE_LIMIT_CODES.isdisjoint(_get_error_codes(error)) or (
        isinstance(message, str)
        and SECONDARY_LIMIT_WORDS.search(message) is not None
        and not error.get("path")
    )


def _build_transient_error(
    failure: TransientFailure,
    response: Response,
    asked: ResponseContext,
    result: Result | None = None,
) -> TransportError:
    # 504 for a time-out, as from a gateway, so that paging reduces its page size.
    status = 504 if failure.timed_out else response.status
    reason = end_sentence(asked.clean_text(failure.message))
    msg = f"{asked.source}: HTTP {response.status}, and the endpoint failed: {reason}"
    wait = read_retry_after(response.headers, asked.now, limited=False)
    return TransportError(msg, status=status, wait=wait, result=result, transient=True)


def _normalize_response(response: Response, asked: ResponseContext) -> tuple[Response, bool]:
    """Return a response in UTF-8 with its parts combined, and whether it is labelled as JSON.

    Raises
    ------
    AnswerError
        If its parts cannot be combined.
    """
    label = response.headers.get("content-type", "").lower()
    if "charset" in label and not label.endswith("charset=utf-8"):
        response = transcode_response(response)
    if asked.nan_as_null:
        response = nullify_response(response)
    if has_json_media_type(response):
        return response, True
    if response.body and response.status != 200:
        response = take_first_part(response)
    elif response.body and asked.document.kind != "subscription":
        try:
            response = assemble_response(response)
        except InvalidPartError as error:
            msg = (
                f"{asked.source}: the parts of the incremental response are inconsistent: {error}."
            )
            raise AnswerError(msg) from None
    return response, has_json_media_type(response)


def has_json_media_type(response: Response) -> bool:
    """Return whether the media type of a response is one that is used for JSON."""
    media = response.headers.get("content-type", "").partition(";")[0].strip()
    return JSON_TYPE.fullmatch(media) is not None


def _read_members(response: Response, asked: ResponseContext) -> Mapping[str, Any]:
    """Return the members of a GraphQL response, or raise the error that another body means."""
    fault: JSONError | None = None
    members: object = None
    try:
        members = load_json(response.body)
    except JSONError as error:
        fault = JSONError(str(error), error.at)
    message = find_message(members)
    if (
        isinstance(members, dict)
        and _is_graphql_response(members)
        and has_json_media_type(response)
        # Strapi's errors outside GraphQL have null data, beside `error`.
        and (members.get("data") is not None or members.get("errors") or message is None)
    ):
        return members
    _raise_if_refused(response, asked, [{"message": message}] if message else [], None)
    raise _build_foreign_error(response, asked, members, fault)


def _build_foreign_error(
    response: Response, asked: ResponseContext, members: object, fault: JSONError | None
) -> GqlnbError:
    """Return the error for a body that is not a GraphQL response."""
    where = f"{asked.source}: HTTP {response.status}"
    succeeded = 200 <= response.status < 300
    message = find_message(members)
    if succeeded and message is not None and is_transient_message(message):
        return _build_transient_error(TransientFailure(message, timed_out=True), response, asked)
    quoted = None if message is None else asked.clean_text(message, 200)
    page = describe_page(response.body, asked.clean_text) if fault is not None else None
    if not succeeded:
        said = None if quoted is None else f"the message: {quoted}"
        answer = said or page or repr(asked.cut_excerpt(response.body))
        msg = end_sentence(f"{where}. Expected a GraphQL response, got {answer}")
        return _build_transport_error(msg, response, asked)
    # Proxies cut answers, which says nothing about the next one.
    is_cut = fault is not None and fault.is_cut and response.status != NO_CONTENT
    if fault is not None and response.body.lstrip()[:1] == b"{":
        # A mutation whose answer was cut may have been executed.
        advice = "" if is_cut and asked.document.kind == "mutation" else f" {SMALLER_ADVICE}"
        why = f"The endpoint encoded it incorrectly, or it was truncated in transit.{advice}"
        return AnswerError(
            f"{where}, and the answer is not valid JSON ({fault}): "
            f"{asked.cut_excerpt(response.body, fault.at)!r}. "
            f"{NAN_ADVICE if fault.is_invalid_number else why}",
            broken=is_cut,
            result=_build_repaired_result(response, asked),
        )
    if page is not None:
        return AnswerError(end_sentence(f"{where}, and the answer is {page}") + f" {ENDPOINT_HINT}")
    if fault is not None:
        reason = f"not valid JSON ({fault})"
    elif not has_json_media_type(response):
        label = asked.clean_text(response.headers.get("content-type", ""), 40)
        reason = f"labelled {label!r}, which is not a media type of JSON"
    elif not isinstance(members, dict):
        reason = "JSON, but not an object"
    else:
        reason = repr(quoted) if quoted else "JSON with neither 'data' nor 'errors'"
    excerpt = asked.cut_excerpt(response.body)
    msg = f"{where}, and the answer is {reason}: {excerpt!r}. {ENDPOINT_HINT}"
    return AnswerError(msg, broken=is_cut)


def _build_repaired_result(response: Response, asked: ResponseContext) -> Result | None:
    """Parse a body with invalid characters as U+FFFD; return None if it has other errors."""
    try:
        members = load_repaired_json(response.body)
        return _build_result(members, response, asked) if isinstance(members, dict) else None
    except (JSONError, GqlnbError):
        return None


def _build_result(members: Mapping[str, Any], response: Response, asked: ResponseContext) -> Result:
    data, errors = members.get("data"), members.get("errors")
    errors = [] if errors is None else errors
    if isinstance(errors, list):
        errors = list(map(_read_error, errors))
    succeeded = 200 <= response.status < 300
    is_remote = response.members is None and asked.document.kind != "subscription"
    if data == NULL_AS_TEXT:
        if succeeded and not errors:
            failure = TransientFailure("'data' is the text \"null\"", timed_out=True)
            raise _build_transient_error(failure, response, asked)
        data = None if errors else data
    elif data is None and "data" in members and errors == [] and succeeded and is_remote:
        # Clients of GitHub repeat it, too: of a valid query, a server has lost the answer.
        failure = TransientFailure("'data' is null, and there are no errors", timed_out=False)
        raise _build_transient_error(failure, response, asked)
    if data == {} and response.members is None and _concerns_the_request(errors):
        data = None  # the controller that graphql-ruby generates for Rails answers failures so
    fault = _find_member_fault(data, errors, has_data="data" in members)
    if fault and not succeeded:
        msg = f"{asked.source}: HTTP {response.status}. Not a GraphQL response: {fault}."
        raise _build_transport_error(msg, response, asked)
    if fault:
        message = find_message(members.get("errors"))
        quoted = f" It says: {end_sentence(asked.clean_text(message, 200))}" if message else ""
        result = None
        if isinstance(data, Mapping):
            reported = ({"message": asked.clean_text(message)},) if message else ()
            result = Result(data, reported, document=asked.document, response=response)
            result = replace(result, source=asked.source, variables=asked.variables)
        msg = f"{asked.source}: not a GraphQL response: {fault}.{quoted}"
        raise AnswerError(msg, result=result)
    extensions = members.get("extensions")
    extensions = dict(extensions) if isinstance(extensions, Mapping) else {}
    if SSO_HEADER in response.headers or PERMISSIONS_HEADER in response.headers:
        # Errors about this result may quote them.
        response = replace(response, headers=asked.redact_value(dict(response.headers)))
    extensions = _add_warnings(extensions, response)
    result = Result(
        data=data,
        errors=tuple(errors if response.members is not None else map(asked.redact_value, errors)),
        extensions=asked.redact_value(extensions),
        document=asked.document,
        response=response,
        source=asked.source,
        causes=response.causes,
        variables=asked.variables,
    )
    return result if asked.learn is None else attach_schema_loader(result, asked.learn)


def _read_error(error: Any) -> Any:
    """Return an error as the specification has it: an object, in whose path indices are numbers."""
    if isinstance(error, str):  # of MLflow 3
        return {"message": error}
    path = error.get("path") if isinstance(error, Mapping) else None
    if not isinstance(path, list):
        return error
    # Mercurius writes indices as texts.
    steps = (int(step) if INDEX.fullmatch(str(step)) else step for step in path)
    return {**error, "path": list(steps)}


def _add_warnings(extensions: dict[str, Any], response: Response) -> dict[str, Any]:
    """Return the extensions of an answer with warnings about what the response lacks."""
    ours = [count_nullified(response.nullified)] if response.nullified else []
    if response.headers.get(SSO_HEADER, "").startswith("partial-results"):
        ours.append(PARTIAL_RESULTS)
    listed = extensions.get(WARNINGS)
    before = listed if isinstance(listed, list) else []
    return {**extensions, WARNINGS: [*before, *ours]} if ours else extensions


def _concerns_the_request(errors: object) -> bool:
    """Return whether there are errors, none of which is of a field."""
    return (
        isinstance(errors, list)
        and bool(errors)
        and all(isinstance(error, Mapping) and not error.get("path") for error in errors)
    )


def _find_member_fault(data: object, errors: object, *, has_data: bool) -> str | None:
    """Return the reason why these members do not make a GraphQL response, or None."""
    if data is not None and not isinstance(data, Mapping):
        return f"'data' is a {type(data).__name__}, not an object"
    if not isinstance(errors, (list, tuple)) or (
        errors and not all(isinstance(error, Mapping) for error in errors)
    ):
        return "'errors' is not a list of objects"
    if not has_data and not errors:
        return "there is no 'data', and 'errors' is empty"
    return "'data' is null, and there are no errors" if data is None and not errors else None


# The endpoint was right about its own query when its schema was not known yet, so the schema alone
# refuses no answer: what it contradicts is an error beside the data. A missing field, or a scalar
# where fields were selected, is no answer to the document, with or without a schema.
def _check_expected_data(result: Result, asked: ResponseContext) -> None:
    """Raise if data do not fit the document, and note in the result what the schema contradicts.

    Nulls and missing fields that an error of the answer explains are accepted.
    """
    if asked.expected is None:
        return
    is_explained = _build_test_for_explained_misfits(result.errors)

    def find_misfits(shape: Shape) -> Iterator[Misfit]:
        return (m for m in iter_misfits(shape, result.data) if not is_explained(m))

    document, misfits = asked.document, find_misfits(asked.expected.shape)
    violations = list(islice(misfits, MAX_VIOLATIONS))
    if not violations:
        return
    first = violations
    if document.schema is not None:
        conditions = get_conditions(document, asked.variables)
        bare = build_response_shape(replace(document, schema=None), conditions)
        first = list(islice(find_misfits(bare), MISFITS_SHOWN + 1))
    if not first:
        add_errors(result, map(_describe_violation, violations))
        if further := next(misfits, None):
            left = 1 + sum(1 for _ in misfits)
            msg = f"{left:,} further values contradict the schema, the first of them here."
            add_errors(result, [_describe_violation(further) | {"message": msg}])
        return
    lines = [
        f"{asked.clean_text(describe_path(misfit.path).strip() or 'at the top', 120)}: expected "
        f"{misfit.wanted}, got {misfit.got}"
        for misfit in first[:MISFITS_SHOWN]
    ]
    more = " There are more." if len(first) > MISFITS_SHOWN else ""
    msg = (
        f"{asked.source}: the answer does not fit its query {'; '.join(lines)}.{more} "
        "The received data are in error.result."
    )
    raise AnswerError(msg, result=result)


def _describe_violation(misfit: Misfit) -> dict[str, Any]:
    """Return a value that contradicts the schema as an error of an answer."""
    return {
        "message": f"The schema has {misfit.wanted} here, and the answer has {misfit.got}.",
        "path": list(misfit.path),
        "extensions": {"code": VIOLATION_CODE},
    }


def _build_test_for_explained_misfits(
    errors: Sequence[Mapping[str, object]],
) -> Callable[[Misfit], bool]:
    """Return a test of whether errors explain a misfit: null or missing at the path of an error."""
    # Endpoints leave a null where it should have propagated to the next nullable field, so an error
    # at or below the place counts; an error without a path may concern any place.
    paths = [error.get("path") for error in errors]
    anywhere = any(not isinstance(path, (list, tuple)) for path in paths)
    prefixes: set[tuple[str, ...]] = set()
    for path in paths:
        if isinstance(path, (list, tuple)):
            steps = tuple(map(str, path[:MAX_ERROR_DEPTH]))
            prefixes.update(steps[: end + 1] for end in range(len(steps)))
    return lambda misfit: misfit.absent and (anywhere or tuple(map(str, misfit.path)) in prefixes)


def end_sentence(text: str) -> str:
    """Return text with a full stop, unless it ends a sentence already."""
    return text if text[-1:] in tuple(".!?…") else f"{text}."


def _describe_error(error: Mapping[str, Any], asked: ResponseContext) -> str:
    """Return the message of an error with the path of its field, if it has one."""
    message = asked.clean_text(explain_message(error), 400)
    path = error.get("path")
    if not path or not isinstance(path, list):
        return message
    return f"{message.removesuffix('.')} at {asked.clean_text(format_path(path), 200)}"


def _build_transport_error(
    msg: str, response: Response, asked: ResponseContext, result: Result | None = None
) -> TransportError:
    if response.status in NOT_FOUND_STATUSES:
        msg += f" {ENDPOINT_HINT}"
    wait = read_retry_after(response.headers, asked.now, limited=False)
    return TransportError(msg, status=response.status, wait=wait, result=result)


def _raise_if_refused(
    response: Response,
    asked: ResponseContext,
    errors: Sequence[Mapping[str, object]],
    result: Result | None,
) -> None:
    """Raise if the endpoint refused the token or demands to wait."""
    message: object = errors[0].get("message") if errors else None
    if message is None and response.status in REFUSAL_STATUSES:
        with suppress(JSONError):
            message = find_message(load_json(response.body))
    reason = "no reason given"
    if message and isinstance(message, str):
        reason = asked.clean_text(message, REASON_LENGTH)
    where = f"{asked.source}: HTTP {response.status}"
    codes = set().union(*map(_get_error_codes, errors))
    limited = response.status == 429 or not RATE_LIMIT_CODES.isdisjoint(codes)
    secondary = SECONDARY_LIMIT_WORDS.search(reason) is not None
    # A secondary limit ends long before the budget is renewed, so only Retry-After counts for it.
    wait = read_retry_after(response.headers, asked.now, limited=limited and not secondary)
    if wait is None and limited and result is not None:
        wait = compute_restore_wait(read_cost_extension(result.extensions))
    if limited or _is_rate_limited(response, errors, reason, wait):
        pause = f" Wait {wait:.0f} s." if wait is not None else ""
        msg = f"{where}, rate limit reached: {end_sentence(reason)}{pause}"
        raise RateLimited(msg, wait=wait, status=response.status, result=result)
    documentation = ""
    if codes or response.status in REFUSAL_STATUSES:
        documentation = _describe_documentation(response, asked)
    is_denied = response.status == 403 and result is None and DENIAL_WORDS.search(reason)
    if response.status == 401 or is_denied or not UNAUTHENTICATED_CODES.isdisjoint(codes):
        # The endpoint knows a token without scopes, and GitHub's message says where to add them.
        advice = "" if "INSUFFICIENT_SCOPES" in codes else f" {TOKEN_ADVICE}"
    else:
        advice = _describe_permissions(response.headers, asked.clean_text)
        # GitHub names a page of its documentation beside each refusal, and a firewall does not.
        is_explained = advice or documentation or PERMISSION_WORDS.search(reason)
        if response.status != 403 or not is_explained:
            return
    msg = f"{where}: {end_sentence(reason)}{advice}{documentation}"
    raise AuthError(msg, status=response.status, result=result)


def _describe_documentation(response: Response, asked: ResponseContext) -> str:
    """Return a sentence with the page that GitHub names beside its message; empty without."""
    address = load_members(response.body).get("documentation_url")
    if not isinstance(address, str) or not address.startswith("https://"):
        return ""
    return f" See {asked.clean_text(address, 200)} for help."


def find_refusal(result: ResultLike | None) -> str:
    """Return the reason for which an answer with status 200 refuses the token; empty without."""
    for error in result.errors if result is not None else ():
        message = sanitize_text(error.get("message"), REASON_LENGTH)
        kinds = {"FORBIDDEN", *UNAUTHENTICATED_CODES}
        if not kinds.isdisjoint(_get_error_codes(error)) or PERMISSION_WORDS.search(message):
            headers = getattr(getattr(result, "response", None), "headers", None) or {}
            advice = _describe_permissions(headers)
            return end_sentence(message) + advice if advice else message
    return ""


def _describe_permissions(
    headers: Mapping[str, str], clean: Callable[[str, int], str] = sanitize_text
) -> str:
    """Return advice for a refused token from GitHub's headers; empty without them."""
    _, has_address, address = headers.get(SSO_HEADER, "").partition("url=")
    needed = headers.get(PERMISSIONS_HEADER, "")
    advice = f" Authorize the token at {clean(address, 400)}" if has_address else ""
    return f"{advice} It needs these permissions: {clean(needed, 200)}." if needed else advice


def _is_rate_limited(
    response: Response, errors: Sequence[Mapping[str, object]], reason: str, wait: float | None
) -> bool:
    """Return whether a response without an error code for it means a rate limit."""
    has_words = bool(RATE_LIMIT_WORDS.search(reason))
    if response.status == 403:
        # The last request of a budget may be refused for its token: waiting does not help then.
        is_denied = SSO_HEADER in response.headers or PERMISSION_WORDS.search(reason)
        return has_words or (wait is not None and not is_denied)
    # An error about the query has a place; its message may quote words of the query.
    is_placed = any(error.get("locations") or error.get("path") for error in errors)
    return has_words and response.status == 200 and not is_placed


def _get_error_codes(error: Mapping[str, object]) -> set[str]:
    """Return the codes of an error: GitHub has a `type`, others `extensions.code`."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, Mapping) else None
    codes = (error.get("type"), error.get("code"), code)
    return {name.upper() for name in codes if isinstance(name, str)}
