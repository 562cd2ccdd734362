"""Preparation of requests: the document is checked, and its variables become JSON values."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import OperationDefinitionNode

from gqlnb.client.http_transport import HttpTransport
from gqlnb.client.recording.session import Recording, RecordingTransport, build_unrecordable_error
from gqlnb.client.request_sender import PreparedRequest
from gqlnb.client.response_cache import prepare_cached_request
from gqlnb.client.transports import AsgiTransport, InProcessTransport, Transport
from gqlnb.document.document import Document
from gqlnb.document.json_codec import iter_faults
from gqlnb.document.sized_cache import SizedCache
from gqlnb.document.upload import Upload, has_file, is_file
from gqlnb.document.variables import (
    bind_variables,
    check_variable_names,
    check_variables,
    convert_variables,
    depends_on_types,
    needs_schema,
    write_large_integers,
)
from gqlnb.errors import MAX_PROBLEMS_SHOWN, GqlnbError, OptionError, QueryError, sanitize_text
from gqlnb.http.messages import Request
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.result.checked_decoder import get_decoder

if TYPE_CHECKING:
    from gqlnb.client.endpoint import Endpoint
    from gqlnb.client.schema_store import SchemaStore
    from gqlnb.result.result import Result

MAX_DOCUMENTS = 512  # texts per client; a notebook repeats few
# Characters of all these texts; a longer one is parsed each time. A document takes some 300 bytes
# for each.
MAX_CHARACTERS = 500_000
Checked = TypeVar("Checked")
_LOG = logging.getLogger("gqlnb")


class RequestPreparer:
    """Turns texts and variables into requests of one endpoint.

    Parameters
    ----------
    endpoint
        The endpoint.
    store
        Its schema.
    """

    def __init__(self, endpoint: Endpoint, store: SchemaStore) -> None:
        self._endpoint, self._store = endpoint, store
        self._is_suspended = False
        # Caches of the client, not of the module: a document keeps its schema alive.
        self._documents: SizedCache[tuple[object, ...], Document]
        self._documents = SizedCache(MAX_DOCUMENTS, MAX_CHARACTERS)
        self._examine = lru_cache(MAX_DOCUMENTS)(partial(examine_document, store))

    def with_endpoint(self, endpoint: Endpoint) -> RequestPreparer:
        """Return a preparer of one call, which shares the parsed documents."""
        derived = copy(self)
        derived._endpoint = endpoint  # noqa: SLF001 - the same class
        return derived

    def suspend(self) -> None:
        """Load no schema for earlier results, until the next request is prepared."""
        self._is_suspended = True

    def parse_document(self, text: str | Document, operation: str | None = None) -> Document:
        """Return the document of a text, checked against the schema if that is known.

        Raises
        ------
        QueryError
            If the text is wrong.
        """
        try:
            return self._check_twice(partial(self._get_document, text, operation))
        except QueryError as error:
            add_target_hint(error, self._endpoint.description)
            raise

    def prepare(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        operation: str | None = None,
    ) -> PreparedRequest:
        """Return the request of a text, or of a document that was parsed for this endpoint.

        Raises
        ------
        QueryError
            If text or variables are wrong.
        AuthError
            If a token is needed and missing.
        """
        self._is_suspended = False
        # Once for the whole call: a recording that ends meanwhile still gets all attempts.
        recording = self._endpoint.get_recording()
        if recording is not None and self._store.schema is not None:
            self._store.load_recorded(recording)
        build = partial(self._build_request, text, variables, operation, recording)
        return self._check_twice(build)

    def _check_twice(self, check: Callable[..., Checked]) -> Checked:
        """Call a function that checks a text; after a refusal once more, leniently.

        The cached schema may be up to a week old, and have gained a field since; and what the
        endpoint has answered, or is to decide about, is not refused.
        """
        try:
            return check(lenient=False)
        except QueryError:
            if self._endpoint.local_schema is not None:
                raise
        self._store.revalidate()
        return check(lenient=True)

    async def aprepare(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        operation: str | None = None,
    ) -> PreparedRequest:
        """Prepare a request; in a thread if the endpoint may have to be asked for its schema."""
        needs_types = self._store.schema is None and any(
            map(depends_on_types, (variables or {}).values())
        )
        if self._store.is_doubtful or needs_types:
            return await asyncio.to_thread(self.prepare, text, variables, operation)
        return self.prepare(text, variables, operation)

    def _build_request(
        self,
        text: str | Document,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        recording: Recording | None,
        *,
        lenient: bool,
    ) -> PreparedRequest:
        endpoint, remote = self._endpoint, self._endpoint.local_schema is None
        try:
            document = self._get_document(text, operation, lenient=lenient)
            if (
                variables
                and recording is None
                and endpoint.can_introspect
                and needs_schema(document, variables)
                and self._store.try_load() is not None
            ):
                document = self._get_document(text, operation, lenient=lenient)
            transport = endpoint.select_transport(recording)
            values = self._bind_variables(document, variables, transport, lenient=lenient)
        except QueryError as error:
            add_target_hint(error, endpoint.description)
            raise
        has_several_operations = self._examine(document)
        if isinstance(text, Document) and operation is None and has_several_operations:
            operation = document.name
        # Where the schema is unknown it may be loaded later, when a frame needs it.
        learns = document.schema is None and not document.fault and endpoint.can_introspect
        is_checked = remote and document.is_parsed
        noted = values if document.schema is None else None
        context = ResponseContext(
            document,
            endpoint.source,
            endpoint.credentials.redact,
            expected=get_decoder(document, values) if is_checked else None,
            variables=values,
            learn=self._find_schema_later if learns else None,
            note_answer=partial(self._store.record_answer, document.text, noted),
            nan_as_null=endpoint.options.nan == "null",
        )
        extensions = endpoint.options.extensions
        request = Request(document.text, values, operation, document, extensions=extensions)
        is_direct = transport is endpoint.transport
        cached = None
        # With extensions an endpoint may answer in another way, so nothing is remembered.
        if remote and is_direct and not extensions:
            policy, secrets = endpoint.options.cache, endpoint.credentials
            cached = prepare_cached_request(policy, transport, secrets, request)
        return PreparedRequest(request, context, transport, is_direct, cached)

    def _bind_variables(
        self,
        document: Document,
        variables: Mapping[str, Any] | None,
        transport: Transport,
        *,
        lenient: bool,
    ) -> dict[str, Any]:
        """Return the variables of a request as JSON values.

        What the endpoint has answered is bound as it was then, without the schema; what it is to
        decide about is sent as it is given if it cannot be bound.
        """
        if not variables and not document.variables:
            return {}
        remote, is_final = self._endpoint.local_schema is None, self._endpoint.options.validate
        try:
            if document.is_parsed:
                return bind_values(document, variables, transport, remote=remote)
        except QueryError:
            bare = replace(document, schema=None)
            if not lenient or (is_final and not document.schema):
                raise
            with suppress(QueryError):
                values = bind_values(bare, variables, transport, remote=True)
                if not is_final or self._store.has_answered(document.text, values):
                    return values
            if is_final:
                raise
        return add_files(convert_variables(variables or {}), document, transport)

    def _get_document(
        self, text: str | Document, operation: str | None, *, lenient: bool
    ) -> Document:
        """Return the document of a text; if `lenient`, unchecked where the endpoint decides."""
        schema, given = self._store.schema, None
        if isinstance(text, Document):
            if text.schema is schema and operation in (None, text.name):
                return text
            operation = text.name if operation is None else operation
            given, text = text, text.text
        if self._endpoint.local_schema is not None:
            return self._endpoint.local_schema.parse_document(text, operation)
        key = (text, schema, operation)
        # Subclasses of str may compare equal to other texts.
        cached = self._documents.get(key) if type(text) is str else None
        if cached is not None:
            return cached
        try:
            document = Document.parse(*key)
        except QueryError as error:
            decides = not self._endpoint.options.validate or self._store.has_answered(text)
            if not lenient or not (decides or (given is not None and given.fault)):
                raise
            fault = error.problems[0].message if error.problems else str(error)
            return Document.parse_unchecked(text, operation, fault)
        if type(text) is str:
            self._documents.add(key, document, len(text))
        return document

    def _find_schema_later(self, result: Result) -> Result | None:
        """Return a result read with the schema, which is loaded now unless that failed before.

        None where the schema cannot be had, and where the client was closed meanwhile.
        """
        document, response = result.document, result.response
        if self._is_suspended or document is None or response is None:
            return None
        if not self._store.load_recorded(self._endpoint.get_recording()):
            self._store.try_load()
        if self._store.schema is None:
            return None
        try:
            prepared = self.prepare(document.text, result.variables, document.name)
            return parse_response(response, prepared.context)
        except GqlnbError as error:
            _LOG.info("%s: frames are inferred: %s", self._endpoint.source, error)
        return None


def examine_document(store: SchemaStore, document: Document) -> bool:
    """Record a text; return whether requests must name one of several operations."""
    store.record_text(document.text)  # once, as everything here: the same cell is run often
    operations = [*map(type, document.ast.definitions)].count(OperationDefinitionNode)
    return operations > 1


def bind_values(
    document: Document, variables: Mapping[str, Any] | None, transport: Transport, *, remote: bool
) -> dict[str, Any]:
    """Return the variables of a request as JSON values, checked as far as types are known."""
    check_variable_names(document, variables)
    values = add_files(bind_variables(document, variables), document, transport)
    if remote:
        check_variables(document, values)  # in process the engine does it
        values = write_large_integers(document, values)
    return values


def add_files(values: dict[str, Any], document: Document, transport: Transport) -> dict[str, Any]:
    """Return JSON values with the files among them in the form that a transport sends.

    Raises
    ------
    QueryError
        If a value has no JSON form and is no file; the message names the variable and the place in
        it, never the value.
    """
    files = False
    for name, value in values.items():
        fault = next(iter_faults(value, ()), None)
        if fault is not None and has_file(value):  # files are searched for only then
            files, fault = True, next(iter_faults(replace_files(value, lambda _: None), ()), None)
        if fault is not None:
            msg = f"Variable '${name}': {fault}"
            raise QueryError(msg)
    return prepare_files(values, document, transport) if files else values


def replace_files(value: object, replace_file: Callable[[object], object]) -> object:
    """Return a value with another one in the place of each file in it."""
    if isinstance(value, dict):
        return {key: replace_files(item, replace_file) for key, item in value.items()}
    if isinstance(value, list):
        return [replace_files(item, replace_file) for item in value]
    return replace_file(value) if is_file(value) else value


def add_target_hint(error: QueryError, description: str) -> None:
    """Add the description of the default endpoint to an error, if the caller named no endpoint."""
    if not description:
        return
    text = f"Target: {description}."  # most of these errors are found before a request is sent
    if not error.problems:
        error.args = (f"{error.args[0]} {text}",)
        return
    # With the last problem that is shown: a hint on a later one would be cut off with it.
    last = min(len(error.problems), MAX_PROBLEMS_SHOWN) - 1
    problem = error.problems[last]
    hint = f"{problem.hint}\n  {text}" if problem.hint else text
    error.problems = (
        *error.problems[:last],
        replace(problem, hint=hint),
        *error.problems[last + 1 :],
    )


def prepare_files(
    values: dict[str, Any], document: Document, transport: Transport
) -> dict[str, Any]:
    """Return variables with files in the form that a transport sends.

    Parameters
    ----------
    values
        Variables with files in them.
    document
        Their document.
    transport
        In this process resolvers get the objects themselves, over HTTP each becomes an Upload.

    Raises
    ------
    QueryError
        If the transport sends nothing but JSON, or a file can't be read.
    ReplayError
        If the request would be recorded or replayed.
    """
    if isinstance(transport, RecordingTransport):
        why = "file contents are not recorded, so the request could not be matched on replay."
        raise build_unrecordable_error(transport.recording, "requests with files", why)
    if isinstance(transport, InProcessTransport):
        return values
    if isinstance(transport, HttpTransport) and document.kind != "subscription":
        # By identity: a file given twice is sent once, and a stream can be read only once.
        uploads: dict[int, Upload] = {}
        return {name: wrap_files(name, value, uploads) for name, value in values.items()}
    name = next(name for name, value in values.items() if has_file(value))
    where = "a custom transport"
    if isinstance(transport, (AsgiTransport, HttpTransport)):
        where = transport.source if isinstance(transport, AsgiTransport) else "a subscription"
    advice = "Files can only be uploaded in queries and mutations sent over HTTP."
    msg = f"Variable '${name}' contains a file, which {where} does not support. {advice}"
    raise QueryError(msg)


def wrap_files(name: str, value: Any, uploads: dict[int, Upload]) -> object:  # noqa: ANN401 - a JSON value or a file
    """Return a value with an Upload for each file in it, the same for the same file."""
    if isinstance(value, dict):
        dotted = next((key for key in value if "." in key and has_file(value[key])), None)
        if dotted is not None:  # the multipart form separates the keys of a path by dots
            quoted = sanitize_text(dotted, 80)
            msg = (
                f"Variable '${name}': files are not supported under the key {quoted!r}, because it "
                "contains a dot."
            )
            raise QueryError(msg)
        return {key: wrap_files(name, item, uploads) for key, item in value.items()}
    if isinstance(value, list):
        return [wrap_files(name, item, uploads) for item in value]
    if not is_file(value) or isinstance(value, Upload):
        return value
    try:
        return uploads.setdefault(id(value), Upload(value))
    except OptionError as error:
        msg = f"Variable '${name}': {error}"
        raise QueryError(msg) from None
