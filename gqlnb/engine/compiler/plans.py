"""What is known of an operation before it runs: its fields, and the functions made for them."""

from __future__ import annotations

from threading import Lock
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

from gqlnb.engine.compiler.executor import FieldGroups, PlanExecutor, RepeatPlanExecutor
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    PLAIN_TYPES,
    SERIALIZERS,
    TOO_DEEP,
    get_serializer,
    new_object,
)
from gqlnb.result.shape import META_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import DocumentNode, GraphQLSchema

__all__ = [
    "CachedOperation",
    "DocumentFacts",
    "FieldPlan",
    "OperationPlan",
    "SelectionPlan",
    "cached_operations",
    "collect_facts",
    "get_operation",
]

# Compiling a selection takes about as long as graphql-core takes for this many rows of it, so
# waiting for as many costs at most twice the better choice.
HOT = 96
DEEP_DOCUMENT = 60  # levels of selections beyond which a document is compiled when it is first seen
CLASHING_ARGUMENTS = {"source", "info"}  # arguments of these names are the default resolver's own
# Leaf types whose values need no more than a look at their Python type.
EXACT_TYPES: dict[Any, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}


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

    def __init__(
        self, plan: OperationPlan, parent: Any, name: str, group: Any, definition: Any
    ) -> None:
        self.plan = plan
        self.parent = parent
        self.name = name
        self.group = group
        self.nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        self.definition = definition
        self.type = definition.type
        self.head = (self.nodes[0].name.value, self.nodes, definition.type, parent)
        plan.resolvers.append((definition, definition.resolve))
        self.resolve = definition.resolve or plan.field_resolver
        self.default = self.resolve is default_field_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.exact = find_exact_type(self.type)
        self.leaf = is_leaf_type(self.type)
        self.constants = coerce_constant_arguments(definition, self.nodes[0])
        known = self.constants is not None and not CLASHING_ARGUMENTS & self.constants.keys()
        self.direct = self.default and known
        self._completer: Callable[[Any, Any, PlanExecutor], Any] | None = None

    @property
    def completer(self) -> Callable[[Any, Any, PlanExecutor], Any]:
        """The function ``(value, path, function)`` that completes an awaited value."""
        if self._completer is None:
            self._completer = self.plan.compiler.compile_completer(self)
        return self._completer


def find_exact_type(kind: Any) -> type | None:
    """Return the Python type whose values a leaf type takes as they are."""
    inner = get_nullable_type(kind)
    found = EXACT_TYPES.get(inner)
    return found if found is not None and get_serializer(inner) is SERIALIZERS[inner] else None


def coerce_constant_arguments(definition: Any, node: Any) -> dict[str, Any] | None:
    """Return the arguments of a field where every execution has the same, harmless ones."""
    if not definition.args and not node.arguments:
        return {}
    if any(has_variable(argument.value) for argument in node.arguments or ()):
        return None
    try:
        made = get_argument_values(definition, node, None)
    except GraphQLError:
        return None
    harmless = all(value is None or type(value) in PLAIN_TYPES for value in made.values())
    return made if harmless else None


def has_variable(node: Any) -> bool:
    """Tell whether a value of the document holds a variable."""
    found: list[Any] = []

    class VariableFinder(Visitor):
        def enter_variable(self, variable: VariableNode, *_: object) -> None:
            found.append(variable)

    visit(node, VariableFinder())
    return bool(found)


