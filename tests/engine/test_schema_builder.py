"""Tests of the paused garbage collector; building schemas is tested in test_schema.py."""

from __future__ import annotations

import gc

import pytest

from gqlnb.engine.schema_builder import MOVED_OBJECTS, pause_collector


class Node:
    """An object that refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.me = self


def test_the_collector_is_left_as_it_was():
    """It stays disabled, is enabled after an error, and frozen objects stay frozen."""
    gc.disable()
    try:
        with pause_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(LookupError), pause_collector():
        raise LookupError
    assert gc.isenabled()
    gc.freeze()
    try:
        with pause_collector():
            _ = [Node() for _ in range(MOVED_OBJECTS)]
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
