"""The invented comments of the benchmark of key points."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import comments
from benchmarks.comments import WORLDS, make_world, split_worlds, write_csv

# Comments and themes.
SIZES = {
    "vacuum": (1500, 8),
    "banking": (5000, 20),
    "centre": (3000, 10),
    "office": (500, 25),
    "lectures": (298, 15),
    "webcourse": (800, 3),
    "hospital": (120, 12),
    "festival": (50, 6),
}
FOLDER = Path(comments.__file__).parent


@pytest.fixture(scope="module")
def worlds():
    return {name: make_world(name) for name in WORLDS}


def statements(world):
    return [each for comment in world.comments for each in comment.statements]


def test_every_world_is_as_large_as_stated(worlds):
    found = {name: (len(each.comments), len(each.themes)) for name, each in worlds.items()}
    assert found == SIZES


def test_the_same_seed_makes_the_same_texts_and_another_one_others(worlds):
    assert make_world("hospital") == worlds["hospital"]
    assert make_world("hospital", seed=2).comments != worlds["hospital"].comments


def test_a_world_of_any_size_says_most_things_once(worlds):
    larger = make_world("banking", size=6_000)
    assert len(larger.comments) == 6_000
    assert larger.themes == worlds["banking"].themes
    texts = [each.text for each in statements(larger)]
    assert len(set(texts)) > 0.85 * len(texts)


def test_statements_occur_in_order_within_their_comment(worlds):
    for world in worlds.values():
        for comment in world.comments:
            at = 0
            for statement in comment.statements:
                at = comment.text.index(statement.text, at) + len(statement.text)
            assert at == len(comment.text)
            assert "{" not in comment.text
            assert "|" not in comment.text


def test_every_theme_occurs_three_times_or_more(worlds):
    for name, world in worlds.items():
        assert fewest_of_a_theme(world) >= 3, name
    assert fewest_of_a_theme(make_world("festival", 2)) >= 3


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_every_theme_occurs_three_times_or_more_with_another_seed(name):
    assert fewest_of_a_theme(make_world(name, 2)) >= 3


def fewest_of_a_theme(world):
    counts = Counter(each.theme for each in statements(world))
    return min(counts[key] for key in world.themes)


def test_no_comment_takes_both_sides_of_an_aspect(worlds):
    for world in worlds.values():
        for comment in world.comments:
            themes = [each.theme for each in comment.statements if each.theme]
            assert not any(world.contradicts(one, other) for one in themes for other in themes)


def test_half_of_the_aspects_have_two_sides_which_contradict_each_other(worlds):
    for world in worlds.values():
        sides = Counter(theme.aspect for theme in world.themes.values())
        assert sum(number == 2 for number in sides.values()) >= len(sides) / 2
    vacuum = worlds["vacuum"]
    assert vacuum.contradicts("battery life +", "battery life -")
    assert not vacuum.contradicts("battery life +", "charging time -")


def test_half_of_the_worlds_are_held_back():
    developed, held_back = split_worlds(7)
    assert (len(developed), len(held_back)) == (4, 4)
    assert set(developed) | set(held_back) == set(WORLDS)
    assert split_worlds(7) == (developed, held_back)
    assert len({split_worlds(seed) for seed in range(10)}) > 1


def test_comments_are_written_with_all_columns_or_with_one(worlds, tmp_path):
    world = worlds["festival"]
    tables = {}
    for columns in ("full", "one"):
        write_csv(world, tmp_path / "a.csv", columns=columns)
        with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
            tables[columns] = list(csv.DictReader(file))
    assert [row["comment"] for row in tables["one"]] == [each.text for each in world.comments]
    first = world.comments[0]
    assert tables["full"][0] == {"comment": first.text, "group": first.group, "date": first.date}
    with pytest.raises(ValueError, match="full or one"):
        write_csv(world, tmp_path / "no.csv", columns="two")


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("contradictions", {"negation", "antonym", "stance", "quantity", "role"}),
        ("paraphrases", {"lexical", "syntactic", "negated antonym"}),
    ],
)
def test_pairs_are_two_hundred_and_distinct(name, kinds):
    lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# All of these statements are invented.")
    assert lines[1] == "first\tsecond\tkind"
    pairs = [tuple(line.split("\t")) for line in lines[2:]]
    assert len(pairs) == len({frozenset(pair[:2]) for pair in pairs}) == 200
    assert {pair[2] for pair in pairs} == kinds
    assert all(len(pair) == 3 and pair[0] != pair[1] for pair in pairs)
