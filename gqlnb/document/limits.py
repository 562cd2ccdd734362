"""How much is let through: what a server takes from strangers, and a client from a server."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gqlnb.errors import OptionError, sanitize_text

__all__ = ["MIB", "Limits"]

KIB, MIB = 2**10, 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds for a server (:func:`gqlnb.serve`) and a client (:class:`gqlnb.Client`).

    None switches a bound off. A schema executed in this process has none, unless it is given
    (``schema.execute(text, limits=Limits(seconds=5))``). What a text asks for is found before it is
    checked against the schema, and refused as a :class:`~gqlnb.QueryError`; an execution that takes
    too much is stopped, and its result has no data and one error.

    Attributes
    ----------
    body
        Server: bytes of a request's body, announced or chunked. nginx's default; the peers take 8
        MiB and more.
    text
        Characters of a document. A whole schema's worth of fragments fits; a megabyte of names,
        echoed in errors, does not.
    tokens
        Tokens of a document, comments included; standard introspection has 163. 100,000 cost
        seconds to parse.
    depth
        Levels of fields, fragments unrolled; standard introspection has 15.
    aliases
        Fields renamed in a document: notebooks ask for many repositories at once, attackers for a
        thousand times the same.
    name
        Characters of a field's name or alias, which every row of the answer repeats.
    directives
        Directives at one place of a document.
    selections
        Fields of an operation, or of a fragment, with all fragments unrolled: a kilobyte of
        fragments can spell millions.
    fields
        Fields executed: a short query over nested lists can ask for millions. Each field of each
        object counts one, be it looked up or resolved; the items of a list of leaves do not.
    seconds
        Seconds an operation may run; of a subscription, each event. The clock is looked at between
        fields, and what is awaited is cancelled; a plain function that does not return can't be
        stopped, but nothing is called after it.
    errors
        Errors of one answer.
    message
        Characters of an error's message.
    head
        Bytes of a request's head.
    head_seconds, body_seconds
        Seconds in which a head, and a body, must have come, however steadily they drip. A
        WebSocket has the first to introduce itself.
    idle_seconds
        Seconds a connection without a request is kept, as nginx keeps it.
    connections
        Connections at once; the one idle longest makes room.
    subscriptions
        Operations at once whose answers are streamed: over server-sent events and WebSockets.
    answer
        Client: bytes of an answer, as it travels and unpacked.
    wait
        Client: seconds to wait for an endpoint that asks to, in all.

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
    subscriptions: int | None = 100
    answer: int | None = 64 * MIB
    wait: float | None = 60.0

    def __post_init__(self) -> None:
        """Refuse what is no bound.

        Raises
        ------
        OptionError
            If one is no positive number.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            whole = not str(field.type).startswith("float")
            right = isinstance(value, int if whole else (int, float)) and value > 0
            if not right or isinstance(value, bool):
                kind = "a whole number above 0" if whole else "a number above 0"
                msg = (
                    f"Limits({field.name}=...) takes {kind}, or None for no limit; "
                    f"got {sanitize_text(repr(value), 80)}."
                )
                raise OptionError(msg)
