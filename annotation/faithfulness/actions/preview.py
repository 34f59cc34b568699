"""What prompts of the coherence judge are tried out on."""

from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.models import PromptVersion, Run

from . import coherence_judge
from .coherence_texts import citing_answers, first_citation


def _citation(study: Study, version: PromptVersion, answer: Answer) -> tuple[Run, list[Answer]]:
    """With the first citation of the answer."""
    return Run(study=study, kind=coherence_judge.KIND, prompt=version, spec={}), [answer]


COHERENCE = Previewed(
    lazy("Answer with citations"),
    citing_answers,
    _citation,
    lambda answers: first_citation(answers[0]),
)
