"""Reading a response: which of them are answers, and what the others mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from gqlnb.document.document import build_problems
from gqlnb.document.json_codec import JSONError, load_json, load_repaired_json
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    QueryError,
    RateLimited,
    TransportError,
    describe_path,
    sanitize_text,
)
from gqlnb.http.error_responses import (
    NULL_AS_TEXT,
    TransientFailure,
    describe_page,
    find_message,
    find_transient_failure,
    is_transient_message,
    transcode_response,
    unescape_json,
)
from gqlnb.http.incremental import (
    INCREMENTAL_ADVICE,
    InvalidPartError,
    assemble_response,
    is_incremental,
    is_incremental_error,
    take_first_part,
)
from gqlnb.http.rate_limit_rules import compute_restore_wait, read_cost_extension, read_retry_after
from gqlnb.redact import strip_traceback
from gqlnb.result.checked_decoder import read_lazily
from gqlnb.result.decoder import keep_exact_bytes
from gqlnb.result.expected_data import Misfit, iter_misfits
from gqlnb.result.lazy_schema import attach_schema_loader
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from gqlnb.document.document import Document
    from gqlnb.http.messages import Response
    from gqlnb.result.checked_decoder import CheckedDecoder
    from gqlnb.result.lazy_schema import SchemaLoader

__all__ = ["QUERY_ERROR_STATUSES", "ResponseContext", "has_json_media_type", "parse_response"]

# The types and codes of errors that are rate limits: GitHub spells its own in two ways, and neither
# has an HTTP status of its own; Shopify and others have theirs.
RATE_LIMIT_CODES = frozenset(
    {"RATE_LIMITED", "RATE_LIMIT", "GRAPHQL_RATE_LIMIT", "THROTTLED", "TOO_MANY_REQUESTS"}
)
# GitHub's secondary limit has words alone, under status 200 and 403; "abuse" once was its name.
RATE_LIMIT_WORDS = re.compile(r"rate limit|abuse detection", re.IGNORECASE)
# It may come while the budget is far from used up, so that budget's reset time says nothing of it.
SECONDARY_LIMIT_WORDS = re.compile(r"secondary rate limit|abuse detection", re.IGNORECASE)
UNAUTHENTICATED_CODES = frozenset(
    {"UNAUTHENTICATED"}
)  # Apollo's code for a token that is missing or wrong
REFUSAL_STATUSES = frozenset({401, 403, 429})
# Beside 2xx, the statuses of answers that were executed, or refused for what the query says.
QUERY_ERROR_STATUSES = frozenset({400, 422})
# The media types that JSON travels under; those of pages, forms and streams are none of them.
JSON_TYPE = re.compile(
    r"|(?:application|text)/(?:[\w.-]+\+)?json|text/plain|application/octet-stream", re.IGNORECASE
)
SUBSCRIBE_ADVICE = "A subscription is answered with a stream: use client.subscribe(text)."
TOKEN_ADVICE = "Pass a token the endpoint knows: token='env:NAME' or 'prompt'."  # noqa: S105
EXCERPT_LENGTH = 80  # characters of a foreign body worth showing
ENDPOINT_HINT = "Is this the address of a GraphQL endpoint?"
MISFITS_SHOWN = 3  # places that do not fit
REDACTED_BYTES = 1 << 16  # bytes of a foreign body in which secrets are hidden before it is cut
MAX_ERROR_DEPTH = 32  # levels of an error that are kept; GitHub's have four


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """What was asked, to say where an error belongs.

    Attributes
    ----------
    document
        The document that was sent.
    source
        Where the answer is from: the address without secrets, or a word for this process.
    redact
        Replaces known secrets in text that the other side made.
    now
        Seconds since the epoch, to turn a reset time into a wait.
    expected
        What the data must be; None for an answer of this process.
    variables
        The variables that were sent, on which ``@skip`` and ``@include`` depend.
    learn
        Finds the schema when a frame needs it, where it is not known and may be asked for.
    streaming
        Whether several answers may come to it.
    """

    document: Document
    source: str
    redact: Callable[[str], str] = str
    now: float = 0.0
    expected: CheckedDecoder | None = None
    variables: Mapping[str, Any] | None = None
    learn: SchemaLoader | None = None
    streaming: bool = False

    def clean_text(self, text: object, limit: int = 400) -> str:
        """Return text of the other side without secrets, control characters and excess length."""
        return sanitize_text(self.redact(str(text)), limit)

    def cut_excerpt(self, body: bytes, at: int | None = None) -> str:
        """Return a bit of a foreign body without secrets, however JSON spells them.

        Parameters
        ----------
        body
            What came.
        at
            The byte to show what is around; None for the beginning.
        """
        text = body[:REDACTED_BYTES].decode("utf-8", "replace")
        if at is None or at < EXCERPT_LENGTH // 2:
            return self.clean_text(unescape_json(text), EXCERPT_LENGTH)
        # Masked in a wide piece first, and cut to what is near: no half of a secret is left.
        near = body[max(0, at - REDACTED_BYTES) : at].decode("utf-8", "replace")
        rest = body[at : at + REDACTED_BYTES].decode("utf-8", "replace")
        whole = sanitize_text(self.redact(unescape_json(near + rest)), 2 * REDACTED_BYTES)
        middle = len(sanitize_text(self.redact(unescape_json(near)), 2 * REDACTED_BYTES))
        return f"…{whole[max(0, middle - EXCERPT_LENGTH // 2) :][:EXCERPT_LENGTH]}"

    def redact_value(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON-like value of the other side with the secrets hidden in its texts."""
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
    """Return the result that a response holds.

    Raises
    ------
    QueryError
        If the endpoint says that the text or the variables are wrong.
    AuthError, RateLimited, TransportError
        If it refused, asks to wait, or failed.
    AnswerError
        If what came is no GraphQL response.
    """
    try:
        return _parse_response(response, asked)
    except GqlnbError as error:
        failure = strip_traceback(error)
    if isinstance(failure, TransportError):
        failure.replayed = response.replayed
    if not asked.streaming:
        _advise_streaming(failure, response, asked.document)
    del response  # a traceback may show these locals, and a foreign body may hold our token
    raise failure


