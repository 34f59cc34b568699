"""Computation of figures about a round's judges, and the rows behind them."""

from dataclasses import dataclass

import pandas as pd
from django.utils.translation import gettext as _

from annotation.corpus.models import Argument
from annotation.labelling.models import LabelRound
from cqa_site.results.figures import Column, table_of
from cqa_site.runs.models import Endpoint
from cqa_site.stats.verdicts import LEVEL
from cqa_site.web.tables import TableData
from .agreement import (
    JudgeComparison,
    JudgeLabels,
    PeopleLabels,
    common_arguments,
    compare,
    confusion_of,
    difference_from_people,
    judges_of,
    label_rows,
    narrowed,
    people_of,
    rationales,
)
from .results import (
    BestJudge,
    Common,
    Disagreement,
    JudgeFigures,
    JudgeResults,
    JudgeSelection,
    PeopleFigures,
    Sentence,
)

# Figures about the judges of a round, for pages, files and the API
#
# Undefined values are None with a reason, never NaN.

# A judge is ranked only if it labelled at least this share of its arguments.
ENOUGH = 0.95
SHOWN_TEXT = 400


def compute_figures(label_round: LabelRound, choice: JudgeSelection) -> JudgeResults:
    """Compute all figures, with at most thirteen queries regardless of size."""
    people, judges = people_of(label_round), judges_of(label_round)
    common = common_arguments(judges)
    if choice.is_common:
        judges = [narrowed(judge, common) for judge in judges]
    compared = sorted((compare(judge, people) for judge in judges), key=_rank)
    chosen, other = _chosen(compared, choice)
    return JudgeResults(
        people=_people(people),
        common=Common(choice.is_common, len(common)),
        judges=[_judge(comparison) for comparison in compared],
        best=_best(compared, people),
        chosen=chosen.judge.key if chosen else None,
        other=other.judge.key if other else None,
        confusion=confusion_of(chosen.table) if chosen else None,
        per_label=label_rows(chosen.table) if chosen else [],
        hardest=_hardest(chosen, other) if chosen else [],
    )


def _rank(comparison: JudgeComparison) -> tuple[bool, float, str]:
    """Return a sort key: sufficient coverage first, then higher alpha, undefined values last."""
    value = comparison.ordinal.value
    is_low = comparison.judge.coverage < ENOUGH
    return is_low, -value if value is not None else 2.0, comparison.judge.key


def _best(compared: list[JudgeComparison], people: PeopleLabels) -> BestJudge | None:
    ranked = [
        comparison.judge
        for comparison in compared
        if comparison.judge.coverage >= ENOUGH and comparison.ordinal.value is not None
    ]
    if not ranked:
        return None
    difference = difference_from_people(people, ranked[0], 1 - LEVEL / len(ranked))
    return BestJudge(ranked[0].key, len(ranked), difference)


def _chosen(
    compared: list[JudgeComparison], choice: JudgeSelection
) -> tuple[JudgeComparison | None, JudgeComparison | None]:
    by_key = {comparison.judge.key: comparison for comparison in compared}
    chosen = by_key.get(choice.judge) or (compared[0] if compared else None)
    other = by_key.get(choice.other)
    return chosen, None if other is chosen else other


def _people(people: PeopleLabels) -> PeopleFigures:
    return PeopleFigures(
        final=len(people.final),
        votes=people.votes.n_values,
        raters=people.votes.n_raters,
        items=people.votes.n_items,
        scale=people.scale,
        agreement=people.agreement,
    )


def _judge(comparison: JudgeComparison) -> JudgeFigures:
    judge = comparison.judge
    run, trained = judge.run, judge.trained
    return JudgeFigures(
        key=judge.key,
        name=judge.name,
        kind=judge.kind,
        at=judge.at.isoformat(),
        model=run.spec["model"] if run else "",
        prompt=str(run.prompt) if run else "",
        prompt_number=run.prompt.number if run else None,
        run=str(run.public_id) if run else None,
        run_number=run.number if run else None,
        is_active=bool(run and run.is_active),
        trained=str(trained.public_id) if trained else None,
        trained_number=trained.number if trained else None,
        planned=judge.planned,
        labelled=judge.labelled,
        unscored=judge.unscored,
        coverage=judge.coverage,
        is_low=judge.coverage < ENOUGH,
        replicates=judge.replicates,
        consistency=judge.consistency,
        per_thousand=judge.per_thousand,
        is_out_of_fold=judge.is_out_of_fold,
        n=comparison.n,
        exact=comparison.exact,
        bias=comparison.bias,
        error=comparison.error,
        ordinal=comparison.ordinal,
        interval=comparison.interval,
        with_votes=comparison.with_votes,
        difference=comparison.difference,
        replacement=comparison.replacement,
        is_demonstration=bool(run and run.endpoint.kind == Endpoint.Kind.EMBEDDED),
    )


