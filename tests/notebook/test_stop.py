"""Stop in a cell that awaits, in a real kernel: the cell ends long before what it waits for."""

from __future__ import annotations

import time

import pytest

from tests.notebook.kernel import run_kernel

pytestmark = pytest.mark.slow
LONG = 60  # seconds that the endpoints take
SOON = 10  # seconds for Stop, with the traceback, on a busy machine
SETUP = f"""
import asyncio, socket, threading, gqlnb

async def wait(*_):
    print("waiting", flush=True)
    await asyncio.sleep({LONG})

async def ticks(*_):
    yield 1
    await wait()

schema = gqlnb.Schema(
    '''
    type Query {{ slow(n: Int): Int items(first: Int, after: String): Items }}
    type Items {{ nodes: [Int] pageInfo: PageInfo! }}
    type PageInfo {{ hasNextPage: Boolean! endCursor: String }}
    type Subscription {{ ticks: Int }}
    ''',
    {{"Query": {{"slow": wait, "items": wait}}, "Subscription": {{"ticks": ticks}}}},
)
local = gqlnb.Client(schema)
listener = socket.create_server(("127.0.0.1", 0))

def listen():
    while True:
        connections.append(listener.accept()[0])
        print("waiting", flush=True)

connections = []
threading.Thread(target=listen, daemon=True).start()
url = f"http://127.0.0.1:{{listener.getsockname()[1]}}/graphql"
silent = gqlnb.Client(url, schema=schema, timeout={LONG})
pages = "{{ items(first: 3) {{ nodes pageInfo {{ hasNextPage endCursor }} }} }}"
one = "query ($n: Int) {{ slow(n: $n) }}"
"""
CELLS = {
    "Schema.aexecute": 'await schema.aexecute("{ slow }")',
    "Schema.subscribe": 'async for event in schema.subscribe("subscription { ticks }"): pass',
    "aexecute, in process": 'await local.aexecute("{ slow }")',
    "aexecute": 'await silent.aexecute("{ slow }")',
    "arequest": 'await silent.arequest("{ slow }")',
    "aexecute_all": "await silent.aexecute_all(pages)",
    "aexecute_all, schema": "await gqlnb.Client(url, timeout=60).aexecute_all(pages)",
    "aresume": "await silent.aresume()",
    "apages": "async for page in silent.apages(pages): pass",
    "apages, in process": "async for page in local.apages(pages): pass",
    "aexecute_many": 'await silent.aexecute_many(["{ slow }"])',
    "amap": "await local.amap(one, [1])",
    "amap, schema": "await gqlnb.Client(url, timeout=60).amap(one, [1])",
    "asubscribe": 'async for event in silent.asubscribe("subscription { ticks }"): pass',
    "asubscribe, in process": 'async for event in local.asubscribe("subscription { ticks }"): pass',
    "gather": 'await asyncio.gather(*(silent.aexecute("{ slow }") for _ in range(3)))',
}


@pytest.fixture(scope="module")
def stop():
    """Return a function that runs a cell, stops it when it waits, and returns error and seconds."""
    # What the first traceback and the first frame import.
    with run_kernel(SETUP, "import pandas, pyarrow\nawait asyncio.sleep(0)") as kernel:

        def run_and_stop(code):
            stopped, names = [], []
            for kind, content in kernel.start(code):
                if "waiting" in content.get("text", "") and not stopped:
                    stopped.append(time.monotonic())
                    kernel.manager.interrupt_kernel()
                if kind == "error":
                    names.append(content["ename"])
            return names, time.monotonic() - stopped[0] if stopped else None

        assert run_and_stop("1 / 0")[0] == ["ZeroDivisionError"]
        yield run_and_stop


@pytest.mark.parametrize("code", CELLS.values(), ids=CELLS)
def test_stop_ends_a_cell_that_awaits(stop, code):
    """Each call that waits wakes the kernel's loop, which Stop alone does not."""
    names, seconds = stop(code)
    assert names == ["CancelledError"]
    assert seconds < SOON


def test_a_stopped_cell_leaves_no_timer(stop):
    """The loop is woken only while a call waits."""
    stop('await local.aexecute("{ slow }")')
    code = (
        "timers = [it for it in asyncio.get_running_loop()._scheduled if not it.cancelled()]\n"
        "assert not [it for it in timers if 'LoopWaker' in repr(it)]\n"
    )
    assert stop(code)[0] == []
