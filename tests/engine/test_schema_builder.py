"""The garbage collector while much is built; what is built is tested with what builds it."""

from __future__ import annotations

import gc
import weakref

import pytest

from gqlnb.engine.schema_builder import pause_collector


class Node:
    """What refers to itself, so that the collector alone frees it."""

    def __init__(self) -> None:
        self.me = self


def test_what_was_built_is_old_and_garbage_later() -> None:
    """The collector need not walk over it at once, and frees it when nobody has it."""
    gc.unfreeze()  # the tests have frozen what stood before
    with pause_collector():
        assert not gc.isenabled()
        node = Node()
    assert gc.isenabled()
    assert any(each is node for each in gc.get_objects(generation=2))
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None


def test_the_collector_stays_as_it_was() -> None:
    """Off where it was off, on after an error; and what a program has frozen stays frozen."""
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
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
