"""People's judgements of summary sets: marks, and the counts that follow from them."""

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from .summaries import SummarySet


class CountingRound(models.Model):
    """Summary sets given to people; each set to ``raters`` of them."""

    class State(models.TextChoices):
        """draft → open ⇄ closed."""

        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="counting_rounds")
    name = models.CharField(_("name"), max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    instructions = models.TextField(_("instructions"), blank=True)
    seed = models.PositiveIntegerField(_("seed"), default=1)
    raters = models.PositiveSmallIntegerField(
        _("people who judge each set"),
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
    )
    repeat_share = models.FloatField(
        _("share of own sets that come a second time"),
        default=0.0,
        validators=[MinValueValidator(0), MaxValueValidator(0.5)],
    )
    lease_minutes = models.PositiveSmallIntegerField(
        _("minutes a set stays reserved"),
        default=120,
        validators=[MinValueValidator(5), MaxValueValidator(1440)],
    )
    # What the sets were chosen by, and how many matched.
    recipe = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="counting_round_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class CountingItem(models.Model):
    """One set of a round."""

    counting_round = models.ForeignKey(
        CountingRound, models.CASCADE, related_name="items", db_index=False
    )
    summary_set = models.ForeignKey(SummarySet, models.PROTECT, related_name="counting_items")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["counting_round", "summary_set"], name="counting_item_once"
            ),
            models.UniqueConstraint(
                fields=["counting_round", "position"], name="counting_item_position_once"
            ),
        ]


class CountingSlot(models.Model):
    """One of the sheets that a set asks for; a counted sheet of a round holds exactly one."""

    class State(models.TextChoices):
        """open → leased → done; a lease that ran out counts as open."""

        OPEN = "open", _("Open")
        LEASED = "leased", _("Leased")
        DONE = "done", _("Done")

    counting_round = models.ForeignKey(CountingRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(CountingItem, models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="counting_slot_once"),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False)
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="counting_slot_lease_while_leased",
            ),
        ]
        indexes = [models.Index(fields=["counting_round", "state", "item"])]


class CountingPlace(models.Model):
    """How one rater stands in a round: excluded or not, and how many sheets were served."""

    counting_round = models.ForeignKey(
        CountingRound, models.CASCADE, related_name="places", db_index=False
    )
    rater = models.ForeignKey("annotation.Rater", models.CASCADE, related_name="counting_places")
    excluded_at = models.DateTimeField(null=True)
    exclusion_reason = models.CharField(max_length=300, blank=True)
    served = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["counting_round", "rater"], name="counting_place_once")
        ]


class CountSheet(models.Model):
    """One rater's judgement of one set.

    ``marks`` is what the rater marked: ``{"references": {"0": {"level": "full" | "part" | "none"
    | "", "by": [0, 2]}, …}, "groups": [[0, 3], [1], …], "partly": [2, …], "empty": [4, …]}`` with
    positions of references and summaries; ``partly`` lists summaries whose group partly repeats
    another, ``empty`` those that say nothing. The counts follow from them by the server
    (`argsum.methods.count_marks`) or were typed directly.
    A count of None beside ``…_unsure`` is the rater's -1: it enters no statistic.
    """

    class State(models.TextChoices):
        """open → submitted; void does not count."""

        OPEN = "open", _("Begun")
        SUBMITTED = "submitted", _("Submitted")
        VOID = "void", _("Does not count")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="count_sheets", db_index=False
    )
    summary_set = models.ForeignKey(SummarySet, models.PROTECT, related_name="count_sheets")
    rater = models.ForeignKey("annotation.Rater", models.PROTECT, related_name="count_sheets")
    # Where it comes from: a round, or a file with a position.
    counting_round = models.ForeignKey(
        CountingRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # 0 for the first judgement; more for a blind repeat.
    replicate = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    marks = models.JSONField(default=dict)
    covered = models.FloatField(null=True)
    covered_is_typed = models.BooleanField(default=False)
    covered_is_unsure = models.BooleanField(default=False)
    unique = models.FloatField(null=True)
    unique_is_typed = models.BooleanField(default=False)
    unique_is_unsure = models.BooleanField(default=False)
    # Of the set when the sheet was made, so that the database itself can guard the counts.
    references = models.PositiveSmallIntegerField()
    summaries = models.PositiveSmallIntegerField()
    # Shares, 0–1; imported ones may be all that is known.
    coverage = models.FloatField(null=True)
    redundancy = models.FloatField(null=True)
    comment = models.TextField(blank=True)
    # Submitted after its slot went to somebody else, or by somebody excluded: kept, not counted.
    is_extra = models.BooleanField(default=False)
    slot = models.OneToOneField(CountingSlot, models.PROTECT, null=True, related_name="sheet")
    # Place in the rater's own order of a round, from 1.
    place = models.PositiveIntegerField(default=0)
    # What stands on the form and is not submitted; None where nothing differs.
    draft = models.JSONField(null=True)
    version = models.PositiveIntegerField(default=0)
    # See `benchmark.models.ScoreSheet`: which page saved last, and from which version on.
    client = models.CharField(max_length=36, blank=True)
    sequence = models.PositiveIntegerField(default=0)
    since = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(default=0)
    served_at = models.DateTimeField(null=True)
    saved_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["counting_round", "rater", "summary_set", "replicate"],
                name="count_sheet_once_per_round",
            ),
            models.UniqueConstraint(
                fields=["study", "source", "position", "rater"],
                condition=~Q(source=""),
                name="count_sheet_imported_once",
            ),
            models.CheckConstraint(
                condition=Q(counting_round__isnull=False, source="")
                | (Q(counting_round__isnull=True) & ~Q(source="")),
                name="count_sheet_has_one_origin",
            ),
            models.CheckConstraint(
                condition=Q(covered__isnull=True)
                | Q(covered__gte=0, covered__lte=F("references")),
                name="count_sheet_covered_range",
            ),
            models.CheckConstraint(
                condition=Q(unique__isnull=True) | Q(unique__gte=0, unique__lte=F("summaries")),
                name="count_sheet_unique_range",
            ),
            models.CheckConstraint(
                condition=Q(coverage__isnull=True) | Q(coverage__gte=0, coverage__lte=1),
                name="count_sheet_coverage_range",
            ),
            models.CheckConstraint(
                condition=Q(redundancy__isnull=True) | Q(redundancy__gte=0, redundancy__lte=1),
                name="count_sheet_redundancy_range",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state", "rater"]),
            models.Index(fields=["counting_round", "state", "id"]),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class CountEvent(models.Model):
    """One submission; rows are only added, so a changed mind stays visible."""

    sheet = models.ForeignKey(CountSheet, models.CASCADE, related_name="events")
    # Given by the page, so that a request sent twice makes one event.
    client_key = models.CharField(max_length=64)
    content = models.JSONField(default=dict)
    covered = models.FloatField(null=True)
    unique = models.FloatField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "client_key"], name="count_event_key_once")
        ]


class KeptCount(models.Model):
    """A draft that met a newer one: kept, because nothing anybody typed is lost."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    sheet = models.ForeignKey(CountSheet, models.CASCADE, related_name="kept")
    base_version = models.PositiveIntegerField()
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
