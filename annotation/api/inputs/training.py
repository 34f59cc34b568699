"""Bodies about the trained judge."""

from rest_framework import serializers

from cqa_site.api.inputs import Input


class TrainingInput(Input):
    """Whose final labels it learns from; by default those of the campaign itself."""

    source = serializers.UUIDField(required=False)
