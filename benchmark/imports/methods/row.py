"""What a row of a table of score sheets says."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

SUBMITTED, UNSCORED, EMPTY = "submitted", "unscored", "empty"


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One sheet as a row states it.

    Attributes
    ----------
    row : int
        Row as a person sees it in the file.
    about : dict
        What the row says of the answer: fields of `score_columns`, empty ones left out.
    rater, rater_kind, rater_name : str
        Who gave the points.
    replicate : int
        0 for the first judgement of this rater on this answer.
    points : dict of str to float
        Criterion → points; empty if unscored.
    unable : dict of str to str
        Criterion → why there are no points.
    notes : dict of str to str
        Criterion → words.
    reason : str
        Why a judge's row is unscored; empty otherwise.
    off_scale : tuple of str
        Criteria whose points the rubric does not have; only of consolidated sheets.
    given : dict of str to float
        What a judge's unscored row gives every criterion, where it does, on the scale or not.
    state : str
        As the row has it, else "submitted", "unscored", or "empty" for a person's row without
        any points: an answer that was not scored.
    is_counted : bool
        False for what our export says does not count.
    sheet, rubric_sha256 : str
        As our export has them; empty elsewhere.
    """

    row: int
    about: dict[str, Any]
    rater: str
    rater_kind: str
    rater_name: str = ""
    replicate: int = 0
    points: dict[str, float] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    submitted_at: datetime | None = None
    state: str = SUBMITTED
    reason: str = ""
    off_scale: tuple[str, ...] = ()
    given: dict[str, float] = field(default_factory=dict)
    is_consolidated: bool = False
    is_counted: bool = True
    sheet: str = ""
    rubric_sha256: str = ""
