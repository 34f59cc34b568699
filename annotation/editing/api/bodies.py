"""What the interface shows of editing rounds, their tasks and discussions."""

from rest_framework import serializers

from annotation.editing.forms import RoundForm
from annotation.editing.models import EditingRound, EditingSheet, Revision, RoundComment
from cqa_site.api.serializers import ReadSerializer, public_id
from cqa_site.rounds.api.bodies import RoundSerializer


class EditingRoundSerializer(RoundSerializer):
    """Who edits what, and how far it is; ``found`` answers matched."""

    form = RoundForm
    found = serializers.IntegerField(source="recipe.found", read_only=True)
    other_conditions = serializers.IntegerField(
        source="recipe.other_conditions", default=0, read_only=True
    )

    class Meta:
        model = EditingRound
        fields = [*RoundSerializer.Meta.fields, "found", "other_conditions", "first_closed_at"]


class MadeAnswersSerializer(serializers.Serializer):
    """How many answers of the experts were made now, of how many submitted texts."""

    added = serializers.IntegerField()
    submitted = serializers.IntegerField()


class EditingTaskSerializer(ReadSerializer):
    """One answer on one expert's desk."""

    editor = public_id("rater.user")
    answer = public_id("answer")
    position = serializers.IntegerField(source="place", read_only=True)
    state = serializers.ChoiceField(
        EditingSheet.Progress.choices, source="progress", read_only=True
    )
    draft_version = serializers.IntegerField(source="version", read_only=True)
    draft_saved_at = serializers.DateTimeField(source="saved_at", read_only=True, allow_null=True)
    revisions = serializers.IntegerField(source="revision_count", read_only=True)

    class Meta:
        model = EditingSheet
        fields = [
            "id",
            "editor",
            "answer",
            "is_calibration",
            "position",
            "state",
            "draft_version",
            "draft_saved_at",
            "revisions",
            "active_seconds",
            "submitted_at",
        ]


class EditingTaskDetailSerializer(EditingTaskSerializer):
    """A task with the text as it stands on the desk, submitted or not."""

    text = serializers.CharField(read_only=True)

    class Meta:
        model = EditingSheet
        fields = [*EditingTaskSerializer.Meta.fields, "text"]


class RevisionSerializer(ReadSerializer):
    """A submitted version; ``checks`` says which points of the checklist it passed.

    A point is null where it could not be judged. ``active_seconds`` counts all work on the task
    until then. ``is_after_closing`` marks what was written after the round had first been
    closed, when experts could have seen each other's versions.
    """

    task = public_id("sheet")
    editor = public_id("sheet.rater.user")
    answer = public_id("sheet.answer")
    is_calibration = serializers.BooleanField(source="sheet.is_calibration", read_only=True)
    text = serializers.CharField(read_only=True)
    comment = serializers.CharField(read_only=True)
    created_at = serializers.DateTimeField(source="at", read_only=True)
    reasons = serializers.ListField(
        child=serializers.ChoiceField(Revision.Reason.choices), read_only=True
    )
    checks = serializers.DictField(child=serializers.BooleanField(allow_null=True), read_only=True)
    is_after_closing = serializers.BooleanField(read_only=True)

    class Meta:
        model = Revision
        fields = [
            "id",
            "task",
            "editor",
            "answer",
            "is_calibration",
            "number",
            "text",
            "text_sha256",
            "reasons",
            "comment",
            "checks",
            "active_seconds",
            "is_after_closing",
            "created_at",
        ]


class RoundCommentSerializer(ReadSerializer):
    """A word in the discussion of a calibration answer."""

    answer = public_id("answer")
    author = public_id("author")

    class Meta:
        model = RoundComment
        fields = ["id", "answer", "author", "text", "created_at"]
