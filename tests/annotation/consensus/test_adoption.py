"""Adopting labels of another round, in any order, and back; the page of final labels."""

import itertools

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
from annotation.labelling.models.rounds import Item, VoteEvent
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
    return lab.release


def labels(label_round):
    consensus.recompute_final_labels(label_round)
    rows = label_round.final_labels.order_by("argument")
    return [(row.label, row.provenance) for row in rows]


def test_labels_adopted_once_or_twice_say_so_once(label_round, release, researcher):
    source, rater = release
    asked = {"label_round": label_round, "source": source, "rater": rater, "actor": researcher}
    assert adopt_labels(**asked) == adopt_labels(**asked)
    assert AuditEvent.objects.filter(verb="labels_adopted").count() == 1
    found = labels(label_round)
    assert [found[at] for at in TIED] == [(0, "adopted")] * 3
    assert [found[at] for at in (1, 3, 4)] == [(2, "votes"), (3, "votes"), (1, "votes")]
    assert not Adjudication.objects.exists()
    adopt_labels(
        label_round=label_round, source=source, rater=rater, only_tied=False, actor=researcher
    )
    assert labels(label_round) == [(0, "adopted")] * 6
    assert Adoption.objects.filter(withdrawn_at=None).count() == 1


@pytest.mark.long
def test_what_an_expert_decides_in_the_queue_is_stronger_than_anybodys_label(
    label_round, release, researcher
):
    """Also than what the same person said elsewhere: neither replaces the other."""
    (expert,) = make_raters(label_round.study, 1, kind="expert")
    own = lend(label_round, {0: 0}, expert, "Batch"), expert
    first = label_round.items.order_by("pk").first().argument
    decision = adjudicate(label_round=label_round, argument=first, rater=expert, label=2)
    for source, rater in (release, own):
        adopt_labels(label_round=label_round, source=source, rater=rater, actor=researcher)
        assert labels(label_round)[0] == (2, "adjudicated")
    row = label_round.final_labels.get(argument=first)
    assert (row.adjudicated_label, row.adopted_label) == (2, 0)
    decision.refresh_from_db()
    assert decision.superseded_at is None


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.long
def test_the_order_of_adoption_does_not_matter(label_round, researcher, release, step):
    """One expert labelled a sentence in two batches: which batch came last must not decide."""
    (expert,) = make_raters(label_round.study, 1, kind="expert")
    one = lend(label_round, {0: 0, 1: 3}, expert, "A")
    two = lend(label_round, {0: 1, 2: 1}, expert, "B")
    wanted = [(one, expert, False), (two, expert, True), (*release, True)]
    seen = []
    # The first order and the last, which is its reverse; or all of them.
    for order in list(itertools.permutations(wanted))[::step]:
        made = []
        for source, rater, tied in order:
            asked = {"source": source, "rater": rater, "only_tied": tied, "actor": researcher}
            made.append(adopt_labels(label_round=label_round, **asked))
        seen.append(labels(label_round))
        for adoption in made:
            withdraw_adoption(adoption=adoption, actor=researcher)
    assert all(each == seen[0] for each in seen)
    # 0, 1 and the release's 0; 3 alone; 1 and 0.
    assert [label for label, _from in seen[0][:3]] == [0, 3, 1]


def test_ties_that_come_later_are_decided_too(label_round, release, researcher):
    """Excluding somebody after adopting gives what excluding before gives."""
    source, rater = release
    adopt_labels(label_round=label_round, source=source, rater=rater, actor=researcher)
    settled = label_round.items.order_by("pk")[1]
    settled.assignments.filter(label=2).first().delete()
    assert labels(label_round)[1] == (0, "adopted")


@pytest.mark.long
def test_a_preview_counts_and_stores_nothing(label_round, release, researcher):
    source, rater = release
    asked = {"label_round": label_round, "source": source, "rater": rater}
    seen = preview_adoption(**asked, only_tied=True)
    assert (seen.labelled, seen.decided, seen.changed) == (6, 3, 3)
    assert seen.counts == [(0, 0, 3), (1, 1, 1), (2, 1, 1), (3, 4, 1)]
    assert not Adoption.objects.exists()
    before = labels(label_round)
    adopt_labels(**asked, actor=researcher)
    after = labels(label_round)
    assert sum(a[0] != b[0] for a, b in zip(before, after, strict=True)) == seen.changed
    again = preview_adoption(**asked, only_tied=True)
    assert (again.decided, again.changed) == (0, 0)
    assert preview_adoption(**asked, only_tied=False).decided == 3


def test_withdrawing_gives_the_labels_back_to_the_votes(label_round, release, researcher):
    source, rater = release
    before = labels(label_round)
    adoption = adopt_labels(label_round=label_round, source=source, rater=rater, actor=researcher)
    assert labels(label_round) != before
    assert queue(label_round, rater=None).count() == 1  # far apart; the ties are decided
    assert withdraw_adoption(adoption=adoption, actor=researcher)
    assert not withdraw_adoption(adoption=adoption, actor=researcher)
    assert labels(label_round) == before
    assert queue(label_round, rater=None).count() == 4
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["labels_adopted", "adoption_withdrawn"]