def _advise_streaming(error: GqlnbError, response: Response, document: Document) -> None:
    """Add how to read an operation that is answered more than once, where that is the reason."""
    if document.kind == "subscription" and is_incremental(response):
        advice = SUBSCRIBE_ADVICE
    elif document.incremental_directives and is_incremental(response):
        advice = INCREMENTAL_ADVICE
    elif document.incremental_directives and isinstance(error, QueryError):
        error.problems = tuple(
            replace(each, hint=INCREMENTAL_ADVICE) if is_incremental_error(each.message) else each
            for each in error.problems
        )
        return
    else:
        return
    error.args = (f"{error.args[0]} {advice}", *error.args[1:])


def _parse_response(response: Response, asked: ResponseContext) -> Result:
    if response.members is None:
        response = _normalize_response(response, asked)
    typed = None
    as_expected = asked.expected if not asked.document.incremental_directives else None
    if as_expected is not None and response.members is None and has_json_media_type(response):
        # Most answers are just as expected; the data of large ones can wait.
        later = read_lazily(response.body, as_expected, asked.document, asked.variables)
        if later is not None:
            return _build_result(later.members, response, asked).with_lazy_data(later.envelope)
        typed = as_expected.decode_response(response.body)
    members = typed or _read_members(response, asked)
    _check_last_part(members, response, asked)
    result = _build_result(members, response, asked)
    transient = _find_transient(result, response, asked) if result.errors else None
    if result.data is not None and transient is None:
        if typed is None and response.members is None:
            _check_expected_data(result, asked)
        keep_exact_bytes(result)
        return result
    refused = replace(
        result,
        extensions=asked.redact_value(result.extensions),
        response=replace(response, headers=asked.redact_value(dict(response.headers)), body=b""),
    )
    status = response.status
    _raise_if_refused(response, asked, result.errors, refused)
    if transient is not None:
        raise _build_transient_error(transient, response, asked, refused)
    if not (200 <= status < 300 or status in QUERY_ERROR_STATUSES):
        reason = "; ".join(
            asked.clean_text(e.get("message", ""), 200) for e in result.errors[:MISFITS_SHOWN]
        )
        msg = end_sentence(f"{asked.source}: HTTP {status}: {reason}")
        raise _build_transport_error(msg, response, asked, refused)
    if "data" in members and not _is_request_error(result, response, asked):
        return result
    raise QueryError(
        text=asked.document.text, problems=build_problems(result.errors), result=refused
    )


