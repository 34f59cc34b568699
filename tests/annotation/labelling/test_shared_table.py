"""A label round is a round: what all kinds share stands in the table of all rounds."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.judges.models import TrainedJudge
from annotation.labelling.models import LabelRound, label_rounds_of
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_label_round

pytestmark = pytest.mark.django_db


def test_rounds_of_two_kinds_may_have_one_name_and_two_label_rounds_may_not(
    study, researcher, django_assert_num_queries
):
    make_scored_answers(study)
    make_round(study, researcher, name="First")
    label_round = make_label_round(study, name="First")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_label_round(study, name="First")
    with django_assert_num_queries(1):
        assert [row.study.name for row in label_rounds_of(study)] == [study.name]
    label_round.state, label_round.closed_at = LabelRound.State.CLOSED, timezone.now()
    with django_assert_num_queries(1):
        label_round.save(update_fields=["state", "closed_at"])


def test_a_draft_that_is_changed_keeps_its_items_and_shows_its_settings(study, client):
    label_round = make_label_round(study, name="Labels", votes_per_item=4)
    ids = [study.public_id, label_round.public_id]
    address = reverse("label_round_edit", args=ids)
    form = client.get(address).context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    assert (given["votes_per_item"], given["guideline"]) == (4, label_round.guideline.public_id)
    before = label_round.items.count()
    changed = client.post(address, given | {"share_cap": 0.5, "orders_by_uncertainty": ""})
    assert changed["Location"] == reverse("label_round", args=ids)
    label_round.refresh_from_db()
    assert (label_round.share_cap, label_round.votes_per_item) == (0.5, 4)
    assert label_round.items.count() == before > 0
    # A draft whose sentences a judge labelled stays.
    judge = study.raters.create(kind="classifier")
    TrainedJudge.objects.create(label_round=label_round, rater=judge, number=1, kind="cold")
    page = client.post(reverse("label_round_delete", args=ids), follow=True)
    assert "This round is already in use" in page.text
    assert label_round.trained_judges.count() == 1
