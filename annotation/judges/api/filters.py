"""Which query parameters the lists of judges beside people know; all others are refused."""

from django_filters import rest_framework as filters

from cqa_site.web.rest.strict_filters import TrueFalseFilter


class JudgeLabelFilter(filters.FilterSet):
    """Labels of a run by argument, label, reason and replicate."""

    argument = filters.UUIDFilter(field_name="argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    is_unscored = TrueFalseFilter(field_name="label", lookup_expr="isnull")
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)
