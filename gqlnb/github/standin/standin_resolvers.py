"""The stand-in's resolvers, and pages of its connections with GitHub's boundaries and cursors.

A cursor of a search is ``base64("cursor:N")`` for the N-th item, counted from 1. A cursor of
another connection holds the sort key of its item and the item's number,
``base64("cursor:v2:" + MessagePack)``, so that paging continues behind it even if the item has
moved or is gone.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from graphql import GraphQLError

from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.query_cost import iter_fields
from gqlnb.github.repositories import Language, Owner, Repository
from gqlnb.github.search_syntax import MAX_PAGE_SIZE
from gqlnb.github.standin.rate_limits import CURRENT_METER, RequestMeter
from gqlnb.github.standin.repository_columns import RepositoryRows, make_sort_key, sort_rows
from gqlnb.github.standin.simulation import DataFaults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gqlnb.github.standin.repository_columns import Population
    from gqlnb.github.standin.simulation import Simulation

__all__ = [
    "ConnectionPage",
    "CursorCodec",
    "KeysetCursors",
    "OffsetCursors",
    "StandInResolvers",
    "build_page",
    "make_github_error",
    "require_boundary",
]

_RESOURCES_EXCEEDED = "Resource limits for this query exceeded."
_OFFSET_PATTERN = re.compile(rb"cursor:(\d{1,9})")
_KEYSET_PREFIX = b"cursor:v2:"
Resolver = Callable[..., Any]  # (root, args, context); what a field may be is in the SDL
_STANDARD_ALPHABET = str.maketrans("-_", "+/")


def make_github_error(message: str, kind: str) -> GraphQLError:
    """Return an error of one of GitHub's types.

    An exception can hold the type only in ``extensions``; the schema's results have it beside the
    message, where GitHub writes it.
    """
    return GraphQLError(message, extensions={"type": kind})


class CursorCodec(Protocol):
    """Encodes and decodes the cursors of a connection; places are counted from 0."""

    def encode_cursor(self, place: int) -> str:
        """Return the cursor of the item at a place."""

    def encode_cursors(self, places: Sequence[int]) -> list[str]:
        """Return the cursors of the items at some places."""

    def find_after(self, text: str) -> int:
        """Return the place behind the item of a cursor.

        Raises
        ------
        GraphQLError
            If the cursor is not valid.
        """

    def find_before(self, text: str) -> int:
        """Return the place of a cursor, also if its item is gone.

        Raises
        ------
        GraphQLError
            If the cursor is not valid.
        """


class OffsetCursors:
    """Cursors of a search: the place itself, counted from 1."""

    def encode_cursor(self, place: int) -> str:
        """Return the cursor of the item at a place."""
        return self.encode_cursors([place])[0]

    def encode_cursors(self, places: Sequence[int]) -> list[str]:
        """Return the cursors of the items at some places."""
        return [b64encode(b"cursor:%d" % (place + 1)).decode() for place in places]

    def find_after(self, text: str) -> int:
        """Return the place behind the item of a cursor."""
        try:
            match = _OFFSET_PATTERN.fullmatch(b64decode(text, validate=True))
        except ValueError:  # binascii.Error is one
            match = None
        if match is None:
            raise _make_cursor_error(text)
        return int(match[1])

    def find_before(self, text: str) -> int:
        """Return the place of the item of a cursor."""
        return self.find_after(text) - 1


@dataclass(frozen=True, slots=True)
class KeysetCursors:
    """Cursors that hold the sort key of their items.

    Attributes
    ----------
    get_key
        Returns the unique key of the item at a place.
    size
        The number of items.
    key_type
        The type of a key, such as ``tuple[str, int]``.
    descending
        Whether the largest key comes first.
    """

    get_key: Callable[[int], tuple[Any, ...]]
    size: int
    key_type: Any
    descending: bool = False

    def encode_cursor(self, place: int) -> str:
        """Return the cursor of the item at a place."""
        return urlsafe_b64encode(
            _KEYSET_PREFIX + msgspec.msgpack.encode(self.get_key(place))
        ).decode()

    def find_after(self, text: str) -> int:
        """Return the place behind a cursor, also if its item is gone."""
        key = self._decode_cursor(text)
        if self.descending:
            return self.size - bisect_left(range(self.size), key, key=self._get_ascending_key)
        return bisect_right(range(self.size), key, key=self.get_key)

    def find_before(self, text: str) -> int:
        """Return the place of a cursor, also if its item is gone."""
        key = self._decode_cursor(text)
        if self.descending:
            return self.size - bisect_right(range(self.size), key, key=self._get_ascending_key)
        return bisect_left(range(self.size), key, key=self.get_key)

    def encode_cursors(self, places: Sequence[int]) -> list[str]:
        """Return the cursors of the items at some places."""
        return [self.encode_cursor(place) for place in places]

    def _get_ascending_key(self, place: int) -> tuple[Any, ...]:
        return self.get_key(self.size - 1 - place)

    def _decode_cursor(self, text: str) -> tuple[Any, ...]:
        # GitHub's cursors are in the URL-safe alphabet now and then, so both are read.
        padded = text.translate(_STANDARD_ALPHABET) + "=" * (-len(text) % 4)
        try:
            raw = b64decode(padded, validate=True)
            if raw.startswith(_KEYSET_PREFIX):
                key: tuple[Any, ...] = msgspec.msgpack.decode(
                    raw.removeprefix(_KEYSET_PREFIX), type=self.key_type
                )
                return key
        except (ValueError, msgspec.DecodeError):
            pass
        raise _make_cursor_error(text)


def _make_cursor_error(text: str) -> GraphQLError:
    message = f"`{sanitize_text(text, 80)}` does not appear to be a valid cursor."
    return make_github_error(message, "INVALID_CURSOR_ARGUMENTS")


_OFFSET_CURSORS = OffsetCursors()


@dataclass(frozen=True, slots=True)
class ConnectionPage:
    """A page of a connection.

    Attributes
    ----------
    name
        The field of the connection, for messages.
    items
        All items that can be reached by paging.
    start, stop
        The page is ``items[start:stop]``; `start` is None where neither `first` nor `last` was
        given.
    total
        The number of all items, also beyond reach.
    shown_items
        The number of the item at each place of the page, None for a missing one; None where each
        item is at its own place.
    max_nodes
        The number of nodes within the resource limits; the others are errors. None for all.
    cursors
        The codec of the cursors.
    """

    name: str
    items: Sequence[Any]
    start: int | None
    stop: int
    total: int
    shown_items: Sequence[int | None] | None = None
    max_nodes: int | None = None
    cursors: CursorCodec = _OFFSET_CURSORS

    @property
    def nodes(self) -> tuple[Any, ...]:
        """The items of this page.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given; counts alone need neither.
        """
        return self._select_items()[1]

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The items of this page, each with its cursor.

        Raises
        ------
        GraphQLError
            If neither `first` nor `last` was given.
        """
        places, nodes = self._select_items()
        cursors = self.cursors.encode_cursors(places)
        return [{"cursor": c, "node": node} for c, node in zip(cursors, nodes, strict=True)]

    def _select_items(self) -> tuple[Sequence[int], tuple[Any, ...]]:
        """Return the places of this page, counted from 0, and their items."""
        if self.start is None:
            raise _make_boundary_error(self.name)
        places = range(self.start, self.stop)
        if self.shown_items is None and self.max_nodes is None:
            return places, tuple(self.items[self.start : self.stop])
        shown: list[tuple[int, Any]] = []
        for number, place in enumerate(places):
            item = place if self.shown_items is None else self.shown_items[number]
            if self.max_nodes is not None and number >= self.max_nodes:
                error = make_github_error(_RESOURCES_EXCEEDED, "RESOURCE_LIMITS_EXCEEDED")
                shown.append((place, error))
            elif item is not None:
                shown.append((place, self.items[item]))
        return [place for place, _ in shown], tuple(item for _, item in shown)

    @property
    def page_info(self) -> dict[str, Any]:
        """The fields of ``PageInfo``."""
        start, stop = self.start or 0, self.stop
        is_bounded, is_filled = self.start is not None, stop > start
        return {
            "startCursor": self.cursors.encode_cursor(start) if is_filled else None,
            "endCursor": self.cursors.encode_cursor(stop - 1) if is_filled else None,
            "hasNextPage": is_bounded and stop < len(self.items),
            "hasPreviousPage": is_bounded and start > 0,
        }


