"""The adjudication queue: order, history, adoption, and what its page must not show."""

import html
import re
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from annotation.consensus.actions import consensus, decisions
from annotation.consensus.actions.decisions import adjudicate, disputed, next_in_queue, queue
from annotation.consensus.models import Adjudication
from annotation.labelling.models import Assignment, Item
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


def here(label_round, tail="adjudicate/"):
    return f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}/{tail}"


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


def test_control_items_and_expert_overrides_are_left_out_but_tied_controls_are_not(study):
    votes = [[0, 3, 3, 3], [0, 0, 3, 3], [0, 3, 3, 3], [0, 0, 3, 3]]
    label_round = imported(study, make_raters(study, 4), votes=votes, controls=[(0, 3), (1, 3)])
    overriding = imported(study, [], votes=[[]], name="Experts")
    last = arguments(label_round)[3]
    item = Item.objects.create(round=overriding, argument=last, external_id="x")
    vote(item, make_raters(study, 1, kind="expert")[0], 1)
    label_round.overridden_by.add(overriding)
    consensus.recompute_final_labels(label_round)
    assert [row.argument for row in disputed(label_round)] == arguments(label_round)[1:3]


def test_what_is_skipped_comes_at_the_end_and_what_a_colleague_decided_on_request(
    label_round, expert
):
    tie_near, _a, tie_far, far, _b, tie_far_later = arguments(label_round)
    # Far apart votes come first, then ties, then the rest.
    order = [tie_far, tie_far_later, far, tie_near]
    assert [row.argument for row in disputed(label_round)] == order
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


def test_a_changed_mind_supersedes_and_keeps_history(label_round, expert):
    argument = arguments(label_round)[0]
    decide = partial(
        adjudicate, label_round=label_round, argument=argument, rater=rater_of(expert)
    )
    for label, comment in ((1, ""), (1, ""), (2, "better"), (2, "clearer"), (0, "last")):
        decide(label=label, comment=comment)
    history = [(1, ""), (2, "better"), (2, "clearer"), (0, "last")]
    assert list(Adjudication.objects.values_list("label", "comment")) == history
    assert Adjudication.objects.get(superseded_at=None).comment == "last"
    # A decision shows at once, and equals what recomputing gives.
    row = label_round.final_labels.get(argument=argument)
    assert (row.label, row.adjudicated_label, row.provenance) == (0, 0, "adjudicated")
    assert consensus.recompute_final_labels(label_round) == 0
    # Several experts are one majority, with the higher label on a tie.
    for rater, label, final in zip(
        make_raters(argument.study, 2, "expert"), (2, 0), (2, 0), strict=True
    ):
        decide(rater=rater, label=label)
        assert label_round.final_labels.get(argument=argument).label == final
    assert consensus.recompute_final_labels(label_round) == 0
    # Labels outside the scale and foreign sentences are refused.
    foreign = arguments(imported(label_round.study, [], votes=[[]], name="Other"))[0]
    before = Adjudication.objects.count()
    for wrong in ({"label": 4}, {"label": 1, "argument": foreign}):
        with pytest.raises(decisions.DecisionNotValid):
            decide(**wrong)
    assert Adjudication.objects.count() == before


def test_an_expert_decides_one_sentence_after_the_other(label_round, expert):
    client = sign_in(expert)
    seen = []
    for label in (0, 1, 2, 3):
        argument = client.get(here(label_round)).context["argument"]
        seen.append(argument)
        post = {"argument": argument.public_id, "label": label, "comment": f"thought {label}"}
        assert client.post(here(label_round), post).status_code == 302
    assert seen == [row.argument for row in disputed(label_round)]
    page = client.get(here(label_round))
    assert page.context["argument"] is None
    assert "All settled" in page.text
    labels = Adjudication.objects.order_by("pk").values_list("label", flat=True)
    assert list(labels) == [0, 1, 2, 3]
    assert rater_of(expert).kind == "expert"
    # An own decision can be reopened and changed.
    text = client.get(here(label_round), {"unit": argument.public_id}).text
    assert text.count('aria-pressed="true"') == 1
    assert "thought 3" in text
    client.post(here(label_round), post | {"label": 1})
    text = client.get(here(label_round), {"unit": argument.public_id}).text
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
    # Skipping moves on and stores nothing.
    skip = {
        "move": "skip",
        "argument": client.get(here(label_round)).context["argument"].public_id,
    }
    assert client.post(here(label_round), skip).status_code == 302
    assert client.get(here(label_round)).context["argument"].public_id != skip["argument"]
    assert not Adjudication.objects.exists()
    for wrong in ({"argument": "nonsense", "move": "skip"}, {"move": "skip"}):
        assert client.post(here(label_round), wrong).status_code == 404
    argument = arguments(label_round)[0]
    post = {"argument": str(argument.public_id), "label": 1, "known": "", "client_key": "k"}

    def send(**changed):
        return client.post(here(label_round), post | changed, headers=JSON)

    saved = send().json()["saved"]
    assert (saved["argument"], saved["client_key"]) == (post["argument"], "k")
    late = send(label=3)
    assert (late.status_code, late.json()["known"]) == (409, saved["known"])
    assert "Your new choice, 3, was not saved" in late.json()["detail"]
    assert send(label=9).status_code == 422
    assert send(label=3, known=saved["known"]).status_code == 200
    assert Adjudication.objects.get(superseded_at=None).label == 3


