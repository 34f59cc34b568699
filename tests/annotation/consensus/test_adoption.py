"""Adopting labels of another round, in any order, and back; the page of final labels."""

import itertools
from functools import partial

import pytest

from annotation.consensus.actions import consensus
from annotation.consensus.actions.decisions import (
    AdoptionNotPossible,
    adjudicate,
    adopt_labels,
    preview_adoption,
    queue,
    withdraw_adoption,
)
from annotation.consensus.models import Adjudication, Adoption
from annotation.labelling.models import Item, VoteEvent
from cqa_site.people.models import AuditEvent, Rater
from cqa_site.runs.models import Job
from tests.annotation.voting import imported, lend, make_raters, vote
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

#         tie         settled    tie        far apart  settled    tie
VOTES = [[1, 2, 3], [2, 2, 1], [0, 1, 3], [0, 3, 3], [1, 1, 1], [3, 0, 2]]
TIED = (0, 2, 5)


class Lab:
    """A round with ties, a researcher, and the labels of a release."""

    def __init__(self):
        study = make_study()
        self.label_round = imported(study, make_raters(study, 3), votes=VOTES)
        consensus.recompute_final_labels(self.label_round)
        self.researcher = make_member(study, "researcher")
        rater = Rater.objects.create(study=study, kind="reference", name="Released label")
        zeros = dict.fromkeys(range(6), 0)
        self.release = lend(self.label_round, zeros, rater, "Release"), rater


lab = built_once(Lab)


@pytest.fixture
def release(lab):
    source, rater = lab.release
    return {"source": source, "rater": rater}


@pytest.fixture
def adopt(lab, release, researcher):
    return partial(adopt_labels, label_round=lab.label_round, actor=researcher, **release)


def labels(label_round):
    consensus.recompute_final_labels(label_round)
    rows = label_round.final_labels.order_by("argument")
    return [(row.label, row.provenance) for row in rows]


def test_labels_adopted_once_or_twice_say_so_once(label_round, release, adopt, researcher):
    before = labels(label_round)
    # A preview counts and stores nothing.
    preview = partial(preview_adoption, label_round=label_round, **release)
    seen = preview(only_tied=True)
    assert (seen.labelled, seen.decided, seen.changed) == (6, 3, 3)
    assert seen.counts == [(0, 0, 3), (1, 1, 1), (2, 1, 1), (3, 4, 1)]
    assert not Adoption.objects.exists()
    adoption = adopt()
    assert adopt() == adoption
    assert AuditEvent.objects.filter(verb="labels_adopted").count() == 1
    found = labels(label_round)
    assert [found[at] for at in TIED] == [(0, "adopted")] * 3
    assert [found[at] for at in (1, 3, 4)] == [(2, "votes"), (3, "votes"), (1, "votes")]
    assert not Adjudication.objects.exists()
    again = preview(only_tied=True)
    assert (again.decided, again.changed, preview(only_tied=False).decided) == (0, 0, 3)
    # Changed labels of the source reach who adopted them.
    Job.objects.all().delete()
    consensus.request_everywhere(label_round=release["source"])
    asked = set(Job.objects.values_list("payload__label_round", flat=True))
    assert asked == {str(release["source"].public_id), str(label_round.public_id)}
    # Withdrawing gives the labels back to the votes.
    assert queue(label_round, rater=None).count() == 1  # far apart; the ties are decided
    assert withdraw_adoption(adoption=adoption, actor=researcher)
    assert not withdraw_adoption(adoption=adoption, actor=researcher)
    assert labels(label_round) == before
    assert queue(label_round, rater=None).count() == 4
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["labels_adopted", "adoption_withdrawn"]
    # Ties that come later are decided, too: excluding somebody after or before is the same.
    adopt()
    settled = label_round.items.order_by("pk")[1]
    settled.assignments.filter(label=2).first().delete()
    assert labels(label_round)[1] == (0, "adopted")
    adopt(only_tied=False)
    assert labels(label_round) == [(0, "adopted")] * 6
    assert Adoption.objects.filter(withdrawn_at=None).count() == 1


@pytest.mark.long
def test_what_an_expert_decides_in_the_queue_is_stronger_than_anybodys_label(
    label_round, release, adopt
):
    """Also than what the same person said elsewhere: neither replaces the other."""
    (expert,) = make_raters(label_round.study, 1, kind="expert")
    own = {"source": lend(label_round, {0: 0}, expert, "Batch"), "rater": expert}
    first = label_round.items.order_by("pk").first().argument
    decision = adjudicate(label_round=label_round, argument=first, rater=expert, label=2)
    for origin in (release, own):
        adopt(**origin)
        assert labels(label_round)[0] == (2, "adjudicated")
    row = label_round.final_labels.get(argument=first)
    assert (row.adjudicated_label, row.adopted_label) == (2, 0)
    decision.refresh_from_db()
    assert decision.superseded_at is None


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.long
def test_the_order_of_adoption_does_not_matter(label_round, researcher, release, adopt, step):
    """One expert labelled a sentence in two batches: which batch came last must not decide."""
    (expert,) = make_raters(label_round.study, 1, kind="expert")
    one = lend(label_round, {0: 0, 1: 3}, expert, "A")
    two = lend(label_round, {0: 1, 2: 1}, expert, "B")
    wanted = [{"source": one, "only_tied": False}, {"source": two}]
    wanted = [*({"rater": expert} | each for each in wanted), release]
    seen = []
    # The first order and the last, which is its reverse; or all of them.
    for order in list(itertools.permutations(wanted))[::step]:
        made = [adopt(**each) for each in order]
        seen.append(labels(label_round))
        for adoption in made:
            withdraw_adoption(adoption=adoption, actor=researcher)
    assert all(each == seen[0] for each in seen)
    # 0, 1 and the release's 0; 3 alone; 1 and 0.
    assert [label for label, _from in seen[0][:3]] == [0, 3, 1]


