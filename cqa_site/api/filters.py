"""Which query parameters the lists about a study's people know."""

from django_filters import rest_framework as filters

from cqa_site.people.models import Role
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class MemberFilter(filters.FilterSet):
    """Members by role."""

    role = filters.ChoiceFilter(choices=Role.choices)
    is_active = TrueFalseFilter()


class AuditEventFilter(filters.FilterSet):
    """Lines of the log by what was done, and to what."""

    verb = filters.CharFilter(max_length=60)
    subject = filters.CharFilter(max_length=200)
