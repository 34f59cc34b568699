"""Query parameters of lists of arguments, corpora and CAM requests; others are refused."""

from django_filters import rest_framework as filters

from annotation.retrieval.models import Corpus


class ComparisonFilter(filters.FilterSet):
    """Comparisons by an object exactly as written."""

    object1 = filters.CharFilter(max_length=300)
    object2 = filters.CharFilter(max_length=300)


class ArgumentFilter(filters.FilterSet):
    """Arguments of one comparison, or with words in the sentence."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)


class CorpusFilter(filters.FilterSet):
    """Corpora by state."""

    state = filters.ChoiceFilter(choices=Corpus.State.choices)


class CamRequestFilter(filters.FilterSet):
    """Requests to the CAM service of one comparison."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
