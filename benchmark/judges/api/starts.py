"""How a run of the scoring judge is asked for."""

from rest_framework import serializers

from benchmark.judges.actions.targets import MOST_NAMED
from benchmark.judges.forms import ScoringRunForm
from benchmark.rubrics.actions import default_rubric
from benchmark.scoring.models.rounds import ScoringRound
from cqa_site.people.models import Study, User
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.starts import Given, Start, as_typed, key_of, keys_of
from cqa_site.runs.forms.plan import PlanForm


class ScoringRunInput(PlanInput):
    """A judge that scores answers by a rubric; without one, by the newest CompQA rubric.

    ``examples`` are ``sheet:<id of a person's sheet>`` or ``item:<round>:<answer>`` of a round's
    scored example; if there are fewer than ``shots``, the seed draws the rest.
    """

    form = ScoringRunForm
    left_out = (*PlanInput.left_out, "example1", "example2")
    kind = serializers.ChoiceField(["scoring"])
    rubric = serializers.UUIDField(required=False)
    answers = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_NAMED, required=False
    )
    examples = serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=2, required=False
    )


def _scoring(study: Study, actor: User, given: Given) -> PlanForm:
    rubric = given.pop("rubric", None)
    given["rubric"] = (
        key_of(study.rubric_versions, rubric) if rubric else default_rubric(study, actor).pk
    )
    if wanted := given.pop("scoring_round", None):
        given["scoring_round"] = key_of(ScoringRound.objects.filter(study=study), wanted)
    given["systems"] = keys_of(study.systems, given.pop("systems", []))
    given["answers"] = "\n".join(map(str, given.pop("answers", [])))
    names = ("example1", "example2")
    given |= dict(zip(names, given.pop("examples", []), strict=False))
    return ScoringRunForm(as_typed(ScoringRunForm, study, given), study=study, actor=actor)


SCORING = Start(ScoringRunInput, _scoring)
