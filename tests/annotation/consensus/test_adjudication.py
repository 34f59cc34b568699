"""The adjudication queue: order, history, adoption, and what its page must not show."""

import html
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.utils import timezone

from annotation.consensus.actions import consensus, decisions
from annotation.consensus.actions.decisions import adjudicate, disputed, next_in_queue, queue
from annotation.consensus.models import Adjudication
from annotation.labelling.models.rounds import Assignment, Item
from cqa_site.people.models import AuditEvent, Rater
from tests.annotation.voting import imported, label_all, make_raters, newcomer, opened, vote
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}
UNDO = {"move": "undo"}

#         tie, near   settled    tie, far   far apart  settled    tie, far, later
VOTES = [[1, 2, 3], [2, 2, 1], [0, 1, 3], [0, 3, 3], [1, 1, 1], [3, 0, 2]]


class Lab:
    """A round with disputed sentences, and an expert who decides."""

    def __init__(self):
        self.study = make_study()
        self.label_round = imported(self.study, make_raters(self.study, 3), votes=VOTES)
        consensus.recompute_final_labels(self.label_round)
        self.expert = make_member(self.study, "expert", name="Edith Expert")


lab = built_once(Lab)


@pytest.fixture
def expert(lab):
    return lab.expert


def rater_of(user):
    return Rater.objects.get_or_create(
        study=user.memberships.get().study, user=user, defaults={"kind": "expert"}
    )[0]


def arguments(label_round):
    return [item.argument for item in label_round.items.order_by("pk").select_related("argument")]


def here(label_round, tail=""):
    return (
        f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}/adjudicate/{tail}"
    )


def steps(rows):
    """How much SQLite has to do to count the rows, in hundreds of its instructions."""
    connection.ensure_connection()
    done = []
    connection.connection.set_progress_handler(lambda: done.append(1), 100)
    rows.count()
    connection.connection.set_progress_handler(None, 0)
    return len(done)


@pytest.mark.long
@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the instructions of SQLite")
def test_twice_the_arguments_are_about_twice_the_work(study):
    crowd = make_raters(study, 3)
    taken = []
    for count in (50, 100):
        label_round = opened(study, ordinary=count, controls=1, name=f"Of {count}")
        Assignment.objects.bulk_create(
            Assignment(round=label_round, item=item, rater=rater, label=label, state="answered")
            for item in label_round.items.filter(control_label=None)
            for rater, label in zip(crowd, (0, 1, 3), strict=True)
        )
        consensus.recompute_final_labels(label_round)
        taken.append(steps(queue(label_round, rater=None)))
    assert taken[1] < 3 * taken[0]


def test_far_apart_votes_come_first_then_ties_then_the_rest(label_round):
    tie_near, _a, tie_far, far, _b, tie_far_later = arguments(label_round)
    found = [row.argument for row in disputed(label_round)]
    assert found == [tie_far, tie_far_later, far, tie_near]


def test_control_items_and_expert_overrides_are_left_out_but_tied_controls_are_not(study):
    crowd = make_raters(study, 4)
    votes = [[0, 3, 3, 3], [0, 0, 3, 3], [0, 3, 3, 3], [0, 0, 3, 3]]
    label_round = imported(study, crowd, votes=votes, controls=[(0, 3), (1, 3)])
    overriding = imported(study, [], votes=[[]], name="Experts")
    last = arguments(label_round)[3]
    item = Item.objects.create(round=overriding, argument=last, external_id="x")
    vote(item, make_raters(study, 1, kind="expert")[0], 1)
    label_round.overridden_by.add(overriding)
    consensus.recompute_final_labels(label_round)
    assert [row.argument for row in disputed(label_round)] == arguments(label_round)[1:3]


@pytest.mark.long
def test_in_a_running_round_a_sentence_waits_for_all_its_labels(study):
    label_round = opened(study, ordinary=4, controls=0, controls_per_block=0, votes_per_item=3)
    for value in (0, 3):
        label_all(newcomer(label_round), value=value)
    consensus.recompute_final_labels(label_round)
    assert label_round.final_labels.filter(is_tied=True).count() == 4
    assert not disputed(label_round).exists()
    label_all(newcomer(label_round), value=1)
    consensus.recompute_final_labels(label_round)
    assert disputed(label_round).count() == 4


