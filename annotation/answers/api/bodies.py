"""What the interface shows of questions, systems and answers."""

from rest_framework import serializers

from annotation.answers.models.answers import Answer, System
from annotation.answers.models.conditions import Condition
from annotation.corpus.models.questions import Question
from cqa_site.api.serializers import ReadSerializer, public_id


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
    learned = serializers.IntegerField(
        source="learned_count",
        read_only=True,
        help_text="Pairs of objects that its model was trained on; they never test it.",
    )

    class Meta:
        model = System
        fields = ["id", "name", "kind", "model", "answers", "learned", "created_at"]


class ConditionSerializer(ReadSerializer):
    """What answers were written under beside their system; ``is_plain`` without deviations.

    An imported one knows the scenario alone: filters, wording and decoding are empty.
    """

    prompt = public_id("prompt", allow_null=True, default=None)
    answers = serializers.IntegerField(source="answer_count", read_only=True)

    class Meta:
        model = Condition
        fields = [
            "id",
            "name",
            "scenario",
            "prompt",
            "filters",
            "wording",
            "decoding",
            "is_plain",
            "sha256",
            "answers",
            "created_at",
        ]


class AnswerSerializer(ReadSerializer):
    """One text as a system wrote it.

    An imported answer has ``source`` and ``position``, a generated one ``run``, ``call`` and
    ``prompt``, one by the study's experts ``revision`` and ``edited_from``, an
    answer. ``scenario`` is 0 where it was written under none of the four prompts.
    """

    question = public_id("question")
    system = public_id("system")
    system_name = serializers.CharField(source="system.name", read_only=True)
    condition = public_id("condition")
    condition_name = serializers.CharField(source="condition.name", read_only=True)
    revision = public_id("revision", allow_null=True, default=None)
    edited_from = serializers.UUIDField(
        source="revision.sheet.answer.public_id", read_only=True, allow_null=True, default=None
    )
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
            "condition",
            "condition_name",
            "choice",
            "text",
            "text_sha256",
            "argument_list",
            "source",
            "position",
            "run",
            "call",
            "prompt",
            "revision",
            "edited_from",
            "model",
            "created_at",
        ]


class NumberedArgumentSerializer(serializers.Serializer):
    """An argument under the number by which an answer cites it; ``label`` is its final label."""

    number = serializers.IntegerField()
    argument = serializers.UUIDField(source="public_id")
    text = serializers.CharField()
    label = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]  # a field of this name


class AnswerDetailSerializer(AnswerSerializer):
    """One answer with the arguments it may cite."""

    arguments = NumberedArgumentSerializer(many=True, read_only=True)

    class Meta:
        model = Answer
        fields = [*AnswerSerializer.Meta.fields, "arguments"]
