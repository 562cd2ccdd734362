"""The operations of a client that send several requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
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
    execute_item,
    require_results,
    run_batch,
)
from gqlnb.client.mapping import InputMap, number_problems, read_inputs
from gqlnb.client.progress import Progress
from gqlnb.document.variables import check_variables
from gqlnb.errors import GqlnbError, QueryError, check_names

if TYPE_CHECKING:
    from gqlnb.client.mapping import MapOptions
    from gqlnb.client.progress import ShowProgress
    from gqlnb.document.document import Document
    from gqlnb.result.mapped_frame import MappedFrame
    from gqlnb.result.result import Result

__all__ = ["BatchClient"]

FRAME_OPTIONS = ("path", "short", "explode", "strict")
MAP_OPTIONS = ("batch_size", "resume", *FRAME_OPTIONS)


class BatchClient(BaseClient):
    """A client that executes many documents, or one for many inputs."""

    @overload
    def execute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    def execute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool
    ) -> list[BatchOutcome]: ...

    def execute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool = False
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
            that a budget is not exceeded; GitHub gets one at a time.
        return_errors
            Whether to return errors in the places of their documents' results.

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
        execute = partial(execute_item, ask=partial(self._execute_item, aside=True))
        outcomes = run_batch(check_items(documents, concurrency), execute, concurrency)
        return outcomes if return_errors else require_results(outcomes)

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[BatchItem],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    async def aexecute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool
    ) -> list[BatchOutcome]: ...

    async def aexecute_many(
        self, documents: Iterable[BatchItem], *, concurrency: int = 4, return_errors: bool = False
    ) -> list[Result] | list[BatchOutcome]:
        """Asynchronous version of :meth:`execute_many`.

        Parameters
        ----------
        documents, concurrency, return_errors
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
        execute = partial(execute_item, ask=self._execute_item)
        outcomes = await arun_batch(check_items(documents, concurrency), execute, concurrency)
        return outcomes if return_errors else require_results(outcomes)

    async def _execute_item(
        self, text: str, variables: Mapping[str, Any] | None, *, aside: bool = False
    ) -> Result:
        """Execute one document of a batch, in a thread if `aside` and resolvers might block."""
        if self._local_schema is None:
            prepared = await self._preparer.aprepare(text, variables)
            # Queued with the other requests of the endpoint, of other clients too: they share its
            # budget.
            return await self._sender.asend(prepared, queued=True)
        if aside:
            prepared = self._preparer.prepare(text, variables)
            # In a thread: a resolver that blocks would hold up the other documents on the
            # background loop.
            return await background.run_in_thread(partial(self._sender.send, prepared))
        return await self._sender.asend(await self._preparer.aprepare(text, variables))

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
            ``strict``, as for :meth:`Result.frame`. ``headers``, ``extensions`` and ``timeout``, as
            for :meth:`Client.execute`.

        Returns
        -------
        DataFrame
            The rows of all answers, in the order of the inputs, whose columns come first; with a
            ``$`` before their name where the answer has a column of that name. Its ``.errors`` is
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
        run, width = self._start_map(text, inputs, variables, operation, concurrency, options)
        try:
            with Progress(progress, "Inputs") as bar:
                run_batch(run.draw(bar), partial(self._execute_input, run, aside=True), width)
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
        run, width = await asyncio.to_thread(start)
        try:
            with Progress(progress, "Inputs") as bar:
                await arun_batch(run.draw(bar), partial(self._execute_input, run), width)
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
    ) -> tuple[InputMap, int]:
        """Prepare the requests of all inputs, before one is sent; with the number at once."""
        parts, options = self._select_parts(options)
        check_names("map", options, MAP_OPTIONS)
        self._schema_store.load_for_paging()  # the dtypes of all answers are the same
        document = self.parse_document(text, operation)
        if document.kind == "subscription":
            msg = "map() takes a query or a mutation, and this is a subscription. Use subscribe()."
            raise QueryError(msg)
        # Mutations one after another, since their order may matter.
        width = (1 if document.kind == "mutation" else 4) if concurrency is None else concurrency
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
        return run, width

    async def _execute_input(self, run: InputMap, at: int, *, aside: bool = False) -> BatchOutcome:
        """Execute the request of one input, in a thread if `aside` and resolvers might block."""
        prepared = run.start(at)
        outcome: BatchOutcome
        try:
            if self._local_schema is None:
                outcome = await run.sender.asend(prepared, queued=True)
            elif aside:
                outcome = await background.run_in_thread(partial(run.sender.send, prepared))
            else:
                outcome = await run.sender.asend(prepared)
        except GqlnbError as error:
            outcome = error
        run.record(at, outcome)
        return outcome