def test_what_is_skipped_comes_at_the_end_and_what_a_colleague_decided_on_request(
    label_round, expert
):
    tie_near, _a, tie_far, far, _b, tie_far_later = arguments(label_round)
    skipped = [tie_far.pk, tie_far_later.pk]
    assert next_in_queue(label_round, rater=None, skipped=skipped).argument == far
    skipped += [far.pk, tie_near.pk]
    assert next_in_queue(label_round, rater=None, skipped=skipped).argument == tie_far
    colleague = make_raters(label_round.study, 1, kind="expert")[0]
    adjudicate(label_round=label_round, argument=tie_far, rater=colleague, label=1)
    mine = rater_of(expert)
    assert queue(label_round, rater=mine).count() == 3
    assert next_in_queue(label_round, rater=mine).argument != tie_far
    assert next_in_queue(label_round, rater=mine, undecided_only=False).argument == tie_far


def test_a_decision_shows_at_once_and_equals_what_recomputing_gives(label_round, expert):
    argument = arguments(label_round)[0]
    adjudicate(label_round=label_round, argument=argument, rater=rater_of(expert), label=0)
    row = label_round.final_labels.get(argument=argument)
    assert (row.label, row.adjudicated_label, row.provenance) == (0, 0, "adjudicated")
    assert consensus.recompute_final_labels(label_round) == 0


def test_a_changed_mind_supersedes_and_keeps_history(label_round, expert):
    argument, rater = arguments(label_round)[0], rater_of(expert)
    for label, comment in ((1, ""), (1, ""), (2, "better"), (2, "clearer")):
        adjudicate(
            label_round=label_round, argument=argument, rater=rater, label=label, comment=comment
        )
    history = list(Adjudication.objects.values_list("label", "comment"))
    assert history == [(1, ""), (2, "better"), (2, "clearer")]
    in_force = Adjudication.objects.get(superseded_at=None)
    assert in_force.comment == "clearer"


@pytest.mark.long
def test_several_experts_are_one_majority_with_the_higher_label_on_a_tie(label_round):
    argument = arguments(label_round)[0]
    one, two, three = make_raters(label_round.study, 3, kind="expert")
    adjudicate(label_round=label_round, argument=argument, rater=one, label=0)
    adjudicate(label_round=label_round, argument=argument, rater=two, label=2)
    assert label_round.final_labels.get(argument=argument).label == 2
    adjudicate(label_round=label_round, argument=argument, rater=three, label=0)
    assert label_round.final_labels.get(argument=argument).label == 0
    assert consensus.recompute_final_labels(label_round) == 0


def test_labels_off_the_scale_and_foreign_sentences_are_refused(label_round, expert):
    rater = rater_of(expert)
    with pytest.raises(decisions.DecisionNotValid):
        adjudicate(
            label_round=label_round, argument=arguments(label_round)[0], rater=rater, label=4
        )
    other = imported(label_round.study, [], votes=[[]], name="Other")
    with pytest.raises(decisions.DecisionNotValid):
        adjudicate(label_round=label_round, argument=arguments(other)[0], rater=rater, label=1)
    assert not Adjudication.objects.exists()


def test_an_expert_decides_one_sentence_after_the_other(label_round, expert):
    client = sign_in(expert)
    seen = []
    for label in (0, 1, 2, 3):
        argument = client.get(here(label_round)).context["argument"]
        seen.append(argument)
        answer = client.post(here(label_round), {"argument": argument.public_id, "label": label})
        assert answer.status_code == 302
    assert seen == [row.argument for row in disputed(label_round)]
    page = client.get(here(label_round))
    assert page.context["argument"] is None
    assert "All settled" in page.content.decode()
    labels = Adjudication.objects.order_by("pk").values_list("label", flat=True)
    assert list(labels) == [0, 1, 2, 3]
    assert rater_of(expert).kind == "expert"


