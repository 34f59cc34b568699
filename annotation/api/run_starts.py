"""How runs of this paper's kinds are asked for."""

from rest_framework.exceptions import ValidationError

from annotation.forms.faithfulness import CoherenceForm
from annotation.forms.generation import GenerationForm
from annotation.forms.judging import RunForm
from annotation.forms.matrix import MatrixForm
from annotation.models import campaigns_of
from cqa_site.people.models import Study, User
from cqa_site.runs.api.starts import Given, Start, as_typed, keys_of, plain
from cqa_site.runs.plan_form import PlanForm

from . import inputs


def _relevance(study: Study, actor: User, given: Given) -> PlanForm:
    campaigns = campaigns_of(study).select_related("guideline")
    campaign = campaigns.filter(public_id=given.pop("campaign")).first()
    if campaign is None:
        raise ValidationError({"campaign": ["No such campaign in this study."]})
    return RunForm(as_typed(RunForm, study, given), campaign=campaign, actor=actor)


def _answers(study: Study, actor: User, given: Given) -> PlanForm:
    given["comparisons"] = keys_of(study.comparisons, given.pop("comparisons", []))
    return GenerationForm(as_typed(GenerationForm, study, given), study=study, actor=actor)


def matrix_form(study: Study, actor: User, given: Given) -> MatrixForm:
    """The page's form of a launch, begun with what it offers."""
    offered = {name: field.initial for name, field in MatrixForm.base_fields.items()}
    rows = {
        "endpoint": (study.endpoints, given.pop("endpoints")),
        "prompt": (study.prompt_versions, given.pop("prompts")),
        "comparisons": (study.comparisons, given.pop("comparisons", [])),
    }
    given |= {name: keys_of(*chosen) for name, chosen in rows.items()}
    return MatrixForm(offered | plain(given), study=study, actor=actor)


def _coherence(study: Study, actor: User, given: Given) -> PlanForm:
    given["systems"] = keys_of(study.systems, given.pop("systems", []))
    return CoherenceForm(as_typed(CoherenceForm, study, given), study=study, actor=actor)


RELEVANCE = Start(inputs.RunInput, _relevance)
ANSWERS = Start(inputs.AnswersRunInput, _answers)
COHERENCE = Start(inputs.CoherenceRunInput, _coherence)