@pytest.mark.long
def test_changed_labels_of_the_source_reach_who_adopted_them(label_round, release, researcher):
    source, rater = release
    adopt_labels(label_round=label_round, source=source, rater=rater, actor=researcher)
    Job.objects.all().delete()
    consensus.request_everywhere(label_round=source)
    asked = set(Job.objects.values_list("payload__label_round", flat=True))
    assert asked == {str(source.public_id), str(label_round.public_id)}


def test_nothing_is_adopted_from_another_study(label_round, researcher):
    foreign = imported(make_study("Study B"), [], votes=[[]])
    (rater,) = make_raters(label_round.study, 1, kind="expert")
    for source in (foreign, label_round):
        for act in (preview_adoption, adopt_labels):
            more = {"actor": researcher} if act is adopt_labels else {}
            with pytest.raises(AdoptionNotPossible):
                act(label_round=label_round, source=source, rater=rater, only_tied=True, **more)


def here(label_round, tail=""):
    return f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}/labels/{tail}"


@pytest.mark.long
def test_the_page_shows_what_would_change_then_adopts_then_withdraws(
    label_round, release, researcher, django_capture_on_commit_callbacks
):
    source, rater = release
    client = sign_in(researcher)
    asked = {"source": f"{source.public_id}:{rater.public_id}", "only_tied": "on"}
    looked = client.post(here(label_round, "adopt/"), asked)
    assert looked.status_code == 200
    assert looked.context["preview"].changed == 3
    assert not Adoption.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(here(label_round, "adopt/"), asked | {"confirmed": "1"})
    page = client.get(here(label_round), {"provenance": "adopted"})
    assert page.context["page"].paginator.count == 3
    assert "Release: Released label" in page.content.decode()
    adoption = Adoption.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
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


def test_the_page_shows_sources_in_a_bounded_number_of_queries(
    sixty, client, django_assert_max_num_queries
):
    with django_assert_max_num_queries(15):
        page = client.get(here(sixty.label_round))
    assert page.status_code == 200
    assert page.context["summary"]["total"] == 60
    assert len(page.context["page"]) == 50
    text = page.content.decode()
    assert "1-1-1" in text
    assert "The strongest source decides" in text


@pytest.mark.long
def test_labels_are_filtered(sixty, client):
    argument = sixty.label_round.final_labels.filter(is_tied=True).first().argument
    (expert,) = make_raters(sixty.label_round.study, 1, kind="expert")
    adjudicate(label_round=sixty.label_round, argument=argument, rater=expert, label=1)
    for query, count in (
        ({"provenance": "votes"}, 59),
        ({"provenance": "adjudicated"}, 1),
        ({"label": "2"}, 20),
        ({"label": "3", "flag": "tied"}, 19),
        ({"flag": "tied"}, 20),
        ({"provenance": "nonsense", "label": "x", "flag": "pk"}, 60),
    ):
        page = client.get(here(sixty.label_round), query).context["page"]
        assert page.paginator.count == count, query


def test_it_says_when_a_label_was_changed_since(sixty, client, django_capture_on_commit_callbacks):
    """As many labels as before, but another one: the page says it and leads to the button."""

    def recompute():
        with django_capture_on_commit_callbacks(execute=True):
            client.post(here(sixty.label_round, "recompute/"))

    recompute()
    assert not consensus.is_stale(sixty.label_round)
    # Looking at what is current computes nothing.
    assert client.get(here(sixty.label_round)).context["job"] is None
    changed = sixty.label_round.assignments.filter(label=0).first()
    sixty.label_round.assignments.filter(pk=changed.pk).update(label=3)
    VoteEvent.objects.create(assignment=changed, client_key="k", kind="change", label=3)
    assert "Labels were added, changed or removed" in client.get(here(sixty.label_round)).text
    recompute()
    assert not consensus.is_stale(sixty.label_round)


def test_settings_are_saved_logged_and_applied(sixty, client, django_capture_on_commit_callbacks):
    experts = imported(sixty.label_round.study, [], votes=[[]], name="Experts")
    target = sixty.label_round.items.order_by("pk").first().argument
    item = Item.objects.create(round=experts, argument=target, external_id="x")
    vote(item, make_raters(sixty.label_round.study, 1, kind="expert")[0], 2)
    post = {"aggregator": "dawid_skene", "overridden_by": [experts.pk]}
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(here(sixty.label_round, "settings/"), post).status_code == 302
    sixty.label_round.refresh_from_db()
    assert sixty.label_round.aggregator == "dawid_skene"
    assert sixty.label_round.final_labels.get(argument=target).label == 2
    event = AuditEvent.objects.get(verb="consensus_changed")
    assert event.details["before"]["aggregator"] == "majority"
    assert event.details["after"]["overridden_by"] == ["Experts"]


def test_looking_at_the_page_starts_the_computation_by_itself(sixty, client):
    study = sixty.study
    new = imported(study, make_raters(study, 3), votes=[[0, 1, 3], [2, 2, 1]], name="New")
    page = client.get(here(new))
    assert page.context["job"] == consensus.active_job(new)
    assert page.context["job"].is_active
    assert "data-reload-on-job" in page.text
    client.get(here(new))
    assert Job.objects.filter(kind="final_labels").count() == 1
