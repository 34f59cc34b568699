"""What the API shows, by topic; nothing here writes."""

from .campaigns import (
    CampaignSerializer,
    ConsensusSerializer,
    CrowdLinkSerializer,
    ItemSerializer,
    NewCrowdLinkSerializer,
)
from .files import (
    ExportSerializer,
    ImportProblemSerializer,
    ImportSerializer,
    SnapshotDetailSerializer,
    SnapshotSerializer,
)
from .labels import AdjudicationSerializer, FinalLabelSerializer, RaterSerializer, VoteSerializer
from .people import (
    AuditEventSerializer,
    InvitationSerializer,
    MemberSerializer,
    NewInvitationSerializer,
)
from .quality import (
    AnnotatorDetailSerializer,
    AnnotatorSerializer,
    ControlDetailSerializer,
    ControlSerializer,
)
from .studies import (
    ArgumentSerializer,
    ComparisonSerializer,
    GuidelineSerializer,
    JobSerializer,
    LevelSerializer,
    MeSerializer,
    StudyNameSerializer,
    StudySerializer,
    TokenSerializer,
)

__all__ = [
    "AdjudicationSerializer",
    "AnnotatorDetailSerializer",
    "AnnotatorSerializer",
    "ArgumentSerializer",
    "AuditEventSerializer",
    "CampaignSerializer",
    "ComparisonSerializer",
    "ConsensusSerializer",
    "ControlDetailSerializer",
    "ControlSerializer",
    "CrowdLinkSerializer",
    "ExportSerializer",
    "FinalLabelSerializer",
    "GuidelineSerializer",
    "ImportProblemSerializer",
    "ImportSerializer",
    "InvitationSerializer",
    "ItemSerializer",
    "JobSerializer",
    "LevelSerializer",
    "MeSerializer",
    "MemberSerializer",
    "NewCrowdLinkSerializer",
    "NewInvitationSerializer",
    "RaterSerializer",
    "SnapshotDetailSerializer",
    "SnapshotSerializer",
    "StudyNameSerializer",
    "StudySerializer",
    "TokenSerializer",
    "VoteSerializer",
]
