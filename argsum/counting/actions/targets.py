"""Which sets a language model counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from annotation.corpus.methods.seeded_sample import seeded_places
from argsum.counting.models import CountSheet
from argsum.datasets.models import ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from argsum.metrics.actions.making import Choice, scorable_sets
from cqa_site.people.models import Study

LONG = ("arguments", "clusters", "assigned", "scores")


def target_of(
    *,
    dataset: str = "",
    split: str = "",
    systems: Iterable[str] = (),
    choice: str = "all",
    sample: int = 0,
) -> dict[str, Any]:
    """What a run counts, as its spec keeps it.

    Parameters
    ----------
    dataset, split, systems
        Public id and names that narrow the choice; without any, all of them.
    choice
        ``all``, ``judged`` or ``sample``: all sets, those that people judged, or a seeded sample.
    sample
        Size of the sample.
    """
    return {
        "dataset": str(dataset),
        "split": split,
        "systems": sorted(systems),
        "choice": choice,
        "sample": sample,
    }


def counted_sets(study: Study, target: Mapping[str, Any]) -> QuerySet[SummarySet]:
    """The sets that a target names, before a sample is drawn; all can be counted."""
    wanted = Choice(target["dataset"], target["split"], tuple(target["systems"]))
    rows = scorable_sets(study, wanted)
    if target["choice"] == "judged":
        sheets = CountSheet.objects.filter(
            summary_set=OuterRef("pk"), state=CountSheet.State.SUBMITTED
        )
        rows = rows.filter(Exists(sheets))
    return rows.order_by("cell", "system", "setting", "pk")


def keys_of(study: Study, target: Mapping[str, Any], seed: int) -> list[int]:
    """Primary keys of the sets in the order in which they are asked about."""
    keys = list(counted_sets(study, target).values_list("pk", flat=True))
    if target["choice"] != "sample":
        return keys
    return [keys[place] for place in seeded_places(len(keys), target["sample"], seed)]


def with_texts(study: Study, keys: Sequence[int]) -> dict[int, SummarySet]:
    """Sets with everything that a request shows; three queries."""
    rows = study.summary_sets.filter(pk__in=keys).select_related("cell").defer(*LONG)
    summaries = SystemSummary.objects.order_by("position")
    references = ReferenceKeyPoint.objects.order_by("position")
    return {
        row.pk: row
        for row in rows.prefetch_related(
            Prefetch("summaries", summaries), Prefetch("cell__key_points", references)
        )
    }
