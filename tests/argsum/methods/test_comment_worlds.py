"""The invented comments of the benchmark of key points."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import comments
from benchmarks.comments import WORLDS, make_world

# Comments and themes.
SIZES = {"vacuum": (1500, 8), "banking": (5000, 20), "centre": (3000, 10), "office": (500, 25)}
SIZES |= {"lectures": (298, 15), "webcourse": (800, 3), "hospital": (120, 12), "festival": (50, 6)}
FOLDER = Path(comments.__file__).parent
# What measures the product, and no part of it.
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def worlds():
    return {name: make_world(name) for name in WORLDS}


def fewest_of_a_theme(world):
    counts = Counter(each.theme for comment in world.comments for each in comment.statements)
    return min(counts[key] for key in world.themes)


def test_every_world_is_as_large_as_stated_and_contradicts_itself_nowhere(worlds):
    found = {name: (len(each.comments), len(each.themes)) for name, each in worlds.items()}
    assert found == SIZES
    assert fewest_of_a_theme(make_world("festival", 2)) >= 3
    for name, world in worlds.items():
        assert fewest_of_a_theme(world) >= 3, name
        for comment in world.comments:
            themes = [each.theme for each in comment.statements if each.theme]
            assert not any(world.contradicts(one, other) for one in themes for other in themes)
    assert make_world("hospital") == worlds["hospital"]
    assert make_world("hospital", seed=2).comments != worlds["hospital"].comments


def test_pairs_are_two_hundred_and_distinct():
    for name, kinds in (
        ("contradictions", {"negation", "antonym", "stance", "quantity", "role"}),
        ("paraphrases", {"lexical", "syntactic", "negated antonym"}),
    ):
        lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# All of these statements are invented.")
        assert lines[1] == "first\tsecond\tkind"
        pairs = [tuple(line.split("\t")) for line in lines[2:]]
        assert len(pairs) == len({frozenset(pair[:2]) for pair in pairs}) == 200
        assert {pair[2] for pair in pairs} == kinds
        assert all(len(pair) == 3 and pair[0] != pair[1] for pair in pairs)
