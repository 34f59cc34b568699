"""Proposals and assignments by a language model in the REST API."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from rest_framework import serializers

from argsum.analysis.api.analyses import start_of
from argsum.coding.actions.assignment import KIND
from argsum.coding.forms import PointAssignmentForm, PointProposalForm
from argsum.coding.models import CodedStatement
from cqa_site.api.base import AnyRequest, public_id
from cqa_site.runs.api.bodies import PlanInput
from cqa_site.runs.api.runs import RunPartViews
from cqa_site.web.rest.queries import FilterSet, TrueFalseFilter


class PointProposalRunInput(PlanInput):
    """A language model that proposes key points and themes for a finished analysis.

    The model reads up to ``requests`` random samples of ``statements``. The lists are merged into
    at most ``points`` key points under at most ``themes`` themes.
    """

    form = PointProposalForm
    kind = serializers.ChoiceField(["point_proposal"])
    analysis = serializers.UUIDField()


class PointAssignmentRunInput(PlanInput):
    """A language model that assigns the statements of an analysis to its signed-off key points.

    Statements that a person placed do not move.
    """

    form = PointAssignmentForm
    kind = serializers.ChoiceField(["point_assignment"])
    analysis = serializers.UUIDField()


PROPOSAL = start_of(PointProposalRunInput, PointProposalForm)
ASSIGNMENT = start_of(PointAssignmentRunInput, PointAssignmentForm)


class CodedStatementSerializer(serializers.ModelSerializer):
    """Codes of a statement in one reply; empty if the statement fits no key point.

    ``reason`` explains why there are no usable codes. ``nearest`` is the nearest code according to
    the match scorer, and ``agrees`` is true if the scorer confirms the codes. Both are null until
    the codes are applied.
    """

    statement = public_id("argument", allow_null=True, default=None)
    call = public_id("call")
    codes = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = CodedStatement
        fields = ["statement", "attempt", "codes", "note", "reason", "nearest", "agrees", "call"]
        read_only_fields = fields


class CodedStatementFilter(FilterSet):
    """Filters by attempt, by reason, and by agreement with match scores."""

    attempt = filters.NumberFilter(min_value=1, max_value=9, decimal_places=0)
    reason = filters.CharFilter(max_length=40)
    agrees = TrueFalseFilter()


class CodedStatementViews(RunPartViews):
    """Codes of a run that assigns statements; returns 404 for other kinds of runs.

    The run's target maps codes to key points.
    """

    serializer_class = CodedStatementSerializer
    filterset_class = CodedStatementFilter

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Find the run and check that it assigns statements."""
        super().initial(request, *args, **kwargs)
        if self.run.kind != KIND:
            raise Http404

    def rows(self) -> QuerySet[CodedStatement]:
        """Return the rows in the order in which they were stored."""
        return self.run.coded_statements.select_related("argument", "call").order_by("pk")