@pytest.mark.long
def test_an_own_decision_can_be_reopened_and_changed(label_round, expert):
    client = sign_in(expert)
    argument = arguments(label_round)[0]
    post = {"argument": argument.public_id, "label": 1, "comment": "first thought"}
    client.post(here(label_round), post)
    page = client.get(here(label_round), {"unit": argument.public_id})
    text = page.content.decode()
    assert text.count('aria-pressed="true"') == 1
    assert "first thought" in text
    client.post(here(label_round), post | {"label": 3})
    text = client.get(here(label_round), {"unit": argument.public_id}).content.decode()
    assert "replaced" in text


def test_an_old_tab_replaces_nothing_and_shows_both_decisions(label_round, expert):
    """Both orders: the page showed no decision and there is one, or one that has changed since."""
    client = sign_in(expert)
    argument = arguments(label_round)[0]
    post = {"argument": argument.public_id, "label": 1, "comment": "first tab", "known": ""}
    mine = {"label_round": label_round, "argument": argument, "rater": rater_of(expert)}
    for label in (2, 0):
        adjudicate(**mine, label=label, comment=f"other tab {label}")
        page = client.post(here(label_round), post)
        assert page.status_code == 409
        assert f"You chose {label} on" in page.text
        assert {"first tab", f"other tab {label}"} <= set(
            re.findall(r">(\w+ tab ?\d?)<", page.text)
        )
        assert Adjudication.objects.get(superseded_at=None).label == label
        opened_page = client.get(here(label_round), {"unit": argument.public_id})
        post["known"] = known_in(opened_page)
    # Whoever saw the decision replaces it, also by the button below both.
    replaced = client.post(here(label_round), post | {"known": known_in(page)})
    assert replaced.status_code == 302
    assert list(Adjudication.objects.values_list("label", flat=True)) == [2, 0, 1]
    # What was taken back meanwhile is told, too; the same decision again is none.
    post["known"] = known_in(client.get(here(label_round), {"unit": argument.public_id}))
    for _press in range(3):
        client.post(here(label_round), UNDO)
    page = client.post(here(label_round), post | {"label": 3})
    assert (page.status_code, "have since undone your decision" in page.text) == (409, True)
    assert client.post(here(label_round), post | {"label": 3, "known": ""}).status_code == 302
    assert client.post(here(label_round), post | {"label": 3}).status_code == 302
    assert Adjudication.objects.filter(superseded_at=None).count() == 1
    # What a colleague says is no decision of one's own, and stays unseen.
    other = sign_in(make_member(label_round.study, "expert"))
    assert other.post(here(label_round), post | {"known": ""}).status_code == 302


def known_in(page):
    """What the form that comes first on the page sends as the decision that it showed."""
    return html.unescape(re.search(r'name="known"\s+value="([^"]*)"', page.text)[1])


def test_a_script_learns_what_became_of_its_decision(label_round, expert):
    client = sign_in(expert)
    argument = arguments(label_round)[0]
    post = {"argument": str(argument.public_id), "label": 1, "known": "", "client_key": "k"}
    saved = client.post(here(label_round), post, headers=JSON).json()["saved"]
    assert (saved["argument"], saved["client_key"]) == (post["argument"], "k")
    late = client.post(here(label_round), post | {"label": 3}, headers=JSON)
    assert (late.status_code, late.json()["known"]) == (409, saved["known"])
    assert "Your new choice, 3, was not saved" in late.json()["detail"]
    assert client.post(here(label_round), post | {"label": 9}, headers=JSON).status_code == 422
    again = client.post(
        here(label_round), post | {"label": 3, "known": saved["known"]}, headers=JSON
    )
    assert again.status_code == 200
    assert Adjudication.objects.get(superseded_at=None).label == 3


