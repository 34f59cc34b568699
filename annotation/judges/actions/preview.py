"""What prompts of the relevance judge are tried out on."""

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models.questions import Argument
from annotation.labelling.actions.guidelines import default_levels
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from . import relevance_judge

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


RELEVANCE = Previewed(lazy("Argument"), _arguments, _relevance)
