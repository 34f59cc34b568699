"""Addresses of faithfulness of answers."""

from annotation.faithfulness.api.inputs import CoherenceRunInput
from annotation.faithfulness.forms import CoherenceForm
from cqa_site.people.models import Study, User
from cqa_site.runs.api.starts import Given, Start, as_typed, keys_of
from cqa_site.runs.forms.plan import PlanForm


def _coherence(study: Study, actor: User, given: Given) -> PlanForm:
    given["systems"] = keys_of(study.systems, given.pop("systems", []))
    return CoherenceForm(as_typed(CoherenceForm, study, given), study=study, actor=actor)


COHERENCE = Start(CoherenceRunInput, _coherence)
