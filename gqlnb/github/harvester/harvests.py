"""The public functions: all results of a search, into a folder or a frame, and their cost."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import msgspec

from gqlnb import background
from gqlnb.background import open_thread_pool
from gqlnb.client.progress import Progress
from gqlnb.document.document import Document
from gqlnb.document.json_codec import dump_valid_json
from gqlnb.errors import AuthError, GqlnbError, OptionError, format_count, sanitize_text
from gqlnb.github.builtin_connections import DEMO, open_client, register_connections
from gqlnb.github.harvester.own_fields import parse_fields
from gqlnb.github.harvester.requests import (
    COUNTS_PER_PAGE,
    PAGES_PER_REQUEST,
    HarvestRunner,
    PortableClient,
    build_query,
    count_searches,
)
from gqlnb.github.harvester.scope import Scope
from gqlnb.github.harvester.storage import (
    RepositoryStore,
    build_arrow_schema,
    build_repository_frame,
)
from gqlnb.github.query_cost import MAX_NODES, compute_cost
from gqlnb.github.search_syntax import MAX_PAGE_SIZE, list_search_notes
from gqlnb.interactive import warn_caller
from gqlnb.lists.accounts import Account, AccountPool
from gqlnb.lists.report import Coverage, Gap
from gqlnb.lists.store import ROWS_PER_PART, LogHeader
from gqlnb.lists.window_harvest import FIRST_COUNTS, WindowHarvest
from gqlnb.option_checks import check_boolean, check_whole_number, explain_keywords
from gqlnb.result.renderer import register_frame_display, render_lines
from gqlnb.result.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from gqlnb.client.client import Client
    from gqlnb.client.progress import ProgressCallback
    from gqlnb.http.rate_limit_rules import Budget


CLOSE_ENOUGH = 1.05  # times the rows wanted: fetching a page more costs less than another count
_MAX_STARS = 2**31 - 1  # the range of GraphQL's Int

# GitHub's limits for an account. A page of 100 results takes its search about a second; its
# secondary limit is a minute of processing time in a minute.
POINTS_PER_HOUR = 5000
SECONDS_PER_PAGE = 1.0

# Windows are planned to 97 of 100 rows, and a few are planned again. Of 1,000 to 18,400 simulated
# repositories, still or with one move a request, harvests took 1.03 to 1.08 times the fewest pages,
# and 2.4 to 2.9 counts for each of them.
PAGE_OVERHEAD, SPARE_PAGES = 0.08, 2
COUNTS_PER_WINDOW = 3
# Planning takes steps one after another, as many as a tree of windows is deep.
FEWEST_STEPS, MOST_STEPS = 3, 16


@explain_keywords
@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected cost of a harvest.

    Attributes
    ----------
    query
        Search expression.
    source
        Address of the endpoint.
    repositories
        Number of matching repositories.
    least, most
        Pages: the fewest that can hold them, and the most expected while few of them change.
    budget
        The remaining budget, of all accounts together.
    accounts
        Number of accounts that send requests.
    fields
        The own fields; None without.
    page_points
        Points of a page, with the own fields.
    node_batch
        Repositories per request whose own fields are fetched by id, since a page of 100 with them
        would exceed GitHub's limit of nodes; 0 if they come with the pages.

    Examples
    --------
    >>> estimate = gqlnb.github.estimate(">20000")
    >>> estimate.repositories, estimate.least
    (1067, 11)
    """

    query: str
    source: str
    repositories: int
    least: int
    most: int
    budget: Budget
    accounts: int = 1
    fields: str | None = None
    page_points: int = 1
    node_batch: int = 0

    @property
    def counts(self) -> int:
        """Most searches that only count."""
        return (
            FIRST_COUNTS
            if self.repositories <= MAX_PAGE_SIZE
            else ceil(COUNTS_PER_WINDOW * self.most)
        )

    @property
    def points(self) -> int:
        """Most points of GitHub's budget."""
        if not self.node_batch:
            return self.most * self.page_points
        return self.most + self._batches * self.page_points

    @property
    def hours(self) -> float:
        """Most hours at GitHub's limits: points in an hour, and seconds of work in a minute."""
        by_points = self.points / POINTS_PER_HOUR
        pages = self.most + self._batches + self.counts / COUNTS_PER_PAGE
        by_time = pages * SECONDS_PER_PAGE / 3600
        return max(by_points, by_time) / self.accounts

    @property
    def requests(self) -> tuple[int, int]:
        """Fewest and most requests: up to ten pages come in one if the endpoint is fast."""
        if self.repositories <= MAX_PAGE_SIZE:
            return 2 + self._batches, self.most + 2 + self._batches
        fewest = ceil(self.least / PAGES_PER_REQUEST) + FEWEST_STEPS
        most = self.most + ceil(self.counts / COUNTS_PER_PAGE) + MOST_STEPS
        return fewest + self._batches, most + self._batches

    @property
    def _batches(self) -> int:
        return ceil(self.repositories / self.node_batch) if self.node_batch else 0

    def __repr__(self) -> str:
        least, most = self.requests
        lines = [
            f"{self.repositories:,} repositories of {self.query!r}, from {self.source}",
            f"  {self.least:,} to {self.most:,} pages of {MAX_PAGE_SIZE}, {self.counts:,} counts",
            f"  {least:,} to {most:,} requests: up to ten pages come in one",
        ]
        if self.node_batch:
            lines.append(
                f"  fields= by id, {self.node_batch} repositories in a request: a page of "
                f"{MAX_PAGE_SIZE} with them exceeds {MAX_NODES:,} nodes"
            )
        elif self.fields is not None:
            points = format_count(self.page_points, "point")
            lines.append(f"  {points} per page with fields=")
        accounts = "" if self.accounts == 1 else f" with {self.accounts} accounts"
        duration = f"{self.hours:,.1f} hours"
        if self.hours < 2:
            duration = format_count(max(1, round(self.hours * 60)), "minute")
        lines.append(f"  {self.points:,} points at most, {duration} at GitHub's limits{accounts}")
        if self.budget:
            lines.append(f"  budget: {self.budget}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


def estimate_pages(total: int, *, twice: bool = False) -> tuple[int, int]:
    """Return the fewest and the most pages of a harvest.

    Parameters
    ----------
    total
        Number of matching repositories.
    twice
        Whether everything is read a second time.

    Returns
    -------
    (int, int)
        The fewest, and the most.
    """
    least = max(1, ceil(total / MAX_PAGE_SIZE))
    most = least
    if total > MAX_PAGE_SIZE:
        most = ceil(least * (1 + PAGE_OVERHEAD)) + SPARE_PAGES
    return (2 * least, 2 * most) if twice else (least, most)


def narrow_scope(
    client: Client, scope: Scope, most: int, *, rising: bool = False
) -> tuple[Scope, int]:
    """Return the part of a scope that contains at least its first `most` repositories.

    It is found by bisection, with one count per request, until the part contains few more, or only
    repositories with equal stars beyond them.

    Parameters
    ----------
    client
        The client.
    scope
        The scope to narrow.
    most
        Number of repositories wanted.
    rising
        Whether the fewest stars come first; by default the most.

    Returns
    -------
    (Scope, int)
        The part, and the number of repositories in the whole scope.

    Raises
    ------
    GqlnbError
        If a request fails.
    """

    def count(part: Scope) -> int:
        return count_searches(client, [part.format_expression()])[0]

    def cut(stars: int) -> Scope:
        bound = {"high": stars} if rising else {"low": stars}
        return msgspec.structs.replace(scope, **bound)

    found = total = count(scope)
    least, top = scope.low, _MAX_STARS if scope.high is None else scope.high
    enough, too_few = (top, least - 1) if rising else (least, top + 1)
    while found > most * CLOSE_ENOUGH and abs(enough - too_few) > 1:
        # The geometric mean, as the distribution of stars is about log-uniform.
        low, high = sorted((enough, too_few))
        middle = min(max(isqrt((low + 1) * (high + 1)), low + 1), high - 1)
        matching = count(cut(middle))
        if matching >= most:
            enough, found = middle, matching
        else:
            too_few = middle
    return (cut(enough) if found < total else scope), total


TASKS_PER_REQUEST = 10  # that share it: 20,000 rows take 50 requests
DEFAULT_WIDTH = 16  # requests at once, if the executor does not say how many workers it has


@explain_keywords
@dataclass(frozen=True, slots=True)
class Harvest:
    """The rows of a harvest, with a report on their completeness.

    Attributes
    ----------
    query
        Search expression.
    source
        Address of the endpoint.
    coverage
        Number of repositories expected and received, windows without a proof, and the cost.
    requests
        Number of requests sent.
    folder
        Folder of the Parquet parts; None if the rows are in memory.
    notes
        Notes of the endpoint, such as fields without data, and events during the harvest, as
        sentences.
    identities
        The accounts that sent requests, with their number and the remaining budget.
    fields
        The own fields, as GraphQL; None without.

    Examples
    --------
    >>> harvest = gqlnb.github.harvest(">20000", progress=False)
    >>> harvest.complete, len(harvest), harvest.coverage.expected
    (True, 1067, 1067)
    """

    query: str
    source: str
    coverage: Coverage
    requests: int
    folder: Path | None
    notes: tuple[str, ...]
    identities: tuple[Account[PortableClient], ...]
    fields: str | None
    _storage: RepositoryStore = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether counts and results prove that all repositories were received."""
        return self.coverage.complete

    def __len__(self) -> int:
        return self._storage.rows

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table, in the order in which they were received."""
        return self._storage.load_table()

    def frame(self, *, explode: str | None = None) -> pd.DataFrame:
        """Return all rows as a DataFrame, most stars first; it must fit into memory.

        Parameters
        ----------
        explode
            The name of a list among the own fields (``"repositoryTopics"``): each of its items
            becomes a row, beside the columns of its repository, as of :meth:`gqlnb.Result.frame`.

        Returns
        -------
        DataFrame
            Columns ``name``, ``owner`` (string), ``stargazers`` (Int64), ``created_at`` (in UTC)
            and ``id`` (string); then the own fields, with the names and dtypes that they have in
            :meth:`gqlnb.Result.frame`. ``attrs`` as of :func:`gqlnb.stars`.

        Raises
        ------
        FrameError
            If the rows have no list `explode`.
        """
        register_frame_display()
        frame = build_repository_frame(self.arrow(), self._storage.own_columns, explode)
        frame.attrs |= {
            "query": self.query,
            "order": "stars-desc",
            **self.coverage.build_attrs(len(self), self.source, self._list_warnings()),
        }
        return frame

    def _list_warnings(self) -> list[str]:
        return self.coverage.list_warnings(further=self._list_search_notes())

    def _list_search_notes(self) -> list[str]:
        is_empty = not len(self) and not self.coverage.expected
        return list_search_notes(self.query, is_empty=is_empty)

    def __repr__(self) -> str:
        is_twice = self._storage.header.twice and self.complete
        again = "; everything was read twice" if is_twice else ""
        accounts = map(str, self.identities if len(self.identities) > 1 else ())
        return self.coverage.describe_harvest(
            f"{len(self):,} repositories of {self.query!r}",
            self.folder,
            cost=f"{again}, in {self.requests:,} requests",
            details=[f"from {self.source}", *accounts, *self._list_search_notes()],
        )

    def _repr_html_(self) -> str:
        return render_lines(repr(self))


@explain_keywords
def harvest(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    out: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: bool | str | ProgressCallback = "auto",
    resume: bool = True,
    fields: str | None = None,
    width: int | None = None,
    part: int = ROWS_PER_PART,
    clients: Sequence[Any] | None = None,
    tokens: Sequence[Any] | None = None,
    twice: bool = False,
) -> Harvest:
    """Fetch every repository above a number of stars, past the 1,000 results of a search.

    Parameters
    ----------
    query
        The star threshold, as for :func:`gqlnb.stars`; or a search expression with further
        qualifiers, such as ``"stars:>100 language:python"``.
    client
        The name of a connection, a client, or any target of :class:`gqlnb.Client`.
    out
        Folder for the rows, as Parquet parts with a log beside them. An interrupted harvest is
        continued there when the same call is made again. None keeps the rows in memory.
    executor
        Executor that runs several requests at once: a pool of threads or processes, or
        ``dask.distributed.Client(...).get_executor()``. Other processes create the client again,
        so its secrets must be given by source, such as ``token="env:NAME"``. An endpoint that
        accepts only one request at a time, such as GitHub, gets one at a time anyway.
    progress
        As for :meth:`gqlnb.Client.pages`. If a function returns False, the harvest stops: the
        result has the rows so far, is not complete, and the same call with `out` goes on later.
    resume
        Whether to continue the same harvest in `out`, or return it if it is finished; False
        removes it first.
    fields
        Further fields of each repository, as GraphQL: ``"forkCount primaryLanguage { name }"``; or
        a query with ``search(type: REPOSITORY)``, of which the selection on Repository is taken.
        They take no variables. They become columns as of :meth:`gqlnb.Result.frame`, with lists in
        cells; a list has as many items as its ``first`` requests. A field that fails is null in
        its row, and counted in ``coverage.field_errors``. If pages of a search are too large with
        them, they are fetched by ``nodes(ids:)``.
    width
        Most requests at once; by default the number of the executor's workers if it says so, and
        one without an executor.
    part
        Number of rows per part; a part may have up to a thousand more.
    clients
        Several clients, instead of `client`. Those of one account share its budget; each account
        sends GitHub one request at a time, and takes over for one that is limited or refused.
    tokens
        Tokens such as ``"env:NAME"``, each for a client of `client`, which is then a name or a URL.
        GitHub's terms forbid sharing tokens to get around its limits: give those of people who
        agreed to take part.
    twice
        Whether to read everything a second time, in another order: twice the pages. Where counts
        vary from answer to answer, so that they prove nothing, four orders that show the same rows
        are taken for complete then.

    Returns
    -------
    Harvest
        With ``coverage``, ``frame()`` and ``complete``.

    Raises
    ------
    QueryError
        If the query cannot be parsed, `fields` are not valid in the endpoint's schema, or the
        endpoint is not GitHub-shaped.
    OptionError
        If `out` contains other data, or the harvest with other `fields`, `executor` is not an
        executor, or an option is invalid.
    TargetError
        If the client cannot be created in the executor's processes.
    GqlnbError
        If a request fails for good. The rows so far are in `out`, or without it in the error's
        ``.result``.

    Warns
    -----
    UserWarning
        If a range could not be completed, fields of some rows failed, or the endpoint's answers
        have notes, such as fields without data.

    Examples
    --------
    >>> found = harvest(">20000")
    >>> found.complete, len(found), found.coverage.pages
    (True, 1067, 11)
    >>> found = harvest(">200000", fields="primaryLanguage { name } forkCount")
    >>> [*found.frame()][-2:]
    ['primaryLanguage.name', 'forkCount']
    """
    scope = Scope.parse(query)
    check_boolean("twice", twice)
    check_whole_number("part", part, least=1)
    most = _choose_width(executor, width)
    with ExitStack() as stack:
        opened = open_clients(stack, client, clients, tokens)
        text, source = scope.format_expression(order=""), opened[0].source
        header = LogHeader(query=text, source=source, twice=twice)
        if fields is not None:
            own = parse_fields(fields, opened[0].schema, source)
            header.fields, header.shape = own.text, own.shape
        storage = RepositoryStore(out, header, resume=resume, rows_per_part=part)
        with Progress(progress, "Harvest") as bar:
            harvested = run_harvest(scope, opened, storage, executor, most, bar)
    for warning in harvested._list_warnings():
        warn_caller(warning)
    return harvested


@explain_keywords
def estimate(
    query: SupportsIndex | str,
    *,
    client: Any = DEMO,
    fields: str | None = None,
    clients: Sequence[Any] | None = None,
    tokens: Sequence[Any] | None = None,
    twice: bool = False,
) -> Estimate:
    """Count the repositories of a harvest, and estimate its requests and hours.

    Parameters
    ----------
    query, client, fields, clients, tokens, twice
        As for :func:`harvest`.

    Returns
    -------
    Estimate
        The count, the pages, the requests, the hours, and the remaining budget.

    Raises
    ------
    GqlnbError
        If the query, the fields or an option are not valid, or the request fails.

    Examples
    --------
    >>> estimate(">20000").repositories
    1067
    """
    scope = Scope.parse(query)
    check_boolean("twice", twice)
    with ExitStack() as stack:
        opened = open_clients(stack, client, clients, tokens)
        own = ""
        if fields is not None:
            own = parse_fields(fields, opened[0].schema, opened[0].source).text
        text = scope.format_expression(order="")
        pool = group_clients(opened, text)
        client = pool.accounts[0].client.client
        (total,) = count_searches(client, [scope.format_expression()])
        for account in pool.accounts:
            account.budget = account.client.client.budget
    least, most = estimate_pages(total, twice=twice)
    budget = pool.budget or client.budget
    made = Estimate(text, client.source, total, least, most, budget, len(pool.accounts))
    if not own:
        return made
    page = compute_cost(Document.parse(build_query((True,), own)), {"n0": MAX_PAGE_SIZE})
    if page.nodes <= MAX_NODES:
        return replace(made, fields=own, page_points=page.points)
    batch = max(1, MAX_PAGE_SIZE * MAX_NODES // page.nodes)
    points = max(1, page.points * batch // MAX_PAGE_SIZE)
    return replace(made, fields=own, page_points=points, node_batch=batch)


def _choose_width(executor: object, width: int | None) -> int:
    """Return the most requests at once; raise OptionError if `executor` is not an executor."""
    if width is not None:
        check_whole_number("width", width, least=1)
    if executor is None:
        return width or 1
    if isinstance(executor, Executor):
        workers = getattr(executor, "_max_workers", None)  # of the pools in the standard library
        return width or (workers if isinstance(workers, int) else DEFAULT_WIDTH)
    hint = "a pool of threads, as ThreadPoolExecutor(4)"
    if hasattr(executor, "get_executor"):  # a Dask client, recognized without importing Dask
        hint = "that client's get_executor()"
    kind = repr(executor) if isinstance(executor, type) else type(executor).__name__
    kind = sanitize_text(kind, 60)
    msg = f"executor= takes an executor of concurrent.futures, not {kind}. Give {hint}."
    raise OptionError(msg)


def run_harvest(
    scope: Scope,
    clients: Sequence[Client],
    storage: RepositoryStore,
    executor: Executor | None,
    width: int,
    watch: ProgressCallback,
) -> Harvest:
    """Harvest a scope.

    Parameters
    ----------
    scope
        The repositories.
    clients
        The clients, at least one.
    storage
        The store, which may hold rows of an interrupted harvest.
    executor, width
        As for :func:`harvest`.
    watch
        As of :class:`HarvestRunner`.

    Returns
    -------
    Harvest
        The rows, with a report on their completeness.

    Raises
    ------
    GqlnbError
        As for :func:`harvest`.
    """
    is_remote = type(executor).__module__.partition(".")[0] == "distributed"
    if is_remote or isinstance(executor, ProcessPoolExecutor):
        for client in clients:  # raises TargetError if other processes cannot have it
            _ = PortableClient(client).pickled
    # pyarrow takes half a second to import, in which the first requests are on their way.
    background.start_thread(build_arrow_schema, "gqlnb-arrow")
    pool, query = AccountPool[PortableClient]([]), scope.format_expression(order="")
    with storage:
        if storage.state.coverage is None:
            pool = group_clients(clients, query)
            state = storage.state
            state.doubt = state.doubt or pool.doubt  # in later runs too
            windows = WindowHarvest(
                scope.build_source(),
                state,
                tasks=TASKS_PER_REQUEST * max(width, len(clients)),
                twice=storage.header.twice,
            )
            runner = HarvestRunner(scope, windows, storage, pool, executor, width, watch)
            try:
                runner.run()
            except GqlnbError as error:
                if storage.folder is None and storage.rows:
                    columns = ["name", "owner", "stargazers"]
                    rows = storage.load_table().select(columns).to_pylist()
                    error.result = Result(data={"repositories": rows}, source=clients[0].source)
                raise
            if runner.stopped:
                storage.complete_rows()
            whole = Gap(query, state.expected, storage.rows, state.doubt)
            coverage = state.build_coverage(
                storage.rows,
                gaps=(*([whole] if state.doubt else ()), *state.gaps),
                field_errors=dict(state.field_errors),
                stopped=runner.stopped,
            )
            storage.finish(coverage)
    coverage = storage.coverage
    return Harvest(
        query=query,
        source=clients[0].source,
        coverage=coverage,
        requests=storage.state.requests,
        folder=storage.folder,
        fields=storage.header.fields,
        notes=(*coverage.notes, *pool.notes),
        identities=tuple(pool.accounts),
        _storage=storage,
    )


# -- the clients, their GitHub accounts, and whether these see the same results

# Without variables, for which a client would fetch the schema.
ACCOUNT_QUERY = "{ viewer { login } search(query: %s, type: %s, first: 1) { %s } }"
COUNT_ROUNDS = 3  # in which counts that differ are read, as rows may change in between
MAX_NAMED = 4


class AccountAnswer(NamedTuple):
    """The login of a client, and the number of results of a search; None for unknown."""

    login: str | None
    results: int | None


def open_clients(
    stack: ExitStack, client: object, clients: Sequence[object] | None, tokens: Sequence[Any] | None
) -> list[Client]:
    """Return all clients of a harvest; those created here are closed with the stack.

    Returns
    -------
    list of Client
        At least one.

    Raises
    ------
    OptionError
        If `clients` or `tokens` is not valid.
    """
    for name, values in (("clients", clients), ("tokens", tokens)):
        if values is not None and (isinstance(values, str | bytes) or not values):
            msg = f"{name}= takes a list with at least one item."
            raise OptionError(msg)
    if clients is not None and tokens is not None:
        msg = "Give clients= or tokens=, not both."
        raise OptionError(msg)
    if tokens is None:
        return [stack.enter_context(open_client(each)) for each in clients or [client]]
    if not isinstance(client, str):
        msg = "tokens= needs the endpoint: give client= a name or a URL, such as client='github'."
        raise OptionError(msg)
    from gqlnb.client.client import connect

    register_connections()
    return [stack.enter_context(connect(client, token=token)) for token in tokens]


def group_clients(
    clients: Sequence[Client], query: str, search_type: str = "REPOSITORY"
) -> AccountPool[PortableClient]:
    """Return the accounts of clients, and compare the numbers of results they see of a search.

    Returns
    -------
    AccountPool
        The accounts, with a doubt if the numbers differ.

    Raises
    ------
    AuthError
        If all clients are refused.
    """
    if len(clients) == 1:
        return AccountPool([Account("client 1", [PortableClient(clients[0])])])
    answers, differ = _read_accounts(clients, query, search_type)
    accounts: dict[str, Account[PortableClient]] = {}
    counts: dict[str, int | None] = {}
    notes, refusals = list[str](), list[AuthError]()
    for number, (client, answer) in enumerate(zip(clients, answers, strict=True), 1):
        if isinstance(answer, AuthError):
            notes.append(f"Client {number} is not used: {answer}")
            refusals.append(answer)
            continue
        name = answer.login or f"client {number}"
        counts[name] = answer.results
        accounts.setdefault(name, Account(name, [])).clients.append(PortableClient(client))
    if not accounts:
        raise refusals[0]
    return AccountPool([*accounts.values()], notes, _explain_counts(counts) if differ else "")


def _read_accounts(
    clients: Sequence[Client], query: str, search_type: str
) -> tuple[list[AccountAnswer | AuthError], bool]:
    """Return the answer of each client, and whether they see different numbers of results."""
    read = partial(_read_account, query=query, search_type=search_type)
    seen: dict[int, list[int]] = {}
    # At once, though some may be of one account: GitHub accepts up to 100 requests of an account at
    # a time, and one after another they would take as long as a harvest of some 1,000 repositories.
    with open_thread_pool(len(clients)) as executor:
        for _ in range(COUNT_ROUNDS):
            answers = [*executor.map(read, clients)]
            for number, answer in enumerate(answers):
                if isinstance(answer, AccountAnswer) and answer.results is not None:
                    seen.setdefault(number, []).append(answer.results)
            # Counts that change meanwhile overlap.
            least, most = map(min, seen.values()), map(max, seen.values())
            if max(least, default=0) <= min(most, default=0):
                return answers, False
    return answers, True


def _read_account(client: Client, query: str, search_type: str) -> AccountAnswer | AuthError:
    """Return the login of a client, and the number of results it sees."""
    name = f"{search_type.lower()}Count"
    text = ACCOUNT_QUERY % (dump_valid_json(query).decode(), search_type, name)
    try:
        data = client.execute(text).data or {}
    except AuthError as error:
        return error
    except GqlnbError:
        data = {}
    # The token of an installation has no viewer.
    login = (data.get("viewer") or {}).get("login")
    return AccountAnswer(login, (data.get("search") or {}).get(name))


def _explain_counts(counts: Mapping[str, int | None]) -> str:
    """Return why rows may be missing."""
    known = [f"{name}: {count:,}" for name, count in counts.items() if count is not None]
    shown = ", ".join(known[:MAX_NAMED]) + (", ..." if len(known) > MAX_NAMED else "")
    return (
        f"The accounts see different numbers of results ({shown}), so those that only some of them "
        "see may be missing. Give all tokens the same rights, or harvest with one account."
    )
