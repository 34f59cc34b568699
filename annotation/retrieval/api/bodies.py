"""What the interface shows of corpora, the CAM service, and what is taken from them."""

from rest_framework import serializers

from annotation.corpus.models.questions import Argument, Comparison
from annotation.retrieval.models import ArgumentOrigin, CamRequest, Corpus
from cqa_site.api.serializers import ReadSerializer, public_id


class CorpusSerializer(ReadSerializer):
    """One file of sentences: what a look at it found, and whether it was loaded."""

    job = public_id("job", allow_null=True, default=None)
    options = serializers.DictField(read_only=True)
    found = serializers.DictField(read_only=True)

    class Meta:
        model = Corpus
        fields = [
            "id",
            "name",
            "file_name",
            "sha256",
            "size",
            "options",
            "state",
            "found",
            "refusal",
            "sentence_count",
            "job",
            "created_at",
        ]


class CorpusHitSerializer(serializers.Serializer):
    """A sentence of a corpus that names both objects; ``key`` is what it is taken by."""

    key = serializers.CharField()
    text = serializers.CharField()
    source_url = serializers.CharField(source="address")
    is_comparative = serializers.BooleanField()
    corpus = serializers.UUIDField(source="corpus.public_id")
    is_known = serializers.BooleanField(help_text="Whether it is an argument already.")


class CamServiceSerializer(serializers.Serializer):
    """Where the study's CAM service is; empty if it has none."""

    address = serializers.CharField(allow_blank=True)


class CamRequestSerializer(ReadSerializer):
    """One request to the CAM service; it failed if its job did."""

    comparison = public_id("comparison")
    job = public_id("job", allow_null=True, default=None)
    aspects = serializers.ListField(child=serializers.CharField(), read_only=True)
    is_answered = serializers.SerializerMethodField()

    class Meta:
        model = CamRequest
        fields = [
            "id",
            "comparison",
            "address",
            "aspects",
            "weight",
            "most",
            "is_answered",
            "job",
            "created_at",
        ]

    def get_is_answered(self, row: CamRequest) -> bool:
        """Whether the sentences are there."""
        return row.found is not None


class CamSentenceSerializer(serializers.Serializer):
    """One sentence of an answer; ``favours`` is 1 or 2, the object it speaks for."""

    text = serializers.CharField()
    address = serializers.CharField(allow_blank=True)
    document = serializers.CharField(allow_blank=True)
    score = serializers.FloatField(allow_null=True)
    favours = serializers.IntegerField()


class CamRequestDetailSerializer(CamRequestSerializer):
    """One request with its sentences, best first; they are taken by their place from 1."""

    found = CamSentenceSerializer(many=True, read_only=True, allow_null=True)

    class Meta:
        model = CamRequest
        fields = [*CamRequestSerializer.Meta.fields, "found"]


class TakenSerializer(serializers.Serializer):
    """How many sentences became arguments, and how many had been there before."""

    new = serializers.IntegerField()
    same = serializers.IntegerField()


class ComparisonSerializer(ReadSerializer):
    """Two objects in the order given."""

    class Meta:
        model = Comparison
        fields = ["id", "object1", "object2", "created_at"]


class OriginSerializer(serializers.ModelSerializer):
    """How an argument was found; ``favours`` is the object a CAM service puts it under."""

    class Meta:
        model = ArgumentOrigin
        fields = ["kind", "source", "favours", "score", "added_at"]
        read_only_fields = fields


class ArgumentSerializer(ReadSerializer):
    """One sentence of a comparison."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1", read_only=True)
    object2 = serializers.CharField(source="comparison.object2", read_only=True)
    origin = OriginSerializer(read_only=True, allow_null=True, default=None)

    class Meta:
        model = Argument
        fields = [
            "id",
            "comparison",
            "object1",
            "object2",
            "text",
            "source_url",
            "external_id",
            "origin",
            "created_at",
        ]
