"""The figures about judges as tables, and two runs compared."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.corpus.models import Argument
from annotation.judges.models import JudgeLabel
from annotation.labelling.models.campaigns import Campaign
from cqa_site.runs.models import Run
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import TableData

from .results import JudgeFigures, JudgeResults

# The figures about judges as tables: what pages show and what people take away.


Rows = list[list[Any]]
KINDS = {
    "model": gettext_lazy("language model"),
    "classifier": gettext_lazy("trained judge"),
    "imported": gettext_lazy("imported labels"),
}


@dataclass(frozen=True)
class JudgeFigureFile:
    """Title, recipe and content of one figure; ``is_about_one`` if it needs a selected judge."""

    title: Any
    recipe: Any
    build: Callable[[JudgeResults], tuple[list[str], Rows]]
    is_about_one: bool = False


def judge_table(campaign: Campaign, figures: JudgeResults, slug: str, state: str) -> TableData:
    """One figure as a table with its recipe; raises KeyError for an unknown one."""
    entry = TABLES[slug]
    columns, rows = entry.build(figures)
    about = [str(entry.title)]
    if entry.is_about_one and (chosen := figures.named(figures.chosen)):
        about.append(chosen.name)
    if figures.common.is_on:
        about.append(_("arguments that every judge labelled"))
    where = _("Round “%(campaign)s”, state %(state)s.") % {
        "campaign": campaign.name,
        "state": state,
    }
    return TableData(
        columns,
        rows,
        caption=f"{', '.join(about)}. {where}",
        note=str(entry.recipe),
        name=f"judges-{slug}",
    )


def _judges(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [
        _("Judge"),
        _("Kind"),
        _("Prompt version"),
        _("Made (UTC)"),
        _("Arguments with a final label n"),
        _("Labelled"),
        _("Asked"),
        _("Unscored"),
        _("Coverage"),
        _("Exact"),
        *_with_bounds(_("Ordinal alpha with final labels")),
        *_with_bounds(_("Interval alpha with final labels")),
        *_with_bounds(_("Ordinal alpha with people's votes")),
        _("Arguments with votes n"),
        *_with_bounds(_("… minus people's own, same arguments")),
        _("… with two votes n"),
        _("Bias"),
        _("Mean absolute error"),
        _("Cost per 1,000"),
        _("Replicates"),
        _("Ordinal alpha of replicates"),
        _("Remark"),
    ]
    people = figures.people
    among = _bounds(people.agreement)
    blank = [None] * 9
    remark = people.agreement.reason or ""
    first = [_("People among themselves"), _("people"), "", "", None]
    n = people.agreement.n_pairable_items
    rows = [[*first, people.items, *blank, None, *among, n, *[None] * 9, remark]]
    return columns, [*rows, *(_judge_row(row) for row in figures.judges)]


def _with_bounds(name: str) -> list[str]:
    return [name, _("low"), _("high")]


def _judge_row(row: JudgeFigures) -> list[Any]:
    return [
        row.name,
        str(KINDS[row.kind]),
        row.prompt,
        row.at[:16].replace("T", " "),
        row.n,
        row.labelled,
        row.planned,
        row.unscored,
        row.coverage,
        row.exact,
        *_bounds(row.ordinal),
        *_bounds(row.interval),
        *_bounds(row.with_votes),
        row.with_votes.n_pairable_items,
        *_bounds(row.difference),
        row.difference.n_pairable_items,
        row.bias,
        row.error,
        row.per_thousand,
        row.replicates,
        row.consistency.value if row.consistency else None,
        remark(row),
    ]


def remark(row: JudgeFigures) -> str:
    """Return the caveats of a judge's figures, in words."""
    remarks = []
    if row.is_low:
        remarks.append(_("too few of the arguments it was asked about have a label"))
    if row.is_out_of_fold:
        remarks.append(_("every label from a model that saw no argument from the same pair"))
    if row.is_active:
        remarks.append(_("still running"))
    # Why an alpha or its interval is missing, each reason once.
    remarks += dict.fromkeys(estimate.reason for estimate in row.estimates if estimate.reason)
    return "; ".join(remarks)


def _confusion(figures: JudgeResults) -> tuple[list[str], Rows]:
    confusion = figures.confusion
    if confusion is None:
        return [_("Final label"), _("Sum")], []
    values = confusion.values
    columns = [_("Final label"), *(_("judge %d") % value for value in values), _("Sum")]
    rows = zip(values, confusion.cells, confusion.sums, strict=True)
    return columns, [[str(value), *cells, total] for value, cells, total in rows]


