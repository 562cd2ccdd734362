"""A stand-in for GitHub's GraphQL API: its schema over the embedded snapshot, without a network."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gqlnb.engine.schema import Schema
from gqlnb.errors import QueryError
from gqlnb.github.data import SNAPSHOT, Language, Owner, Repositories, Repository, embedded
from gqlnb.github.paging import Page, bounded, page, refused
from gqlnb.github.search import REACH, find, order_by, parse
from gqlnb.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from gqlnb.engine.budget import Budget
    from gqlnb.model.document import Document
    from gqlnb.model.limits import Limits

__all__ = ["StandIn", "schema", "service"]

SOURCE = f"embedded snapshot of {SNAPSHOT}"
_HOST = "https://github.com"
_SEARCHES_KEPT = 64  # a walk over ten pages searches once
_MEMBERS = ("type", "path", "extensions", "locations", "message")
_KEYS = {"NAME": "name", "PUSHED_AT": "updated", "STARGAZERS": "stars"}

SYNTHETIC: Mapping[str, str] = MappingProxyType(
    {
        "owner.__typename": (
            "User or Organization; taken from the sources for 748 of 2,893 owners, else chosen by "
            "the SHA-256 of the login, in the proportion of those that are known."
        ),
        "id": "Made from owner and name, login or language; none of them is an id of GitHub's.",
        "viewer": "An account of the stand-in's own, named by service(viewer=...).",
    }
)


class StandIn(Schema):
    """A GitHub-shaped service in this process; :func:`service` makes one.

    Attributes
    ----------
    source
        What the answers are made from, in words.
    synthetic
        What is not taken from the sources but made, and by which rule, by field.
    """

    source = SOURCE
    synthetic = SYNTHETIC

    def __init__(self, answers: Answers) -> None:
        super().__init__(_sdl(), answers.resolvers())
        for place, resolve in answers.connections().items():
            kind, name = place.split(".")
            made: Any = self.graphql.type_map[kind]
            made.fields[name].resolve = bounded(name, resolve)

    def start(
        self,
        document: Document,
        variables: Mapping[str, Any],
        *,
        context: Any = None,
        root: Any = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
    ) -> Result | Awaitable[Result]:
        """Do as a Schema, with errors in GitHub's form."""
        begun = super().start(
            document, variables, context=context, root=root, limits=limits, budget=budget
        )
        return _in_their_form(begun) if isinstance(begun, Result) else _later(begun)

    def __repr__(self) -> str:
        return f"StandIn({self.source!r})"


async def _later(begun: Awaitable[Result]) -> Result:
    return _in_their_form(await begun)


def _in_their_form(result: Result) -> Result:
    """Return a result with its errors in GitHub's form."""
    return replace(result, errors=tuple(map(_error, result.errors))) if result.errors else result


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error with ``type`` beside the message, its members in GitHub's order."""
    extensions = dict(error.get("extensions") or {})
    members = {**error, "extensions": extensions, "type": extensions.pop("type", None)}
    return {name: members[name] for name in _MEMBERS if members.get(name)}


def service(*, viewer: str = "demo", restricted: bool = False) -> StandIn:
    """Return a stand-in for GitHub's GraphQL API that answers from the embedded snapshot.

    Parameters
    ----------
    viewer
        The login that ``{ viewer { login } }`` answers: the account the token in use belongs to.
    restricted
        Whether ``stargazers`` is refused with FORBIDDEN, as GitHub has refused it since mid-2026
        for repositories that the viewer does not administer. ``stargazerCount`` is answered always.

    Returns
    -------
    StandIn
        A :class:`~gqlnb.engine.schema.Schema`: execute it here, give it to a client, serve it.

    Notes
    -----
    The snapshot is made of top lists: the counts of its searches are not GitHub's. The service
    keeps no state; no token budget is simulated.

    Examples
    --------
    >>> github = service()
    >>> github.execute('{ repository(owner: "torvalds", name: "linux") { stargazerCount } }').data
    {'repository': {'stargazerCount': 243608}}
    """
    return StandIn(Answers(embedded(), Owner(viewer, "User"), restricted))


def schema() -> Schema:
    """Return the schema of the stand-in without resolvers: to check queries and to look around."""
    return Schema(_sdl())


@lru_cache(1)
def _sdl() -> str:
    return (files("gqlnb.github") / "schema.graphql").read_text(encoding="utf-8")