def test_nothing_is_adopted_from_another_study(label_round, researcher, adopt):
    foreign = imported(make_study("Study B"), [], votes=[[]])
    (rater,) = make_raters(label_round.study, 1, kind="expert")
    for source in (foreign, label_round):
        asked = {"source": source, "rater": rater, "only_tied": True}
        with pytest.raises(AdoptionNotPossible):
            preview_adoption(label_round=label_round, **asked)
        with pytest.raises(AdoptionNotPossible):
            adopt(**asked)


def here(label_round, tail=""):
    return f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}/labels/{tail}"


@pytest.mark.long
def test_the_page_shows_what_would_change_then_adopts_then_withdraws(
    label_round, release, researcher, inline
):
    client = sign_in(researcher)
    key = ":".join(str(each.public_id) for each in release.values())
    asked = {"source": key, "only_tied": "on"}
    looked = client.post(here(label_round, "adopt/"), asked)
    assert looked.context["preview"].changed == 3
    assert not Adoption.objects.exists()
    with inline():
        client.post(here(label_round, "adopt/"), asked | {"confirmed": "1"})
    page = client.get(here(label_round), {"provenance": "adopted"})
    assert page.context["page"].paginator.count == 3
    assert "Release: Released label" in page.text
    adoption = Adoption.objects.get()
    with inline():
        client.post(here(label_round, f"adoptions/{adoption.public_id}/withdraw/"))
    assert not label_round.final_labels.filter(provenance="adopted").exists()
    foreign = imported(make_study("Study B"), [], votes=[[]])
    elsewhere = here(foreign, f"adoptions/{adoption.public_id}/withdraw/")
    assert client.post(elsewhere).status_code == 404


class Sixty:
    """Sixty sentences, a third of them tied, and a researcher."""

    def __init__(self):
        self.study = make_study()
        self.boss = make_member(self.study, "researcher")
        votes = [[0, 1, 3], [2, 2, 1], [3, 3, 3]] * 20
        self.label_round = imported(self.study, make_raters(self.study, 3), votes=votes)
        consensus.recompute_final_labels(self.label_round)


sixty = built_once(Sixty)


@pytest.fixture
def client(sixty):
    return sign_in(sixty.boss)


@pytest.mark.long
def test_labels_are_filtered(sixty, client):
    argument = sixty.label_round.final_labels.filter(is_tied=True).first().argument
    (expert,) = make_raters(sixty.label_round.study, 1, kind="expert")
    adjudicate(label_round=sixty.label_round, argument=argument, rater=expert, label=1)
    for query, count in {
        "provenance=votes": 59,
        "provenance=adjudicated": 1,
        "label=2": 20,
        "label=3&flag=tied": 19,
        "flag=tied": 20,
        "provenance=nonsense&label=x&flag=pk": 60,
    }.items():
        page = client.get(f"{here(sixty.label_round)}?{query}").context["page"]
        assert page.paginator.count == count, query


def test_it_says_when_a_label_was_changed_since(
    sixty, client, inline, django_assert_max_num_queries
):
    """As many labels as before, but another one: the page says it and leads to the button."""
    page = here(sixty.label_round)
    with django_assert_max_num_queries(15):
        shown = client.get(page)
    assert (shown.context["summary"]["total"], len(shown.context["page"])) == (60, 50)
    for words in ("1-1-1", "The strongest source decides"):
        assert words in shown.text
    # Looking at what is current computes nothing.
    with inline():
        client.post(here(sixty.label_round, "recompute/"))
    assert client.get(page).context["job"] is None
    votes = sixty.label_round.assignments
    changed = votes.filter(label=0).first()
    votes.filter(pk=changed.pk).update(label=3)
    VoteEvent.objects.create(assignment=changed, client_key="k", kind="change", label=3)
    assert "Labels were added, changed or removed" in client.get(page).text
    with inline():
        client.post(here(sixty.label_round, "recompute/"))
    assert not consensus.is_stale(sixty.label_round)
    # Looking at a round without labels starts the computation, once.
    Job.objects.all().delete()
    raters = make_raters(sixty.study, 3)
    new = imported(sixty.study, raters, votes=[[0, 1, 3], [2, 2, 1]], name="New")
    shown = client.get(here(new))
    assert shown.context["job"] == consensus.active_job(new)
    assert shown.context["job"].is_active
    assert "data-reload-on-job" in shown.text
    client.get(here(new))
    assert Job.objects.filter(kind="final_labels").count() == 1


def test_settings_are_saved_logged_and_applied(sixty, client, inline):
    label_round = sixty.label_round
    experts = imported(sixty.study, [], votes=[[]], name="Experts")
    target = label_round.items.order_by("pk").first().argument
    item = Item.objects.create(round=experts, argument=target, external_id="x")
    vote(item, make_raters(sixty.study, 1, kind="expert")[0], 2)
    post = {"aggregator": "dawid_skene", "overridden_by": [experts.pk]}
    with inline():
        assert client.post(here(label_round, "settings/"), post).status_code == 302
    label_round.refresh_from_db()
    assert label_round.aggregator == "dawid_skene"
    assert label_round.final_labels.get(argument=target).label == 2
    event = AuditEvent.objects.get(verb="consensus_changed")
    assert event.details["before"]["aggregator"] == "majority"
    assert event.details["after"]["overridden_by"] == ["Experts"]
