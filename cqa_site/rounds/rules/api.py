"""Rules of rounds in the REST API, for every kind."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from cqa_site.api.base import (
    LIST,
    AnyRequest,
    FormInput,
    Request,
    S,
    StudyViews,
    address,
    require_valid,
)
from ..models import Place, Round
from .actions import hits_of, set_rules
from .forms import RulesForm, values_of
from .pages import ruled_round


class RulesInput(FormInput):
    """The action, window and threshold for each measure; the action ``off`` disables a rule.

    Omitted fields keep their values. Unknown measures are ignored.
    """

    form = RulesForm


class RuleHitSerializer(serializers.Serializer[Any]):
    """A person who currently triggers a rule; ``id`` is the id of the rater."""

    id = serializers.UUIDField(source="place.rater.public_id")
    name = serializers.CharField(source="place.rater.pseudonym")
    measure = serializers.CharField(source="finding.measure.name")
    value = serializers.FloatField(source="finding.value")
    n = serializers.IntegerField(source="finding.n")
    action = serializers.CharField(source="finding.action")
    is_stopped = serializers.BooleanField(source="place.is_stopped")
    is_excluded = serializers.BooleanField(source="place.is_excluded")


class RuleViews(StudyViews):
    """The rules of a round."""

    queryset = Place.objects.none()
    serializer_class: Any = RulesInput
    round: Round

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the round in the study."""
        super().initial(request, *args, **kwargs)
        self.round = ruled_round(self.study, kwargs["any_round_id"])

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the rules; rules that do not exist for the round's kind are off."""
        values = values_of(self.round)
        return Response({name: values[name] for name in RulesForm.base_fields})

    @extend_schema(request=RulesInput, responses=RulesInput)
    def partial_update(self, request: Request, any_round_id: uuid.UUID, **kwargs: Any) -> Response:
        """Change rules, which also apply to earlier answers."""
        body = values_of(self.round) | self.read(RulesInput, partial=True)
        form = RulesForm(body, round_=self.round)
        require_valid(form)
        set_rules(round_=self.round, actor=request.user, rules=form.rules())
        return self.retrieve(request)


class RuleHitViews(RuleViews):
    """People who currently trigger a rule of the round."""

    serializer_class = RuleHitSerializer

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List people in order of arrival."""
        return self.listed(hits_of(self.round))


RULES = S + "rounds/<uuid:any_round_id>/rules/"
urlpatterns = [
    address(RULES, "round_rules", RuleViews, get="retrieve", patch="partial_update"),
    address(f"{RULES}people/", "round_rule_people", RuleHitViews, **LIST),
]
