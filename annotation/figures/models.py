"""Numbered snapshots of a round."""

from django.db import models

from cqa_site.results import models as results


class Snapshot(results.Snapshot):
    """Figures of a round with the votes behind them; reports/snapshots.py describes the rows."""

    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="snapshots"
    )

    class Meta(results.Snapshot.Meta):
        constraints = results.once("snapshot", owner="label_round", subject=("label_round",))
