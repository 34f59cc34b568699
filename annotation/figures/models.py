"""Numbered snapshots of a campaign."""

from django.db import models

from cqa_site.results import models as results


class Snapshot(results.Snapshot):
    """Figures of a campaign with its votes; reports/snapshots.py describes the rows."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="snapshots")

    class Meta(results.Snapshot.Meta):
        constraints = results.once("snapshot", owner="campaign", subject=("campaign",))
