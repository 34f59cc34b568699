"""In which order ids follow arguments, and whether order and words show it."""

import random

import pytest

from argsum.imports.methods.clustering_order import (
    KEY_POINTS,
    LEAST_STRENGTH,
    ROWS,
    TEXTS,
    CellClusterings,
    better_order,
    is_confirmed,
    order_fits,
    positions,
    word_strength,
)

KEY_POINT_NAMES = ("dear", "loud", "safe", "slow")


def shuffled_cell():
    """Arguments whose rows, texts and key points follow no common order."""
    draw = random.Random(1)
    numbers = draw.sample(range(100, 160), 60)
    return [(draw.choice(KEY_POINT_NAMES), f"argument {number}") for number in numbers]


def ids_by(order, cell):
    """Ids that are right for all arguments but every seventh, in an order."""
    placed = [cell[at] for at in positions(order, cell)]
    return [
        -1 if place % 7 == 0 else KEY_POINT_NAMES.index(point)
        for place, (point, _text) in enumerate(placed)
    ]


@pytest.mark.parametrize("order", [KEY_POINTS, ROWS, TEXTS])
def test_ids_that_follow_an_order_show_it(order):
    cell = shuffled_cell()
    cells = [CellClusterings(cell, [ids_by(order, cell), [-1] * len(cell)])]
    fits = order_fits(cells)
    assert fits[order].ari > 0.7
    for each in (KEY_POINTS, ROWS, TEXTS):
        assert is_confirmed(each, fits, cells) == (each == order)
        assert better_order(each, fits) == ("" if each == order else order)


def test_ids_without_any_pattern_show_no_order_and_orders_that_are_one_need_no_proof():
    cell, draw = shuffled_cell(), random.Random(2)
    cells = [CellClusterings(cell, [[draw.randrange(4) for _ in cell]])]
    fits = order_fits(cells)
    for each in fits:
        assert (is_confirmed(each, fits, cells), better_order(each, fits)) == (False, "")
    cells = [CellClusterings([("a", "1"), ("a", "2"), ("b", "3")], [[0, 1, 0]])]
    fits = order_fits(cells)
    assert is_confirmed(KEY_POINTS, fits, cells)
    assert fits[KEY_POINTS] == fits[ROWS] == fits[TEXTS]


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
    assert word_strength(ROWS, [CellClusterings(rows, [ids])]) > 2 * LEAST_STRENGTH
    assert abs(word_strength(ROWS, [CellClusterings(others, [ids])])) < LEAST_STRENGTH
    assert abs(word_strength(TEXTS, [CellClusterings(rows, [ids])])) < LEAST_STRENGTH
    # Clusters that are key points, or nothing, show nothing.
    for nothing in ([0, 1] * 40, [-1] * 80):
        assert word_strength(ROWS, [CellClusterings(rows, [nothing])]) is None
    assert word_strength(ROWS, []) is None
