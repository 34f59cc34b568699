"""Scorers of a study, as shown on their pages."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from argsum.scorers.models import Scorer
from cqa_site.people.models import Study
from cqa_site.web.charts import points
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData

SPLITS = ("train", "dev", "test")
WEIGHTS = {"last": "last weights", "average": "their average"}


def scorers_of(study: Study) -> QuerySet[Scorer]:
    """Return scorers, ordered by task and name, with the data for table rows but without cards."""
    rows = study.scorers.select_related("job", "trained_on", "created_by")
    return rows.defer("card", "recipe")


def shown_state(scorer: Scorer) -> str:
    """Return the state; a training run whose job ended without a report counts as failed."""
    if scorer.state == Scorer.State.TRAINING and scorer.job and not scorer.job.is_active:
        return Scorer.State.FAILED
    return scorer.state


def split_rows(scorer: Scorer) -> list[tuple[str, dict[str, Any]]]:
    """Return figures by split, in the order train, dev, test."""
    return [(split, scorer.figures[split]) for split in SPLITS if split in scorer.figures]


def curve_rows(scorer: Scorer) -> list[dict[str, Any]]:
    """Return the dev checks: step, weights and figures."""
    chosen = scorer.figures.get("chosen_looks", ())
    return [
        {
            "step": look["step"],
            "weights": WEIGHTS.get(look["weights"], look["weights"]),
            "precision": look["value"],
            "excluding": look.get("excluding"),
            "including": look.get("including"),
            "accuracy": look.get("accuracy"),
            "is_chosen": place in chosen,
        }
        for place, look in enumerate(scorer.figures.get("looks", ()))
    ]


def curve_spec(rows: Sequence[dict[str, Any]], size: str) -> Spec:
    """Return a chart of the average precision of dev pairs during training."""
    drawn = [
        {**row, "low": None, "high": None, "label": _("chosen") if row["is_chosen"] else ""}
        for row in rows
    ]
    return points.points(
        drawn,
        x="step",
        y="precision",
        series="weights",
        text="label",
        titles=(_("Batches"), _("Average precision on dev")),
        size=size,
    )


def curve_table(scorer: Scorer) -> TableData:
    columns = {
        "step": "step",
        "weights": "weights",
        "precision": "average precision",
        "excluding": "ARI excluding noise (oracle)",
        "including": "ARI including noise (oracle)",
        "accuracy": "best key point right",
        "is_chosen": "is chosen",
    }
    return TableData(
        name="training-curve",
        columns=list(columns.values()),
        rows=[tuple(row[name] for name in columns) for row in curve_rows(scorer)],
        caption=f"{scorer}: checks on the dev split",
        note=(
            "The weights were chosen by average precision. ARI: best threshold for each cell, "
            "chosen by the index itself."
        ),
    )