def _is_request_error(result: Result, response: Response, asked: ResponseContext) -> bool:
    """Return whether null data mean that the request was refused before it was executed.

    A response to a refused request has no `data` (GraphQL specification, 7.1.2), yet Mercurius,
    Strawberry and Ariadne write null there. They can be told apart by the errors: one of a field
    has a `path`, which a request that was not executed cannot have. A refusal names a place in the
    text, or has a status of 4xx; a failure inside the server does neither. The engine of this
    process leaves `data` out, and an event of a subscription comes of a request that was accepted.
    """
    event = asked.document.kind == "subscription" and response.status == 200
    if response.members is not None or event:
        return False
    refused = 400 <= response.status < 500 or any(e.get("locations") for e in result.errors)
    return refused and not any(error.get("path") for error in result.errors)


def _check_last_part(
    members: Mapping[str, Any], response: Response, asked: ResponseContext
) -> None:
    """Raise if other parts of the answer should have come with it."""
    if members.get("hasNext") is True and not asked.streaming:
        msg = (
            f"{asked.source}: this is the first part of an answer, and no other part came. "
            f"It is in error.result. {INCREMENTAL_ADVICE}"
        )
        raise AnswerError(msg, result=_build_result(members, response, asked))


def _find_transient(
    result: Result, response: Response, asked: ResponseContext
) -> TransientFailure | None:
    """Return the failure that an endpoint reports as one that may pass, or None.

    The errors of resolvers of this process have causes; those of an event are about that event.
    """
    local = bool(response.causes) or (response.members is not None and response.replayed)
    if local or asked.document.kind == "subscription" or not 200 <= response.status < 300:
        return None
    return find_transient_failure(result.data, result.errors)


def _build_transient_error(
    failure: TransientFailure,
    response: Response,
    asked: ResponseContext,
    result: Result | None = None,
) -> TransportError:
    """Return the error for a failure that may pass.

    Its status is 504 for a time-out, as it would be from a gateway, so that pages get smaller.
    """
    status = 504 if failure.timed_out else response.status
    words = end_sentence(asked.clean_text(failure.message))
    msg = f"{asked.source}: HTTP {response.status}, and the endpoint failed: {words}"
    wait = read_retry_after(response.headers, asked.now, limited=False)
    return TransportError(msg, status=status, wait=wait, result=result, transient=True)


def _normalize_response(response: Response, asked: ResponseContext) -> Response:
    """Return a response as JSON in UTF-8, where it came in parts, as events or in other letters.

    Raises
    ------
    AnswerError
        If it came in parts that do not go together.
    """
    response = transcode_response(response)
    if not response.body or has_json_media_type(response):
        return response
    if response.status != 200:
        return take_first_part(response)
    if asked.document.kind == "subscription":
        return response
    try:
        return assemble_response(response)
    except InvalidPartError as error:
        fault = error
    msg = f"{asked.source}: the answer came in parts that do not go together: {fault}."
    raise AnswerError(msg)


def has_json_media_type(response: Response) -> bool:
    """Tell whether the media type of a response is one that JSON travels under."""
    media = response.headers.get("content-type", "").partition(";")[0].strip()
    return JSON_TYPE.fullmatch(media) is not None


def _read_members(response: Response, asked: ResponseContext) -> Mapping[str, Any]:
    """Return the members of a GraphQL response, or raise what the body means instead."""
    if response.members is not None:
        return response.members
    fault: JSONError | None = None
    members: Any = None
    try:
        members = load_json(response.body)
    except JSONError as error:
        fault = JSONError(str(error), error.at)
    graphql = isinstance(members, dict) and (
        "data" in members or isinstance(members.get("errors"), list)
    )
    if graphql and has_json_media_type(response):
        return members  # type: ignore[no-any-return]
    said = find_message(members)
    errors = [{"message": said}] if said else []
    _raise_if_refused(response, asked, errors, None)
    raise _build_foreign_error(response, asked, members, fault)


