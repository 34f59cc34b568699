"""What the interface takes about questions, systems and answers."""

from rest_framework import serializers

from annotation.answers.models.answers import System
from cqa_site.api.inputs import Input

MOST_QUESTIONS = 10_000


class QuestionInput(Input):
    """A comparison of the study, with an optional aspect and an optional own wording."""

    comparison = serializers.UUIDField()
    aspect = serializers.CharField(max_length=300, allow_blank=True, default="")
    wording = serializers.CharField(max_length=500, allow_blank=True, default="")


class SystemInput(Input):
    """What a system is called, and what it is; what is left out stays."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(System.Kind.choices)


class LearnedInput(Input):
    """Questions that a system's model was trained on, by id; ``source`` says from where."""

    questions = serializers.ListField(child=serializers.UUIDField(), max_length=MOST_QUESTIONS)
    source = serializers.CharField(max_length=200, allow_blank=True, default="")
