"""Final labels: the rule on small tables, the released data, and the stored rows."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.reports.argument_lists import relevance_of
from annotation.consensus.actions import consensus
from annotation.consensus.actions.adjudication import adjudicate
from annotation.consensus.methods.consensus import final_labels, label_votes, majority_of_others
from annotation.consensus.models import Adjudication, FinalLabel
from annotation.consensus.reports import counted_votes, override_table, vote_table
from annotation.labelling.models.campaigns import Item
from annotation.labelling.models.votes import Assignment
from cqa_site.people.models import Rater
from cqa_site.runs.jobs import Work
from cqa_site.runs.models import Job
from cqa_site.stats.ratings import DuplicateRatingError
from tests.annotation.voting import imported, make_raters, vote
from tests.cast import make_campaign, make_member, make_study

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))


def labels_of(text):
    """ "a 3 3 0 | b 1" → one row per vote; raters are r0, r1, … by position."""
    rows = []
    for part in filter(None, text.split("|")):
        unit, *values = part.split()
        rows += [(unit, unit, f"r{at}", int(value)) for at, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["unit", "item", "rater", "value"])


NOTHING = labels_of("")


# -- the rule --------------------------------------------------------------------------------


def test_the_strongest_source_decides_and_is_named():
    votes = labels_of("a 0 0 1 | b 0 0 1 | c 0 0 1 | d 2 2 2")
    table = final_labels(
        votes, labels_of("a 1 | b 1"), labels_of("a 2"), units=["a", "b", "c", "d", "e"]
    )
    assert table["provenance"].tolist() == ["adjudicated", "expert", "votes", "votes", "none"]
    assert table["label"].tolist()[:4] == [2, 1, 0, 2]
    assert pd.isna(table["label"]["e"])
    assert table["majority_label"].tolist()[:4] == [0, 0, 0, 2]


def test_a_tie_goes_to_the_higher_label_for_votes_experts_and_adjudicators_alike():
    table = final_labels(labels_of("a 0 3 1"), labels_of("a 1 2"), labels_of("a 0 2"))
    row = table.loc["a"]
    assert (row.majority_label, row.expert_label, row.adjudicated_label) == (3, 2, 2)
    assert (row.tied, row.spread, row.pattern, row.n) == (True, 3, "1-1-1", 3)


def test_votes_of_all_items_of_a_unit_are_pooled_even_by_the_same_rater():
    votes = pd.DataFrame(
        [("a", 1, "r", 0), ("a", 2, "r", 0), ("a", 1, "s", 3)],
        columns=["unit", "item", "rater", "value"],
    )
    row = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene", "mace")).loc["a"]
    assert (row.label, row.n, row.pattern) == (0, 3, "2-1")
    doubled = pd.concat([votes, votes[:1]])
    with pytest.raises(DuplicateRatingError):
        final_labels(doubled, NOTHING, NOTHING)


def test_a_unit_may_be_named_by_a_tuple():
    votes = labels_of("a 1 1").assign(unit=[("x", "y", "s")] * 2)
    assert final_labels(votes, NOTHING, NOTHING)["label"].tolist() == [1]


def test_methods_that_differ_are_flagged_and_the_aggregator_is_obeyed():
    # Two raters answer 3 whatever is shown; three careful ones agree with each other.
    careful = "".join(f"| u{at} {at % 3} {at % 3} {at % 3} 3 3" for at in range(30))
    votes = labels_of(careful)
    votes = pd.concat([votes, labels_of("x 1 1").assign(rater=["r0", "r1"])])
    votes = pd.concat([votes, labels_of("x 3 3").assign(rater=["r3", "r4"])])
    votes["item"] = votes["unit"]
    by_votes = final_labels(votes, NOTHING, NOTHING, compared=("dawid_skene",))
    by_model = final_labels(votes, NOTHING, NOTHING, "dawid_skene")
    assert by_votes.loc["x", ["label", "dawid_skene_label", "methods_differ"]].tolist() == [
        3,
        1,
        True,
    ]
    assert by_model["label"]["x"] == 1
    assert not by_model["methods_differ"]["u1"]


def test_without_votes_there_are_no_labels_rather_than_an_error():
    table = final_labels(NOTHING, NOTHING, NOTHING, compared=("mace",), units=[1, 2])
    assert table["provenance"].tolist() == ["none", "none"]
    assert (table["n"].tolist(), table["pattern"].tolist()) == ([0, 0], ["", ""])
    assert final_labels(NOTHING, NOTHING, NOTHING).empty


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_majority_and_majority_of_others_match_a_plain_count(rows):
    votes = pd.DataFrame(rows, columns=["unit", "rater", "value"]).astype(int)
    best = label_votes(votes, "majority")
    for unit, part in votes.groupby("unit"):
        counts = part["value"].value_counts()
        assert best[unit] == max(counts[counts == counts.max()].index)
    others = majority_of_others(votes)
    for index, row in votes.iterrows():
        rest = votes[(votes["unit"] == row["unit"]) & (votes["rater"] != row["rater"])]["value"]
        counts = rest.value_counts()
        expected = max(counts[counts == counts.max()].index) if len(rest) else pd.NA
        assert (others[index] is pd.NA and expected is pd.NA) or others[index] == expected


# -- the released data -----------------------------------------------------------------------


@pytest.mark.reference
@pytest.mark.skipif(not (DATA / "relevance").exists(), reason=f"no released data at {DATA}")
def test_the_released_labels_step_by_step():
    from annotation.imports.methods.expert_workbook import match_key, read_expert_workbook
    from annotation.imports.methods.final_labels import read_final_labels
    from annotation.imports.methods.toloka import read_toloka

    def unit(row):
        return (row.object1, row.object2, match_key(row.text))

    folder = DATA / "relevance"
    export = read_toloka(folder / "assignments_from_pool_42774131__05-02-2024.tsv")
    votes = pd.DataFrame(
        [(unit(row), row.task_id, row.worker_id, row.label) for row in export if row.is_counted],
        columns=["unit", "item", "rater", "value"],
    )
    batches = read_expert_workbook(folder / "expert_annotation.xlsx")[:3]
    overrides = pd.DataFrame(
        [
            (unit(row), sheet.position, row.label)
            for sheet in batches
            for row in sheet.rows
            if row.label is not None
        ],
        columns=["unit", "rater", "value"],
    )
    released: dict[tuple, list[int]] = {}
    for row in read_final_labels(folder / "dataset_cqa_all_gpt.json"):
        if row.text is not None:
            released.setdefault(unit(row), []).append(row.label)
    adopted = pd.DataFrame(
        [(key, "release", label) for key, labels in released.items() for label in labels],
        columns=["unit", "rater", "value"],
    )

    def matches(table):
        # Eight sentences carry two released labels; either of them is a match.
        return sum(table["label"].get(key) in labels for key, labels in released.items())

    nothing = overrides[:0]
    by_votes = final_labels(votes, nothing, nothing, compared=("dawid_skene", "mace"))
    assert by_votes["label"].value_counts().sort_index().tolist() == [49, 241, 522, 907]
    tied = by_votes.index[by_votes["tied"]]
    assert (len(by_votes), len(tied), len(released)) == (1719, 265, 1688)
    by_experts = final_labels(votes, overrides, nothing)
    settled = final_labels(votes, overrides, adopted[adopted["unit"].isin(tied)])
    assert [matches(by_votes), matches(by_experts), matches(settled)] == [1440, 1528, 1673]


# -- stored rows -----------------------------------------------------------------------------


@pytest.fixture
def study(db):
    return make_study()


@pytest.fixture
def crowd(study):
    return make_raters(study, 3)


VOTES = ((0, 0, 1), (1, 2, 3), (2, 2, 2))


def stored(campaign):
    fields = ("argument", *consensus.FIELDS)
    return list(campaign.final_labels.order_by("argument").values_list(*fields))


def test_the_vote_table_is_one_query_and_leaves_out_what_does_not_count(
    study, crowd, django_assert_num_queries
):
    campaign = imported(study, crowd, votes=VOTES)
    items = list(campaign.items.order_by("pk"))
    campaign.places.create(rater=crowd[0], excluded_at="2024-05-02T00:00Z")
    other = make_campaign(study, name="Other")
    other.places.create(rater=crowd[1], excluded_at="2024-05-02T00:00Z")
    Assignment.objects.filter(item=items[0], rater=crowd[1]).update(is_extra=True)
    Item.objects.filter(pk=items[1].pk).update(control_label=1, is_retired=True)
    with django_assert_num_queries(1):
        table = vote_table(campaign)
    assert table["rater"].tolist() == [crowd[2].pk, crowd[1].pk, crowd[2].pk]
    assert not table["excluded"].any()
    everything = vote_table(campaign, exclude=False)
    assert len(everything) == 9
    assert everything["excluded"].sum() == 3
    assert everything["is_extra"].sum() == 1
    assert everything["is_control"].sum() == everything["is_retired"].sum() == 3
    assert counted_votes(campaign).count() == len(table)
    assert vote_table(make_campaign(study, name="Empty")).empty


@pytest.fixture
def released(study, crowd):
    """People say 1 and 2, a model that came in the same file says 3 to both."""
    campaign = imported(study, crowd, votes=[(1,), (2,)], name="Released")
    model = Rater.objects.create(study=study, kind="model", name="GPT")
    for item in campaign.items.all():
        vote(item, model, 3)
    return campaign


def test_a_machine_has_no_vote_in_a_final_label(released):
    consensus.recompute_final_labels(released)
    rows = list(released.final_labels.order_by("argument"))
    assert [row.label for row in rows] == [1, 2]
    assert [(row.votes, row.is_tied, row.spread) for row in rows] == [(1, False, 0)] * 2
    assert not consensus.is_stale(released)
    keys = [row.argument_id for row in rows]
    assert list(relevance_of(released.study, keys).values()) == [1, 2]
    # Where nobody but a machine spoke there is no label.
    Assignment.objects.filter(campaign=released).exclude(rater__kind="model").delete()
    assert consensus.is_stale(released)
    consensus.recompute_final_labels(released)
    assert set(released.final_labels.values_list("provenance", "label")) == {("none", None)}


def test_a_machine_in_another_campaign_overrules_nobody(study, released):
    votes = imported(study, make_raters(study, 2), votes=[(0, 0), (0, 0)], name="Votes")
    for item, other in zip(votes.items.order_by("pk"), released.items.order_by("pk"), strict=True):
        Item.objects.filter(pk=item.pk).update(argument=other.argument)
    votes.overridden_by.set([released])
    consensus.recompute_final_labels(votes)
    rows = votes.final_labels.order_by("argument").values_list("label", "provenance")
    assert list(rows) == [(1, "expert"), (2, "expert")]


def test_recomputing_stores_one_row_per_argument_and_repeating_changes_nothing(study, crowd):
    campaign = imported(study, crowd, votes=VOTES)
    assert consensus.recompute_final_labels(campaign) == 3
    before = stored(campaign)
    keys = set(campaign.final_labels.values_list("pk", flat=True))
    assert consensus.recompute_final_labels(campaign) == 0
    assert stored(campaign) == before
    assert set(campaign.final_labels.values_list("pk", flat=True)) == keys
    assert [row.label for row in campaign.final_labels.order_by("argument")] == [0, 3, 2]
    tied = campaign.final_labels.get(is_tied=True)
    assert (tied.pattern, tied.spread, tied.votes, tied.provenance) == ("1-1-1", 2, 3, "votes")


def test_recomputing_keeps_decisions_and_drops_only_arguments_that_left(study, crowd):
    campaign = imported(study, crowd, votes=VOTES)
    consensus.recompute_final_labels(campaign)
    first, second = campaign.items.order_by("pk")[:2]
    expert = Rater.objects.create(study=study, kind="expert")
    adjudicate(campaign=campaign, argument=second.argument, rater=expert, label=0)
    consensus.recompute_final_labels(campaign)
    assert Adjudication.objects.count() == 1
    assert campaign.final_labels.get(argument=second.argument).label == 0
    first.assignments.all().delete()
    first.delete()
    consensus.recompute_final_labels(campaign)
    assert campaign.final_labels.count() == 2
    assert campaign.final_labels.get(argument=second.argument).provenance == "adjudicated"


def test_labels_of_an_overruling_campaign_become_the_expert_label(
    study, crowd, django_assert_num_queries
):
    campaign = imported(study, crowd, votes=VOTES)
    target = campaign.items.order_by("pk").first()
    experts = make_campaign(study, ordinary=1, controls=0, name="Experts", origin="imported")
    item = Item.objects.create(campaign=experts, argument=target.argument, external_id="x")
    people = [Rater.objects.create(study=study, kind="expert") for _ in range(2)]
    vote(item, people[0], 1)
    vote(item, people[1], 2)
    vote(experts.items.exclude(pk=item.pk).get(), people[0], 3)
    actor = make_member(study, "researcher")
    consensus.set_consensus(
        campaign=campaign, aggregator="majority", overridden_by=[experts], actor=actor
    )
    with django_assert_num_queries(1):
        assert override_table(campaign)["value"].tolist() == [1, 2]
    consensus.recompute_final_labels(campaign)
    row = campaign.final_labels.get(argument=target.argument)
    assert (row.label, row.expert_label, row.majority_label, row.provenance) == (2, 2, 0, "expert")
    with pytest.raises(consensus.SourceNotValid):
        consensus.set_consensus(
            campaign=campaign, aggregator="mace", overridden_by=[campaign], actor=actor
        )
    foreign = make_campaign(make_study("Study B"))
    with pytest.raises(consensus.SourceNotValid):
        consensus.set_consensus(
            campaign=campaign, aggregator="mace", overridden_by=[foreign], actor=actor
        )


def test_a_request_recomputes_in_the_background(study, crowd, django_capture_on_commit_callbacks):
    campaign = imported(study, crowd, votes=VOTES)
    with django_capture_on_commit_callbacks(execute=True):
        job = consensus.request_final_labels(campaign=campaign)
    job.refresh_from_db()
    assert (job.state, job.error, campaign.final_labels.count()) == ("done", "", 3)


def test_waiting_requests_are_shared_and_a_running_one_is_not_enough(study, crowd):
    campaign = imported(study, crowd, votes=VOTES)
    first = consensus.request_final_labels(campaign=campaign)
    assert consensus.request_final_labels(campaign=campaign) == first
    Job.objects.filter(pk=first.pk).update(state="leased", lease_until="2099-01-01T00:00Z")
    second = consensus.request_final_labels(campaign=campaign)
    assert second != first
    assert consensus.request_final_labels(campaign=campaign) == second


def test_a_run_that_was_overtaken_does_not_write_its_older_labels(study, crowd):
    campaign = imported(study, crowd, votes=VOTES)
    old = consensus.request_final_labels(campaign=campaign)
    Job.objects.filter(pk=old.pk).update(state="leased", lease_until="2099-01-01T00:00Z")
    new = consensus.request_final_labels(campaign=campaign)
    old.refresh_from_db()
    assert consensus.recompute_final_labels(campaign, work=Work(old)) == 3
    campaign.final_labels.all().delete()
    Job.objects.filter(pk=new.pk).update(state="done")
    assert consensus.recompute_final_labels(campaign, work=Work(old)) == 0
    assert campaign.final_labels.count() == 0


def test_many_votes_are_stored_without_a_query_per_argument(
    study, crowd, django_assert_max_num_queries
):
    values = np.random.default_rng(0).integers(0, 4, (200, 3)).tolist()
    campaign = imported(study, crowd, votes=values)
    with django_assert_max_num_queries(20):
        assert consensus.recompute_final_labels(campaign) == 200
    assert FinalLabel.objects.filter(campaign=campaign).count() == 200