def _build_foreign_error(
    response: Response, asked: ResponseContext, members: Any, fault: JSONError | None
) -> GqlnbError:
    """Return the error for a body that is no GraphQL response."""
    where = f"{asked.source}: HTTP {response.status}"
    found = find_message(members)
    if 200 <= response.status < 300 and found is not None and is_transient_message(found):
        return _build_transient_error(TransientFailure(found, timed_out=True), response, asked)
    said = None if found is None else asked.clean_text(found, 200)
    page = describe_page(response.body, asked.clean_text) if fault is not None else None
    if not 200 <= response.status < 300:
        shown = said or page or repr(asked.cut_excerpt(response.body))
        msg = end_sentence(f"{where}. Expected a GraphQL response, got {shown}")
        return _build_transport_error(msg, response, asked)
    if fault is not None and response.body.lstrip()[:1] == b"{":
        return AnswerError(
            f"{where}, and the answer is no JSON ({fault}): "
            f"{asked.cut_excerpt(response.body, fault.at)!r}. The endpoint wrote it wrongly, or it was "
            "cut on the way. Ask again, or for fewer fields at a time to find the one at fault.",
            result=_build_repaired_result(response, asked),
        )
    if page is not None:
        return AnswerError(end_sentence(f"{where}, and the answer is {page}") + f" {ENDPOINT_HINT}")
    if fault is not None:
        reason = f"no JSON ({fault})"
    elif not has_json_media_type(response):
        label = asked.clean_text(response.headers.get("content-type", ""), 40)
        reason = f"labelled {label!r}, which is no JSON"
    elif not isinstance(members, dict):
        reason = "JSON that is no object"
    else:
        reason = repr(said) if said else "JSON with neither 'data' nor 'errors'"
    return AnswerError(
        f"{where}, and the answer is {reason}: {asked.cut_excerpt(response.body)!r}. {ENDPOINT_HINT}"
    )


def _build_repaired_result(response: Response, asked: ResponseContext) -> Result | None:
    """Return the result in a body whose one fault is characters that are none, with U+FFFD."""
    try:
        members = load_repaired_json(response.body)
        return _build_result(members, response, asked) if isinstance(members, dict) else None
    except (JSONError, GqlnbError):
        return None


def _build_result(members: Mapping[str, Any], response: Response, asked: ResponseContext) -> Result:
    data, errors = members.get("data"), members.get("errors")
    errors = [] if errors is None else errors
    fault = None
    if data == NULL_AS_TEXT:
        if 200 <= response.status < 300 and not errors:
            nothing = TransientFailure("'data' is the text \"null\"", timed_out=True)
            raise _build_transient_error(nothing, response, asked)
        data = None if errors else data
    if data is not None and not isinstance(data, Mapping):
        fault = f"'data' is a {type(data).__name__}, not an object"
    elif not isinstance(errors, (list, tuple)) or not all(isinstance(e, Mapping) for e in errors):
        fault = "'errors' is no list of objects"
    elif "data" not in members and not errors:
        fault = "there is no 'data', and 'errors' is empty"
    elif data is None and not errors:
        fault = "'data' is null, and no error says why"
    if fault and not 200 <= response.status < 300:
        msg = f"{asked.source}: HTTP {response.status}. Not a GraphQL response: {fault}."
        raise _build_transport_error(msg, response, asked)
    words = find_message(members.get("errors")) if fault else None
    if fault:
        said = f" It says: {end_sentence(asked.clean_text(words, 200))}" if words else ""
        msg = f"{asked.source}: not a GraphQL response: {fault}.{said}"
        raise AnswerError(msg, result=_salvage_result(data, words, response, asked))
    extensions = members.get("extensions")
    result = Result(
        data=data,
        errors=tuple(errors if response.members is not None else map(asked.redact_value, errors)),
        extensions=asked.redact_value(dict(extensions)) if isinstance(extensions, Mapping) else {},
        document=asked.document,
        response=response,
        source=asked.source,
        causes=response.causes,
        variables=asked.variables,
    )
    return attach_schema_loader(result, asked.learn)


def _salvage_result(
    data: Any, words: str | None, response: Response, asked: ResponseContext
) -> Result | None:
    """Return the data beside errors of a wrong form, with the words of these; None without data."""
    if not isinstance(data, Mapping):
        return None
    errors = ({"message": asked.clean_text(words)},) if words else ()
    result = Result(data=data, errors=errors, document=asked.document, response=response)
    return replace(result, source=asked.source, variables=asked.variables)


