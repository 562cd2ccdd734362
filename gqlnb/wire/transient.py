"""Failures that an endpoint reports with status 200 and that may pass: a rule on plain values.

GitHub answers a query that took longer than its 10 seconds with status 200, null data and
"Something went wrong while executing your query", "timedout" or the type INTERNAL. Such an answer
says nothing about the query, so it is treated as the HTTP 502 or 504 that other requests get.
Partial data stay a result: their nulls are explained by their errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NULL_AS_TEXT", "TransientFailure", "find_transient_failure", "is_transient_message"]

# octokit/graphql.js#554, apache/devlake#4349, magit/forge#65; the last is of a body whose member
# `message` says so.
WORDS = re.compile(
    r"\s*something went wrong|.*\btimedout\b|.*couldn['\u2019]t respond to your request in time",
    re.IGNORECASE | re.DOTALL,
)
INTERNAL = "INTERNAL"  # the `type` of an error; codes in `extensions` are those of resolvers
NULL_AS_TEXT = "null"  # what GitHub's gateway writes for null data: a string


class TransientFailure(NamedTuple):
    """A failure that may pass.

    Attributes
    ----------
    message
        The endpoint's words, not cleaned.
    timed_out
        Whether they are those of a time-out, so that asking for less may help.
    """

    message: str
    timed_out: bool


def is_transient_message(message: object) -> bool:
    """Return whether a message is one of a failure that may pass."""
    return isinstance(message, str) and WORDS.match(message) is not None


def find_transient_failure(
    data: object, errors: Sequence[Mapping[str, Any]]
) -> TransientFailure | None:
    """Return the transient failure that an answer with status 200 reports, or None.

    Parameters
    ----------
    data
        The data of the answer; None where they are null or missing.
    errors
        Its errors.

    Examples
    --------
    >>> find_transient_failure({"a": None}, [{"message": "timedout"}])
    TransientFailure(message='timedout', timed_out=True)
    >>> find_transient_failure({"a": 1, "b": None}, [{"message": "timedout"}]) is None
    True
    """
    if not _is_without_data(data):
        return None
    for error in errors:
        message = error.get("message")
        if is_transient_message(message):
            return TransientFailure(str(message), timed_out=True)
    for error in errors:
        if str(error.get("type")).upper() == INTERNAL:
            message = error.get("message")
            said = message if isinstance(message, str) and message else INTERNAL
            return TransientFailure(said, timed_out=False)
    return None


def _is_without_data(data: object) -> bool:
    """Return whether nothing stands below the root of the data."""
    if isinstance(data, Mapping):
        return all(value is None for name, value in data.items() if name != "__typename")
    return data is None
