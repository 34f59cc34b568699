"""Query parameters of lists of guidelines, rounds and their items; others are refused."""

from django_filters import rest_framework as filters

from annotation.labelling.models.campaigns import Campaign
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class LabelRoundFilter(filters.FilterSet):
    """Rounds by state and origin."""

    state = filters.ChoiceFilter(choices=Campaign.State.choices)
    origin = filters.ChoiceFilter(choices=Campaign.Origin.choices)


class ItemFilter(filters.FilterSet):
    """Items that are control items or not, of one argument or one comparison."""

    is_control = TrueFalseFilter(field_name="control_label", lookup_expr="isnull", exclude=True)
    argument = filters.UUIDFilter(field_name="argument__public_id")
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")
