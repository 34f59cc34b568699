"""Selection of a snapshot with agreement figures, and the rows behind the figures."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from benchmark.agreement.methods.figures import Agreement, RaterPairFigures
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import Filters, narrowed
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.people.models import Study
from cqa_site.results.figures import Column, table_of
from cqa_site.web.pages import NotThere
from cqa_site.web.tables import TableData

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from benchmark.agreement.methods.grid import PointsGrid


PEOPLE = "people"
TOTAL = "total"
MEASURES = (
    "alpha_interval", "alpha_ordinal", "pearson", "spearman", "kendall", "leniency", "exact",
)  # fmt: skip
APART = "~"


@dataclass(frozen=True)
class AgreementSelection:
    """Selection on a page, read from the URL; defaults replace unknown values.

    Attributes
    ----------
    column, measure
        Column and measure in the tables of all pairs.
    first, second
        Keys of the pair shown in detail; empty if there are no pairs.
    judge
        Key of the judge in the verdict; empty if there are no judges.
    snapshot, rubric
        Ids from the URL; empty if not given.
    condition
        Id of the condition that the figures cover; empty for all conditions together.
    """

    column: str = TOTAL
    measure: str = MEASURES[0]
    first: str = ""
    second: str = ""
    judge: str = ""
    snapshot: str = ""
    rubric: str = ""
    condition: str = ""

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], figures: Agreement, condition: str = ""
    ) -> AgreementSelection:
        columns = [column.key for column in figures.columns]
        pairs = [(pair.first, pair.second) for pair in figures.pairs]
        judges = [judge.key for judge in figures.judges]
        wanted = tuple(query.get("pair", "").split(APART))
        first, second = wanted if wanted in pairs else pairs[0] if pairs else ("", "")
        return cls(
            column=_one_of(query.get("column"), columns),
            measure=_one_of(query.get("measure"), list(MEASURES)),
            first=first,
            second=second,
            judge=_one_of(query.get("judge"), judges),
            snapshot=query.get("snapshot", ""),
            rubric=query.get("rubric", ""),
            condition=condition,
        )

    @property
    def pair(self) -> str:
        """The pair in URL form; empty if there is no pair."""
        return f"{self.first}{APART}{self.second}" if self.first else ""

    @property
    def query(self) -> str:
        """Query string that restores this selection."""
        parts = {
            "column": self.column if self.column != TOTAL else "",
            "measure": self.measure if self.measure != MEASURES[0] else "",
            "pair": self.pair,
            "judge": self.judge,
            "snapshot": self.snapshot,
            "rubric": self.rubric,
            "condition": self.condition,
        }
        return urlencode({name: value for name, value in parts.items() if value})

    @property
    def where(self) -> str:
        """Part of the query string with the snapshot, the rubric and the condition."""
        parts = {"snapshot": self.snapshot, "rubric": self.rubric, "condition": self.condition}
        return urlencode({name: value for name, value in parts.items() if value})


def snapshot_of(study: Study, query: Mapping[str, str]) -> BoardSnapshot | None:
    """Return the snapshot named by ``snapshot`` or ``rubric``, or the latest snapshot.

    Its agreement figures are in ``agreement``; rows and other figures are deferred. Raises
    NotThere if the named snapshot does not exist.
    """
    rows: QuerySet = study.board_snapshots.filter(computed_at__isnull=False)
    rows = rows.defer("rows", "figures").annotate(agreement=F("figures__agreement"))
    wanted = {"public_id": query.get("snapshot"), "rubric__public_id": query.get("rubric")}
    named = {name: _uuid(value) for name, value in wanted.items() if value}
    rows = rows.filter(**named).select_related("rubric").order_by("-computed_at", "-number")
    snapshot: BoardSnapshot | None = rows.first()
    if named and snapshot is None:
        raise NotThere(_("This leaderboard does not exist."))
    return snapshot


def state_of(snapshot: BoardSnapshot, choice: AgreementSelection) -> str:
    """Return a hash that changes with the sheets and the selection."""
    text = f"{snapshot.public_id}:{snapshot.sha256}:{choice.query}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pair_of(figures: Agreement, choice: AgreementSelection) -> RaterPairFigures | None:
    """Return the figures of the pair shown in detail; None if the pair does not exist."""
    wanted = (choice.first, choice.second)
    return next((pair for pair in figures.pairs if (pair.first, pair.second) == wanted), None)


def _one_of(wanted: str | None, known: list[str]) -> str:
    return wanted if wanted in known else (known[0] if known else "")


def _uuid(text: str | None) -> uuid.UUID:
    try:
        return uuid.UUID(text or "")
    except ValueError:
        raise NotThere(_("This leaderboard does not exist.")) from None


NOBODY = ""


@dataclass(frozen=True)
class ScoreSelection:
    """Selected raters and column; `points` and `others` filter answers by their points."""

    rater: str
    other: str
    column: str
    points: float | None = None
    others: float | None = None
    condition: str = ""

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], grid: PointsGrid, condition: str = ""
    ) -> ScoreSelection:
        """Read the selection from a query string.

        By default, the judge with the most sheets is compared with people.
        """
        known = [PEOPLE, *(candidate.key for candidate in grid.raters)]
        judges = sorted(grid.judges, key=lambda judge: -judge.sheets)
        usual = judges[0].key if judges else PEOPLE
        rater, other = query.get("rater", usual), query.get("other", PEOPLE)
        column = query.get("criterion", TOTAL)
        return cls(
            rater=rater if rater in known else usual,
            other=other if other in known else NOBODY,
            column=column if column in grid.columns else TOTAL,
            points=_number(query.get("points")),
            others=_number(query.get("others")),
            condition=condition,
        )


def table_and_grid(
    rows: bytes, rubric: Rubric, condition: str = ""
) -> tuple[pd.DataFrame, PointsGrid]:
    """Return the sheets of a snapshot or of one of its conditions, as a table and as a grid."""
    from benchmark.agreement.methods.grid import grid_of
    from benchmark.leaderboard.reports.snapshot import read_rows

    table = narrowed(read_rows(rows), Filters(condition=condition))
    return table, grid_of(table, rubric)


def behind(table: pd.DataFrame, grid: PointsGrid, wanted: ScoreSelection) -> pd.DataFrame:
    """Return the answers that both raters scored, largest difference first.

    The columns are those of the answer, ``points`` and ``others``, ``difference`` (first minus
    second) and ``sheet``, one sheet of the first rater (or of any person, for the mean of people).
    If there is no second rater, all answers that the first scored are returned, best first.
    """
    about = table.drop_duplicates("answer").set_index("answer").loc[grid.answers]
    about = about.assign(points=grid.column(wanted.rater, wanted.column))
    about["others"] = grid.column(wanted.other, wanted.column) if wanted.other else float("nan")
    about["difference"] = about["points"] - about["others"]
    about["sheet"] = _sheets(table, grid, wanted.rater).reindex(about.index)
    needed = ["points", "others"] if wanted.other else ["points"]
    rows = about.dropna(subset=needed)
    for name in ("points", "others"):
        if (value := getattr(wanted, name)) is not None:
            rows = rows[(_halves(rows[name]) == value).to_numpy()]
    by = rows["difference"].abs() if wanted.other else rows["points"]
    return rows.iloc[(-by).argsort(kind="stable").to_numpy()]


def rows_table(frame: pd.DataFrame, names: tuple[str, str], column: str) -> TableData:
    columns = (
        Column(_("Object 1"), "object1"),
        Column(_("Object 2"), "object2"),
        Column(_("Aspect"), "aspect"),
        Column(_("System"), "system"),
        Column(_("Scenario"), "scenario"),
        Column(_("Condition"), "condition"),
        Column(_("Choice"), "choice"),
        Column(_("Answer"), "answer_id"),
        Column(_("Sheet"), "sheet"),
        Column(f"{names[0]}: {column}", "points"),
        Column(f"{names[1]}: {column}", "others"),
        Column(_("Difference"), "difference"),
    )
    return table_of(columns, shown_rows(frame), name="score-rows")


_POINTS = ("points", "others", "difference")


def shown_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of one page; missing points are None."""
    return [row | {part: _cell(row[part]) for part in _POINTS} for row in frame.to_dict("records")]


def _sheets(table: pd.DataFrame, grid: PointsGrid, rater: str) -> pd.Series:
    """Map each answer to the rater's sheet from the first replicate."""
    if rater == PEOPLE:
        own = table[table["rater_id"].isin([person.key for person in grid.people])]
    else:
        own = table[table["rater_id"] == rater]
    first = own.sort_values("replicate", kind="stable").drop_duplicates("answer")
    return first.set_index("answer")["sheet"]


def _halves(points: pd.Series) -> pd.Series | np.ndarray:
    """Round points to the nearest half, as in the confusion table."""
    return (points * 2 + 0.5) // 1 / 2


def _cell(value: float) -> float | None:
    return None if value != value else float(value)  # NaN is not equal to itself.


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
