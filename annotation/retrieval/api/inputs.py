"""What the interface takes about corpora, the CAM service, and what is taken from them."""

from rest_framework import serializers

from annotation.retrieval.actions.search import MOST
from cqa_site.api.inputs import Input


class CorpusInput(Input):
    """A file of sentences and what to call it; nothing can be searched before it is loaded."""

    name = serializers.CharField(max_length=120)
    file = serializers.FileField()


class ColumnsInput(Input):
    """How to read a file of sentences; columns of a table that are left out are guessed."""

    text = serializers.CharField(max_length=200, allow_blank=True, default="")
    url = serializers.CharField(max_length=200, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")


class ComparisonInput(Input):
    """Two objects in their order."""

    object1 = serializers.CharField(max_length=300)
    object2 = serializers.CharField(max_length=300)


class SentencesInput(Input):
    """Sentences of corpora, by the ``key`` a search gave them."""

    keys = serializers.ListField(
        child=serializers.RegexField(r"^[0-9a-f]{64}$"), min_length=1, max_length=MOST
    )


class PlacesInput(Input):
    """Sentences of an answer, by their places in it, from 1."""

    places = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=9_999),
        min_length=1,
        max_length=MOST,
    )


class ServiceInput(Input):
    """Where the CAM service is; empty for none."""

    address = serializers.CharField(max_length=500, allow_blank=True)


class CamInput(Input):
    """What to ask a CAM service about a comparison."""

    comparison = serializers.UUIDField()
    aspects = serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=5, default=list
    )
    weight = serializers.IntegerField(min_value=1, max_value=5, default=3)
    most = serializers.IntegerField(min_value=1, max_value=100, default=10)
