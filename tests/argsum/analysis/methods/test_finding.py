"""Key points of statements: groups from vectors, what stands for them, and where new ones fit."""

import numpy as np
import pytest

from argsum.analysis.methods import key_points, statements
from argsum.analysis.methods.key_points import as_sentence, best_put, wording_cost
from argsum.analysis.methods.statements import COMMON, KnownWords, TextFit, fits_of
from argsum.analysis.methods.themes import number_of_themes
from argsum.systems.methods.clusters import merge_clusters, profile_scores, refine_clusters


class Made:
    """Vectors around some middles; text "3.14" is the 14th statement about the 3rd thing."""

    def __init__(self, things, *, noise=0.5, width=48):
        draw = np.random.default_rng(5)
        self.middles = draw.normal(size=(things, width))
        self.noise = noise

    tells_sides = False
    encoder_name = "shipped"
    sure_from = 0.7

    def vectors(self, texts):
        made = []
        for text in texts:
            thing, number = text.rstrip(".").split(".")
            draw = np.random.default_rng(int(thing) * 100_000 + int(number))
            made.append(self.middles[int(thing)] + self.noise * draw.normal(size=48))
        found = np.array(made, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def filler(self, texts):
        return np.array([text.startswith("99.") for text in texts])

    def quality(self, texts):
        return np.full(len(texts), np.nan, dtype=np.float32)

    def say(self, share, what, until=None):
        assert 0 <= share <= 1


class Sided(Made):
    tells_sides = True


def texts_of(things, each):
    return [f"{thing}.{number}" for number in range(each) for thing in range(things)]


def as_sets(found, texts):
    return {
        frozenset(text for text, at in zip(texts, found.placed, strict=True) if at == place)
        for place in range(len(found.points))
    }


def test_statements_about_one_thing_stand_under_one_key_point():
    texts = texts_of(5, 12)
    counts = [9 if text.startswith("2") else 1 for text in texts]
    found = key_points.find_points(texts, Made(5), counts=counts)
    assert as_sets(found, texts) == {
        frozenset(text for text in texts if text[0] == thing) for thing in "01234"
    }
    # What most comments say comes first.
    assert found.points[0].startswith("2.")
    assert found.cutoff == key_points.USUAL
    assert all(score > 0.5 for score in found.scores)
    assert len(found.themes) == len(found.distinct) == len(found.points) == 5
    assert len(set(found.themes)) == number_of_themes(5)
    assert all(margin > 0 for margin in found.distinct)


def test_where_sides_are_told_another_cutoff_is_usual():
    texts = texts_of(3, 8)
    assert key_points.find_points(texts, Sided(3)).cutoff == key_points.USUAL_WITH_SIDES
    assert key_points.find_points(texts, Sided(3), cutoff=0.3).cutoff == 0.3
    assert key_points.find_points([], Made(3)).points == ()


def test_a_sample_gives_the_groups_that_all_of_them_give(monkeypatch):
    texts = texts_of(6, 60)
    made = Made(6)
    whole = as_sets(key_points.find_points(texts, made), texts)
    for module in (key_points, statements):
        monkeypatch.setattr(module, "MOST_COMPARED", 90)
    assert as_sets(key_points.find_points(texts, made), texts) == whole
    # Of four statements of three hundred, a sample of ninety holds fewer than three.
    texts = [*texts_of(3, 100), "3.1", "3.2", "3.3", "3.4"]
    found = key_points.find_points(texts, Made(4))
    assert frozenset(texts[-4:]) in as_sets(found, texts)


def test_groups_from_vectors_are_those_of_the_matrix_of_scores():
    vectors = Made(4, noise=1.1).vectors(texts_of(4, 20))
    scores = vectors @ vectors.T
    turned = statements.likeness_map(vectors)
    space = statements.mixed_vectors(vectors, turned, 0.5)
    mixed = profile_scores(scores, weight=0.5)
    np.testing.assert_allclose(space @ space.T, mixed, atol=2e-5)
    groups = merge_clusters(mixed, [0.3, 0.5])
    for threshold, ids in groups.items():
        assert statements.group_at(space, threshold) == ids
        assert statements.refined(vectors, ids).tolist() == refine_clusters(scores, ids)


def test_new_statements_fit_what_they_are_about_or_nothing():
    made = Made(4, noise=0.3)
    behind = [[f"{thing}.{number}" for number in range(20)] for thing in range(3)]
    new = ["0.50", "1.51", "2.52", "3.53"]
    placed, scores, sure = key_points.place_new(new, ["0.0", "1.0", "2.0"], behind, made)
    assert placed == [0, 1, 2, key_points.NONE]
    assert min(scores[:3]) > scores[3]
    assert sure == [True, True, True, False]
    nowhere = [key_points.NONE] * 4
    assert key_points.place_new(new, [], [], made) == (nowhere, [0.0] * 4, [False] * 4)


class Opposed(Sided):
    """The last but one coordinate is the side; odd numbers take the other one."""

    def vectors(self, texts):
        numbers = [int(text.rstrip(".").split(".")[1]) for text in texts]
        sides = np.array([[-0.3 if number % 2 else 0.3, 0.9] for number in numbers], np.float32)
        found = np.concatenate([3 * super().vectors(texts), sides], axis=1)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_filler_is_in_no_group_and_stands_for_none():
    texts = [*texts_of(3, 8), "99.1", "99.2", "99.3", "99.4"]
    made = Made(100, noise=0.3)
    found = key_points.find_points(texts, made, counts=[1] * 24 + [50] * 4)
    assert found.placed[24:] == (key_points.NONE,) * 4
    assert len(found.points) == 3
    assert found.points == key_points.find_points(texts[:24], made).points
    only = key_points.find_points(texts[24:], made)
    assert (only.points, only.placed) == ((), (key_points.NONE,) * 4)
    behind = [["99.1", "99.2"], ["1.0", "1.1"]]
    placed, _scores, sure = key_points.place_new(["99.7", "1.9"], ["99.1", "1.0"], behind, made)
    assert (placed, sure) == ([key_points.NONE, 1], [False, True])


def test_a_placement_is_sure_from_a_score_on_if_the_side_is_the_same():
    texts = texts_of(3, 12)
    found = key_points.find_points(texts, Made(3, noise=0.8))
    scores, sure = np.array(found.scores), np.array(found.sure)
    assert 0 < sure.sum() < len(texts)
    assert sure.tolist() == (scores >= 0.7).tolist()
    opposed = Opposed(3, noise=0.2)
    found = key_points.find_points(texts, opposed)
    odd = [int(text.split(".")[1]) % 2 for text in texts]
    for place in range(len(found.points)):
        own = [row for row, at in enumerate(found.placed) if at == place]
        assert min(found.scores[row] for row in own) > 0.7
        best = odd[max(own, key=lambda row: found.scores[row])]
        assert {odd[row] for row in own} == {0, 1}
        assert all(found.sure[row] == (odd[row] == best) for row in own)
    opposed.sure_from = None
    assert not any(key_points.find_points(texts, opposed).sure)


BETTER = {
    "The ticket machines are often broken.": "It is often broken.",
    "The food was cold when it came.": "Was the food cold when it came?",
    "The rooms are clean and quiet.": "Clean.",
    "Prices rose too fast.": "THE PRICES ROSE TOO FAST FOR US!!",
    "The trains are always late.": "I think that my train is late whenever I want to take one.",
}


@pytest.mark.parametrize(("better", "worse"), BETTER.items())
def test_some_statements_read_better_by_themselves(better, worse):
    assert wording_cost(better) < wording_cost(worse)


def test_a_word_that_is_almost_a_common_one_is_likely_a_typo():
    common = [f"The library stops swimming lessons, part {n}." for n in range(COMMON)]
    slips = "libary librray librery librrary swiming lesons"
    forms = "swimmer stopped lesson libraries turtle vibrary libr4ry"
    known = KnownWords([*common, slips, forms])
    assert [word for word in slips.split() if not known.is_typo(word)] == []
    assert [word for word in forms.split() if known.is_typo(word)] == []
    # Twice is no slip, and what nobody says often is nothing to go by.
    assert not KnownWords([*common, "A libary.", "Our libary."]).is_typo("libary")
    assert not KnownWords([*common[1:], "A libary."]).is_typo("libary")
    # A statement with a typo stands for a group only if all have one.
    texts = [f"The library has no parking on day {n}." for n in range(6)]
    texts += ["The libary has no parking.", "There is no parking at the library."]
    known = KnownWords(texts)
    central = [*[0.5] * 6, 0.9, 0.88]
    assert best_put(texts, central, [np.nan] * 8) == 6
    assert best_put(texts, central, [np.nan] * 8, known) == 7
    assert best_put(texts[6:7], [0.9], [np.nan], known) == 0


def test_the_best_put_of_central_statements_stands_for_a_group():
    texts = ["It was cold", "The food was served cold.", "Cold!!", "Who eats cold food?"]
    assert best_put(texts, [0.9, 0.88, 0.87, 0.86], [np.nan] * 4) == 1
    alike = ["The food was cold.", "The meals were cold."]
    assert best_put(alike, [0.5, 0.5], [0.2, 0.8]) == 1

    # Only a central statement stands for a group.
    class Outlying(Made):
        def vectors(self, texts):
            far = np.array([[text == "0.7"] for text in texts])
            found = super().vectors(texts) + far * np.full(48, 0.12, np.float32)
            return found / np.linalg.norm(found, axis=1, keepdims=True)

        def quality(self, texts):
            return np.array([100.0 * (text == "0.7") for text in texts], np.float32)

    found = key_points.find_points(texts_of(2, 12), Outlying(2))
    assert "0.7." not in found.points


SENTENCES = {
    "honestly,  the food was cold": "The food was cold.",
    "Sadly the food was cold!": "The food was cold!",
    "eBooks for all,": "eBooks for all.",
    "And the food was cold!!": "The food was cold.",
    "To be fair, also the food was cold …": "The food was cold.",
    "tbh - the food was cold, imo :(": "The food was cold.",
    "So the food was cold?!": "The food was cold?",
    "So far the food was cold": "So far the food was cold.",
    "No bus stops here": "No bus stops here.",
    "Well, no bus stops here": "No bus stops here.",
    "Fair prices, frank staff": "Fair prices, frank staff.",
    "Plus points are lost": "Plus points are lost.",
    "Plus nobody mows the lawn": "Nobody mows the lawn.",
    "Apart from that, another thing: nobody mows it": "Nobody mows it.",
    "Another thing is missing": "Another thing is missing.",
    "And": "And.",
    "The water is at 25,5 °C": "The water is at 25,5 °C.",
    "...": "...",
    "Overall": "Overall.",
}


def test_a_key_point_is_a_sentence():
    assert {text: as_sentence(text) for text in SENTENCES} == SENTENCES
    # A sentence without trimmings reads better.
    better = "The showers are cold in winter."
    for start in ("And t", "To be fair, t", "tbh... t", "t"):
        for end in ("", "…", " 🙁", " lol"):
            worse = f"{start}he showers are cold in winter{end}"
            assert wording_cost(better) < wording_cost(worse)
            assert as_sentence(worse) == better


def test_a_key_point_of_many_statements_stands_for_more_than_three(monkeypatch):
    places = np.array([0, 1, 1, 0, 1, 2, -1])
    assert statements.without_small(places, 2).tolist() == [0, 1, 1, 0, 1, -1, -1]
    texts = [*texts_of(2, 100), "2.1", "2.2", "2.3"]
    assert len(key_points.find_points(texts, Made(3)).points) == 3
    monkeypatch.setattr(key_points, "FEWEST_SHARE", 0.05)
    assert len(key_points.find_points(texts, Made(3)).points) == 2


# Whether a written text is nearer to its own statements than to others. Two statements are of the
# first key point, one is of the second, and the last one is behind none.
AXES = np.eye(3, dtype=np.float32)
STATEMENTS = np.stack([AXES[0], (AXES[0] + AXES[1]) / np.sqrt(2), AXES[1], AXES[2]])
PLACED = np.array([0, 0, 1, -1])
MEAN = (1 + np.sqrt(0.5)) / 2


def fit(text, own, points=2):
    return fits_of(np.array([text], dtype=np.float32), [own], STATEMENTS, PLACED, points)[0]


def test_a_text_fits_whose_mean_over_the_statements_behind_is_the_best():
    found = fit(AXES[0], 0)
    assert found.own == pytest.approx(MEAN)
    assert (found.other, found.nearest, found.fits) == (0.0, 1, True)
    found = fit(AXES[0], 1)
    assert (found.nearest, found.fits) == (0, False)
    # As good as another one is not enough.
    assert not fit(AXES[2], 0).fits
    # Key points without statements, and statements without one, are no rivals.
    assert fit(AXES[2] * 0.9 + AXES[0] * 0.1, 0, points=3).nearest == 1
    alone = fits_of(AXES[:1], [0], STATEMENTS[:2], PLACED[:2], 1)[0]
    assert (alone, alone.fits) == (TextFit(own=pytest.approx(MEAN)), True)
