"""The paper's final labels and its filter on workers, through the actions of the site."""

import pytest
from django.conf import settings
from django.db import transaction

from annotation.answers.reports.argument_lists import relevance_of
from annotation.consensus.actions.adoption import adopt_labels, preview_adoption
from annotation.consensus.actions.consensus import recompute_final_labels, set_consensus
from annotation.consensus.actions.preferred_labels import prefer_labels
from annotation.consensus.reports import counted_votes, machine_labels
from annotation.judges.reports.label_compare import compare_sets, labels_of_rater, said_by
from annotation.labelling.models.campaigns import campaigns_of
from annotation.papers.reproduction import find_files, import_all
from annotation.quality.actions.exclusion import exclude_below, undo_exclusion
from annotation.quality.reports.exclusion import exclusion_curve, preview_exclusion
from cqa_site.people.models import Rater, Study
from tests.annotation.released import EXPERTS, FINAL, FOLDER, VOTES
from tests.cast import make_member

ABSENT = [path.name for path in (VOTES, EXPERTS, FINAL) if not path.exists()]
pytestmark = [
    pytest.mark.long,
    pytest.mark.django_db,
    pytest.mark.reference,
    pytest.mark.skipif(bool(ABSENT), reason=f"released data absent: {', '.join(ABSENT)}"),
]
WANTED = ("toloka", "expert_workbook", "final_labels")


@pytest.fixture(scope="module")
def study(django_db_setup, django_db_blocker, tmp_path_factory):
    """The released files in a study, imported once; what a test changes is undone after it."""
    with (
        pytest.MonkeyPatch.context() as patch,
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        patch.setattr(settings, "MEDIA_ROOT", tmp_path_factory.mktemp("media"))
        made = Study.objects.create(name="Released")
        import_all(made, [each for each in find_files(FOLDER) if each[0] in WANTED])
        yield made
        transaction.set_rollback(True)


def test_final_labels_step_by_step_and_back(study):
    crowd, released = (campaigns_of(study).get(name=name) for name in ("Crowd", "Released"))
    rater = Rater.objects.get(study=study, kind="reference")
    boss = make_member(study, "researcher")
    batches = campaigns_of(study).filter(name__startswith="Experts: Batch").order_by("name")[:3]
    adopted = adopt_labels(campaign=crowd, source=released, rater=rater, actor=boss)
    # The experts come after the adoption: the order does not matter.
    set_consensus(campaign=crowd, aggregator="majority", overridden_by=batches, actor=boss)
    recompute_final_labels(crowd)
    rows = compare_sets(crowd, labels_of_rater(released, rater))
    assert [(row.equal, row.n) for row in rows[:4]] == [
        (1_440, 1_688),
        (1_528, 1_688),
        (1_673, 1_688),
        (1_673, 1_688),
    ]
    seen = preview_adoption(campaign=crowd, source=released, rater=rater, only_tied=True)
    assert (seen.labelled, seen.changed) == (1_688, 0)
    assert crowd.final_labels.filter(provenance="adopted").count() > 200
    model = Rater.objects.get(study=study, kind="model")
    name, said = said_by(study, f"rater-{released.public_id}:{model.public_id}")
    assert name == "Released · GPT-4 (model)"
    majority = {row.set: row for row in compare_sets(crowd, said)}["majority"]
    assert majority.n == 1_688
    assert adopted.withdrawn_at is None


def test_lists_and_filters_use_the_released_label_and_not_the_models(study):
    released = campaigns_of(study).get(name="Released")
    people = dict(counted_votes(released).values_list("item__argument", "label"))
    model = dict(machine_labels(released).values_list("item__argument", "label"))
    assert len(people) == 1_688
    assert sum(model[key] > label for key, label in people.items()) == 336
    recompute_final_labels(released)
    prefer_labels(study=study, campaign=released, actor=make_member(study, "researcher"))
    assert relevance_of(study, people) == people


def test_the_papers_filter_is_one_action(study):
    crowd = campaigns_of(study).get(name="Crowd")
    boss = make_member(study, "researcher")
    seen = preview_exclusion(crowd, 0.5, "accuracy")
    then = seen["then"]
    assert seen["excluded"] == 94
    assert (then["raters"], then["votes"], then["without"]) == (188, 3_856, 41)
    assert (then["ties"], then["labels"]) == (399, (55, 238, 439, 936))
    assert then["alpha"] == pytest.approx(0.4055, abs=5e-5)
    assert seen["now"]["alpha"] == pytest.approx(0.2917, abs=5e-5)
    at_half = next(row for row in exclusion_curve(crowd) if row["below"] == 0.5)
    assert at_half == {"below": 0.5, **then}
    before = counted_votes(crowd).count()
    made = exclude_below(
        campaign=crowd, below=0.5, rule="accuracy", reason="The paper's rule", actor=boss
    )
    assert made.places.count() == 94
    assert preview_exclusion(crowd, 0.5, "accuracy")["now"] == then
    assert undo_exclusion(exclusion=made, actor=boss) == 94
    assert counted_votes(crowd).count() == before