class Answers:
    """The resolvers over one set of repositories.

    Parameters
    ----------
    repositories
        What there is.
    viewer
        Who asks.
    restricted
        Whether ``stargazers`` is refused.
    """

    def __init__(self, repositories: Repositories, viewer: Owner, restricted: bool) -> None:
        self._all = repositories
        self._viewer = viewer
        self._restricted = restricted
        self._found = lru_cache(_SEARCHES_KEPT)(self._find)

    def resolvers(self) -> dict[str, dict[str, Callable[..., Any]]]:
        """Return the resolvers by type and field."""
        owner = {
            **_NODE,
            **_PLACE,
            "repository": lambda root, args, _: self._named(root.login, args["name"]),
        }
        return {
            "Query": {
                "viewer": lambda *_: self._viewer,
                "repository": self.repository,
                "repositoryOwner": lambda _root, args, _: self._owner(args["login"]),
                "user": lambda _root, args, _: self._account(args["login"], "User"),
                "organization": lambda _root, args, _: self._account(args["login"], "Organization"),
                "node": lambda _root, args, _: self._node(args["id"]),
                "nodes": self.nodes,
            },
            "Repository": {**_REPOSITORY, "stargazers": self.stargazers},
            "User": {**owner, "isViewer": lambda root, *_: root == self._viewer},
            "Organization": owner,
            "Language": dict(_NODE),
            "SearchResultItemConnection": {
                **_CONNECTION,
                "repositoryCount": lambda root, *_: root.total,
            },
            "RepositoryConnection": {**_CONNECTION, "totalCount": lambda root, *_: root.total},
            **{name: {"__resolveType": _type_name} for name in _ABSTRACT},
        }

    def connections(self) -> dict[str, Callable[..., Any]]:
        """Return the resolvers of what is paged, by type and field."""
        return {
            "Query.search": self.search,
            "User.repositories": self.repositories,
            "Organization.repositories": self.repositories,
        }

    def search(self, _root: object, args: dict[str, Any], _context: object) -> Page:
        """Resolve ``Query.search``: the first thousand can be reached, all are counted."""
        try:
            found = self._found(args["query"])
        except QueryError as error:
            message = str(error)
        else:
            return page("search", found[:REACH], args, total=len(found))
        msg = "UNPROCESSABLE"
        raise refused(msg, message)

    def repository(self, _root: object, args: dict[str, Any], _context: object) -> Repository:
        """Resolve ``Query.repository``, in any case of owner and name."""
        owner, name = args["owner"], args["name"]
        found = self._named(owner, name)
        if found is None:
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            msg = "NOT_FOUND"
            raise refused(msg, message)
        return found

    def nodes(self, _root: object, args: dict[str, Any], _context: object) -> list[Any]:
        """Resolve ``Query.nodes``: an id that names nothing is null with an error of its own."""
        return [self._by_id(node_id) or _no_node(node_id) for node_id in args["ids"]]

    def repositories(self, root: Owner, args: dict[str, Any], _context: object) -> Page:
        """Resolve the repositories of an account."""
        rows: Sequence[Repository] = self._all.by_owner.get(root.login.lower(), ())
        order = args.get("orderBy")
        if order is not None:
            descending = order["direction"] == "DESC"
            rows = order_by(rows, _KEYS[order["field"]], descending=descending)
        return page("repositories", rows, args)

    def stargazers(
        self, root: Repository, args: dict[str, Any], _context: object
    ) -> dict[str, int]:
        """Resolve ``Repository.stargazers``, or refuse it as GitHub does now."""
        if self._restricted:
            # The words of GitHub's REST API; those of its GraphQL API are not public.
            message = "You do not have permission to view the stargazers of this repository"
            msg = "FORBIDDEN"
            raise refused(msg, message)
        if args:
            page("stargazers", (), args)  # who they are is not known; a wrong page is wrong anyway
        return {"totalCount": root.stars}

    def _find(self, text: str) -> tuple[Repository, ...]:
        return find(self._all.rows, parse(text))

    def _named(self, owner: str, name: str) -> Repository | None:
        return self._all.by_name.get(f"{owner}/{name}".lower())

    def _owner(self, login: str) -> Owner | None:
        if login.lower() == self._viewer.login.lower():
            return self._viewer
        return self._all.owner(login)

    def _account(self, login: str, kind: str) -> Owner:
        found = self._owner(login)
        if found is None or found.kind != kind:
            article = "an" if kind == "Organization" else "a"
            message = f"Could not resolve to {article} {kind} with the login of '{login}'."
            msg = "NOT_FOUND"
            raise refused(msg, message)
        return found

    def _by_id(self, node_id: str) -> Repository | Owner | Language | None:
        if node_id == self._viewer.node_id:
            return self._viewer
        return self._all.by_id.get(node_id)

    def _node(self, node_id: str) -> Repository | Owner | Language:
        found = self._by_id(node_id)
        if found is None:
            raise _no_node(node_id)
        return found


def _no_node(node_id: str) -> Exception:
    message = f"Could not resolve to a node with the global id of '{node_id}'"
    return refused("NOT_FOUND", message)


def _type_name(value: Repository | Owner | Language, _context: object) -> str:
    return value.kind if isinstance(value, Owner) else type(value).__name__


_ABSTRACT = ("Node", "RepositoryOwner", "SearchResultItem", "Starrable")
_NODE: dict[str, Callable[..., Any]] = {"id": lambda root, *_: root.node_id}
_PLACE: dict[str, Callable[..., Any]] = {
    "resourcePath": lambda root, *_: root.path,
    "url": lambda root, *_: _HOST + root.path,
}
_CONNECTION: dict[str, Callable[..., Any]] = {
    "edges": lambda root, *_: root.edges,
    "nodes": lambda root, *_: root.nodes,
    "pageInfo": lambda root, *_: root.info,
}
_REPOSITORY: dict[str, Callable[..., Any]] = {
    **_NODE,
    **_PLACE,
    "forkCount": lambda root, *_: root.forks,
    "isPrivate": lambda *_: False,
    "nameWithOwner": lambda root, *_: root.full_name,
    "primaryLanguage": lambda root, *_: root.language,
    "pushedAt": lambda root, *_: root.pushed_at,
    "stargazerCount": lambda root, *_: root.stars,
}
