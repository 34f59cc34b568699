"""Agreement of raters on toys whose figures are known without computing them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmark.agreement.methods import pairs
from benchmark.agreement.methods.agreement import AgreementOptions, agreement
from benchmark.agreement.methods.grid import PEOPLE, family_of, grid_of
from benchmark.agreement.methods.jackknife import Jackknife
from benchmark.agreement.methods.raters import self_consistency, spearman_brown
from cqa_site.stats.agreement_coefficients import krippendorff_alpha
from cqa_site.stats.correlation import bland_altman, correlation
from cqa_site.stats.cross_alpha import concatenated_alpha
from cqa_site.stats.estimate import from_json, to_json
from tests.benchmark.made_sheets import BRIEF, noisy, sheets_of, together, truth

N = 80
QUICK = AgreementOptions()
# For what is not about pairs; each judge is compared with all people anyway.
FEW_PAIRS = replace(QUICK, most_pairs=0)


def figures(*tables, options=QUICK, counted=None):
    return as_stored(agreement(together(*tables), BRIEF, options, counted))


def as_stored(found):
    stored = to_json(found)
    assert from_json(type(found), json.loads(json.dumps(stored, allow_nan=False))) == found
    return stored


def pair(found, first, second):
    return next(
        each for each in found["pairs"] if (each["first"], each["second"]) == (first, second)
    )


@pytest.fixture(scope="module")
def points():
    return truth(BRIEF, N)


@pytest.fixture(scope="module")
def three_people(points):
    return [
        sheets_of(BRIEF, name, noisy(points, BRIEF, 0.3, seed))
        for seed, name in enumerate(("Ada", "Bo", "Cy"), start=10)
    ]


@pytest.mark.long
def test_consolidated_sheets_are_no_second_person(points):
    settled = sheets_of(BRIEF, "settled", points, kind="reference")
    again = sheets_of(BRIEF, "again", noisy(points, BRIEF, 0.1, 3), kind="reference")
    judge = sheets_of(BRIEF, "gpt-x", noisy(points, BRIEF, 0.2, 4), kind="model")
    found = figures(settled, again.iloc[:40], judge)
    people = found["people"]
    assert (people["raters"], people["answers"], people["shared"]) == (0, 0, 0)
    assert people["consolidated"] == N
    assert people["columns"]["total"]["alpha_interval"]["value"] is None
    rules = found["verdict"]["id-gpt-x"]["total"]["rules"]
    assert rules["alternative"]["missing"]["people"] == 2
    assert rules["agreement"]["result"] == "not_shown"
    assert "by both the judge and two people" in rules["agreement"]["reason"]
    assert "persons" not in {each["kind"] for each in found["pairs"]}
    # Beside a judge they are what people said.
    assert pair(found, "id-gpt-x", PEOPLE)["columns"]["total"]["n"] == N
    assert found["judges"][0]["agreement"]["value"] > 0.5


@pytest.mark.long
def test_persons_beside_consolidated_sheets_are_compared_with_each_other_only(
    three_people, points
):
    settled = sheets_of(BRIEF, "settled", points, kind="reference")
    judge = sheets_of(BRIEF, "gpt-x", noisy(points, BRIEF, 0.3, 4), kind="model")
    alone, beside = (
        figures(*three_people, *more, options=FEW_PAIRS) for more in ([judge], [settled, judge])
    )
    for name in ("raters", "shared", "columns"):
        assert alone["people"][name] == beside["people"][name]
    assert alone["alternative"] == beside["alternative"]
    own = beside["with_people"]["id-gpt-x"]["total"]["difference"]
    assert own == alone["with_people"]["id-gpt-x"]["total"]["difference"]
    # 20 questions are too few for an interval of the difference.
    assert (own["low"], own["value"] > -0.5) == (None, True)


def test_a_judge_may_equal_a_person_and_replicates_are_averaged(points):
    found = figures(
        sheets_of(BRIEF, "Ada", points), sheets_of(BRIEF, "gpt-x", points, kind="model")
    )
    total = pair(found, "id-gpt-x", PEOPLE)["columns"]["total"]
    assert total["exact"] == 1
    assert total["alpha_interval"]["value"] == total["pearson"]["value"] == 1
    assert total["bias"]["value"] == total["leniency"]["value"] == 0
    assert len(found["pairs"]) == 1  # the only person is all people
    assert found["judges"][0]["agreement"]["value"] == 1
    again = 1 - points
    again[:, 2] = points[:, 2]
    table = together(
        sheets_of(BRIEF, "Ada", again, replicate=1),
        sheets_of(BRIEF, "Ada", points),
        sheets_of(BRIEF, "gpt-x", points, kind="model"),
        sheets_of(BRIEF, "gpt-x", again, kind="model", replicate=1),
    )
    grid = grid_of(table, BRIEF)
    assert (grid.column("id-Ada", "C1") == points[:, 0]).all()
    assert (grid.column("id-gpt-x", "C1") == 0.5).all()
    assert grid.raters[1].replicates == 2
    assert grid.raters[1].family == "gpt"


def test_two_points_too_lenient(points):
    stern = np.array(points)
    stern[:, :2] = 0
    mild = np.array(stern)
    mild[:, :2] = 1
    found = figures(sheets_of(BRIEF, "Ada", stern), sheets_of(BRIEF, "gpt-x", mild, kind="model"))
    both = pair(found, "id-gpt-x", PEOPLE)
    total, first = both["columns"]["total"], both["columns"]["C1"]
    assert total["bias"]["value"] == 2
    assert total["leniency"]["value"] == pytest.approx(2 / 5, abs=1e-6)
    assert total["pearson"]["value"] == 1
    assert total["alpha_interval"]["value"] < 1
    assert first["leniency"]["value"] == 1
    assert first["pearson"]["reason"]
    assert both["bland_altman"]["bias"]["value"] == 2
    assert {point[1] for point in both["bland_altman"]["points"]} == {2}
    assert sum(point[2] for point in both["bland_altman"]["points"]) == N
    assert both["confusion"]["C1"] == {"values": [0.0, 1.0], "cells": [[0, 0], [N, 0]]}
    judge = found["verdict"]["id-gpt-x"]
    results = [judge[column]["rules"]["bias"]["result"] for column in ("C1", "total", "C3")]
    # Without any difference 20 questions do not prove that differences are rare.
    assert results == ["no", "no", "not_shown"]
    # Leniency alone is no preference.
    assert found["preference"][0]["against_people"]["value"] == pytest.approx(0)


def test_a_mixed_pair_begins_with_the_judge_and_has_parts_by_aspect(points, three_people):
    everybody = [*three_people, sheets_of(BRIEF, "gpt-x", points, kind="model")]
    found = figures(*everybody)
    parts = pair(found, "id-gpt-x", PEOPLE)["aspect"]
    assert parts["with"]["n"] == parts["without"]["n"] == N // 2
    kinds = [(each["kind"], each["first"], each["second"]) for each in found["pairs"]]
    assert ("judge_people", "id-gpt-x", PEOPLE) in kinds
    assert ("judge_person", "id-gpt-x", "id-Bo") in kinds
    assert ("persons", "id-Ada", "id-Cy") in kinds
    assert len(kinds) == 1 + 3 + 3
    # Pairs are bounded, and the rest is counted.
    found = figures(*everybody, options=AgreementOptions(most_pairs=2))
    assert (len(found["pairs"]), found["pairs_left_out"]) == (1 + 2, 4)


def test_figures_are_those_of_the_single_statistics_and_the_concatenated_alpha(points):
    other = noisy(points, BRIEF, 0.5, 3)
    x, y, questions = points.sum(axis=1), other.sum(axis=1), np.arange(N) // 4
    found = as_stored(pairs.column_figures(x, y, questions, 5, Jackknife()))
    for kind in ("pearson", "spearman", "kendall"):
        single = correlation(x, y, kind)
        assert found[kind]["value"] == pytest.approx(single, abs=1e-6), kind
        assert found[kind]["low"] < single < found[kind]["high"]
    bias = bland_altman(x, y, questions).bias
    assert found["bias"]["low"] == pytest.approx(bias.low, abs=1e-6)
    for level in ("interval", "ordinal"):
        alpha = krippendorff_alpha(pairs.ratings_of(np.column_stack([x, y])), level)
        assert found[f"alpha_{level}"]["value"] == pytest.approx(alpha.value, abs=1e-6)
    # Missing points do not count.
    same = x.astype(float)
    x, y = np.where(np.arange(N) < 10, np.nan, same), np.where(np.arange(N) < N - 5, same, np.nan)
    found = pairs.column_figures(x, y, questions, 5, Jackknife())
    assert (found.n, found.exact) == (N - 15, 1)
    other = noisy(points, BRIEF, 0.5, 3)
    other[3, 1] = np.nan
    found = pairs.concatenated(points, other)
    assert found.value == pytest.approx(concatenated_alpha(points, other), abs=1e-6)
    # Criteria of different ranges make unrelated sheets agree.
    assert 0 < found.shuffled < found.value


def test_unscored_sheets_are_counted_and_no_answer_is_left_out_of_a_plot(points):
    lost = sheets_of(BRIEF, "gpt-x", points * np.nan, kind="model", state="unscored")
    found = figures(sheets_of(BRIEF, "Ada", points), lost)
    (row,) = found["judges"]
    assert (row["unscored"]["unscored"], row["unscored"]["sheets"]) == (N, N)
    assert row["agreement"]["value"] is row["rank"] is None
    assert found["verdict"]["id-gpt-x"]["total"]["rules"]["unscored"]["result"] == "no"
    drawn = np.random.default_rng(3).integers(0, 101, (2, 5_000)).astype(float)
    points, _step = pairs._points(drawn.mean(axis=0), drawn[0] - drawn[1])
    assert len(points) <= pairs.MOST_POINTS
    assert sum(n for _mean, _difference, n in points) == 5_000


@pytest.mark.long
def test_a_judge_that_favours_its_own_family(points):
    base = np.array(points)
    base[:, :2] = 0
    partial = np.array(base)
    partial[::4, :2] = 1  # answers of gpt4
    fair = sheets_of(BRIEF, "claude-x", base, kind="model")
    found = figures(
        sheets_of(BRIEF, "Ada", base),
        sheets_of(BRIEF, "gpt-x", partial, kind="model"),
        fair,
        sheets_of(BRIEF, "unnamed", base, kind="model"),
        options=FEW_PAIRS,
    )
    by_judge = {each["key"]: each for each in found["preference"]}
    own = by_judge["id-gpt-x"]
    assert (own["against_people"]["value"], own["against_people"]["own"]) == (2, N // 4)
    assert own["against_judges"]["value"] == 2
    assert by_judge["id-claude-x"]["against_people"]["value"] is None
    assert by_judge["id-unnamed"]["family"] is None
    # The same judge is not partial once the laboratory says what it is.
    told = replace(FEW_PAIRS, families={"gpt-x": "llama"})
    other = agreement(
        together(sheets_of(BRIEF, "Ada", base), sheets_of(BRIEF, "gpt-x", partial, kind="model")),
        BRIEF,
        told,
    ).preference[0]
    assert other.against_people.value == pytest.approx(-2 / 3)


@pytest.mark.long
def test_longer_answers_get_more_points_and_price_and_time_are_kept(points):
    judge = sheets_of(BRIEF, "gpt-x", points * 0, kind="model")
    judge["total"] = judge["characters"] / 100
    judge["cost_micro"], judge["seconds"] = 500.0, 1.5
    ada = sheets_of(BRIEF, "Ada", points)
    found = figures(ada, judge)
    own = found["length"]["id-gpt-x"]["own"]
    assert own["slope"]["value"] == pytest.approx(1)
    assert own["pearson"]["value"] == pytest.approx(1)
    assert abs(found["length"][PEOPLE]["own"]["slope"]["value"]) < 0.5
    (row,) = found["judges"]
    assert (row["cost"], row["seconds"]) == (0.5, 1500)
    (row,) = figures(ada, judge.drop(columns="seconds"), options=FEW_PAIRS)["judges"]
    assert row["seconds"] is None


def test_variance_of_replicates_by_hand():
    # Three answers with two sheets each: means 1, 3, 5 and a difference of 2 within each.
    low = truth(BRIEF, 3) * 0
    sheets = [sheets_of(BRIEF, "gpt-x", low, kind="model", replicate=at) for at in (0, 1)]
    sheets[0]["total"], sheets[1]["total"] = [0, 2, 4], [2, 4, 6]
    found = as_stored(self_consistency(together(*sheets), ("total",), Jackknife()))
    split = found["columns"]["total"]
    # Mean squares: between 2 · 8 / 2 = 8, within 2; (8 - 2) / 2 = 3 lies between answers.
    assert (split["between"], split["within"], split["exact"]) == (3, 2, 0)
    assert split["reliability"]["value"] == pytest.approx(0.6)
    assert (found["answers"], found["replicates"]) == (3, 2)
    by_size = {each["k"]: each for each in split["curve"]}
    assert by_size[2]["is_present"]
    assert by_size[2]["reliability"] == pytest.approx(0.75)
    assert by_size[10]["error"] == pytest.approx(0.2**0.5, abs=1e-6)
    assert spearman_brown(0.6, 10) == pytest.approx(15 / 16)
    # Repeats of a few answers do not make the others steadier.
    points = truth(BRIEF, 40)
    once = sheets_of(BRIEF, "J", points, kind="model")
    again = sheets_of(BRIEF, "J", points[:10], kind="model", replicate=1)
    found = self_consistency(together(once, again), ("total",), Jackknife())
    # 30 answers with one sheet, 10 with two: 40 / (30 + 10 / 2).
    assert (found.replicates, found.each) == (2, 1.14)


@pytest.mark.long
def test_code_as_a_further_rater(points):
    counted = {place + 1: points[place, 3] for place in range(N)}
    judge = sheets_of(BRIEF, "gpt-x", 1 - points, kind="model")
    found = figures(sheets_of(BRIEF, "Ada", points), judge, counted=counted)["by_code"]
    assert (found["criterion"], found["answers"]) == ("C4", N)
    assert found["raters"]["id-Ada"]["exact"] == 1
    assert found["raters"]["id-gpt-x"]["exact"] == 0
    assert figures(sheets_of(BRIEF, "Ada", points))["by_code"] is None


@pytest.mark.long
def test_ranks_are_ranges_where_no_difference_is_shown(points, three_people):
    near, far = noisy(points, BRIEF, 0.1, 1), noisy(points, BRIEF, 1, 2)
    found = figures(
        *three_people,
        sheets_of(BRIEF, "gpt-x", near, kind="model"),
        sheets_of(BRIEF, "llama-x", near, kind="model"),
        sheets_of(BRIEF, "qwen-x", far, kind="model"),
        options=FEW_PAIRS,
    )
    rows = [(each["name"], each["rank_low"], each["rank_high"]) for each in found["judges"]]
    assert rows == [("gpt-x", 1, 2), ("llama-x", 1, 2), ("qwen-x", 3, 3)]


@pytest.mark.parametrize("kinds", [(), ("person",), ("model",), ("model", "model")])
def test_hardly_any_sheets(points, kinds):
    parts = [sheets_of(BRIEF, f"r{at}", points[:1], kind=kind) for at, kind in enumerate(kinds)]
    empty = sheets_of(BRIEF, "none", points[:0])
    found = figures(empty, *parts)
    assert len(found["judges"]) == kinds.count("model")
    assert found["people"]["columns"]["total"]["alpha_interval"]["value"] is None
    for judge in found["verdict"].values():
        assert {each["result"] for each in judge.values()} == {"not_shown"}


FAMILIES = {
    "gpt": ("gpt-4o-2024-08-06", "gpt3-5", "o3-mini"),
    "llama": ("meta-llama/Meta-Llama-3-70B-Instruct",),
    "mistral": ("mixtral", "mistral-small"),
    "vicuna": ("lmsys/vicuna-13b",),
    "qwen": ("Qwen2.5-7B",),
    "gemini": ("gemini-1.5-pro",),
    "claude": ("Claude 3 Opus",),
    "perplexity": ("perplexity",),
    None: ("yahoo", "cam", "human", "Photo 3", ""),
}


def test_the_first_name_that_says_anything_counts_and_a_laboratory_may_say_otherwise():
    assert {name: family_of(name) for names in FAMILIES.values() for name in names} == {
        name: family for family, names in FAMILIES.items() for name in names
    }
    assert family_of("", "our-endpoint", "llama3-8b") == "llama"
    known = {"Our Judge": "qwen", "gpt-like": ""}
    assert family_of("our judge", known=known) == "qwen"
    assert family_of("gpt-like", known=known) is None
