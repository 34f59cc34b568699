"""Every figure of the relevance paper: of the whole release from its files, of a part of it twice.

The second time they are computed from the database, after real imports; in `make test-all` this
is done with the whole release, and with similarities of meaning.
"""

import csv
import json
import re
from itertools import islice

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

# Written out here once more, so that a change of the table in the code does not pass unseen.
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
    "alpha_all_nominal": 0.2687,
    "alpha_all_ordinal": 0.3397,
    "alpha_all_interval": 0.3350,
    "alpha_ordinary_nominal": 0.2346,
    "alpha_ordinary_ordinal": 0.2917,
    "alpha_ordinary_interval": 0.2852,
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
    "model_alpha_nominal": 0.1702,
    "model_alpha_ordinal": 0.2318,
    "model_alpha_interval": 0.2374,
    "gold_size": 80,
    "gold_questions": 50,
    "gold_jaccard_text": 0.1431,
    "gold_jaccard_sentence": 0.1793,
    "gold_levenshtein": 20.5333,
    "gold_similarity": 0.682,
    "gold_precision": 0.9612,
    "gold_recall": 0.5918,
    "gold_f1": 0.7016,
    "subset_size": 150,
    "subset_questions": 50,
    "subset_jaccard_text": 0.2418,
    "subset_jaccard_sentence": 0.2092,
    "subset_levenshtein": 11.8831,
    "subset_similarity": 0.691,
    "subset_precision": 0.9557,
    "subset_recall": 0.8608,
    "subset_f1": 0.8937,
    "silver_size": 336,
    "silver_questions": 112,
    "silver_jaccard_text": 0.2485,
    "silver_jaccard_sentence": 0.2066,
    "silver_levenshtein": 11.8240,
    "silver_similarity": 0.680,
    "silver_precision": 0.9610,
    "silver_recall": 0.8315,
    "silver_f1": 0.8760,
    "gold_sound_precision": 0.9981,
    "gold_sound_recall": 0.6286,
    "gold_sound_f1": 0.7467,
    "subset_sound_precision": 0.9953,
    "subset_sound_recall": 0.8769,
    "subset_sound_f1": 0.9212,
    "silver_sound_precision": 0.9974,
    "silver_sound_recall": 0.8501,
    "silver_sound_f1": 0.9026,
    "clean_precision": 0.995,
    "clean_recall": 0.866,
    "clean_f1": 0.915,
    "control_positions": (262, 265, 294, 274, 276),
    "votes_per_task": (3, 76),
    "batch_items": 467,
    "added_twice": 0,
}


SIMILARITIES = {f"{row}_similarity" for row in ("gold", "subset", "silver")}


@pytest.fixture(scope="module")
def figures():
    """All but similarities of meaning, straight from the files."""
    values = released_values(find_files(FOLDER), Choices(), None) | {"added_twice": 0}
    return {figure.key: figure for figure in compare_values(values, values)}


@pytest.fixture(scope="module")
def imported(django_db_setup, django_db_blocker):
    """The same through importer and database."""
    with django_db_blocker.unblock():
        return without_similarities(FOLDER)


@pytest.fixture(scope="module")
def with_similarities(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        return computed(FOLDER)


def without_similarities(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.papers.reproduction.embeddings_available", lambda: False)
        # The patch ends here, before somebody asks for the model.
        return computed(folder)


def computed(folder):
    with throwaway_database():
        return {figure.key: figure for figure in reproduce_relevance(folder, Choices())}


PAIRS = 12


@pytest.fixture(scope="module")
def part_of_release(tmp_path_factory):
    """The release as far as it is about some pairs, and all labels of experts."""
    folder = tmp_path_factory.mktemp("part")
    (folder / EXPERTS.name).symlink_to(EXPERTS.resolve())
    records = {path: json.loads(path.read_text("utf-8")) for path in (FINAL, SILVER_112, GOLD)}
    pairs = {pair_of(record) for record in islice(records[GOLD], PAIRS)}
    for path, found in records.items():
        own = [record for record in found if pair_of(record) in pairs]
        (folder / path.name).write_text(json.dumps(own))
    part = [each for each in json.loads(SILVER_50.read_text("utf-8")) if pair_of(each) in pairs]
    (folder / SILVER_50.name).write_text(json.dumps(part[:-2]))
    with VOTES.open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source, delimiter="\t"))
    with (folder / VOTES.name).open("w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(row for row in rows if pair_of_task(row["INPUT:input"]) in pairs)
    return folder


def pair_of(record):
    one, two = (record.get(f"object{n}") or record.get(f"obj{n}") for n in (1, 2))
    return frozenset((one.lower(), two.lower()))


def pair_of_task(text):
    return frozenset(
        name.lower() for name in re.match(r"\*\*(.+)\*\* vs \*\*(.+)\*\*", text).groups()
    )


@pytest.fixture(scope="module")
def part(django_db_setup, django_db_blocker, part_of_release):
    with django_db_blocker.unblock():
        return without_similarities(part_of_release)


PLACES = {each.key: each.place for each in PUBLISHED}
# The mean of cosines depends on the machine's arithmetic, the clean reader is known to three.
TO_THREE_DIGITS = {*SIMILARITIES, *(f"clean_{column}" for column in ("precision", "recall", "f1"))}


@pytest.mark.long
def test_the_database_has_the_figures_of_the_whole_release(imported):
    assert_equal_by_both_ways(imported)
    for key in EXPECTED.keys() - SIMILARITIES:
        assert_as_expected(imported, key)


def assert_equal_by_both_ways(figures):
    for each in PUBLISHED:
        if each.key not in ABSENT_FROM_DATA | SIMILARITIES:
            found = figures[each.place].found
            assert found.released.numbers == pytest.approx(found.ours.numbers, abs=1e-6), each.key
            # The import check; no figure is a match for that.
            assert figures[each.place].is_changed is False


def test_values_with_other_control_labels_are_not_compared():
    recipes = _recipes(Choices(control_labels={"t1": 2}))
    rows = compare_values({"kept_workers": 188}, {"kept_workers": 190}, recipes=recipes)
    (kept,) = [each for each in rows if each.found.ours]
    assert (kept.verdict, kept.is_changed) == (
        "no published value; ours: 1 control labels changed",
        None,
    )


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(SIMILARITIES))
def test_similarity(with_similarities, key):
    """The same with the model."""
    assert_as_expected(with_similarities, key)


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


def test_table_3_is_set_as_printed(figures):
    table = fill(table_3(), figures.values())
    rows = {line[:15].strip(): line[15:].split() for line in table.to_text().splitlines()}
    assert rows["Silver (subset)"][:4] == ["150", "50", "0.24", "0.21"]
    assert rows["Silver"][-3:] == ["0.83†", "0.88†", "–"]
    latex = table.to_latex()
    # Two heads and three rows, in one panel.
    assert sum(line.endswith(r"\\") for line in latex.splitlines()) == 5
