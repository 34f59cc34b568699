"""What the API shows: explicit fields, read only, no nesting by depth."""

from rest_framework import serializers

from annotation.models import (
    Adjudication,
    Argument,
    Assignment,
    Campaign,
    Comparison,
    ExportFile,
    FinalLabel,
    Guideline,
    ImportFile,
    ImportProblem,
    Item,
    Rater,
    Snapshot,
)
from cqa_site.people.models import ApiToken, Membership, Study, User
from cqa_site.runs.models import Job


class ReadSerializer(serializers.ModelSerializer):
    """A serializer that never writes; ``id`` is the public id."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        """Mark every field as read only."""
        fields = super().get_fields()
        for field in fields.values():
            field.read_only = True
        return fields


def public_id(source: str, **kwargs) -> serializers.UUIDField:
    """The public id of a related row."""
    return serializers.UUIDField(source=f"{source}.public_id", read_only=True, **kwargs)


class TokenSerializer(ReadSerializer):
    """The token of this very request, without its secret."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "last_four", "created_at", "expires_at"]


class MeSerializer(ReadSerializer):
    """The person behind the token."""

    token = TokenSerializer(read_only=True)

    class Meta:
        model = User
        fields = ["id", "email", "name", "token"]


class StudyNameSerializer(serializers.ModelSerializer):
    """What every member may know of a study."""

    id = public_id("study")
    name = serializers.CharField(source="study.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role"]
        read_only_fields = fields


class StudySerializer(ReadSerializer):
    """A study as its researchers see it."""

    class Meta:
        model = Study
        fields = ["id", "name", "description", "is_demo", "created_at"]


class MemberSerializer(ReadSerializer):
    """One person's role in the study."""

    id = public_id("user")
    name = serializers.CharField(source="user.name", read_only=True)
    email = serializers.EmailField(source="user.email", read_only=True, allow_null=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "email", "role", "is_active", "created_at"]


class ComparisonSerializer(ReadSerializer):
    """Two objects in the order given."""

    class Meta:
        model = Comparison
        fields = ["id", "object1", "object2", "created_at"]


class ArgumentSerializer(ReadSerializer):
    """One sentence of a comparison."""

    comparison = public_id("comparison")
    object1 = serializers.CharField(source="comparison.object1", read_only=True)
    object2 = serializers.CharField(source="comparison.object2", read_only=True)

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
            "created_at",
        ]


class LevelSerializer(serializers.Serializer):
    """One label of the scale."""

    value = serializers.IntegerField(min_value=0, max_value=9)
    name = serializers.CharField(max_length=60)
    meaning = serializers.CharField(max_length=500, allow_blank=True, default="")
    example = serializers.CharField(max_length=500, allow_blank=True, default="")


class GuidelineSerializer(ReadSerializer):
    """One version of the instructions and the label scale."""

    levels = LevelSerializer(many=True, read_only=True)

    class Meta:
        model = Guideline
        fields = ["id", "number", "title", "body", "levels", "frozen_at", "created_at"]


class CampaignSerializer(ReadSerializer):
    """One round of labelling with all its settings."""

    guideline = public_id("guideline")

    class Meta:
        model = Campaign
        fields = [
            "id",
            "name",
            "origin",
            "state",
            "guideline",
            "votes_per_item",
            "block_size",
            "controls_per_block",
            "min_control_accuracy",
            "low_accuracy",
            "share_cap",
            "expected_seconds",
            "lease_minutes",
            "seed",
            "aggregator",
            "created_at",
            "opened_at",
            "closed_at",
        ]


class SentenceSerializer(serializers.ModelSerializer):
    """A row about one argument: which one, and what it says."""

    argument = public_id("argument")
    object1 = serializers.CharField(source="argument.comparison.object1", read_only=True)
    object2 = serializers.CharField(source="argument.comparison.object2", read_only=True)
    text = serializers.CharField(source="argument.text", read_only=True)

    class Meta:
        fields = ["argument", "object1", "object2", "text"]


class ItemSerializer(SentenceSerializer):
    """An argument in a campaign; ``control_label`` makes it a control item."""

    item_id = serializers.CharField(source="external_id", read_only=True)

    class Meta:
        model = Item
        fields = [
            "item_id",
            *SentenceSerializer.Meta.fields,
            "rank",
            "control_label",
            "is_retired",
        ]
        read_only_fields = fields


