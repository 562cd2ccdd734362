"""Plans of operations: their fields and compiled functions, and the cache of plans."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

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
    ListValueNode,
    ObjectValueNode,
    OperationType,
    ValueNode,
    VariableNode,
    default_field_resolver,
    get_nullable_type,
    is_leaf_type,
)
from graphql.execution.values import get_argument_values

from gqlnb.engine.compiler.executor import (
    CompiledFunction,
    FieldGroups,
    LazyPath,
    PlanExecutor,
    RepeatPlanExecutor,
)
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    NO_INCREMENTAL,
    PLAIN_TYPES,
    SERIALIZERS,
    TOO_DEEP,
    FieldGroup,
    Value,
    get_serializer,
    new_object,
)
from gqlnb.result.shape import META_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import FieldNode, GraphQLField, GraphQLOutputType, GraphQLSchema

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

# Compiling a selection takes about as long as executing this many rows of it by graphql-core, so
# waiting for as many costs at most twice the time of the better choice.
HOT = 96
DEEP_DOCUMENT = 60  # levels of selections beyond which a document is compiled when it is first seen
CLASHING_ARGUMENTS = {"source", "info"}  # these names are parameters of the default resolver
# Leaf types whose values need only a test of their Python type.
EXACT_TYPES: dict[object, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}


class FieldPlan:
    """One field of a selection set: its nodes and its resolver.

    Attributes
    ----------
    name
        The response name.
    parent
        The object type it is a field of.
    group
        Its nodes, in the form of graphql-core's methods.
    head
        The field name, the nodes, the type and the parent: the first members of its info object.
    default
        Whether its value is looked up in its parent.
    native
        Its resolver, if that is called as ``(root, args, context)``.
    constants
        Its coerced arguments if they contain no variable; None if each run must coerce them.
    direct
        Whether its value is looked up in its parent without coercing arguments first.
    leaf
        Whether it has a nullable leaf type: its errors do not reach another field.
    exact
        The Python type whose values need no conversion; None if no such type exists.
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
        self,
        plan: OperationPlan,
        parent: GraphQLObjectType,
        name: str,
        group: FieldGroup,
        definition: GraphQLField,
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
        self._completer: CompiledFunction | None = None

    @property
    def completer(self) -> CompiledFunction:
        """The function ``(value, path, run)`` that completes an awaited value."""
        if self._completer is None:
            self._completer = self.plan.compiler.compile_completer(self)
        return self._completer


def find_exact_type(kind: GraphQLOutputType) -> type | None:
    """Return the Python type that a leaf type serializes unchanged, if there is one."""
    inner: Any = get_nullable_type(kind)
    found = EXACT_TYPES.get(inner)
    return found if found is not None and get_serializer(inner) is SERIALIZERS[inner] else None


def coerce_constant_arguments(definition: GraphQLField, node: FieldNode) -> dict[str, Any] | None:
    """Return the arguments of a field if all executions have the same, immutable ones."""
    if not definition.args and not node.arguments:
        return {}
    if any(has_variable(argument.value) for argument in node.arguments or ()):
        return None
    try:
        values = get_argument_values(definition, node, None)
    except GraphQLError:
        return None
    immutable = all(value is None or type(value) in PLAIN_TYPES for value in values.values())
    return values if immutable else None


def has_variable(node: ValueNode) -> bool:
    if isinstance(node, ListValueNode):
        return any(map(has_variable, node.values))
    if isinstance(node, ObjectValueNode):
        return any(has_variable(field.value) for field in node.fields)
    return isinstance(node, VariableNode)


