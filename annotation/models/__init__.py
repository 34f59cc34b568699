"""Tables of the relevance paper: what is labelled, by whom, and what came of it."""

from .answers import Answer, ArgumentList, ListedArgument, Question, System
from .campaigns import Campaign, Guideline, Item, Participation, Slot
from .editing import (
    DraftConflict,
    EarlierDraft,
    EditingRound,
    EditingTask,
    Revision,
    RoundComment,
)
from .faithfulness import (
    CoherenceVerdict,
    EditedText,
    FaithfulnessFigures,
    FaithfulnessSettings,
)
from .files import ExportFile, ImportFile, ImportProblem
from .generation import GenerationRun
from .judging import JudgeLabel, RelevanceRun, TextEmbedding, TrainedJudge
from .labels import Assignment, Rater, VoteEvent
from .outcomes import Adjudication, FinalLabel, Snapshot
from .questions import Argument, Comparison
from .retrieval import ArgumentOrigin, CamRequest, CamService, Corpus, CorpusSentence

__all__ = [
    "Adjudication",
    "Answer",
    "Argument",
    "ArgumentList",
    "ArgumentOrigin",
    "Assignment",
    "CamRequest",
    "CamService",
    "Campaign",
    "CoherenceVerdict",
    "Comparison",
    "Corpus",
    "CorpusSentence",
    "DraftConflict",
    "EarlierDraft",
    "EditedText",
    "EditingRound",
    "EditingTask",
    "ExportFile",
    "FaithfulnessFigures",
    "FaithfulnessSettings",
    "FinalLabel",
    "GenerationRun",
    "Guideline",
    "ImportFile",
    "ImportProblem",
    "Item",
    "JudgeLabel",
    "ListedArgument",
    "Participation",
    "Question",
    "Rater",
    "RelevanceRun",
    "Revision",
    "RoundComment",
    "Slot",
    "Snapshot",
    "System",
    "TextEmbedding",
    "TrainedJudge",
    "VoteEvent",
]
