"""Tables of argument summarization."""

from .cells import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from .counting import (
    CountEvent,
    CountingItem,
    CountingPlace,
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
    "CountingPlace",
    "CountingRound",
    "CountingRun",
    "CountingSlot",
    "Dataset",
    "KeptCount",
    "KeyPointMatch",
    "MetricScore",
    "ReferenceKeyPoint",
    "Scorer",
    "SummarySet",
    "SystemRun",
    "SystemSummary",
    "WrittenPart",
]
