"""Words tell whether ids stand for these texts or for others of the same key points."""

import random

from argsum.imports.methods.clustering_order import ROWS, TEXTS, Clustered
from argsum.imports.methods.word_check import SHOWN, word_strength

THEMES = {
    "It costs money": ("taxes rise for pensioners", "spending leaves schools poor"),
    "It is loud": ("engines roar below windows", "doors slam at the stop"),
}


def cell(seed):
    """Arguments of each key point on two themes, which are the clusters."""
    draw = random.Random(seed)
    rows, ids = [], []
    for number in range(80):
        point = list(THEMES)[number % 2]
        theme = draw.randrange(2)
        words = [*THEMES[point][theme].split(), f"w{draw.randrange(300)}", f"v{number}"]
        rows.append((point, " ".join(draw.sample(words, len(words)))))
        ids.append(2 * (number % 2) + theme)
    return rows, ids


def test_the_right_texts_share_words_and_others_do_not():
    rows, ids = cell(1)
    others, _ids = cell(2)
    assert word_strength(ROWS, [Clustered(rows, [ids])]) > 2 * SHOWN
    assert abs(word_strength(ROWS, [Clustered(others, [ids])])) < SHOWN
    assert abs(word_strength(TEXTS, [Clustered(rows, [ids])])) < SHOWN


def test_clusters_that_are_key_points_show_nothing():
    rows, _ids = cell(1)
    points = [Clustered(rows, [[0, 1] * 40])]
    assert word_strength(ROWS, points) is None
    assert word_strength(ROWS, [Clustered(rows, [[-1] * 80])]) is None
    assert word_strength(ROWS, []) is None
