"""Which query parameters each list knows; StrictFilterBackend refuses all others."""

from django_filters import rest_framework as filters

from annotation.actions.relevance_judge import LAYOUTS
from annotation.models import (
    Adjudication,
    Assignment,
    Campaign,
    ExportFile,
    FinalLabel,
    ImportFile,
)
from cqa_site.people.models import Role
from cqa_site.runs.models import Attempt, Call, Endpoint, Job, Run
from cqa_site.web.strict_filters import TrueFalseFilter


class MemberFilter(filters.FilterSet):
    """Members by role."""

    role = filters.ChoiceFilter(choices=Role.choices)
    is_active = TrueFalseFilter()


class AuditEventFilter(filters.FilterSet):
    """Lines of the log by what was done, and to what."""

    verb = filters.CharFilter(max_length=60)
    subject = filters.CharFilter(max_length=200)


class ComparisonFilter(filters.FilterSet):
    """Comparisons by an object exactly as written."""

    object1 = filters.CharFilter(max_length=300)
    object2 = filters.CharFilter(max_length=300)


class ArgumentFilter(filters.FilterSet):
    """Arguments of one comparison, or with words in the sentence."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)


class CampaignFilter(filters.FilterSet):
    """Campaigns by state and origin."""

    state = filters.ChoiceFilter(choices=Campaign.State.choices)
    origin = filters.ChoiceFilter(choices=Campaign.Origin.choices)


class ItemFilter(filters.FilterSet):
    """Items that are control items or not, of one argument or one comparison."""

    is_control = TrueFalseFilter(field_name="control_label", lookup_expr="isnull", exclude=True)
    argument = filters.UUIDFilter(field_name="argument__public_id")
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


class VoteFilter(filters.FilterSet):
    """Votes by what happened to them."""

    counted = TrueFalseFilter(
        field_name="is_counted", label="Whether the vote enters the figures of the campaign."
    )
    is_extra = TrueFalseFilter()
    is_flagged = TrueFalseFilter()
    state = filters.ChoiceFilter(choices=Assignment.State.choices)
    rater = filters.UUIDFilter(field_name="rater__public_id")
    argument = filters.UUIDFilter(field_name="item__argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)


class FinalLabelFilter(filters.FilterSet):
    """Final labels by label and by how clear they are."""

    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    provenance = filters.ChoiceFilter(choices=FinalLabel.Provenance.choices)
    is_tied = TrueFalseFilter()
    methods_differ = TrueFalseFilter()
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


class AdjudicationFilter(filters.FilterSet):
    """Decisions that are in force, or that were superseded."""

    in_force = TrueFalseFilter(field_name="superseded_at", lookup_expr="isnull")
    source = filters.ChoiceFilter(choices=Adjudication.Source.choices)


class SnapshotFilter(filters.FilterSet):
    """Frozen snapshots, or the live one."""

    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class ExportFilter(filters.FilterSet):
    """Exports by what is in them."""

    content = filters.ChoiceFilter(choices=ExportFile.Content.choices)
    snapshot = filters.UUIDFilter(field_name="snapshot__public_id")


class ImportFilter(filters.FilterSet):
    """Uploaded files by kind and state."""

    kind = filters.ChoiceFilter(choices=ImportFile.Kind.choices)
    state = filters.ChoiceFilter(choices=ImportFile.State.choices)


class ProblemFilter(filters.FilterSet):
    """Rows that were rejected, or only flagged."""

    is_rejection = TrueFalseFilter()


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

    kind = filters.ChoiceFilter(choices=[(kind, kind) for kind in LAYOUTS])
    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class RunFilter(filters.FilterSet):
    """Runs of one campaign, of one kind, in one state, of one endpoint or prompt version."""

    campaign = filters.UUIDFilter(field_name="relevance__campaign__public_id")
    kind = filters.CharFilter(max_length=40)
    state = filters.ChoiceFilter(choices=Run.State.choices)
    endpoint = filters.UUIDFilter(field_name="endpoint__public_id")
    prompt = filters.UUIDFilter(field_name="prompt__public_id")


class CallFilter(filters.FilterSet):
    """Requests by state and by why they are unscored."""

    state = filters.ChoiceFilter(choices=Call.State.choices)
    reason = filters.CharFilter(max_length=40)
    is_canary = TrueFalseFilter()


class ReplyFilter(filters.FilterSet):
    """Replies of one request, or by what became of them."""

    call = filters.UUIDFilter(field_name="call__public_id")
    outcome = filters.ChoiceFilter(choices=Attempt.Outcome.choices)
    unusable = filters.CharFilter(max_length=20)


class JudgeLabelFilter(filters.FilterSet):
    """Labels of a run by argument, label, reason and replicate."""

    argument = filters.UUIDFilter(field_name="argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    is_unscored = TrueFalseFilter(field_name="label", lookup_expr="isnull")
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)
