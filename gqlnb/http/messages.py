"""HTTP requests, their headers, and GraphQL requests and responses, as plain values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.document.sized_cache import SizedCache
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gqlnb.document.document import Document

JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE = "application/json", "application/graphql-response+json"
JSON_CONTENT_TYPE = f"{JSON_MEDIA_TYPE}; charset=utf-8"
GRAPHQL_CONTENT_TYPE = f"{GRAPHQL_MEDIA_TYPE}; charset=utf-8"
# RFC 9110, 7.2: a name or an address, IPv6 in brackets, and an optional port.
_HOST_PATTERN = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:\[\]@/,]+)(?::[0-9]{1,5})?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# RFC 9110, 12.4.2: a weight has at most three decimals.
_WEIGHT = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")
# RFC 9110, 5.6.6: a parameter, with a quoted or a plain value.
_PARAMETER = re.compile(r';\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^;]*))', re.DOTALL)
# RFC 2046, 5.1.1.
VALID_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_ESCAPED_CHARACTER = re.compile(r'\\(["\\])')  # browsers send other backslashes as they are
# Media ranges of an `Accept` header that are read; browsers send ten at most, and 16 KB of commas
# would take some hundredths of a second on the event loop.
MAX_RANGES = 64
_ACCEPT_ENTRY = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.?)*+"?)*+)(?:,|$)', re.DOTALL)
_EXTENDED_CHARSETS = frozenset({"utf-8", "iso-8859-1"})  # RFC 8187, 3.2.1, and RFC 5987 before it


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request.

    Attributes
    ----------
    method
        The method in upper case.
    path
        The path, percent-decoded, without the query string.
    headers
        Header values by lower-case name; values of a repeated header joined by ``", "``.
    body
        The whole body; of a body that is too large, any part longer than the limit.
    query_string
        The part behind the question mark, not decoded.
    client
        The address of the client; None if unknown, as over a Unix socket.
    identity
        The value that the function of ``token=`` returned, or the name of a token; else None.
    """

    method: str
    path: str
    # Not in the repr: a traceback with variables must not show a token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    query_string: bytes = field(default=b"", repr=False)
    client: str | None = None
    identity: object = field(default=None, repr=False)


def parse_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; repeated ones are joined (RFC 9110, 5.3)."""
    # A repeated `Host` or `Origin` thereby becomes a value that is in no allow-list.
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1").strip(" \t")  # white space is no part (RFC 9110, 5.5)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def split_absolute_target(target: str, headers: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return path and headers of a request, with the host of a target in absolute form.

    That host replaces the one of the ``Host`` header (RFC 9112, 3.2.2). Targets of other forms are
    returned unchanged.
    """
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() not in _DEFAULT_PORTS:
        return target, headers
    host, slash, path = rest.partition("/")
    return slash + path or "/", headers | {"host": host}


def parse_parameters(text: str) -> tuple[str, dict[str, str]]:
    """Return the value of a header in lower case, and its parameters by lower-case name.

    The first of equal names counts. The extended form of a parameter (RFC 8187), such as
    ``filename*=utf-8''na%C3%AFve``, replaces the plain one.
    """
    # Not by email.message: it takes half a second for 16 KB of semicolons behind a quotation mark,
    # and raises errors of many types for malformed parameters of RFC 2231.
    value = text.partition(";")[0]
    parameters: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(text, len(value)):
        content = _ESCAPED_CHARACTER.sub(r"\1", quoted) if quoted else plain.strip()
        parameters.setdefault(name.lower(), content)
    for name in [key for key in parameters if key.endswith("*")]:
        charset, _, rest = parameters.pop(name).partition("'")
        if charset.lower() in _EXTENDED_CHARSETS:
            parameters[name[:-1]] = unquote(rest.partition("'")[2], charset)
    return value.strip().lower(), parameters


def parse_host(host: str | None) -> str | None:
    """Return the lower-case name of a ``Host`` header without its port; None if it is invalid."""
    match = _HOST_PATTERN.fullmatch(host or "")
    return match[1].lower() if match else None


def normalize_origin(origin: str) -> str:
    """Return an origin in lower case, without the default port of its scheme."""
    origin = origin.lower()
    return origin.removesuffix(_DEFAULT_PORTS.get(origin.partition("://")[0], ""))


def is_same_origin(origin: str, host: str) -> bool:
    """Return whether an ``Origin`` and a ``Host`` header name the same server."""
    scheme, _, authority = origin.lower().partition("://")
    port = _DEFAULT_PORTS.get(scheme)
    return port is not None and authority.removesuffix(port) == host.lower().removesuffix(port)


