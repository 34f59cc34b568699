"""A label round that people work on is changed: items in and out, more votes, another wording."""

from functools import partial
from html import unescape

import pytest
from django.urls import reverse

from annotation.consensus.reports import vote_table
from annotation.exports.reports.tables import ExportSource, votes
from annotation.figures.actions import LABEL_ROUNDS
from annotation.labelling.actions import rounds as label_rounds, serving
from annotation.labelling.actions.blocks import retire_item
from annotation.labelling.actions.rounds import add_items
from annotation.labelling.actions.votes import SubmittedLabel, answer
from annotation.labelling.models import Assignment
from annotation.labelling.reports import label_violations, skipped_by_all
from cqa_site.people.models import AuditEvent
from cqa_site.results import snapshots
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import close_round, correct_round, reopen_round
from tests.annotation.voting import label as give, opened, work
from tests.cast import make_arguments, make_label_round, make_member, sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(study):
    return make_member(study, "researcher")


@pytest.fixture
def label_round(study):
    return opened(study, ordinary=8, controls=3, votes_per_item=2)


@pytest.fixture
def people(study, label_round):
    members = [make_member(study, "annotator").memberships.get() for _each in range(4)]
    return [serving.member_place(label_round=label_round, membership=each) for each in members]


def label(places, most=1_000):
    """Everybody labels in turn until nothing is left, or so many labels are given."""
    given = 0
    while given < most:
        before = given
        for place in places:
            if todo := work(place).assignments[:1]:
                give(place, todo[0])
                given += 1
        if given == before:
            return given
    return given


def reworded(label_round, boss, **fields):
    levels = label_round.guideline.levels
    values = {"title": "Clearer", "body": "Read twice.", "levels": levels} | fields
    return label_rounds.save_version(study=label_round.study, actor=boss, **values)


def is_full(label_round):
    label_round.refresh_from_db()
    counted = vote_table(label_round, item__control_label__isnull=True).groupby("item").size()
    wanted = label_round.items.filter(control_label=None, is_retired=False)
    assert set(counted.index) == set(wanted.values_list("pk", flat=True))
    return set(counted) == {label_round.votes_per_item}


@pytest.mark.long
def test_four_people_work_while_everything_changes(study, label_round, people, boss):
    label(people, 12)
    on_screen = work(people[0]).assignments[0]
    out = next(row.item for row in work(people[1]).assignments if not row.item.is_control)
    retire_item(label_round=label_round, item=out, is_retired=True, actor=boss)
    added = make_arguments(study, 3)
    assert add_items(label_round=label_round, argument_ids=[row.pk for row in added]) == 3
    label(people, 6)
    give(people[0], Assignment.objects.get(pk=on_screen.pk))
    correct_round(round_=label_round, actor=boss, values={"votes_per_item": 3})
    label(people, 6)
    newer = reworded(label_round, boss)
    correct_round(round_=label_round, actor=boss, values={"guideline": newer})
    close_round(round_=label_round, actor=boss)
    reopen_round(round_=label_round, actor=boss)
    label(people)
    assert is_full(label_round)
    assert list(label_violations()) == []
    retire_item(label_round=label_round, item=out, is_retired=False, actor=boss)
    label(people)
    assert is_full(label_round)
    assert list(label_violations()) == []
    verbs = AuditEvent.objects.filter(study=study).values_list("verb", flat=True)
    assert {"item_retired", "item_taken_back", "label_round_corrected"} <= set(verbs)


@pytest.mark.long
def test_each_vote_says_which_wording_its_annotator_had(study, label_round, people, boss):
    given = label(people, 5)
    first = label_round.guideline
    newer = reworded(label_round, boss)
    correct_round(round_=label_round, actor=boss, values={"guideline": newer})
    label(people)
    label_round.refresh_from_db()
    snapshot = snapshots.refresh(LABEL_ROUNDS, label_round)
    table = votes(ExportSource(snapshot, b"salt"))
    at = list(table.types).index("guideline")
    numbers = [row[at] for row in table.rows]
    assert numbers.count(first.number) == given
    assert set(numbers) == {first.number, newer.number}