class SelectionPlan:
    """The fields asked of one object type at one place of the operation.

    Attributes
    ----------
    kind
        The object type.
    groups
        The collected fields as graphql-core's methods take them.
    fields
        The same as field plans; fields the type does not have are left out, as in execution.
    function
        The compiled function ``(source, path, function)``, once there is one.
    """

    __slots__ = ("_fields", "function", "groups", "kind", "plan", "seen", "where")

    def __init__(self, plan: OperationPlan, kind: Any, groups: dict[str, Any], where: str) -> None:
        self.plan = plan
        self.kind = kind
        self.groups = FieldGroups(groups)
        self.groups.selection = self
        self.where = where
        self.seen = 0
        self.function: Callable[[Any, Any, PlanExecutor], Any] | None = None
        self._fields: list[FieldPlan] | None = None

    @property
    def fields(self) -> list[FieldPlan]:
        """The fields that exist, in order."""
        if self._fields is None:
            self._fields = [
                FieldPlan(self.plan, self.kind, name, group, definition)
                for name, group in self.groups.items()
                if (definition := self.plan.find_definition(self.kind, group)) is not None
            ]
        return self._fields

    def enter(self, source: Any, path: Any, run: PlanExecutor) -> Any:
        """Execute the selection: as graphql-core does until it has been seen often enough."""
        if self.function is not None:
            return self.function(source, path, run)
        self.seen += 1
        if self.seen <= self.plan.hot:
            return run.execute_uncompiled(self, source, path)
        return self.get_function()(source, path, run)

    def get_function(self) -> Callable[[Any, Any, PlanExecutor], Any]:
        """Return the compiled function."""
        if self.function is None:
            self.function = self.plan.compiler.compile_selection(self)
        return self.function


