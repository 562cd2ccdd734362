"""The resolvers of the stand-in: facts of its data, and substitutes for fields that these lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from graphql import (
    GraphQLBoolean,
    GraphQLField,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_nullable_type,
    introspection_types,
)
from graphql.type import is_list_type, is_object_type

from gqlnb.engine.mock.mock_objects import MockObject, MockType
from gqlnb.engine.mock.mock_schema import MockGenerator, MockOptions
from gqlnb.engine.mock.value_formats import hash_parts
from gqlnb.engine.schema_builder import adapt_resolver
from gqlnb.errors import QueryError, sanitize_text
from gqlnb.github.repositories import (
    Language,
    Owner,
    Repository,
    choose_creation_time,
    choose_owner_kind,
    find_language_color,
    hash_to_fraction,
    list_licenses,
    parse_node_id,
)
from gqlnb.github.search_syntax import MAX_SEARCH_RESULTS
from gqlnb.github.standin.connection_pages import (
    ConnectionPage,
    KeysetCursors,
    build_page,
    make_boundary_error,
    make_github_error,
    require_boundary,
)
from gqlnb.github.standin.repository_columns import RepositoryRows
from gqlnb.github.standin.repository_search import Population, make_sort_key, sort_rows
from gqlnb.github.standin.simulation import CURRENT_METER, DataFaults, RequestMeter, Simulation

if TYPE_CHECKING:
    from numpy.typing import NDArray


Resolver = Callable[[Any, dict[str, Any], Any], Any]  # (root, args, context)
Facts = Mapping[str, Mapping[str, Resolver | None]]  # by type and field; None reads an attribute

#: Returned by a resolver where the data have no fact.
UNKNOWN: Final = object()


def note_outcome(place: str, outcome: str) -> None:
    """Record that a field of the running operation has no fact."""
    meter = CURRENT_METER.get()
    if meter is not None:  # graphql-core may execute the schema too, without a meter
        meter.outcomes[place] = outcome


def bind_fields(schema: GraphQLSchema, facts: Facts, *, fill: bool, seed: int) -> dict[str, str]:
    """Bind facts to the fields of a schema, and substitutes to all other fields.

    The description of a field that is not a fact says so.

    Parameters
    ----------
    schema
        The schema; fields that it does not have are ignored.
    facts
        The resolvers of facts. With `fill` they may return :data:`UNKNOWN`. One whose value is not
        quite a fact has an attribute ``outcome``.
    fill
        Whether to generate all values that are not facts.
    seed
        The seed of generated values.

    Returns
    -------
    dict
        The outcomes of the fields that are not facts, by place: ``"Repository.description"``.
    """
    generator = MockGenerator(schema, MockOptions(seed=seed))
    outcomes: dict[str, str] = {}
    for kind in schema.type_map.values():
        if is_object_type(kind) and kind.name not in introspection_types:
            if kind in (schema.mutation_type, schema.subscription_type):
                continue
            # With the facts that the pages of connections have.
            parts = next((it for end, it in _PAGE_PARTS.items() if kind.name.endswith(end)), {})
            known = {**parts, **facts.get(kind.name, {})}
            binder = _FieldBinder(generator, kind, fill=fill)
            for name, field in kind.fields.items():
                outcome = getattr(known.get(name), "outcome", None)
                if name not in known:
                    outcome = binder.choose_outcome(field)
                if outcome is not None:
                    outcomes[f"{kind.name}.{name}"] = outcome
                    reason = f"Not in the snapshot ({outcome})."
                    field.description = f"{field.description or ''} {reason}".lstrip()
                binder.bind_field(name, field, known)
    return outcomes


_PAGE_PARTS: Facts = {
    "Connection": {
        "edges": None,
        "nodes": None,
        "pageInfo": lambda root, *_: root.page_info,
        "totalCount": lambda root, *_: root.total,
    },
    "Edge": {"cursor": None, "node": None},
    "PageInfo": dict.fromkeys(("endCursor", "hasNextPage", "hasPreviousPage", "startCursor")),
}


class _FieldBinder:
    """Binds resolvers to the fields of one object type."""

    def __init__(self, generator: MockGenerator, kind: GraphQLObjectType, *, fill: bool) -> None:
        self._mock: MockType = generator.get_type(kind)
        self._root = generator.create_root(self._mock)
        self._fill = fill

    def choose_outcome(self, field: GraphQLField) -> str:
        """Return the outcome of a field without a fact."""
        type_ = field.type
        if self._fill:
            return "generated"
        if not isinstance(type_, GraphQLNonNull):
            return "null"
        inner: Any = get_nullable_type(type_)
        if is_list_type(inner) or _is_connection(field):
            return "empty"
        return "false" if inner is GraphQLBoolean else "generated"

    def bind_field(
        self, name: str, field: GraphQLField, known: Mapping[str, Resolver | None]
    ) -> None:
        """Make the fact, or else the substitute, the resolver of a field."""
        substitute = self._build_substitute(name, field)
        fact = known.get(name)
        if name in known:
            if fact is None and not self._fill:
                field.resolve = None  # the default reads an attribute or a key, fast
                return
            fact = self._build_fact(name, fact or partial(read_value, name), substitute)
        resolve = fact or substitute
        # Seeing the selection costs seven calls, which a list of a hundred connections would feel.
        is_checked = getattr(fact, "checks_boundary", False) and not self._fill
        if _is_connection(field) and "first" in field.args and not is_checked:
            field.resolve = require_boundary(name, resolve)
        else:
            field.resolve = adapt_resolver(resolve)

    def _build_fact(self, name: str, fact: Resolver, substitute: Resolver) -> Resolver:
        if not self._fill:
            return fact

        def resolve_fact(root: Any, args: dict[str, Any], context: object) -> Any:
            if type(root) is MockObject:  # the parent is generated, so are its fields
                if not self._mock.name.endswith(tuple(_PAGE_PARTS)):  # the items are noted
                    note_outcome(f"{self._mock.name}.{name}", "generated")
                values = root.known_values or {}
                return root[name] if name in values else self._generate(name, root, args)
            value = fact(root, args, context)
            return substitute(root, args, context) if value is UNKNOWN else value

        return resolve_fact

    def _build_substitute(self, name: str, field: GraphQLField) -> Resolver:
        outcome, place = self.choose_outcome(field), f"{self._mock.name}.{name}"
        is_page = _is_connection(field) and "first" in field.args

        def resolve_substitute(root: Any, args: dict[str, Any], _context: object) -> Any:
            note_outcome(place, outcome)
            if outcome == "null":
                return None
            if outcome == "false":
                return False
            # Also a generated connection refuses the page sizes that GitHub refuses.
            page: object = build_page(name, (), args) if is_page else []
            return page if outcome == "empty" else self._generate(name, root, args)

        return resolve_substitute

    def _generate(self, name: str, root: Any, args: dict[str, Any]) -> Any:
        """Return a generated value, always the same for the same object."""
        item = root
        if type(root) is not MockObject:
            node_id = getattr(root, "node_id", None)
            if node_id is None:
                item = self._root
            elif self._mock.identity is None:  # another schema, whose type has no id
                item = MockObject(self._mock, hash_parts(self._mock.salt, node_id))
            else:
                item = self._mock.create_with_id(node_id)
        return self._mock.get_recipe(name)(item, args)


def _is_connection(field: GraphQLField) -> bool:
    return str(get_nullable_type(field.type)).endswith("Connection")


def read_value(name: str, root: Any, _args: dict[str, Any], _context: object) -> Any:
    """Return a key of a mapping, or an attribute."""
    return root.get(name) if isinstance(root, Mapping) else getattr(root, name, None)


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
    fill
        Whether repositories and accounts that are not in the population are made up.
    """

    def __init__(
        self, population: Population, viewer: Owner, simulation: Simulation, *, fill: bool = False
    ) -> None:
        self._fill = fill
        self._faults = DataFaults(population, simulation, viewer.login)
        self._viewer = viewer
        self._simulation = simulation
        # Drift changes the answer of every search, so it cannot be cached.
        find = self._faults.find_repositories
        self._find_cached = find if simulation.drift else lru_cache(_CACHED_SEARCHES)(find)
        self._find_accounts_cached = lru_cache(_CACHED_SEARCHES)(
            partial(find_accounts, self._population)
        )

    @property
    def _population(self) -> Population:
        return self._faults.population

    def build_facts(self) -> dict[str, dict[str, Resolver | None]]:
        """Return the resolvers by type and field; None for fields that are attributes."""
        account: dict[str, Resolver | None] = {
            **_NODE_FIELDS,
            **_URL_FIELDS,
            "avatarUrl": resolve_avatar,
            "login": None,
            "repositories": self.resolve_repositories,
            "repository": lambda root, args, _: self._find_repository(root.login, args["name"]),
        }
        return {
            **_FACTS,
            "Query": {
                "id": lambda *_: "Q_",
                "relay": lambda *_: {},
                "rateLimit": lambda *_: (CURRENT_METER.get() or RequestMeter()).build_fields(),
                "viewer": lambda *_: self._viewer,
                "repository": self.resolve_repository,
                "repositoryOwner": lambda _root, args, _: self._find_owner(args["login"]),
                "user": lambda _root, args, _: self._resolve_account(args["login"], "User"),
                "organization": lambda _root, args, _: self._resolve_account(
                    args["login"], "Organization"
                ),
                "node": lambda _root, args, _: self._resolve_node(args["id"]),
                "nodes": self.resolve_nodes,
                "search": self.resolve_search,
                "licenses": lambda *_: list(list_licenses()),
                "license": lambda _root, args, _: next(
                    (it for it in list_licenses() if it.key == args["key"].lower()), None
                ),
            },
            "Repository": {
                **_REPOSITORY_FIELDS,
                "stargazers": self.resolve_stargazers,
                "viewerCanAdminister": lambda root, *_: self._is_own(root),
            },
            "User": {**account, "isViewer": lambda root, *_: root == self._viewer},
            "Organization": account,
        }

    def resolve_search(self, _root: object, args: dict[str, Any], _context: object) -> Any:
        """Resolve ``Query.search``: the first thousand can be reached, all are counted.

        Issues and discussions are not in the data.

        Raises
        ------
        GraphQLError
            If the search expression or the page is not valid.
        """
        text, simulation, message = args["query"], self._simulation, None
        kind = args["type"]
        if kind not in {"REPOSITORY", "USER"}:
            if self._fill:
                return UNKNOWN
            note_outcome(f"Query.search(type: {kind})", "empty")
            return build_page("search", (), args)
        try:
            if kind == "USER":
                accounts = self._find_accounts_cached(text)
                reach, total = accounts[:MAX_SEARCH_RESULTS], len(accounts)
                return replace(build_page("search", reach, args, total=total), kind=kind)
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
        return [self._resolve_node(node_id) for node_id in args["ids"]]

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
        if self._simulation.restricted and not self._is_own(root):
            # The message of GitHub's REST API; that of its GraphQL API is not public.
            message = "You do not have permission to view the stargazers of this repository"
            raise make_github_error(message, "FORBIDDEN")
        answer = {"totalCount": root.stars}
        if args:  # the accounts are not known, but a page that is not valid is an error anyway
            answer["isBounded"] = build_page("stargazers", (), args).start is not None
        return answer

    # The resolvers of its lists refuse a page without a size.
    resolve_stargazers.checks_boundary = True  # type: ignore[attr-defined]

    def _is_own(self, repository: Repository) -> bool:
        return repository.owner.login.lower() == self._viewer.login.lower()

    def _resolve_node(self, node_id: str) -> Any:
        if node_id == self._viewer.node_id:
            return self._viewer
        found = self._population.find_node(node_id)
        if found is None and self._fill:
            letter, text = parse_node_id(node_id) or ("", "")
            login, _, name = text.partition("/")
            if letter == "R" and name:
                found = _make_up_repository(login, name)
            elif letter in {"U", "O"}:
                found = Owner(login, "User" if letter == "U" else "Organization")
        message = f"Could not resolve to a node with the global id of '{node_id}'"
        return found or make_github_error(message, "NOT_FOUND")

    def _find_repository(self, owner: str, name: str) -> Repository | None:
        row = self._population.find_row(f"{owner}/{name}")
        if row is not None:
            return self._population[row]
        return _make_up_repository(owner, name) if self._fill else None

    def _find_owner(self, login: str) -> Owner | None:
        if login.lower() == self._viewer.login.lower():
            return self._viewer
        return self._population.find_owner(login)

    def _resolve_account(self, login: str, kind: str) -> Owner:
        found = self._find_owner(login)
        if found is None and self._fill:
            found = Owner(login, kind)
        if found is None or found.kind != kind:
            article = "an" if kind == "Organization" else "a"
            message = f"Could not resolve to {article} {kind} with the login of '{login}'."
            raise make_github_error(message, "NOT_FOUND")
        return found


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


