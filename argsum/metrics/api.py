"""Metrics of summary sets: stored values, requests for more, and counts by language models."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from argsum.datasets.models import Cell
from argsum.metrics.actions.metrics import CHOICES, MetricsRefused, request_metrics
from argsum.metrics.forms import MetricsForm
from argsum.metrics.models import CountReply, MetricScore
from argsum.scorers.actions.scorers import MATCH, first_scorers
from cqa_site.api.base import AnyRequest, Input, Request, StudyViews, public_id, require_valid
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.runs.api.bodies import JobSerializer, key_of
from cqa_site.runs.api.runs import RunPartViews
from cqa_site.web.rest.queries import TrueFalseFilter, conflict_on


class MetricScoreSerializer(serializers.ModelSerializer):
    """One metric of one set: a value, or the reason why it is missing."""

    summary_set = public_id("summary_set")
    scorer = public_id("scorer", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)

    class Meta:
        model = MetricScore
        fields = [
            "summary_set", "metric", "setting", "value", "reason", "scorer", "run", "source",
            "details", "seconds", "at",
        ]  # fmt: skip
        read_only_fields = fields


class MetricScoreFilter(filters.FilterSet):
    summary_set = filters.UUIDFilter(field_name="summary_set__public_id")
    metric = filters.CharFilter(max_length=60)
    setting = filters.CharFilter(max_length=200)
    is_missing = TrueFalseFilter(field_name="value", lookup_expr="isnull")


class MetricsInput(Input):
    """Metrics and sets; only missing values are computed."""

    functions = serializers.ListField(child=serializers.ChoiceField(CHOICES), min_length=1)
    dataset = serializers.UUIDField(required=False)
    split = serializers.ChoiceField(Cell.Split.choices[1:], allow_blank=True, required=False)
    scorer = serializers.UUIDField(
        required=False, help_text="Match scorer. Default: MiniLM, not tuned."
    )
    threshold = serializers.FloatField(min_value=-1, max_value=1, required=False, allow_null=True)
    model = serializers.CharField(max_length=150, required=False, default=PACKAGED_MODEL)


class MetricScoreViews(StudyViews):
    """Stored metrics, in the order in which they were computed."""

    serializer_class = MetricScoreSerializer
    filterset_class = MetricScoreFilter

    def rows(self) -> QuerySet[MetricScore]:
        """Return the metrics of all sets of the study."""
        rows = MetricScore.objects.filter(summary_set__study=self.study)
        long = ("arguments", "clusters", "assigned", "scores")
        return (
            rows.select_related("summary_set", "scorer", "run")
            .defer(*(f"summary_set__{name}" for name in long))
            .order_by("pk")
        )

    @extend_schema(request=MetricsInput, responses={202: JobSerializer})
    def compute(self, request: Request, **kwargs: Any) -> Response:
        """Compute metrics in the background."""
        body = self.read(MetricsInput)
        default = first_scorers(self.study)[MATCH].pk
        wanted = body.pop("scorer", None)
        dataset = body.pop("dataset", None)
        data = body | {
            "functions": sorted(body["functions"]),
            "scorer": key_of(self.study.scorers, wanted) if wanted else default,
            "dataset": key_of(self.study.argument_datasets, dataset) if dataset else None,
        }
        form = MetricsForm(data, study=self.study)
        require_valid(form)
        with conflict_on(MetricsRefused):
            job = request_metrics(
                study=self.study, plan=form.plan, choice=form.choice, actor=request.user
            )
        job.refresh_from_db()
        return Response(JobSerializer(job).data, status=202)


class CountReplySerializer(serializers.ModelSerializer):
    """One reply of a counting run; ``count`` is the count before clipping."""

    summary_set = public_id("summary_set")
    call = public_id("call")

    class Meta:
        model = CountReply
        fields = ["summary_set", "dimension", "replicate", "count", "reason", "call"]
        read_only_fields = fields


class CountReplyFilter(filters.FilterSet):
    summary_set = filters.UUIDFilter(field_name="summary_set__public_id")
    is_unscored = TrueFalseFilter(field_name="count", lookup_expr="isnull")


class CountReplyViews(RunPartViews):
    """The replies of a counting run; returns 404 for other kinds of runs."""

    serializer_class = CountReplySerializer
    filterset_class = CountReplyFilter

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the run and check that it is a counting run."""
        super().initial(request, *args, **kwargs)
        if self.run.kind != "counting":
            raise Http404

    def rows(self) -> QuerySet[CountReply]:
        """Return the rows in the order in which they were stored."""
        long = ("arguments", "clusters", "assigned", "scores")
        rows = self.run.count_replies.select_related("summary_set", "call")
        return rows.defer(*(f"summary_set__{name}" for name in long)).order_by("pk")
