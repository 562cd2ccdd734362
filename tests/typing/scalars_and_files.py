"""Register a scalar, and upload a file."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_type

import gqlnb
from gqlnb import Client, Result, Upload

gqlnb.scalar("Money", parse=Decimal, serialise=str, dtype="object")
gqlnb.scalar("Money", lik="Decimal")  # type: ignore[call-arg]


def send(client: Client) -> Result:
    """Send a file as a variable."""
    upload = Upload("table.csv", content_type="text/csv")
    assert_type(upload.size, int | None)
    assert_type(upload.filename, str)
    Upload("table.csv", contenttype="text/csv")  # type: ignore[call-arg]
    return client.execute("mutation ($file: Upload!) { add(file: $file) }", {"file": upload})
