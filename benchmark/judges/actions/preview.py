"""What prompts of the scoring judge are tried out on."""

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from benchmark.judges.reports.calls import Asked
from benchmark.rubrics.actions import default_rubric
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from .kind import KIND
from .targets import target_of


def _answers(study: Study) -> QuerySet[Answer]:
    """Blank answers are never judged."""
    return study.answers.exclude(text__regex=r"^\s*$").order_by("pk")


def _draft(study: Study, version: PromptVersion, answer: Model) -> tuple[Run, list[Model]]:
    """By the study's newest rubric, without examples."""
    rubric = study.rubric_versions.order_by("-created_at", "-pk").first() or default_rubric(study)
    spec = {"target": target_of(rubric), "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [answer]


SCORING = Previewed(lazy("Answer"), _answers, _draft, lambda answers: tuple(Asked(answers[0].pk)))
