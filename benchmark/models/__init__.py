"""What the benchmark stores."""

from .boards import BoardSlice, BoardSnapshot
from .judging import JudgementPart, ProbeResult, ScoringRun
from .rounds import Qualification, ScoringItem, ScoringRound, ScoringSlot
from .rubrics import RubricVersion
from .sheets import KeptDraft, ScoreSheet, SheetEvent

__all__ = [
    "BoardSlice",
    "BoardSnapshot",
    "JudgementPart",
    "KeptDraft",
    "ProbeResult",
    "Qualification",
    "RubricVersion",
    "ScoreSheet",
    "ScoringItem",
    "ScoringRound",
    "ScoringRun",
    "ScoringSlot",
    "SheetEvent",
]
