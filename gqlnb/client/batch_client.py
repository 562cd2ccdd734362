"""The operations of a client that send several requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from gqlnb import background
from gqlnb.client.base_client import BaseClient
from gqlnb.client.batches import (
    BatchItem,
    BatchOutcome,
    arun_batch,
    check_concurrency,
    check_items,
    read_item,
    require_results,
    run_batch,
)
from gqlnb.client.mapping import InputMap, MapOptions, number_problems, read_inputs
from gqlnb.client.progress import Progress
from gqlnb.client.request_sender import PreparedRequest
from gqlnb.document.variables import check_variables
from gqlnb.errors import GqlnbError, QueryError

if TYPE_CHECKING:
    from gqlnb.client.base_client import ClientParts
    from gqlnb.client.call_options import CallOptions
    from gqlnb.client.progress import ShowProgress
    from gqlnb.client.request_sender import RequestSender
    from gqlnb.document.document import Document
    from gqlnb.result.mapped_frame import MappedFrame
    from gqlnb.result.result import Result

__all__ = ["BatchClient"]

FRAME_OPTIONS = ("path", "short", "explode", "strict")


class BatchClient(BaseClient):
    """A client that executes many documents, or one for many inputs."""

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
        **options: Unpack[CallOptions],
    ) -> list[Result]: ...

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool,
        **options: Unpack[CallOptions],
    ) -> list[BatchOutcome]: ...

    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool = False,
        **options: Unpack[CallOptions],
    ) -> list[Result] | list[BatchOutcome]:
        """Execute documents, several at a time, and return their results in order.

        Parameters
        ----------
        documents
            Texts, or pairs of a text and its variables. They are taken from their iterable as
            others end, so that a generator may make them meanwhile.
        concurrency
            Largest number of documents at once, 1 to 256. An endpoint gets at most six requests at
            once, and fewer if it has rate limits: requests wait for their turn as pages do, so
            that a budget is not exceeded; GitHub gets one at a time. For a client with ``batch=``
            the number of arrays at once.
        return_errors
            Whether to return errors in the places of their documents' results.
        **options
            ``token``, ``headers``, ``extensions`` and ``timeout`` as for :meth:`Client.execute`.

        Returns
        -------
        list of Result
            With `return_errors` of Results and errors.

        Raises
        ------
        BatchError
            If a document failed, without `return_errors`, after all were executed. Its
            ``.outcomes`` holds all results and errors.
        OptionError
            If `documents` or `concurrency` is not valid.

        Notes
        -----
        An interrupt, or any other exception before the end, cancels the running requests and
        carries the results so far in ``.outcomes``, None for the others.
        """
        parts = self._select_parts("execute_many", options)
        execute = partial(self._execute_documents, parts, aside=True)
        items = check_items(documents, concurrency)
        outcomes = run_batch(items, execute, concurrency, self._group_size)
        return outcomes if return_errors else require_results(outcomes)

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
        **options: Unpack[CallOptions],
    ) -> list[Result]: ...

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool,
        **options: Unpack[CallOptions],
    ) -> list[BatchOutcome]: ...

    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: bool = False,
        **options: Unpack[CallOptions],
    ) -> list[Result] | list[BatchOutcome]:
        """Asynchronous version of :meth:`execute_many`.

        Parameters
        ----------
        documents, concurrency, return_errors, **options
            As for :meth:`execute_many`.

        Returns
        -------
        list of Result
            As of :meth:`execute_many`.

        Raises
        ------
        BatchError, OptionError
            As for :meth:`execute_many`.
        """
        parts = self._select_parts("aexecute_many", options)
        execute = partial(self._execute_documents, parts)
        items = check_items(documents, concurrency)
        outcomes = await arun_batch(items, execute, concurrency, self._group_size)
        return outcomes if return_errors else require_results(outcomes)

    async def _execute_documents(
        self, parts: ClientParts, items: Sequence[BatchItem], *, aside: bool = False
    ) -> list[BatchOutcome]:
        """Execute documents together, as :meth:`_send_group` does; with the errors of others."""
        outcomes: list[BatchOutcome | PreparedRequest] = []
        for item in items:
            try:
                outcomes.append(await parts.preparer.aprepare(*read_item(item)))
            except GqlnbError as error:
                outcomes.append(error)
        group = [it for it in outcomes if isinstance(it, PreparedRequest)]
        answers = iter(await self._send_group(parts.sender, group, aside=aside))
        return [next(answers) if isinstance(it, PreparedRequest) else it for it in outcomes]

    async def _send_group(
        self, sender: RequestSender, group: Sequence[PreparedRequest], *, aside: bool
    ) -> list[BatchOutcome]:
        """Send requests in one array, a single one alone; in a thread if `aside` and local."""
        if len(group) > 1:
            return await sender.asend_array(group)
        outcomes: list[BatchOutcome] = []
        for prepared in group:
            try:
                if self._local_schema is None:
                    # Queued with the other requests of the endpoint, of other clients too: they
                    # share its budget.
                    outcomes.append(await sender.asend(prepared, queued=True))
                elif aside:
                    # A resolver that blocks would hold up the others on the background loop.
                    send = partial(sender.send, prepared)
                    outcomes.append(await background.run_in_thread(send))
                else:
                    outcomes.append(await sender.asend(prepared))
            except GqlnbError as error:
                outcomes.append(error)
        return outcomes

    @property
    def _group_size(self) -> int:
        """The number of requests in one array; 1 for none."""
        return self._endpoint.options.batch or 1

    def map(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        concurrency: int | None = None,
        progress: ShowProgress = "auto",
        **options: Unpack[MapOptions],
    ) -> MappedFrame:
        """Execute an operation for each input, and return one frame with the inputs beside.

        Parameters
        ----------
        text
            The document.
        inputs
            The variables of each request: a DataFrame of pandas or Polars, an Arrow table, or a
            list of dicts, named tuples or models, whose columns are named as the variables; other
            columns are not sent. Or a list, an array or a Series of values of the only variable;
            if that is an input object, rows whose columns are its fields.
        variables
            Further variables, the same in all requests.
        operation
            As for :meth:`execute`.
        concurrency
            Largest number of requests at once, as for :meth:`execute_many`; by default 4 for
            queries, 1 for mutations.
        progress
            As for :meth:`pages`, with inputs as rows. If a function returns False, no more requests
            are sent: the frame has the answers so far, and `resume` continues from it.
        **options
            ``batch_size``, to send so many inputs in one request, in the only variable, which is a
            list: 1,000 rows of an insert; the frame then has the columns ``first_row`` and
            ``last_row``. ``resume``, the frame or the error of an earlier call with the same
            inputs: those without an answer are sent. ``path``, ``short``, ``explode`` and
            ``strict``, as for :meth:`Result.frame`. ``token``, ``headers``, ``extensions`` and
            ``timeout``, as for :meth:`Client.execute`.

        Returns
        -------
        DataFrame
            The rows of all answers, in the order of the inputs, whose columns come first; with a
            ``$`` before their name where the answer has a column of that name. If the answers hold
            one list, its items are the rows, beside the other values of the answer; an empty one
            has one row, except of a batch. `path` gives the items alone. Its ``.errors`` is
            a frame with a row for each error, beside the input that it belongs to; its
            ``.outcomes`` are the Results and exceptions.

        Raises
        ------
        OptionError
            If the inputs do not fit the variables, or an option is wrong; nothing was sent.
        QueryError
            If the text is wrong, or the variables of an input, which the message numbers from 0;
            nothing was sent. One that the endpoint refuses is in ``.errors``.
        AuthError, RateLimited, TransportError
            If the endpoint refuses the token, asks for too long a wait, or five requests in a row
            failed. ``error.result`` is the frame of the answers so far, as after an interrupt, and
            ``resume=error`` continues.
        FrameError
            As of :meth:`Result.frame`; the answers are in ``error.outcomes``.

        Warns
        -----
        UserWarning
            If inputs have errors, or were not sent because `progress` returned False.

        Notes
        -----
        A mutation is never sent twice: `resume` leaves out inputs whose request was sent and has
        no answer.

        Examples
        --------
        >>> import gqlnb
        >>> text = "query($login: String!) { user(login: $login) { login } }"
        >>> gqlnb.connect("demo").map(text, ["torvalds", "antirez"], short=True)
             $login     login
        0  torvalds  torvalds
        1   antirez   antirez
        """
        run, *width = self._start_map(text, inputs, variables, operation, concurrency, options)
        try:
            with Progress(progress, "Inputs") as bar:
                run_batch(run.draw(bar), partial(self._execute_inputs, run, aside=True), *width)
                run.report(bar)
        except BaseException as error:
            run.attach(error)
            raise
        return run.finish(1)

    async def amap(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        concurrency: int | None = None,
        progress: ShowProgress = "auto",
        **options: Unpack[MapOptions],
    ) -> MappedFrame:
        """Asynchronous version of :meth:`map`.

        Parameters
        ----------
        text, inputs, variables, operation, concurrency, progress, **options
            As for :meth:`map`.

        Returns
        -------
        DataFrame
            As of :meth:`map`.

        Raises
        ------
        OptionError, QueryError, AuthError, RateLimited, TransportError, FrameError
            As for :meth:`map`.
        """
        start = partial(self._start_map, text, inputs, variables, operation, concurrency, options)
        run, *width = await asyncio.to_thread(start)
        try:
            with Progress(progress, "Inputs") as bar:
                await arun_batch(run.draw(bar), partial(self._execute_inputs, run), *width)
                run.report(bar)
        except BaseException as error:
            run.attach(error)
            raise
        return run.finish(1)

    def _start_map(
        self,
        text: str | Document,
        inputs: object,
        variables: Mapping[str, Any] | None,
        operation: str | None,
        concurrency: int | None,
        options: Mapping[str, Any],
    ) -> tuple[InputMap, int, int]:
        """Prepare the requests of all inputs, before one is sent.

        Returns
        -------
        (InputMap, int, int)
            With the number of groups at once, and of requests in a group.

        Raises
        ------
        OptionError
            As :meth:`map`.
        QueryError
            As :meth:`map`.
        """
        parts = self._select_parts("map", options, MapOptions)
        self._schema_store.load_for_paging()  # the dtypes of all answers are the same
        document = self.parse_document(text, operation)
        if document.kind == "subscription":
            msg = "map() takes a query or a mutation, and this is a subscription. Use subscribe()."
            raise QueryError(msg)
        # Mutations one after another, since their order may matter.
        is_ordered = document.kind == "mutation" and concurrency in (None, 1)
        width = (1 if is_ordered else 4) if concurrency is None else concurrency
        check_concurrency(width)
        constants = variables or {}
        rows = read_inputs(inputs, document, constants, options.get("batch_size"))
        shape = {name: it for name, it in options.items() if name in FRAME_OPTIONS}
        run = InputMap(document, rows, shape, options.get("resume"), parts.sender)
        for number, values in enumerate(rows.variables):
            try:
                prepared = parts.preparer.prepare(document, {**constants, **values})
                if self._local_schema is not None:  # where the engine does it, later
                    check_variables(document, dict(prepared.request.variables or {}))
                run.prepared.append(prepared)
            except QueryError as error:
                # Nothing was sent yet: all requests are prepared first, so a wrong row costs no
                # answers.
                number_problems(error, number, options.get("batch_size"))
                raise
        # Endpoints execute the requests of an array at once, so mutations are in arrays only where
        # they may run at once anyway.
        return run, width, 1 if is_ordered else self._group_size

    async def _execute_inputs(
        self, run: InputMap, places: Sequence[int], *, aside: bool = False
    ) -> list[BatchOutcome]:
        """Execute the requests of some inputs together."""
        outcomes = await self._send_group(run.sender, list(map(run.start, places)), aside=aside)
        for at, outcome in zip(places, outcomes, strict=True):
            run.record(at, outcome)
        return outcomes
