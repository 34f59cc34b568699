"""Tables of figures about judges, and the comparison of two runs."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.corpus.models import Argument
from annotation.figures.reports.tables import confusion_columns
from annotation.judges.models import JudgeLabel
from annotation.labelling.models import LabelRound
from cqa_site.results.figures import Column, EstimateColumn, FigureTable, TextColumn
from cqa_site.runs.models import Run
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import TableData
from .results import JudgeFigures, JudgeResults

KINDS = {
    "model": lazy("language model"),
    "classifier": lazy("trained judge"),
    "imported": lazy("imported labels"),
}


def judge_table(
    label_round: LabelRound, figures: JudgeResults, slug: str, state: str
) -> TableData:
    """Return a figure as a table with its recipe; raises KeyError if it is unknown."""
    about = []
    if slug in OF_ONE_JUDGE and (chosen := figures.named(figures.chosen)):
        about.append(f", {chosen.name}")
    if figures.common.is_on:
        about.append(f", {_('arguments that every judge labelled')}")
    where = _("Round “%(label_round)s”, state %(state)s.") % {
        "label_round": label_round.name,
        "state": state,
    }
    return TABLES[slug].table(figures, where=where, about="".join(about), name=f"judges-{slug}")


def remark(row: JudgeFigures) -> str:
    """Return the caveats about a judge's figures as text."""
    remarks = []
    if row.is_low:
        remarks.append(_("too few of the arguments that the judge was asked about have a label"))
    if row.is_out_of_fold:
        remarks.append(_("every label from a model that saw no argument from the same pair"))
    if row.is_active:
        remarks.append(_("still running"))
    # Distinct reasons for missing alphas or intervals
    remarks += dict.fromkeys(estimate.reason for estimate in row.estimates if estimate.reason)
    return "; ".join(remarks)


def _judges(figures: JudgeResults) -> list[dict[str, Any]]:
    """Return one row for the agreement among people, then one row per judge."""
    people = figures.people
    first = {
        "name": _("People compared with each other"),
        "kind": _("people"),
        "prompt": "",
        "made": "",
        "labelled": people.items,
        "with_votes": people.agreement,
        "remark": people.agreement.reason or "",
    }
    return [first, *map(_judge, figures.judges)]


def _judge(row: JudgeFigures) -> dict[str, Any]:
    kind, made = str(KINDS[row.kind]), row.at[:16].replace("T", " ")
    return {**vars(row), "kind": kind, "made": made, "remark": remark(row)}


def _confusion(figures: JudgeResults) -> list[tuple[int, list[int], int]]:
    confusion = figures.confusion
    if confusion is None:
        return []
    return list(zip(confusion.values, confusion.cells, confusion.sums, strict=True))


