"""The resolvers of the stand-in: what each field answers from a population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gqlnb.errors import QueryError
from gqlnb.github.columns import Rows
from gqlnb.github.data import Language, Owner, Repository
from gqlnb.github.finding import order_by, sorting
from gqlnb.github.metering import METER, Meter
from gqlnb.github.paging import Keyset, Page, page, refused
from gqlnb.github.simulation import Faults

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gqlnb.github.finding import Found, Population
    from gqlnb.github.simulation import Simulation

__all__ = ["Answers"]

_HOST = "https://github.com"
_SEARCHES_KEPT = 64  # a walk over ten pages searches once
_IDS = 100  # of one `nodes`
_KEYS = {
    "ID": "id",
    "CREATED_AT": "created",
    "NAME": "name",
    "PUSHED_AT": "pushed",
    "STARGAZERS": "stars",
    "UPDATED_AT": "pushed",
}

_KINDS: dict[str, Any] = {"id": tuple[int], "stars": tuple[int, int]}

Resolver = Callable[..., Any]


class Answers:
    """The resolvers over one population.

    Parameters
    ----------
    population
        What there is.
    viewer
        Who asks.
    simulation
        Which faults to show.
    """

    def __init__(self, population: Population, viewer: Owner, simulation: Simulation) -> None:
        self._faults = Faults(population, simulation, viewer.login)
        self._viewer = viewer
        self._simulation = simulation
        find = self._faults.find
        self._found = find if simulation.drift else lru_cache(_SEARCHES_KEPT)(find)

    @property
    def _population(self) -> Population:
        return self._faults.population

    def resolvers(self) -> dict[str, dict[str, Resolver]]:
        """Return the resolvers by type and field."""
        owner = {
            **_NODE,
            **_PLACE,
            "repository": lambda root, args, _: self._named(root.login, args["name"]),
        }
        return {
            "Query": {
                "rateLimit": rate_limit,
                "viewer": lambda *_: self._viewer,
                "repository": self.repository,
                "repositoryOwner": lambda _root, args, _: self._owner(args["login"]),
                "user": lambda _root, args, _: self._account(args["login"], "User"),
                "organization": lambda _root, args, _: self._account(args["login"], "Organization"),
                "node": lambda _root, args, _: self._by_id(args["id"]) or _no_node(args["id"]),
                "nodes": self.nodes,
            },
            "Repository": {**_REPOSITORY, "stargazers": self.stargazers},
            "User": {**owner, "isViewer": lambda root, *_: root == self._viewer},
            "Organization": owner,
            "Language": dict(_NODE),
            "SearchResultItemConnection": {
                **_CONNECTION,
                "repositoryCount": lambda root, *_: root.total,
                **{f"{kind}Count": lambda *_: 0 for kind in _OTHERS},
            },
            "RepositoryConnection": {**_CONNECTION, "totalCount": lambda root, *_: root.total},
            **{name: {"__resolveType": _type_name} for name in _ABSTRACT},
        }

    def connections(self) -> dict[str, Resolver]:
        """Return the resolvers of what is paged, by type and field."""
        return {
            "Query.search": self.search,
            "User.repositories": self.repositories,
            "Organization.repositories": self.repositories,
        }

    def search(self, _root: object, args: dict[str, Any], _context: object) -> Page:
        """Resolve ``Query.search``: the first thousand can be reached, all are counted.

        Nothing but repositories is there to be found: of another type there are none.
        """
        if args["type"] != "REPOSITORY":
            return page("search", (), args)
        found = self._matches(args["query"])
        made = page("search", found.items, args, total=found.total)
        return self._with_faults(args["query"], made)

    def repository(self, _root: object, args: dict[str, Any], _context: object) -> Repository:
        """Resolve ``Query.repository``, in any case of owner and name."""
        owner, name = args["owner"], args["name"]
        found = self._named(owner, name)
        if found is None:
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise refused(message, "NOT_FOUND")
        return found

    def nodes(self, _root: object, args: dict[str, Any], _context: object) -> list[Any]:
        """Resolve ``Query.nodes``: an id that names nothing is null with an error of its own."""
        count = len(args["ids"])
        if count > _IDS:
            message = f"You may not provide more than {_IDS} node ids; you provided {count}."
            raise refused(message, "ARGUMENT_LIMIT")
        return [self._by_id(node_id) or _no_node(node_id) for node_id in args["ids"]]

    def repositories(self, root: Owner, args: dict[str, Any], _context: object) -> Page:
        """Resolve the repositories of an account."""
        place = self._population.owners.find(root.login)
        rows = np.empty(0, dtype=np.int32) if place is None else self._population.owned(place)
        if args.get("isArchived") is not None:
            rows = rows[self._population.archived[rows] == args["isArchived"]]
        if (
            args.get("isFork")
            or args.get("privacy") == "PRIVATE"
            or "OWNER" not in (args.get("ownerAffiliations") or ("OWNER",))
        ):
            rows = rows[:0]
        order = args.get("orderBy") or {"field": "ID", "direction": "ASC"}
        return _ordered(self._population, rows, _KEYS[order["field"]], order["direction"], args)

    def stargazers(
        self, root: Repository, args: dict[str, Any], _context: object
    ) -> dict[str, int]:
        """Resolve ``Repository.stargazers``, or refuse it as GitHub does now for others' ones."""
        own = root.owner.login.lower() == self._viewer.login.lower()
        if self._simulation.restricted and not own:
            # The words of GitHub's REST API; those of its GraphQL API are not public.
            message = "You do not have permission to view the stargazers of this repository"
            raise refused(message, "FORBIDDEN")
        if args:
            page("stargazers", (), args)  # who they are is not known; a wrong page is wrong anyway
        return {"totalCount": root.stars}

    def _matches(self, text: str) -> Found:
        try:
            return self._found(text)
        except QueryError as error:
            message = str(error)
        raise refused(message, "UNPROCESSABLE")

    def _with_faults(self, text: str, made: Page) -> Page:
        """Return a page of a search with the faults that are asked for."""
        simulation, shown = self._simulation, None
        if made.start is not None and (simulation.dropped or simulation.duplicated):
            shown = self._faults.shown(text, range(made.start, made.stop), made.items)
        return replace(made, shown=shown, most=simulation.resources)

    def _named(self, owner: str, name: str) -> Repository | None:
        row = self._population.named(f"{owner}/{name}")
        return None if row is None else self._population[row]

    def _owner(self, login: str) -> Owner | None:
        if login.lower() == self._viewer.login.lower():
            return self._viewer
        return self._population.account(login)

    def _account(self, login: str, kind: str) -> Owner:
        found = self._owner(login)
        if found is None or found.kind != kind:
            article = "an" if kind == "Organization" else "a"
            message = f"Could not resolve to {article} {kind} with the login of '{login}'."
            raise refused(message, "NOT_FOUND")
        return found

    def _by_id(self, node_id: str) -> Repository | Owner | Language | None:
        return self._viewer if node_id == self._viewer.node_id else self._population.node(node_id)