def build_page(
    name: str,
    items: Sequence[Any],
    args: Mapping[str, Any],
    *,
    total: int | None = None,
    cursors: CursorCodec = _OFFSET_CURSORS,
) -> ConnectionPage:
    """Return the page of `items` that the arguments ask for.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    items
        All items that can be reached by paging.
    args
        ``first`` or ``last``, not both, 0 to 100; ``after`` and ``before``, cursors, both
        excluded.
    total
        The number of all items; by default that of `items`.
    cursors
        The codec of the cursors; by default that of a search.

    Returns
    -------
    ConnectionPage
        The page, without the faults of a simulation.

    Raises
    ------
    GraphQLError
        If a boundary is out of range, both are given, or a cursor is not valid.
    """
    first, last = _parse_page_size(name, "first", args), _parse_page_size(name, "last", args)
    if first is not None and last is not None:
        message = f"Passing both `first` and `last` to the `{name}` connection is not supported."
        raise make_github_error(message, "UNPROCESSABLE")
    after, before = args.get("after"), args.get("before")
    start = 0 if after is None else min(cursors.find_after(after), len(items))
    stop = len(items) if before is None else min(cursors.find_before(before), len(items))
    stop = max(start, stop)
    count = len(items) if total is None else total
    if first is not None:
        return ConnectionPage(name, items, start, min(stop, start + first), count, cursors=cursors)
    if last is not None:
        return ConnectionPage(name, items, max(start, stop - last), stop, count, cursors=cursors)
    return ConnectionPage(name, items, None, 0, count)


