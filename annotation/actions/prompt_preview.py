"""What prompts of this paper's kinds of runs are tried out on."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.models import Answer, Argument, Question
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from . import answer_generation, coherence_judge, relevance_judge
from .answer_targets import target_of
from .coherence_texts import citing_answers, first_citation
from .guidelines import default_levels

# How many sentences of one comparison stand in the preview of a prompt for several.
SHOWN_TOGETHER = 3


def _arguments(study: Study) -> QuerySet[Argument]:
    """Blank sentences are never judged."""
    return study.arguments.exclude(text__regex=r"^\s*$").order_by("pk")


def _relevance(
    study: Study, version: PromptVersion, argument: Argument
) -> tuple[Run, list[Argument]]:
    """On the study's newest scale, with the next sentences of the comparison if they fit."""
    arguments = [argument]
    if version.kind == relevance_judge.BATCH:
        same = _arguments(study).filter(comparison=argument.comparison_id, pk__gte=argument.pk)
        arguments = list(same[:SHOWN_TOGETHER])
    guideline = study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    spec = {"target": {"levels": levels}}
    return Run(study=study, kind=relevance_judge.KIND, prompt=version, spec=spec), arguments


def _questions(study: Study) -> QuerySet[Question]:
    return study.questions.order_by("pk")


def _answer(
    study: Study, version: PromptVersion, question: Question
) -> tuple[Run, list[Question]]:
    """With the arguments that a run with the usual choices would draw."""
    spec = {"target": target_of(), "seed": 1}
    run = Run(study=study, kind=answer_generation.KIND, prompt=version, spec=spec)
    return run, [question]


def _citation(study: Study, version: PromptVersion, answer: Answer) -> tuple[Run, list[Answer]]:
    """With the first citation of the answer."""
    return Run(study=study, kind=coherence_judge.KIND, prompt=version, spec={}), [answer]


RELEVANCE = Previewed(lazy("Argument"), _arguments, _relevance)
ANSWERS = Previewed(lazy("Question"), _questions, _answer)
COHERENCE = Previewed(
    lazy("Answer with citations"),
    citing_answers,
    _citation,
    lambda answers: first_citation(answers[0]),
)
