"""Which items of a campaign the newest trained judge is least sure of."""

from annotation.judges.models import JudgeLabel
from annotation.labelling.models.campaigns import Campaign


def least_sure_first(campaign: Campaign) -> list[int]:
    """Ordinary items by falling uncertainty; those without a prediction after them, by rank.

    None at all where no judge was trained for the campaign.
    """
    import numpy as np

    from annotation.judges.methods.probabilities import uncertainty

    newest = campaign.trained_judges.order_by("-number").values("pk")[:1]
    predicted = JudgeLabel.objects.filter(trained__in=newest, probabilities__isnull=False)
    rows = list(predicted.values_list("argument", "probabilities"))
    if not rows:
        return []
    doubts = uncertainty(np.array([probabilities for _argument, probabilities in rows]))
    doubt = dict(zip((argument for argument, _p in rows), doubts.tolist(), strict=True))
    ordinary = campaign.items.filter(control_label__isnull=True).order_by("rank")
    items = ordinary.values_list("pk", "argument")
    # Sorting keeps the random order among equals.
    return [pk for pk, argument in sorted(items, key=lambda item: -doubt.get(item[1], -1.0))]