def require_boundary(name: str, resolve: Resolver) -> Callable[..., Any]:
    """Return a resolver that refuses to list the items of a connection without a boundary.

    Parameters
    ----------
    name
        The field of the connection, for messages.
    resolve
        Called as ``resolve(root, args, context)`` where `first` or `last` is given, or only counts
        are selected.

    Returns
    -------
    function
        A resolver in graphql-core's convention, with ``info``. GitHub makes the connection null and
        not its items, so the refusal has to see the selection of the connection.
    """

    def resolve_bounded(root: Any, info: Any, /, **args: Any) -> Any:
        if args.get("first") is None and args.get("last") is None:
            sets = [field.selection_set for field in info.field_nodes if field.selection_set]
            values = info.variable_values  # graphql-core 3.3 wraps them with their sources
            fields = iter_fields(sets, info.fragments, getattr(values, "coerced", values))
            if any(field.name.value in {"edges", "nodes"} for field in fields):
                raise _make_boundary_error(name)
        return resolve(root, args, info.context)

    return resolve_bounded


def _make_boundary_error(name: str) -> GraphQLError:
    message = (
        f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
    )
    return make_github_error(message, "MISSING_PAGINATION_BOUNDARIES")


def _parse_page_size(name: str, word: str, args: Mapping[str, Any]) -> int | None:
    size: int | None = args.get(word)
    if size is not None and size > MAX_PAGE_SIZE:
        message = (
            f"Requesting {size} records on the `{name}` connection exceeds the `{word}` limit "
            f"of {MAX_PAGE_SIZE} records."
        )
        raise make_github_error(message, "EXCESSIVE_PAGINATION")
    if size is not None and size < 0:
        message = f"`{word}` on the `{name}` connection is less than zero."
        raise make_github_error(message, "UNPROCESSABLE")
    return size


_GITHUB_URL = "https://github.com"
_CACHED_SEARCHES = 64  # paging through ten pages searches once
_MAX_NODE_IDS = 100  # ids of one `nodes`
_ORDER_COLUMNS = {
    "ID": "id",
    "CREATED_AT": "created",
    "NAME": "name",
    "PUSHED_AT": "pushed",
    "STARGAZERS": "stars",
    "UPDATED_AT": "pushed",
}

_CURSOR_KEY_TYPES: dict[str, Any] = {"id": tuple[int], "stars": tuple[int, int]}


