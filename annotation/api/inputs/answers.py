"""Bodies about questions and systems."""

from rest_framework import serializers

from annotation.models import System

from .base import Input


class QuestionInput(Input):
    """A comparison of the study, with an optional aspect and an optional own wording."""

    comparison = serializers.UUIDField()
    aspect = serializers.CharField(max_length=300, allow_blank=True, default="")
    wording = serializers.CharField(max_length=500, allow_blank=True, default="")


class SystemInput(Input):
    """What a system is called, and what it is; what is left out stays."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(System.Kind.choices)