def test_skipping_moves_on_and_stores_nothing(label_round, expert):
    client = sign_in(expert)
    first = client.get(here(label_round)).context["argument"]
    answer = client.post(here(label_round), {"move": "skip", "argument": first.public_id})
    assert answer.status_code == 302
    assert client.get(here(label_round)).context["argument"] != first
    assert not Adjudication.objects.exists()
    for argument in ({"argument": "nonsense"}, {}):
        assert client.post(here(label_round), {"move": "skip"} | argument).status_code == 404


@pytest.mark.parametrize("role", ["expert", "researcher"])
def test_the_page_tells_nothing_about_what_others_said(label_round, role):
    """Everything others said is given an unmistakable mark; no mark may reach the page."""
    study = label_round.study
    annotator = make_member(study, "annotator", name="Anna Annotator")
    colleague = make_member(study, "expert", name="Carl Colleague")
    argument = next_in_queue(label_round, rater=None).argument
    item = label_round.items.get(argument=argument)
    first = item.assignments.first()
    Rater.objects.filter(pk=first.rater_id).update(user=annotator, name="Anna Annotator")
    item.assignments.update(comment="crowd comment")
    decided_by_other = list(disputed(label_round))[1].argument
    decision = {"rater": rater_of(colleague), "label": 1, "comment": "colleague comment"}
    adjudicate(label_round=label_round, argument=decided_by_other, **decision)
    client = sign_in(make_member(study, role, name="Me Myself"))
    for query in ({}, {"scope": "mine"}, {"unit": decided_by_other.public_id}):
        page = client.get(here(label_round), query)
        text = page.content.decode()
        for secret in ("Anna", "Carl", "R-", "crowd comment", "colleague comment", "1-1-1", "-1 "):
            assert secret not in text, (secret, query)
        assert "aria-pressed" not in text
    # The page is the same whatever the others said, token and progress aside.
    before = client.get(here(label_round)).content.decode()
    values = dict(zip(item.assignments.values_list("pk", flat=True), (3, 1, 0), strict=True))
    for pk, value in values.items():
        item.assignments.filter(pk=pk).update(label=value)
    consensus.recompute_final_labels(label_round)
    assert strip_token(client.get(here(label_round)).content.decode()) == strip_token(before)


def strip_token(text):
    return re.sub(r'(csrfmiddlewaretoken" value=|X-CSRFToken": )"[^"]+"', "", text)


def test_the_page_says_what_is_left_and_how_long_it_takes(
    label_round, expert, django_assert_max_num_queries
):
    client = sign_in(expert)
    start = timezone.now()
    for number, argument in enumerate(arguments(label_round)[:3]):
        client.post(here(label_round), {"argument": argument.public_id, "label": 1})
        at = start + timedelta(seconds=90 * number)
        Adjudication.objects.filter(argument=argument).update(created_at=at)
    with django_assert_max_num_queries(11):
        client.get(here(label_round))
    # Two were in the queue of four; a pause is no pace.
    assert "3 / 5 done" in visible(client.get(here(label_round)))
    client.post(here(label_round), {"argument": arguments(label_round)[4].public_id, "label": 1})
    later = start + timedelta(seconds=270)
    Adjudication.objects.filter(argument=arguments(label_round)[4]).update(created_at=later)
    assert "4 / 6 done about 3 min left" in visible(client.get(here(label_round)))


def visible(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text))