class StandInResolvers:
    """The resolvers over one population.

    Parameters
    ----------
    population
        The repositories.
    viewer
        The account of the token in use.
    simulation
        The faults to show.
    """

    def __init__(self, population: Population, viewer: Owner, simulation: Simulation) -> None:
        self._faults = DataFaults(population, simulation, viewer.login)
        self._viewer = viewer
        self._simulation = simulation
        # Drift changes the answer of every search, so it cannot be cached.
        find = self._faults.find_repositories
        self._find_cached = find if simulation.drift else lru_cache(_CACHED_SEARCHES)(find)

    @property
    def _population(self) -> Population:
        return self._faults.population

    def build_resolvers(self) -> dict[str, dict[str, Resolver]]:
        """Return the resolvers by type and field."""
        owner = {
            **_NODE_FIELDS,
            **_URL_FIELDS,
            "repository": lambda root, args, _: self._find_repository(root.login, args["name"]),
        }
        return {
            "Query": {
                "rateLimit": resolve_rate_limit,
                "viewer": lambda *_: self._viewer,
                "repository": self.resolve_repository,
                "repositoryOwner": lambda _root, args, _: self._find_owner(args["login"]),
                "user": lambda _root, args, _: self._resolve_account(args["login"], "User"),
                "organization": lambda _root, args, _: self._resolve_account(
                    args["login"], "Organization"
                ),
                "node": lambda _root, args, _: (
                    self._find_node(args["id"]) or _make_node_error(args["id"])
                ),
                "nodes": self.resolve_nodes,
            },
            "Repository": {**_REPOSITORY_FIELDS, "stargazers": self.resolve_stargazers},
            "User": {**owner, "isViewer": lambda root, *_: root == self._viewer},
            "Organization": owner,
            "Language": dict(_NODE_FIELDS),
            "SearchResultItemConnection": {
                **_CONNECTION_FIELDS,
                "repositoryCount": lambda root, *_: root.total,
                **{f"{kind}Count": lambda *_: 0 for kind in _OTHER_SEARCH_KINDS},
            },
            "RepositoryConnection": {
                **_CONNECTION_FIELDS,
                "totalCount": lambda root, *_: root.total,
            },
            **{name: {"__resolveType": _resolve_type} for name in _ABSTRACT_TYPES},
        }

    def build_connection_resolvers(self) -> dict[str, Resolver]:
        """Return the resolvers of connections, by type and field."""
        return {
            "Query.search": self.resolve_search,
            "User.repositories": self.resolve_repositories,
            "Organization.repositories": self.resolve_repositories,
        }

    def resolve_search(
        self, _root: object, args: dict[str, Any], _context: object
    ) -> ConnectionPage:
        """Resolve ``Query.search``: the first thousand can be reached, all are counted.

        The stand-in holds repositories only, so that searches of other types find nothing.

        Raises
        ------
        GraphQLError
            If the search expression or the page is not valid.
        """
        if args["type"] != "REPOSITORY":
            return build_page("search", (), args)
        text, simulation, message = args["query"], self._simulation, None
        try:
            matches = self._find_cached(text)
        except QueryError as error:
            message = str(error)
        if message is not None:  # outside the block, so that nothing is chained to it
            raise make_github_error(message, "UNPROCESSABLE")
        page = build_page("search", matches.items, args, total=matches.total)
        shown = None
        if page.start is not None and (simulation.dropped or simulation.duplicated):
            shown = self._faults.choose_shown_items(text, range(page.start, page.stop), page.items)
        if shown is None and simulation.resources is None:
            return page
        return replace(page, shown_items=shown, max_nodes=simulation.resources)

    def resolve_repository(
        self, _root: object, args: dict[str, Any], _context: object
    ) -> Repository:
        """Resolve ``Query.repository``, in any case of owner and name.

        Raises
        ------
        GraphQLError
            If it is not found.
        """
        owner, name = args["owner"], args["name"]
        repository = self._find_repository(owner, name)
        if repository is None:
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise make_github_error(message, "NOT_FOUND")
        return repository

    def resolve_nodes(self, _root: object, args: dict[str, Any], _context: object) -> list[Any]:
        """Resolve ``Query.nodes``; an unknown id gives an error in the place of its object.

        Raises
        ------
        GraphQLError
            If there are too many ids.
        """
        count = len(args["ids"])
        if count > _MAX_NODE_IDS:
            message = (
                f"You may not provide more than {_MAX_NODE_IDS} node ids; you provided {count}."
            )
            raise make_github_error(message, "ARGUMENT_LIMIT")
        return [self._find_node(node_id) or _make_node_error(node_id) for node_id in args["ids"]]

    def resolve_repositories(
        self, root: Owner, args: dict[str, Any], _context: object
    ) -> ConnectionPage:
        """Resolve the repositories of an account."""
        place = self._population.owners.find_place(root.login)
        # The viewer may be an account that is not in the population.
        rows = (
            np.empty(0, dtype=np.int32)
            if place is None
            else self._population.find_owned_rows(place)
        )
        if args.get("isArchived") is not None:
            rows = rows[self._population.archived[rows] == args["isArchived"]]
        # The data hold neither forks nor private repositories, nor other affiliations.
        if (
            args.get("isFork")
            or args.get("privacy") == "PRIVATE"
            or "OWNER" not in (args.get("ownerAffiliations") or ("OWNER",))
        ):
            rows = rows[:0]
        order = args.get("orderBy") or {"field": "ID", "direction": "ASC"}
        return _build_ordered_page(
            self._population, rows, _ORDER_COLUMNS[order["field"]], order["direction"], args
        )

    def resolve_stargazers(
        self, root: Repository, args: dict[str, Any], _context: object
    ) -> dict[str, int]:
        """Resolve ``Repository.stargazers``.

        Raises
        ------
        GraphQLError
            If the stand-in is restricted and the repository is not the viewer's.
        """
        own = root.owner.login.lower() == self._viewer.login.lower()
        if self._simulation.restricted and not own:
            # The message of GitHub's REST API; that of its GraphQL API is not public.
            message = "You do not have permission to view the stargazers of this repository"
            raise make_github_error(message, "FORBIDDEN")
        if args:  # the accounts are not known, but a page that is not valid is an error anyway
            build_page("stargazers", (), args)
        return {"totalCount": root.stars}

    def _find_repository(self, owner: str, name: str) -> Repository | None:
        row = self._population.find_row(f"{owner}/{name}")
        return None if row is None else self._population[row]

    def _find_owner(self, login: str) -> Owner | None:
        if login.lower() == self._viewer.login.lower():
            return self._viewer
        return self._population.find_owner(login)

    def _resolve_account(self, login: str, kind: str) -> Owner:
        found = self._find_owner(login)
        if found is None or found.kind != kind:
            article = "an" if kind == "Organization" else "a"
            message = f"Could not resolve to {article} {kind} with the login of '{login}'."
            raise make_github_error(message, "NOT_FOUND")
        return found

    def _find_node(self, node_id: str) -> Repository | Owner | Language | None:
        return (
            self._viewer if node_id == self._viewer.node_id else self._population.find_node(node_id)
        )


