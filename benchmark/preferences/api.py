"""Preferences in the REST API: rounds, sheets, figures, and judge runs."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from benchmark.preferences import reports
from benchmark.preferences.forms import MOST_CONTROLS, PreferenceRoundForm, PreferringRunForm
from benchmark.preferences.models import PreferenceItem, PreferenceRound, PreferenceSheet
from cqa_site.api.base import (
    DataSerializer,
    FormInput,
    ReadSerializer,
    Request,
    StudyViews,
    public_id,
)
from cqa_site.people.models import Rater, Study, User
from cqa_site.results.api import FigureSerializer, PositionSerializer, StatisticSerializer
from cqa_site.rounds.api import (
    ItemSerializer,
    PersonSerializer,
    QualificationInput,
    RoundApi,
    RoundSerializer,
    round_views,
)
from cqa_site.runs.api.bodies import Given, PlanInput, Start, as_typed, key_of
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.web.rest.queries import TrueFalseFilter, refuse_unknown

SHOWN_STATES = (
    PreferenceSheet.State.SUBMITTED,
    PreferenceSheet.State.UNSCORED,
    PreferenceSheet.State.VOID,
)


class PreferenceRoundInput(FormInput):
    """Pairs and settings of a round; omitted fields keep their default or current value."""

    form = PreferenceRoundForm
    controls = serializers.ListField(
        child=serializers.ListField(child=serializers.UUIDField(), min_length=2, max_length=2),
        max_length=MOST_CONTROLS,
        required=False,
        help_text="Pairs of answers with a known verdict, the better answer first.",
    )


class PreferenceRoundSerializer(RoundSerializer):
    """Recipe and progress of a round: ``done`` of ``wanted`` sheets."""

    form = PreferenceRoundForm
    controls = serializers.ListField(
        source="recipe.controls", child=serializers.ListField(child=serializers.UUIDField())
    )
    answers = serializers.IntegerField(source="recipe.answers")
    fewer_because = serializers.CharField(source="recipe.fewer_because")
    pairs = serializers.IntegerField(source="size")

    class Meta:
        model = PreferenceRound
        fields = [*RoundSerializer.Meta.fields, "controls", "answers", "fewer_because", "pairs"]


class PreferenceItemSerializer(ItemSerializer):
    """One pair in a round; ``known`` is the known verdict of a control pair."""

    id = None
    known = serializers.CharField(source="known.verdict", read_only=True, default="")
    question = public_id("pair.question")
    first = public_id("pair.first")
    second = public_id("pair.second")

    class Meta:
        model = PreferenceItem
        fields = [*ItemSerializer.Meta.fields, "question", "first", "second"]


class PreferrerSerializer(PersonSerializer):
    """Progress of one person in a round; ``id`` is the id of the rater."""

    left = serializers.IntegerField(source="figures.left", read_only=True, default=0)
    right = serializers.IntegerField(source="figures.right", read_only=True, default=0)
    tie = serializers.IntegerField(source="figures.tie", read_only=True, default=0)
    both_bad = serializers.IntegerField(source="figures.both_bad", read_only=True, default=0)


class PreferenceSheetSerializer(ReadSerializer):
    """One verdict on the pair's first and second answer, regardless of their sides.

    ``known`` is the known verdict of a control pair; empty for other pairs.
    """

    known = serializers.SerializerMethodField()
    question = public_id("pair.question")
    first = public_id("pair.first")
    second = public_id("pair.second")
    rater = public_id("rater")
    rater_kind = serializers.ChoiceField(source="rater.kind", choices=Rater.Kind.choices)
    preference_round = public_id("round", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)

    class Meta:
        model = PreferenceSheet
        fields = [
            "id", "question", "first", "second", "rater", "rater_kind", "preference_round", "run",
            "replicate", "state", "reason", "is_swapped", "verdict", "known", "comment",
            "is_example", "is_extra", "submitted_at",
        ]  # fmt: skip

    def get_known(self, sheet: PreferenceSheet) -> str:
        return reports.known_verdict(sheet)


ROUNDS = round_views(
    RoundApi(
        plan=PreferenceRoundInput,
        decision=QualificationInput,
        shown=PreferenceRoundSerializer,
        item=PreferenceItemSerializer,
        person=PreferrerSerializer,
    ),
    "preference_id",
)


class PreferenceSheetFilter(filters.FilterSet):
    preference_round = filters.UUIDFilter(field_name="round__public_id")
    run = filters.UUIDFilter(field_name="run__public_id")
    rater = filters.UUIDFilter(field_name="rater__public_id")
    rater_kind = filters.ChoiceFilter(field_name="rater__kind", choices=Rater.Kind.choices)
    question = filters.UUIDFilter(field_name="pair__question__public_id")
    state = filters.ChoiceFilter(choices=[(choice.value, choice.label) for choice in SHOWN_STATES])
    verdict = filters.ChoiceFilter(choices=PreferenceSheet.Verdict.choices)
    is_swapped = TrueFalseFilter(field_name="is_swapped")


class PreferenceSheetViews(StudyViews):
    """Submitted, unscored and void sheets, without drafts."""

    serializer_class = PreferenceSheetSerializer
    filterset_class = PreferenceSheetFilter

    def rows(self) -> QuerySet[Any]:
        """Return the rows in creation order."""
        pair = ("pair__question", "pair__first", "pair__second")
        rows = PreferenceSheet.objects.filter(study=self.study, state__in=SHOWN_STATES)
        rows = reports.with_known(rows).select_related(*pair, "rater", "round", "run")
        return rows.defer("pair__first__text", "pair__second__text", "draft").order_by("pk")


class RankedByChoiceSerializer(DataSerializer):
    """Source of verdicts that can be ranked: ``people``, or the id of a judge's rater."""

    shows = reports.VerdictSource
    left_out = ("raters",)


