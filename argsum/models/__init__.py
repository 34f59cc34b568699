"""Tables of argument summarization."""

from .boards import KeyPointSnapshot
from .cells import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from .counting import (
    CountEvent,
    CountingItem,
    CountingRound,
    CountingSlot,
    CountSheet,
    KeptCount,
)
from .metrics import CountingRun, CountReply, MetricScore
from .scorers import Scorer
from .summaries import SummarySet, SystemRun, SystemSummary, WrittenPart

__all__ = [
    "Cell",
    "CellArgument",
    "CountEvent",
    "CountReply",
    "CountSheet",
    "CountingItem",
    "CountingRound",
    "CountingRun",
    "CountingSlot",
    "Dataset",
    "KeptCount",
    "KeyPointMatch",
    "KeyPointSnapshot",
    "MetricScore",
    "ReferenceKeyPoint",
    "Scorer",
    "SummarySet",
    "SystemRun",
    "SystemSummary",
    "WrittenPart",
]