def _build_ordered_page(
    population: Population, rows: NDArray[Any], column: str, direction: str, args: dict[str, Any]
) -> ConnectionPage:
    """Return the page of some rows in an order, with cursors that hold their sort keys."""
    descending = direction == "DESC"
    rows = sort_rows(population, rows, column, descending=descending)
    keys = KeysetCursors(
        lambda place: make_sort_key(population, int(rows[place]), column),
        len(rows),
        _CURSOR_KEY_TYPES.get(column, tuple[str, int]),
        descending,
    )
    return build_page("repositories", RepositoryRows(population, rows), args, cursors=keys)


def resolve_rate_limit(_root: object, _args: dict[str, Any], _context: object) -> dict[str, Any]:
    """Resolve ``Query.rateLimit``."""
    return (CURRENT_METER.get() or RequestMeter()).build_fields()


def _make_node_error(node_id: str) -> Exception:
    message = f"Could not resolve to a node with the global id of '{node_id}'"
    return make_github_error(message, "NOT_FOUND")


def _resolve_type(value: Repository | Owner | Language, _context: object) -> str:
    return value.kind if isinstance(value, Owner) else type(value).__name__


_ABSTRACT_TYPES = ("Node", "RepositoryOwner", "SearchResultItem", "Starrable")
_OTHER_SEARCH_KINDS = ("code", "discussion", "issue", "user", "wiki")
# Fields that are not listed are read by the default resolver, as attributes of the same name.
_NODE_FIELDS: dict[str, Resolver] = {"id": lambda root, *_: root.node_id}
_URL_FIELDS: dict[str, Resolver] = {
    "resourcePath": lambda root, *_: root.path,
    "url": lambda root, *_: _GITHUB_URL + root.path,
}
_CONNECTION_FIELDS: dict[str, Resolver] = {
    "pageInfo": lambda root, *_: root.page_info,
}
_REPOSITORY_FIELDS: dict[str, Resolver] = {
    **_NODE_FIELDS,
    **_URL_FIELDS,
    "createdAt": lambda root, *_: root.created_at,
    "forkCount": lambda root, *_: root.forks,
    "isArchived": lambda root, *_: root.archived,
    "isFork": lambda *_: False,
    "isInOrganization": lambda root, *_: root.owner.kind == "Organization",
    "isPrivate": lambda *_: False,
    "nameWithOwner": lambda root, *_: root.full_name,
    "primaryLanguage": lambda root, *_: root.language,
    "pushedAt": lambda root, *_: root.pushed_at,
    "stargazerCount": lambda root, *_: root.stars,
    "updatedAt": lambda root, *_: root.pushed_at,
    "visibility": lambda *_: "PUBLIC",
}
