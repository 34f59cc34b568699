"""Final labels: the votes that count, and the stored rows."""

import numpy as np
import pytest

from annotation.answers.reports import relevance_of
from annotation.consensus.actions import consensus
from annotation.consensus.actions.decisions import adjudicate
from annotation.consensus.models import Adjudication, FinalLabel
from annotation.consensus.reports import counted_votes, override_table, vote_table
from annotation.labelling.models import Assignment, Item
from cqa_site.people.models import Rater
from cqa_site.runs.jobs import JobContext
from cqa_site.runs.models import Job
from tests.annotation.voting import imported, make_raters, vote
from tests.cast import make_label_round, make_member, make_study


@pytest.fixture
def crowd(study):
    return make_raters(study, 3)


VOTES = ((0, 0, 1), (1, 2, 3), (2, 2, 2))


def stored(label_round):
    fields = ("argument", *consensus.FIELDS)
    return list(label_round.final_labels.order_by("argument").values_list(*fields))


def test_the_vote_table_is_one_query_and_leaves_out_what_does_not_count(
    study, crowd, django_assert_num_queries
):
    label_round = imported(study, crowd, votes=VOTES)
    items = list(label_round.items.order_by("pk"))
    label_round.places.create(rater=crowd[0], excluded_at="2024-05-02T00:00Z")
    other = make_label_round(study, name="Other")
    other.places.create(rater=crowd[1], excluded_at="2024-05-02T00:00Z")
    Assignment.objects.filter(item=items[0], rater=crowd[1]).update(is_extra=True)
    Item.objects.filter(pk=items[1].pk).update(control_label=1, is_retired=True)
    with django_assert_num_queries(1):
        table = vote_table(label_round)
    assert table["rater"].tolist() == [crowd[2].pk, crowd[1].pk, crowd[2].pk]
    assert not table["excluded"].any()
    everything = vote_table(label_round, exclude=False)
    assert len(everything) == 9
    assert everything["excluded"].sum() == 3
    assert everything["is_extra"].sum() == 1
    assert everything["is_control"].sum() == everything["is_retired"].sum() == 3
    assert counted_votes(label_round).count() == len(table)
    assert vote_table(make_label_round(study, name="Empty")).empty


@pytest.fixture
def released(study, crowd):
    """People say 1 and 2, a model that came in the same file says 3 to both."""
    label_round = imported(study, crowd, votes=[(1,), (2,)], name="Released")
    model = Rater.objects.create(study=study, kind="model", name="GPT")
    for item in label_round.items.all():
        vote(item, model, 3)
    return label_round


def test_a_machine_has_no_vote_in_a_final_label(study, released):
    consensus.recompute_final_labels(released)
    rows = list(released.final_labels.order_by("argument"))
    assert [row.label for row in rows] == [1, 2]
    assert [(row.votes, row.is_tied, row.spread) for row in rows] == [(1, False, 0)] * 2
    assert not consensus.is_stale(released)
    keys = [row.argument_id for row in rows]
    assert list(relevance_of(study, keys).values()) == [1, 2]
    # Nor does it overrule anybody from another round.
    votes = imported(study, make_raters(study, 2), votes=[(0, 0), (0, 0)], name="Votes")
    for item, other in zip(votes.items.order_by("pk"), released.items.order_by("pk"), strict=True):
        Item.objects.filter(pk=item.pk).update(argument=other.argument)
    votes.overridden_by.set([released])
    consensus.recompute_final_labels(votes)
    overruled = votes.final_labels.order_by("argument").values_list("label", "provenance")
    assert list(overruled) == [(1, "expert"), (2, "expert")]
    # Where nobody but a machine spoke there is no label.
    Assignment.objects.filter(round=released).exclude(rater__kind="model").delete()
    assert consensus.is_stale(released)
    consensus.recompute_final_labels(released)
    assert set(released.final_labels.values_list("provenance", "label")) == {("none", None)}