def resolve_type_name(value: object, _context: object) -> str:
    """Return the object type of a fact or of a generated value."""
    if type(value) is MockObject:
        return value.kind.name
    return value.kind if isinstance(value, Owner) else type(value).__name__


def find_accounts(population: Population, text: str) -> list[Owner]:
    """Return the accounts that a search expression finds, by login.

    Raises
    ------
    QueryError
        If the expression has more than words that a login contains and the kind of account.
    """
    words, kinds = [], {"User", "Organization"}
    for term in text.split():
        name, colon, value = term.lower().partition(":")
        if name == "type" and value in _ACCOUNT_KINDS:
            kinds &= {_ACCOUNT_KINDS[value]}
        elif name == "sort" or (name == "in" and "login" in value.split(",")):
            continue  # logins are searched anyway, and always in alphabetical order
        elif colon or term.startswith("-") or term in {"AND", "OR", "NOT"}:
            msg = (
                f"{sanitize_text(term, 80)} is not in this stand-in: of accounts its data contain "
                "logins and kinds alone. GitHub itself answers it."
            )
            raise QueryError(msg)
        else:
            words.append(name.strip('"'))
    return [
        owner
        for owner in population.owners
        if owner.kind in kinds and all(word in owner.login.lower() for word in words)
    ]


