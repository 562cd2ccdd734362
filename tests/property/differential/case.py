"""One case: a schema, a document and some runs, each executed twice and compared."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.property.differential import documents, inputs, outcome, schemas
from tests.property.differential.chance import Chance
from tests.property.differential.world import CALM, ROUGH, WEATHERS, Weather, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphql import DocumentNode, GraphQLSchema

    from tests.property.differential.outcome import Outcome

    Execute = Callable[..., Any]

RUNS = 3  # of a document, with other data and variables: what was remembered may not fit
DOCUMENTS = 8  # for a schema
MODES = ("sync", "ready", "gated")


class Difference(NamedTuple):
    """A case in which two executors do not agree."""

    case: Case
    run: int
    what: str
    want: Outcome
    got: Outcome

    @property
    def signature(self) -> str:
        """What may be the same in several cases."""
        return "".join(char for char in self.what.partition(":")[0] if not char.isdigit())


@dataclass
class Case:
    """A case, made from its number.

    Attributes
    ----------
    seed
        The number.
    mode
        One of `MODES`.
    """

    seed: int
    mode: str
    made: schemas.Made = field(init=False)
    written: documents.Written = field(init=False)
    document: DocumentNode = field(init=False)
    need: dict[str, Any] = field(init=False)
    chance: Chance = field(init=False)

    def __post_init__(self) -> None:
        self.chance = Chance("case", self.seed, self.mode)
        self.made = schemas.made(self.seed // DOCUMENTS, self.mode != "sync")
        self.written = documents.Writer(self.made, self.chance.branch("document")).write()
        self.document = documents.parsed(self.text, self.chance.branch("located").odds(95))
        self.need = documents.needs(self.document)

    @property
    def text(self) -> str:
        """The document."""
        return self.written.text

    def weather(self, run: int) -> Weather:
        """Return how much goes wrong in a run."""
        return self.chance.branch("weather", run).pick(WEATHERS[self.mode])

    def variables(self, run: int) -> Any:
        """Return the variables of a run."""
        chance = self.chance.branch("variables", run)
        wild = {CALM: 0, ROUGH: 8}.get(self.weather(run), 1)
        given = {}
        for variable in self.written.variables:
            part = chance.branch(variable.name)
            required = variable.default is None and str(variable.kind).endswith("!")
            if part.odds(wild if required else 25):
                continue
            given[variable.name] = inputs.json(variable.kind, part, wild)
        if chance.odds(5):
            given["unasked"] = 1
        if not given and chance.odds(50):
            return None
        return given

    def world(self, run: int) -> World:
        """Return the world of a run, as it is before."""
        chance = self.chance.branch("world", run)
        return World(self.made, chance, self.weather(run), self.mode)

    def options(self, run: int, world: World) -> dict[str, Any]:
        """Return the arguments of `execute`, apart from schema and document."""
        chance = self.chance.branch("options", run)
        operation = self.chosen()
        schema = self.made.schema
        root = (operation and schema.get_root_type(operation)) or schema.query_type
        assert root is not None
        world.root = world.row(root.name, self.need, world.chance.branch("root"), ("data",))
        if chance.odds(4):
            world.root = chance.pick((None, 7, {}))
        options: dict[str, Any] = {"root_value": world.root, "context_value": world.context}
        variables = self.variables(run)
        if variables is not None or chance.odds(50):
            options["variable_values"] = copy.deepcopy(variables)
        if self.written.operation is not None or chance.odds(30):
            options["operation_name"] = self.written.operation
        if chance.odds(10):
            options["field_resolver"] = world.field_resolver
        if chance.odds(10):
            options["type_resolver"] = world.type_resolver
        if chance.odds(12):
            options["max_coercion_errors"] = 1
        if chance.odds(12):
            options["hide_suggestions"] = True
        return options

    def chosen(self) -> Any:
        """Return the kind of the operation that runs."""
        operations = [node for node in self.document.definitions if hasattr(node, "operation")]
        name = self.written.operation
        for node in operations:
            if name is None or (node.name and node.name.value == name):
                return node.operation
        return operations[0].operation if operations else None

    # Running

    def execute(self, execute: Execute, run: int) -> Outcome:
        """Execute a run of the document in a world of its own."""
        if self.mode == "sync":
            call, world = self._prepared(execute, run)
            return outcome.run(call, world)
        return loop().run_until_complete(self._aexecute(execute, run))

    async def _aexecute(self, execute: Execute, run: int) -> Outcome:
        call, world = self._prepared(execute, run)
        result = await outcome.arun(call, world)
        world.later.close()
        return result

    def _prepared(self, execute: Execute, run: int) -> tuple[Callable[[], Any], World]:
        world = self.world(run)
        options = self.options(run, world)
        self.made.stage.world = world
        return lambda: execute(self.made.schema, self.document, **options), world

    def differences(self, reference: Execute, candidate: Execute) -> Iterator[Difference]:
        """Compare two executors in all runs."""
        for run in range(RUNS):
            with self.changed(run):
                want = self.execute(reference, run)
                # The first time and the second an executor may go different ways.
                all_got = [self.execute(candidate, run) for _ in range(1 if run else 2)]
            for got in all_got:
                what = outcome.difference(want, got, self.mode)
                if what is not None:
                    yield Difference(self, run, what, want, got)

    def changed(self, run: int) -> Changed:
        """Return a context in which a resolver of the schema is another, in some second runs."""
        chance = self.chance.branch("changed", run)
        if run == 0 or not chance.odds(15):
            return Changed(None, None)
        kind = chance.pick([self.made.schema.query_type, *self.made.objects])
        name = chance.pick(list(kind.fields))
        member = kind.fields[name]
        other = None
        if member.resolve is None:
            other = schemas.resolver(self.made.stage, name, chance, self.mode != "sync")
        return Changed(member, other)

    @property
    def schema(self) -> GraphQLSchema:
        """The schema."""
        return self.made.schema


class Changed:
    """A context in which a field has another resolver, as after a cell was run again."""

    def __init__(self, member: Any, resolve: Any) -> None:
        self._member = member
        self._resolve = resolve

    def __enter__(self) -> None:
        if self._member is not None:
            self._member.resolve, self._resolve = self._resolve, self._member.resolve

    def __exit__(self, *_: object) -> None:
        self.__enter__()


_loops: list[asyncio.AbstractEventLoop] = []


def loop() -> asyncio.AbstractEventLoop:
    """Return the one event loop of all cases: a new one for each costs more than a case."""
    if not _loops:
        _loops.append(asyncio.new_event_loop())
        _loops[0].set_exception_handler(lambda *_: None)  # errors that nobody asked for
    return _loops[0]


def close_loop() -> None:
    """Close the event loop, if there is one."""
    while _loops:
        _loops.pop().close()
