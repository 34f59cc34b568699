"""Label sets beside any rater: counts by hand, who can be chosen, the page and its files."""

import pytest

from annotation.consensus.actions import consensus
from annotation.consensus.actions.decisions import adjudicate, adopt_labels
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.label_compare import choices, compare_sets, labels_of_rater, said_by
from annotation.labelling.models import Assignment, Item, VoteEvent
from cqa_site.people.models import Rater
from tests.annotation.voting import imported, lend, make_raters, vote
from tests.cast import make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint, make_run

pytestmark = pytest.mark.django_db

#         tie        settled    settled    tie        settled
VOTES = [[1, 2, 3], [2, 2, 1], [0, 0, 3], [0, 1, 2], [1, 1, 1]]


@pytest.fixture
def label_round(study):
    return imported(study, make_raters(study, 3), votes=VOTES)


@pytest.fixture
def release(label_round):
    about = {"kind": "reference", "name": "Released label", "external_id": "released"}
    rater = Rater.objects.create(study=label_round.study, **about)
    return lend(label_round, dict(enumerate([0, 2, 3, 0, 0])), rater, "Release"), rater


@pytest.fixture
def settled(label_round, release):
    """Experts say 3 about the third sentence, ties are as released, the queue decides the last."""
    source, rater = release
    (expert, other) = make_raters(label_round.study, 2, kind="expert")
    batch = imported(label_round.study, [], votes=[[]], name="Batch")
    third, last = [item.argument for item in label_round.items.order_by("pk")][2::2]
    vote(Item.objects.create(round=batch, argument=third, external_id="b"), expert, 3)
    boss = make_member(label_round.study, "researcher")
    consensus.set_consensus(
        label_round=label_round, aggregator="majority", overridden_by=[batch], actor=boss
    )
    adopt_labels(label_round=label_round, source=source, rater=rater, actor=boss)
    adjudicate(label_round=label_round, argument=last, rater=other, label=0)
    consensus.recompute_final_labels(label_round)
    return label_round


def test_each_step_adds_what_its_source_decides(settled, release):
    source, rater = release

    def compare():
        return {row.set: row for row in compare_sets(settled, labels_of_rater(source, rater))}

    rows = compare()
    steps = [(name, rows[name].equal, rows[name].changed) for name in list(rows)[:4]]
    assert steps == [("votes", 1, None), ("expert", 2, 1), ("adopted", 4, 2), ("final", 5, 1)]
    assert {row.n for row in rows.values()} == {5}
    assert rows["final"].ordinal.value == 1
    assert rows["majority"].equal == 1
    # Released 0 2 3 0 0 against 3 2 0 2 1: -3, 0, 3, -2, -1.
    assert rows["votes"].difference == pytest.approx(-0.6)
    # Every label of a copy counts as said.
    first = source.items.order_by("pk")[1]  # the round was made with an item of its own
    given = Assignment.objects.get(item=first, rater=rater)
    VoteEvent.objects.create(assignment=given, client_key="copy", kind="flag", label=3)
    assert compare()["votes"].equal == 2


def test_everybody_but_the_crowd_is_offered_and_anybody_can_be_named(settled, release):
    source, rater = release
    study = settled.study
    judge = Rater.objects.create(study=study, kind="classifier", name="Trained judge")
    version = TrainedJudge.objects.create(label_round=settled, rater=judge, number=1, kind="cold")
    argument = settled.items.order_by("pk").first().argument
    JudgeLabel.objects.create(label_round=settled, argument=argument, trained=version, label=0)
    offered = dict(choices(study))
    assert offered[f"rater-{source.public_id}:{rater.public_id}"] == "Release · Released label"
    assert len(offered) == 3
    name, said = said_by(study, f"trained-{version.public_id}")
    assert name.startswith("Crowd · ")
    assert said.labels.to_dict() == {argument.pk: 0}
    person = settled.assignments.first().rater
    assert said_by(study, f"rater-{settled.public_id}:{person.public_id}")[1].labels.size == 5
    assert said_by(make_study("Study B"), f"trained-{version.public_id}") is None
    for wrong in ("", "rater-", "run-x", f"rater-{source.public_id}:{person.public_id}"):
        assert said_by(study, wrong) is None


def here(label_round, tail=""):
    base = f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}"
    return f"{base}/labels/compare/{tail}"


@pytest.mark.long
def test_the_page_and_its_files(settled, release, study, django_assert_max_num_queries):
    boss = make_member(study, "researcher")
    client = sign_in(boss)
    key = f"rater-{':'.join(str(each.public_id) for each in release)}"
    with django_assert_max_num_queries(24):
        page = client.get(here(settled), {"with": key, "set": "majority"})
    assert page.context["chosen"] == "majority"
    sets, confusion = (each.data for each in page.context["cards"])
    assert confusion.sums == [1, 1, 2, 1]
    assert [each.equal for each in sets if each.is_step] == [1, 2, 4, 5]
    for tail, wanted, status in (
        ("", {"with": "nobody"}, 404),
        ("sets.csv", {"with": key}, 200),
        ("confusion.csv", {"with": key}, 200),
        ("other.csv", {"with": key}, 404),
    ):
        assert client.get(here(settled, tail), wanted).status_code == status, tail
    # A run without a single label is not offered.
    run = make_run(settled, make_endpoint(study, boss), boss, lambda request: "?", preflight="off")
    assert run.judge_labels.exists()
    assert not any("run-" in key for key, _name in choices(study))
    assert client.get(here(settled)).status_code == 200
