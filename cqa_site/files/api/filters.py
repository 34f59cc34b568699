"""Which query parameters the lists of files that come in know; all others are refused."""

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from cqa_site.files.formats import known_kinds
from cqa_site.files.models import ImportFile, ImportMatch
from cqa_site.web.rest.strict_filters import TrueFalseFilter


class ImportFilter(filters.FilterSet):
    """Uploaded files by kind, state and the batch they came in."""

    kind = filters.ChoiceFilter(choices=known_kinds())
    state = filters.ChoiceFilter(choices=ImportFile.State.choices)
    batch = filters.UUIDFilter(field_name="batch__public_id")


class ImportBatchFilter(filters.FilterSet):
    """Uploads of many files by kind."""

    kind = filters.ChoiceFilter(choices=known_kinds())


class ProblemFilter(filters.FilterSet):
    """Rows that were rejected, or only flagged."""

    is_rejection = TrueFalseFilter()


class MatchFilter(filters.FilterSet):
    """Near matches by what was said about them; ``is_decided`` finds those that wait."""

    decision = filters.ChoiceFilter(choices=ImportMatch.Decision.choices)
    is_decided = TrueFalseFilter(method="by_decided")

    def by_decided(self, rows: QuerySet, _name: str, value: bool) -> QuerySet:
        """Only those somebody has spoken about, or only the others."""
        return rows.exclude(decision="") if value else rows.filter(decision="")