def _make_up_repository(login: str, name: str) -> Repository:
    """Return a repository that is not in the data, always the same for a name."""
    full_name = f"{login}/{name}"
    # From 1 to 10,000 on a logarithmic scale, as the stars of real repositories are spread.
    stars = int(10 ** (4 * hash_to_fraction(f"stars of {full_name}")))
    # A fixed day, not today: a notebook must show the same answer tomorrow.
    pushed_at = "2026-08-01T00:00:00Z"
    return Repository(
        name=name,
        owner=Owner(login, choose_owner_kind(login)),
        stars=stars,
        forks=stars // 8,
        language=Language("Python"),
        pushed_at=pushed_at,
        created_at=choose_creation_time(full_name, "", pushed_at),
    )


def _note_use(place: str, outcome: str, resolve: Resolver) -> Resolver:
    """Return a resolver that notes that its value is not quite a fact."""

    def resolve_noted(root: Any, args: dict[str, Any], context: object) -> Any:
        note_outcome(place, outcome)
        return resolve(root, args, context)

    resolve_noted.outcome = outcome  # type: ignore[attr-defined]
    return resolve_noted


def resolve_avatar(root: Owner, args: dict[str, Any], _context: object) -> str:
    """Resolve the picture of an account: the address that redirects to it."""
    size = args.get("size")
    return f"{_GITHUB_URL}{root.path}.png" + ("" if size is None else f"?size={size}")


