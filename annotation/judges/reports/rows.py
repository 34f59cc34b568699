"""The rows behind the figures about judges: arguments with every label people and judges gave."""

from dataclasses import dataclass

import pandas as pd
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Campaign
from cqa_site.web.tables import TableData

from .agreement import common_arguments, people_of
from .figures import sentence
from .found import Sentence
from .judges import Judge, judges_of

WRITTEN = 1_000


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Which arguments: those with this final label, this label of the judge, or any."""

    judge: str = ""
    final: int | None = None
    label: int | None = None
    is_common: bool = False


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Arguments with labels.

    Attributes
    ----------
    judges
        Every judge of the campaign, newest first.
    table
        One row an argument, indexed by its key and ascending: ``final``, and a column for
        each judge under its key; missing where there is no label.
    votes
        People's votes, one a row: ``item`` (the key of the argument), ``value``.
    """

    judges: list[Judge]
    table: pd.DataFrame
    votes: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Row(Sentence):
    """An argument with every label; those of judges in their order."""

    votes: list[int]
    final: int | None
    labels: list[int | None]


def labelled(campaign: Campaign, cell: Cell) -> Labelled:
    """The arguments of a cell that have a final label or a label of any judge."""
    people, judges = people_of(campaign), judges_of(campaign)
    columns = {judge.key: judge.labels for judge in judges}
    table = pd.DataFrame({"final": people.final, **columns}).sort_index()
    if cell.is_common:
        table = table[table.index.isin(common_arguments(judges))]
    if cell.final is not None:
        table = table[table["final"] == cell.final]
    if cell.judge in columns:
        given = table[cell.judge]
        table = table[given.notna() if cell.label is None else given == cell.label]
    return Labelled(judges=judges, table=table, votes=people.votes.to_frame())


def shown_rows(found: Labelled, start: int, count: int) -> list[Row]:
    """Some of the arguments with their text; one query."""
    part = found.table.iloc[start : start + count]
    votes = _votes_of(found, part.index)
    texts = Argument.objects.select_related("comparison").in_bulk(part.index.tolist())
    return [
        Row(
            **vars(sentence(texts[int(pk)])),
            votes=votes.get(int(pk), []),
            final=_whole(row["final"]),
            labels=[_whole(row[judge.key]) for judge in found.judges],
        )
        for pk, row in part.iterrows()
    ]


def _votes_of(found: Labelled, arguments: pd.Index) -> dict[int, list[int]]:
    """People's votes of some arguments, ascending; of a whole round they would take a second."""
    votes = found.votes[found.votes["item"].isin(arguments)].sort_values("value")
    groups = votes.groupby("item")["value"]
    return {int(item): values.astype(int).tolist() for item, values in groups}


def rows_table(campaign: Campaign, found: Labelled) -> TableData:
    """Every argument of the cell for a file, a thousand texts a query."""
    columns = [_("Argument"), _("Object 1"), _("Object 2"), _("Sentence"), _("Votes")]
    columns += [_("Final label"), *(f"{judge.name} ({judge.key[:12]})" for judge in found.judges)]
    rows = []
    for start in range(0, len(found.table), WRITTEN):
        for row in shown_rows(found, start, WRITTEN):
            about = [row.argument, row.object1, row.object2, row.text]
            votes = " ".join(map(str, row.votes))
            rows.append([*about, votes, row.final, *row.labels])
    return TableData(columns, rows, caption=campaign.name, name="judges-rows")


def _whole(label: float) -> int | None:
    return None if pd.isna(label) else int(label)