def is_json(content_type: str | None) -> bool:
    """Return whether a ``Content-Type`` is JSON in UTF-8."""
    if content_type == "application/json":
        return True
    media, *parameters = (part.strip().lower() for part in (content_type or "").split(";"))
    pairs = (parameter.partition("=") for parameter in parameters)
    charsets = {value.strip('"') for name, _, value in pairs if name == "charset"}
    return media == "application/json" and charsets <= {"utf-8", "utf8"}


def split_accept(accept: str) -> Iterator[tuple[str, float, dict[str, str]]]:
    """Yield the media ranges of an ``Accept`` header with their weights and other parameters.

    Weights are 0 to 1, media ranges and names of parameters are in lower case. Entries with a
    malformed weight are left out, and those behind the first `MAX_RANGES`.
    """
    for entry in islice(_ACCEPT_ENTRY.finditer(accept), MAX_RANGES):
        media, parameters = parse_parameters(entry[1])
        weight = parameters.pop("q", "1")
        if media and _WEIGHT.fullmatch(weight):
            yield media, float(weight), parameters


def parse_accept(accept: str) -> dict[str, float]:
    """Return the weights of the media ranges of an ``Accept`` header."""
    weights: dict[str, float] = {}
    for media, weight, _ in split_accept(accept):
        weights[media] = max(weights.get(media, 0.0), weight)
    return weights


def find_media_quality(weights: Mapping[str, float], media: str) -> float:
    """Return the weight of a media type: that of the most specific range that matches it."""
    for name in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if name in weights:
            return weights[name]
    return 0.0


@lru_cache(maxsize=64)
def negotiate_media_type(accept: str | None) -> str:
    """Return the ``Content-Type`` of a response.

    ``application/graphql-response+json`` if it is preferred, or has the weight of JSON and is
    named; else JSON, also where neither is accepted.

    Notes
    -----
    Source: GraphQL over HTTP, "Accept"; audits 47DE and 80D8 for ``*/*`` and no header.
    """
    weights = parse_accept(accept or "")
    graphql = find_media_quality(weights, GRAPHQL_MEDIA_TYPE)
    json = find_media_quality(weights, JSON_MEDIA_TYPE)
    if graphql > json or (graphql == json > 0 and GRAPHQL_MEDIA_TYPE in weights):
        return GRAPHQL_CONTENT_TYPE
    return JSON_CONTENT_TYPE


@lru_cache(maxsize=64)
def is_response_acceptable(accept: str | None) -> bool:
    """Return whether a client accepts JSON, under one of its two names, or streams.

    Whether the operation is a subscription, or answered in parts, is in the body.
    """
    weights = parse_accept(accept or "*/*")
    return (
        find_media_quality(weights, GRAPHQL_MEDIA_TYPE) > 0
        or find_media_quality(weights, JSON_MEDIA_TYPE) > 0
        or weights.get("text/event-stream", 0.0) > 0
        or weights.get("multipart/mixed", 0.0) > 0
    )


def prefers_html(accept: str | None) -> bool:
    """Return whether an ``Accept`` header is a browser's: HTML with at least the weight of JSON."""
    weights = parse_accept(accept or "")
    html = weights.get("text/html", 0.0)
    return html > 0 and html >= find_media_quality(weights, JSON_MEDIA_TYPE)


MAX_TEXTS, MAX_CHARACTERS = 1_000, 1_000_000  # kept by one server; the oldest are dropped
_SHA256 = re.compile(r"[0-9a-f]{64}")

# Messages and codes of Apollo Server, for which Apollo's link looks.
UNKNOWN = "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND"
NOT_SUPPORTED = "PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED"
_MISMATCH = "provided sha does not match query", "BAD_REQUEST"


class PersistedQueryError(Exception):
    """A hash is unknown or wrong.

    Parameters
    ----------
    message
        The message, which Apollo's link looks for.
    code
        The code in the error's extensions.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.error: dict[str, object] = {"message": message, "extensions": {"code": code}}


def find_query_hash(extensions: object) -> str | None:
    """Return the hash in the extensions of a request: None if missing, "" if invalid."""
    entry = extensions.get("persistedQuery") if isinstance(extensions, Mapping) else None
    if not isinstance(entry, Mapping):
        return None
    name = entry.get("sha256Hash")
    if entry.get("version") != 1 or not isinstance(name, str):
        return ""
    return name if _SHA256.fullmatch(name) else ""


def compute_hash(text: str) -> str:
    """Return the hash under which a text is persisted."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class PersistedQueries:
    """The texts that clients of one schema have registered."""

    def __init__(self) -> None:
        self._texts: SizedCache[str, str] = SizedCache(MAX_TEXTS, MAX_CHARACTERS)

    def resolve(self, text: str, name: str | None) -> str:
        """Return the text of a request, and store a text that comes with its hash.

        Parameters
        ----------
        text
            The text in the request; empty for none.
        name
            The hash in the request: None if missing, "" if invalid.

        Raises
        ------
        PersistedQueryError
            If the hash is unknown, or not that of the text.
        """
        if name is None:
            return text
        if not name:
            raise PersistedQueryError(*NOT_SUPPORTED)
        if not text:
            stored = self._texts.get(name)
            if stored is None:
                raise PersistedQueryError(*UNKNOWN)
            return stored
        if compute_hash(text) != name:
            raise PersistedQueryError(*_MISMATCH)
        self._texts.add(name, text, len(text))
        return text