# Figures of the selected judge
OF_ONE_JUDGE = ("confusion", "per-label", "hardest")
TABLES: dict[str, FigureTable] = {
    "judges": FigureTable(
        lazy("Judges compared with people"),
        lazy(
            "Unit: argument; alphas with votes have their own n. With several replicates, the "
            "most frequent label counts (if labels tie, the higher). Krippendorff's alpha with "
            "95 % intervals, each for one alpha alone: item jackknife, t corrected for skewness, "
            "for 20 or more arguments (100 or more for the difference). With people's votes: only "
            "pairs of one vote and the judge's label. Bias: mean of the judge's label minus the "
            "final label, without an interval; above 0, the judge's labels are higher. Cost per "
            "1,000 labelled arguments, including repeated requests and reused replies at their "
            "price, in the endpoint's price units."
        ),
        (
            Column(lazy("Judge"), "name"),
            Column(lazy("Kind"), "kind"),
            Column(lazy("Prompt version"), "prompt"),
            Column(lazy("Created (UTC)"), "made"),
            Column(lazy("Arguments with a final label, n"), "n"),
            Column(lazy("Labelled"), "labelled"),
            Column(lazy("Asked"), "planned"),
            Column(lazy("Unscored"), "unscored"),
            Column(lazy("Coverage"), "coverage"),
            Column(lazy("Exact"), "exact"),
            EstimateColumn(lazy("Ordinal alpha with final labels"), "ordinal"),
            EstimateColumn(lazy("Interval alpha with final labels"), "interval"),
            EstimateColumn(lazy("Ordinal alpha with people's votes"), "with_votes"),
            Column(lazy("Arguments with votes, n"), "with_votes.n_pairable_items"),
            EstimateColumn(lazy("… minus people's own alpha, same arguments"), "difference"),
            Column(lazy("Arguments with two votes, n"), "difference.n_pairable_items"),
            Column(lazy("Bias"), "bias"),
            Column(lazy("Mean absolute error"), "error"),
            Column(lazy("Cost per 1,000 labels"), "per_thousand"),
            Column(lazy("Replicates"), "replicates"),
            Column(lazy("Ordinal alpha of replicates"), "consistency.value"),
            Column(lazy("Remark"), "remark"),
        ),
        _judges,
    ),
    "confusion": FigureTable(
        lazy("Final label against the judge's label"),
        lazy("Arguments with both labels. Rows: final label; columns: the judge's."),
        lambda figures: confusion_columns(
            _("Final label"), _("judge %d"), figures.confusion.values if figures.confusion else ()
        ),
        _confusion,
    ),
    "per-label": FigureTable(
        lazy("Label by label"),
        lazy(
            "Recall: share of the arguments with this final label to which the judge gave the "
            "same label. Precision: share of the judge's labels with this value that match the "
            "final label."
        ),
        (
            TextColumn(lazy("Label"), "label"),
            Column(lazy("Final labels"), "final"),
            Column(lazy("Judge's labels"), "judge"),
            Column(lazy("Recall"), "recall"),
            Column(lazy("Precision"), "precision"),
            Column(lazy("Judge's mean label"), "mean_judge"),
        ),
        "per_label",
    ),
    "replacement": FigureTable(
        lazy("If the judge replaced one vote"),
        lazy(
            "The majority of people's votes (the higher label if votes tie), recomputed with the "
            "judge's label in place of each vote in turn; shares are means over arguments. 95 % "
            "interval: jackknife over arguments, t. Control items are left out."
        ),
        (
            Column(lazy("Judge"), "name"),
            Column(lazy("Arguments"), "replacement.n_items"),
            EstimateColumn(lazy("Majority changes"), "replacement.changed"),
            Column(lazy("Goes up"), "replacement.raised"),
            Column(lazy("Goes down"), "replacement.lowered"),
            Column(lazy("Tied before"), "replacement.tied_before"),
            Column(lazy("Tied after"), "replacement.tied_after"),
            TextColumn(lazy("Remark"), "replacement.changed.reason"),
        ),
        "judges",
    ),
    "cost": FigureTable(
        lazy("Agreement against cost"),
        lazy(
            "Ordinal alpha with the final labels and the cost of 1,000 labelled arguments. "
            "Imported labels have no known cost."
        ),
        (
            Column(lazy("Judge"), "name"),
            Column(lazy("Cost per 1,000 labels"), "per_thousand"),
            EstimateColumn(lazy("Ordinal alpha"), "ordinal"),
            Column("n", "n"),
        ),
        "judges",
    ),
    "prompts": FigureTable(
        lazy("Prompt versions over time"),
        lazy("Ordinal alpha with the final labels, 95 % interval, for each run."),
        (
            Column(lazy("Model"), "model"),
            Column(lazy("Prompt version"), "prompt"),
            Column(lazy("Run"), lambda row: f"#{row['run_number']}"),
            Column(lazy("Created (UTC)"), "made"),
            EstimateColumn(lazy("Ordinal alpha"), "ordinal"),
            Column("n", "n"),
        ),
        lambda figures: map(
            _judge, sorted((row for row in figures.judges if row.run), key=lambda row: row.at)
        ),
    ),
    "hardest": FigureTable(
        lazy("Hardest disagreements"),
        lazy("Arguments where the judge's label is farthest from the final label; at most 20."),
        (
            Column(lazy("Object 1"), "object1"),
            Column(lazy("Object 2"), "object2"),
            Column(lazy("Sentence"), "text"),
            Column(lazy("Votes"), lambda row: " ".join(map(str, row.votes))),
            TextColumn(lazy("Final label"), "final"),
            TextColumn(lazy("Judge"), "judge"),
            Column(lazy("Judge's reasons"), lambda row: " / ".join(row.reasons)),
            TextColumn(lazy("Second judge"), "other"),
            Column(lazy("Second judge's reasons"), lambda row: " / ".join(row.other_reasons)),
        ),
        "hardest",
    ),
}

# Agreement of two runs on the same round, and their largest differences

MOST_SHOWN = 20


@dataclass(frozen=True)
class LabelDifference:
    """One sentence with the labels and rationales from two runs."""

    argument: Argument
    labels: tuple[int, int]
    rationales: tuple[str, str]

    @property
    def distance(self) -> int:
        """Distance between the two labels in levels."""
        return abs(self.labels[0] - self.labels[1])


@dataclass(frozen=True)
class RunAgreement:
    """Agreement of two runs on the sentences that both labelled.

    Attributes
    ----------
    estimates
        Exact agreement, ordinal and interval alpha; see `cqa_site.stats.estimate.Estimate`.
    scale, confusion
        Labels of the scale, and counts with the first run's labels as rows.
    differing
        Sentences with different labels, largest distance first.
    n_differing
        Number of sentences with different labels.
    """

    n_common: int
    n_first: int
    n_second: int
    estimates: list[Estimate]
    scale: list[int]
    confusion: list[list[int]]
    differing: list[LabelDifference]
    n_differing: int

    @property
    def shares(self) -> list[list[tuple[int, float]]]:
        """Counts with their shares of the row, for shading."""
        return [[(n, n / (sum(row) or 1)) for n in row] for row in self.confusion]


def compare_runs(first: Run, second: Run) -> RunAgreement:
    """Compare two runs of one round.

    A sentence with several labels in a run counts with the most frequent label, or the higher
    label on a tie. Unscored answers have no label and are left out.
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
        differing=_differing(first, second, apart[:MOST_SHOWN], base, other),
        n_differing=len(apart),
    )


def _levels(run: Run) -> list[dict]:
    return run.spec["target"]["levels"]


def _labels(run: Run) -> dict[int, int]:
    """Return the most frequent label of each argument, or the highest on a tie."""
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