def test_an_answer_to_an_item_that_was_retired_meanwhile_is_kept(label_round, people, boss):
    row = next(row for row in work(people[0]).assignments if not row.item.is_control)
    retire_item(label_round=label_round, item=row.item, is_retired=True, actor=boss)
    kept = give(people[0], row)
    assert (kept.label, kept.is_extra) == (2, True)
    assert not vote_table(label_round, item=row.item).size
    assert row.item_id not in {each.item_id for each in work(people[0]).assignments}


def test_what_cannot_change_while_people_work(study, label_round, boss):
    levels = [{"value": 0, "name": "No"}, {"value": 1, "name": "Yes"}]
    other = reworded(label_round, boss, title="Two levels", levels=levels)
    control = label_round.items.exclude(control_label=None).first()
    files = make_label_round(study, name="Files", ordinary=1, state="closed", origin="imported")
    change = partial(correct_round, round_=label_round, actor=boss)
    for refused, words in (
        (partial(change, values={"votes_per_item": 1}), "only be raised"),
        (partial(change, values={"guideline": other}), "Only the wording"),
        (
            partial(
                retire_item, label_round=label_round, item=control, is_retired=True, actor=boss
            ),
            "Quality",
        ),
        (partial(reopen_round, round_=files, actor=boss), "imported"),
        (partial(change, round_=files, values={"votes_per_item": 9}), "imported"),
    ):
        with pytest.raises(RoundNotReady, match=words):
            refused()
    assert correct_round(round_=files, actor=boss, values={"name": "Crowd 2024"})
    close_round(round_=label_round, actor=boss)
    with pytest.raises(RoundNotReady, match="Closed"):
        add_items(label_round=label_round, argument_ids=[make_arguments(study, 1)[0].pk])


class TestPages:
    @pytest.fixture
    def client(self, boss):
        return sign_in(boss)

    def address(self, name, label_round, *more):
        return reverse(name, args=[label_round.study.public_id, label_round.public_id, *more])

    def test_what_everybody_skipped_is_shown_and_retired(self, client, label_round, people):
        item = label_round.items.filter(control_label=None).first()
        for place in people[:2]:
            while not (row := place.rater.assignments.filter(item=item).first()):
                give(place, work(place).assignments[0])
            given = SubmittedLabel(f"skip {row.pk}", skip_reason="unclear")
            answer(rater=place.rater, assignment=row, given=given)
        assert list(skipped_by_all(label_round)) == [item]
        page = client.get(self.address("label_round_items", label_round), {"only": "skipped"}).text
        assert "1 item was skipped by everyone who received it." in " ".join(page.split())
        assert item.argument.text in page
        retire = self.address("label_round_item_retire", label_round, item.external_id)
        reply = client.post(retire, {"is_retired": "on", "skipped": ""}, follow=True)
        assert "The item is retired: it is no longer served." in reply.text
        assert not skipped_by_all(label_round)
        client.post(retire)
        item.refresh_from_db()
        assert not item.is_retired

    def test_name_votes_and_wording_change_on_one_page(self, client, label_round):
        page = self.address("label_round_correct", label_round)
        asked = client.get(page).context["form"]
        names = ["name", "guideline", "votes_per_item", "skip_share", "onboarding"]
        assert list(asked.fields) == names
        values = {name: asked[name].value() or "" for name in asked.fields}
        wish = values | {"name": "Second try", "votes_per_item": 4}
        reply = client.post(page, wish, follow=True)
        assert "The study's log shows the old and new values." in unescape(reply.text)
        label_round.refresh_from_db()
        assert (label_round.name, label_round.votes_per_item) == ("Second try", 4)
        assert label_round.slots.count() == 32
        refused = client.post(page, values | {"votes_per_item": 1})
        assert refused.status_code == 422
        assert "can only be raised" in refused.text
