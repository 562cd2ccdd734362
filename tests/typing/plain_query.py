"""Ask a server of this process, and read the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

import gqlnb
from gqlnb import Client, Result

schema = gqlnb.reference_schema()
with gqlnb.serve(schema, port=0) as server, gqlnb.connect(server.url) as client:
    assert_type(client, Client)
    result = client.execute("{ hello }")
    assert_type(result, Result)
    assert_type(result.errors, tuple[Mapping[str, Any], ...])
    assert_type(result.raise_for_errors(), Result)
    assert_type(result.source, str | None)
    assert_type(len(result), int)
    print(result["hello"].upper())
