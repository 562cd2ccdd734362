"""Plans of operations: their fields, compiled functions, and the cache that keeps them."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLAbstractType,
    GraphQLBoolean,
    GraphQLError,
    GraphQLID,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    OperationType,
    Undefined,
    VariableNode,
    default_field_resolver,
    get_nullable_type,
    is_input_object_type,
    is_leaf_type,
    is_non_null_type,
)
from graphql.execution.values import get_argument_values

from gqlnb.document.document import Document
from gqlnb.document.sized_cache import MAX_CACHED_CHARACTERS, SizedCache
from gqlnb.document.validation import META_FIELDS
from gqlnb.engine.compiler.conditions import Condition, Conditions, collect_facts
from gqlnb.engine.compiler.executor import (
    ArgumentSource,
    CompiledFunction,
    FieldGroups,
    PlanExecutor,
    RepeatPlanExecutor,
)
from gqlnb.engine.compiler.python_types import OBJECT, TypeKinds, find_attribute_field
from gqlnb.engine.compiler.resolve_info import INFO_CLASSES, ErrorLocation, LazyPath
from gqlnb.engine.graphql_compat import (
    IS_GRAPHQL_33,
    NO_INCREMENTAL,
    PLAIN_TYPES,
    SERIALIZERS,
    TOO_DEEP,
    AnyGraphQLType,
    FieldGroup,
    Value,
    get_serializer,
    new_object,
)
from gqlnb.engine.schema_watch import (
    SchemaChangedError,
    SchemaWatch,
    find_leaf_predicate,
    is_constant,
    watch_field,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from graphql import GraphQLField, GraphQLOutputType, OperationDefinitionNode

    from gqlnb.engine.compiler.conditions import DocumentFacts
    from gqlnb.engine.compiler.variable_values import VariableCoercer

MAX_OPERATIONS = 512  # documents remembered for a schema; a notebook or a server repeats few
# Characters of generated source that the plans of a schema keep; with its code objects, source
# takes some 20 bytes a character.
MAX_SCHEMA_SOURCE = 2_000_000


# The schema itself holds its cache, so that all plans are collected with the schema: a plan refers
# to its schema, which would keep both in a weak dictionary for ever.
class OperationCache(SizedCache[tuple[object, ...], Any]):
    """The operations executed on a schema, by document and name, and the Python types seen.

    Attributes
    ----------
    type_kinds
        The kinds of the Python types of values.
    new_source_size
        The characters of source generated since their sum was last checked.
    """

    def __init__(self) -> None:
        super().__init__(MAX_OPERATIONS)
        self.type_kinds = TypeKinds()
        self.new_source_size = 0

    def __reduce__(self) -> tuple[type[OperationCache], tuple[()]]:
        """Copy or pickle an empty cache, along with the schema that holds it."""
        return OperationCache, ()

    def count_source(self, size: int) -> None:
        """Count new source; drop the oldest operations if that of all has become too long."""
        unchecked = MAX_SCHEMA_SOURCE // 8  # the sum takes as long as a small query
        self.new_source_size += size
        if self.new_source_size > unchecked:
            self.new_source_size = 0
            with self._lock:
                bound = MAX_SCHEMA_SOURCE - unchecked
                while sum(found.source_size for found in self.values()) > bound:
                    self._drop(next(iter(self)))


def get_operation_cache(schema: GraphQLSchema) -> OperationCache:
    """Return the operations executed on a schema."""
    try:
        return schema.gqlnb_operations  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        return vars(schema).setdefault("gqlnb_operations", OperationCache())  # type: ignore[no-any-return]


# Compiling a field takes about as long as looking a leaf up this many times uncompiled, so waiting
# for as many costs at most about twice the time of the better choice.
HOT = 64
CALLER_ATTRIBUTES = ("root_value", "context_value", "variable_values", "_subfields_cache")
# An operation that is executed again and again, as on a server, is compiled sooner: compiling a few
# fields takes less than a millisecond. Each further fields of this number wait for another run.
FIRST_RUNS, FIELDS_PER_RUN = 3, 16
OTHER_FIELD = 6  # leaves that can be looked up while graphql-core executes a field of another kind
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
    location
        Its nodes, for errors.
    parent
        The object type it is a field of.
    group
        Its nodes, in the form of graphql-core's methods.
    field_name
        Its name in the schema.
    default
        Whether its value is looked up in its parent.
    attribute
        The attribute that its resolver, one of Strawberry's, only reads; else None.
    native
        Its resolver, if that is called as ``(root, args, context)``.
    constants
        Its coerced arguments if they contain no variable; None if each run must coerce them.
    arguments
        The sources of its arguments if some are variables and the others constants. None if
        graphql-core must coerce them.
    looked_up
        Whether its value is looked up in its parent, once its arguments are known to be valid.
    direct
        Whether these are the same in each run.
    leaf
        Whether it has a nullable leaf type: its errors do not reach another field.
    is_usual
        Returns whether a value is of the usual type of its leaf type; None without such a type.
    exact
        The Python type whose values need no conversion; None if no such type exists.
    """

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
        self.location = ErrorLocation(self.nodes)
        self.definition = definition
        self.type = definition.type
        self.field_name = self.nodes[0].name.value
        self.resolve = definition.resolve or plan.field_resolver
        self.default = self.resolve is default_field_resolver
        self.native = getattr(self.resolve, "gqlnb_native", None)
        self.exact = find_exact_type(self.type)
        self.leaf = is_leaf_type(self.type)
        self.is_usual = find_leaf_predicate(get_nullable_type(self.type))
        self.constants = coerce_constant_arguments(definition, self.nodes[0])
        self.arguments = (
            list_argument_sources(definition, self.nodes[0]) if self.constants is None else None
        )
        names = {argument.out_name or name for name, argument in definition.args.items()}
        self.looked_up = self.default and CLASHING_ARGUMENTS.isdisjoint(names)
        self.direct = self.looked_up and self.constants is not None
        # The attribute that a resolver of Strawberry only reads, if it does.
        self.attribute: str | None = None
        if self.constants is not None and (basic := find_attribute_field(definition)) is not None:
            plan.watch.add(basic, (), "default_resolver")
            self.attribute = basic.python_name
        keeps = self.constants is not None or self.arguments is not None
        watch_field(plan.watch, parent, definition, self.nodes[0], keeps_arguments=keeps)

    @property
    def needs_call(self) -> bool:
        """Whether its resolver is called."""
        return not self.default and self.attribute is None

    @property
    def needs_info(self) -> bool:
        """Whether its resolver gets an info object, which has the path."""
        return self.needs_call and self.native is None

    @property
    def reads_path(self) -> bool:
        """Whether the code of its resolver has the name of the path, to read ``info.path``."""
        code = getattr(self.resolve, "__code__", None)
        return self.needs_info and code is not None and "path" in code.co_names

    @cached_property
    def completer(self) -> Value:
        """The function ``(value, path, run)`` that completes an awaited value."""
        return self.plan.compiler.compile_completer(self)

    def find_selection_below(self, kind: GraphQLObjectType) -> SelectionPlan | None:
        """Return the selection of an object type below it; None if collecting it fails."""
        try:
            return self.plan.get_selection_below(self.plan.sample, kind, self.group)
        except (GraphQLError, RecursionError):  # as in each run
            return None


