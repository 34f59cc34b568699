"""Tables of the relevance paper: what is labelled, by whom, and what came of it."""

from .answers import Answer, ArgumentList, ListedArgument, Question, System
from .campaigns import (
    Campaign,
    Exclusion,
    Guideline,
    Item,
    Slot,
    campaigns_of,
)
from .conditions import Condition
from .editing import (
    EarlierDraft,
    EditingItem,
    EditingRound,
    EditingSheet,
    EditingSlot,
    KeptText,
    Revision,
    RoundComment,
)
from .faithfulness import (
    CoherenceVerdict,
    EditedText,
    FaithfulnessFigures,
    FaithfulnessSettings,
)
from .files import ExportFile, ImportBatch, ImportFile, ImportMatch, ImportProblem
from .generation import GenerationLaunch, GenerationRun
from .judging import JudgeLabel, RelevanceRun, TextEmbedding, TrainedJudge
from .labels import Assignment, VoteEvent
from .learned import LearnedComparison
from .outcomes import Adjudication, Adoption, FinalLabel, PreferredLabels, Snapshot
from .questions import Argument, Comparison
from .retrieval import ArgumentOrigin, CamRequest, CamService, Corpus, CorpusSentence

__all__ = [
    "Adjudication",
    "Adoption",
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
    "Condition",
    "Corpus",
    "CorpusSentence",
    "EarlierDraft",
    "EditedText",
    "EditingItem",
    "EditingRound",
    "EditingSheet",
    "EditingSlot",
    "Exclusion",
    "ExportFile",
    "FaithfulnessFigures",
    "FaithfulnessSettings",
    "FinalLabel",
    "GenerationLaunch",
    "GenerationRun",
    "Guideline",
    "ImportBatch",
    "ImportFile",
    "ImportMatch",
    "ImportProblem",
    "Item",
    "JudgeLabel",
    "KeptText",
    "LearnedComparison",
    "ListedArgument",
    "PreferredLabels",
    "Question",
    "RelevanceRun",
    "Revision",
    "RoundComment",
    "Slot",
    "Snapshot",
    "System",
    "TextEmbedding",
    "TrainedJudge",
    "VoteEvent",
    "campaigns_of",
]
