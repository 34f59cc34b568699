"""Numbered lists, whose labels stand beside them, and what a model was trained on."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.answers.actions import (
    NotPairs,
    argument_list,
    mark_learned,
    question_ids,
    relevance_of,
)
from annotation.answers.models import LearnedComparison, System
from annotation.consensus.actions.consensus import LabelsNotOfStudy, prefer_labels
from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import label_source
from annotation.corpus.models import ArgumentList, Question
from annotation.labelling.models import label_rounds_of
from cqa_site.judging.chat import ChatReply
from cqa_site.people.models import AuditEvent
from tests import cast
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.imports.import_files import json_file, take
from tests.annotation.made_answers import make_question
from tests.cast import make_label_round, make_study
from tests.runs.judging import script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


def settle(study, argument, label, *, days_ago=0):
    """A final label in a round of its own."""
    name = f"C{label_rounds_of(study).count()}"
    label_round = cast.make_label_round(study, ordinary=0, controls=0, name=name)
    label_round.created_at = timezone.now() - timedelta(days=days_ago)
    label_round.save()
    given = {"label": label, "provenance": "votes"}
    FinalLabel.objects.create(label_round=label_round, argument=argument, **given)


def test_the_same_list_is_made_once_and_another_order_number_or_question_is_another(
    study, question, monkeypatch
):
    arguments = cast.make_arguments(study, 3)
    numbered = list(enumerate(arguments, 1))
    first = argument_list(question, numbered, {"seed": 1})
    again = argument_list(question, numbered, {"seed": 2})
    assert (again, again.recipe) == (first, {"seed": 1})
    assert list(first.entries.values_list("number", "argument")) == [
        (number, argument.pk) for number, argument in numbered
    ]
    argument_list(question, list(enumerate(arguments[::-1], 1)), {})
    argument_list(question, list(enumerate(arguments, 2)), {})
    argument_list(make_question(study, aspect="price"), numbered, {})
    assert ArgumentList.objects.count() == 4
    # A sentence may have two numbers, but no number two sentences.
    one, two, _three = arguments
    assert argument_list(question, [(1, one), (2, one)], {}).entries.count() == 2
    with pytest.raises(ValueError, match="two arguments"):
        argument_list(question, [(1, one), (1, two)], {})
    # One that appears meanwhile is taken.
    blind = type("Nothing", (), {"first": lambda self: None})()
    monkeypatch.setattr(ArgumentList.objects, "filter", lambda **_asked: blind)
    assert argument_list(question, numbered, {}) == first


def test_the_newest_label_round_of_the_study_with_a_label_wins(study):
    one, two, three = cast.make_arguments(study, 3)
    settle(cast.make_study("B"), three, 3)
    settle(study, one, 3, days_ago=1)
    settle(study, one, 0, days_ago=9)
    settle(study, one, None)
    settle(study, two, 2)
    keys = [one.pk, two.pk, three.pk]
    assert relevance_of(study, keys) == {one.pk: 3, two.pk: 2, three.pk: None}


def test_a_study_chooses_whose_labels_it_uses(study, client, researcher):
    old, new = (make_label_round(study, name=name) for name in ("Old", "New"))
    both, only_new = [item.argument for item in old.items.order_by("pk")[:2]]
    for label_round, argument, label in ((old, both, 0), (new, both, 3), (new, only_new, 2)):
        given = {"label": label, "provenance": "votes"}
        FinalLabel.objects.create(label_round=label_round, argument=argument, **given)
    keys = [both.pk, only_new.pk]
    assert relevance_of(study, keys) == {both.pk: 3, only_new.pk: 2}
    page = f"/s/{study.public_id}/label-rounds/{old.public_id}/labels/"
    client.post(f"{page}prefer/", {"use": "this"})
    assert label_source(study) == old
    assert relevance_of(study, keys) == {both.pk: 0, only_new.pk: None}
    assert "this round's" in client.get(page).content.decode()
    prefer_labels(study=study, label_round=None, actor=researcher)
    assert relevance_of(study, keys) == {both.pk: 3, only_new.pk: 2}
    verbs = study.audit_events.values_list("verb", "details__after")
    assert list(verbs) == [("preferred_labels_chosen", ""), ("preferred_labels_chosen", "Old")]
    foreign = make_label_round(make_study("Study B"))
    with pytest.raises(LabelsNotOfStudy):
        prefer_labels(study=study, label_round=foreign, actor=researcher)


lab = built_once(GenerationLab)


@pytest.fixture
def tuned(lab):
    """A system whose model is served at the lab's endpoint, trained on two of four questions."""
    served = {"kind": "model", "model": lab.endpoint.model}
    system = System.objects.create(study=lab.study, name="Tuned", **served)
    ids = [question.public_id for question in lab.questions[:2]]
    assert mark_learned(system=system, questions=ids, source="train.jsonl", actor=None) == 2
    return system


@pytest.mark.parametrize("number", [1, 4])
def test_a_run_leaves_out_what_its_model_learned(number, lab, tuned, monkeypatch, inline):
    client = script(monkeypatch, lambda request: ChatReply("An answer.", "stop"))
    # Another question about the same objects is no test either.
    pair = lab.questions[0].comparison
    Question.objects.create(study=lab.study, comparison=pair, aspect="price")
    with inline():
        run = lab.start(number=number, replicates=1)
    asked = set(run.answers.values_list("question", flat=True))
    assert asked == {question.pk for question in lab.questions[2:]}
    assert len(client.requests) == 2
    run.generation.refresh_from_db()
    assert run.generation.left_out["learned"] == 3


def test_an_import_refuses_answers_to_what_was_learned(lab, tuned, tmp_path):
    pairs = [(each.comparison.object1, each.comparison.object2) for each in lab.questions]
    entries = [{"object1": one, "object2": two, "comparison": "An answer."} for one, two in pairs]
    path = json_file(tmp_path, entries, "Tuned_scenario_1.json")
    outcome = take(lab.study, "answers", path, leave_out_rejected=True)
    assert outcome.counts["answers"]["new"] == 2
    answered = set(tuned.answers.values_list("question", flat=True))
    assert answered == {question.pk for question in lab.questions[2:]}


def test_the_page_of_a_system_takes_the_file_of_pairs(lab, client):
    system = System.objects.create(study=lab.study, name="Elsewhere")
    here = [lab.study.public_id, system.public_id]
    pair = json.dumps({"about": {"question": str(lab.questions[0].public_id)}})
    file = SimpleUploadedFile("train.jsonl", pair.encode())
    client.post(reverse("system_learned", args=here), {"pairs": file})
    assert system.learned.count() == 1
    page = client.get(reverse("system", args=here)).text
    assert "1 pair of objects" in page
    assert AuditEvent.objects.filter(verb="system_learned").count() == 1
    client.post(reverse("system_learned", args=here), {})
    assert system.learned.count() == 1
    # A line without its question is named, and only questions of the study can be learned.
    for line in ("no json", '{"about": {}}', '{"about": {"question": "x"}}'):
        with pytest.raises(NotPairs, match=r"train\.jsonl, line 2"):
            question_ids([pair, line], "train.jsonl")
    with pytest.raises(NotPairs, match="has no pairs"):
        question_ids(["", " "], "train.jsonl")
    theirs = System.objects.create(study=make_study("Other"), name="Theirs")
    with pytest.raises(NotPairs, match="1 questions are not in this study"):
        mark_learned(system=theirs, questions=[lab.questions[0].public_id], source="", actor=None)
    assert not LearnedComparison.objects.filter(system=theirs).exists()
