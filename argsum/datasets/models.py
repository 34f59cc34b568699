"""Debate arguments on topics and stances, and their reference key points."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


class Dataset(models.Model):
    """Arguments imported together; they cannot change once a run has read them.

    ``recipe`` contains the preprocessing steps and the number of arguments left after each step,
    by split: ``{"steps": [...], "counts": {split: {step: number}}}``. ``again`` contains the
    primary keys of arguments whose match is repeated in another row. ``half`` contains the
    selected half and its seed if the half is one of the steps.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="argument_datasets")
    name = models.CharField(_("name"), max_length=120)
    source = models.CharField(max_length=500, blank=True)
    recipe = models.JSONField(default=dict)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="argument_dataset_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class Cell(models.Model):
    """One topic and stance of a dataset; summaries and evaluations are per cell."""

    class Stance(models.IntegerChoices):
        OPPOSING = -1, _("Opposing")
        NONE = 0, _("No stance")
        SUPPORTING = 1, _("Supporting")

    class Split(models.TextChoices):
        NONE = "", _("No split")
        TRAIN = "train", _("Train")
        DEV = "dev", _("Dev")
        TEST = "test", _("Test")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="cells", db_index=False)
    topic = models.CharField(_("topic"), max_length=500)
    stance = models.SmallIntegerField(_("stance"), choices=Stance)
    split = models.CharField(_("split"), max_length=5, choices=Split, blank=True, default="")
    position = models.PositiveIntegerField()
    # Position of the last comment compared with the others; see `NearDuplicate`.
    compared_until = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "topic", "stance"], name="cell_once"),
            models.UniqueConstraint(fields=["dataset", "position"], name="cell_position_once"),
        ]
        indexes = [models.Index(fields=["dataset", "split", "position"])]

    def __str__(self) -> str:
        return f"{self.topic} ({self.get_stance_display()})"


class CellArgument(models.Model):
    """One debate argument; ``left_out`` names the preprocessing step that excluded it."""

    class LeftOut(models.TextChoices):
        NOTHING = "", _("Kept")
        NO_KEY_POINT = "no_key_point", _("Matches no key point")
        KEY_POINTS = "key_points", _("Matches several key points")
        ROWS = "rows", _("Matched in no row, or in several")
        SENTENCES = "sentences", _("Not exactly one sentence")
        PUBLISHED = "published", _("Not one sentence as published")
        OTHER_HALF = "other_half", _("In the other half")
        NOTHING_SAID = "nothing_said", _("Says nothing")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cell = models.ForeignKey(Cell, models.CASCADE, related_name="arguments", db_index=False)
    position = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    # The id from the file.
    name = models.CharField(max_length=120, blank=True)
    # 0–1, from the file; None if the file has no such column.
    quality = models.FloatField(null=True)
    left_out = models.CharField(max_length=12, choices=LeftOut, blank=True, default="")

    class Meta:
        ordering = ["cell", "position"]
        constraints = [
            models.UniqueConstraint(fields=["cell", "position"], name="cell_argument_position"),
            models.UniqueConstraint(fields=["cell", "sha256"], name="cell_argument_once"),
        ]
        indexes = [models.Index(fields=["cell", "left_out", "position"])]

    def __str__(self) -> str:
        return self.text[:80]


class ReferenceKeyPoint(models.Model):
    """A reference summary of a cell, written by people."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cell = models.ForeignKey(Cell, models.CASCADE, related_name="key_points", db_index=False)
    position = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    name = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["cell", "position"]
        constraints = [
            models.UniqueConstraint(fields=["cell", "position"], name="key_point_position"),
            models.UniqueConstraint(fields=["cell", "sha256"], name="key_point_once"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class KeyPointMatch(models.Model):
    """Label of an argument and a reference key point; an undecided pair has no row."""

    argument = models.ForeignKey(
        CellArgument, models.CASCADE, related_name="matches", db_index=False
    )
    key_point = models.ForeignKey(ReferenceKeyPoint, models.CASCADE, related_name="matches")
    is_match = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["argument", "key_point"], name="key_point_match_once")
        ]


class Comment(models.Model):
    """A comment as written; its sentences are the arguments to summarize.

    ``key`` identifies a comment in a file, so that the file can be imported again. It is a hash of
    the comment's id or, if it has none, of its text, its attributes and its number among identical
    comments.
    ``attributes`` contains the other columns: ``{column: text}``.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cell = models.ForeignKey(Cell, models.CASCADE, related_name="comments", db_index=False)
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=64)
    text = models.TextField()
    # The id from the file.
    name = models.CharField(max_length=120, blank=True)
    attributes = models.JSONField(default=dict)
    written_on = models.DateField(null=True)
    # The file that contained the comment.
    source = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["cell", "position"]
        constraints = [
            models.UniqueConstraint(fields=["cell", "position"], name="comment_position_once"),
            models.UniqueConstraint(fields=["cell", "key"], name="comment_once"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class CommentStatement(models.Model):
    """One sentence of a comment; identical sentences in several comments share one argument."""

    comment = models.ForeignKey(Comment, models.CASCADE, related_name="statements", db_index=False)
    argument = models.ForeignKey(CellArgument, models.CASCADE, related_name="said_in")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["comment", "position"]
        constraints = [
            models.UniqueConstraint(fields=["comment", "position"], name="statement_position_once")
        ]


class NearDuplicateGroup(models.Model):
    """Comments with almost the same text, such as form letters; they count as one voice.

    All of them resemble ``centre``. If a person undoes a group, its row stays, so that later
    copies do not form a new group.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    cell = models.ForeignKey(Cell, models.CASCADE, related_name="duplicate_groups")
    centre = models.OneToOneField(Comment, models.CASCADE, related_name="+")
    is_undone = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["cell", "pk"]

    def __str__(self) -> str:
        return str(self.centre)


class NearDuplicate(models.Model):
    """A comment in a group; ``is_out`` is true if a person removed it or undid the group.

    ``shared`` is its similarity to the centre, 0–1; see `methods.near_duplicates`.
    """

    comment = models.OneToOneField(Comment, models.CASCADE, related_name="duplicate")
    group = models.ForeignKey(NearDuplicateGroup, models.CASCADE, related_name="members")
    shared = models.FloatField()
    is_out = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.comment)
