"""Which query parameters the lists of files that go out know; all others are refused."""

from django_filters import rest_framework as filters

from annotation.exports.models import ExportFile


class ExportFilter(filters.FilterSet):
    """Exports by what is in them."""

    content = filters.ChoiceFilter(choices=ExportFile.Content.choices)
    snapshot = filters.UUIDFilter(field_name="snapshot__public_id")
