"""Documents for a schema: mostly valid ones, some with one thing wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLBoolean,
    GraphQLNonNull,
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    is_required_argument,
    is_union_type,
    parse,
)

from tests.property.differential import inputs

if TYPE_CHECKING:
    from tests.property.differential.chance import Chance
    from tests.property.differential.schemas import Made

DEEPEST = 4
META = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef}
CONDITION = GraphQLNonNull(GraphQLBoolean)


class Variable(NamedTuple):
    """A declared variable."""

    name: str
    kind: Any
    default: str | None


class Written(NamedTuple):
    """A document and what is needed to run it."""

    text: str
    variables: list[Variable]
    operation: str | None  # which to run, by name
    defect: str | None  # what is wrong with it


class Writer:
    """Writes one document.

    Parameters
    ----------
    made
        The schema.
    chance
        Decides everything.
    valid
        Whether nothing is wrong on purpose, and nothing is asked of introspection.
    """

    def __init__(self, made: Made, chance: Chance, *, valid: bool = False) -> None:
        self.schema = made.schema
        self.chance = chance
        self.valid = valid
        self.wild = chance.pick((0, 0, 0, 2, 8)) * (not valid)
        self.variables: list[Variable] = []
        self.fragments: dict[str, tuple[Any, str]] = {}
        self.arguments: dict[tuple[str, str], str] = {}
        self.budget = 10 + chance.below(30)
        self.aliases = 0
        self.defect = chance.pick(list(DEFECTS)) if chance.odds(10) and not valid else None
        self._pending = self.defect

    def write(self) -> Written:
        """Write the document."""
        chance = self.chance
        kind = chance.pick(
            ("query",) * 16 + ("mutation",) * 5 + ("subscription",) * (not self.valid)
        )
        root = {
            "query": self.schema.query_type,
            "mutation": self.schema.mutation_type,
            "subscription": self.schema.subscription_type,
        }[kind]
        if root is None and chance.odds(90):
            kind = "query"
        body = self.selections(root or self.schema.query_type, 0)
        several = chance.odds(12) or self.defect in ("ambiguous", "no such operation")
        name = "Main" if several or chance.odds(40) else None
        parts = [self.operation(kind, name, body)]
        if several:
            parts.insert(chance.below(2), "query Other { __typename }")
        parts += [f"fragment {key} on {on} {text}" for key, (on, text) in self.fragments.items()]
        if self.defect == "no operation":
            del parts[0]
            parts.append("fragment Alone on Query { __typename }")
        if chance.odds(20):
            parts.append(parts.pop(0))
        asked = name if several or (name and chance.odds(50)) else None
        if self.defect == "ambiguous":
            asked = None
        if self.defect == "no such operation":
            asked = "Nobody"
        text = "\n".join(parts)
        return Written(text, self.variables, asked, self.defect)

    def operation(self, kind: str, name: str | None, body: str) -> str:
        """Write the operation itself."""
        declared = [
            f"${variable.name}: {variable.kind}"
            + (f" = {variable.default}" if variable.default is not None else "")
            for variable in self.variables
        ]
        if self.defect == "unknown variable type":
            declared.append(self.chance.pick(("$bad: Nowhere", "$bad: Query", "$bad: [Nowhere!]!")))
        if not declared and name is None and kind == "query" and self.chance.odds(50):
            return body
        head = f"{kind} {name or ''}" + (f"({', '.join(declared)})" if declared else "")
        extra = self.chance.pick(
            ("",) * 30 + (" @nowhere", " @experimental_disableErrorPropagation") * (not self.valid)
        )
        return f"{head}{extra} {body}"

    # Selections

    def selections(self, parent: Any, depth: int, least: int = 1) -> str:
        """Write a selection set of a composite type."""
        chance = self.chance
        entries: list[str] = []
        for _ in range(least + chance.below(7 if depth == 0 else 5)):
            if entries and self.budget <= 0:
                break
            entries.append(self.selection(parent, depth, entries))
        if self._pending in IN_SELECTIONS and chance.odds(30):
            entries.insert(chance.below(len(entries) + 1), self.defective(parent))
        return "{ " + " ".join(entries) + " }"

    def selection(self, parent: Any, depth: int, before: list[str]) -> str:
        """Write a field or a fragment."""
        chance = self.chance
        roll = chance.below(100)
        abstract = is_abstract_type(parent)
        if self.budget <= 0:
            return "__typename" if is_union_type(parent) else self.leaf(parent)
        if roll < (25 if abstract else 10) and depth < DEEPEST:
            return self.inline(parent, depth)
        if roll < (45 if abstract else 20) and depth < DEEPEST:
            return self.spread(parent, depth)
        if roll < (52 if abstract else 22) or is_union_type(parent):
            self.budget -= 1
            return chance.pick(("__typename", "t: __typename")) + self.directives()
        if roll < 32 and before:
            again = chance.pick(before)
            return again if not again.startswith("...") else again + self.directives_of(again)
        return self.field(parent, depth)

    def leaf(self, parent: Any) -> str:
        """Write a field without selections below it."""
        plain = [
            name
            for name, field in parent.fields.items()
            if not is_composite_type(get_named_type(field.type))
            and not any(is_required_argument(arg) for arg in field.args.values())
        ]
        return self.chance.pick(plain) if plain else "__typename"

    def field(self, parent: Any, depth: int) -> str:
        """Write a field."""
        chance = self.chance
        self.budget -= 1
        fields = dict(parent.fields)
        if parent is self.schema.query_type and depth == 0 and chance.odds(10) and not self.valid:
            fields = META
        name = chance.pick(list(fields))
        kind = get_named_type(fields[name].type)
        composite = is_composite_type(kind)
        if composite and depth >= DEEPEST:
            return self.leaf(parent)
        if chance.odds(25):
            self.aliases += 1
            alias = f"{chance.pick(('x', 'y', 'z'))}{self.aliases}: "
            call = self.call(name, fields[name])
        else:
            # Without an alias always with the same arguments, so that all these can be merged.
            key, alias = (parent.name, name), ""
            if key not in self.arguments:
                self.arguments[key] = self.call(name, fields[name])
            call = self.arguments[key]
        if self._pending == "conflict" and chance.odds(40):
            self._pending = None
            alias = "same: "
        body = " " + self.selections(kind, depth + 1) if composite else ""
        if self._pending == "selections of a leaf" and not composite and chance.odds(40):
            self._pending, body = None, " { nothing }"
        if self._pending == "no selections" and composite and chance.odds(40):
            self._pending, body = None, ""
        return f"{alias}{name}{call}{self.directives()}{body}"

    def inline(self, parent: Any, depth: int) -> str:
        """Write an inline fragment, mostly on a type that overlaps."""
        self.budget -= 1
        on = None if self.chance.odds(25) else self.overlapping(parent)
        condition = f" on {on}" if on else ""
        body = self.selections(on or parent, depth + (0 if self.chance.odds(60) else 1))
        return f"...{condition}{self.directives()} {body}"

    def spread(self, parent: Any, depth: int) -> str:
        """Spread a fragment, an old one or a new one."""
        chance = self.chance
        self.budget -= 1
        fitting = [name for name, (on, text) in self.fragments.items() if text and on is parent]
        if fitting and chance.odds(45):
            return f"...{chance.pick(fitting)}{self.directives()}"
        name = f"F{len(self.fragments) + 1}"
        on = self.overlapping(parent)
        self.fragments[name] = (on, "")
        text = self.selections(on, depth + 1)
        if self._pending == "cycle":
            self._pending = None
            text = text[:-1] + f"...{name} " + "}"
        self.fragments[name] = (on, text)
        return f"...{name}{self.directives()}"

    def overlapping(self, parent: Any) -> Any:
        """Return a composite type, mostly one that shares objects with `parent`."""
        schema, chance = self.schema, self.chance
        if chance.odds(35) or parent.name.startswith("__"):
            return parent
        own = self.possible(parent)
        kinds = [kind for kind in schema.type_map.values() if is_composite_type(kind)]
        shared = [kind for kind in kinds if own & self.possible(kind)]
        return chance.pick(kinds if chance.odds(self.wild) else shared or [parent])

    def possible(self, kind: Any) -> set[str]:
        """Return the names of the objects a composite type may be."""
        if is_abstract_type(kind):
            return {one.name for one in self.schema.get_possible_types(kind)}
        return {kind.name}

    def directives(self) -> str:
        """Write directives that leave a selection out or not, mostly none."""
        chance = self.chance
        if self._pending in DIRECTIVES and chance.odds(40):
            kind, self._pending = self._pending, None
            return " " + chance.pick(DIRECTIVES[kind])
        if not chance.odds(12):
            return ""
        names = chance.pick((("skip",), ("include",), ("include",), ("skip", "include")))
        return "".join(f" @{name}(if: {self.condition()})" for name in names)

    def directives_of(self, entry: str) -> str:
        """Write directives for a second spread of what was spread before."""
        return "" if "{" in entry or "@" in entry else self.directives()

    def condition(self) -> str:
        """Write the condition of a directive."""
        if self.chance.odds(55):
            return self.variable(CONDITION, self.chance)
        return self.chance.pick(("true", "false"))

    # Arguments and variables

    def call(self, name: str, field: Any) -> str:
        """Write the arguments of a field."""
        chance = self.chance
        written = []
        for arg, definition in field.args.items():
            if is_required_argument(definition) or chance.odds(65):
                if self._pending == "missing argument":
                    self._pending = None
                    continue
                written.append(f"{arg}: {self.literal(definition.type)}")
        if name == "__type":
            known = [*self.schema.type_map, "Nowhere"]
            written = [f'name: "{chance.pick(known)}"']
        if self._pending in ARGUMENTS and chance.odds(40):
            written.append(ARGUMENTS[self._pending])
            self._pending = None
        return f"({', '.join(written)})" if written else ""

    def literal(self, kind: Any) -> str:
        """Write a value for a type."""
        return inputs.literal(kind, self.chance, self.lift, self.wild)

    def lift(self, kind: Any, chance: Chance) -> str | None:
        """Replace a value by a variable, or not."""
        return self.variable(kind, chance) if chance.odds(30) else None

    def variable(self, kind: Any, chance: Chance) -> str:
        """Return a variable of a type, an old one or a new one."""
        fitting = [known for known in self.variables if known.kind == kind]
        if fitting and chance.odds(40):
            return f"${chance.pick(fitting).name}"
        default = None
        if chance.odds(30):
            default = inputs.literal(kind, chance, lambda *_: None, self.wild)
            if isinstance(kind, GraphQLNonNull) and chance.odds(50):
                kind = kind.of_type
        name = f"{chance.pick(('v', 'class', 'self'))}{len(self.variables)}"
        self.variables.append(Variable(name, kind, default))
        return f"${name}"

    # What is wrong

    def defective(self, parent: Any) -> str:
        """Write a selection that validation would refuse."""
        kind, self._pending = self._pending or "", None
        return self.chance.pick(IN_SELECTIONS[kind])


IN_SELECTIONS = {
    "unknown field": ("nowhere", "nowhere { id }", "x: nowhere(a: 1)", "__schema { nowhere }"),
    "unknown fragment": ("...Nowhere", "...Nowhere @include(if: true)"),
    "unknown type": ("... on Nowhere { __typename }", "... on Int { a }", "... on Filter { a }"),
    "misplaced": ("__schema { __typename }", "__type(name: 1) { name }", "__typename { a }"),
    "misspelt argument": ("__type { name }", "__typename(a: 1)"),
}
DIRECTIVES = {
    "condition missing": ("@skip", "@include", "@skip(unless: true)"),
    "condition wrong": ('@skip(if: "x")', "@include(if: null)", "@include(if: 1)",
        "@skip(if: [true])"),
    "condition undeclared": ("@skip(if: $nobody)", "@include(if: $nobody)"),
    "directive twice": ("@skip(if: false) @skip(if: true)",
        "@include(if: true) @include(if: false)"),
    "directive unknown": ("@nowhere", "@nowhere(if: true)", "@deprecated"),
}  # fmt: skip
ARGUMENTS = {
    "unknown argument": "nowhere: 1",
    "undeclared variable": "a: $nobody",
    "argument twice": "a: 1, a: 2",
}
DEFECTS = (
    *IN_SELECTIONS,
    *DIRECTIVES,
    *ARGUMENTS,
    "missing argument",
    "selections of a leaf",
    "no selections",
    "conflict",
    "cycle",
    "unknown variable type",
    "ambiguous",
    "no such operation",
    "no operation",
)


def needs(document: DocumentNode, depth: int = 7) -> dict[str, Any]:
    """Return the names of all fields that a document may ask for, below each other."""
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }

    def collect(nodes: list[Any], left: int) -> dict[str, Any]:
        below: dict[str, list[Any]] = {}
        visited: set[str] = set()

        def visit(selection_set: Any) -> None:
            for node in selection_set.selections if selection_set else ():
                if isinstance(node, FieldNode):
                    below.setdefault(node.name.value, []).append(node.selection_set)
                elif not isinstance(node, FragmentSpreadNode):
                    visit(node.selection_set)
                elif node.name.value in fragments and node.name.value not in visited:
                    visited.add(node.name.value)
                    visit(fragments[node.name.value].selection_set)

        for node in nodes:
            visit(node)
        return {name: collect(parts, left - 1) if left else {} for name, parts in below.items()}

    roots = [
        node.selection_set
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode)
    ]
    return collect(roots, depth)


def parsed(text: str, located: bool) -> DocumentNode:
    """Parse a document."""
    return parse(text, no_location=not located)