class PreferenceStandingSerializer(PositionSerializer):
    """One ranked system; bounds, ranks and group are null if there are too few questions."""

    log_strength = FigureSerializer(source="*")
    win_rate = StatisticSerializer(help_text="Wins plus half the ties, of all its verdicts.")
    wins = serializers.IntegerField()
    losses = serializers.IntegerField()
    ties = serializers.IntegerField()
    both_bad = serializers.IntegerField()
    n_questions = serializers.IntegerField()


class PreferenceMeetingSerializer(serializers.Serializer):
    """Verdicts on one system against another; both bad counts as a tie."""

    system = serializers.CharField()
    against = serializers.CharField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    n = serializers.IntegerField()


class PreferenceFigureSerializer(StatisticSerializer):
    """One check of the verdicts."""

    name = serializers.CharField()
    n = serializers.IntegerField()


class PreferencesSerializer(serializers.Serializer):
    """Systems ranked by people's or a judge's verdicts; ``by`` is null if there are none."""

    by = serializers.CharField(allow_null=True)
    choices = RankedByChoiceSerializer(many=True)
    verdicts = serializers.IntegerField()
    both_orders = serializers.IntegerField(help_text="Pairs that a rater judged in both orders.")
    contradictions = serializers.IntegerField(
        help_text="Pairs with two different verdicts in the two orders, counted as ties."
    )
    one_order = serializers.IntegerField(help_text="Pairs judged in one order only.")
    ranking = PreferenceStandingSerializer(many=True)
    is_penalized = serializers.BooleanField(
        help_text="Whether a strength has no limit; if so, penalized strengths are given."
    )
    unranked = serializers.DictField(
        child=serializers.CharField(), help_text="Maps a system without a strength to the reason."
    )
    matrix = PreferenceMeetingSerializer(many=True)
    figures = PreferenceFigureSerializer(many=True)


BY = OpenApiParameter("by", str, description="A name from ``choices``. Default: people.")


class PreferenceViews(StudyViews):
    """Ranking of systems by verdicts, with its figures."""

    queryset = PreferenceSheet.objects.none()
    serializer_class = PreferencesSerializer

    @extend_schema(parameters=[BY], responses=PreferencesSerializer)
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Return the ranking, matrix and figures shown on the page."""
        refuse_unknown(request, {"by"})
        choices = reports.choices_of(self.study)
        choice = reports.chosen_of(choices, request.query_params.get("by", ""))
        if choice is None and "by" in request.query_params:
            raise ValidationError({"by": ["No rater with this name gave verdicts in this study."]})
        results = reports.results_of(self.study, choice) if choice else None
        payload = {"by": choice and choice.name, "choices": choices}
        return Response(PreferencesSerializer(payload | _results(results)).data)


def _results(results: reports.Results | None) -> dict[str, Any]:
    if results is None:
        numbers = dict.fromkeys(("verdicts", "both_orders", "contradictions", "one_order"), 0)
        nothing = {"ranking": [], "is_penalized": False, "unranked": {}}
        return numbers | nothing | {"matrix": [], "figures": []}
    return {
        "verdicts": results.n_verdicts,
        "both_orders": results.n_again,
        "contradictions": results.n_made_ties,
        "one_order": results.n_one_order,
        "ranking": results.ranking.standings,
        "is_penalized": results.ranking.strengths.is_penalized,
        "unranked": results.ranking.strengths.unranked,
        "matrix": reports.meetings_of(results),
        "figures": [
            estimate.as_dict() | {"name": str(name), "n": n}
            for name, n, estimate in reports.checks(results)
        ],
    }


class PreferringRunInput(PlanInput):
    """Run in which a judge compares pairs of answers (all by default), each in both orders."""

    form = PreferringRunForm
    left_out = (*PlanInput.left_out, "replicates")
    kind = serializers.ChoiceField(["preferring"])


def _preferring(study: Study, actor: User, body: Given) -> RunPlanForm:
    if wanted := body.pop("preference_round", None):
        body["preference_round"] = key_of(PreferenceRound.objects.filter(study=study), wanted)
    body = as_typed(PreferringRunForm, study, body)
    return PreferringRunForm(body, study=study, actor=actor)


START = Start(PreferringRunInput, _preferring)