def test_recomputing_stores_one_row_per_argument_and_repeating_changes_nothing(study, crowd):
    label_round = imported(study, crowd, votes=VOTES)
    assert consensus.recompute_final_labels(label_round) == 3
    before = stored(label_round)
    keys = set(label_round.final_labels.values_list("pk", flat=True))
    assert consensus.recompute_final_labels(label_round) == 0
    assert stored(label_round) == before
    assert set(label_round.final_labels.values_list("pk", flat=True)) == keys
    assert [row.label for row in label_round.final_labels.order_by("argument")] == [0, 3, 2]
    tied = label_round.final_labels.get(is_tied=True)
    assert (tied.pattern, tied.spread, tied.votes, tied.provenance) == ("1-1-1", 2, 3, "votes")
    # Decisions stay, and only arguments that left are dropped.
    first, second = label_round.items.order_by("pk")[:2]
    expert = Rater.objects.create(study=study, kind="expert")
    adjudicate(label_round=label_round, argument=second.argument, rater=expert, label=0)
    consensus.recompute_final_labels(label_round)
    assert Adjudication.objects.count() == 1
    first.assignments.all().delete()
    first.delete()
    consensus.recompute_final_labels(label_round)
    assert label_round.final_labels.count() == 2
    row = label_round.final_labels.get(argument=second.argument)
    assert (row.label, row.provenance) == (0, "adjudicated")


def test_labels_of_an_overruling_label_round_become_the_expert_label(
    study, crowd, django_assert_num_queries
):
    label_round = imported(study, crowd, votes=VOTES)
    target = label_round.items.order_by("pk").first()
    experts = make_label_round(study, ordinary=1, controls=0, name="Experts", origin="imported")
    item = Item.objects.create(round=experts, argument=target.argument, external_id="x")
    people = [Rater.objects.create(study=study, kind="expert") for _ in range(2)]
    vote(item, people[0], 1)
    vote(item, people[1], 2)
    vote(experts.items.exclude(pk=item.pk).get(), people[0], 3)
    choice = {"label_round": label_round, "actor": make_member(study, "researcher")}
    consensus.set_consensus(aggregator="majority", overridden_by=[experts], **choice)
    with django_assert_num_queries(1):
        assert override_table(label_round)["value"].tolist() == [1, 2]
    consensus.recompute_final_labels(label_round)
    row = label_round.final_labels.get(argument=target.argument)
    assert (row.label, row.expert_label, row.majority_label, row.provenance) == (2, 2, 0, "expert")
    for wrong in (label_round, make_label_round(make_study("Study B"))):
        with pytest.raises(consensus.SourceNotValid):
            consensus.set_consensus(aggregator="mace", overridden_by=[wrong], **choice)


def test_waiting_requests_are_shared_and_one_overtaken_does_not_write_its_older_labels(
    study, crowd
):
    label_round = imported(study, crowd, votes=VOTES)
    old = consensus.request_final_labels(label_round=label_round)
    assert consensus.request_final_labels(label_round=label_round) == old
    Job.objects.filter(pk=old.pk).update(state="leased", lease_until="2099-01-01T00:00Z")
    new = consensus.request_final_labels(label_round=label_round)
    assert new != old
    assert consensus.request_final_labels(label_round=label_round) == new
    old.refresh_from_db()
    assert consensus.recompute_final_labels(label_round, work=JobContext(old)) == 3
    label_round.final_labels.all().delete()
    Job.objects.filter(pk=new.pk).update(state="done")
    assert consensus.recompute_final_labels(label_round, work=JobContext(old)) == 0
    assert label_round.final_labels.count() == 0


def test_many_votes_are_stored_without_a_query_per_argument(
    study, crowd, django_assert_max_num_queries
):
    values = np.random.default_rng(0).integers(0, 4, (200, 3)).tolist()
    label_round = imported(study, crowd, votes=values)
    with django_assert_max_num_queries(20):
        assert consensus.recompute_final_labels(label_round) == 200
    assert FinalLabel.objects.filter(label_round=label_round).count() == 200
