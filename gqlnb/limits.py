"""Limits on the requests a server accepts, and on the responses a client accepts."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gqlnb.option_checks import explain_keywords, raise_option_error

KIB, MIB = 2**10, 2**20
# Characters, a third of those of all documents that a schema keeps. Longer texts are parsed each
# time, so that a client can't push all others out of a server's memory with one.
MAX_CACHED_TEXT = 50_000
ANSWER_HINT = "Or allow more: limits=gqlnb.Limits(answer=...), in bytes."
DEFAULT_RECONNECTS = 5  # attempts in a row to subscribe again, as graphql-ws makes


@explain_keywords
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for a server (:func:`gqlnb.serve`) and a client (:class:`gqlnb.Client`).

    None disables a limit. A schema executed in this process has no limits unless they are passed
    (``schema.execute(text, limits=Limits(seconds=5))``). The complexity of a document is checked
    before validation, and a document over a limit is rejected with :class:`~gqlnb.QueryError`; an
    execution over a limit is stopped, and its result has no data and one error.

    Attributes
    ----------
    body
        Server: bytes of a request body, declared or chunked. The default is that of nginx; other
        GraphQL servers accept 8 MiB and more.
    text
        Characters of a document. The default fits the fragments of a large application, but not a
        megabyte of names that error messages would repeat.
    tokens
        Tokens of a document, including comments; the standard introspection query has 163. Parsing
        100,000 tokens takes seconds.
    depth
        Levels of nested fields, with fragments expanded; the standard introspection query has 15.
    aliases
        Aliased fields in a document. Notebooks query many repositories at once; attackers query
        one field a thousand times.
    name
        Characters of a field name or alias, which every row of the response repeats.
    directives
        Directives at one location of a document.
    operations
        Operations in a document, of which one is executed; each is validated with all fragments
        that it spreads.
    selections
        Fields of an operation or a fragment, with fragments expanded: a kilobyte of fragments can
        expand to millions of fields.
    fields
        Executed fields: a short query over nested lists can execute millions. Each field of each
        object counts one, with or without a resolver; the items of a list of leaves do not count.
    seconds
        Seconds an operation may run; for a subscription, each event. The time is checked between
        fields, and awaited resolvers are cancelled. A synchronous resolver cannot be stopped, but
        no resolver is called after it.
    errors
        Errors in one response.
    message
        Characters of an error message.
    head
        Bytes of a request's head.
    head_seconds, body_seconds
        Seconds in which the head, and the body, must arrive completely. For a WebSocket the first
        is the time to send the initialisation message.
    idle_seconds
        Seconds after which a connection without a request is closed; the default is that of nginx.
    connections
        Concurrent connections; a new one replaces the one that has been idle longest. At most half
        of them are WebSockets, which are never replaced.
    unsent
        Server: bytes of all responses that clients have not read yet. Beyond, a response of more
        than 1 MiB is replaced by HTTP 503, unless it is the only one.
    subscriptions
        Concurrent operations with streamed responses, over server-sent events and WebSockets.
    answer
        Client: bytes of a response, both compressed and decompressed.
    wait
        Client: total seconds to wait for an endpoint that asks to wait.

    Examples
    --------
    >>> import gqlnb
    >>> limits = gqlnb.Limits(depth=5, seconds=None)
    >>> schema = gqlnb.reference_schema()
    >>> with gqlnb.serve(schema, port=0, limits=limits) as server:
    ...     gqlnb.Client(server.url).execute("{ hello }").data
    {'hello': 'Hello world!'}
    """

    body: int | None = MIB
    text: int | None = 100_000
    tokens: int | None = 5_000
    depth: int | None = 20
    aliases: int | None = 50
    name: int | None = 100
    directives: int | None = 5
    operations: int | None = 50
    selections: int | None = 20_000
    fields: int | None = 1_000_000
    seconds: float | None = 30.0
    errors: int | None = 10
    message: int | None = 400
    head: int | None = 16 * KIB
    head_seconds: float | None = 10.0
    body_seconds: float | None = 10.0
    idle_seconds: float | None = 75.0
    connections: int | None = 256
    unsent: int | None = 256 * MIB
    subscriptions: int | None = 100
    answer: int | None = 64 * MIB
    wait: float | None = 60.0

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises
        ------
        OptionError
            If a limit is not a positive number.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            whole = not str(field.type).startswith("float")
            is_valid = isinstance(value, int if whole else (int, float)) and value > 0
            if not is_valid or isinstance(value, bool):
                kind = "a whole number above 0" if whole else "a number above 0"
                expected = f"{kind}, or None for no limit"
                raise_option_error(field.name, value, expected, owner="Limits")
