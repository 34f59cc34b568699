"""What the benchmark stores."""

from benchmark.preferences.models import (
    KeptPreference,
    Pair,
    PreferenceEvent,
    PreferenceItem,
    PreferenceRound,
    PreferenceSheet,
    PreferenceSlot,
)

from .boards import BoardSlice, BoardSnapshot
from .judging import JudgementPart, ProbeResult, ScoringRun
from .rounds import ScoringItem, ScoringRound, ScoringSlot
from .rubrics import RubricVersion
from .sheets import KeptScore, ScoreEvent, ScoreSheet

__all__ = [
    "BoardSlice",
    "BoardSnapshot",
    "JudgementPart",
    "KeptPreference",
    "KeptScore",
    "Pair",
    "PreferenceEvent",
    "PreferenceItem",
    "PreferenceRound",
    "PreferenceSheet",
    "PreferenceSlot",
    "ProbeResult",
    "RubricVersion",
    "ScoreEvent",
    "ScoreSheet",
    "ScoringItem",
    "ScoringRound",
    "ScoringRun",
    "ScoringSlot",
]
