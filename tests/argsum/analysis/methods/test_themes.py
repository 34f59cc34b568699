"""Themes of key points: grouped by what they are about, whatever side is taken, and named."""

import numpy as np

from argsum.analysis.methods import key_points
from argsum.analysis.methods.themes import number_of_themes, theme_groups, theme_names
from .test_finding import Made, as_sets, texts_of


def points_around(middles, *, near=0.2, statements=4):
    """Statements of two key points near each middle, one on each side of it."""
    draw = np.random.default_rng(3)
    vectors, placed = [], []
    for at, middle in enumerate(middles):
        for side in (-1, 1):
            away = near * side * np.roll(middles[(at + 1) % len(middles)], 1)
            for _statement in range(statements):
                vectors.append(middle + away + 0.02 * draw.normal(size=len(middle)))
                placed.append(2 * at + (side > 0))
    vectors = np.array(vectors, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.array(placed)


def test_key_points_about_one_thing_are_one_theme():
    vectors, placed = points_around(np.eye(8)[:5])
    themes = theme_groups(vectors, placed, 10)
    assert [themes[at] == themes[at + 1] for at in range(0, 10, 2)] == [True] * 5
    assert len(set(themes)) == number_of_themes(10) == 5
    assert themes[0] == 0
    # Statements without a key point move no theme.
    far = np.concatenate([vectors, 50 * np.eye(8, dtype=np.float32)])
    assert theme_groups(far, np.concatenate([placed, np.full(8, -1)]), 10) == themes


def test_there_are_never_more_themes_than_half_of_the_key_points():
    for points in range(300):
        assert number_of_themes(points) <= (points + 1) // 2
    assert theme_groups(np.zeros((0, 3), dtype=np.float32), np.array([], dtype=int), 0) == []
    assert theme_groups(np.eye(3, dtype=np.float32), np.array([0, 0, 0]), 1) == [0]


TEXTS = [
    "The hotline is great.",
    "Nobody answers the hotline.",
    "I waited for the hotline again.",
    "The brakes squeal and the saddle is loose.",
    "My brakes failed on the hill.",
    "The brakes are fine.",
    "It is what it is.",
    "They should do it.",
]


def test_a_theme_is_named_by_its_nouns_and_not_by_words_that_judge_or_join():
    names = theme_names(TEXTS[:6], [0, 0, 0, 1, 1, 1], ["a", "b"], [0, 1], "en")
    assert names == ["Hotline", "Brakes"]
    german = ["Die Hotline erreicht man nie.", "Abends war die Hotline besetzt.", "Gebucht."]
    assert theme_names(german, [0, 0, -1], ["x"], [0], "de") == ["Hotline"]
    # A theme without words of its own is named by its largest key point.
    placed = [0, 0, 0, 1, 1, 1, 2, 2]
    points = ["Reach us.", "Brakes.", "It is what it is " + "and so on " * 20]
    names = theme_names(TEXTS, placed, points, [0, 1, 2], "en")
    assert names[2].startswith("It is what it is and")
    assert names[2].endswith("…")
    assert len(names[2]) <= 80
    # Two themes never have the same name.
    texts = ["The app crashes.", "The app froze.", "The app is cheap.", "The app costs nothing."]
    names = theme_names(texts, [0, 0, 1, 1], ["It crashes.", "It is cheap."], [0, 1], "en")
    assert len(set(names)) == 2


def test_coordinates_of_sides_do_not_decide_about_themes():
    class Sided(Made):
        tells_sides = True

        def vectors(self, texts):
            plain = super().vectors(texts)
            side = np.array([[-1.0, 0.0] if text[0] in "02" else [1.0, 0.0] for text in texts])
            both = np.concatenate([plain, side.astype(np.float32)], axis=1)
            return both / np.linalg.norm(both, axis=1, keepdims=True)

    made = Sided(4)
    # The things 0 and 1 are nearly the same, on opposite sides; so are 2 and 3.
    made.middles[1], made.middles[3] = made.middles[0] + 0.1, made.middles[2] + 0.1
    texts = texts_of(4, 8)
    result = key_points.find_points(texts, made, cutoff=0.7)
    theme = {
        text[0]: result.themes[place] for text, place in zip(texts, result.placed, strict=True)
    }
    assert theme["0"] == theme["1"] != theme["2"] == theme["3"]


def test_two_statements_that_surely_say_the_same_are_a_rare_key_point():
    pair, made = frozenset(["3.1", "3.2"]), Made(5, noise=0.3)
    texts = [*texts_of(3, 20), "3.1", "3.2", "4.1"]
    assert pair in as_sets(key_points.find_points(texts, made), texts)
    made.sure_from = None
    assert pair not in as_sets(key_points.find_points(texts, made), texts)
    different = [*texts_of(3, 20), "3.1", "4.1"]
    result = key_points.find_points(different, Made(5, noise=0.3))
    assert (len(result.points), result.placed[-2:]) == (3, (-1, -1))