_MAX_PARAMETERS = 100  # of a query string; GraphQL over HTTP defines four
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_OPTIONAL_MEMBERS: tuple[tuple[str, type, str], ...] = (
    ("variables", Mapping, "an object"),
    ("operationName", str, "a string"),
    ("extensions", Mapping, "an object"),
)


class BadRequestError(Exception):
    """A request is not a GraphQL request; the text is sent to the client.

    Parameters
    ----------
    message
        The reason, and the correct form.
    is_json
        Whether the body was valid JSON.
    """

    def __init__(self, message: str, *, is_json: bool = False) -> None:
        super().__init__(message)
        self.is_json = is_json


@dataclass(frozen=True, slots=True)
class Request:
    """One operation to execute, the input of every transport.

    Attributes
    ----------
    query
        The document text.
    variables
        JSON-like values by variable name, without the ``$``.
    operation_name
        Name of the operation to run; None where the document has only one.
    document
        The parsed text, if the sender has it. It saves an in-process engine the parsing, and tells
        transports whether the request may be sent twice.
    safe
        Whether the HTTP method allows only queries.
    query_hash
        The hash of a persisted query (:mod:`gqlnb.http.messages`), "" for an invalid one;
        None where the client sent none. With a hash, `query` may be empty.
    http
        The HTTP request, on a server whose resolvers get a context made from it; else None.
    context
        That context.
    raw
        The JSON body it was parsed from, or empty.
    extensions
        The member ``extensions``, beside `query_hash`.
    deadline
        Time, on the clock of :func:`time.monotonic`, by which the response must be complete; None
        for the transport's own timeout. It is not sent.
    """

    query: str
    variables: Mapping[str, Any] | None = None
    operation_name: str | None = None
    document: Document | None = None
    safe: bool = False
    query_hash: str | None = None
    http: HttpRequest | None = field(default=None, repr=False, compare=False)
    context: object = field(default=None, repr=False, compare=False)
    raw: bytes = field(default=b"", repr=False, compare=False)
    deadline: float | None = None
    extensions: Mapping[str, Any] | None = None

    @property
    def is_query(self) -> bool:
        """Whether it is known to change nothing, so that it may be sent twice."""
        return self.document is not None and self.document.kind == "query"

    def encode(self) -> bytes:
        """Return the JSON body of a POST; members that are None are left out.

        Raises
        ------
        JSONError
            If a variable is not a JSON value; the message names its path.
        """
        is_hash_alone = self.query_hash is not None and not self.query
        members: dict[str, Any] = {} if is_hash_alone else {"query": self.query}
        if self.variables:
            members["variables"] = dict(self.variables)
        if self.operation_name is not None:
            members["operationName"] = self.operation_name
        extensions = dict(self.extensions or {})
        if self.query_hash:
            extensions["persistedQuery"] = {"version": 1, "sha256Hash": self.query_hash}
        if extensions:
            members["extensions"] = extensions
        return dump_json(members)


@dataclass(frozen=True, slots=True)
class RequestArray:
    """Several requests in one POST, which some servers answer with an array.

    Attributes
    ----------
    requests
        The requests.
    deadline
        As of :class:`Request`.
    """

    requests: tuple[Request, ...]
    deadline: float | None = None

    @property
    def is_query(self) -> bool:
        """Whether all of them are known to change nothing."""
        return all(request.is_query for request in self.requests)

    def encode(self) -> bytes:
        """Return the JSON body of a POST; raise JSONError as :meth:`Request.encode`."""
        return b"[" + b",".join(request.encode() for request in self.requests) + b"]"


def load_body(body: bytes) -> Any:  # noqa: ANN401 - decoded JSON
    """Return the decoded JSON of a POST; raise a BadRequestError if it is not JSON."""
    if not body:
        msg = 'The body is empty. Send JSON such as {"query": "{ hello }"}.'
        raise BadRequestError(msg)
    try:
        return load_json(body)
    except JSONError as error:
        msg = f"The body is not JSON: {error}"
        raise BadRequestError(msg) from None


