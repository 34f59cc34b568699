"""Every kind of prompt: its name, its placeholders and the file it begins with.

A kind belongs to one kind of run; a new one is added to the three tables here.
"""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.models import Study, User
from cqa_site.runs.models import PromptVersion

from . import answer_prompts, coherence_judge, relevance_judge
from .first_prompts import first_prompts

LAYOUTS = relevance_judge.LAYOUTS | answer_prompts.LAYOUTS | coherence_judge.LAYOUTS
FILES = relevance_judge.FILES | answer_prompts.FILES | coherence_judge.FILES
NAMES = {
    relevance_judge.SINGLE: lazy("One sentence a request"),
    relevance_judge.BATCH: lazy("Several sentences a request"),
    "answer_1": lazy("Answers, scenario 1"),
    "answer_2": lazy("Answers, scenario 2"),
    "answer_3": lazy("Answers, scenario 3"),
    "answer_4": lazy("Answers, scenario 4"),
    coherence_judge.KIND: lazy("Coherence of a citation"),
}


def default_prompts(study: Study, actor: User | None = None) -> list[PromptVersion]:
    """The newest prompt of every kind."""
    return first_prompts(study, FILES, actor)