def resolve_languages(root: Repository, args: dict[str, Any], _context: object) -> ConnectionPage:
    """Resolve the languages of a repository; the data contain the primary one alone."""
    return build_page("languages", (root.language,) if root.language else (), args)


def resolve_stargazer_list(root: dict[str, Any], *_: object) -> list[Any]:
    """Resolve a list of the accounts that starred something: not known.

    Raises
    ------
    GraphQLError
        If the connection has no page size.
    """
    connection = "stargazers"
    if not root.get("isBounded"):
        raise make_boundary_error(connection)
    return []


_ACCOUNT_KINDS = {"user": "User", "org": "Organization", "organization": "Organization"}
_OTHER_SEARCH_KINDS = ("code", "discussion", "issue", "wiki")
_NODE_FIELDS: dict[str, Resolver | None] = {"id": lambda root, *_: root.node_id}
_URL_FIELDS: dict[str, Resolver | None] = {
    "resourcePath": lambda root, *_: root.path,
    "url": lambda root, *_: _GITHUB_URL + root.path,
}
_NO_PAGES = dict.fromkeys(("hasNextPage", "hasPreviousPage"), False)
_DERIVED: dict[str, Resolver] = {  # from facts, by the rules of service().synthetic
    "isArchived": lambda root, *_: root.archived,
    "isFork": lambda *_: False,
    "updatedAt": lambda root, *_: root.pushed_at,
}
_REPOSITORY_FIELDS: dict[str, Resolver | None] = {
    **_NODE_FIELDS,
    **_URL_FIELDS,
    **{
        name: _note_use(f"Repository.{name}", "derived", resolve)
        for name, resolve in _DERIVED.items()
    },
    # A date that the sources lack is chosen by a hash: it must not pass for a fact.
    "createdAt": _note_use(
        "Repository.createdAt", "generated for most", lambda root, *_: root.created_at
    ),
    "forkCount": lambda root, *_: root.forks,
    "isInOrganization": lambda root, *_: root.owner.kind == "Organization",
    "isPrivate": lambda *_: False,
    "languages": _note_use("Repository.languages", "the primary language alone", resolve_languages),
    "name": None,
    "nameWithOwner": lambda root, *_: root.full_name,
    "owner": None,
    "primaryLanguage": lambda root, *_: root.language,
    "projectsUrl": lambda root, *_: f"{_GITHUB_URL}{root.path}/projects",
    "pushedAt": lambda root, *_: root.pushed_at,
    "sshUrl": lambda root, *_: f"git@github.com:{root.full_name}.git",
    "stargazerCount": lambda root, *_: root.stars,
    "visibility": lambda *_: "PUBLIC",
}
_FACTS: dict[str, dict[str, Resolver | None]] = {
    "Language": {
        **_NODE_FIELDS,
        "name": None,
        "color": lambda root, *_: find_language_color(root.name),
    },
    "License": {
        **_NODE_FIELDS,
        "key": None,
        "name": None,
        "spdxId": lambda root, *_: root.spdx_id,
    },
    "RateLimit": dict.fromkeys(("cost", "limit", "nodeCount", "remaining", "resetAt", "used")),
    "SearchResultItemConnection": {
        "repositoryCount": lambda root, *_: root.total if root.kind == "REPOSITORY" else 0,
        "userCount": lambda root, *_: root.total if root.kind == "USER" else 0,
        **{f"{kind}Count": lambda *_: 0 for kind in _OTHER_SEARCH_KINDS},
    },
    "SearchResultItemEdge": {"textMatches": lambda *_: None},
    "StargazerConnection": {
        **{
            part: _note_use(f"StargazerConnection.{part}", "empty", resolve_stargazer_list)
            for part in ("edges", "nodes")
        },
        "pageInfo": lambda *_: _NO_PAGES,
        "totalCount": None,
    },
}
