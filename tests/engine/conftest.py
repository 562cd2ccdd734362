"""Both roads of the executor: compiled at once, and as it is by default."""

from __future__ import annotations

import pytest

from gqlnb.engine.compiler import plans


@pytest.fixture(params=["compiled", "usual"])
def road(request, monkeypatch):
    """Let selections be compiled when they are first seen, or only when it pays."""
    if request.param == "compiled":
        monkeypatch.setattr(plans, "HOT", 0)
    return request.param
