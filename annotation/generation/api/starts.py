"""Addresses of runs in which a model writes answers."""

from typing import Any

from annotation.generation.api.inputs import AnswersRunInput
from annotation.generation.forms.generation import GenerationForm
from annotation.generation.forms.matrix import MatrixForm
from cqa_site.people.models import Study, User
from cqa_site.runs.api.starts import Given, Start, as_typed, keys_of, plain
from cqa_site.runs.forms.plan import PlanForm


def _answers(study: Study, actor: User, given: Given) -> PlanForm:
    given["comparisons"] = keys_of(study.comparisons, given.pop("comparisons", []))
    return GenerationForm(as_typed(GenerationForm, study, given), study=study, actor=actor)


def matrix_form(study: Study, actor: User, given: Given) -> MatrixForm:
    """The page's form of a launch, begun with what it offers."""
    offered = {name: field.initial for name, field in MatrixForm.base_fields.items()}
    rows: dict[str, tuple[Any, Any]] = {
        "endpoint": (study.endpoints, given.pop("endpoints")),
        "prompt": (study.prompt_versions, given.pop("prompts")),
        "comparisons": (study.comparisons, given.pop("comparisons", [])),
    }
    given |= {name: keys_of(*chosen) for name, chosen in rows.items()}
    return MatrixForm(offered | plain(given), study=study, actor=actor)


ANSWERS = Start(AnswersRunInput, _answers)
