"""Addresses of judges beside people."""

from rest_framework.exceptions import ValidationError

from annotation.judges.api.inputs import RunInput
from annotation.judges.forms.judging import RunForm
from annotation.labelling.models.campaigns import campaigns_of
from cqa_site.people.models import Study, User
from cqa_site.runs.api.starts import Given, Start, as_typed
from cqa_site.runs.forms.plan import PlanForm


def _relevance(study: Study, actor: User, given: Given) -> PlanForm:
    campaigns = campaigns_of(study).select_related("guideline")
    campaign = campaigns.filter(public_id=given.pop("label_round")).first()
    if campaign is None:
        raise ValidationError({"label_round": ["No such round in this study."]})
    return RunForm(as_typed(RunForm, study, given), campaign=campaign, actor=actor)


RELEVANCE = Start(RunInput, _relevance)
