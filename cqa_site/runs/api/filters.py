"""Which query parameters the lists of endpoints, prompts, runs and background work know."""

from django_filters import rest_framework as filters

from cqa_site.runs.kinds import KINDS, prompt_kinds
from cqa_site.runs.models import Attempt, Call, Endpoint, Job, Run
from cqa_site.web.rest.strict_filters import FilterSet, TrueFalseFilter


class JobFilter(FilterSet):
    """Background work by kind and state."""

    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Job.State.choices)


class EndpointFilter(FilterSet):
    """Endpoints by where the server is, and whether they are still offered."""

    kind = filters.ChoiceFilter(choices=Endpoint.Kind.choices)
    is_archived = TrueFalseFilter()


class PromptFilter(FilterSet):
    """Prompt versions by kind, and whether a run used them."""

    kind = filters.ChoiceFilter(choices=lambda: [(kind, kind) for kind in prompt_kinds()])
    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class RunFilter(FilterSet):
    """Runs of one kind, in one state, of one endpoint or prompt version, or by what kinds add."""

    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Run.State.choices)
    endpoint = filters.UUIDFilter(field_name="endpoint__public_id")
    prompt = filters.UUIDFilter(field_name="prompt__public_id")

    @classmethod
    def get_filters(cls) -> dict[str, filters.Filter]:
        """What kinds of runs can be found by comes first."""
        added = {
            name: filters.UUIDFilter(field_name=path)
            for kind in KINDS.values()
            for name, path in kind.filters.items()
        }
        return {**added, **super().get_filters()}


class CallFilter(FilterSet):
    """Requests by state and by why they are unscored."""

    state = filters.ChoiceFilter(choices=Call.State.choices)
    reason = filters.CharFilter(max_length=40)
    is_canary = TrueFalseFilter()


class ReplyFilter(FilterSet):
    """Replies of one request, or by what became of them."""

    call = filters.UUIDFilter(field_name="call__public_id")
    outcome = filters.ChoiceFilter(choices=Attempt.Outcome.choices)
    unusable = filters.CharFilter(max_length=20)
