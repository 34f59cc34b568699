"""The form of a new round: it can be opened as it comes, and says how much work it makes."""

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.consensus.reports import agreed_labels
from annotation.labelling.models import LabelRound
from cqa_site.rounds.forms import Extent
from cqa_site.rounds.kind import kinds
from cqa_site.rounds.models import Round
from tests import cast
from tests.annotation import editing_cast
from tests.annotation.voting import imported, make_raters
from tests.argsum.auditing.made_auditing import make_analysis
from tests.lengths import mostly
from tests.people.works import fill_answers, fill_sets

FILLS = {
    "label": lambda study: cast.make_arguments(study, 12),
    "edit": lambda study: editing_cast.make_answers(study, questions=5),
    "score": fill_answers,
    "count": fill_sets,
    "prefer": fill_answers,
    "audit": make_analysis,
}
KINDS = {each.name: each for each in kinds()}
LABEL = KINDS["label"]


def address(kind, end, study):
    return reverse(f"{kind.audit.round}_{end}", args=[study.public_id])


def begun(client, kind, study):
    """What a browser would send of the form as it comes."""
    form = client.get(address(kind, "new", study)).context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: each for name, each in values.items() if each is not None and each is not False}


def figures(reply):
    return reply.context["extent"]


@pytest.fixture(params=sorted(FILLS))
def kind(request, study):
    FILLS[request.param](study)
    return KINDS[request.param]


SOME_KINDS = pytest.mark.parametrize(
    "kind", mostly(sorted(FILLS), "label", "score"), indirect=True
)


def test_every_kind_has_a_case():
    assert set(FILLS) == set(KINDS)


def test_a_plan_opens_as_it_comes_with_the_work_that_is_said(
    kind, researcher, study, people, django_assert_max_num_queries
):
    values = begun(researcher, kind, study)
    said = figures(researcher.get(address(kind, "new", study)))
    with django_assert_max_num_queries(24):
        again = researcher.post(address(kind, "extent", study), values)
    assert figures(again) == said
    reply = researcher.post(address(kind, "new", study), values | {"then": "open"})
    made = Round.objects.get()
    assert reply["Location"] == reverse(kind.audit.round, args=[study.public_id, made.public_id])
    assert (made.state, made.name) == ("open", "Round 1")
    made = kind.Round.objects.annotate(**kind.counts()).get(pk=kind.own(made).pk)
    assert (said.items, said.answers) == (made.size, made.wanted)
    assert said.items > 0


@pytest.mark.long
@SOME_KINDS
def test_enter_opens_the_round_and_counting_stores_nothing(kind, researcher, study, people):
    text = researcher.get(address(kind, "new", study)).text
    form = text[text.index('id="extent"') :]
    assert re.findall(r'name="then" value="(\w+)"', form) == ["open", "draft", "count"]
    values = begun(researcher, kind, study)
    reply = researcher.post(address(kind, "new", study), values | {"then": "count", "pay": "12"})
    assert reply.status_code == 200
    assert figures(reply).items > 0
    assert not Round.objects.exists()


@SOME_KINDS
def test_a_wrong_field_is_no_work_and_a_name_is_no_matter(kind, researcher, study, people):
    values = begun(researcher, kind, study)
    url = address(kind, "extent", study)
    assert figures(researcher.post(url, values | {"name": ""})).items > 0
    wrong = researcher.post(url, values | {"seed": "many"})
    assert figures(wrong) is None
    assert "Correct the plan" in wrong.text


def test_a_round_that_cannot_be_opened_leaves_no_draft(researcher, study):
    cast.make_arguments(study, 4)
    values = begun(researcher, LABEL, study) | {"controls_per_block": 1, "then": "open"}
    reply = researcher.post(address(LABEL, "new", study), values)
    assert reply.status_code == 422
    assert "Mark at least one item as a control item" in reply.text
    assert not LabelRound.objects.exists()


def test_a_draft_of_another_study_is_not_there(researcher, study, other_study):
    theirs = cast.make_label_round(other_study)
    url = address(LABEL, "extent", study)
    assert researcher.post(url, {"round": theirs.public_id}).status_code == 404
    mine = cast.make_label_round(study)
    guideline = mine.guideline.public_id
    values = begun(researcher, LABEL, study) | {"guideline": guideline, "round": mine.public_id}
    said = figures(researcher.post(url, values | {"controls_per_block": 1}))
    assert (said.items, said.known) == (8, 2)


def agree(study):
    """Two arguments on which all agree, and others on which they do not, or one person alone."""
    votes = [[2, 2], [0, 0], [1, 3], [2, None]]
    label_round = imported(study, make_raters(study, 2), votes=votes)
    first = label_round.items.order_by("pk")[:2]
    return {item.argument_id: votes[place][0] for place, item in enumerate(first)}


@pytest.mark.long
def test_control_items_are_proposed_where_people_agreed(researcher, study):
    agreed = agree(study)
    cast.make_arguments(study, 6)
    assert dict(agreed_labels(study, [0, 1, 2, 3])) == agreed
    values = begun(researcher, LABEL, study)
    assert (values["known"], values["controls_per_block"]) == (2, 1)
    assert figures(researcher.post(address(LABEL, "extent", study), values)).items == 8
    researcher.post(address(LABEL, "new", study), values | {"then": "open"})
    made = LabelRound.objects.get(state="open")
    controls = made.items.filter(control_label__isnull=False)
    assert dict(controls.values_list("argument", "control_label")) == agreed
    assert made.items.count() == 10
    assert made.slots.count() == 8 * 3


def test_there_are_no_more_control_items_than_agreed_labels(researcher, study):
    cast.make_arguments(study, 6)
    values = begun(researcher, LABEL, study)
    assert (values["known"], values["controls_per_block"]) == (0, 0)
    agree(study)
    values = begun(researcher, LABEL, study) | {"known": 3, "then": "open"}
    reply = researcher.post(address(LABEL, "new", study), values)
    assert reply.status_code == 422
    assert "People agreed on 2 arguments" in reply.text
    # Agreement by another scale is none.
    assert agreed_labels(study, [0, 1]) == []


def test_only_what_no_round_holds_yet(researcher, study):
    agree(study)
    cast.make_arguments(study, 3)
    values = begun(researcher, LABEL, study) | {"which": "new", "sample": 2}
    assert figures(researcher.post(address(LABEL, "extent", study), values)).items == 2
    researcher.post(address(LABEL, "new", study), values | {"then": "draft"})
    made = LabelRound.objects.get(state="draft", origin="live")
    assert made.items.filter(control_label__isnull=True).count() == 2
    assert made.items.count() == 4


def test_time_and_money_by_hand():
    extent = Extent(items=10, answers=30, people=3, seconds=90)
    assert (extent.each, extent.minutes_each, extent.hours) == (10, 15, 0.75)
    assert extent.cost(Decimal("12.50")) == Decimal("9.38")
    assert extent.cost(None) is None
    assert Extent(items=1, answers=1, people=1).cost(Decimal(5)) is None