def find_exact_type(kind: GraphQLOutputType) -> type | None:
    """Return the Python type that a leaf type serializes unchanged, if there is one."""
    inner: Any = get_nullable_type(kind)
    found = EXACT_TYPES.get(inner)
    return found if found is not None and get_serializer(inner) is SERIALIZERS[inner] else None


def coerce_constant_arguments(definition: Value, node: FieldNode) -> dict[str, Any] | None:
    """Return the arguments of a field if all executions have the same, immutable ones."""
    if not definition.args and not node.arguments:
        return {}
    given = {argument.name.value: argument.value for argument in node.arguments or ()}
    for name, argument in definition.args.items():
        if name in given:
            if not is_constant(given[name], argument.type):
                return None
        elif is_input_object_type(argument.type) and argument.default_value is not Undefined:
            return None  # graphql-core 3.2 makes it anew for each call
    try:
        values = get_argument_values(definition, node, None)
    except GraphQLError:
        return None
    immutable = all(value is None or type(value) in PLAIN_TYPES for value in values.values())
    return values if immutable else None


def list_argument_sources(definition: GraphQLField, node: FieldNode) -> list[ArgumentSource] | None:
    """Return the sources of a field's arguments; None if graphql-core must coerce them."""
    given = {argument.name.value: argument.value for argument in node.arguments or ()}
    variables = {k: v.name.value for k, v in given.items() if isinstance(v, VariableNode)}
    others = {k: argument for k, argument in definition.args.items() if k not in variables}
    constants = coerce_constant_arguments(
        SimpleNamespace(args=others),  # the constructor of a field would check the names again
        FieldNode(
            name=node.name,
            arguments=tuple(a for a in node.arguments or () if a.name.value not in variables),
        ),
    )
    out_names = {argument.out_name or name for name, argument in definition.args.items()}
    if constants is None or len(out_names) < len(definition.args):  # two arguments as one
        return None
    sources: list[ArgumentSource] = []
    for name, argument in definition.args.items():
        out_name = argument.out_name or name
        if name in variables:
            required = is_non_null_type(argument.type)
            sources.append((out_name, variables[name], argument, required))
        elif out_name in constants:
            sources.append((out_name, None, constants[out_name], False))
    return sources


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
    conditions
        The conditions of fields that only some runs execute, by response name.
    """

    def __init__(
        self,
        plan: OperationPlan,
        kind: GraphQLObjectType,
        groups: dict[str, FieldGroup],
        where: str,
        nodes: Sequence[OperationDefinitionNode | FieldNode],
    ) -> None:
        self.plan = plan
        self.kind = kind
        self.conditions: dict[str, list[Condition]] = {}
        if plan.conditions is not None:
            selected = [node.selection_set for node in nodes if node.selection_set]
            found = plan.conditions.list_conditions(selected)
            # Not those of fields in fragments on other types.
            self.conditions = {name: tests for name, tests in found.items() if name in groups}
        self.groups = FieldGroups(groups)
        self.groups.selection = self
        self.where = where
        self.seen = 0
        self.hot = plan.hot
        self._weight: int | None = None

    @cached_property
    def fields(self) -> list[FieldPlan]:
        """The fields that the type has, in order."""
        fields = [
            FieldPlan(self.plan, self.kind, name, group, definition)
            for name, group in self.groups.items()
            if (definition := self.plan.find_definition(self.kind, group)) is not None
        ]
        if len(fields) < len(self.groups):  # the others may be added to the type
            self.plan.watch.add(self.kind, (), "fields")
        return fields

    @property
    def weight(self) -> int:
        """The cost of an uncompiled execution, in leaves that are looked up."""
        if self.seen < 2:  # its fields have no plans yet
            return len(self.groups)
        if self._weight is None:
            leaves = sum(field.direct and field.is_usual is not None for field in self.fields)
            self._weight = leaves + OTHER_FIELD * (len(self.groups) - leaves)
        return self._weight

    def enter(self, source: Value, path: LazyPath, run: PlanExecutor) -> Value:
        """Execute the selection: uncompiled until it has been executed often enough."""
        self.seen += 1
        if self.seen <= self.hot and not self.is_compiled:
            if self.seen == 2:  # now it may be executed often
                found = {id(field.group): field for field in self.fields if field.direct}
                self.plan.direct_fields.update(found)
            return run.execute_uncompiled(self, source, path)
        return self.functions[self.plan.cache.type_kinds[type(source)]](source, path, run)

    def list_included_groups(self, run: PlanExecutor) -> dict[str, FieldGroup]:
        """Return the fields that a run executes."""
        if not self.conditions:
            return dict(self.groups)
        given = run.coerced_variables
        return {
            name: group
            for name, group in self.groups.items()
            if all(given[variable] is value for variable, value in self.conditions.get(name, ()))
        }

    @property
    def is_compiled(self) -> bool:
        """Whether it has been executed often enough."""
        return "functions" in self.__dict__

    @cached_property
    def functions(self) -> list[CompiledFunction]:
        """The compiled functions, by the kind of their source object."""
        return self.plan.compiler.compile_selection(self)  # type: ignore[no-any-return]


class OperationPlan:
    """One operation on one schema.

    Most ``@skip`` and ``@include`` by variables are branches of its functions; the operation has a
    plan for each set of values of the others.

    Parameters
    ----------
    first
        A run built by graphql-core for this operation, which gets the plan; further runs are copied
        from it.
    facts
        The facts about its document.
    create_compiler
        Returns the compiler of its functions. A parameter, since the compiler imports this module.
    watch
        Gets the parts of the schema that the plan takes as constant.
    branches
        Whether the variables of ``@skip`` and ``@include`` that can be branches may have any value
        in its runs.
    timed
        Whether its functions count calls and seconds.
    library
        The executor class of a library that builds info objects of its own; None for
        graphql-core's.
    columnar
        Whether its long lists of plain rows are batches of columns; in the end, whether they could
        be.

    Attributes
    ----------
    conditions
        The conditions by these variables; None without any.
    metered
        Whether its functions count fields off the budgets of its runs.
    prototype
        The attributes that a further run copies from the first.
    direct_fields
        The fields that are looked up in their parents, by the ids of their groups, of selections
        that were executed twice.
    watch
        Notices changes of the schema.
    source_names, source_size
        The file names of its compiled code in tracebacks, and its length in characters.
    cache
        The operations executed on the schema.
    """

    def __init__(
        self,
        first: PlanExecutor,
        facts: DocumentFacts,
        create_compiler: Callable[[OperationPlan], Any],
        watch: SchemaWatch,
        *,
        branches: bool = False,
        timed: bool = False,
        columnar: bool = False,
        library: type | None = None,
    ) -> None:
        self.timed = timed
        self.library = library
        self.info_classes = INFO_CLASSES[library is not None]
        self.columnar = columnar
        self.conditions = Conditions(first.fragments, facts.branches) if branches else None
        self.metered = hasattr(first, "budget")
        # Compiled code recurses less than graphql-core's methods with ours between them.
        self.hot = 0 if timed or facts.depth > DEEP_DOCUMENT else HOT
        self.schema: GraphQLSchema = first.schema
        self.operation = first.operation
        self.field_resolver = first.field_resolver
        self.type_resolver = first.type_resolver
        self.prototype = dict(first.__dict__)
        for name in (*CALLER_ATTRIBUTES, *PER_RUN_ATTRIBUTES):
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
        self.root_functions: list[CompiledFunction] | None = None
        self.empty_variables = type(first.variable_values)({}, {}) if IS_GRAPHQL_33 else {}
        self.kind = self.schema.get_root_type(self.operation.operation)
        self.watch = watch
        watch.add(self.schema, (), f"{self.operation.operation.value}_type")
        for name in facts.type_names & self.schema.type_map.keys():
            watch.add(self.schema, ("type_map", name))
        self.serial = self.operation.operation is OperationType.MUTATION
        self._variables = self.empty_variables
        if facts.names:
            self._variables = select_variables(first.variable_values, facts.names)
        self.root: SelectionPlan | None = None
        self._selections: dict[tuple[object, ...], SelectionPlan] = {}
        self._list_fields: dict[tuple[object, ...], FieldPlan] = {}
        # Of the selections of one field, by response name.
        self._serial_functions: dict[str, list[CompiledFunction]] = {}
        self.direct_fields: dict[int, FieldPlan] = {}
        self.source_names: list[str] = []
        self.source_size = 0
        self.cache = get_operation_cache(self.schema)
        self.compiler = create_compiler(self)
        first.__dict__.pop("collected_errors", None)  # graphql-core's; the run creates its own
        first.plan = self

    @property
    def sample(self) -> Value:
        """A run for collecting fields, without the caller's values."""
        return RepeatPlanExecutor.create(self, None, None, self._variables)

    @property
    def is_compiled(self) -> bool:
        """Whether its root has been executed often enough to be compiled."""
        return self.root_functions is not None or self.hot == 0

    # -- executing

    def execute(self, run: PlanExecutor) -> Value:
        """Execute a run: by the compiled function of the root selection, once there is one."""
        try:
            if self.root_functions is not None:
                root = run.root_value
                kind = OBJECT if root is None else self.cache.type_kinds[type(root)]
                data = self.root_functions[kind](root, None, run)
            elif self.kind is None or self.serial:
                data = self.execute_serially(run)
            else:
                data = self.enter_root(run)
        except GraphQLError as error:
            return self.respond(run, error)
        # Set by attributes: the constructor of ExecutionResult takes four times as long.
        if type(data) is dict and "collected_errors" not in run.__dict__:
            result = new_object(ExecutionResult)
            result.data = data
            result.errors = result.extensions = None
            return result
        return self.respond(run, data)

    def enter_root(self, run: PlanExecutor) -> Value:
        """Execute the root selection: uncompiled until compiling it repays.

        Raises
        ------
        GraphQLError
            If the fields can't be collected, or a field that must not be null has failed.
        """
        root = self.get_root_selection(run)
        self.let_compile(root)
        data = root.enter(run.root_value, None, run)
        if root.is_compiled:
            self.root_functions = root.functions
        return data

    def let_compile(self, root: SelectionPlan) -> None:
        """Let the root be compiled once its fields have cost as much as compiling them."""
        if root.hot and root.seen:  # nothing was executed before the first time
            selections = [root, *self._selections.values()]
            executed = sum(selection.seen * selection.weight for selection in selections)
            fields = sum(len(selection.groups) for selection in selections)
            runs = FIRST_RUNS + fields // FIELDS_PER_RUN
            if root.seen >= runs or executed >= self.hot * fields:
                root.hot = 0

    def execute_serially(self, run: PlanExecutor) -> Value:
        """Return the data of a mutation; its fields are executed one after the other."""
        if self.kind is None:
            word = self.operation.operation.value
            message = f"Schema is not configured to execute {word} operation."
            raise GraphQLError(message, self.operation)
        root = self.get_root_selection(run)
        self.let_compile(root)
        if root.seen < root.hot:
            root.seen += 1
        else:
            # Graphql-core keeps the order and awaits; compiled code executes each field.
            run.__dict__["execute_field"] = partial(self.execute_serial_field, run)
        given = (self.kind, run.root_value, None, root.list_included_groups(run))
        data = run.execute_fields_serially(*given, *NO_INCREMENTAL)
        if type(data) is dict:
            run.__dict__.pop("execute_field", None)  # it refers to the run
        return data

    def execute_serial_field(self, run: PlanExecutor, *given: Value) -> Value:
        """Execute a field of a mutation by compiled code, any field below it like graphql-core."""
        _parent, source, group, path, *_ = given
        if path.prev is not None:
            return type(run).execute_field(run, *given)
        functions = self._serial_functions.get(path.key)
        if functions is None:
            if self.find_definition(self.kind, group) is None:
                return Undefined
            groups = {path.key: group}
            selection = SelectionPlan(self, self.kind, groups, path.key, [self.operation])
            functions = self._serial_functions[path.key] = selection.functions
        kind = OBJECT if source is None else self.cache.type_kinds[type(source)]
        data = functions[kind](source, None, run)
        return data[path.key] if type(data) is dict else take_member(data, path.key)

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
            return run.build_result(await data)
        except GraphQLError as error:
            return self.respond(run, error)

    # -- fields and selections

    def find_definition(self, kind: GraphQLObjectType, group: FieldGroup) -> AnyGraphQLType:
        """Return the definition of a field, None if the type has no such field."""
        node = group[0].node if IS_GRAPHQL_33 else group[0]
        name = node.name.value
        if name == "__typename" or (name in META_FIELDS and kind == self.schema.query_type):
            return META_FIELDS[name]
        return kind.fields.get(name)

    def get_root_selection(self, run: PlanExecutor) -> SelectionPlan:
        """Return the selection of the operation itself.

        Raises
        ------
        GraphQLError
            If fragments nest too deeply; its traceback is short, since the recursion has ended.
        """
        if self.root is not None:
            return self.root
        name = self.operation.name.value if self.operation.name else "operation"
        groups = None
        with suppress(RecursionError):
            groups = run.collect_groups(self.kind)
        if groups is None:
            raise GraphQLError(TOO_DEEP, self.operation)
        self.root = SelectionPlan(self, self.kind, groups, name, [self.operation])
        return self.root

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
            groups = run.collect_groups(kind, group)
            found = SelectionPlan(self, kind, groups, where, nodes)
            self._selections[key] = found
        return found

    def get_list_completer(
        self,
        parent: GraphQLObjectType,
        group: FieldGroup,
        kind: GraphQLObjectType,
        *,
        iterator: bool,
    ) -> Value:
        """Return the function that completes the lists of a field in uncompiled code."""
        nodes = [details.node for details in group] if IS_GRAPHQL_33 else group
        key = (parent.name, *map(id, nodes))
        field = self._list_fields.get(key)
        if field is None:
            name = nodes[0].alias.value if nodes[0].alias else nodes[0].name.value
            field = FieldPlan(self, parent, name, group, self.find_definition(parent, group))
            self._list_fields[key] = field
        return self.compiler.compile_rows(field, kind, iterator=iterator)

    def list_possible_types(self, kind: GraphQLAbstractType) -> list[GraphQLObjectType]:
        """Return the possible object types of an abstract type."""
        return list(self.schema.get_possible_types(kind))