def parse_query_string(query_string: bytes) -> Request:
    """Parse the parameters of a GET, as strictly as a body.

    Raises
    ------
    BadRequestError
        If `query` is missing, or a parameter is malformed or given twice.

    Notes
    -----
    `variables` and `extensions` are JSON, an empty `operationName` counts as absent, and unknown
    parameters are ignored (GraphQL over HTTP, "GET").
    """
    parameters = _parse_parameters(query_string)
    members: dict[str, object] = {"query": parameters.get("query")}
    members["operationName"] = parameters.get("operationName") or None
    for name in ("variables", "extensions"):
        text = parameters.get(name)
        if text is not None:
            try:
                members[name] = load_json(text.encode())
            except JSONError as error:
                msg = f"The parameter {name!r} is not JSON: {error}"
                raise BadRequestError(msg) from None
    return build_request(members, "parameter", safe=True)


def _parse_parameters(query_string: bytes) -> dict[str, str]:
    msg = "The query string is not UTF-8, percent-encoded."
    if _BAD_ESCAPE.search(query_string) or not query_string.isascii():
        raise BadRequestError(msg)
    try:
        pairs = parse_qsl(
            query_string.decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise BadRequestError(msg) from None
    except ValueError:
        msg = f"The query string has more than {_MAX_PARAMETERS} parameters."
        raise BadRequestError(msg) from None
    parameters: dict[str, str] = {}
    for name, value in pairs:
        # A proxy in front may use the first of two values where we would use the last.
        if name in parameters:
            msg = f"The parameter {sanitize_text(repr(name), 80)} is given more than once."
            raise BadRequestError(msg)
        parameters[name] = value
    return parameters


def build_request(
    members: object, word: str = "member", *, safe: bool = False, raw: bytes = b""
) -> Request:
    """Return a request with checked members.

    Parameters
    ----------
    members
        The decoded JSON.
    word
        The word for a member in error messages.
    safe
        Whether the HTTP method allows only queries.
    raw
        The JSON body.

    Raises
    ------
    BadRequestError
        If it is not a mapping with a string `query` and members of the right types.
    """
    # GraphQL over HTTP has no batches; each request would need a status of its own.
    if isinstance(members, list):
        msg = (
            "A batch of requests is not accepted. Send one request at a time, or have whoever "
            "serves this allow it: serve(schema, access=Access(batch=10))."
        )
        raise BadRequestError(msg, is_json=True)
    if not isinstance(members, Mapping):
        msg = "The body must be a JSON object with a string member 'query'."
        raise BadRequestError(msg, is_json=True)
    query, extensions, query_hash = members.get("query"), members.get("extensions"), None
    if extensions:
        query_hash = find_query_hash(extensions)
    if query is None and query_hash is not None:
        query = ""
    if not isinstance(query, str):
        msg = f"The {word} 'query' must be there and be a string."
        raise BadRequestError(msg, is_json=True)
    for name, kind, kind_word in _OPTIONAL_MEMBERS:
        if not isinstance(members.get(name), (kind, type(None))):
            msg = f"The {word} {name!r} must be {kind_word} or null."
            raise BadRequestError(msg, is_json=True)
    if extensions:
        extensions = {k: v for k, v in extensions.items() if k != "persistedQuery"}
    return Request(
        query,
        members.get("variables"),
        members.get("operationName"),
        extensions=extensions or None,
        safe=safe,
        query_hash=query_hash,
        raw=raw,
    )


@dataclass(frozen=True, slots=True)
class Response:
    """One response, of a server or of an engine in this process.

    Attributes
    ----------
    status
        HTTP status. Of an engine in this process: 200; 405 for a mutation that may not be executed,
        422 for a request error, 503 without a thread for it; 400 for a syntax error in the profile
        of the draft.
    headers
        Header values by lower-case name.
    body
        The bytes; empty where `members` are set and not encoded yet.
    members
        The GraphQL response as a mapping (`data`, `errors`, `extensions`), of an engine in this
        process.
    causes
        The exceptions behind the errors, in the same order, of an engine in this process.
    operation
        The name of the executed operation, None where it has none.
    masked_errors
        The exceptions hidden from the client, each with the id that the client got instead.
    is_json_safe
        Whether all leaf types are built-in, so that the values need no check before encoding.
    replayed
        Whether it comes from a recording or a cache, so that its budgets and waits are past.
    nullified
        The number of NaNs and infinities in the body that were replaced by null.
    cached_at
        The time of a remembered answer, in seconds since the epoch; None for any other.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)  # it may repeat a token, which data may hold
    members: Mapping[str, Any] | None = None
    causes: tuple[BaseException | None, ...] = ()
    operation: str | None = None
    masked_errors: tuple[tuple[str, BaseException], ...] = ()
    is_json_safe: bool = False
    replayed: bool = False
    cached_at: float | None = None
    nullified: int = 0
