"""What prompts for answers are tried out on."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models.questions import Question
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from . import kind as answer_generation
from .targets import target_of


def _questions(study: Study) -> QuerySet[Question]:
    return study.questions.order_by("pk")


def _answer(
    study: Study, version: PromptVersion, question: Question
) -> tuple[Run, list[Question]]:
    """With the arguments that a run with the usual choices would draw."""
    spec = {"target": target_of(), "seed": 1}
    run = Run(study=study, kind=answer_generation.KIND, prompt=version, spec=spec)
    return run, [question]


ANSWERS = Previewed(lazy("Question"), _questions, _answer)