def _per_label(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [
        _("Label"),
        _("Final labels"),
        _("Judge's labels"),
        _("Recall"),
        _("Precision"),
        _("Judge's mean label"),
    ]
    return columns, [
        [str(row.label), row.final, row.judge, row.recall, row.precision, row.mean_judge]
        for row in figures.per_label
    ]


def _cost(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [_("Judge"), _("Cost per 1,000"), *_with_bounds(_("Ordinal alpha")), "n"]
    return columns, [
        [row.name, row.per_thousand, *_bounds(row.ordinal), row.n] for row in figures.judges
    ]


def _prompts(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [
        _("Model"),
        _("Prompt version"),
        _("Run"),
        _("Made (UTC)"),
        *_with_bounds(_("Ordinal alpha")),
        "n",
    ]
    rows = sorted((row for row in figures.judges if row.run), key=lambda row: row.at)
    return columns, [
        [
            row.model,
            row.prompt,
            f"#{row.run_number}",
            row.at[:16].replace("T", " "),
            *_bounds(row.ordinal),
            row.n,
        ]
        for row in rows
    ]


def _bounds(estimate: Estimate) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]


def _replacement(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [
        _("Judge"),
        _("Arguments"),
        *_with_bounds(_("Majority changes")),
        _("Goes up"),
        _("Goes down"),
        _("Tied before"),
        _("Tied after"),
        _("Remark"),
    ]
    parts = ("n_items", "changed", "low", "high", "raised", "lowered", "tied_before", "tied_after")
    return columns, [
        [row.name, *(getattr(row.replacement, part) for part in parts), row.replacement.reason]
        for row in figures.judges
    ]


def _hardest(figures: JudgeResults) -> tuple[list[str], Rows]:
    columns = [
        _("Object 1"),
        _("Object 2"),
        _("Sentence"),
        _("Votes"),
        _("Final label"),
        _("Judge"),
        _("Its reasons"),
        _("Second judge"),
        _("Second judge's reasons"),
    ]
    return columns, [
        [
            row.object1,
            row.object2,
            row.text,
            " ".join(map(str, row.votes)),
            str(row.final),
            str(row.judge),
            " / ".join(row.reasons),
            "" if row.other is None else str(row.other),
            " / ".join(row.other_reasons),
        ]
        for row in figures.hardest
    ]


TABLES: dict[str, JudgeFigureFile] = {
    "judges": JudgeFigureFile(
        gettext_lazy("Judges compared with people"),
        gettext_lazy(
            "Unit: argument; alphas with votes have their own n. With several replicates, the "
            "most frequent label counts, the higher one on a tie. Krippendorff's alpha with 95 % "
            "intervals, each for one alpha alone: item jackknife, t corrected for skewness, for "
            "20 or more arguments (100 or more for the difference). With people's votes: only "
            "pairs of one vote and the judge's label. Bias: mean of the judge's label minus the "
            "final label, without an interval; above 0, the judge's labels are higher. Cost per "
            "1,000 labelled arguments, including repeated requests and reused replies at their "
            "price, in the endpoint's price units."
        ),
        _judges,
    ),
    "confusion": JudgeFigureFile(
        gettext_lazy("Final label against the judge's"),
        gettext_lazy("Arguments with both labels. Rows: final label; columns: the judge's."),
        _confusion,
        is_about_one=True,
    ),
    "per-label": JudgeFigureFile(
        gettext_lazy("Label by label"),
        gettext_lazy(
            "Recall: share of the arguments with this final label that the judge labelled the "
            "same. Precision: share of the judge's labels of this kind that match the final "
            "label."
        ),
        _per_label,
        is_about_one=True,
    ),
    "replacement": JudgeFigureFile(
        gettext_lazy("If the judge replaced one vote"),
        gettext_lazy(
            "The majority of people's votes (the higher label on a tie), recomputed with the "
            "judge's label in place of each vote in turn; shares are means over arguments. 95 % "
            "interval: jackknife over arguments, t. Control items are left out."
        ),
        _replacement,
    ),
    "cost": JudgeFigureFile(
        gettext_lazy("Agreement against cost"),
        gettext_lazy(
            "Ordinal alpha with the final labels and the cost of 1,000 labelled arguments. "
            "Imported labels have no known cost."
        ),
        _cost,
    ),
    "prompts": JudgeFigureFile(
        gettext_lazy("Prompt versions over time"),
        gettext_lazy("Ordinal alpha with the final labels, 95 % interval, for each run."),
        _prompts,
    ),
    "hardest": JudgeFigureFile(
        gettext_lazy("Hardest disagreements"),
        gettext_lazy(
            "Arguments where the judge's label is farthest from the final label; at most 20."
        ),
        _hardest,
        is_about_one=True,
    ),
}


# How far two runs over the same campaign agree, and where they differ most.


SHOWN = 20


@dataclass(frozen=True)
class LabelDifference:
    """One sentence with the labels and rationales of two runs."""

    argument: Argument
    labels: tuple[int, int]
    rationales: tuple[str, str]

    @property
    def distance(self) -> int:
        """Number of levels between the two labels."""
        return abs(self.labels[0] - self.labels[1])


@dataclass(frozen=True)
class RunAgreement:
    """Agreement of two runs on the sentences that both labelled.

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
    differing: list[LabelDifference]
    n_differing: int

    @property
    def shares(self) -> list[list[tuple[int, float]]]:
        """Each count with its share of the row, for shading."""
        return [[(n, n / (sum(row) or 1)) for n in row] for row in self.confusion]


def compare_runs(first: Run, second: Run) -> RunAgreement:
    """Compare two runs of one campaign.

    A sentence asked several times in a run counts with its most frequent label; of equally
    frequent labels the higher one. Unscored answers have no label and are left out.
    """
    from cqa_site.stats.agreement_coefficients import krippendorff_alpha
    from cqa_site.stats.disagreement import confusion, percent_agreement

    base, other = _labels(first), _labels(second)
    common = sorted(set(base) & set(other))
    both = _ratings(common, base, other)
    scale = sorted({level["value"] for run in (first, second) for level in _levels(run)})
    table = confusion(
        _series(common, base), _series(common, other), categories=[float(v) for v in scale]
    )
    apart = sorted(
        (pk for pk in common if base[pk] != other[pk]),
        key=lambda pk: (-abs(base[pk] - other[pk]), pk),
    )
    return RunAgreement(
        n_common=len(common),
        n_first=len(base),
        n_second=len(other),
        estimates=[
            percent_agreement(both),
            krippendorff_alpha(both, "ordinal"),
            krippendorff_alpha(both, "interval"),
        ],
        scale=scale,
        confusion=table.to_numpy(dtype=int).tolist(),
        differing=_differing(first, second, apart[:SHOWN], base, other),
        n_differing=len(apart),
    )


def _levels(run: Run) -> list[dict]:
    return run.spec["target"]["levels"]


def _labels(run: Run) -> dict[int, int]:
    """Return the most frequent label of each argument; the highest one on a tie."""
    argument_labels: dict[int, list[Any]] = defaultdict(list)
    rows = run.judge_labels.filter(label__isnull=False).order_by()
    for argument, label in rows.values_list("argument", "label"):
        argument_labels[argument].append(label)
    return {
        pk: max(labels, key=lambda v: (labels.count(v), v))
        for pk, labels in argument_labels.items()
    }


def _series(common: list[int], labels: dict[int, int]):
    import pandas as pd

    return pd.Series([float(labels[pk]) for pk in common], index=common, dtype=float)


def _ratings(common: list[int], base: dict[int, int], other: dict[int, int]):
    import pandas as pd

    from cqa_site.stats.ratings import Ratings

    rows = [(pk, rater, side[pk]) for rater, side in (("1", base), ("2", other)) for pk in common]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "value"]))


def _differing(
    first: Run, second: Run, ids: list[int], base: dict[int, int], other: dict[int, int]
) -> list[LabelDifference]:
    arguments = Argument.objects.select_related("comparison").in_bulk(ids)
    reasons: dict[tuple[int, int, int | None], str] = {}
    rows = JudgeLabel.objects.filter(run__in=(first, second), argument__in=ids)
    for run, argument, label, text in rows.order_by("-replicate").values_list(
        "run", "argument", "label", "rationale"
    ):
        reasons[run, argument, label] = text
    return [
        LabelDifference(
            arguments[pk],
            (base[pk], other[pk]),
            (reasons[first.pk, pk, base[pk]], reasons[second.pk, pk, other[pk]]),
        )
        for pk in ids
    ]
