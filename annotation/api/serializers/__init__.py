"""What the API shows, by topic; nothing here writes."""

from .campaigns import CampaignSerializer, ItemSerializer
from .files import (
    ExportSerializer,
    ImportProblemSerializer,
    ImportSerializer,
    SnapshotDetailSerializer,
    SnapshotSerializer,
)
from .labels import AdjudicationSerializer, FinalLabelSerializer, RaterSerializer, VoteSerializer
from .studies import (
    ArgumentSerializer,
    ComparisonSerializer,
    GuidelineSerializer,
    JobSerializer,
    LevelSerializer,
    MemberSerializer,
    MeSerializer,
    StudyNameSerializer,
    StudySerializer,
    TokenSerializer,
)

__all__ = [
    "AdjudicationSerializer",
    "ArgumentSerializer",
    "CampaignSerializer",
    "ComparisonSerializer",
    "ExportSerializer",
    "FinalLabelSerializer",
    "GuidelineSerializer",
    "ImportProblemSerializer",
    "ImportSerializer",
    "ItemSerializer",
    "JobSerializer",
    "LevelSerializer",
    "MeSerializer",
    "MemberSerializer",
    "RaterSerializer",
    "SnapshotDetailSerializer",
    "SnapshotSerializer",
    "StudyNameSerializer",
    "StudySerializer",
    "TokenSerializer",
    "VoteSerializer",
]
