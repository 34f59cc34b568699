"""Which query parameters the lists of endpoints, prompts and background work know."""

from django_filters import rest_framework as filters

from cqa_site.runs.kind_parts import prompt_kinds
from cqa_site.runs.models import Endpoint, Job
from cqa_site.web.strict_filters import TrueFalseFilter


class JobFilter(filters.FilterSet):
    """Background work by kind and state."""

    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Job.State.choices)


class EndpointFilter(filters.FilterSet):
    """Endpoints by where the server is, and whether they are still offered."""

    kind = filters.ChoiceFilter(choices=Endpoint.Kind.choices)
    is_archived = TrueFalseFilter()


class PromptFilter(filters.FilterSet):
    """Prompt versions by kind, and whether a run used them."""

    kind = filters.ChoiceFilter(choices=lambda: [(kind, kind) for kind in prompt_kinds()])
    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)