def _check_expected_data(result: Result, asked: ResponseContext) -> None:
    """Raise if data are not what schema and document say, and no error of the answer says why."""
    if asked.expected is None:
        return
    excused = _build_excuse_test(result.errors)
    found = (m for m in iter_misfits(asked.expected.expected, result.data) if not excused(m))
    first = list(islice(found, MISFITS_SHOWN + 1))
    if not first:
        return
    lines = [
        f"{asked.clean_text(describe_path(misfit.path).strip() or 'at the top', 120)}: expected "
        f"{misfit.wanted}, got {misfit.got}"
        for misfit in first[:MISFITS_SHOWN]
    ]
    more = " There are more." if len(first) > MISFITS_SHOWN else ""
    known = asked.document.schema is not None
    advice = " If the schema has changed, call client.refresh_schema()." if known else ""
    msg = (
        f"{asked.source}: the answer does not fit {'query and schema' if known else 'its query'} "
        f"{'; '.join(lines)}.{more} What came is in error.result.{advice}"
    )
    raise AnswerError(msg, result=result)


def _build_excuse_test(errors: Sequence[Mapping[str, Any]]) -> Callable[[Misfit], bool]:
    """Return whether errors account for a misfit: what is null or missing where they point.

    Endpoints leave a null where it should have gone up to the next field that may be null, so an
    error at or below the place counts; one without a path may be about any place.
    """
    paths = [error.get("path") for error in errors]
    anywhere = any(not isinstance(path, (list, tuple)) for path in paths)
    told: set[tuple[str, ...]] = set()
    for path in paths:
        if isinstance(path, (list, tuple)):
            steps = tuple(map(str, path[:MAX_ERROR_DEPTH]))
            told.update(steps[: end + 1] for end in range(len(steps)))
    return lambda misfit: misfit.absent and (anywhere or tuple(map(str, misfit.path)) in told)


def end_sentence(text: str) -> str:
    """Return text of an endpoint with something at its end that ends a sentence."""
    return text if text[-1:] in tuple(".!?…") else f"{text}."


def _build_transport_error(
    msg: str, response: Response, asked: ResponseContext, result: Result | None = None
) -> TransportError:
    wait = read_retry_after(response.headers, asked.now, limited=False)
    return TransportError(msg, status=response.status, wait=wait, result=result)


def _raise_if_refused(
    response: Response,
    asked: ResponseContext,
    errors: Sequence[Mapping[str, Any]],
    result: Result | None,
) -> None:
    """Raise if the endpoint refused the token or asks to wait."""
    first = errors[0].get("message") if errors else None
    if first is None and response.status in REFUSAL_STATUSES:
        first = _find_body_message(response.body)
    words = asked.clean_text(first, 200) if first and isinstance(first, str) else "no reason given"
    where = f"{asked.source}: HTTP {response.status}"
    codes = set().union(*map(_get_error_codes, errors))
    told = response.status == 429 or not RATE_LIMIT_CODES.isdisjoint(codes)
    secondary = SECONDARY_LIMIT_WORDS.search(words) is not None
    wait = read_retry_after(response.headers, asked.now, limited=told and not secondary)
    if wait is None and told and result is not None:
        wait = compute_restore_wait(read_cost_extension(result.extensions))
    if told or _is_rate_limited(response, errors, words, wait):
        pause = f" Wait {wait:.0f} s." if wait is not None else ""
        msg = f"{where}, rate limit reached: {end_sentence(words)}{pause}"
        raise RateLimited(msg, wait=wait, status=response.status, result=result)
    if response.status == 401 or not UNAUTHENTICATED_CODES.isdisjoint(codes):
        msg = f"{where}: {end_sentence(words)} {TOKEN_ADVICE}"
        raise AuthError(msg, status=response.status, result=result)


def _is_rate_limited(
    response: Response, errors: Sequence[Mapping[str, Any]], words: str, wait: float | None
) -> bool:
    """Tell whether a response without data says by status, headers or words to slow down."""
    if response.status == 429:
        return True
    said = bool(RATE_LIMIT_WORDS.search(words))
    if response.status == 403:
        return said or wait is not None
    # What is wrong with a query has a place; the words of a query may stand in its message.
    placed = any(error.get("locations") or error.get("path") for error in errors)
    return said and response.status == 200 and not placed


def _get_error_codes(error: Mapping[str, Any]) -> set[str]:
    """Return what an error is called, by GitHub in itself and by others in its extensions."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, Mapping) else None
    found = (error.get("type"), error.get("code"), code)
    return {name.upper() for name in found if isinstance(name, str)}


def _find_body_message(body: bytes) -> object:
    """Return the message of a body that is JSON, as GitHub refuses with; None for none."""
    try:
        return find_message(load_json(body))
    except JSONError:
        return None
