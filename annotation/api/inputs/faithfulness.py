"""Bodies about faithfulness."""

from django.conf import settings
from rest_framework import serializers

from cqa_site.api.inputs import Input


class FiguresInput(Input):
    """The sentence-embedding model; empty makes no similarities. Left out, the study's choice."""

    embedding = serializers.ChoiceField(
        [*settings.EMBEDDING_MODELS], allow_blank=True, required=False
    )