@pytest.mark.parametrize("role", ["expert", "researcher"])
def test_the_page_tells_nothing_about_what_others_said(label_round, role):
    """Everything others said is given an unmistakable mark; no mark may reach the page."""
    study = label_round.study
    annotator = make_member(study, "annotator", name="Anna Annotator")
    colleague = make_member(study, "expert", name="Carl Colleague")
    item = label_round.items.get(argument=next_in_queue(label_round, rater=None).argument)
    first = item.assignments.first()
    Rater.objects.filter(pk=first.rater_id).update(user=annotator, name="Anna Annotator")
    item.assignments.update(comment="crowd comment")
    decided_by_other = list(disputed(label_round))[1].argument
    decision = {"rater": rater_of(colleague), "label": 1, "comment": "colleague comment"}
    adjudicate(label_round=label_round, argument=decided_by_other, **decision)
    client = sign_in(make_member(study, role, name="Me Myself"))
    for query in ({}, {"scope": "mine"}, {"unit": decided_by_other.public_id}):
        text = client.get(here(label_round), query).text
        for secret in ("Anna", "Carl", "R-", "crowd comment", "colleague comment", "1-1-1", "-1 "):
            assert secret not in text, (secret, query)
        assert "aria-pressed" not in text

    def without_token():
        token = r'(csrfmiddlewaretoken" value=|X-CSRFToken": )"[^"]+"'
        return re.sub(token, "", client.get(here(label_round)).text)

    # The page is the same whatever the others said, token and progress aside.
    before = without_token()
    for row, value in zip(item.assignments.all(), (3, 1, 0), strict=True):
        item.assignments.filter(pk=row.pk).update(label=value)
    consensus.recompute_final_labels(label_round)
    assert without_token() == before


def test_the_page_says_what_is_left_and_how_long_it_takes(
    label_round, expert, django_assert_max_num_queries
):
    client = sign_in(expert)
    start = timezone.now()

    def decide(argument, seconds):
        client.post(here(label_round), {"argument": argument.public_id, "label": 1})
        at = start + timedelta(seconds=seconds)
        Adjudication.objects.filter(argument=argument).update(created_at=at)

    first, second, third, _fourth, fifth, _last = arguments(label_round)
    for number, argument in enumerate((first, second, third)):
        decide(argument, 90 * number)
    with django_assert_max_num_queries(11):
        page = client.get(here(label_round))
    # Two were in the queue of four; a pause is no pace.
    assert "3 / 5 done" in visible(page)
    decide(fifth, 270)
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


@pytest.mark.long
def test_closing_a_round_fills_the_queue(study, researcher, inline):
    alone = {"controls": 0, "controls_per_block": 0}
    tied = opened(study, ordinary=4, votes_per_item=3, **alone)
    for value in (0, 3):
        label_all(newcomer(tied), value)
    # In a running round a sentence waits for all its labels.
    consensus.recompute_final_labels(tied)
    assert tied.final_labels.filter(is_tied=True).count() == 4
    assert not disputed(tied).exists()
    label_all(newcomer(tied), 1)
    expert = sign_in(make_member(study, "expert"))
    # While labels are being computed once the queue says so.
    tied.final_labels.all().delete()
    page = expert.get(here(tied)).text
    assert "Labels are being aggregated" in page
    assert "Nothing to decide" not in page
    assert consensus.keep_current(tied) == consensus.keep_current(tied)
    job = consensus.active_job(tied)
    type(job).objects.filter(pk=job.pk).update(state="done", finished_at=timezone.now())
    assert consensus.keep_current(tied) is None
    client = sign_in(researcher)
    with inline():
        client.post(here(tied, "close/"))
    assert tied.final_labels.filter(is_tied=True).count() == disputed(tied).count() == 4
    assert expert.get(here(tied)).context["far"].left == 4
    assert client.get(here(tied, "judges/")).context["figures"].people.final == 4
    consensus.recompute_final_labels(tied)
    assert expert.get(here(tied)).context["argument"] is not None
