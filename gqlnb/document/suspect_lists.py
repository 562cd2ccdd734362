"""Lists of a document that no convention pages, and the arguments that may page them.

Whether such a list is whole, and by which argument it goes on, is decided by experiments
(:mod:`gqlnb.client.paging.experiments`). This module only collects what they need: the scalars
among the arguments of the fields around a list, and identifiers and counts beside its rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from graphql import (
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_input_object_type,
    is_list_type,
    is_required_input_field,
    is_scalar_type,
)

from gqlnb.document.paged_fields import WRAPPER_NAMES
from gqlnb.document.paging_conventions import (
    PageArguments,
    find_count,
    find_id_leaves,
    find_identifier,
    find_page_info,
    get_at_path,
    is_limit_name,
    is_list,
    iterate_leaves,
    read_default,
    read_integer,
    read_sign,
)
from gqlnb.document.selections import (
    ADDED_PREFIX,
    add_field,
    add_path,
    find_pieces,
    get_owner,
    group_by_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import TypeAlias

    from graphql import GraphQLArgument

    from gqlnb.document.json_codec import JSON
    from gqlnb.document.selections import EditableSelection, NamedType

    CursorValue: TypeAlias = tuple[tuple[str, ...], str, str | None]
    ReadArguments: TypeAlias = Callable[[EditableSelection], Mapping[str, JSON]]

ArgumentPath = tuple["str | int", ...]
ParentPath = tuple["str | int", ...]
Rows = dict[ParentPath, list[str]]  # the identities of rows, by the path of the object around them

MAX_DEPTH = 4  # of input objects in arguments
MAX_COUNTS = 3  # integer fields requested beside a list
NUMERIC_TEXT = re.compile(r"\d{1,9}")
SMALLEST_FOLLOWED_SIZE = 10  # items; a smaller size of a nested list is part of the question
MAX_CURSORS = 2  # text fields requested beside a list
# A name of these words alone may be that of a count: `totalPrice` and `pageSize` are not.
COUNT_WORDS = frozenset(
    {"total", "count", "found", "hits", "matches", "results", "records", "items", "rows"}
    | {"elements", "docs", "num", "number", "of", "all", "filtered", "entries", "nodes", "edges"}
    | {"nb", "cnt", "estimated", "approximate", "overall"}
)
# Names of rows, as in `recordCount`, which is a count of the rows in the object of a page.
ROW_WORDS = frozenset({"record", "item", "row", "result", "element", "document", "doc", "entry"})
ROW_WORDS |= {"entity", "node", "edge", "object", "match", "hit", "full"}
# A count that is called so may be that of one page: of commercetools' `offset count total results`.
PAGE_COUNT_WORDS = frozenset({"count", "cnt", "number", "num", "nb", "size", "length"})
CAPPED_COUNT = 10_000  # rows, up to which Elasticsearch counts unless it is asked to count all
SMALLEST_BOUND = 5  # rows; no service is known that bounds a size at fewer
LONG_LIMIT = 100  # rows, at which Vendure cuts lists in rows that take no argument
SMALLEST_ROUND = 10  # rows; shorter lists have a round length by chance
# Lengths at which services cut lists, and these times powers of ten.
ROUND_LENGTHS = frozenset({10, 12, 15, 20, 24, 25, 30, 40, 50, 60, 75, 80, 90, 125, 150, 250, 750})
# Lengths that suggest a cut where no argument can be tried, and these times powers of ten. Their
# documentation says that WPGraphQL returns 10 rows, Storyblok 25 and Data API builder 100 where no
# size is given; 20, 30 and 50 are guesses. A wrong one costs a doubt.
DEFAULT_LIMITS = frozenset({10, 20, 25, 30, 50})
SIZE_WORDS = (
    "limit size first last take max maximum top per count num number rows n amount many most "
    "quantity nb entries results items width length"
)
CURSOR_WORDS = "after cursor token since from start next before continuation continue last key"
# Scalars whose name tells that they are not numbers; a guess, which an experiment checks.
TEXT_SCALARS = re.compile(r"date|time|uri|url|json|uuid|bool|email|cursor", re.IGNORECASE)


class ArgumentLeaf(msgspec.Struct, frozen=True, eq=False):
    """A scalar in the arguments of a field.

    Attributes
    ----------
    path
        The argument, followed by the members and indices that lead to the scalar.
    type
        The type of the scalar.
    value
        The number that the document, a variable or a default gives; None for no value.
    is_number
        Whether it takes numbers; otherwise it takes text and has no value.
    is_text
        Whether its numbers are sent as text.
    is_written
        Whether the document sets the argument.
    required
        The other members without which an input object that is absent cannot be given.
    is_lowered
        Whether the document gives a larger value, which the endpoint refused.
    """

    path: ArgumentPath
    type: NamedType
    value: int | None
    is_number: bool
    is_text: bool
    is_written: bool
    required: tuple[ArgumentPath, ...] = ()
    is_lowered: bool = False

    @property
    def name(self) -> str:
        """The last name of the path."""
        return next((str(step) for step in reversed(self.path) if isinstance(step, str)), "")

    def format_value(self, value: object) -> str:
        """Return a number or a text as a GraphQL literal."""
        return msgspec.json.encode(str(value) if self.is_text else value).decode()


@dataclass(slots=True, eq=False)
class SuspectList:
    """A list, or lists of equal length side by side, of which the answer may hold a part.

    Attributes
    ----------
    name
        The dotted path, as for :meth:`gqlnb.Result.frame`.
    steps
        The response names that lead to the object that holds it.
    keys
        The response names of the lists side by side; one for a list of objects.
    kind
        The type of its rows.
    carrier
        The selections of the field whose arguments may page it.
    coordinate
        The type and the name of that field.
    leaves
        The scalars among the arguments of that field.
    is_plain
        Whether that field is the list itself.
    is_nested
        Whether the list is in the rows of another.
    holder
        The response names that lead from that field to the object that holds the list.
    ids
        The response names of an identifier in a row, or in the ``node`` of a row.
    id_leaves
        Where there is none, those of other leaves of type ID, which tell rows apart.
    counts
        The response names of integers beside the list.
    signs
        The response names and the name of each value that says whether rows follow, and before
        them those of the object that holds it.
    typename
        The response name of the type of a row, where rows are of several types.
    bounds
        The sizes for it among the arguments of the lists around it, by their names.
    page_sizes
        The sizes of the list around it, if its rows look like pages.
    """

    name: str
    steps: tuple[str, ...]
    keys: list[str]
    kind: NamedType
    carrier: list[EditableSelection]
    coordinate: tuple[str, str]
    leaves: list[ArgumentLeaf]
    is_plain: bool
    is_nested: bool
    holder: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    id_leaves: tuple[str, ...] = ()
    counts: list[str] = field(default_factory=list)
    signs: list[tuple[tuple[str, ...], tuple[str, ...], str]] = field(default_factory=list)
    typename: str = "__typename"
    bounds: list[ArgumentLeaf] = field(default_factory=list)
    page_sizes: list[ArgumentLeaf] = field(default_factory=list)

    @property
    def text_names(self) -> set[str]:
        """The names of arguments for text that have no value."""
        return {leaf.name for leaf in self.leaves if leaf.value is None and not leaf.is_number}

    def read_rows(self, data: object) -> Rows:
        """Return the identity of each row, by the path of the object around the list.

        Objects in which the lists are null, or of different lengths, are left out.
        """
        return {
            path: [self._identify(row) for row in zip(*columns, strict=True)]
            for path, columns in self._iterate_columns(data)
        }

    def read_lengths(self, data: object) -> list[int]:
        """Return the number of rows of each list."""
        return [len(columns[0]) for _, columns in self._iterate_columns(data)]

    def _iterate_columns(self, data: object) -> Iterator[tuple[ParentPath, list[list[Any]]]]:
        for path, holder in find_objects(data, self.steps):
            lists = [holder.get(key) for key in self.keys]
            columns = [column for column in lists if isinstance(column, list)]
            if len(columns) == len(lists) and len(set(map(len, columns))) == 1:
                yield path, columns

    def find_kept_size(self, length: int) -> ArgumentLeaf | None:
        """Return the small size that is written for lists in the rows of others, and reached."""
        sizes = (*self.leaves, *self.bounds)
        written = (leaf for leaf in sizes if leaf.is_written and leaf.value == length)
        is_small = self.is_nested and length < SMALLEST_FOLLOWED_SIZE
        return next(written, None) if is_small else None

    def is_absent(self, data: object) -> bool:
        """Return whether an object is of a type without the list, such as an error in a union."""
        holders = list(find_objects(data, self.steps))
        return not self.is_nested and any(self.keys[0] not in holder for _, holder in holders)

    def _identify(self, row: tuple[Any, ...]) -> str:
        value = row[0] if len(row) == 1 else row
        if isinstance(value, dict):
            objects = [value, value["node"]] if isinstance(value.get("node"), dict) else [value]
            for inner in objects:
                for key in self.ids:
                    if inner.get(key) is not None:
                        return f"{inner.get(self.typename, '')} {inner[key]}"
            value = remove_lists(value, self.id_leaves)
        return msgspec.json.encode(value, enc_hook=str, order="sorted").decode()

    def read_counts(self, data: object) -> dict[str, int]:
        """Return the integers beside the list; none where several objects hold such lists.

        Those of a longer list beside it are left out (:func:`is_of_longer_list`).
        """
        holders = list(find_objects(data, self.steps))
        if len(holders) != 1 or not self.steps:
            return {}
        path, holder = holders[0]
        values = dict(_iterate_values(holder))
        # fast-json-server has a list of one page, with the count beside the object of its rows.
        if [type(step) for step in path[-2:]] == [int, str]:
            values = {**dict(_iterate_values(get_at_path(data, path[:-1]))), **values}
        length = max(self.read_lengths(data), default=0)
        longest = max((len(it) for it in values.values() if isinstance(it, list)), default=0)
        sizes = [it.value for it in self.leaves if it.value and is_limit_name(it.name)]
        return {
            key.removeprefix(ADDED_PREFIX): count
            for key, value in values.items()
            if (count := read_integer(value)) is not None
            and (key in self.counts or is_count_name(key, self.keys))
            and not (is_count_name(key, ()) and is_of_longer_list(length, longest, sizes, count))
        }

    def read_sign(self, data: object) -> tuple[str, bool] | None:
        """Return the name of what says whether rows follow, and whether; what says so first.

        Where another list is beside it, an end may be that of the other.
        """
        holders = [holder for _, holder in find_objects(data, self.steps)]
        lists = {key for it in holders for key, value in it.items() if isinstance(value, list)}
        found = [
            (name, goes_on)
            for steps, path, name in self.signs
            for _, holder in find_objects(data, steps)
            if (goes_on := read_sign(name, get_at_path(holder, path))) is not None
            if goes_on or lists <= set(self.keys)
        ]
        return max(found, key=itemgetter(1), default=None)

    def iterate_cursors(self, data: object, half: int) -> Iterator[CursorValue]:
        """Yield the values that may be the cursor of the next page.

        Yields
        ------
        (path, value, middle)
            The field names from the object around the list to a text in it, the text, and None; or
            the name of a field of the rows, its value in the last row, and that in row `half`,
            counted from 1.
        """
        holders = list(find_objects(data, self.steps))
        if len(holders) != 1:
            return
        holder = holders[0][1]
        beside = [inner for piece in self.carrier for inner in piece.inner or ()]
        for path, value in _iterate_texts(holder, beside):
            is_beside = not (self.is_plain or self.holder)
            is_named = is_named_after(path[-1], CURSOR_WORDS) or path[-1] in self.text_names
            if is_beside and is_named:
                yield path, value, None
        rows = holder.get(self.keys[0]) or [None]
        last, middle = rows[-1], rows[min(len(rows), max(1, half)) - 1]
        if isinstance(last, dict) and isinstance(middle, dict):
            lists = find_pieces(beside, (*self.holder, self.keys[0])) if not self.is_plain else ()
            inner = [below for piece in lists for below in piece.inner or ()] or beside
            fields = {key: pieces[0].name for key, pieces in group_by_key(inner).items()}
            order = sorted(last, key=lambda key: ("cursor", *self.ids, key).index(key))
            for key in order:
                values = last[key], middle.get(key)
                if all(isinstance(v, str | int) and not isinstance(v, bool) for v in values):
                    yield (fields.get(key, key),), str(values[0]), str(values[1])


def _iterate_values(holder: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values in an object and in the objects of it, by their dotted response names."""
    for key, value in holder.items():
        if isinstance(value, dict):
            yield from _iterate_values(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _iterate_texts(
    holder: Mapping[str, object], selections: list[EditableSelection], *, is_inner: bool = False
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts in an object and in the objects of it, by their field names."""
    for key, pieces in group_by_key(selections).items():
        value, name = holder.get(key), pieces[0].name
        if isinstance(value, str):
            yield (name,), value
        elif isinstance(value, dict) and not is_inner:
            below = [inner for piece in pieces for inner in piece.inner or ()]
            for path, text in _iterate_texts(value, below, is_inner=True):
                yield (name, *path), text


def remove_lists(value: Any, kept: Collection[str]) -> Any:  # noqa: ANN401 - a JSON value
    """Return a row without nested pages, and without what another plan of requests selects."""
    if not isinstance(value, dict):
        return value
    return {
        key: remove_lists(inner, kept)
        for key, inner in value.items()
        if not isinstance(inner, list)
        and (key in kept or not key.startswith(ADDED_PREFIX))
        and not (isinstance(inner, dict) and "hasNextPage" in inner)
    }


def find_objects(
    data: object, steps: tuple[str, ...]
) -> Iterator[tuple[ParentPath, dict[str, Any]]]:
    """Yield path and value of the objects at the end of response names, through lists."""
    waiting: list[tuple[ParentPath, object, int]] = [((), data, 0)]
    while waiting:
        path, value, at = waiting.pop()
        if isinstance(value, list):
            waiting += [((*path, i), item, at) for i, item in reversed(list(enumerate(value)))]
        elif isinstance(value, dict):
            if at == len(steps):
                yield path, value
            else:
                waiting.append(((*path, steps[at]), value.get(steps[at]), at + 1))


def split_name(name: str) -> set[str]:
    """Return the words of a name in lower case.

    Examples
    --------
    >>> sorted(split_name("totalCount")), sorted(split_name("page_size"))
    (['count', 'total'], ['page', 'size'])
    """
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def is_round(length: int) -> bool:
    """Return whether services often cut lists at a length: 20, 25, 50, 100, 128 ...

    Examples
    --------
    >>> is_round(100), is_round(97), is_round(64)
    (True, False, True)
    """
    if length < SMALLEST_ROUND:
        return False
    if length & (length - 1) == 0:
        return True
    while length % 10 == 0 and length >= 100:
        length //= 10
    return length in ROUND_LENGTHS


def is_default_limit(length: int) -> bool:
    """Return whether services cut lists at a length where no size is given: 10, 25, 100 ..."""
    while length % 10 == 0 and length >= 100:
        length //= 10
    return length in DEFAULT_LIMITS


def is_long_limit(length: int) -> bool:
    """Return whether services cut at a length what has no size: by chance few lists have it."""
    return length >= LONG_LIMIT and is_default_limit(length)


def is_usual(length: int) -> bool:
    """Return whether a service may bound a size at a length: a multiple of five, a power of two."""
    return length >= SMALLEST_BOUND and (length % 5 == 0 or length & (length - 1) == 0)


def is_named_after(name: str, words: str) -> bool:
    """Return whether a name contains one of some words, as ``pageSize`` does ``size``."""
    return not split_name(name).isdisjoint(words.split()) or name.lower() in words.split()


def is_size_of(name: str, listed: str) -> bool:
    """Return whether an argument is the size of lists in rows, by their name in its own.

    Examples
    --------
    >>> is_size_of("takeFlavorTexts", "flavorTexts"), is_size_of("take", "flavorTexts")
    (True, False)
    """
    return split_name(listed) < split_name(name) and is_named_after(name, SIZE_WORDS)


def is_count_name(name: str, lists: Collection[str]) -> bool:
    """Return whether a field may count the rows of lists beside it.

    Parameters
    ----------
    name
        The name of the field, perhaps dotted.
    lists
        The names of the lists.

    Examples
    --------
    >>> is_count_name("totalUsers", ["users"]), is_count_name("totalPrice", ["orders"])
    (True, False)
    >>> is_count_name("repositoryCount", ["nodes"]), is_count_name("viewCount", ["comments"])
    (False, False)
    >>> is_count_name("recordCount", ["data"]), is_count_name("recordCount", ["sessions"])
    (True, False)
    >>> is_count_name("numItems", ["items"]), is_count_name("num", ["items"])  # that of the row
    (True, False)
    """
    name = name.rpartition(".")[2].removeprefix(ADDED_PREFIX)
    if name in {"num", "number"}:
        return False
    own = {word for listed in lists for word in split_name(listed)}
    words = split_name(name) - own - {word.removesuffix("s") for word in own}
    if words & {"total", "count", "cnt"} and not WRAPPER_NAMES.isdisjoint(lists):
        words -= ROW_WORDS
    return words <= COUNT_WORDS and bool(words & COUNT_WORDS)


def is_of_longer_list(
    length: int, longest: int, sizes: Collection[int], count: int | None = None
) -> bool:
    """Return whether what says that rows are missing is said of a longer list beside one.

    Facets of a search stand beside its rows and the number of all rows. A size in the query tells
    that it is of the rows: they reach it, or they are all that are counted, and it allows more.

    Parameters
    ----------
    length, longest
        The numbers of rows of the list, and of the longest one beside it.
    sizes
        The sizes of pages in the query.
    count
        The number of all rows; None for a flag.

    Examples
    --------
    >>> is_of_longer_list(3, 20, [20], 230), is_of_longer_list(3, 5, [20], 5)
    (True, True)
    >>> is_of_longer_list(7, 12, [20], 230), is_of_longer_list(7, 12, [], 12)
    (False, False)
    """
    allows_more = longest <= max(sizes, default=0)
    return longest > length and (longest in sizes or (allows_more and count == longest))


def may_be_short(name: str, count: int) -> bool:
    """Return whether a count that equals the rows may not be that of all rows.

    Examples
    --------
    >>> may_be_short("count", 20), may_be_short("count", 23), may_be_short("total", 20)
    (True, False, False)
    """
    is_of_page = split_name(name.rpartition(".")[2]) <= PAGE_COUNT_WORDS
    return count == CAPPED_COUNT or (is_of_page and is_round(count))


# -- finding them


def find_suspect_lists(
    selections: list[EditableSelection],
    root: NamedType,
    handled: Collection[int],
    read_arguments: ReadArguments,
) -> list[SuspectList]:
    """Return the lists that are not paged by a convention, outer ones first.

    Identifiers and counts that they lack are added to the selections.

    Parameters
    ----------
    selections
        The selections of a query.
    root
        Its type.
    handled
        The ``id`` of the selections of lists that are followed, and of their fields.
    read_arguments
        Returns the JSON values of the arguments that a selection sets, variables resolved.
    """
    search = _Search(handled, read_arguments)
    search.walk(selections, root, _Place())
    return search.lists


class _Place(NamedTuple):
    """A position during the search; `carriers` are the fields since the enclosing list.

    `sizes` are the numbers in the arguments of the lists around it, and `is_page` says whether the
    rows of the next of these look like pages.
    """

    steps: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    carriers: tuple[tuple[list[EditableSelection], tuple[str, str]], ...] = ()
    is_nested: bool = False
    sizes: tuple[ArgumentLeaf, ...] = ()
    is_page: bool = False


class _Search:
    def __init__(self, handled: Collection[int], read_arguments: ReadArguments) -> None:
        self.handled, self.read_arguments = handled, read_arguments
        self.lists: list[SuspectList] = []

    def walk(self, selections: list[EditableSelection], kind: NamedType, place: _Place) -> None:
        by_key = group_by_key(selections)
        columns: dict[str, list[EditableSelection]] = {}
        for key, pieces in by_key.items():
            first = pieces[0]
            if first.declared is None or first.added or first.name.startswith("__"):
                continue
            below = [inner for piece in pieces for inner in piece.inner or ()]
            here = (pieces, (get_owner(selections, first, kind), first.name))
            is_handled = any(id(piece) in self.handled for piece in pieces)
            is_wrapper = bool(place.name) and first.name in {"edges", "nodes", "node"}
            steps, name = (*place.steps, key), place.name if is_wrapper else (*place.name, key)
            if not is_list(first.declared.type):
                carriers = () if is_handled else (*place.carriers, here)
                inner = place._replace(steps=steps, name=name, carriers=carriers)
                self.walk(below, first.kind, inner)
                continue
            if not is_handled:
                self.add_list(place, here, name, columns)
            leaves = list_leaves(first.declared.args, self.read_arguments(first))
            sizes = (*place.sizes, *(leaf for leaf in leaves if leaf.is_number and leaf.value))
            of_rows = _Place(steps, name, is_nested=True, sizes=sizes, is_page=is_page(first.kind))
            self.walk(below, first.kind, of_rows)

    def add_list(
        self,
        place: _Place,
        here: tuple[list[EditableSelection], tuple[str, str]],
        name: tuple[str, ...],
        columns: dict[str, list[EditableSelection]],
    ) -> None:
        """Add a list, or join it with those beside it."""
        key, pieces, first = here[0][0].key, here[0], here[0][0]
        is_plain = bool(first.declared and first.declared.args) or not place.carriers
        around = place.carriers or (here,)
        carrier, coordinate = here if is_plain else around[-1]
        holder: tuple[str, ...] = ()
        for outer, field_name in () if is_plain or has_arguments(carrier) else around[-2::-1]:
            holder = (carrier[0].key, *holder)
            carrier, coordinate = outer, field_name
            if has_arguments(carrier):
                break
        twin = next((it for it in self.lists if it.steps == place.steps and not it.is_plain), None)
        if twin is not None and not is_plain and not first.inner and columns:
            twin.keys.append(key)
            return
        declared = carrier[0].declared
        found = SuspectList(
            ".".join(name),
            place.steps,
            [key],
            first.kind,
            carrier,
            coordinate,
            [] if declared is None else list_leaves(declared.args, self.read_arguments(carrier[0])),
            is_plain,
            place.is_nested,
            holder,
            bounds=[leaf for leaf in place.sizes if is_size_of(leaf.name, first.name)],
            page_sizes=[leaf for leaf in place.sizes if place.is_page and is_limit_name(leaf.name)],
        )
        if not is_plain and not first.inner:
            columns[key] = pieces
        if found.leaves:
            _add_identifiers(found, pieces)
        if not is_plain:
            found.counts = list(dict.fromkeys(_add_counts(around[-1][0], [first.name])))
            for level, (pieces_around, _) in enumerate(around[: -2 - len(holder) : -1]):
                steps = place.steps[: len(place.steps) - level]
                found.signs += [(steps, *sign) for sign in _add_signs(pieces_around)]
            if found.leaves and not holder:
                _add_cursors(carrier, found.text_names)
        self.lists.append(found)


def is_page(kind: NamedType) -> bool:
    """Return whether objects of a type look like pages: they count rows, and have no identifier."""
    return find_identifier(kind) is None and bool(find_count(kind, {}))


def has_arguments(carrier: list[EditableSelection]) -> bool:
    """Return whether a field takes arguments."""
    declared = carrier[0].declared
    return declared is not None and bool(declared.args)


def list_leaves(
    arguments: Mapping[str, GraphQLArgument], given: Mapping[str, JSON]
) -> list[ArgumentLeaf]:
    """Return the scalars of arguments, those in input objects and lists too.

    The members of filters come last: the first few are tried.
    """
    around = ArgumentLeaf((), None, None, is_number=False, is_text=False, is_written=True)
    return sorted(_iterate_members(arguments, given, around), key=lambda leaf: len(leaf.path))


def _iterate_members(
    members: Mapping[str, Any], given: Mapping[str, JSON], around: ArgumentLeaf
) -> Iterator[ArgumentLeaf]:
    is_object = bool(around.path) and not given
    needed = [n for n, member in members.items() if is_object and is_required_input_field(member)]
    for name, member in members.items():
        others = ((*around.path, other) for other in needed if other != name)
        leaf = msgspec.structs.replace(
            around,
            path=(*around.path, name),
            is_written=around.is_written and name in given,
            required=(*around.required, *others),
        )
        value = given[name] if name in given else read_default(member)
        yield from _iterate_scalars(member.type, value, leaf)


def _iterate_scalars(kind: NamedType, value: JSON, leaf: ArgumentLeaf) -> Iterator[ArgumentLeaf]:
    """Yield the candidates in a value: scalars that are absent, or whole numbers."""
    kind = get_nullable_type(kind)
    if is_list_type(kind):
        one = [] if value is None else [value]  # it is read as a list of one item
        for index, item in enumerate(value if isinstance(value, list) else one):
            inner = msgspec.structs.replace(leaf, path=(*leaf.path, index))
            yield from _iterate_scalars(kind.of_type, item, inner)
    elif is_input_object_type(kind) and len(leaf.path) <= MAX_DEPTH:
        given = value if isinstance(value, dict) else {}
        yield from _iterate_members(kind.fields, given, leaf)
    elif is_scalar_type(kind) and kind.name != "Boolean":
        number = read_whole_number(value, kind.name)
        takes_text = kind.name in {"ID", "String"} or TEXT_SCALARS.search(kind.name) is not None
        takes_numbers = number is not None or not takes_text
        is_text = isinstance(value, str) or not takes_numbers
        if value is None or number is not None:
            yield msgspec.structs.replace(
                leaf, type=kind, value=number, is_number=takes_numbers, is_text=is_text
            )


def read_whole_number(value: JSON, kind: str = "") -> int | None:
    """Return a value as an integer, text of digits too, unless it is of the kind ID; or None."""
    if kind == "ID":  # a number is the same value as its text
        return None
    if isinstance(value, str):
        return int(value) if NUMERIC_TEXT.fullmatch(value) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and float(value).is_integer() else None


# -- fields beside and in the rows


def _add_identifiers(found: SuspectList, pieces: list[EditableSelection]) -> None:
    """Select an identifier and the type of rows, or of the nodes of edges, and their cursors."""
    nodes = [node for piece in pieces for node in group_by_key(piece.inner or ()).get("node", ())]
    for row in (*pieces, *nodes):
        name = find_identifier(row.kind)
        if row.inner is None:
            continue
        if name is not None:
            found.ids = tuple(dict.fromkeys((*found.ids, add_field(row.inner, name))))
        added = [add_field(row.inner, leaf) for leaf in find_id_leaves(row.kind)]
        found.id_leaves = tuple(dict.fromkeys((*found.id_leaves, *added)))
        if is_abstract_type(row.kind):
            found.typename = add_field(row.inner, "__typename")
    for edge in pieces if nodes else ():
        if edge.inner is not None and "cursor" in getattr(edge.kind, "fields", {}):
            add_field(edge.inner, "cursor")  # Twitch has no other


def _add_counts(carrier: list[EditableSelection], lists: Collection[str]) -> Iterator[str]:
    """Select integers beside a list whose name suggests a count; yield their response names."""
    types = {"Int", "Long", "BigInt", "Float"}
    for piece in carrier:
        names = _find_plain_leaves(piece.kind, types, partial(is_count_name, lists=lists))
        inner = piece.inner if piece.inner is not None else []
        for name in names[:MAX_COUNTS]:
            yield add_field(inner, name)
        path = find_count(piece.kind, {})
        if len(path) > 1:  # Strapi has `meta { pagination { total } }`
            yield ".".join(add_path(inner, path))


def _add_signs(carrier: list[EditableSelection]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Select what says whether rows follow; yield its response names, and its name."""
    # An object with an identifier is no page: a chapter may have a field `hasNext`.
    for piece in (it for it in carrier if find_identifier(it.kind) is None):
        inner = piece.inner if piece.inner is not None else []
        for path, kind in iterate_leaves(piece.kind):
            name, samples = ".".join(path), {"Boolean": True, "Int": 1}
            if read_sign(name, samples.get(kind, "text")) is not None:
                yield add_path(inner, path), name


def _add_cursors(carrier: list[EditableSelection], arguments: Collection[str]) -> None:
    """Select texts beside a list that may be the cursor of the next page, by their names.

    Whatever it is called, it may have the name of one of the arguments: Shopee's affiliate reports
    have `scrollId`.
    """
    for piece in carrier:
        inner = piece.inner if piece.inner is not None else []
        fits = partial(is_named_after, words=CURSOR_WORDS)
        names = _find_plain_leaves(piece.kind, {"ID", "String"}, fits)[:MAX_CURSORS]
        paths: list[tuple[str, ...]] = [(name,) for name in names]
        info = find_page_info(piece.kind, PageArguments("cursor"))
        if info is not None and len(info.cursor) > 1:  # Lens has `pageInfo { next }`
            paths.append(info.cursor)
        paths += [p for p, kind in iterate_leaves(piece.kind) if p[-1] in arguments]
        for path in dict.fromkeys(paths):
            add_path(inner, path)


def _find_plain_leaves(
    kind: NamedType, types: Collection[str], fits: Callable[[str], bool]
) -> list[str]:
    """Return the leaves without arguments of some types and with fitting names."""
    return [
        name
        for name, declared in getattr(kind, "fields", {}).items()
        if not declared.args
        and not is_list(declared.type)
        and get_named_type(declared.type).name in types
        and fits(name)
    ]
