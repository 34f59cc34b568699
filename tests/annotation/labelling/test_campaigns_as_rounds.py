"""A campaign is a round: what all kinds share stands in the table of all rounds."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.judges.models import TrainedJudge
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_campaign

pytestmark = pytest.mark.django_db


def test_rounds_of_two_kinds_may_have_one_name_and_two_campaigns_may_not(study, researcher):
    make_scored_answers(study)
    make_round(study, researcher, name="First")
    make_campaign(study, name="First")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_campaign(study, name="First")
    assert campaigns_of(study).get().name == "First"


def test_a_campaign_brings_its_study_along_and_a_change_of_state_writes_one_table(
    study, researcher, django_assert_num_queries
):
    campaign = make_campaign(study)
    with django_assert_num_queries(1):
        assert [row.study.name for row in campaigns_of(study)] == [study.name]
    campaign.state, campaign.closed_at = Campaign.State.CLOSED, timezone.now()
    with django_assert_num_queries(1):
        campaign.save(update_fields=["state", "closed_at"])


def test_a_draft_that_is_changed_keeps_its_items_and_shows_its_settings(study, client):
    campaign = make_campaign(study, name="Labels", votes_per_item=4)
    address = reverse("campaign_edit", args=[study.public_id, campaign.public_id])
    form = client.get(address).context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    assert (given["votes_per_item"], given["guideline"]) == (4, campaign.guideline.public_id)
    before = campaign.items.count()
    changed = client.post(address, given | {"share_cap": 0.5, "orders_by_uncertainty": ""})
    assert changed["Location"] == reverse("campaign", args=[study.public_id, campaign.public_id])
    campaign.refresh_from_db()
    assert (campaign.share_cap, campaign.votes_per_item) == (0.5, 4)
    assert campaign.items.count() == before > 0


def test_a_draft_whose_sentences_a_judge_labelled_stays(study, client):
    draft = make_campaign(study, name="Draft")
    judge = study.raters.create(kind="classifier")
    TrainedJudge.objects.create(campaign=draft, rater=judge, number=1, kind="cold")
    address = reverse("campaign_delete", args=[study.public_id, draft.public_id])
    page = client.post(address, follow=True)
    assert "This round is already in use" in page.text
    assert draft.trained_judges.count() == 1
