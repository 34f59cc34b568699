"""Questions, systems, answers."""

from rest_framework import serializers

from annotation.models import Answer, Question, System

from .base import ReadSerializer, public_id


class QuestionSerializer(ReadSerializer):
    """A comparison with an optional aspect and wording; ``text`` is the question in full."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1", read_only=True)
    object2 = serializers.CharField(source="comparison.object2", read_only=True)
    text = serializers.CharField(source="__str__", read_only=True)
    answers = serializers.IntegerField(source="answer_count", read_only=True)

    class Meta:
        model = Question
        fields = [
            "id",
            "comparison",
            "object1",
            "object2",
            "aspect",
            "wording",
            "text",
            "answers",
            "created_at",
        ]


class AddedQuestionsSerializer(serializers.Serializer):
    """How many questions were added."""

    added = serializers.IntegerField()


class SystemSerializer(ReadSerializer):
    """What writes answers; ``model`` is what it is asked for as, where it is a model."""

    answers = serializers.IntegerField(source="answer_count", read_only=True)

    class Meta:
        model = System
        fields = ["id", "name", "kind", "model", "answers", "created_at"]


class AnswerSerializer(ReadSerializer):
    """One text as a system wrote it.

    An imported answer has ``source`` and ``position``, a generated one ``run``, ``call`` and
    ``prompt``. ``scenario`` is 0 where it was written under none of the four prompts.
    """

    question = public_id("question")
    system = public_id("system")
    system_name = serializers.CharField(source="system.name", read_only=True)
    argument_list = public_id("argument_list", allow_null=True, default=None)
    run = public_id("run", allow_null=True, default=None)
    call = public_id("call", allow_null=True, default=None)
    prompt = public_id("prompt", allow_null=True, default=None)

    class Meta:
        model = Answer
        fields = [
            "id",
            "question",
            "system",
            "system_name",
            "scenario",
            "choice",
            "text",
            "text_sha256",
            "argument_list",
            "source",
            "position",
            "run",
            "call",
            "prompt",
            "model",
            "created_at",
        ]


class NumberedArgumentSerializer(serializers.Serializer):
    """An argument under the number by which an answer cites it; ``label`` is its final label."""

    number = serializers.IntegerField()
    argument = serializers.UUIDField(source="public_id")
    text = serializers.CharField()
    label = serializers.IntegerField(allow_null=True)


class AnswerDetailSerializer(AnswerSerializer):
    """One answer with the arguments it may cite."""

    arguments = NumberedArgumentSerializer(many=True, read_only=True)

    class Meta:
        model = Answer
        fields = [*AnswerSerializer.Meta.fields, "arguments"]
