"""Operations of documents with their plans, and the look-up of an operation."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from graphql import DocumentNode, GraphQLSchema

from gqlnb.document.document import Document
from gqlnb.document.sized_cache import MAX_CACHED_CHARACTERS
from gqlnb.engine.compiler.conditions import collect_facts
from gqlnb.engine.compiler.operation_cache import get_operation_cache
from gqlnb.engine.graphql_compat import IS_GRAPHQL_33, Value
from gqlnb.engine.schema_watch import SchemaChangedError, SchemaWatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.engine.compiler.plans import OperationPlan
    from gqlnb.engine.compiler.variable_values import VariableCoercer

__all__ = ["MAX_PLANS_BUILT", "CachedOperation", "get_operation"]

BRANCH = "branch"  # in the key of a plan, for a variable that may have either value
MAX_PLANS_PER_OPERATION = 16  # sets of @skip and @include values; each has a plan of its own
# Sets beyond which a new one gets no plan: random sets would each be planned for a single run.
MAX_PLANS_BUILT = 4 * MAX_PLANS_PER_OPERATION
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
    plans_built
        The number of plans built since the schema changed.
    coercer
        The coercion of its variables, once there is a plan.
    columnar
        Whether long lists of plain rows may be batches of columns.
    library
        The executor class of a library that builds info objects of its own, or None.
    watch
        Notices changes of the schema that its plans and its coercer depend on.
    """

    __slots__ = (
        "coercer",
        "columnar",
        "document",
        "facts",
        "is_validated",
        "library",
        "name",
        "plan_without_variables",
        "plans",
        "plans_built",
        "schema",
        "source",
        "watch",
    )

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
        self.plans_built = 0
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

    def list_branches(self, key: tuple[object, ...]) -> frozenset[str]:
        """Return the variables that may have either value in the plan of a key."""
        pairs = zip(self.facts.names, key, strict=True)
        return frozenset(name for name, value in pairs if value is BRANCH)

    def store_plan(self, key: tuple[object, ...], plan: OperationPlan) -> None:
        """Cache the plan for one set of values."""
        with _lock:
            self.plans_built += 1
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
            self.plans_built = 0
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
