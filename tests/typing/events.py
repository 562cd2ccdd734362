"""Follow the events of a subscription."""

from __future__ import annotations

from typing import assert_type

from gqlnb import Client, Result


def follow(client: Client) -> int:
    """Count events."""
    with client.subscribe("subscription { ticks }", reconnect=2) as events:
        for event in events:
            assert_type(event, Result)
        return events.reconnects


async def follow_later(client: Client) -> Result | None:
    """Return the first event."""
    async with client.asubscribe("subscription { ticks }", transport="sse") as events:
        async for event in events:
            assert_type(event, Result)
            return event
    client.subscribe("subscription { ticks }", reconect=2)  # type: ignore[call-arg]
    return None