def _hardest(comparison: JudgeComparison, other: JudgeComparison | None) -> list[Disagreement]:
    far = comparison.hardest
    ids = far["argument"].tolist()
    texts = Argument.objects.select_related("comparison").in_bulk(ids)
    table = comparison.people.votes.to_frame()
    table = table[table["item"].isin(ids)].sort_values("value")
    votes = {
        int(item): values.astype(int).tolist() for item, values in table.groupby("item")["value"]
    }
    reasons = rationales(comparison.judge, ids)
    others = other.judge.labels if other else pd.Series(dtype=float)
    other_reasons = rationales(other.judge, ids) if other else {}
    return [
        Disagreement(
            **vars(sentence(texts[row.argument])),
            votes=votes.get(row.argument, []),
            final=int(row.final),
            judge=int(row.judge),
            reasons=reasons.get(row.argument, []),
            other=int(others[row.argument]) if row.argument in others else None,
            other_reasons=other_reasons.get(row.argument, []),
        )
        for row in far.itertuples()
    ]


def sentence(argument: Argument) -> Sentence:
    return Sentence(
        argument=str(argument.public_id),
        object1=argument.comparison.object1,
        object2=argument.comparison.object2,
        text=argument.text[:SHOWN_TEXT],
    )


WRITTEN = 1_000


@dataclass(frozen=True, kw_only=True)
class ConfusionCell:
    """Filter for arguments by final label and judge's label; None matches any label."""

    judge: str = ""
    final: int | None = None
    label: int | None = None
    is_common: bool = False


@dataclass(frozen=True, kw_only=True)
class LabelledArgument:
    """Arguments of a cell with their labels.

    Attributes
    ----------
    judges
        Every judge of the round, newest first.
    table
        One row per argument, sorted and indexed by its key, with a column ``final`` and a column
        for each judge, named by its key; missing labels are NaN.
    votes
        People's votes, one per row: ``item`` (the key of the argument) and ``value``.
    """

    judges: list[JudgeLabels]
    table: pd.DataFrame
    votes: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class ArgumentWithLabels(Sentence):
    """An argument with all its labels; judges' labels are in the order of the judges."""

    votes: list[int]
    final: int | None
    labels: list[int | None]


def labelled(label_round: LabelRound, cell: ConfusionCell) -> LabelledArgument:
    """Return the arguments of a cell that have a final label or a label from any judge."""
    people, judges = people_of(label_round), judges_of(label_round)
    columns = {judge.key: judge.labels for judge in judges}
    table = pd.DataFrame({"final": people.final, **columns}).sort_index()
    if cell.is_common:
        table = table[table.index.isin(common_arguments(judges))]
    if cell.final is not None:
        table = table[table["final"] == cell.final]
    if cell.judge in columns:
        judge_labels = table[cell.judge]
        table = table[judge_labels.notna() if cell.label is None else judge_labels == cell.label]
    return LabelledArgument(judges=judges, table=table, votes=people.votes.to_frame())


def shown_rows(argument: LabelledArgument, start: int, count: int) -> list[ArgumentWithLabels]:
    """Return some of the arguments with their text, with one query."""
    part = argument.table.iloc[start : start + count]
    votes = _votes_of_arguments(argument, part.index)
    texts = Argument.objects.select_related("comparison").in_bulk(part.index.tolist())
    return [
        ArgumentWithLabels(
            **vars(sentence(texts[int(pk)])),
            votes=votes.get(int(pk), []),
            final=_whole(row["final"]),
            labels=[_whole(row[judge.key]) for judge in argument.judges],
        )
        for pk, row in part.iterrows()
    ]


def _votes_of_arguments(argument: LabelledArgument, arguments: pd.Index) -> dict[int, list[int]]:
    """Return sorted votes on the given arguments only; reading a whole round takes a second."""
    votes = argument.votes[argument.votes["item"].isin(arguments)].sort_values("value")
    groups = votes.groupby("item")["value"]
    return {int(item): values.astype(int).tolist() for item, values in groups}


def rows_table(label_round: LabelRound, argument: LabelledArgument) -> TableData:
    """Return every argument of the cell for a file, with one query per thousand texts."""
    columns = (
        Column(_("Argument"), "argument"),
        Column(_("Object 1"), "object1"),
        Column(_("Object 2"), "object2"),
        Column(_("Sentence"), "text"),
        Column(_("Votes"), lambda row: " ".join(map(str, row.votes))),
        Column(_("Final label"), "final"),
        *(
            Column(f"{judge.name} ({judge.key[:12]})", f"labels.{at}")
            for at, judge in enumerate(argument.judges)
        ),
    )
    starts = range(0, len(argument.table), WRITTEN)
    rows = (row for start in starts for row in shown_rows(argument, start, WRITTEN))
    return table_of(columns, rows, caption=label_round.name, name="judges-rows")


def _whole(label: float) -> int | None:
    return None if pd.isna(label) else int(label)
