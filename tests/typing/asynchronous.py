"""Ask several endpoints at once."""

from __future__ import annotations

import asyncio
from typing import assert_type

from gqlnb import Client, Result, Schema


async def ask(urls: list[str], schema: Schema) -> list[Result]:
    """Return an answer of each."""
    assert_type(await schema.aexecute("{ hello }"), Result)
    async with Client(urls[0]) as client:
        assert_type(await client.aexecute("{ hello }", timeout=5), Result)
        assert_type(await client.aexecute_all("{ a { b } }", page_size=5), Result)
        async for page in client.apages("{ a { b } }"):
            assert_type(page, Result)
        await client.aexecute("{ hello }", timout=5)  # type: ignore[call-arg]
        print((await client.aexecute("{ hello }")).df)
    clients = [Client(url) for url in urls]
    return await asyncio.gather(*(each.aexecute("{ hello }") for each in clients))
