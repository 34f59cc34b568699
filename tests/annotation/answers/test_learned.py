"""What a model was trained on is never a test of it: not asked, not imported, not scored."""

import json

import pytest
from django.urls import reverse

from annotation.answers.actions.learned import NotPairs, mark_learned, question_ids
from annotation.answers.models.answers import System
from annotation.answers.models.learned import LearnedComparison
from annotation.corpus.models.questions import Question
from cqa_site.files.actions.reading import import_path
from cqa_site.judging.chat import ChatReply
from cqa_site.people.models import AuditEvent
from tests.annotation.generation_lab import GenerationLab
from tests.cast import make_study, sign_in
from tests.runs.judging import script
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


lab = built_once(GenerationLab)


@pytest.fixture
def tuned(lab):
    """A system whose model is served at the lab's endpoint, trained on two of four questions."""
    system = System.objects.create(
        study=lab.study, name="Tuned", kind="model", model=lab.endpoint.model
    )
    ids = [question.public_id for question in lab.questions[:2]]
    assert mark_learned(system=system, questions=ids, source="train.jsonl", actor=None) == 2
    return system


@pytest.mark.parametrize("number", [1, 4])
def test_a_run_leaves_out_what_its_model_learned(
    number, lab, tuned, monkeypatch, django_capture_on_commit_callbacks
):
    client = script(monkeypatch, lambda request: ChatReply("An answer.", "stop"))
    with django_capture_on_commit_callbacks(execute=True):
        run = lab.start(number=number, replicates=1)
    asked = set(run.answers.values_list("question", flat=True))
    assert asked == {question.pk for question in lab.questions[2:]}
    assert len(client.requests) == 2
    run.generation.refresh_from_db()
    assert run.generation.left_out["learned"] == 2


def test_another_question_about_the_same_objects_is_no_test_either(lab, tuned, monkeypatch):
    pair = lab.questions[0].comparison
    later = Question.objects.create(study=lab.study, comparison=pair, aspect="price")
    subjects = {one.ids[0] for one in _subjects(lab)}
    assert later.pk not in subjects
    assert len(subjects) == 2


def _subjects(lab):
    from cqa_site.runs.actions.runs import draft
    from cqa_site.runs.kinds import kind_named

    return kind_named("answers").subjects(draft(lab.plan(number=1), lab.study))


def test_an_import_refuses_answers_to_what_was_learned(lab, tuned, tmp_path):
    entries = [
        {
            "object1": question.comparison.object1,
            "object2": question.comparison.object2,
            "comparison": f"An answer to {question}.",
        }
        for question in lab.questions
    ]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(entries))
    outcome = import_path(
        study=lab.study,
        kind="answers",
        path=path,
        name="answers.json",
        options={"system": "Tuned", "scenario": 1},
        write=True,
        leave_out_rejected=True,
    )
    assert outcome.counts["answers"]["new"] == 2
    answered = set(tuned.answers.values_list("question", flat=True))
    assert answered == {question.pk for question in lab.questions[2:]}


def test_only_questions_of_the_study_can_be_learned(lab, tuned):
    other = make_study("Other")
    system = System.objects.create(study=other, name="Theirs")
    with pytest.raises(NotPairs, match="1 questions are not of this study"):
        mark_learned(system=system, questions=[lab.questions[0].public_id], source="", actor=None)
    assert not LearnedComparison.objects.filter(system=system).exists()


@pytest.mark.parametrize("line", ["no json", '{"about": {}}', '{"about": {"question": "x"}}'])
def test_a_line_without_its_question_is_named(line):
    good = json.dumps({"about": {"question": "00000000-0000-4000-8000-000000000000"}})
    with pytest.raises(NotPairs, match=r"train\.jsonl, line 2"):
        question_ids([good, line], "train.jsonl")
    with pytest.raises(NotPairs, match="holds no pair"):
        question_ids(["", " "], "train.jsonl")


def test_the_page_of_a_system_takes_the_file_of_pairs(lab, tmp_path):
    system = System.objects.create(study=lab.study, name="Elsewhere")
    client = sign_in(lab.researcher)
    here = [lab.study.public_id, system.public_id]
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"about": {"question": str(lab.questions[0].public_id)}}))
    with path.open("rb") as file:
        client.post(reverse("system_learned", args=here), {"pairs": file})
    assert system.learned.count() == 1
    page = client.get(reverse("system", args=here)).content.decode()
    assert "1 pair of objects" in page
    assert AuditEvent.objects.filter(verb="system_learned").count() == 1
    client.post(reverse("system_learned", args=here), {})
    assert system.learned.count() == 1
