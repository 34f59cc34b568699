"""Agreement of people and judges for a table of sheets, as stored in `BoardSnapshot.figures`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from annotation.answers.models import Answer
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.methods import length_points, sentence_places
from benchmark.scoring.models import ProbeResult, ScoringRun
from cqa_site.stats.estimate import to_json

if TYPE_CHECKING:
    import pandas as pd

FETCH = 500
# Reading a text takes half a millisecond. Answers scored by people have priority.
MOST_COUNTED = 5_000
# This column saves reading the texts again.
BY_CODE = "points_by_code"
# Cached points of answers by id, because answers never change but a leaderboard is recomputed
# after every import of sheets. The cache is cleared at `MOST_KEPT` answers.
_COUNTED: dict[str, float] = {}
MOST_KEPT = 4 * MOST_COUNTED


def compute(table: pd.DataFrame, rubric: Rubric, recipe: dict[str, Any]) -> dict[str, Any]:
    """Compute all agreement figures; see `benchmark.agreement.methods.agreement.agreement`.

    Parameters
    ----------
    table
        A table from `sheet_table`. The columns ``cost_micro``, ``seconds`` and ``points_by_code``
        are used if present; without ``points_by_code``, the texts of the answers are read.
    rubric
        The rubric of the sheets.
    recipe
        ``seed``, ``confidence``, ``epsilon`` and ``families`` (name of a model or system →
        family), if they differ from `AgreementOptions`.

    Returns
    -------
    dict
        An `Agreement` for JSON.
    """
    from benchmark.agreement.methods.agreement import AgreementOptions, agreement

    names = ("seed", "confidence", "epsilon", "families")
    options = AgreementOptions(
        **{name: recipe[name] for name in names if recipe.get(name) is not None}
    )
    if BY_CODE not in table.columns:
        table = with_points_by_code(table, rubric)
    known = table[["answer", BY_CODE]].dropna().drop_duplicates("answer")
    counted = dict(zip(known["answer"].tolist(), known[BY_CODE].tolist(), strict=True))
    figures: dict[str, Any] = to_json(agreement(table, rubric, options, counted))
    return figures


def with_points_by_code(table: pd.DataFrame, rubric: Rubric) -> pd.DataFrame:
    """Add a column with the points for each answer's number of sentences.

    The points are NaN if no criterion counts sentences, and for answers beyond `MOST_COUNTED`.
    """
    points: dict[str, float] = {}
    if len(_COUNTED) > MOST_KEPT:
        _COUNTED.clear()
    if any(criterion.counted_by == "sentences" for criterion in rubric.criteria):
        by_people = table["rater_kind"].isin(("person", "expert", "reference"))
        ordered = [*table.loc[by_people, "answer_id"], *table["answer_id"]]
        keys = list(dict.fromkeys(map(str, ordered)))[:MOST_COUNTED]
        points = {key: _COUNTED[key] for key in keys if key in _COUNTED}
        missing = [key for key in keys if key not in points]
        for start in range(0, len(missing), FETCH):
            texts = Answer.objects.filter(public_id__in=missing[start : start + FETCH])
            for key, text in texts.values_list("public_id", "text"):
                points[str(key)] = float(length_points(len(sentence_places(text))))
        _COUNTED.update(points)
    return table.assign(**{BY_CODE: table["answer_id"].map(points).astype("float64")})


@dataclass(kw_only=True)
class JudgeTrust:
    """Counts of canaries that a judge was shown and obeyed, and the trust in its runs."""

    key: str
    name: str
    asked: int = 0
    obeyed: int = 0
    runs: list[str] = field(default_factory=list)

    @property
    def trust(self) -> str:
        """The lowest trust state of the judge's runs."""
        return next(state for state in ("untrusted", "pending", "trusted") if state in self.runs)

    @property
    def is_kept_out(self) -> bool:
        """Whether all of the judge's sheets are left out."""
        return all(run == "untrusted" for run in self.runs)


def judge_trust(rubric: RubricVersion) -> list[JudgeTrust]:
    """Return each judge's canary results for this rubric, including excluded judges.

    They are read for each page view, because trust may change after a snapshot was frozen.
    """
    canary = Q(run__probe_results__probe=ProbeResult.Probe.CANARY)
    obeyed = canary & Q(run__probe_results__obeyed=True)
    rows = ScoringRun.objects.filter(rubric=rubric).annotate(
        asked=Count("run__probe_results", filter=canary),
        obeyed=Count("run__probe_results", filter=obeyed),
    )
    trusts: dict[str, JudgeTrust] = {}
    names = ("rater__public_id", "rater__name", "trust", "asked", "obeyed")
    for row in rows.order_by("pk").values(*names):
        key = str(row["rater__public_id"])
        own = trusts.setdefault(key, JudgeTrust(key=key, name=row["rater__name"]))
        own.asked += row["asked"]
        own.obeyed += row["obeyed"]
        own.runs.append(row["trust"])
    return list(trusts.values())
