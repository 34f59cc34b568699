"""Query parameters of lists of votes, final labels and decisions; others are refused."""

from django_filters import rest_framework as filters

from annotation.consensus.models import Adjudication, FinalLabel
from annotation.labelling.models.votes import Assignment
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class VoteFilter(filters.FilterSet):
    """Votes by what happened to them."""

    counted = TrueFalseFilter(
        field_name="is_counted", label="Whether the vote enters the figures of the round."
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


class AdoptionFilter(filters.FilterSet):
    """Adoptions that are in force, or that were withdrawn."""

    in_force = TrueFalseFilter(field_name="withdrawn_at", lookup_expr="isnull")
