"""The first page of a study says to each role what to do next, and no more than that."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.consensus.models import FinalLabel
from annotation.figures.actions import LABEL_ROUNDS
from annotation.judges.reports.results import judged_rounds
from annotation.labelling.actions.serving import member_place, next_work
from annotation.labelling.actions.votes import SubmittedLabel, answer
from annotation.labelling.models import Assignment, LabelRound
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Rater, Role, Study
from cqa_site.results import snapshots
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.rounds.progress import waiting_for
from cqa_site.web.navigation import paths
from tests import cast
from tests.annotation.voting import label_by_machine
from tests.flat import flat
from .crowd import create_link


def overview(client, study, query=""):
    return client.get(reverse("study", args=[study.public_id]) + query).text


def opened(study, people, **fields):
    label_round = cast.make_label_round(study, **fields)
    open_round(round_=label_round, actor=people["admin"])
    return label_round


def crowd(round_, actor, count):
    link, _secret = create_link(round_, actor)
    for number in range(count):
        name = f"p-{round_.pk}-{number}"
        take_part(link=link, ids=PlatformIds(name), browser=name)


def vote(label_round, person, count):
    rater, _ = Rater.objects.get_or_create(study=label_round.study, user=person)
    Assignment.objects.bulk_create(
        Assignment(round=label_round, item=item, rater=rater, state="answered", label=1)
        for item in label_round.items.order_by("pk")[:count]
    )


def place_in(label_round, person):
    label_round.refresh_from_db()
    membership = label_round.study.memberships.get(user=person)
    return member_place(label_round=label_round, membership=membership)


def label_next(place, turn):
    """Label one item, if there is one left."""
    rows = next_work(label_round=place.round, place=place).assignments
    for row in rows[:1]:
        answer(rater=place.rater, assignment=row, given=SubmittedLabel(f"k{turn}", 2))
    return bool(rows)


def dispute(label_round, **fields):
    usual = {"provenance": "votes", "is_tied": True, "votes": 2}
    label_round.slots.update(state="done")
    argument = label_round.items.first().argument
    FinalLabel.objects.create(label_round=label_round, argument=argument, **(usual | fields))


def next_card(text):
    """The words of the step marked as the next one."""
    return text.split('aria-current="step"')[1].split("</li>")[0]


def test_empty_study_begins_with_an_import_then_comes_a_round(researcher, study):
    card = next_card(overview(researcher, study))
    assert "Import arguments" in card
    assert reverse("imports", args=[study.public_id]) in card
    cast.make_arguments(study, 3)
    text = overview(researcher, study)
    assert "3 arguments in this study" in text
    assert reverse("label_round_new", args=[study.public_id]) in next_card(text)
    # A draft is finished first.
    label_round = cast.make_label_round(study, name="Draft one")
    card = next_card(overview(researcher, study))
    assert "Draft one" in card
    assert reverse("label_round", args=[study.public_id, label_round.public_id]) in card


@pytest.mark.long
def test_then_come_as_many_annotators_as_an_argument_asks_for(db, study):
    admin = cast.make_member(study, Role.ADMIN)
    open_round(round_=cast.make_label_round(study), actor=admin)
    client = cast.sign_in(admin)
    card = next_card(overview(client, study))
    assert "Add annotators" in card
    assert reverse("members", args=[study.public_id]) in card
    for _number in range(2):
        cast.make_member(study, Role.ANNOTATOR)
    card = next_card(overview(client, study))
    assert "2 people can label; each argument needs 3 labels." in card
    cast.make_member(study, Role.EXPERT)
    assert "Collect labels" in next_card(overview(client, study))


@pytest.mark.long
def test_a_crowd_counts_for_its_own_round(db, study):
    """Whoever came by the link of another round cannot label here."""
    admin = cast.make_member(study, Role.ADMIN)
    rounds = [cast.make_label_round(study, name=name) for name in ("Other", "Mine")]
    client = cast.sign_in(admin)
    for round_ in rounds:
        open_round(round_=round_, actor=admin)
    crowd(rounds[0], admin, 3)
    assert "Add annotators" in next_card(overview(client, study))
    crowd(rounds[1], admin, 2)
    cast.make_member(study, Role.ANNOTATOR)
    assert "Collect labels" in next_card(overview(client, study))
    close_round(round_=rounds[1], actor=admin)
    card = next_card(overview(client, study))
    assert reverse("label_round", args=[study.public_id, rounds[0].public_id]) in card


@pytest.mark.long
def test_labels_are_in_when_all_of_them_are(researcher, study, people):
    label_round = opened(study, people, votes_per_item=2)
    vote(label_round, people["annotator"], 1)
    text = overview(researcher, study)
    assert "Collect labels" in next_card(text)
    assert reverse("figures", args=[study.public_id, label_round.public_id]) in text
    label_round.slots.update(state="done")
    assert "View the figures" in next_card(overview(researcher, study))
    label_round.refresh_from_db()
    snapshots.refresh(LABEL_ROUNDS, label_round)
    assert 'aria-current="step"' not in overview(researcher, study)


@pytest.mark.long
def test_votes_are_counted_alike_by_the_path_and_by_the_round(researcher, study, people):
    plan = {"ordinary": 4, "controls": 0, "controls_per_block": 0, "votes_per_item": 2}
    label_round = opened(study, people, **plan)
    place = place_in(label_round, people["annotator"])
    for turn in range(3):
        label_next(place, turn)
    said = "3 of 8 votes on ordinary items"
    assert f"{said} have been received." in overview(researcher, study)
    page = reverse("label_round", args=[study.public_id, label_round.public_id])
    assert said in flat(researcher.get(page).text)


def test_imported_votes_need_no_annotators(db, study):
    admin = cast.make_member(study, Role.ADMIN)
    label_round = cast.make_label_round(study, origin=LabelRound.Origin.IMPORTED, state="closed")
    vote(label_round, admin, 2)
    assert "View the figures" in next_card(overview(cast.sign_in(admin), study))


def test_each_question_has_its_own_way(researcher, study):
    assert [each.key for each in paths()][:2] == ["relevance", "answers"] or len(paths()) == 2
    for path in paths():
        text = overview(researcher, study, f"?path={path.key}")
        assert str(path.question) in text
        steps = path.steps(study)
        assert [step.title for step in steps if step.is_done] == []
        assert len(steps) >= 3
        assert [step.url for step in steps if f'href="{step.url}"' not in text] == []
        for step in steps:
            assert researcher.get(step.url).status_code == 200


@pytest.mark.long
def test_a_judge_is_compared_with_three_people_at_least(researcher, study, people):
    Study.objects.filter(pk=study.pk).update(goal="judge")
    label_round = opened(study, people)
    vote(label_round, people["annotator"], 2)
    vote(label_round, people["expert"], 2)
    assert "2 people have labelled arguments. At least three people" in overview(researcher, study)
    vote(label_round, people["admin"], 2)
    assert "Connect a model" in next_card(overview(researcher, study))


def test_researcher_sees_waiting_imports_progress_and_disputes(researcher, study, people):
    ImportFile.objects.create(
        study=study, kind="table", name="x.csv", sha256="0", size=1, stored_as="x", state="checked"
    )
    label_round = opened(study, people, ordinary=8, controls=2)
    dispute(label_round)
    text = flat(overview(researcher, study))
    assert "1 upload to review" in text
    assert "1 label in dispute" in text
    assert "24 / 24" in text
    assert reverse("adjudication", args=[study.public_id, label_round.public_id]) in text


def test_expert_is_led_to_the_queue_then_to_labelling(study, people):
    client = cast.sign_in(people["expert"])
    assert "Nothing to do now" in overview(client, study)
    label_round = opened(study, people)
    assert "Start labelling" in overview(client, study)
    dispute(label_round)
    text = overview(client, study)
    assert "1 open" in text
    queue = reverse("adjudication", args=[study.public_id, label_round.public_id])
    assert text.index(queue) < text.index("Start labelling")


def test_annotator_goes_on_where_they_stopped_until_everything_is_labelled(study, people):
    label_round = opened(study, people, ordinary=3, controls=1)
    client = cast.sign_in(people["annotator"])
    assert "Start labelling" in overview(client, study)
    place = place_in(label_round, people["annotator"])
    for turn in range(4):
        assert "Nothing is left" not in overview(client, study)
        assert label_next(place, turn)
        if turn == 1:
            text = overview(client, study)
            assert "Continue labelling" in text
            assert "2 labelled by you" in text
            assert reverse("label", args=[study.public_id, label_round.public_id]) in text
    assert not label_next(place, 4)
    text = overview(client, study)
    assert "You have nothing left to do here at the moment." in text
    assert "Continue labelling" not in text


def test_annotator_sees_nothing_of_others(study, people):
    label_round = opened(study, people, ordinary=31, controls=7)
    client = cast.sign_in(people["annotator"])
    before = overview(client, study)
    vote(label_round, people["expert"], 17)
    dispute(label_round)
    after = overview(client, study)
    assert without_token(before) == without_token(after)
    words = re.sub(r"<[^>]*>", " ", after.split("<main")[1].split("</main>")[0])
    for word in ("The expert", "17", "31", "38", "93", "control", "dispute"):
        assert word not in words


def without_token(text):
    parts = text.split('csrfmiddlewaretoken" value="')[1:]
    return "".join(part.split('"', 1)[1] for part in parts)


def test_annotator_is_not_led_to_a_label_round_that_is_not_open(study, people):
    label_round, client = opened(study, people), cast.sign_in(people["annotator"])
    for state in ("draft", "paused", "closed"):
        LabelRound.objects.filter(pk=label_round.pk).update(state=state, closed_at=timezone.now())
        text = overview(client, study)
        assert "Nothing to do now" in text
        assert "Round 1" not in text


@pytest.mark.parametrize(("role", "limit"), [("annotator", 7), ("expert", 24), ("researcher", 33)])
@pytest.mark.long
def test_page_costs_the_same_for_many_label_rounds(
    study, people, role, limit, django_assert_max_num_queries
):
    for number in range(10):
        label_round = opened(study, people, ordinary=2, controls=1, name=f"Round {number}")
        dispute(label_round)
        label_by_machine(label_round)
    client = cast.sign_in(people[role])
    with django_assert_max_num_queries(limit):
        overview(client, study)


@pytest.mark.long
def test_the_verdict_on_judges_of_labels_is_a_result(researcher, study, people):
    def newest():
        return overview(researcher, study).split('id="results-title"')[1].split("</section>")[0]

    label_round = cast.make_label_round(study, name="Judged")
    cast.make_label_round(study, name="Not judged")
    assert "Judged" not in newest()
    label_by_machine(label_round)
    part = flat(newest())
    page = reverse("judges", args=[study.public_id, label_round.public_id])
    assert f'<a href="{page}">Judged</a>' in part
    assert "Judges · labelled now" in part
    assert "Not judged" not in part


def test_labels_of_a_machine_that_came_in_a_file_are_judged_too(study):
    label_round = cast.make_label_round(study, origin=LabelRound.Origin.IMPORTED)
    assert list(judged_rounds(study)) == []
    model = Rater.objects.create(study=study, kind="model", name="GPT-4")
    about = {"round": label_round, "item": label_round.items.first(), "rater": model}
    Assignment.objects.create(**about, label=1, state="answered")
    assert list(judged_rounds(study)) == [label_round]


def test_work_begun_is_listed_among_more_rounds_than_the_page_shows(study, people, monkeypatch):
    monkeypatch.setattr("cqa_site.rounds.progress.LISTED", 1)
    begun, _newer = opened(study, people), opened(study, people, name="Newer")
    membership = study.memberships.get(user=people["annotator"])
    assert [card.title for card in waiting_for(membership)] == ["Newer"]
    place_in(begun, people["annotator"])
    assert [card.title for card in waiting_for(membership)] == [begun.name]