def _ordered(
    population: Population, rows: NDArray[Any], column: str, direction: str, args: dict[str, Any]
) -> Page:
    """Return the page of some rows in an order, with cursors that name their places in it."""
    descending = direction == "DESC"
    rows = order_by(population, rows, column, descending=descending)
    keys = Keyset(
        lambda place: sorting(population, int(rows[place]), column),
        len(rows),
        _KINDS.get(column, tuple[str, int]),
        descending,
    )
    return page("repositories", Rows(population, rows), args, cursors=keys)


def rate_limit(_root: object, _args: dict[str, Any], _context: object) -> dict[str, Any]:
    """Resolve ``Query.rateLimit``."""
    return (METER.get() or Meter()).members()


def _no_node(node_id: str) -> Exception:
    """Return what stands in the place of an object that is not there: its error."""
    message = f"Could not resolve to a node with the global id of '{node_id}'"
    return refused(message, "NOT_FOUND")


def _type_name(value: Repository | Owner | Language, _context: object) -> str:
    return value.kind if isinstance(value, Owner) else type(value).__name__


_ABSTRACT = ("Node", "RepositoryOwner", "SearchResultItem", "Starrable")
_OTHERS = ("code", "discussion", "issue", "user", "wiki")
_NODE: dict[str, Resolver] = {"id": lambda root, *_: root.node_id}
_PLACE: dict[str, Resolver] = {
    "resourcePath": lambda root, *_: root.path,
    "url": lambda root, *_: _HOST + root.path,
}
_CONNECTION: dict[str, Resolver] = {
    "edges": lambda root, *_: root.edges,
    "nodes": lambda root, *_: root.nodes,
    "pageInfo": lambda root, *_: root.info,
}
_REPOSITORY: dict[str, Resolver] = {
    **_NODE,
    **_PLACE,
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
