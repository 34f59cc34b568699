"""A row about one sentence."""

from rest_framework import serializers

from cqa_site.api.serializers import public_id


class SentenceSerializer(serializers.ModelSerializer):
    """A row about one argument: which one, and what it says."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1", read_only=True)
    object2 = serializers.CharField(source="argument.comparison.object2", read_only=True)
    text = serializers.CharField(source="argument.text", read_only=True)

    class Meta:
        fields = ["argument", "object1", "object2", "text"]
