"""Tables of the relevance paper: what is labelled, by whom, and what came of it."""

from .campaigns import Campaign, Guideline, Item, Participation, Slot
from .files import ExportFile, ImportFile, ImportProblem
from .judging import JudgeLabel, RelevanceRun, TextEmbedding, TrainedJudge
from .labels import Assignment, Rater, VoteEvent
from .outcomes import Adjudication, FinalLabel, Snapshot
from .questions import Argument, Comparison

__all__ = [
    "Adjudication",
    "Argument",
    "Assignment",
    "Campaign",
    "Comparison",
    "ExportFile",
    "FinalLabel",
    "Guideline",
    "ImportFile",
    "ImportProblem",
    "Item",
    "JudgeLabel",
    "Participation",
    "Rater",
    "RelevanceRun",
    "Slot",
    "Snapshot",
    "TextEmbedding",
    "TrainedJudge",
    "VoteEvent",
]
