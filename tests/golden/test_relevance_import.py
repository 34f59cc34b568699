"""Every figure of the relevance paper from the files of the release.

In `make test-all` they are computed from the database as well, after real imports, and with
similarities of meaning.
"""

import pytest

from annotation.management.environment import throwaway_database
from annotation.papers.reports import PUBLISHED, compare_values, table_3
from annotation.papers.reproduction import (
    Choices,
    _recipes,
    find_files,
    released_values,
    reproduce_relevance,
)
from cqa_site.reproduction.tables import fill
from tests.annotation.released import EXPERTS, FINAL, FOLDER, GOLD, SILVER_50, SILVER_112, VOTES
from tests.golden.places import needs

pytestmark = needs(VOTES, EXPERTS, FINAL, SILVER_112, SILVER_50, GOLD)

EXPECTED = {
    "rows": 6_854,
    "answered_void": (6_409, 445),
    "workers": 282,
    "tasks": 1_729,
    "ordinary_control": (1_709, 20),
    "blank": 21,
    "pairs": 112,
    "pairs_folded": 101,
    "votes": (5_127, 1_282),
    "vote_values": (558, 1_308, 2_117, 2_426),
    "control_accuracy": (779, 1_282),
    "workers_below_half": 94,
    "workers_perfect_zero": (39, 31),
    "kept_workers": 188,
    "kept_votes": 3_856,
    "kept_tasks_without": 41,
    "kept_ties": 399,
    "kept_alpha": 0.4055,
    "kept_labels": (55, 238, 439, 936),
    "majority_tasks": (55, 241, 524, 909),
    "majority_units": (49, 241, 522, 907),
    "splits": (505, 938, 266),
    "tied_units": 265,
    "equal_majority": (1_440, 1_688),
    "equal_experts": (1_528, 1_688),
    "equal_adjudicated": (1_673, 1_688),
    "expert_controls": (29, 4),
    "expert_alpha": 0.888881,
    "expert_fleiss": 0.812146,
    "batch_twice": 31,
    "batch_alpha": 0.7676,
    "batch_equal": 25,
    "model_exact": 0.4591,
    "control_positions": (262, 265, 294, 274, 276),
    "votes_per_task": (3, 76),
    "batch_items": 467,
    "added_twice": 0,
}
TABLES = (
    ("alpha_all model_alpha alpha_ordinary", "nominal ordinal interval"),
    ("gold subset silver", "size questions jaccard_text jaccard_sentence levenshtein similarity"),
    ("gold subset silver gold_sound subset_sound silver_sound clean", "precision recall f1"),
)
NUMBERS = """
0.2687 0.3397 0.3350   0.1702 0.2318 0.2374   0.2346 0.2917 0.2852
80 50 0.1431 0.1793 20.5333 0.682   150 50 0.2418 0.2092 11.8831 0.691
336 112 0.2485 0.2066 11.8240 0.680
0.9612 0.5918 0.7016   0.9557 0.8608 0.8937   0.9610 0.8315 0.8760
0.9981 0.6286 0.7467   0.9953 0.8769 0.9212   0.9974 0.8501 0.9026   0.995 0.866 0.915
"""
KEYS = [f"{row}_{at}" for rows, names in TABLES for row in rows.split() for at in names.split()]
EXPECTED |= dict(zip(KEYS, map(float, NUMBERS.split()), strict=True))


SIMILARITIES = {f"{row}_similarity" for row in ("gold", "subset", "silver")}


@pytest.fixture(scope="module")
def figures():
    """All but similarities of meaning, straight from the files."""
    values = released_values(find_files(FOLDER), Choices(), None) | {"added_twice": 0}
    return {figure.key: figure for figure in compare_values(values, values)}


@pytest.fixture(scope="module")
def imported(django_db_setup, django_db_blocker):
    """The same through importer and database."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.papers.reproduction.embeddings_available", lambda: False)
        # The patch ends here, before somebody asks for the model.
        return computed()


@pytest.fixture(scope="module")
def with_similarities(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        return computed()


def computed():
    with throwaway_database():
        return {figure.key: figure for figure in reproduce_relevance(FOLDER, Choices())}


PLACES = {each.key: each.place for each in PUBLISHED}
# The mean of cosines depends on the machine's arithmetic, the clean reader is known to three.
TO_THREE_DIGITS = {*SIMILARITIES, *(f"clean_{column}" for column in ("precision", "recall", "f1"))}


@pytest.mark.long
def test_the_database_has_the_figures_of_the_whole_release(imported, with_similarities):
    for each in PUBLISHED:
        if each.key not in ABSENT_FROM_DATA | SIMILARITIES:
            found = imported[each.place].found
            assert found.released.numbers == pytest.approx(found.ours.numbers, abs=1e-6), each.key
            # The import check; no figure is a match for that.
            assert imported[each.place].is_changed is False
    for key in EXPECTED:
        assert_as_expected(with_similarities if key in SIMILARITIES else imported, key)


def test_values_with_other_control_labels_are_not_compared():
    recipes = _recipes(Choices(control_labels={"t1": 2}))
    rows = compare_values({"kept_workers": 188}, {"kept_workers": 190}, recipes=recipes)
    (kept,) = [each for each in rows if each.found.ours]
    said = "no published value; ours: 1 control labels changed"
    assert (kept.verdict, kept.is_changed) == (said, None)


def assert_as_expected(figures, key):
    expected, found = EXPECTED[key], figures[PLACES[key]].found
    wanted = expected if isinstance(expected, tuple) else (expected,)
    digits = 3 if key in TO_THREE_DIGITS else 6 if key.startswith("expert_") else 4
    for value in (found.released, found.ours):
        assert value.numbers == pytest.approx(wanted, abs=0.5001 * 10**-digits), key


# The paper's status by figure: everything printed that does not simply match.
DIFFERING = {
    "control_positions",
    "votes_per_task",
    "batch_items",
    *(f"{row}_{column}" for row in ("gold", "subset", "silver") for column in ("recall", "f1")),
}
NEAR = {"gold_levenshtein", "subset_precision"}
ABSENT_FROM_DATA = {
    "model_experts",
    "model_crowd",
    *(f"{row}_coherence" for row in ("gold", "subset", "silver")),
}


def test_the_status_of_every_figure_is_what_its_numbers_say(figures):
    by_status: dict[str, set[str]] = {}
    for each in PUBLISHED:
        by_status.setdefault(figures[each.place].status, set()).add(each.key)
    # Without the model, similarities cannot be computed; all others that are printed match.
    published = {each.key for each in PUBLISHED if each.text}
    assert by_status == {
        "match": published - DIFFERING - NEAR - ABSENT_FROM_DATA - SIMILARITIES,
        "differs": DIFFERING | NEAR,
        "cannot be computed": ABSENT_FROM_DATA | SIMILARITIES,
        "no published value": {each.key for each in PUBLISHED} - published,
    }
    assert all(figures[PLACES[key]].why for key in DIFFERING | ABSENT_FROM_DATA)
    # Table 3 is set as printed.
    table = fill(table_3(), figures.values())
    rows = {line[:15].strip(): line[15:].split() for line in table.to_text().splitlines()}
    assert rows["Silver (subset)"][:4] == ["150", "50", "0.24", "0.21"]
    assert rows["Silver"][-3:] == ["0.83†", "0.88†", "–"]
    # Two heads and three rows, in one panel.
    assert sum(line.endswith(r"\\") for line in table.to_latex().splitlines()) == 5
