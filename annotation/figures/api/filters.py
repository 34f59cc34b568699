"""Which query parameters the lists of snapshots of a round know; all others are refused."""

from django_filters import rest_framework as filters

from cqa_site.web.rest.strict_filters import TrueFalseFilter


class SnapshotFilter(filters.FilterSet):
    """Frozen snapshots, or the live one."""

    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)