def test_the_last_decision_can_be_taken_back_and_nothing_is_deleted(label_round, expert):
    client = sign_in(expert)
    first, other = arguments(label_round)[:2]
    for argument, label in ((first, 1), (other, 2), (first, 3)):
        client.post(here(label_round), {"argument": argument.public_id, "label": label})
    reply = client.post(here(label_round), UNDO)
    assert reply.url.endswith(f"?unit={first.public_id}")
    page = client.get(reply.url).text
    assert "undone" in page
    assert "Undone: 3." in page
    # What it had replaced counts again; then the one before it goes, too.
    rows = Adjudication.objects.order_by("pk")
    shown = rows.values_list("label", "is_undone", "superseded_at")
    states = [(label, undone, at is None) for label, undone, at in shown]
    assert states == [(1, False, True), (2, False, True), (3, True, False)]
    assert label_round.final_labels.get(argument=first).label == 1
    client.post(here(label_round), UNDO)
    client.post(here(label_round), UNDO)
    assert rows.filter(is_undone=True).count() == 3
    assert next_in_queue(label_round, rater=rater_of(expert)) is not None
    assert first in [row.argument for row in queue(label_round, rater=rater_of(expert))]
    lines = AuditEvent.objects.filter(verb="decision_undone").order_by("pk")
    again = [(each.details["label"], each.details["again"]) for each in lines]
    assert again == [(3, 1), (2, None), (1, None)]
    assert "no decision to undo" in client.post(here(label_round), UNDO, follow=True).text
    # Somebody else's decisions are out of reach.
    client.post(here(label_round), {"argument": first.public_id, "label": 1})
    sign_in(make_member(label_round.study, "expert")).post(here(label_round), UNDO)
    assert rows.filter(superseded_at=None).count() == 1


@pytest.mark.long
def test_an_undo_that_is_sent_twice_takes_back_one_decision(label_round, expert):
    client = sign_in(expert)
    argument, other = arguments(label_round)[:2]
    for each in (other, argument):
        client.post(here(label_round), {"argument": each.public_id, "label": 1})
    form = client.get(here(label_round), {"page": 2}).text.partition('id="take-back"')[2]
    known = html.unescape(re.search(r'name="known" value="([^"]+)"', form)[1])
    post = UNDO | {"known": known, "client_key": "k"}
    for _time in range(2):
        saved = client.post(here(label_round), post, headers=JSON).json()["saved"]
        assert saved == {
            "client_key": "k",
            "url": here(label_round) + f"?unit={argument.public_id}",
        }
    assert list(Adjudication.objects.filter(superseded_at=None)) == [Adjudication.objects.first()]
    # What another tab replaced since is not this page's to take back.
    known = Adjudication.objects.first().created_at.isoformat()
    client.post(here(label_round), {"argument": other.public_id, "label": 3})
    assert client.post(here(label_round), UNDO | {"known": known}, headers=JSON).status_code == 200
    assert Adjudication.objects.get(superseded_at=None).label == 3
    assert client.post(here(label_round), UNDO | {"known": "2026-99-99T00:00"}).status_code == 404


def make_tied():
    """A round that is open, with two sentences that nobody agrees about."""
    study = make_study("Tied")
    label_round = opened(study, ordinary=2, controls=0, votes_per_item=3, controls_per_block=0)
    for value in (0, 1, 3):
        label_all(newcomer(label_round), value)
    boss = make_member(study, "researcher")
    return SimpleNamespace(round=label_round, expert=make_member(study, "expert"), boss=boss)


tied = built_once(make_tied)


@pytest.mark.long
def test_closing_a_round_fills_the_queue(tied, django_capture_on_commit_callbacks):
    client = sign_in(tied.boss)
    address = f"/s/{tied.round.study.public_id}/label-rounds/{tied.round.public_id}/"
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"{address}close/")
    assert tied.round.final_labels.filter(is_tied=True).count() == 2
    assert sign_in(tied.expert).get(here(tied.round)).context["far"].left == 2
    judges = client.get(f"{address}judges/")
    assert judges.context["figures"].people.final == 2


@pytest.mark.long
def test_while_labels_are_being_computed_once_the_queue_says_so(tied):
    page = sign_in(tied.expert).get(here(tied.round)).content.decode()
    assert "Labels are being aggregated" in page
    assert "Nothing to decide" not in page
    assert consensus.keep_current(tied.round) == consensus.keep_current(tied.round)
    job = consensus.active_job(tied.round)
    type(job).objects.filter(pk=job.pk).update(state="done", finished_at=timezone.now())
    assert consensus.keep_current(tied.round) is None
    consensus.recompute_final_labels(tied.round)
    assert sign_in(tied.expert).get(here(tied.round)).context["argument"] is not None
