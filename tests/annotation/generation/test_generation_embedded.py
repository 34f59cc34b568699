"""The model in the box writes answers under all four scenarios; nobody rates them."""

import pytest

from annotation.answers.models.answers import Answer
from cqa_site.runs.actions.endpoints import embedded_endpoint
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.model_box import embedded
from cqa_site.runs.model_box.embedded import DEMO_MODEL
from cqa_site.runs.models import Call, Run
from tests.annotation.generation_lab import GenerationLab
from tests.runs.test_embedded import needs_model

pytestmark = pytest.mark.django_db
# Enough for a few sentences: the test wants whole answers, not good ones.
TOKENS = 60


@pytest.fixture
def lab():
    made = GenerationLab(questions=1, arguments=4)
    made.endpoint = embedded_endpoint(study=made.study, actor=made.researcher)
    yield made
    embedded.SERVER.stop()


@needs_model
def test_a_question_under_four_scenarios(lab, django_capture_on_commit_callbacks):
    """Every request ends with an answer, or with the reason that its reply was cut."""
    runs = []
    for number in (1, 2, 3, 4):
        with django_capture_on_commit_callbacks(execute=True):
            params = {"max_tokens": TOKENS, "temperature": 0, "stop": ["."]}
            runs.append(lab.start(number=number, params=params))
    for run in runs:
        run.refresh_from_db()
        assert run.state == Run.State.DONE
        ended = run.calls.values_list("state", "reason")
        assert {(state, reason) for state, reason in ended} <= {
            (Call.State.DONE, ""),
            (Call.State.UNSCORED, "truncated"),
        }
        assert run.calls.filter(state=Call.State.DONE).count() == run.answers.count()
    assert list(find_violations()) == []
    answers = Answer.objects.all()
    assert {answer.scenario for answer in answers} == {1, 2, 3, 4}
    assert {(answer.model, answer.system.name) for answer in answers} == {(DEMO_MODEL, DEMO_MODEL)}
    assert all(answer.text.strip() for answer in answers)
