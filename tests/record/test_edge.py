"""The right edge against the whole tree, at every size and whatever the steps."""

from hypothesis import given, settings
from hypothesis import strategies as st

from generator.record.log.tiles import Edge, TileRoot, leaf_hash, root_of
from tests.support import rfc6962

LEAVES = [leaf_hash(str(number).encode()) for number in range(70_000)]


def test_the_root_is_the_standard_s_at_every_small_size() -> None:
    edge = Edge()

    for size in range(600):
        assert edge.root() == rfc6962.mth([str(number).encode() for number in range(size)])
        edge, _ = edge.append(LEAVES[size : size + 1])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 700), max_size=12))
def test_growing_in_any_steps_gives_the_same_edge_and_the_same_nodes(steps: list[int]) -> None:
    edge, nodes, size = Edge(), list[TileRoot](), 0
    for step in steps:
        edge, more = edge.append(LEAVES[size : size + step])
        nodes += more
        size += step

    assert (edge, nodes) == Edge().append(LEAVES[:size])


def test_a_log_of_three_levels_has_the_root_of_its_leaves() -> None:
    edge, nodes = Edge().append(LEAVES)

    assert edge.root() == root_of(LEAVES)
    assert [len(level) for level in edge.levels] == [70_000 % 256, 273 % 256, 1]
    assert sum(node.level == 0 for node in nodes) == 273
