"""REST API of scoring runs: start, figures, sheets and probes."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from benchmark.judges.actions.targets import MOST_NAMED
from benchmark.judges.forms import ScoringRunForm
from benchmark.judges.reports import (
    WANTS,
    Attack,
    attacks_of,
    consistency_of,
    count_sheets,
    plain_of,
    plain_totals,
    sheets_of,
    swap_effect,
)
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ProbeResult, ScoreSheet, ScoringRound, ScoringRun
from cqa_site.api.base import AnyRequest, DataSerializer, ReadSerializer, Request, public_id
from cqa_site.people.models import Study, User
from cqa_site.results.api import StatisticSerializer
from cqa_site.runs.api.bodies import Given, PlanInput, Start, as_typed, key_of, keys_of
from cqa_site.runs.api.runs import RunPartViews
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.web.rest.queries import TrueFalseFilter


class AttackSerializer(DataSerializer):
    """One kind of canary, with means in points over canaries whose plain answer is scored."""

    shows = Attack
    left_out = ("title", "canaries")
    name = serializers.ChoiceField(list(WANTS))
    text = serializers.CharField(help_text="Text planted in the answer.")
    wants_full = serializers.BooleanField(help_text="If false, the text asks for no points.")
    asked = serializers.IntegerField(help_text="Replies: one per canary and replicate.")
    gain = serializers.FloatField(
        allow_null=True, help_text="Gain towards what the text asks for."
    )


class ScoringSerializer(serializers.Serializer):
    """The rubric of a run, its rater, and the results of its tests."""

    rubric = serializers.UUIDField()
    rater = serializers.UUIDField()
    trust = serializers.ChoiceField(ScoringRun.Trust.choices)
    scored = serializers.IntegerField()
    unscored = serializers.IntegerField()
    reasons = serializers.DictField(child=serializers.IntegerField())
    attacks = AttackSerializer(many=True)
    swap = StatisticSerializer(
        allow_null=True,
        help_text="Mean change of the total with the objects in the other order, swapped minus "
        "plain, over n_values answers to n_pairable_items questions.",
    )
    consistency = serializers.DictField(
        allow_null=True, help_text="For runs with several sheets per answer: variances, in points."
    )


class RunSheetSerializer(ReadSerializer):
    """One sheet of a run; if unscored, ``points`` is empty and ``reason`` is set."""

    answer = public_id("answer")
    condition = serializers.UUIDField(source="answer.condition.public_id")
    call = public_id("call", allow_null=True, default=None)

    class Meta:
        model = ScoreSheet
        fields = [
            "id", "answer", "condition", "replicate", "state", "reason", "total", "maximum",
            "points", "notes", "call", "submitted_at",
        ]  # fmt: skip


class ProbeSerializer(serializers.ModelSerializer):
    """A judge's points for a test text, and its total for the plain answer."""

    answer = public_id("answer")
    call = public_id("call")
    plain = serializers.FloatField(allow_null=True, read_only=True)

    class Meta:
        model = ProbeResult
        fields = [
            "answer", "probe", "name", "replicate", "points", "total", "plain", "reason", "obeyed",
            "call",
        ]  # fmt: skip
        read_only_fields = fields


class RunSheetFilter(filters.FilterSet):
    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    is_unscored = TrueFalseFilter(field_name="total", lookup_expr="isnull")
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)


class ProbeFilter(filters.FilterSet):
    probe = filters.ChoiceFilter(choices=ProbeResult.Probe.choices)
    name = filters.ChoiceFilter(choices=[(name, name) for name in WANTS])
    obeyed = TrueFalseFilter()


class ScoringPartViews(RunPartViews):
    """Base of views below a scoring run; 404 for runs of other kinds."""

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the run and check that it is a scoring run."""
        super().initial(request, *args, **kwargs)
        if self.run.kind != "scoring":
            raise Http404


class ScoringViews(ScoringPartViews):
    """The figures of a run."""

    queryset = ScoringRun.objects.none()
    serializer_class = ScoringSerializer

    @extend_schema(responses=ScoringSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the trust in a run and the results of canaries, object swaps and replicates."""
        scoring = ScoringRun.objects.select_related("rubric", "rater").get(run=self.run)
        probes = list(self.run.probe_results.order_by("pk"))
        counts = count_sheets(self.run)
        payload = {
            "rubric": scoring.rubric.public_id,
            "rater": scoring.rater.public_id,
            "trust": scoring.trust,
            "scored": counts.scored,
            "unscored": counts.unscored,
            "reasons": counts.reasons,
            "attacks": attacks_of(self.run, probes),
            "swap": swap_effect(self.run, probes),
            "consistency": consistency_of(self.run),
        }
        return Response(ScoringSerializer(payload).data)


class RunSheetViews(ScoringPartViews):
    """The sheets of a run."""

    serializer_class = RunSheetSerializer
    filterset_class = RunSheetFilter

    def rows(self) -> QuerySet[ScoreSheet]:
        """Return the rows, sorted by answer, then replicate."""
        return sheets_of(self.run)


class ProbeViews(ScoringPartViews):
    """Replies of a run's judge to canaries and swapped questions."""

    serializer_class = ProbeSerializer
    filterset_class = ProbeFilter

    def rows(self) -> QuerySet[ProbeResult]:
        """Return the rows in the order in which they were stored."""
        return self.run.probe_results.select_related("answer", "call").order_by("pk")

    def list(self, request: Request, **kwargs: Any) -> Response:
        """Return one page of results, each with the total of the plain answer."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        plain = plain_totals(self.run, page)
        for probe in page:
            probe.plain = plain_of(probe, plain)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class ScoringRunInput(PlanInput):
    """A judge that scores answers by a rubric, by default the newest CompQA rubric.

    ``examples`` are ``sheet:<id of a person's sheet>`` or ``item:<round>:<answer>`` for a round's
    scored example. If there are fewer than ``shots``, further examples are drawn with the seed.
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


def _scoring(study: Study, actor: User, body: Given) -> RunPlanForm:
    rubric = body.pop("rubric", None)
    body["rubric"] = (
        key_of(study.rubric_versions, rubric) if rubric else default_rubric(study, actor).pk
    )
    if wanted := body.pop("scoring_round", None):
        body["scoring_round"] = key_of(ScoringRound.objects.filter(study=study), wanted)
    body["systems"] = keys_of(study.systems, body.pop("systems", []))
    body["answers"] = "\n".join(map(str, body.pop("answers", [])))
    names = ("example1", "example2")
    body |= dict(zip(names, body.pop("examples", []), strict=False))
    return ScoringRunForm(as_typed(ScoringRunForm, study, body), study=study, actor=actor)


SCORING = Start(ScoringRunInput, _scoring)
