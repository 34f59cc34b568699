"""How far two runs over the same campaign agree, and where they differ most."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from annotation.corpus.models.questions import Argument
from annotation.judges.models import JudgeLabel
from cqa_site.runs.models import Run

SHOWN = 20


@dataclass(frozen=True)
class Differing:
    """One sentence with both labels and both rationales."""

    argument: Argument
    labels: tuple[int, int]
    rationales: tuple[str, str]

    @property
    def distance(self) -> int:
        """Levels between the two labels."""
        return abs(self.labels[0] - self.labels[1])


@dataclass(frozen=True)
class Comparison:
    """Two runs on the sentences that both labelled.

    Attributes
    ----------
    estimates
        Exact agreement, ordinal and interval alpha; see `cqa_site.stats.estimate.Estimate`.
    scale, confusion
        Labels of the scale, and counts with the first run in rows.
    differing
        Sentences with different labels, the furthest apart first.
    n_differing
        How many there are.
    """

    n_common: int
    n_first: int
    n_second: int
    estimates: list
    scale: list[int]
    confusion: list[list[int]]
    differing: list[Differing]
    n_differing: int

    @property
    def shares(self) -> list[list[tuple[int, float]]]:
        """Each count with its share of the row, for shading."""
        return [[(n, n / (sum(row) or 1)) for n in row] for row in self.confusion]


def compare_runs(first: Run, second: Run) -> Comparison:
    """Compare two runs of one campaign.

    A sentence asked several times in a run counts with its most frequent label; of equally
    frequent labels the higher one. Unscored answers have no label and are left out.
    """
    from cqa_site.stats.reliability.alpha import krippendorff_alpha
    from cqa_site.stats.reliability.confusion import confusion
    from cqa_site.stats.reliability.percent import percent_agreement

    one, other = _labels(first), _labels(second)
    common = sorted(set(one) & set(other))
    both = _ratings(common, one, other)
    scale = sorted({level["value"] for run in (first, second) for level in _levels(run)})
    table = confusion(
        _series(common, one), _series(common, other), categories=[float(v) for v in scale]
    )
    apart = sorted(
        (pk for pk in common if one[pk] != other[pk]),
        key=lambda pk: (-abs(one[pk] - other[pk]), pk),
    )
    return Comparison(
        n_common=len(common),
        n_first=len(one),
        n_second=len(other),
        estimates=[
            percent_agreement(both),
            krippendorff_alpha(both, "ordinal"),
            krippendorff_alpha(both, "interval"),
        ],
        scale=scale,
        confusion=table.to_numpy(dtype=int).tolist(),
        differing=_differing(first, second, apart[:SHOWN], one, other),
        n_differing=len(apart),
    )


def _levels(run: Run) -> list[dict]:
    return run.spec["target"]["levels"]


def _labels(run: Run) -> dict[int, int]:
    """The label of each argument: its most frequent one, of several the highest."""
    given: dict[int, list[Any]] = defaultdict(list)
    rows = run.judge_labels.filter(label__isnull=False).order_by()
    for argument, label in rows.values_list("argument", "label"):
        given[argument].append(label)
    return {pk: max(labels, key=lambda v: (labels.count(v), v)) for pk, labels in given.items()}


def _series(common: list[int], labels: dict[int, int]):
    import pandas as pd

    return pd.Series([float(labels[pk]) for pk in common], index=common, dtype=float)


def _ratings(common: list[int], one: dict[int, int], other: dict[int, int]):
    import pandas as pd

    from cqa_site.stats.ratings import Ratings

    rows = [(pk, rater, side[pk]) for rater, side in (("1", one), ("2", other)) for pk in common]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


def _differing(
    first: Run, second: Run, ids: list[int], one: dict[int, int], other: dict[int, int]
) -> list[Differing]:
    arguments = Argument.objects.select_related("comparison").in_bulk(ids)
    reasons: dict[tuple[int, int, int | None], str] = {}
    rows = JudgeLabel.objects.filter(run__in=(first, second), argument__in=ids)
    for run, argument, label, text in rows.order_by("-replicate").values_list(
        "run", "argument", "label", "rationale"
    ):
        reasons[run, argument, label] = text
    return [
        Differing(
            arguments[pk],
            (one[pk], other[pk]),
            (reasons[first.pk, pk, one[pk]], reasons[second.pk, pk, other[pk]]),
        )
        for pk in ids
    ]