class OperationPlan:
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

    def __init__(self, first: Any, known: DocumentFacts, *, timed: bool = False) -> None:
        self.timed = timed
        self.metered = hasattr(first, "budget")
        # Compiled code recurses less than graphql-core's methods with ours between them.
        self.hot = 0 if timed or known.depth > DEEP_DOCUMENT else HOT
        self.schema: GraphQLSchema = first.schema
        self.operation = first.operation
        self.field_resolver = first.field_resolver
        self.type_resolver = first.type_resolver
        self.prototype = dict(first.__dict__)
        for name in (
            "root_value",
            "context_value",
            "variable_values",
            "_subfields_cache",
            *PER_RUN_ATTRIBUTES,
        ):
            self.prototype.pop(name, None)
        default = getattr(
            PlanExecutor, "is_awaitable", None
        )  # 3.2 keeps the usual one on the class
        self.awaits = self.prototype.get("is_awaitable", default)
        self.is_awaitable = None if self.awaits is default else self.awaits
        # What the class would answer before Further.__getattr__ is asked.
        self.own_attributes = {
            k: v for k, v in self.prototype.items() if getattr(PlanExecutor, k, v) is not v
        }
        self.fragments = self.prototype["fragment_definitions" if IS_GRAPHQL_33 else "fragments"]
        self.root_function: Callable[[Any, Any, PlanExecutor], Any] | None = None
        self.empty_variables = type(first.variable_values)({}, {}) if IS_GRAPHQL_33 else {}
        self.kind = self.schema.get_root_type(self.operation.operation)
        self.serial = self.operation.operation is OperationType.MUTATION
        self.compiler: Any = None  # set by whoever makes the plan: a Maker
        self._variables = select_variables(first.variable_values, known.names)
        self.root: SelectionPlan | None = None
        self._selections: dict[tuple[Any, ...], SelectionPlan] = {}
        self._list_fields: dict[tuple[Any, ...], FieldPlan] = {}
        # What compiled code took as constant: resolvers, and members of types.
        self.resolvers: list[tuple[Any, Any]] = []
        self.assumed_members: list[tuple[Any, str, Any]] = []
        self.source_names: list[str] = []  # where tracebacks find its source

    @property
    def sample(self) -> PlanExecutor:
        """A run to collect fields by, which holds nothing of a caller's."""
        return RepeatPlanExecutor.create(self, None, None, self._variables)

    # -- executing

    def execute(self, run: PlanExecutor) -> Any:
        """Execute a run of this plan from its compiled root."""
        try:
            entered = self.root_function or self.compile_root(run)
            data = entered(run.root_value, None, run)
        except GraphQLError as error:
            return self.respond(run, error)
        if type(data) is dict and "collected_errors" not in run.__dict__:
            result = new_object(ExecutionResult)
            result.data = data
            result.errors = result.extensions = None
            return result
        return self.respond(run, data)

    def compile_root(self, run: PlanExecutor) -> Callable[[Any, Any, PlanExecutor], Any]:
        """Return the compiled root; a mutation's fields wait for each other, so it has none.

        Raises
        ------
        GraphQLError
            If the schema has no such kind of operation, or its fields can't be collected.
        """
        if self.kind is None or self.serial:
            return lambda _root, _path, run: self.execute_serially(run)
        self.root_function = self.get_root_selection(run).get_function()
        return self.root_function

    def execute_first(self, run: PlanExecutor) -> Any:
        """Execute the first run, by graphql-core's methods."""
        try:
            if self.kind is None or self.serial:
                data = self.execute_serially(run)
            elif self.hot == 0:
                return self.execute(run)
            else:
                data = run.execute_uncompiled(self.get_root_selection(run), run.root_value, None)
        except GraphQLError as error:
            return self.respond(run, error)
        return self.respond(run, data)

    def execute_serially(self, run: PlanExecutor) -> Any:
        """Return the data of a mutation, whose fields wait for each other."""
        if self.kind is None:
            word = self.operation.operation.value
            message = f"Schema is not configured to execute {word} operation."
            raise GraphQLError(message, self.operation)
        groups = dict(self.get_root_selection(run).groups)
        given = (self.kind, run.root_value, None, groups)
        more = (None,) if IS_GRAPHQL_33 else ()
        return run.execute_fields_serially(*given, *more)

    def respond(self, run: PlanExecutor, data: Any) -> Any:
        """Return the result of a run by its data or its error; an awaitable, if it must wait."""
        if isinstance(data, GraphQLError):
            run.collected_errors.add(data, None)
            data = None
        elif type(data) is not dict:
            return self.respond_later(run, data)
        return run.build_result(data)

    async def respond_later(self, run: PlanExecutor, data: Any) -> Any:
        """Await the data of a run."""
        try:
            data = await data
        except GraphQLError as error:
            run.collected_errors.add(error, None)
            data = None
        return run.build_result(data)

    # -- what is known

    def find_definition(self, kind: Any, group: Any) -> Any:
        """Return the definition of a field, None if the type has no such field."""
        node = group[0].node if IS_GRAPHQL_33 else group[0]
        name = node.name.value
        if name == "__typename" or (name in META_FIELDS and kind == self.schema.query_type):
            return META_FIELDS[name]
        return kind.fields.get(name)

    def get_root_selection(self, run: PlanExecutor) -> SelectionPlan:
        """Return the selection of the operation itself."""
        if self.root is None:
            name = self.operation.name.value if self.operation.name else ""
            self.root = SelectionPlan(self, self.kind, self.collect_root(run), name or "operation")
        return self.root

    def collect_root(self, run: PlanExecutor) -> Any:
        """Collect the root fields.

        Raises
        ------
        GraphQLError
            If fragments nest too deeply, without the frames of the recursion behind it.
        """
        try:
            return run.collect_root_fields(self.kind)
        except RecursionError:
            pass
        raise GraphQLError(TOO_DEEP, self.operation)

    def get_selection_below(self, run: PlanExecutor, kind: Any, group: Any) -> SelectionPlan:
        """Return the selection of an object type below a group of fields."""
        nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        key = (kind.name, *map(id, nodes))
        found = self._selections.get(key)
        if found is None:
            where = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            found = SelectionPlan(self, kind, run.collect_fields_below(kind, group), where)
            self._selections[key] = found
        return found

    def get_list_completer(
        self, parent: Any, group: Any, kind: Any
    ) -> Callable[[Any, Any, PlanExecutor], Any]:
        """Return the function that completes the lists of a field that is not compiled itself."""
        nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        key = (parent.name, *map(id, nodes))
        field = self._list_fields.get(key)
        if field is None:
            name = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            field = FieldPlan(self, parent, name, group, self.find_definition(parent, group))
            self._list_fields[key] = field
        return self.compiler.compile_rows(field, kind)  # type: ignore[no-any-return]

    def list_possible_types(self, kind: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """Return the object types an abstract type may turn out to be."""
        return list(self.schema.get_possible_types(kind))

    def is_stale(self) -> bool:
        """Tell whether what compiled code took as constant was replaced since."""
        for definition, resolve in self.resolvers:
            if definition.resolve is not resolve:
                return True
        for owner, name, value in self.assumed_members:  # noqa: SIM110 - a generator would double the time
            if getattr(owner, name) is not value:
                return True
        return False


# What every run makes for itself when it is needed.
PER_RUN_ATTRIBUTES = (
    "collected_errors",
    "async_helpers",
    "background_futures",
    "pending_incremental_futures",
    "_relevant_sub_fields",
    "_stream_usages",
)


def select_variables(variables: Any, names: tuple[str, ...]) -> Any:
    """Return coerced variables without those that `names` does not name."""
    if not IS_GRAPHQL_33:
        return {name: variables[name] for name in names if name in variables}
    parts = ({name: part[name] for name in names if name in part} for part in variables)
    return type(variables)(*parts)


class DocumentFacts(NamedTuple):
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


def collect_facts(document: DocumentNode) -> DocumentFacts:
    """Read what must be known of a document before it is planned."""
    if not isinstance(document, DocumentNode):
        return DocumentFacts((), False, 0)
    names: dict[str, None] = {}
    total = 0
    for definition in document.definitions:
        if isinstance(definition, FragmentDefinitionNode) and definition.variable_definitions:
            return DocumentFacts((), False, 0)
        deepest = 0
        waiting: list[tuple[Any, int]] = [(definition, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            for directive in getattr(node, "directives", None) or ():
                word = directive.name.value
                if word in ("defer", "stream"):
                    return DocumentFacts((), False, 0)
                if word in ("skip", "include"):
                    values = [argument.value for argument in directive.arguments or ()]
                    names |= {v.name.value: None for v in values if isinstance(v, VariableNode)}
            selections = getattr(node, "selection_set", None)
            if selections is not None:
                waiting.extend((inner, depth + 1) for inner in selections.selections)
        total += deepest
    return DocumentFacts(tuple(names), True, total)


MAX_OPERATIONS = 512  # documents remembered; a notebook or a server repeats few
MAX_PLANS_PER_OPERATION = (
    16  # sets of @skip and @include values per document; each is a plan of its own
)
_lock = Lock()
cached_operations: dict[tuple[Any, ...], CachedOperation] = {}


class CachedOperation:
    """One operation of a document on a schema, with its plans.

    Attributes
    ----------
    facts
        What the document says before it is planned.
    name
        The name of the operation that was asked for.
    """

    __slots__ = ("document", "facts", "name", "plan_without_variables", "plans", "schema")

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        self.schema = schema  # held, so that no other object gets their ids
        self.document = document
        self.name = name
        self.facts = collect_facts(document)
        self.plans: dict[tuple[Any, ...], OperationPlan] = {}
        self.plan_without_variables: OperationPlan | None = (
            None  # the plan of an operation without variables
        )

    def store_plan(self, key: tuple[Any, ...], plan: OperationPlan) -> None:
        """Remember the plan for one set of values."""
        with _lock:
            if len(self.plans) >= MAX_PLANS_PER_OPERATION:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = plan
        if not plan.operation.variable_definitions:
            self.plan_without_variables = plan

    def clear_plans(self) -> None:
        """Forget all plans: a resolver has changed."""
        with _lock:
            self.plans.clear()
            self.plan_without_variables = None


def get_operation(
    schema: GraphQLSchema, document: DocumentNode, name: str | None, given: tuple[Any, ...]
) -> CachedOperation:
    """Return what is known of an operation.

    Parameters
    ----------
    schema, document, name
        What is executed.
    given
        The resolvers used by default, if the caller gave any: a plan takes them as constant; and
        whether it counts.
    """
    key = (id(schema), id(document), name, *given)
    found = cached_operations.get(key)
    if found is None:
        found = CachedOperation(schema, document, name)
        with _lock:
            if len(cached_operations) >= MAX_OPERATIONS:
                cached_operations.pop(next(iter(cached_operations)))
            cached_operations[key] = found
    return found
