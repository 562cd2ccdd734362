"""The parts of a client that send the requests of a call, and what they do together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from gqlnb.client.batches import BatchItem, BatchOutcome, check_concurrency, read_item
from gqlnb.client.endpoint import Endpoint, ListSettings, apply_call_options
from gqlnb.client.gql_interop import GqlClientTransport
from gqlnb.client.mapping import InputMap, MapOptions, number_problems, read_inputs
from gqlnb.client.paging.pager import Pager
from gqlnb.client.rate_limiter import RateLimiter, get_queue
from gqlnb.client.request_preparer import RequestPreparer
from gqlnb.client.request_sender import PreparedRequest, RequestSender
from gqlnb.client.schema_store import SchemaStore
from gqlnb.document.variables import check_variables
from gqlnb.errors import GqlnbError, QueryError
from gqlnb.option_checks import check_boolean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gqlnb.background import WorkerThreads
    from gqlnb.document.document import Document
    from gqlnb.tokens import Token, TokenHolder


@dataclass(frozen=True, slots=True)
class ClientParts:
    """The parts of a client, each with its own state; it knows the parts before it alone.

    Attributes
    ----------
    endpoint
        The endpoint.
    sender
        Sends requests, within the rate limit of its token.
    store
        The schema of the endpoint.
    preparer
        Checks documents and variables.
    pager
        Follows the pages of lists.
    """

    endpoint: Endpoint
    sender: RequestSender
    store: SchemaStore
    preparer: RequestPreparer
    pager: Pager

    @classmethod
    def build(cls, endpoint: Endpoint, store: SchemaStore | None) -> Self:
        """Return the parts for an endpoint, with a schema store of its own if `store` is None."""
        limiter = RateLimiter(get_queue(endpoint.transport), endpoint.source, endpoint.limits.wait)
        sender = RequestSender(endpoint, limiter)
        store = store or open_schema_store(endpoint, sender)
        preparer = RequestPreparer(endpoint, store)
        pager = Pager(endpoint, preparer, sender, store, limiter)
        return cls(endpoint, sender, store, preparer, pager)

    def with_options(
        self,
        token: Token | TokenHolder | str | None,
        headers: Mapping[str, str | Token | TokenHolder] | None,
        extensions: Mapping[str, Any] | None,
        timeout: float | None,
        validate: bool | None,  # noqa: FBT001 - as in the calls, in the order of execute()
    ) -> Self:
        """Return the parts for the options of one call; these themselves if there are none.

        They share schema, connections, parsed documents and rate limits.
        """
        endpoint, limiter = self.endpoint, self.sender.limiter
        if (token, headers, extensions, timeout) != (None, None, None, None):
            endpoint = apply_call_options(
                endpoint, token=token, headers=headers, extensions=extensions, timeout=timeout
            )
        if validate is not None:
            check_boolean("validate", validate)
            endpoint = replace(endpoint, options=replace(endpoint.options, validate=validate))
        if endpoint is self.endpoint:
            return self
        # A budget belongs to a token: another one has another queue.
        if endpoint.credentials.tokens != self.endpoint.credentials.tokens:
            queue = get_queue(endpoint.transport)
            limiter = RateLimiter(queue, endpoint.source, endpoint.limits.wait)
        sender = self.sender.with_endpoint(endpoint, limiter)
        preparer = self.preparer.with_endpoint(endpoint)
        pager = Pager(endpoint, preparer, sender, self.store, limiter, self.pager.unfinished)
        return replace(self, endpoint=endpoint, sender=sender, preparer=preparer, pager=pager)

    def use_measured_lists(self, lists: Mapping[str, ListSettings]) -> Self:
        """Return the parts that page lists as a report of the endpoint measured it."""
        self.endpoint.lists = lists
        pager = Pager(self.endpoint, self.preparer, self.sender, self.store, self.sender.limiter)
        return replace(self, pager=pager)

    @property
    def group_size(self) -> int:
        """The number of requests in one array; 1 for none."""
        return self.endpoint.options.batch or 1

    async def execute_documents(
        self, items: Sequence[BatchItem], *, threads: WorkerThreads | None = None
    ) -> list[BatchOutcome]:
        """Execute documents together, as :meth:`_send_group` does; with the errors of others."""
        outcomes: list[BatchOutcome | PreparedRequest] = []
        for item in items:
            try:
                outcomes.append(await self.preparer.aprepare(*read_item(item)))
            except GqlnbError as error:
                outcomes.append(error)
        group = [outcome for outcome in outcomes if isinstance(outcome, PreparedRequest)]
        answers = iter(await self._send_group(group, threads))
        return [
            next(answers) if isinstance(outcome, PreparedRequest) else outcome
            for outcome in outcomes
        ]

    async def execute_inputs(
        self, run: InputMap, places: Sequence[int], *, threads: WorkerThreads | None = None
    ) -> list[BatchOutcome]:
        """Execute the requests of some inputs together."""
        outcomes = await self._send_group(list(map(run.start, places)), threads)
        for at, outcome in zip(places, outcomes, strict=True):
            run.record(at, outcome)
        return outcomes

    async def _send_group(
        self, group: Sequence[PreparedRequest], threads: WorkerThreads | None
    ) -> list[BatchOutcome]:
        """Send requests in one array, a single one alone; a local one in a thread, if given."""
        sender = self.sender
        if len(group) > 1:
            return await sender.asend_array(group)
        outcomes: list[BatchOutcome] = []
        for prepared in group:
            try:
                if self.endpoint.local_schema is None:
                    # Queued with the other requests of the endpoint, of other clients too: they
                    # share its budget.
                    outcomes.append(await sender.asend(prepared, queued=True))
                elif threads is not None:
                    # A resolver that blocks would hold up the others on the background loop.
                    outcomes.append(await threads.run(partial(sender.send, prepared)))
                else:
                    outcomes.append(await sender.asend(prepared))
            except GqlnbError as error:
                outcomes.append(error)
        return outcomes

    def start_map(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None,
        options: MapOptions,
    ) -> tuple[InputMap, int, int]:
        """Prepare all requests; return them with the numbers of groups at once and in a group."""
        self.store.load_for_paging()  # the dtypes of all answers are the same
        document = self.preparer.parse_document(text, options.operation)
        if document.kind == "subscription":
            msg = "map() takes a query or a mutation, and this is a subscription. Use subscribe()."
            raise QueryError(msg)
        # Mutations one after another, since their order may matter.
        concurrency = options.concurrency
        is_ordered = document.kind == "mutation" and concurrency in (None, 1)
        width = (1 if is_ordered else 4) if concurrency is None else concurrency
        check_concurrency(width)
        constants = variables or {}
        rows = read_inputs(inputs, document, constants, options.batch_size)
        run = InputMap(document, rows, options, self.sender)
        for number, values in enumerate(rows.variables):
            try:
                prepared = self.preparer.prepare(document, {**constants, **values})
                if self.endpoint.local_schema is not None:  # where the engine does it, later
                    check_variables(document, dict(prepared.request.variables or {}))
                run.prepared.append(prepared)
            except QueryError as error:
                # Nothing was sent yet: all requests are prepared first, so a wrong row costs no
                # answers.
                number_problems(error, number, options.batch_size)
                raise
        # Endpoints execute the requests of an array at once, so mutations are in arrays only where
        # they may run at once anyway.
        return run, width, 1 if is_ordered else self.group_size


def open_schema_store(endpoint: Endpoint, sender: RequestSender) -> SchemaStore:
    """Return a new store for an endpoint, with the schema that is known without asking."""
    store = SchemaStore(endpoint, sender)
    if isinstance(endpoint.transport, GqlClientTransport) and endpoint.transport.schema is not None:
        store.set_schema(endpoint.transport.schema)
    if endpoint.explicit_schema is not None:
        store.set_schema(endpoint.explicit_schema)
    if endpoint.local_schema is not None:
        store.set_schema(endpoint.local_schema.graphql)
    return store