class VoteSerializer(ReadSerializer):
    """One item served to one rater, and the answer."""

    item_id = serializers.CharField(source="item.external_id", read_only=True)
    argument = public_id("item.argument")
    control_label = serializers.IntegerField(
        source="item.control_label", read_only=True, allow_null=True
    )
    rater = public_id("rater")
    is_counted = serializers.BooleanField(read_only=True)

    class Meta:
        model = Assignment
        fields = [
            "id",
            "item_id",
            "argument",
            "control_label",
            "rater",
            "state",
            "label",
            "is_counted",
            "is_extra",
            "skip_reason",
            "is_flagged",
            "comment",
            "block",
            "position",
            "answered_at",
            "active_ms",
        ]


class RaterSerializer(ReadSerializer):
    """A rater in one campaign, under a pseudonym."""

    pseudonym = serializers.CharField(read_only=True)
    votes = serializers.IntegerField(read_only=True)
    control_votes = serializers.IntegerField(read_only=True)
    control_correct = serializers.IntegerField(read_only=True)
    is_excluded = serializers.BooleanField(read_only=True)
    exclusion_reason = serializers.CharField(read_only=True)

    class Meta:
        model = Rater
        fields = [
            "id",
            "pseudonym",
            "kind",
            "votes",
            "control_votes",
            "control_correct",
            "is_excluded",
            "exclusion_reason",
        ]


class FinalLabelSerializer(SentenceSerializer):
    """The label of one argument and where it came from."""

    class Meta:
        model = FinalLabel
        fields = [
            *SentenceSerializer.Meta.fields,
            "label",
            "provenance",
            "majority_label",
            "dawid_skene_label",
            "mace_label",
            "expert_label",
            "adjudicated_label",
            "votes",
            "pattern",
            "is_tied",
            "spread",
            "methods_differ",
        ]
        read_only_fields = fields


class AdjudicationSerializer(SentenceSerializer):
    """An expert's word on one argument; superseded ones stay."""

    rater = public_id("rater")

    class Meta:
        model = Adjudication
        fields = [
            *SentenceSerializer.Meta.fields,
            "rater",
            "label",
            "comment",
            "source",
            "created_at",
            "superseded_at",
        ]
        read_only_fields = fields


class SnapshotSerializer(ReadSerializer):
    """A numbered set of figures; see its own address for the figures."""

    is_frozen = serializers.BooleanField(read_only=True)
    recipe = serializers.DictField(read_only=True)

    class Meta:
        model = Snapshot
        fields = [
            "id",
            "number",
            "is_frozen",
            "sha256",
            "recipe",
            "computed_at",
            "note",
            "frozen_at",
        ]


class SnapshotDetailSerializer(SnapshotSerializer):
    """A numbered set of figures."""

    figures = serializers.DictField(read_only=True)

    class Meta:
        model = Snapshot
        fields = [*SnapshotSerializer.Meta.fields, "figures"]


class ExportSerializer(ReadSerializer):
    """One file made from a snapshot; it can be fetched once ``finished_at`` is set."""

    snapshot = public_id("snapshot")
    job = public_id("job", allow_null=True, default=None)

    class Meta:
        model = ExportFile
        fields = [
            "id",
            "snapshot",
            "content",
            "format",
            "rows",
            "size",
            "sha256",
            "job",
            "created_at",
            "finished_at",
        ]


class ImportSerializer(ReadSerializer):
    """One uploaded file: what a look at it found, and whether it was imported."""

    campaign = public_id("campaign", allow_null=True, default=None)
    job = public_id("job", allow_null=True, default=None)
    options = serializers.DictField(read_only=True)
    counts = serializers.DictField(read_only=True)
    notes = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = ImportFile
        fields = [
            "id",
            "kind",
            "name",
            "sha256",
            "size",
            "options",
            "state",
            "counts",
            "notes",
            "refusal",
            "campaign",
            "job",
            "created_at",
            "applied_at",
        ]


class ImportProblemSerializer(serializers.ModelSerializer):
    """One row of an uploaded file that was rejected or flagged."""

    class Meta:
        model = ImportProblem
        fields = ["row", "column", "reason", "is_rejection"]
        read_only_fields = fields


class JobSerializer(ReadSerializer):
    """One piece of background work."""

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "state",
            "done",
            "total",
            "note",
            "error",
            "created_at",
            "finished_at",
        ]
