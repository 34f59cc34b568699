"""Stored scores through the import: the published correlations, weighted scores and indexes."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from argsum.leaderboard.reports.people_agreement import people_agreement
from argsum.leaderboard.reports.scores import metric_rows
from tests.cast import make_study
from tests.golden.places import ARGSUM as FOLDER, needs

PEOPLE = [FOLDER / "human" / f"A{number}.csv" for number in range(1, 5)]
SOFT = FOLDER / "evaluation" / "soft_score.json"
GPT4O = FOLDER / "evaluation" / "gpt4o_results.json"
MCARGSUM = "MCArgSum_SBERT_all_mpnet_base"
CLUSTERINGS = [FOLDER / "clusterings" / f"ArgKP21_{name}.json" for name in (MCARGSUM, "USKPM")]
pytestmark = [*needs(SOFT), pytest.mark.django_db]


@pytest.fixture(scope="module")
def judged(django_db_setup, django_db_blocker):
    """What people counted and the soft scores of the same sets, imported once."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = make_study("Released")
        _call("import_counts", *PEOPLE, dataset="Judged")
        _call("import_summary_scores", SOFT, GPT4O, dataset="Judged")
        yield made
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def study(judged):
    """With evaluations and clusterings of ArgKP."""
    _call("import_argkp", FOLDER / "argkp2021", dataset="ArgKP")
    _call("import_summary_scores", *EVALUATIONS, *CLUSTERINGS, dataset="ArgKP")
    return judged


def _call(name, *files, **options):
    out = StringIO()
    call_command(name, *files, study="Released", stdout=out, **options)
    return out.getvalue()


def _reproduce(**options):
    return _call("reproduce", "argsum", **options)


def test_stored_scores_correlate_with_people_as_published(judged):
    rows = metric_rows(judged, str(judged.argument_datasets.get(name="Judged").public_id))
    # 20 functions in three parts; two counts of a language model at two temperatures.
    assert len(rows) == 60 + 4
    found = {row.source.metric: row.found for row in rows}
    for metric, *expected in (
        ("bert_score_f:recall", 0.254, 0.402, 0.175),
        ("menli:recall", 0.265, 0.372, 0.26),
        ("rouge_1:precision", -0.118, -0.072, 0.194),
        ("rouge_1:recall", 0.164, 0.315, 0.17),
        ("rouge_1:f1", 0.027, 0.127, 0.184),
    ):
        each = found[metric]
        numbers = (each.across, each.within_mean, each.within_sd)
        assert ([round(number, 3) for number in numbers], each.n) == (expected, 126)


PEOPLE_AND_SCORES = {
    ("people", "coverage, mean Pearson of two annotators"): (0.697,),
    ("language-model counts", "coverage, temperature 1.0"): (0.767, 0.803, 0.115),
    ("language-model counts", "redundancy, temperature 1.0"): (0.852, 0.824, 0.055),
    ("soft score", "MENLI, sR"): (0.265, 0.372, 0.26),
}
ARGKP, DEBATE = "clusters of ArgKP, oracle", "clusters of Debate, oracle"
WEIGHTED = {
    "BarH": 0.78,
    "BarH_Candidates": 0.79,
    "SMatchToPr": 0.806,
    "SMatchToPr_Candidates": 0.824,
    # The clusterings of USKPM bring its name as well.
    "USKPM": 0.757,
    f"{MCARGSUM}_global": 0.811,
    f"{MCARGSUM}_local": 0.791,
}
EVALUATIONS = [FOLDER / "evaluation" / f"ArgKP21_{name}.json" for name in WEIGHTED]
CLUSTERS = {
    (ARGKP, f"{MCARGSUM}, Excl. noise (≥ 75%): ARI"): (0.594, 0.299),
    (ARGKP, f"{MCARGSUM}, Incl. noise: ARI"): (0.547, 0.255),
    (ARGKP, "USKPM (iterative), Incl. noise: Runtime"): (4.377, 4.378),
    (DEBATE, f"{MCARGSUM}, Excl. noise (≥ 70%): ARI"): (0.369, 0.135),
    (DEBATE, "MCArgSum_RoBERTa, Incl. noise: ARI"): (0.311, 0.099),
    (ARGKP, "USKPM, Excl. noise (≥ 75%): ARI"): (0.273, 0.045),
    (ARGKP, "USKPM, Incl. noise: ARI"): (0.253, 0.057),
    (ARGKP, "USKPM (iterative), Incl. noise: ARI"): (0.268, 0.052),
    (DEBATE, f"{MCARGSUM}, Incl. noise: ARI"): (0.315, 0.123),
    (DEBATE, "USKPM, Incl. noise: ARI"): (0.232, 0.049),
    (DEBATE, "USKPM (iterative), Incl. noise: ARI"): (0.262, 0.054),
    ("data", "Debate: Unique arguments"): (1165,),
} | {
    ("weighted, oracle", f"ArgKP, {name}: weighted score"): (value,)
    for name, value in WEIGHTED.items()
}


def _tables():
    """(table, cell) → numbers of the study to three digits."""
    return {
        (row["table"], row["cell"]): tuple(round(each, 3) for each in row["ours"]["numbers"])
        for row in json.loads(_reproduce(json=True))
    }


@pytest.mark.long
def test_the_tables_of_the_paper_from_the_study(judged):
    found = _tables()
    assert {key: found.get(key) for key in PEOPLE_AND_SCORES} == PEOPLE_AND_SCORES
    text = _reproduce(tables="latex")
    assert r"\toprule" in text
    assert text.count("MENLI") == 1
    with pytest.raises(CommandError, match="no study 'Nowhere'"):
        call_command("reproduce", "argsum", study="Nowhere")
    people = people_agreement(judged)
    # All 144 sets are judged; three systems are left out in print.
    assert (people.sets, [each.name for each in people.raters]) == (144, ["A1", "A2", "A3", "A4"])
    people = people_agreement(judged, without="summetix")
    means = {each.dimension: round(each.pairs.mean, 3) for each in people.dimensions}
    assert (people.sets, means) == (126, {"coverage": 0.697, "redundancy": 0.722})
    assert [pair.n for pair in people.dimensions[0].pairs.pairs] == [84, 84, 84, 126, 126, 126]


@pytest.mark.long
def test_the_tables_with_clusters_from_the_study(study):
    # The released half of Debate, whose pairs have no labels.
    half = FOLDER / "debate" / "dataset_scores_processed_test.csv"
    assert "Every row counts as a match" in _call("import_arguments", half, dataset="Debate")
    files = sorted((FOLDER / "clusterings").glob("Debate_*.json"))
    _call("import_summary_scores", *files, dataset="Debate", order="rows")
    # Imports order sets as they come, so that all of this is computed from rows of the study.
    expected, found = PEOPLE_AND_SCORES | CLUSTERS, _tables()
    assert {key: found.get(key) for key in expected} == expected