class SelectionPlan:
    """The fields selected from one object type at one position in the operation.

    Attributes
    ----------
    kind
        The object type.
    groups
        The collected fields, in the form of graphql-core's methods.
    fields
        The same as field plans, without fields that the type does not have.
    function
        The compiled function, once there is one.
    """

    __slots__ = ("_fields", "function", "groups", "kind", "plan", "seen", "where")

    def __init__(
        self,
        plan: OperationPlan,
        kind: GraphQLObjectType,
        groups: dict[str, FieldGroup],
        where: str,
    ) -> None:
        self.plan = plan
        self.kind = kind
        self.groups = FieldGroups(groups)
        self.groups.selection = self
        self.where = where
        self.seen = 0
        self.function: CompiledFunction | None = None
        self._fields: list[FieldPlan] | None = None

    @property
    def fields(self) -> list[FieldPlan]:
        """The fields that the type has, in order."""
        if self._fields is None:
            self._fields = [
                FieldPlan(self.plan, self.kind, name, group, definition)
                for name, group in self.groups.items()
                if (definition := self.plan.find_definition(self.kind, group)) is not None
            ]
        return self._fields

    def enter(self, source: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Execute the selection: like graphql-core until it has been executed often enough."""
        if self.function is not None:
            return self.function(source, path, run)
        self.seen += 1
        if self.seen <= self.plan.hot:
            return run.execute_uncompiled(self, source, path)
        return self.get_function()(source, path, run)

    def get_function(self) -> CompiledFunction:
        """Return the compiled function."""
        if self.function is None:
            self.function = self.plan.compiler.compile_selection(self)
        return self.function


class FunctionCompiler(Protocol):
    """The part of :class:`gqlnb.engine.compiler.compiler.PlanCompiler` that plans use."""

    def compile_selection(self, selection: SelectionPlan) -> CompiledFunction:
        """Return a function that executes a selection."""

    def get_variant(self, selection: SelectionPlan, *, dicts: bool) -> CompiledFunction:
        """Return a function that executes a selection on dicts, or on other objects."""

    def compile_rows(self, field: FieldPlan, kind: GraphQLOutputType) -> CompiledFunction:
        """Return a function that completes a list of a field."""

    def compile_completer(self, field: FieldPlan) -> CompiledFunction:
        """Return a function that completes a value of a field."""

    def write_selection_source(self, selection: SelectionPlan) -> str:
        """Return the source of a selection."""

    def write_rows_source(self, field: FieldPlan, kind: GraphQLOutputType) -> str:
        """Return the source of a list of a field."""


class OperationPlan:
    """One operation on one schema, for one set of values of its ``@skip`` and ``@include``.

    Parameters
    ----------
    first
        A run built by graphql-core for this operation; further runs are copied from it.
    facts
        The facts about its document.
    create_compiler
        Returns the compiler of its functions. A parameter, since the compiler imports this module.
    timed
        Whether its functions count calls and seconds.

    Attributes
    ----------
    metered
        Whether its functions count fields off the budgets of its runs.
    prototype
        The attributes that a further run copies from the first.
    resolvers, assumed_members
        The resolvers, and the attributes of types, that compiled code takes as constant.
    source_names
        The file names of its compiled code in tracebacks.
    """

    def __init__(
        self,
        first: PlanExecutor,
        facts: DocumentFacts,
        create_compiler: Callable[[OperationPlan], FunctionCompiler],
        *,
        timed: bool = False,
    ) -> None:
        self.timed = timed
        self.metered = hasattr(first, "budget")
        # Compiled code recurses less than graphql-core's methods with ours between them.
        self.hot = 0 if timed or facts.depth > DEEP_DOCUMENT else HOT
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
        # graphql-core 3.2 keeps the default on the class.
        default = getattr(PlanExecutor, "is_awaitable", None)
        self.awaits = self.prototype.get("is_awaitable", default)
        self.is_awaitable = None if self.awaits is default else self.awaits
        # Attributes that RepeatPlanExecutor.__getattr__ is not called for: the class has them too.
        self.own_attributes = {
            k: v for k, v in self.prototype.items() if getattr(PlanExecutor, k, v) is not v
        }
        self.fragments = self.prototype["fragment_definitions" if IS_GRAPHQL_33 else "fragments"]
        self.root_function: CompiledFunction | None = None
        self.empty_variables = type(first.variable_values)({}, {}) if IS_GRAPHQL_33 else {}
        self.kind = self.schema.get_root_type(self.operation.operation)
        self.serial = self.operation.operation is OperationType.MUTATION
        self._variables = select_variables(first.variable_values, facts.names)
        self.root: SelectionPlan | None = None
        self._selections: dict[tuple[object, ...], SelectionPlan] = {}
        self._list_fields: dict[tuple[object, ...], FieldPlan] = {}
        self.resolvers: list[tuple[GraphQLField, Value]] = []
        self.assumed_members: list[tuple[GraphQLOutputType, str, Value]] = []
        self.source_names: list[str] = []
        self.compiler = create_compiler(self)

    @property
    def sample(self) -> PlanExecutor:
        """A run for collecting fields, without the caller's values."""
        return RepeatPlanExecutor.create(self, None, None, self._variables)

    # -- executing

    def execute(self, run: PlanExecutor) -> Value:
        """Execute a run by the compiled function of the root selection."""
        try:
            entered = self.root_function or self.compile_root(run)
            data = entered(run.root_value, None, run)
        except GraphQLError as error:
            return self.respond(run, error)
        # Set by attributes: the constructor of ExecutionResult takes four times as long.
        if type(data) is dict and "collected_errors" not in run.__dict__:
            result = new_object(ExecutionResult)
            result.data = data
            result.errors = result.extensions = None
            return result
        return self.respond(run, data)

    def compile_root(self, run: PlanExecutor) -> CompiledFunction:
        """Return the compiled function of the root; that of a mutation executes field by field.

        Raises
        ------
        GraphQLError
            If the fields can't be collected.
        """
        if self.kind is None or self.serial:
            return lambda _root, _path, run: self.execute_serially(run)
        self.root_function = self.get_root_selection(run).get_function()
        return self.root_function

    def execute_first(self, run: PlanExecutor) -> Value:
        """Execute the first run, by graphql-core's own methods."""
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

    def execute_serially(self, run: PlanExecutor) -> Value:
        """Return the data of a mutation; its fields are executed one after the other."""
        if self.kind is None:
            word = self.operation.operation.value
            message = f"Schema is not configured to execute {word} operation."
            raise GraphQLError(message, self.operation)
        groups = dict(self.get_root_selection(run).groups)
        given = (self.kind, run.root_value, None, groups)
        return run.execute_fields_serially(*given, *NO_INCREMENTAL)

    def respond(self, run: PlanExecutor, data: Value) -> Value:
        """Return the result of a run, given its data or its error; await the data if needed."""
        if isinstance(data, GraphQLError):
            run.collected_errors.add(data, None)
            data = None
        elif type(data) is not dict:
            return self.respond_later(run, data)
        return run.build_result(data)

    async def respond_later(self, run: PlanExecutor, data: Value) -> Value:
        """Await the data of a run and return its result."""
        try:
            data = await data
        except GraphQLError as error:
            run.collected_errors.add(error, None)
            data = None
        return run.build_result(data)

    # -- fields and selections

    def find_definition(self, kind: GraphQLObjectType, group: FieldGroup) -> Any:
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
            If fragments nest too deeply; its traceback is short, since the recursion has ended.
        """
        try:
            return run.collect_root_fields(self.kind)
        except RecursionError:
            pass
        raise GraphQLError(TOO_DEEP, self.operation)

    def get_selection_below(
        self, run: PlanExecutor, kind: GraphQLObjectType, group: FieldGroup
    ) -> SelectionPlan:
        """Return the selection of an object type below a group of fields."""
        nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        # The document keeps the nodes alive, so that their ids are safe as keys.
        key = (kind.name, *map(id, nodes))
        found = self._selections.get(key)
        if found is None:
            where = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            found = SelectionPlan(self, kind, run.collect_fields_below(kind, group), where)
            self._selections[key] = found
        return found

    def get_list_completer(
        self, parent: GraphQLObjectType, group: FieldGroup, kind: GraphQLObjectType
    ) -> CompiledFunction:
        """Return the function that completes the lists of a field in uncompiled code."""
        nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        key = (parent.name, *map(id, nodes))
        field = self._list_fields.get(key)
        if field is None:
            name = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            field = FieldPlan(self, parent, name, group, self.find_definition(parent, group))
            self._list_fields[key] = field
        return self.compiler.compile_rows(field, kind)

    def list_possible_types(self, kind: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """Return the possible object types of an abstract type."""
        return list(self.schema.get_possible_types(kind))

    def is_stale(self) -> bool:
        """Return whether compiled code takes a value as constant that has changed."""
        for definition, resolve in self.resolvers:
            if definition.resolve is not resolve:
                return True
        # A generator would double the time of this check, which every execution makes.
        for owner, name, value in self.assumed_members:  # noqa: SIM110
            if getattr(owner, name) is not value:
                return True
        return False


# The attributes that every run creates for itself when it needs them.
PER_RUN_ATTRIBUTES = (
    "collected_errors",
    "async_helpers",
    "background_futures",
    "pending_incremental_futures",
    "_relevant_sub_fields",
    "_stream_usages",
)


def select_variables(variables: Value, names: tuple[str, ...]) -> Value:
    """Return the coerced variables with the given names."""
    if not IS_GRAPHQL_33:
        return {name: variables[name] for name in names if name in variables}
    parts = ({name: part[name] for name in names if name in part} for part in variables)
    return type(variables)(*parts)


class DocumentFacts(NamedTuple):
    """The facts about a document that decide on its plans.

    Attributes
    ----------
    names
        The variables that ``@skip`` and ``@include`` read.
    plannable
        Whether the engine can execute it: incremental delivery and variables of fragments are
        left to graphql-core.
    depth
        The depth of its selections, each fragment counted once, at its definition.
    """

    names: tuple[str, ...]
    plannable: bool
    depth: int


def collect_facts(document: DocumentNode) -> DocumentFacts:
    """Return the facts about a document."""
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
MAX_PLANS_PER_OPERATION = 16  # sets of @skip and @include values; each has a plan of its own
_lock = Lock()
cached_operations: dict[tuple[object, ...], CachedOperation] = {}


class CachedOperation:
    """One operation of a document on a schema, with its plans.

    Attributes
    ----------
    facts
        The facts about the document.
    name
        The requested name of the operation.
    plans
        Its plans, by the values of the variables that ``@skip`` and ``@include`` read.
    plan_without_variables
        The plan of an operation without variables.
    """

    __slots__ = ("document", "facts", "name", "plan_without_variables", "plans", "schema")

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        self.schema = schema  # a reference, so that no other object gets the id of the cache key
        self.document = document
        self.name = name
        self.facts = collect_facts(document)
        self.plans: dict[tuple[object, ...], OperationPlan] = {}
        self.plan_without_variables: OperationPlan | None = None

    def store_plan(self, key: tuple[object, ...], plan: OperationPlan) -> None:
        """Cache the plan for one set of values."""
        with _lock:
            # The oldest entry is dropped: a dict is ordered, and a look-up need not reorder it.
            if len(self.plans) >= MAX_PLANS_PER_OPERATION:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = plan
        if not plan.operation.variable_definitions:
            self.plan_without_variables = plan

    def clear_plans(self) -> None:
        """Drop all plans, since a resolver has changed."""
        with _lock:
            self.plans.clear()
            self.plan_without_variables = None


def get_operation(
    schema: GraphQLSchema, document: DocumentNode, name: str | None, given: tuple[object, ...]
) -> CachedOperation:
    """Return the cached operation of a document.

    Parameters
    ----------
    schema, document, name
        The schema, the document and the requested name of the operation.
    given
        The rest of the cache key: the caller's default resolvers, which a plan takes as constant,
        and whether the plan counts fields.
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
