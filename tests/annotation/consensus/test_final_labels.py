"""The page of final labels: filters, settings, adoption, recomputing."""

import pytest

from annotation.consensus.actions import consensus
from annotation.consensus.actions.adjudication import adjudicate
from annotation.labelling.models.campaigns import Item
from annotation.labelling.models.votes import VoteEvent
from cqa_site.people.models import AuditEvent
from cqa_site.runs.models import Job
from tests.annotation.voting import imported, make_raters, vote
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


class Lab:
    """Sixty sentences, a third of them tied, and a researcher."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, "researcher")
        votes = [[0, 1, 3], [2, 2, 1], [3, 3, 3]] * 20
        self.campaign = imported(self.study, make_raters(self.study, 3), votes=votes)
        consensus.recompute_final_labels(self.campaign)


lab = built_once(Lab)


@pytest.fixture
def study(lab):
    return lab.study


@pytest.fixture
def client(lab):
    return sign_in(lab.boss)


@pytest.fixture
def campaign(lab):
    return lab.campaign


def here(campaign, tail=""):
    return f"/s/{campaign.study.public_id}/label-rounds/{campaign.public_id}/labels/{tail}"


def test_the_page_shows_sources_in_a_bounded_number_of_queries(
    campaign, client, django_assert_max_num_queries
):
    with django_assert_max_num_queries(15):
        page = client.get(here(campaign))
    assert page.status_code == 200
    assert page.context["summary"]["total"] == 60
    assert len(page.context["page"]) == 50
    text = page.content.decode()
    assert "1-1-1" in text
    assert "The strongest source decides" in text


def test_filters(campaign, client):
    argument = campaign.final_labels.filter(is_tied=True).first().argument
    (expert,) = make_raters(campaign.study, 1, kind="expert")
    adjudicate(campaign=campaign, argument=argument, rater=expert, label=1)
    for query, count in (
        ({"provenance": "votes"}, 59),
        ({"provenance": "adjudicated"}, 1),
        ({"label": "2"}, 20),
        ({"label": "3", "flag": "tied"}, 19),
        ({"flag": "tied"}, 20),
        ({"provenance": "nonsense", "label": "x", "flag": "pk"}, 60),
    ):
        page = client.get(here(campaign), query).context["page"]
        assert page.paginator.count == count, query


def test_it_says_when_a_label_was_changed_since(
    campaign, client, django_capture_on_commit_callbacks
):
    """As many labels as before, but another one: the page says it and leads to the button."""

    def recompute():
        with django_capture_on_commit_callbacks(execute=True):
            client.post(here(campaign, "recompute/"))

    recompute()
    assert not consensus.is_stale(campaign)
    # Looking at what is current computes nothing.
    assert client.get(here(campaign)).context["job"] is None
    changed = campaign.assignments.filter(label=0).first()
    campaign.assignments.filter(pk=changed.pk).update(label=3)
    VoteEvent.objects.create(assignment=changed, client_key="k", kind="change", label=3)
    assert "Labels came in, changed or dropped out" in client.get(here(campaign)).text
    recompute()
    assert not consensus.is_stale(campaign)


def test_settings_are_saved_logged_and_applied(
    campaign, client, django_capture_on_commit_callbacks
):
    experts = imported(campaign.study, [], votes=[[]], name="Experts")
    target = campaign.items.order_by("pk").first().argument
    item = Item.objects.create(campaign=experts, argument=target, external_id="x")
    vote(item, make_raters(campaign.study, 1, kind="expert")[0], 2)
    post = {"aggregator": "dawid_skene", "overridden_by": [experts.pk]}
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(here(campaign, "settings/"), post).status_code == 302
    campaign.refresh_from_db()
    assert campaign.aggregator == "dawid_skene"
    assert campaign.final_labels.get(argument=target).label == 2
    event = AuditEvent.objects.get(verb="consensus_changed")
    assert event.details["before"]["aggregator"] == "majority"
    assert event.details["after"]["overridden_by"] == ["Experts"]


def test_looking_at_the_page_starts_the_computation_by_itself(study, client):
    campaign = imported(study, make_raters(study, 3), votes=[[0, 1, 3], [2, 2, 1]], name="New")
    page = client.get(here(campaign))
    assert page.context["job"] == consensus.active_job(campaign)
    assert page.context["job"].is_active
    assert "data-reload-on-job" in page.text
    client.get(here(campaign))
    assert Job.objects.filter(kind="final_labels").count() == 1


def test_it_begins_with_how_many_sentences_have_each_label(campaign, client):
    names = campaign.guideline.level_names
    says = f"Final labels of 60 arguments: 40 “{names[3]}” (3), 20 “{names[2]}” (2)."
    assert client.get(here(campaign)).context["finding"].says == says
    row = campaign.final_labels.filter(label=2).first()
    campaign.final_labels.filter(pk=row.pk).update(label=None, provenance="none")
    finding = client.get(here(campaign)).context["finding"]
    assert finding.says.startswith("Final labels of 59 arguments: ")
    assert finding.says.endswith(f"19 “{names[2]}” (2).")
    assert finding.sure == "1 more has no label yet."
