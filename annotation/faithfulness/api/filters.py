"""Which query parameters the lists of faithfulness of answers know; all others are refused."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from annotation.answers.models.answers import Answer
from annotation.faithfulness.models import FaithfulnessFigures
from annotation.faithfulness.reports import rows as faithfulness_rows
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class LabelSetFilter(filters.CharFilter):
    """The id of a round, or "newest"; the view refuses any other text."""


class FiguresFilter(filters.FilterSet):
    """Figures of texts by mode, system and scenario, of answers as written or edited.

    The values are only judged here: which texts there are depends on several of them together.
    """

    mode = filters.ChoiceFilter(choices=FaithfulnessFigures.Mode.choices, method="applied")
    texts = filters.ChoiceFilter(
        choices=[("answers", "as written"), ("edited", "by experts")], method="applied"
    )
    system = filters.UUIDFilter(method="applied")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices, method="applied")
    condition = filters.UUIDFilter(method="applied")
    problem = filters.ChoiceFilter(
        choices=[(name, name) for name in faithfulness_rows.PROBLEMS], method="applied"
    )
    sort = filters.ChoiceFilter(
        choices=[(sign + name, name) for name in faithfulness_rows.SORTED for sign in ("", "-")],
        method="applied",
    )
    run = filters.UUIDFilter(method="applied")
    labels = LabelSetFilter(method="applied")

    def applied(self, figures: QuerySet, name: str, value: Any) -> QuerySet:
        """The view's rows are chosen by these values already."""
        return figures


class VerdictFilter(filters.FilterSet):
    """Verdicts by answer, condition, cited number, what was said, reason and replicate."""

    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    number = filters.NumberFilter(min_value=0, max_value=9_999, decimal_places=0)
    is_coherent = TrueFalseFilter()
    is_unscored = TrueFalseFilter(field_name="is_coherent", lookup_expr="isnull")
    is_edited = TrueFalseFilter(field_name="revision", lookup_expr="isnull", exclude=True)
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)
