"""What prompts that ask for a count are tried out on."""

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as lazy

from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from .judge import KIND
from .targets import LONG, counted_sets, target_of


def _sets(study: Study) -> QuerySet[SummarySet]:
    """Sets with key points and references."""
    return counted_sets(study, target_of()).select_related("cell").defer(*LONG)


def _draft(study: Study, version: PromptVersion, shown: Model) -> tuple[Run, list[Model]]:
    spec = {"target": target_of(), "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [shown]


COUNTING = Previewed(lazy("Set of key points"), _sets, _draft)
