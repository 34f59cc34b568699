"""REST API for training data: question–answer pairs with high totals."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from annotation.answers.models import Answer
from benchmark.distillation.forms import PairsForm
from benchmark.distillation.methods import BASES
from benchmark.distillation.reports import choose, datasheet, records
from benchmark.rubrics.models import default_rubric
from cqa_site.api.base import Request, StudyViews, require_valid
from cqa_site.web.rest.queries import refuse_unknown

NAMES = ("rubric", "basis", "least_total", "widest_gap", "each", "validation", "seed")
# Parameters that can be repeated.
SEVERAL = ("judges", "systems", "scenarios", "conditions")


class PairsSerializer(serializers.Serializer):
    """Chosen pairs as chat messages, counts of excluded answers, and the datasheet in Markdown."""

    count = serializers.IntegerField(read_only=True)
    left_out = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    pairs = serializers.ListField(child=serializers.DictField(), read_only=True)
    datasheet = serializers.CharField(read_only=True)


class DistillationViews(StudyViews):
    """Question–answer pairs selected by minimum total and agreement."""

    queryset = Answer.objects.none()
    serializer_class = PairsSerializer
    pagination_class = None

    @extend_schema(
        parameters=[
            OpenApiParameter("rubric", str, description="Id of a version. Default: the newest."),
            OpenApiParameter("basis", str, enum=BASES),
            OpenApiParameter("least_total", float, description="Default: 18."),
            OpenApiParameter("widest_gap", float),
            OpenApiParameter("each", int, description="Per question. Default: no limit."),
            OpenApiParameter("judges", str, many=True, description="Ids. Default: all judges."),
            OpenApiParameter("systems", str, many=True),
            OpenApiParameter("scenarios", int, many=True),
            OpenApiParameter(
                "conditions", str, many=True, description="Ids, or all. Default: plain conditions."
            ),
            OpenApiParameter("validation", float),
            OpenApiParameter("seed", int),
        ],
        responses=PairsSerializer,
    )
    def retrieve(self, request: Request, **kwargs: Any) -> Response:
        """Choose pairs by the rules in the query, which the page's form validates."""
        refuse_unknown(request, {*NAMES, *SEVERAL})
        fields = PairsForm.base_fields.items()
        offered = {name: field.initial for name, field in fields if field.initial is not None}
        offered["rubric"] = default_rubric(self.study).public_id
        query: dict[str, Any] = {
            name: request.query_params[name] for name in NAMES if name in request.query_params
        }
        query |= {name: request.query_params.getlist(name) for name in SEVERAL}
        form = PairsForm(offered | query, study=self.study)
        require_valid(form)
        training = choose(form.cleaned_data["rubric"], form.rules())
        pairs = list(records(training))
        return Response(
            {
                "count": len(pairs),
                "left_out": training.chosen.left_out,
                "pairs": pairs,
                "datasheet": datasheet(training),
            }
        )
