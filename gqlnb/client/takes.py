"""What came of a request, as a recording keeps it, and as a response again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UnsetType

from gqlnb.client.tape import Answer, Failure
from gqlnb.errors import (
    AuthError,
    Problem,
    QueryError,
    RateLimited,
    ReplayError,
    TransportError,
)
from gqlnb.wire.answers import labelled
from gqlnb.wire.json import JSONError, dump, encode, encode_exact, load, load_exact
from gqlnb.wire.response import JSON, Response
from gqlnb.wire.retry import asked_wait

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Outcome", "answer_of", "replay"]

Outcome = Response | TransportError | QueryError

ERRORS: Mapping[str, type[TransportError]] = {
    "AuthError": AuthError,
    "RateLimited": RateLimited,
    "TransportError": TransportError,
}
MEMBERS = ("data", "errors", "extensions")
BODY = 1 << 16  # bytes kept of what is no GraphQL; errors show fewer


def answer_of(outcome: Outcome) -> Answer:
    """Return what came of a request as it is recorded.

    Raises
    ------
    ReplayError
        If it holds what JSON cannot.
    """
    if isinstance(outcome, TransportError):
        kind: Any = next(name for name, made in ERRORS.items() if isinstance(outcome, made))
        failure = Failure(kind, str(outcome), outcome.status, outcome.wait, outcome.broken)
        return Answer(failure=failure)
    if isinstance(outcome, QueryError):
        problems = outcome.problems or [Problem(str(outcome))]
        return _graphql({"errors": [problem.formatted for problem in problems]}, 400)
    members = outcome.members
    if members is None and labelled(outcome):
        try:
            members = load(outcome.body)
        except JSONError:
            members = None
    graphql = isinstance(members, dict) and (
        "data" in members or isinstance(members.get("errors"), list)
    )
    if not graphql or members is None:
        return _foreign(outcome)
    if outcome.members is None:
        exact = load_exact(outcome.body)  # a recording holds all digits that came
        found: Any = {
            name: msgspec.Raw(encode_exact(exact[name])) for name in MEMBERS if name in exact
        }
        answer = Answer(status=outcome.status, **found)
    else:
        answer = _graphql(members, outcome.status)
    if members.get("data") is None:
        answer.wait = _wait(outcome)
    return answer


def _graphql(members: Mapping[str, Any], status: int) -> Answer:
    kept: dict[str, Any] = {}
    try:
        for name in MEMBERS:
            if name in members:
                kept[name] = msgspec.Raw(dump(members[name]))
    except JSONError as error:
        reason = str(error)
    else:
        return Answer(status=status, **kept)
    msg = f"The answer cannot be recorded: {reason}"
    raise ReplayError(msg)


def _foreign(response: Response) -> Answer:
    media = response.headers.get("content-type", "")
    body = response.body[:BODY].decode("utf-8", "replace")
    return Answer(status=response.status, type=media, body=body, wait=_wait(response))


def _wait(response: Response) -> float | None:
    limited = response.status == 429
    wait = asked_wait(response.headers, time.time(), limited=limited)
    return None if wait is None else round(wait)


def replay(answer: Answer) -> Response:
    """Return a recorded answer as the response it was.

    Raises
    ------
    TransportError
        If none came.
    """
    failure = answer.failure
    if failure is not None:
        error = ERRORS[failure.error](
            failure.message, status=failure.status, wait=failure.wait, broken=failure.broken
        )
        error.replayed = True
        raise error
    headers = {"content-type": JSON if answer.type is None else answer.type}
    if answer.wait is not None:
        headers["retry-after"] = f"{answer.wait:.0f}"
    body = (answer.body or "").encode()
    if answer.type is None:
        members = {"data": answer.data, "errors": answer.errors, "extensions": answer.extensions}
        body = encode({name: it for name, it in members.items() if not isinstance(it, UnsetType)})
    return Response(answer.status, headers, body, replayed=True)
