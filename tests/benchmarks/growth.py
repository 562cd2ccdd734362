"""What grows with the number of inputs, rows and results: ``python -m tests.benchmarks.growth``.

``map``      processor milliseconds of ``Client.map()`` for each input, by their number.
``pages``    bytes that ``Client.pages()`` keeps for each row, by their number, and the processor
             microseconds a row takes beyond a loop of requests with the same texts.
``results``  how many times the bytes of its answer a result takes: kept, shown, and with its
             ``data`` read; and processor milliseconds to decode the data of an old one.

Answers are compared first. Nothing else is asserted here: figures are of this machine.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from gqlnb import Client, Schema, serve
from tests.benchmarks.measure import UnequalError

if TYPE_CHECKING:
    from collections.abc import Callable

SDL = """
type Query { item(id: Int!): Item! items(first: Int!, after: String): Items! all(first: Int!): [Item!]! }
type Items { nodes: [Item!]! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Item { id: ID! name: String! text: String size: Int! created: String! owner: Owner! }
type Owner { login: String! }
"""  # noqa: E501
FIELDS = "id name text size created owner { login }"
PAGE = 100


def build_item(number: int) -> dict[str, Any]:
    """Return one row."""
    text = "A description of some words. " * (number % 3)
    owner = {"login": f"user{number % 50}"}
    day = f"2024-05-{number % 28 + 1:02}T10:00:00Z"
    shown = {"id": str(number), "name": f"item {number}", "text": text, "size": number}
    return shown | {"created": day, "owner": owner}


def build_schema(count: int) -> Schema:
    """Return a schema with a list of so many rows."""

    def resolve_items(_: object, args: dict[str, Any], __: object) -> dict[str, Any]:
        start = int(args.get("after") or 0)
        end = min(start + args["first"], count)
        info = {"hasNextPage": end < count, "endCursor": str(end)}
        return {"nodes": [build_item(number) for number in range(start, end)], "pageInfo": info}

    resolvers = {
        "item": lambda _, args, __: build_item(args["id"]),
        "items": resolve_items,
        "all": lambda _, args, __: [build_item(number) for number in range(args["first"])],
    }
    return Schema(SDL, {"Query": resolvers})


def spend(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and what it returns."""
    gc.collect()
    begun = process_time()
    answer = call()
    return process_time() - begun, answer


def compare(ours: object, theirs: object) -> None:
    """Raise an UnequalError if two answers differ."""
    if ours != theirs:
        msg = f"{str(ours)[:200]} is not {str(theirs)[:200]}"
        raise UnequalError(msg)


def map_inputs(count: int) -> dict[str, float]:
    """Execute an operation for so many inputs."""
    client = Client(build_schema(count))
    text = "query($id: Int!) { item(id: $id) { id size } }"
    client.map(text, [{"id": number} for number in range(100)])
    seconds, frame = spend(lambda: client.map(text, [{"id": number} for number in range(count)]))
    compare(frame["item.size"].tolist(), list(range(count)))
    return {"inputs": count, "milliseconds for each": seconds / count * 1e3}


def read_pages(count: int) -> dict[str, float]:
    """Read the pages of so many rows."""
    client = Client(build_schema(count))
    text = "query($after: String) { items(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"  # noqa: E501

    def by_hand() -> int:
        rows, after = 0, None
        while True:
            page = client.execute(text, {"after": after}).data["items"]
            rows += len(page["nodes"])
            if not page["pageInfo"]["hasNextPage"]:
                return rows
            after = page["pageInfo"]["endCursor"]

    def ours() -> int:
        return sum(len(page.data["items"]["nodes"]) for page in client.pages(text))

    compare(ours(), by_hand())
    seconds, theirs = spend(ours)[0], spend(by_hand)[0]
    tracemalloc.start()
    held, rows = [], 0
    for page in client.pages(text):
        rows += len(page.data["items"]["nodes"])
        if rows in {PAGE, count}:  # before the iterator ends, which frees all
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return {
        "rows": count,
        "bytes kept for each": (held[-1] - held[0]) / count,
        "microseconds for each": (seconds - theirs) / count * 1e6,
    }


def keep_results(count: int, rows: int = 250) -> dict[str, float]:
    """Keep the results of so many answers, as a notebook does."""
    schema = build_schema(rows)
    text = f"query($first: Int!) {{ all(first: $first) {{ {FIELDS} }} }}"
    uses: dict[str, Callable[[Any], object]] = {
        "kept": lambda _: None,
        "shown": lambda result: result._repr_mimebundle_(),
        "data read": lambda result: result.data,
    }
    figures: dict[str, float] = {"results": count}
    with serve(schema, port=0) as server:
        client = Client(server.url)
        assert client.schema
        for name, use in uses.items():
            for _ in range(10):  # compile, and fill what is bounded
                use(client.execute(text, {"first": rows}))
            gc.collect()
            tracemalloc.start()
            results = []
            for _ in range(count):
                results.append(client.execute(text, {"first": rows}))
                use(results[-1])
            gc.collect()
            size = len(results[0].response.body)
            figures |= {"bytes": size, name: tracemalloc.get_traced_memory()[0] / count / size}
            tracemalloc.stop()
            seconds = []
            for result in results:
                begun = process_time()
                data = result.data
                seconds.append(process_time() - begun)
            compare(data, json.loads(result.response.body)["data"])
            if name == "kept":
                figures["milliseconds to decode"] = median(seconds) * 1e3
    return figures


FIGURES: dict[str, tuple[Callable[[int], dict[str, float]], tuple[int, ...]]] = {
    "map": (map_inputs, (2_000, 30_000)),
    "pages": (read_pages, (20_000, 100_000)),
    "results": (keep_results, (200,)),
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or FIGURES:
        measure, sizes = FIGURES[chosen]
        for number in sizes:
            found = ", ".join(f"{name} {value:,.2f}" for name, value in measure(number).items())
            sys.stdout.write(f"{chosen:10}{found}\n")
