"""Serializers, inputs and filters for corpora, the CAM service and arguments."""

from django_filters import rest_framework as filters
from rest_framework import serializers

from annotation.corpus.models import Argument, Comparison
from annotation.retrieval.actions.arguments import MOST_HITS
from annotation.retrieval.methods.cam import FoundSentence
from annotation.retrieval.models import ArgumentOrigin, CamRequest, Corpus
from cqa_site.api.base import Input, ReadSerializer, body_of, public_id


class CorpusSerializer(ReadSerializer):
    """One file of sentences, with the result of its check and whether it was loaded."""

    job = public_id("job", allow_null=True, default=None)
    options = serializers.DictField()
    found = serializers.DictField()

    class Meta:
        model = Corpus
        fields = [
            "id", "name", "file_name", "sha256", "size", "options", "state", "found", "refusal",
            "sentence_count", "job", "created_at",
        ]  # fmt: skip


class CorpusHitSerializer(serializers.Serializer):
    """A sentence in a corpus that names both objects; use ``key`` to add it."""

    key = serializers.CharField()
    text = serializers.CharField()
    source_url = serializers.CharField(source="address")
    is_comparative = serializers.BooleanField()
    corpus = serializers.UUIDField(source="corpus.public_id")
    is_known = serializers.BooleanField(help_text="Whether it is already an argument.")


class CamServiceSerializer(serializers.Serializer):
    """Address of the study's CAM service; empty if not set."""

    address = serializers.CharField(allow_blank=True)


class CamRequestSerializer(ReadSerializer):
    """One request to the CAM service; the request failed if its job failed."""

    comparison = public_id("comparison")
    job = public_id("job", allow_null=True, default=None)
    aspects = serializers.ListField(child=serializers.CharField())
    is_answered = serializers.SerializerMethodField()

    class Meta:
        model = CamRequest
        fields = [
            "id", "comparison", "address", "aspects", "weight", "most", "is_answered", "job",
            "created_at",
        ]  # fmt: skip

    def get_is_answered(self, row: CamRequest) -> bool:
        """Whether the sentences have arrived."""
        return row.found is not None


class CamRequestDetailSerializer(CamRequestSerializer):
    """One request with its sentences, best first; add them by position from 1."""

    found = body_of(FoundSentence)(many=True, allow_null=True)

    class Meta:
        model = CamRequest
        fields = [*CamRequestSerializer.Meta.fields, "found"]


class TakenSerializer(serializers.Serializer):
    """Number of sentences added as arguments, and number of those already in the study."""

    new = serializers.IntegerField()
    same = serializers.IntegerField()


class ComparisonSerializer(ReadSerializer):
    """Two objects in the given order."""

    class Meta:
        model = Comparison
        fields = ["id", "object1", "object2", "created_at"]


class OriginSerializer(serializers.ModelSerializer):
    """Origin of an argument; ``favours`` is the object under which a CAM service lists it."""

    class Meta:
        model = ArgumentOrigin
        fields = ["kind", "source", "favours", "score", "added_at"]
        read_only_fields = fields


class ArgumentSerializer(ReadSerializer):
    """One sentence of a comparison."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1")
    object2 = serializers.CharField(source="comparison.object2")
    origin = OriginSerializer(allow_null=True, default=None)

    class Meta:
        model = Argument
        fields = [
            "id", "comparison", "object1", "object2", "text", "source_url", "external_id",
            "attributes", "origin", "created_at",
        ]  # fmt: skip


class CorpusInput(Input):
    """A file of sentences and its name; a corpus can be searched after loading."""

    name = serializers.CharField(max_length=120)
    file = serializers.FileField()


class ColumnsInput(Input):
    """Options for reading a file of sentences; omitted columns of a table are guessed."""

    text = serializers.CharField(max_length=200, allow_blank=True, default="")
    url = serializers.CharField(max_length=200, allow_blank=True, default="")
    encoding = serializers.CharField(max_length=40, allow_blank=True, default="")


class ComparisonInput(Input):
    """Two objects in order."""

    object1 = serializers.CharField(max_length=300)
    object2 = serializers.CharField(max_length=300)


class SentencesInput(Input):
    """Sentences in corpora, selected by their ``key`` from a search."""

    keys = serializers.ListField(
        child=serializers.RegexField(r"^[0-9a-f]{64}$"), min_length=1, max_length=MOST_HITS
    )


class PlacesInput(Input):
    """Positions of sentences in a reply, from 1."""

    places = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=9_999),
        min_length=1,
        max_length=MOST_HITS,
    )


class ServiceInput(Input):
    """Address of the CAM service; empty to remove it."""

    address = serializers.CharField(max_length=500, allow_blank=True)


class CamInput(Input):
    """Request to a CAM service about a comparison."""

    comparison = serializers.UUIDField()
    aspects = serializers.ListField(
        child=serializers.CharField(max_length=100), max_length=5, default=list
    )
    weight = serializers.IntegerField(min_value=1, max_value=5, default=3)
    most = serializers.IntegerField(min_value=1, max_value=100, default=10)


class ComparisonFilter(filters.FilterSet):
    object1 = filters.CharFilter(max_length=300)
    object2 = filters.CharFilter(max_length=300)


class ComparisonArgumentFilter(filters.FilterSet):
    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)


class CorpusFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=Corpus.State.choices)


class CamRequestFilter(filters.FilterSet):
    comparison = filters.UUIDFilter(field_name="comparison__public_id")
