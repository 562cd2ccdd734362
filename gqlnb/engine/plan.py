"""What is known of an operation before it runs: its fields, and the functions made for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    DocumentNode,
    ExecutionResult,
    FragmentDefinitionNode,
    GraphQLAbstractType,
    GraphQLBoolean,
    GraphQLError,
    GraphQLID,
    GraphQLObjectType,
    GraphQLString,
    OperationType,
    VariableNode,
    Visitor,
    default_field_resolver,
    get_nullable_type,
    is_leaf_type,
    visit,
)
from graphql.execution.values import get_argument_values

from gqlnb.engine.core import Further, Groups, Run
from gqlnb.engine.version import NEW, PLAIN, SERIALIZERS, TOO_DEEP, new, serializer
from gqlnb.model.shape import META

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLSchema

__all__ = ["Facts", "FieldPlan", "Plan", "Selection", "facts"]

# Compiling a selection takes about as long as graphql-core takes for this many rows of it, so
# waiting for as many costs at most twice the better choice.
HOT = 96
DEEP = 60  # levels of selections beyond which a document is compiled when it is first seen
CLASHING = {"source", "info"}  # arguments of these names are the default resolver's own
# Leaf types whose values need no more than a look at their Python type.
EXACT: dict[Any, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}


class FieldPlan:
    """One field of a selection set: the nodes that ask for it and what answers.

    Attributes
    ----------
    name
        The response name.
    parent
        The object type it is a field of.
    group
        Its nodes as graphql-core's methods take them.
    default
        Whether its value is looked up in its parent.
    native
        Its resolver, if that is called as ``(root, args, context)``.
    constants
        Its coerced arguments where they hold no variable; None where they must be coerced anew.
    direct
        Whether its value is looked up in its parent with nothing to be coerced before.
    leaf
        Whether it is of a nullable leaf type: nothing that fails in it reaches another field.
    exact
        The Python type whose values are answers as they are; None if there is no such type.
    """

    __slots__ = (
        "_completer",
        "constants",
        "default",
        "definition",
        "direct",
        "exact",
        "group",
        "head",
        "leaf",
        "name",
        "native",
        "nodes",
        "parent",
        "plan",
        "resolve",
        "type",
    )

    def __init__(self, plan: Plan, parent: Any, name: str, group: Any, definition: Any) -> None:
        self.plan = plan
        self.parent = parent
        self.name = name
        self.group = group
        self.nodes = [details.node for details in group] if NEW else group
        self.definition = definition
        self.type = definition.type
        self.head = (self.nodes[0].name.value, self.nodes, definition.type, parent)
        plan.resolvers.append((definition, definition.resolve))
        self.resolve = definition.resolve or plan.field_resolver
        self.default = self.resolve is default_field_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.exact = exact(self.type)
        self.leaf = is_leaf_type(self.type)
        self.constants = constants(definition, self.nodes[0])
        known = self.constants is not None and not CLASHING & self.constants.keys()
        self.direct = self.default and known
        self._completer: Callable[[Any, Any, Run], Any] | None = None

    @property
    def completer(self) -> Callable[[Any, Any, Run], Any]:
        """The function ``(value, path, run)`` that completes an awaited value."""
        if self._completer is None:
            self._completer = self.plan.maker.completer(self)
        return self._completer


def exact(kind: Any) -> type | None:
    """Return the Python type whose values a leaf type takes as they are."""
    inner = get_nullable_type(kind)
    found = EXACT.get(inner)
    return found if found is not None and serializer(inner) is SERIALIZERS[inner] else None


def constants(definition: Any, node: Any) -> dict[str, Any] | None:
    """Return the arguments of a field where every execution has the same, harmless ones."""
    if not definition.args and not node.arguments:
        return {}
    if any(mentions_variable(argument.value) for argument in node.arguments or ()):
        return None
    try:
        made = get_argument_values(definition, node, None)
    except GraphQLError:
        return None
    harmless = all(value is None or type(value) in PLAIN for value in made.values())
    return made if harmless else None


def mentions_variable(node: Any) -> bool:
    """Tell whether a value of the document holds a variable."""
    found: list[Any] = []

    class Look(Visitor):
        def enter_variable(self, variable: VariableNode, *_: object) -> None:
            found.append(variable)

    visit(node, Look())
    return bool(found)


class Selection:
    """The fields asked of one object type at one place of the operation.

    Attributes
    ----------
    kind
        The object type.
    groups
        The collected fields as graphql-core's methods take them.
    fields
        The same as field plans; fields the type does not have are left out, as in execution.
    run
        The compiled function ``(source, path, run)``, once there is one.
    """

    __slots__ = ("_fields", "groups", "kind", "plan", "run", "seen", "where")

    def __init__(self, plan: Plan, kind: Any, groups: dict[str, Any], where: str) -> None:
        self.plan = plan
        self.kind = kind
        self.groups = Groups(groups)
        self.groups.selection = self
        self.where = where
        self.seen = 0
        self.run: Callable[[Any, Any, Run], Any] | None = None
        self._fields: list[FieldPlan] | None = None

    @property
    def fields(self) -> list[FieldPlan]:
        """The fields that exist, in order."""
        if self._fields is None:
            self._fields = [
                FieldPlan(self.plan, self.kind, name, group, definition)
                for name, group in self.groups.items()
                if (definition := self.plan.definition(self.kind, group)) is not None
            ]
        return self._fields

    def enter(self, source: Any, path: Any, run: Run) -> Any:
        """Execute the selection: as graphql-core does until it has been seen often enough."""
        if self.run is not None:
            return self.run(source, path, run)
        self.seen += 1
        if self.seen <= self.plan.hot:
            return run.plainly(self, source, path)
        return self.compiled()(source, path, run)

    def compiled(self) -> Callable[[Any, Any, Run], Any]:
        """Return the compiled function."""
        if self.run is None:
            self.run = self.plan.maker.selection(self)
        return self.run


class Plan:
    """One operation on one schema, for one set of values of its ``@skip`` and ``@include``.

    Parameters
    ----------
    first
        A run built by graphql-core for this operation; further runs are made from it.
    known
        What its document says.
    timed
        Whether its functions count calls and seconds.

    Attributes
    ----------
    metered
        Whether its runs have a budget, which its functions count off.
    """

    def __init__(self, first: Any, known: Facts, *, timed: bool = False) -> None:
        self.timed = timed
        self.metered = hasattr(first, "budget")
        # Compiled code recurses less than graphql-core's methods with ours between them.
        self.hot = 0 if timed or known.depth > DEEP else HOT
        self.schema: GraphQLSchema = first.schema
        self.operation = first.operation
        self.field_resolver = first.field_resolver
        self.type_resolver = first.type_resolver
        self.proto = dict(first.__dict__)
        for name in ("root_value", "context_value", "variable_values", "_subfields_cache", *MADE):
            self.proto.pop(name, None)
        default = getattr(Run, "is_awaitable", None)  # 3.2 keeps the usual one on the class
        self.awaits = self.proto.get("is_awaitable", default)
        self.is_awaitable = None if self.awaits is default else self.awaits
        # What the class would answer before Further.__getattr__ is asked.
        self.own = {k: v for k, v in self.proto.items() if getattr(Run, k, v) is not v}
        self.fragments = self.proto["fragment_definitions" if NEW else "fragments"]
        self.entered: Callable[[Any, Any, Run], Any] | None = None
        self.no_variables = type(first.variable_values)({}, {}) if NEW else {}
        self.kind = self.schema.get_root_type(self.operation.operation)
        self.serial = self.operation.operation is OperationType.MUTATION
        self.maker: Any = None  # set by whoever makes the plan: a Maker
        self._variables = only(first.variable_values, known.names)
        self.root: Selection | None = None
        self._below: dict[tuple[Any, ...], Selection] = {}
        self._listed: dict[tuple[Any, ...], FieldPlan] = {}
        # What compiled code took as constant: resolvers, and members of types.
        self.resolvers: list[tuple[Any, Any]] = []
        self.bound: list[tuple[Any, str, Any]] = []
        self.places: list[str] = []  # where tracebacks find its source

    @property
    def sample(self) -> Run:
        """A run to collect fields by, which holds nothing of a caller's."""
        return Further.again(self, None, None, self._variables)

    # -- executing

    def execute(self, run: Run) -> Any:
        """Execute a run of this plan from its compiled root."""
        try:
            entered = self.entered or self.prepare(run)
            data = entered(run.root_value, None, run)
        except GraphQLError as error:
            return self.respond(run, error)
        if type(data) is dict and "collected_errors" not in run.__dict__:
            result = new(ExecutionResult)
            result.data = data
            result.errors = result.extensions = None
            return result
        return self.respond(run, data)

    def prepare(self, run: Run) -> Callable[[Any, Any, Run], Any]:
        """Return the compiled root; a mutation's fields wait for each other, so it has none.

        Raises
        ------
        GraphQLError
            If the schema has no such kind of operation, or its fields can't be collected.
        """
        if self.kind is None or self.serial:
            return lambda _root, _path, run: self.serially(run)
        self.entered = self.top(run).compiled()
        return self.entered

    def begin(self, run: Run) -> Any:
        """Execute the first run, by graphql-core's methods."""
        try:
            if self.kind is None or self.serial:
                data = self.serially(run)
            elif self.hot == 0:
                return self.execute(run)
            else:
                data = run.plainly(self.top(run), run.root_value, None)
        except GraphQLError as error:
            return self.respond(run, error)
        return self.respond(run, data)

    def serially(self, run: Run) -> Any:
        """Return the data of a mutation, whose fields wait for each other."""
        if self.kind is None:
            word = self.operation.operation.value
            message = f"Schema is not configured to execute {word} operation."
            raise GraphQLError(message, self.operation)
        groups = dict(self.top(run).groups)
        given = (self.kind, run.root_value, None, groups)
        more = (None,) if NEW else ()
        return run.execute_fields_serially(*given, *more)

    def respond(self, run: Run, data: Any) -> Any:
        """Return the result of a run by its data or its error; an awaitable, if it must wait."""
        if isinstance(data, GraphQLError):
            run.collected_errors.add(data, None)
            data = None
        elif type(data) is not dict:
            return self.respond_later(run, data)
        return run.response(data)

    async def respond_later(self, run: Run, data: Any) -> Any:
        """Await the data of a run."""
        try:
            data = await data
        except GraphQLError as error:
            run.collected_errors.add(error, None)
            data = None
        return run.response(data)

    # -- what is known

    def definition(self, kind: Any, group: Any) -> Any:
        """Return the definition of a field, None if the type has no such field."""
        node = group[0].node if NEW else group[0]
        name = node.name.value
        if name == "__typename" or (name in META and kind == self.schema.query_type):
            return META[name]
        return kind.fields.get(name)

    def top(self, run: Run) -> Selection:
        """Return the selection of the operation itself."""
        if self.root is None:
            name = self.operation.name.value if self.operation.name else ""
            self.root = Selection(self, self.kind, self.collected(run), name or "operation")
        return self.root

    def collected(self, run: Run) -> Any:
        """Collect the root fields.

        Raises
        ------
        GraphQLError
            If fragments nest too deeply, without the frames of the recursion behind it.
        """
        try:
            return run.collect_root(self.kind)
        except RecursionError:
            pass
        raise GraphQLError(TOO_DEEP, self.operation)

    def below(self, run: Run, kind: Any, group: Any) -> Selection:
        """Return the selection of an object type below a group of fields."""
        nodes = [details.node for details in group] if NEW else group
        key = (kind.name, *map(id, nodes))
        found = self._below.get(key)
        if found is None:
            where = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            found = Selection(self, kind, run.collect_below(kind, group), where)
            self._below[key] = found
        return found

    def listed(self, parent: Any, group: Any, kind: Any) -> Callable[[Any, Any, Run], Any]:
        """Return the function that completes the lists of a field that is not compiled itself."""
        nodes = [details.node for details in group] if NEW else group
        key = (parent.name, *map(id, nodes))
        field = self._listed.get(key)
        if field is None:
            name = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            field = FieldPlan(self, parent, name, group, self.definition(parent, group))
            self._listed[key] = field
        return self.maker.rows(field, kind)  # type: ignore[no-any-return]

    def possible(self, kind: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """Return the object types an abstract type may turn out to be."""
        return list(self.schema.get_possible_types(kind))

    def stale(self) -> bool:
        """Tell whether what compiled code took as constant was replaced since."""
        for definition, resolve in self.resolvers:
            if definition.resolve is not resolve:
                return True
        for owner, name, value in self.bound:  # noqa: SIM110 - a generator would double the time
            if getattr(owner, name) is not value:
                return True
        return False


# What every run makes for itself when it is needed.
MADE = (
    "collected_errors",
    "async_helpers",
    "background_futures",
    "pending_incremental_futures",
    "_relevant_sub_fields",
    "_stream_usages",
)


def only(variables: Any, names: tuple[str, ...]) -> Any:
    """Return coerced variables without those that `names` does not name."""
    if not NEW:
        return {name: variables[name] for name in names if name in variables}
    parts = ({name: part[name] for name in names if name in part} for part in variables)
    return type(variables)(*parts)


class Facts(NamedTuple):
    """What a document says before it is planned.

    Attributes
    ----------
    names
        The variables that ``@skip`` and ``@include`` read.
    plannable
        Whether we can execute it: incremental delivery and variables of fragments are
        graphql-core's alone.
    depth
        How deep its selections nest, each fragment counted where it is defined.
    """

    names: tuple[str, ...]
    plannable: bool
    depth: int


def facts(document: DocumentNode) -> Facts:
    """Read what must be known of a document before it is planned."""
    if not isinstance(document, DocumentNode):
        return Facts((), False, 0)
    names: dict[str, None] = {}
    total = 0
    for definition in document.definitions:
        if isinstance(definition, FragmentDefinitionNode) and definition.variable_definitions:
            return Facts((), False, 0)
        deepest = 0
        waiting: list[tuple[Any, int]] = [(definition, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            for directive in getattr(node, "directives", None) or ():
                word = directive.name.value
                if word in ("defer", "stream"):
                    return Facts((), False, 0)
                if word in ("skip", "include"):
                    values = [argument.value for argument in directive.arguments or ()]
                    names |= {v.name.value: None for v in values if isinstance(v, VariableNode)}
            selections = getattr(node, "selection_set", None)
            if selections is not None:
                waiting.extend((inner, depth + 1) for inner in selections.selections)
        total += deepest
    return Facts(tuple(names), True, total)
