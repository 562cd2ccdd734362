"""The embedded snapshot is read once, and whole."""

from gqlnb.github.repositories import load_snapshot


def test_the_snapshot_is_sorted():
    """All 3,449 repositories by descending stars, then by owner and name."""
    rows = load_snapshot()
    assert len(rows) == 3449
    keys = [(-row.stars, row.full_name.lower()) for row in rows]
    assert keys == sorted(keys)


def test_ids_are_unique():
    """No two repositories, owners or languages share an id."""
    languages = {row.language for row in load_snapshot() if row.language}
    nodes = [*load_snapshot(), *{row.owner for row in load_snapshot()}, *languages]
    assert len({node.node_id for node in nodes}) == len(nodes)