async def take_member(pending: Awaitable[Value], name: str) -> Value:
    """Await a dict and return a member of it."""
    return (await pending)[name]


# The attributes that every run creates for itself when it needs them.
PER_RUN_ATTRIBUTES = (
    "collected_errors",
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


BRANCH = "branch"  # in the key of a plan, for a variable that may have either value
MAX_PLANS_PER_OPERATION = 16  # sets of @skip and @include values; each has a plan of its own
_lock = Lock()


class CachedOperation:
    """One operation of a document on a schema, with its plans.

    Attributes
    ----------
    source
        The document, as it was given.
    is_validated
        Whether that is a :class:`~gqlnb.document.document.Document`, rather than graphql-core's.
    facts
        The facts about the document.
    name
        The requested name of the operation.
    plans
        Its plans, by the values of the variables that ``@skip`` and ``@include`` read; those that
        are branches of a plan are BRANCH.
    plan_without_variables
        The plan of an operation without variables.
    coercer
        The coercion of its variables, once there is a plan.
    columnar
        Whether long lists of plain rows may be batches of columns.
    library
        The executor class of a library that builds info objects of its own, or None.
    watch
        Notices changes of the schema that its plans and its coercer depend on.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        source: Value,
        name: str | None,
        *,
        columnar: bool = False,
        library: type | None = None,
    ) -> None:
        self.columnar = columnar
        self.is_validated = isinstance(source, Document)
        self.source, document = source, source.ast if self.is_validated else source
        self.library = library
        self.schema = schema  # a reference, so that no other object gets the id of the cache key
        self.document = document
        self.name = name
        self.facts = collect_facts(document)
        self.plans: dict[tuple[object, ...], OperationPlan] = {}
        self.plan_without_variables: OperationPlan | None = None
        self.coercer: VariableCoercer | None = None
        self.watch = source.watch if self.is_validated else SchemaWatch()

    @property
    def plannable(self) -> bool:
        """Whether the engine can execute it, rather than graphql-core."""
        if self.plans:
            return True
        schema = self.schema
        incremental = IS_GRAPHQL_33 and (
            schema.get_directive("defer") or schema.get_directive("stream")
        )
        return self.facts.plannable and not incremental

    @property
    def source_size(self) -> int:
        """The characters of generated source that it keeps."""
        return sum(plan.source_size for plan in list(self.plans.values()))

    def build_plan_key(self, variables: Mapping[str, Value]) -> tuple[object, ...]:
        """Return the key of the plan for coerced variables.

        Raises
        ------
        TypeError
            If a value is not hashable, so that it is not a Boolean.
        """
        facts = self.facts
        if not facts.names:
            return ()
        key = tuple(variables.get(name, ...) for name in facts.names)
        hash(key)
        # Null is an error where graphql-core evaluates it, which depends on the other conditions.
        if not all(type(value) is bool for value in key):
            return key
        return tuple(
            BRANCH if name in facts.branches else value
            for name, value in zip(facts.names, key, strict=True)
        )

    def store_plan(self, key: tuple[object, ...], plan: OperationPlan) -> None:
        """Cache the plan for one set of values."""
        with _lock:
            # The oldest entry is dropped: a dict is ordered, and a look-up need not reorder it.
            if len(self.plans) >= MAX_PLANS_PER_OPERATION:
                self.plans.pop(next(iter(self.plans)))
            self.plans[key] = plan
        if not plan.operation.variable_definitions:
            self.plan_without_variables = plan

    def check_validity(self) -> None:
        """Raise an error if the document was validated, and the schema has changed since.

        Raises
        ------
        SchemaChangedError
            If so: it must be validated again.
        """
        if self.is_validated and self.watch.has_changed():
            raise SchemaChangedError

    def clear_plans(self) -> None:
        """Drop all plans, since the schema has changed."""
        with _lock:
            self.watch = SchemaWatch()
            self.plans.clear()
            self.plan_without_variables = None
            self.coercer = None


def get_operation(
    schema: Value,
    document: Value,
    name: str | None,
    given: tuple[object, ...],
    *,
    columnar: bool = False,
    library: type | None = None,
) -> CachedOperation:
    """Return the cached operation of a document.

    Parameters
    ----------
    schema, document, name
        The schema, the document and the requested name of the operation.
    given
        The rest of the cache key: the caller's default resolvers, which a plan takes as constant,
        whether the plan counts fields, and the following arguments.
    columnar, library
        As of :class:`CachedOperation`.
    """
    # Ids are much faster than hashing a document, and safe as keys: the cached operation refers to
    # both objects, so that no other object can get their ids. The schema's is among them since a
    # copy of a schema may share its attributes.
    key = (id(schema), id(document), name, *given) if given else (id(schema), id(document), name)
    try:
        return schema.gqlnb_operations[key]  # type: ignore[no-any-return]
    except (AttributeError, KeyError):
        operation = CachedOperation(schema, document, name, columnar=columnar, library=library)
        # graphql-core reports other objects.
        if isinstance(schema, GraphQLSchema) and isinstance(operation.document, DocumentNode):
            place = operation.document.loc
            size = place.end if place else 1000  # of a text parsed without locations
            get_operation_cache(schema).add(key, operation, min(size, MAX_CACHED_CHARACTERS))
        return operation
